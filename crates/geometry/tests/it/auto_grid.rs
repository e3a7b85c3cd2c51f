//! Automatic grids against worked examples and against trying every grid.

use pantile_geometry::grid::{GridError, auto_grid};

fn numbers(text: &str) -> Vec<usize> {
    text.split('x').map(|number| number.parse().unwrap()).collect()
}

#[test]
fn worked_examples() {
    let mut cases = 0;
    for line in include_str!("data/auto_grid.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let cut: Vec<bool> = fields[2].chars().map(|letter| letter != 'n').collect();
        let got = auto_grid(&numbers(fields[1]), &cut, fields[3].parse().unwrap()).unwrap();
        assert_eq!(got, numbers(fields[4]), "{line}");
        cases += 1;
    }
    assert_eq!(cases, 52);
}

#[test]
fn tables_of_three_shapes() {
    let check = |shape: &[usize], cut: &[bool], expected: [&[usize]; 7]| {
        for (ranks, expected) in [1, 2, 3, 4, 6, 8, 12].into_iter().zip(expected) {
            assert_eq!(auto_grid(shape, cut, ranks).unwrap(), expected, "{shape:?} on {ranks}");
        }
    };
    let both = [true, true];
    check(&[5, 9], &both, [&[1, 1], &[1, 2], &[1, 3], &[1, 4], &[2, 3], &[2, 4], &[3, 4]]);
    let outer = [true, false, true];
    check(
        &[4, 4, 4],
        &outer,
        [&[1, 1, 1], &[1, 1, 2], &[1, 1, 3], &[2, 1, 2], &[2, 1, 3], &[2, 1, 4], &[3, 1, 4]],
    );
    check(
        &[10, 20, 30],
        &[true; 3],
        [&[1, 1, 1], &[1, 1, 2], &[1, 1, 3], &[1, 2, 2], &[1, 2, 3], &[1, 2, 4], &[1, 3, 4]],
    );
}

#[test]
fn factors_never_exceed_extents() {
    let both = [true, true];
    // All factorisations of 4 put at least 2 ranks on an axis of 1: three ranks are used.
    assert_eq!(auto_grid(&[3, 1], &both, 4).unwrap(), [3, 1]);
    // 1x7 is nearest to the ratio but does not fit; 6 ranks do.
    assert_eq!(auto_grid(&[4, 5], &both, 7).unwrap(), [2, 3]);
    // 1x12 is nearest to the ratio, 2x6 fits.
    assert_eq!(auto_grid(&[2, 11], &both, 12).unwrap(), [2, 6]);
    assert_eq!(auto_grid(&[0, 3], &both, 6).unwrap(), [1, 3]);
    assert_eq!(auto_grid(&[0], &[true], 6).unwrap(), [1]);
    assert_eq!(auto_grid(&[], &[], 6).unwrap(), []);
    assert_eq!(auto_grid(&[7, 7], &[false, false], 6).unwrap(), [1, 1]);
    let cube = auto_grid(&[1000, 1000, 1000], &[true; 3], 1_000_000).unwrap();
    assert_eq!(cube, [100, 100, 100]);
    // A prime number of ranks above both extents.
    let plate = auto_grid(&[2000, 600], &both, 1_000_003).unwrap();
    assert!(plate[0] <= 2000 && plate[1] <= 600 && plate[0] * plate[1] <= 1_000_003);
}

#[test]
fn no_grid_that_fits_uses_more_ranks() {
    for first in 1..8_usize {
        for second in 1..8 {
            for ranks in 1..40_usize {
                let got = auto_grid(&[first, second], &[true, true], ranks).unwrap();
                assert!(got[0] <= first && got[1] <= second, "{first}x{second} on {ranks}");
                let pairs = (1..=first).flat_map(|a| (1..=second).map(move |b| a * b));
                let most = pairs.filter(|product| *product <= ranks).max();
                assert_eq!(Some(got[0] * got[1]), most, "{first}x{second} on {ranks}");
            }
        }
    }
}

#[test]
fn wrong_requests_are_refused() {
    let error = auto_grid(&[3, 4], &[true], 2).unwrap_err();
    assert_eq!(error, GridError::WrongLength { got: 1, ndim: 2 });
    assert_eq!(auto_grid(&[3], &[true], 0), Err(GridError::NoRanks));
    let many = auto_grid(&[3], &[true], usize::MAX);
    assert!(matches!(many, Err(GridError::TooManyRanks { .. })));
    assert_eq!(error.to_string(), "got 1 marks of cut axes, expected one for each of 2 axes");
}
