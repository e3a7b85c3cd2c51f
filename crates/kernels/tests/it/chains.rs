//! Long bodies on wide lanes: what stays in registers, and what is left out, on every instruction
//! set, against the bodies element by element.

use crate::bodies::{TABLE, value};
use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_kernels::{DType, Scalar, Vectors};
use pantile_lanes::expand::{self, ElementLanes};
use pantile_lanes::{
    Binary, BinaryOp, LaneFunction, LaneNode, LaneOp, LoopBody, Unary, UnaryOp, evaluate,
};
use pantile_testkit::{Rng, cases};

/// Runs a body over rows of values, one row for each input, on every set.
fn check(
    body: &LoopBody,
    rows: &[Vec<Scalar>],
    scratch: &mut Scratch,
    about: &dyn std::fmt::Debug,
) {
    let count = rows[0].len();
    let memory: Vec<Vec<u8>> = (rows.iter())
        .map(|row| row.iter().flat_map(|value| value.as_bytes().to_vec()).collect())
        .collect();
    let sources: Vec<Source<'_>> =
        (memory.iter()).map(|bytes| Source::Memory { bytes, offset: 0, strides: &[1] }).collect();
    let types: Vec<DType> = body.outputs().iter().map(|node| body.dtype(*node)).collect();
    let places: Vec<OutputTarget<'_>> =
        (0..types.len()).map(|buffer| OutputTarget { buffer, offset: 0, strides: &[1] }).collect();
    let expected: Vec<Vec<Scalar>> = (0..count)
        .map(|at| evaluate(body, &rows.iter().map(|row| row[at]).collect::<Vec<_>>()).unwrap())
        .collect();
    for vectors in Vectors::all() {
        let program = LoopProgram::compile_for(body, vectors).unwrap();
        let mut bytes: Vec<Vec<u8>> =
            types.iter().map(|dtype| vec![0xA5; count * dtype.bytes()]).collect();
        let mut slices: Vec<&mut [u8]> = bytes.iter_mut().map(Vec::as_mut_slice).collect();
        let mut targets = OutputTargets { buffers: &mut slices, places: &places };
        map(&program, &[count], &sources, &mut targets, scratch).unwrap();
        for (at, expected) in expected.iter().enumerate() {
            for ((dtype, bytes), expected) in types.iter().zip(&bytes).zip(expected) {
                let width = dtype.bytes();
                let got = Scalar::from_bytes(*dtype, &bytes[at * width..][..width]).unwrap();
                let alike = got == *expected || (is_nan(&got) && is_nan(expected));
                assert!(
                    alike,
                    "{got:?}, expected {expected:?} at {at} of {count}, inputs {:?}, {vectors:?}, \
                     {about:?}, {body:#?}",
                    rows.iter().map(|row| row[at]).collect::<Vec<_>>()
                );
            }
        }
    }
}

fn is_nan(value: &Scalar) -> bool {
    value.get::<f64>().is_some_and(f64::is_nan) || value.get::<f32>().is_some_and(f32::is_nan)
}

/// A row of a length around those of chunks and blocks. Some rows are of ordinary numbers only,
/// some have a few others: choices then take one side everywhere, nearly everywhere, or any.
fn row(rng: &mut Rng, dtype: DType, count: usize) -> Vec<Scalar> {
    let rare = *rng.pick(&[0, 1, 200]);
    (0..count)
        .map(|_| {
            let usual = rng.range(-4000, 4000) as f64 / 64.0;
            match dtype {
                _ if rng.below(400) < rare => value(rng, dtype),
                DType::F64 => Scalar::of(usual),
                #[allow(clippy::cast_possible_truncation, reason = "any number will do")]
                DType::F32 => Scalar::of(usual as f32),
                _ => value(rng, dtype),
            }
        })
        .collect()
}

fn count(rng: &mut Rng) -> usize {
    let near = *rng.pick(&[0usize, 16, 64, 128, 256, 512, 2048]);
    (near + rng.below(20)).saturating_sub(9).max(1)
}

#[test]
fn functions_have_the_same_bits_everywhere() {
    let mut scratch = Scratch::new();
    cases("functions", 2, |rng| {
        for dtype in [DType::F64, DType::F32, DType::I64] {
            for function in Unary::ALL {
                let mut body = LoopBody::new();
                let x = ElementLanes::Real(body.input(dtype).unwrap());
                if let Ok(ElementLanes::Real(y)) = expand::unary(&mut body, *function, x) {
                    body.output(y);
                    let count = count(rng);
                    check(&body, &[row(rng, dtype, count)], &mut scratch, function);
                }
            }
            for function in Binary::ALL {
                let mut body = LoopBody::new();
                let (x, y) = (body.input(dtype).unwrap(), body.input(dtype).unwrap());
                let lanes = (ElementLanes::Real(x), ElementLanes::Real(y));
                if let Ok(ElementLanes::Real(z)) =
                    expand::binary(&mut body, *function, lanes.0, lanes.1)
                {
                    body.output(z);
                    let count = count(rng);
                    let rows = [row(rng, dtype, count), row(rng, dtype, count)];
                    check(&body, &rows, &mut scratch, function);
                }
            }
        }
    });
}

