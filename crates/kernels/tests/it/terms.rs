//! Exact sums of a few lanes against what they mean, on every instruction set: numbers that cancel,
//! that are far apart, at the edges of floats, in blocks of every length.

use crate::bodies::{BodyCase, value};
use pantile_kernels::Vectors;
use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_lanes::{Element, LaneOp, Scalar, SumTerms};
use pantile_testkit::{Rng, cases};

/// A number of one of the sorts that sums are about.
fn term<T: Element>(rng: &mut Rng, sort: usize, others: &[Scalar], make: fn(f64) -> T) -> Scalar {
    match sort {
        // Ordinary numbers: quick sums are certain.
        0 => Scalar::of(make(rng.range(-1 << 40, 1 << 40) as f64 / 1e9)),
        // The negative of another one: little is left.
        1 if !others.is_empty() => {
            let other = rng.pick(others);
            let number = other.get::<f64>().or_else(|| other.get::<f32>().map(f64::from)).unwrap();
            Scalar::of(make(-number * if rng.chance(1, 3) { 1.0 + f64::EPSILON } else { 1.0 }))
        }
        // Powers of two far apart, halves among them.
        2 => {
            let power = 2f64.powi(i32::try_from(rng.range(-140, 120)).unwrap());
            Scalar::of(make(if rng.chance(1, 2) { power } else { -power }))
        }
        _ => value(rng, T::DTYPE),
    }
}

fn check<T: Element>(rng: &mut Rng, make: fn(f64) -> T) {
    let (terms, length) = (1 + rng.below(8), 1 + rng.below(300));
    let op = |nodes: &[pantile_lanes::LaneNode]| LaneOp::Sum(SumTerms::new(nodes).unwrap());
    let case = BodyCase::single(&vec![T::DTYPE; terms], op, false).unwrap();
    // Mostly ordinary, so that whole chunks are quick and single elements are not.
    let wild = if rng.chance(1, 2) { 1 } else { 40 };
    let rows: Vec<Vec<Scalar>> = (0..length)
        .map(|_| {
            let sort = if rng.chance(1, wild) { rng.below(4) } else { 0 };
            let mut row: Vec<Scalar> = Vec::new();
            for _ in 0..terms {
                let next = term(rng, sort, &row, make);
                row.push(next);
            }
            row
        })
        .collect();
    let lanes: Vec<Vec<u8>> = (0..terms)
        .map(|lane| rows.iter().flat_map(|row| row[lane].as_bytes().to_vec()).collect())
        .collect();
    let sources: Vec<Source<'_>> =
        lanes.iter().map(|bytes| Source::Memory { bytes, offset: 0, strides: &[1] }).collect();
    for vectors in Vectors::all() {
        let program = LoopProgram::compile_for(&case.body, vectors).unwrap();
        let mut bytes = vec![0xAA; length * T::DTYPE.bytes()];
        let places = [OutputTarget { buffer: 0, offset: 0, strides: &[1] }];
        let mut targets = OutputTargets { buffers: &mut [&mut bytes], places: &places };
        map(&program, &[length], &sources, &mut targets, &mut Scratch::new()).unwrap();
        for (row, got) in rows.iter().zip(bytes.chunks(T::DTYPE.bytes())) {
            case.check(row, &[Scalar::from_bytes(T::DTYPE, got).unwrap()], &vectors);
        }
    }
}

#[test]
fn sums_of_a_few_lanes_are_exact() {
    cases("sums_of_a_few", 400, |rng| {
        check::<f64>(rng, |number| number);
        #[allow(clippy::cast_possible_truncation, reason = "a number of that type near it")]
        check::<f32>(rng, |number| number as f32);
    });
}
