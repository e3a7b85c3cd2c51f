//! Sums over rows of narrow matrices, and sums of products, against numbers that are added one by
//! one.

use pantile_kernels::lanes::{LoopProgram, Scratch, Source};
use pantile_kernels::reduce::{Folds, LaneFold, reduce};
use pantile_kernels::{DType, ExactSum, Scalar, Vectors, bytes_of, bytes_of_mut};
use pantile_lanes::{BinaryOp, LaneNode, LaneOp, LoopBody, evaluate};
use pantile_testkit::{Rng, cases};

/// A number of a usual size, or of any.
fn number(rng: &mut Rng, wild: usize) -> f64 {
    let usual = rng.range(-100_000, 100_000) as f64 / 1024.0;
    match rng.below(1000) {
        at if at >= wild => usual,
        0 => f64::NAN,
        1 => f64::INFINITY,
        2..100 => usual * 1e200,
        100..200 => usual * 1e-300,
        _ => usual * f64::from(1u32 << rng.below(31)),
    }
}

fn numbers(rng: &mut Rng, count: usize) -> Vec<f64> {
    let wild = *rng.pick(&[0, 0, 3, 300, 900]);
    (0..count).map(|_| number(rng, wild)).collect()
}

fn op(body: &mut LoopBody, two: BinaryOp, a: LaneNode, b: LaneNode) -> LaneNode {
    body.push(LaneOp::Binary(two, a, b)).unwrap()
}

/// Bodies of a number, one that is the same for a column, and one that is the same everywhere.
fn body(rng: &mut Rng) -> LoopBody {
    let mut body = LoopBody::new();
    let [x, mean, scale] = [0, 1, 2].map(|_| body.input(DType::F64).unwrap());
    let output = match rng.below(4) {
        0 => x,
        1 => op(&mut body, BinaryOp::Mul, x, mean),
        2 => op(&mut body, BinaryOp::Mul, mean, scale),
        _ => {
            let less = op(&mut body, BinaryOp::Sub, x, mean);
            let square = op(&mut body, BinaryOp::Mul, less, less);
            op(&mut body, BinaryOp::Mul, square, scale)
        }
    };
    body.output(output);
    body
}

#[test]
fn columns_of_narrow_matrices_are_exact() {
    let (sets, mut scratch): (Vec<Vectors>, _) = (Vectors::all().collect(), Scratch::new());
    cases("narrow_columns", 150, |rng| {
        let most = *rng.pick(&[9, 400, 2500]);
        let [planes, rows, columns] = [1 + rng.below(3), 1 + rng.below(most), 1 + rng.below(40)];
        let body = body(rng);
        let program = LoopProgram::compile_for(&body, *rng.pick(&sets)).unwrap();
        let pitch = columns + if rng.chance(1, 4) { 3 } else { 0 };
        let x = numbers(rng, planes * rows * pitch);
        let mean = numbers(rng, planes * columns);
        let scale = Scalar::of(number(rng, 0));
        // Rows are folded; planes and columns are kept.
        let strides = [
            [rows * pitch, pitch, 1].map(usize::cast_signed),
            [columns, 0, 1].map(usize::cast_signed),
        ];
        let memory = |values, strides| Source::Memory { bytes: values, offset: 0, strides };
        let sources = [
            memory(bytes_of(&x), &strides[0]),
            memory(bytes_of(&mean), &strides[1]),
            Source::Scalar(scale),
        ];
        let mut words = vec![0i64; planes * columns * ExactSum::WORDS];
        let mut folds = Folds {
            folds: &[LaneFold::Sum],
            cells: &mut [bytes_of_mut(words.as_mut_slice())],
            offset: 0,
            strides: &strides[1],
        };
        reduce(&program, &[planes, rows, columns], &sources, &mut folds, &mut scratch).unwrap();
        for (cell, got) in words.as_chunks().0.iter().enumerate() {
            let (plane, column) = (cell / columns, cell % columns);
            let mut sum = ExactSum::new();
            for row in 0..rows {
                let value = x[(plane * rows + row) * pitch + column];
                let inputs = [Scalar::of(value), Scalar::of(mean[cell]), scale];
                sum.add(evaluate(&body, &inputs).unwrap()[0].get::<f64>().unwrap());
            }
            let mut expected = [0; ExactSum::WORDS];
            sum.write(&mut expected);
            assert_eq!(*got, expected, "cell {cell} of {planes}x{rows}x{columns}, {body:?}");
        }
    });
}

#[test]
fn products_are_rounded_once_and_added_exactly() {
    let (sets, mut scratch): (Vec<Vectors>, _) = (Vectors::all().collect(), Scratch::new());
    let mut body = LoopBody::new();
    let [x, y] = [0, 1].map(|_| body.input(DType::F64).unwrap());
    let product = op(&mut body, BinaryOp::Mul, x, y);
    body.output(product);
    cases("products_of_two", 150, |rng| {
        let program = LoopProgram::compile_for(&body, *rng.pick(&sets)).unwrap();
        let count = *rng.pick(&[1, 31, 64, 2047, 2049, 5000, 20_000]) + rng.below(40);
        let (a, b) = (numbers(rng, count + 1), numbers(rng, count));
        let start = rng.below(2).cast_signed();
        let sources = [(&a, start), (&b, 0)].map(|(values, offset)| Source::Memory {
            bytes: bytes_of(values.as_slice()),
            offset,
            strides: &[1],
        });
        let mut words = [0i64; ExactSum::WORDS];
        let mut folds = Folds {
            folds: &[LaneFold::Sum],
            cells: &mut [bytes_of_mut(words.as_mut_slice())],
            offset: 0,
            strides: &[0],
        };
        reduce(&program, &[count], &sources, &mut folds, &mut scratch).unwrap();
        let (mut sum, mut expected) = (ExactSum::new(), [0; ExactSum::WORDS]);
        a[start.unsigned_abs()..].iter().zip(&b).for_each(|(a, b)| sum.add(a * b));
        sum.write(&mut expected);
        assert_eq!(words, expected, "{count}");
    });
}