#[test]
fn random_numbers_have_the_same_bits_everywhere() {
    let mut scratch = Scratch::new();
    cases("random numbers", 4, |rng| {
        for function in [LaneFunction::Uniform, LaneFunction::Normal] {
            let mut body = LoopBody::new();
            let (index, seed) = (body.input(DType::U64).unwrap(), body.input(DType::U64).unwrap());
            let stream = body.constant(Scalar::of(rng.bits())).unwrap();
            let number = body.push(LaneOp::Call(function, [index, seed, stream])).unwrap();
            body.output(number);
            let count = count(rng);
            let rows = [0; 2].map(|_| (0..count).map(|_| value(rng, DType::U64)).collect());
            check(&body, &rows, &mut scratch, &function);
        }
    });
}

/// Large angles go another way, alone or among small ones, in whole chunks and in rests.
#[test]
fn angles_have_the_same_bits_however_large_their_neighbours_are() {
    let mut scratch = Scratch::new();
    cases("angles", 12, |rng| {
        for function in [LaneFunction::Sin, LaneFunction::Cos, LaneFunction::Tan] {
            let mut body = LoopBody::new();
            let x = body.input(DType::F64).unwrap();
            let y = body.push(LaneOp::Call(function, [x; 3])).unwrap();
            body.output(y);
            let (count, large) = (count(rng), *rng.pick(&[0, 1, 20, 1000]));
            let angle = |rng: &mut Rng| {
                let small = rng.range(-4000, 4000) as f64 / 64.0;
                let exponent = i32::try_from(rng.range(20, 1023)).unwrap();
                Scalar::of(if rng.below(1000) < large {
                    small * 2f64.powi(exponent)
                } else {
                    small
                })
            };
            let row = (0..count).map(|_| angle(rng)).collect();
            check(&body, &[row], &mut scratch, &function);
        }
    });
}

/// A body of operations on lanes of one width, floats more often than integers.
fn long_body(rng: &mut Rng, wide: bool) -> LoopBody {
    let (float, word, signed) = if wide {
        (DType::F64, DType::U64, DType::I64)
    } else {
        (DType::F32, DType::U32, DType::I32)
    };
    let mut body = LoopBody::new();
    let mut nodes: Vec<LaneNode> = (0..3).map(|_| body.input(float).unwrap()).collect();
    nodes.push(body.input(word).unwrap());
    // The bits of a NaN are open, so they are fixed before they are compared.
    while nodes.len() < 44 {
        let recent = nodes.len() - 1 - rng.below(nodes.len().min(5));
        let any = if rng.chance(1, 2) { rng.below(nodes.len()) } else { recent };
        let (a, b, c) = (nodes[recent], nodes[any], *rng.pick(&nodes));
        let two = *rng.pick(&[
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::Lt,
            BinaryOp::Le,
            BinaryOp::Eq,
            BinaryOp::Ne,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Xor,
            BinaryOp::Shl,
            BinaryOp::Shr,
        ]);
        let one = *rng.pick(&[
            UnaryOp::Neg,
            UnaryOp::Abs,
            UnaryOp::Sqrt,
            UnaryOp::Floor,
            UnaryOp::Ceil,
            UnaryOp::Trunc,
            UnaryOp::RoundEven,
        ]);
        let op = match rng.below(12) {
            0 => LaneOp::Const(value(rng, *rng.clone().pick(&[float, float, word]))),
            1 => LaneOp::Unary(one, a),
            2..=5 => LaneOp::Binary(two, a, b),
            6 => LaneOp::MulAdd(a, b, c),
            7 => LaneOp::Select(c, a, b),
            8 => LaneOp::Cast(a, *rng.pick(&[float, signed, word, DType::Bool])),
            9 if wide => LaneOp::Table(TABLE, a),
            _ => {
                let Ok(same) = body.push(LaneOp::Unary(UnaryOp::Canonical, a)) else { continue };
                LaneOp::Bits(same, *rng.pick(&[word, signed]))
            }
        };
        nodes.extend(body.push(op));
    }
    for _ in 0..1 + rng.below(3) {
        let late = nodes[nodes.len() - 1 - rng.below(6)];
        let output = if rng.chance(1, 4) { *rng.pick(&nodes) } else { late };
        body.output(output);
    }
    body
}

#[test]
fn long_bodies_compute_what_they_mean() {
    let mut scratch = Scratch::new();
    cases("long_bodies", 400, |rng| {
        let wide = rng.chance(2, 3);
        let body = long_body(rng, wide);
        let count = count(rng);
        let rows: Vec<Vec<Scalar>> =
            body.inputs().iter().map(|dtype| row(rng, *dtype, count)).collect();
        check(&body, &rows, &mut scratch, &wide);
    });
}

