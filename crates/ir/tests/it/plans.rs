//! Who sends how much to whom when a default-partitioned array is reshaped or permuted.

use pantile_geometry::{Axis, Cuts, Distribution, Mesh};
use pantile_plan::Plan;

/// Elements from sender (row) to receiver (column), those that stay included.
fn matrix(source: &Distribution, target: &Distribution, members: usize) -> Vec<Vec<usize>> {
    let plan = Plan::between(source, target).unwrap();
    let mut counts = vec![vec![0; members]; members];
    for transfer in plan.transfers() {
        counts[transfer.from][transfer.to] += transfer.size();
    }
    counts
}

/// The elements of a default-partitioned array in one row, each where it lives.
fn in_a_row(shape: &[usize], members: usize) -> Distribution {
    let row: usize = shape[1..].iter().product();
    let rows = |member| Cuts::RemainderLast.start(shape[0], members, member) * row;
    let cuts: Vec<usize> = (0..=members).map(rows).collect();
    let axis = Axis::cut(&["r"], Cuts::At(cuts.into()));
    Distribution::new(&[shape[0] * row], Mesh::line(members).unwrap(), vec![axis]).unwrap()
}

/// An array whose axis `cut` is cut by default.
fn cut_along(shape: &[usize], cut: usize, members: usize) -> Distribution {
    let axis = |axis: usize| match axis == cut {
        true => Axis::cut(&["r"], Cuts::RemainderLast),
        false => Axis::whole(),
    };
    let axes = (0..shape.len()).map(axis).collect();
    Distribution::new(shape, Mesh::line(members).unwrap(), axes).unwrap()
}

#[test]
fn reshapes() {
    let check = |from: &[usize], to: &[usize], members: usize, expected: &[&[usize]]| {
        let got = matrix(&in_a_row(from, members), &in_a_row(to, members), members);
        assert_eq!(got, expected, "{from:?} -> {to:?} on {members}");
    };
    check(&[12], &[3, 4], 2, &[&[4, 2], &[0, 6]]);
    check(&[3, 4], &[2, 3, 2], 2, &[&[4, 0], &[2, 6]]);
    check(&[6, 4], &[4, 6], 3, &[&[6, 2, 0], &[0, 4, 4], &[0, 0, 8]]);
    check(&[5, 2], &[2, 5], 3, &[&[0, 2, 0], &[0, 3, 1], &[0, 0, 4]]);
}

#[test]
fn permutations() {
    let check = |shape: &[usize], axes: &[usize], expected: &[&[usize]]| {
        let new: Vec<usize> = axes.iter().map(|axis| shape[*axis]).collect();
        // Axis 0 of the array is where the permutation puts it.
        let was_cut = axes.iter().position(|axis| *axis == 0).unwrap();
        let got = matrix(&cut_along(&new, was_cut, 2), &cut_along(&new, 0, 2), 2);
        assert_eq!(got, expected, "{shape:?} by {axes:?}");
    };
    check(&[3, 4], &[1, 0], &[&[2, 2], &[4, 4]]);
    check(&[5, 2], &[1, 0], &[&[2, 2], &[3, 3]]);
    check(&[2, 3, 4], &[1, 0, 2], &[&[4, 8], &[4, 8]]);
    check(&[2, 3, 4], &[0, 2, 1], &[&[12, 0], &[0, 12]]);
    check(&[2, 3, 4], &[1, 2, 0], &[&[4, 8], &[4, 8]]);
    check(&[2, 3, 4], &[2, 0, 1], &[&[6, 6], &[6, 6]]);
}
