//! Targets around the size from which on they are written with non-temporal stores: every element, and
//! nothing else, wherever rows start and end.

use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_kernels::pack::worth_streaming;
use pantile_kernels::{DType, Scalar, Vectors, bytes_of, bytes_of_mut};
use pantile_lanes::{BinaryOp, LaneNode, LaneOp, LoopBody};

/// What is computed: a copy, bytecode, bytecode whose result is read again, and a loop of its own.
#[derive(Clone, Copy, Debug)]
enum StreamCase {
    Copy,
    Steps,
    Twice,
    Loop,
}

fn program(what: StreamCase, vectors: Vectors) -> LoopProgram {
    let mut body = LoopBody::new();
    let [x, y]: [LaneNode; 2] = [0, 1].map(|_| body.input(DType::F64).unwrap());
    let two = body.constant(Scalar::of(2.0)).unwrap();
    let mut op = |two, a, b| body.push(LaneOp::Binary(two, a, b)).unwrap();
    let output = match what {
        StreamCase::Copy => x,
        StreamCase::Loop => op(BinaryOp::Rem, x, y),
        StreamCase::Steps | StreamCase::Twice => {
            let product = op(BinaryOp::Mul, y, two);
            op(BinaryOp::Add, x, product)
        }
    };
    body.output(output);
    if matches!(what, StreamCase::Twice) {
        let more = body.push(LaneOp::Binary(BinaryOp::Sub, output, y)).unwrap();
        body.output(more);
    }
    LoopProgram::compile_for(&body, vectors).unwrap()
}

fn expected(what: StreamCase, output: usize, x: f64, y: f64) -> f64 {
    match what {
        StreamCase::Copy => x,
        StreamCase::Loop => x % y,
        _ if output == 0 => x + y * 2.0,
        _ => (x + y * 2.0) - y,
    }
}

/// Maps rows of some length at a pitch, from a place of the target on.
fn check(what: StreamCase, [rows, row, pitch, start]: [usize; 4], vectors: Vectors) {
    let program = program(what, vectors);
    let inputs = [0.5, 3.25]
        .map(|first| (0..rows * row).map(|at| first + (at % 1013) as f64).collect::<Vec<f64>>());
    let mut outputs = vec![vec![-7.5; start + rows * pitch + 9]; program.outputs().len()];
    let strides = [pitch.cast_signed(), 1];
    let dense = [row.cast_signed(), 1];
    let sources = inputs.each_ref().map(|values| Source::Memory {
        bytes: bytes_of(values),
        offset: 0,
        strides: &dense,
    });
    let places: Vec<OutputTarget<'_>> = (0..outputs.len())
        .map(|buffer| OutputTarget { buffer, offset: start.cast_signed(), strides: &strides })
        .collect();
    let mut buffers: Vec<&mut [u8]> =
        outputs.iter_mut().map(|values| bytes_of_mut(values.as_mut_slice())).collect();
    let mut targets = OutputTargets { buffers: &mut buffers, places: &places };
    map(&program, &[rows, row], &sources, &mut targets, &mut Scratch::new()).unwrap();
    for (output, values) in outputs.iter().enumerate() {
        for (place, value) in values.iter().enumerate() {
            let at = place.checked_sub(start).map(|at| (at / pitch, at % pitch));
            let wanted = match at {
                Some((y, x)) if y < rows && x < row => {
                    let at = y * row + x;
                    expected(what, output, inputs[0][at], inputs[1][at])
                }
                _ => -7.5,
            };
            assert_eq!(*value, wanted, "{place} of {what:?} {rows}x{row}, {start}, {vectors:?}");
        }
    }
}

#[test]
fn streams_meet_every_element_once() {
    let large = (10..40).map(|power| 1usize << power).find(|bytes| worth_streaming(*bytes));
    let count = large.unwrap() / size_of::<f64>();
    for vectors in Vectors::all() {
        for what in [StreamCase::Copy, StreamCase::Steps, StreamCase::Twice, StreamCase::Loop] {
            // Just below, at and above the threshold; odd lengths; starts that are not aligned.
            check(what, [1, count - 1, count - 1, 0], vectors);
            check(what, [1, count, count, 1], vectors);
            check(what, [1, count + 77, count + 77, 5], vectors);
            // Rows that start anywhere, and rows shorter than a run, a block, a vector.
            check(what, [count / 1001 + 1, 1001, 1003, 3], vectors);
            check(what, [count / 257 + 1, 257, 258, 0], vectors);
        }
        check(StreamCase::Steps, [count / 5 + 1, 5, 7, 2], vectors);
    }
}