/// A body whose operations each go on with the last one, often the same again: bytecode that fuses
/// several operations is made of them.
fn chain(rng: &mut Rng, float: DType) -> LoopBody {
    let mut body = LoopBody::new();
    let inputs: Vec<LaneNode> = (0..3).map(|_| body.input(float).unwrap()).collect();
    let constants: Vec<LaneNode> = [1.5, -2.0, 0.0, -0.0, f64::NAN, 0.75]
        .iter()
        .map(|number| {
            #[allow(clippy::cast_possible_truncation, reason = "these are the same")]
            let narrow = Scalar::of(*number as f32);
            body.constant(if float == DType::F64 { Scalar::of(*number) } else { narrow }).unwrap()
        })
        .collect();
    let (mut last, mut kind) = (inputs[0], 0);
    for _ in 0..2 + rng.below(12) {
        kind = if rng.chance(2, 3) { kind } else { rng.below(11) };
        let (x, y, k) = (*rng.pick(&inputs), *rng.pick(&inputs), *rng.pick(&constants));
        let x = if rng.chance(1, 2) { inputs[1] } else { x };
        let before = last;
        let op = match kind {
            0 => LaneOp::MulAdd(last, x, k),
            1 | 2 => {
                let factor = if kind == 1 || rng.chance(2, 3) { k } else { y };
                LaneOp::Binary(
                    BinaryOp::Add,
                    last,
                    body.push(LaneOp::Binary(BinaryOp::Mul, x, factor)).unwrap(),
                )
            }
            3 => LaneOp::Binary(
                *rng.pick(&[BinaryOp::Add, BinaryOp::Mul]),
                last,
                *rng.pick(&[x, y, k]),
            ),
            4 => LaneOp::Binary(BinaryOp::Sub, last, x),
            5 => LaneOp::Binary(BinaryOp::Sub, x, last),
            6 => LaneOp::Unary(UnaryOp::Neg, last),
            7 => LaneOp::MulAdd(x, *rng.pick(&[y, k]), last),
            8 => LaneOp::Binary(*rng.pick(&[BinaryOp::Min, BinaryOp::Max]), last, k),
            9 => LaneOp::Binary(*rng.pick(&[BinaryOp::Min, BinaryOp::Max]), k, last),
            _ => LaneOp::MulAdd(last, x, y),
        };
        last = body.push(op).unwrap();
        if rng.chance(1, 8) {
            // Another node needs it too: it has to be kept.
            last = body.push(LaneOp::Binary(BinaryOp::Add, last, before)).unwrap();
        }
    }
    body.output(last);
    body
}

#[test]
fn operations_that_follow_each_other_compute_what_they_mean() {
    let mut scratch = Scratch::new();
    cases("operations_in_a_row", 1500, |rng| {
        let float = *rng.pick(&[DType::F64, DType::F64, DType::F32]);
        let body = chain(rng, float);
        let count = count(rng);
        let rows: Vec<Vec<Scalar>> = (0..3).map(|_| row(rng, float, count)).collect();
        check(&body, &rows, &mut scratch, &float);
    });
}

/// A sum of products with constants, as stencils are, with other terms here and there.
fn weighted(rng: &mut Rng, float: DType) -> LoopBody {
    let mut body = LoopBody::new();
    let inputs: Vec<LaneNode> = (0..3).map(|_| body.input(float).unwrap()).collect();
    let constants = [1.5f32, -2.0, 0.75, 0.125].map(|number| {
        let wide = Scalar::of(f64::from(number));
        body.constant(if float == DType::F64 { wide } else { Scalar::of(number) }).unwrap()
    });
    let mut last = inputs[rng.below(3)];
    if rng.chance(2, 3) {
        last = body.push(LaneOp::Binary(BinaryOp::Mul, last, *rng.pick(&constants))).unwrap();
    }
    for _ in 0..1 + rng.below(8) {
        let x = *rng.pick(&inputs);
        let other = match rng.chance(3, 4) {
            true => body.push(LaneOp::Binary(BinaryOp::Mul, x, *rng.pick(&constants))).unwrap(),
            false => x,
        };
        let (a, b) = if rng.chance(1, 2) { (last, other) } else { (other, last) };
        last = body.push(LaneOp::Binary(BinaryOp::Add, a, b)).unwrap();
        if rng.chance(1, 12) {
            last = body.push(LaneOp::Unary(UnaryOp::Canonical, last)).unwrap();
        }
    }
    body.output(last);
    body
}

#[test]
fn weighted_sums_compute_what_they_mean() {
    let mut scratch = Scratch::new();
    cases("weighted_sums", 300, |rng| {
        let float = *rng.pick(&[DType::F64, DType::F64, DType::F32]);
        let body = weighted(rng, float);
        let count = count(rng);
        let rows: Vec<Vec<Scalar>> = (0..3).map(|_| row(rng, float, count)).collect();
        check(&body, &rows, &mut scratch, &float);
    });
}
