//! Functions of chunks on the workers of a cluster: what they give, and what travels for them.

use crate::common::TestSite;
use pantile::prelude::*;

fn numbers(world: &Session, shape: &[usize], dist: &str) -> Array {
    let at = |index: &[usize]| index.iter().fold(1.0, |all, at| 3.7 * all + *at as f64 - 1.5);
    world.dist(dist).from_fn(shape, at)
}

/// Several outputs of several types, each combined in another way.
fn outputs(
    world: &Session,
    rows: usize,
    chunks: Option<usize>,
) -> (Vec<f64>, Vec<f64>, Vec<i64>, bool) {
    let a = numbers(world, &[rows, 4], "block(r), whole");
    let row = numbers(world, &[1, 4], "block(r), whole");
    let inputs = [(&a, Split::Axis(0)), (&row, Split::Whole), (&a, Split::Axis(0))];
    let combines = [Combine::Concat(1), Combine::Max, Combine::Sum, Combine::Any];
    let results = world.pipeline(&inputs, &combines, chunks, |chunk| {
        let both = &chunk[1] + &chunk[0] * &chunk[2];
        let above = both.greater(40.0);
        let greatest = chunk[0].max_along(&[0]);
        vec![both.t(), greatest, above.count_nonzero_along(&[0]), above.any()]
    });
    let results = results.unwrap();
    let floats = |at: usize| results[at].to_vec::<f64>().unwrap();
    (floats(0), floats(1), results[2].to_vec().unwrap(), results[3].item().unwrap())
}

#[test]
fn outputs_are_combined_in_different_ways() {
    for workers in [1, 2, 3, 5] {
        let site = TestSite::new(workers);
        for ranks in [0, 7] {
            let (world, _) = site.connect(ranks);
            for rows in [1, 2, 9] {
                let expected = outputs(&Session::threads(1).unwrap(), rows, Some(1));
                for chunks in [None, Some(1), Some(4)] {
                    let got = outputs(&world, rows, chunks);
                    assert_eq!(got, expected, "{rows} rows in {chunks:?} on {workers} workers");
                }
            }
        }
    }
}

#[test]
fn one_row_is_summed_once_and_no_rows_are_ordinary() {
    for workers in [1, 2, 3] {
        let site = TestSite::new(workers);
        let (world, _) = site.connect(0);
        for rows in [0, 1, 2] {
            let a = numbers(&world, &[rows, 9], "block(r), whole");
            let inputs = [(&a, Split::Axis(0))];
            let combines = [Combine::Sum, Combine::Concat(0)];
            let results = world.pipeline(&inputs, &combines, Some(5), |chunk| {
                vec![chunk[0].cast(DType::I64).sum(), &chunk[0] * 2.0]
            });
            let results = results.unwrap();
            let (expected, twice) = (a.cast(DType::I64).sum(), &a * 2.0);
            assert_eq!(results[0].item::<i64>().unwrap(), expected.item::<i64>().unwrap());
            assert_eq!(results[1].shape(), [rows, 9]);
            assert_eq!(results[1].to_vec::<f64>().unwrap(), twice.to_vec::<f64>().unwrap());
        }
    }
}

#[test]
fn chained_pipelines_move_nothing() {
    let site = TestSite::new(3);
    let (world, meter) = site.connect(0);
    let a = numbers(&world, &[100, 6], "block(r), whole");
    let weights = world.dist("copies").from_fn(&[6], |at| at[0] as f64);
    a.compute().unwrap();
    let (before, moved) = (meter.read(), world.counters().bytes);
    let mut last = a.clone();
    for _ in 0..10 {
        let inputs = [(&last, Split::Axis(0)), (&weights, Split::Whole)];
        let results = world.pipeline(&inputs, &[Combine::Concat(0)], None, |chunk| {
            vec![&chunk[0] * 0.5 + &chunk[1]]
        });
        last = results.unwrap().remove(0);
        assert_eq!(meter.read().runs, before.runs, "nothing runs before a result is read");
    }
    last.compute().unwrap();
    let after = meter.read();
    assert_eq!((after.bytes_up, after.bytes_down), (before.bytes_up, before.bytes_down));
    assert_eq!(world.counters().bytes, moved, "and nothing between workers");
    let expected = (0..10).fold(a, |a, _| &a * 0.5 + &weights);
    assert_eq!(last.to_vec::<f64>().unwrap(), expected.to_vec::<f64>().unwrap());
}
