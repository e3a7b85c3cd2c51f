//! What coordinator/worker runtimes get wrong: each case against the same on one thread.

use crate::common::TestSite;
use pantile::Session;
use pantile::prelude::*;

/// The same on 1, 2, 3 and 5 workers as on one thread.
fn everywhere<T: PartialEq + std::fmt::Debug>(f: impl Fn(&Session) -> T) {
    let expected = f(&Session::threads(1).unwrap());
    for workers in [1, 2, 3, 5] {
        let site = TestSite::new(workers);
        assert_eq!(f(&site.connect(0).0), expected, "{workers} workers");
    }
}

fn numbers(world: &Session, shape: &[usize], dist: &str) -> Array {
    let at = |index: &[usize]| index.iter().fold(1.0, |all, at| 3.7 * all + *at as f64 - 1.5);
    world.dist(dist).from_fn(shape, at)
}

fn floats(array: &Array) -> Vec<f64> {
    array.to_vec().unwrap()
}

#[test]
fn one_row_is_summed_once() {
    everywhere(|world| floats(&numbers(world, &[1, 9], "block(r), whole").sum()));
}

#[test]
fn fewer_rows_than_workers_and_none_at_all() {
    everywhere(|world| {
        let few = numbers(world, &[2, 3], "block(r), whole");
        let none = numbers(world, &[0, 3], "block(r), whole");
        let sums = [&few * 2.0, &none * 2.0].map(|array| floats(&array));
        (sums, floats(&none.sum()), none.shape())
    });
}

#[test]
fn rows_and_columns_are_broadcast_whichever_side_they_are_on() {
    everywhere(|world| {
        let matrix = numbers(world, &[5, 4], "block(r), whole");
        let row = numbers(world, &[1, 4], "block(r), whole");
        let column = numbers(world, &[5, 1], "block(r), whole");
        [&row + &matrix, &matrix - &column, &row * &column].map(|array| floats(&array))
    });
}

#[test]
fn one_array_twice_and_in_two_distributions() {
    everywhere(|world| {
        let a = numbers(world, &[6, 6], "block(r), whole");
        let turned = a.redistribute("whole, block(r)");
        [&a * &a, &a + &turned, &turned - &a].map(|array| floats(&array))
    });
}

#[test]
fn equal_numbers_are_two_numbers() {
    everywhere(|world| {
        let a = numbers(world, &[7], "block(r)");
        floats(&((&a + 2.5) * 2.5))
    });
}

#[test]
fn the_least_and_the_most_of_all_and_along_axes() {
    everywhere(|world| {
        let a = numbers(world, &[5, 4], "block(r), whole");
        let of = |reduction, axes: Option<&[usize]>| a.reduce(reduction, axes, false, 0.0);
        let both = [Reduction::Min, Reduction::Max];
        let axes: [Option<&[usize]>; 3] = [Some(&[0]), Some(&[1]), None];
        let lists: Vec<Vec<f64>> = axes
            .into_iter()
            .flat_map(|axes| both.map(|reduction| floats(&of(reduction, axes))))
            .collect();
        lists
    });
}

#[test]
fn types_are_mixed_in_one_program() {
    everywhere(|world| {
        let a = world.dist("block(r)").from_fn(&[9], |at| i32::try_from(at[0]).unwrap() - 4);
        let (half, small, truth) =
            (a.cast(DType::F32) * 0.5, a.cast(DType::U8), a.cast(DType::Bool));
        world.compute(&[&half, &small, &truth]).unwrap();
        (
            half.to_vec::<f32>().unwrap(),
            small.to_vec::<u8>().unwrap(),
            truth.to_vec::<bool>().unwrap(),
        )
    });
}

#[test]
fn columns_and_several_axes_are_cut() {
    everywhere(|world| {
        let columns = numbers(world, &[4, 7], "whole, block(r)");
        let both = numbers(world, &[4, 7], "x=1, y=*: block(x), block(y)");
        let dealt = numbers(world, &[11], "cyclic(r, 2)");
        [floats(&(&columns + &both)), floats(&(&dealt * 3.0)), floats(&both.sum())]
    });
}

#[test]
fn slices_with_steps_of_what_is_there_already() {
    everywhere(|world| {
        let a = numbers(world, &[12, 5], "block(r), whole");
        a.compute().unwrap();
        // The lower half must not be taken for what the first worker has.
        let lower = a.get(s![6.., ..]);
        let steps = a.get(s![by(1.., 3), by(.., 2)]);
        let row = a.get(s![5, ..]);
        [floats(&(&lower + 0.0)), floats(&(&steps * 2.0)), floats(&row)]
    });
}

#[test]
fn results_of_one_program_are_arguments_of_the_next_without_a_detour() {
    let site = TestSite::new(3);
    let (world, meter) = site.connect(0);
    let a = world.dist("block(r)").arange(0, 1000, 1);
    let mut b = &a + 1;
    for _ in 0..10 {
        b.compute().unwrap();
        b = &b + &a;
    }
    b.compute().unwrap();
    let traffic = meter.read();
    assert_eq!((traffic.bytes_up, traffic.bytes_down), (0, 0));
    assert_eq!(b.sum().item::<i64>().unwrap(), 1000 + 11 * 499_500);
}

/// Products of matrices, of which no rank cuts a sum.
#[test]
fn products_of_matrices() {
    everywhere(|world| {
        let a = numbers(world, &[7, 300], "block(r), whole");
        let b = numbers(world, &[7, 4], "block(r), whole");
        let square = numbers(world, &[9, 9], "block(r), whole");
        let ten = numbers(world, &[10, 10], "auto");
        let p = numbers(world, &[9, 1], "block(r), whole");
        [
            square.matmul(&square),
            square.matmul(&p) + &p,
            a.t().matmul(&b),
            a.matmul(&a.t()),
            ten.matmul(&ten),
            square.matmul(&square.redistribute("whole, block(r)")),
        ]
        .map(|array| floats(&array))
    });
}

#[test]
fn sums_of_small_and_large_matrices_and_of_rows() {
    everywhere(|world| {
        let small = numbers(world, &[10, 10], "block(r), whole");
        let large = numbers(world, &[1500, 1200], "block(r), whole");
        let row = numbers(world, &[1, 10], "copies");
        let twice = &large + &large;
        (floats(&(&small + &small)), floats(&(&small + &row)), floats(&twice.get(s![1400.., ..9])))
    });
}
