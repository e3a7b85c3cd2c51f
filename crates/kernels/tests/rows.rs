//! Maps over short rows: several of them are one block. Matrices, rows and columns that are broadcast,
//! indices and numbers, against what the body means, on every instruction set.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bodies;

use bodies::{Case, value};
use pantile_kernels::Vectors;
use pantile_kernels::lanes::{Program, Scratch, Source, Target, Targets, map};
use pantile_lanes::{DType, Scalar};
use pantile_testkit::{Rng, cases};

/// An input: its elements, and how it moves along both axes.
enum Input {
    Memory(Vec<Scalar>, Vec<u8>, [isize; 2]),
    Index(i64, [i64; 2]),
    Scalar(Scalar),
}

impl Input {
    fn random(rng: &mut Rng, dtype: DType, [rows, columns]: [usize; 2]) -> Self {
        let (count, strides) = match rng.below(5) {
            0 if dtype == DType::I64 => {
                let mut step = || rng.range(-3, 3);
                let strides = [step(), step()];
                return Self::Index(rng.range(-99, 99), strides);
            }
            0 => return Self::Scalar(value(rng, dtype)),
            1 => (columns, [0, 1]),
            2 => (rows, [1, 0]),
            _ => (rows * columns, [columns.cast_signed(), 1]),
        };
        let elements: Vec<Scalar> = (0..count).map(|_| value(rng, dtype)).collect();
        let bytes = elements.iter().flat_map(|one| one.as_bytes().to_vec()).collect();
        Self::Memory(elements, bytes, strides)
    }

    fn source(&self) -> Source<'_> {
        match self {
            Self::Memory(_, bytes, strides) => Source::Memory { bytes, offset: 0, strides },
            Self::Index(start, strides) => Source::Index { start: *start, strides },
            Self::Scalar(value) => Source::Scalar(*value),
        }
    }

    fn at(&self, row: usize, column: usize) -> Scalar {
        let (row, column) = (row.cast_signed(), column.cast_signed());
        match self {
            Self::Memory(elements, _, [down, along]) => {
                elements[(row * down + column * along).cast_unsigned()]
            }
            Self::Index(start, [down, along]) => {
                Scalar::of(start + row as i64 * down + column as i64 * along)
            }
            Self::Scalar(value) => *value,
        }
    }
}

#[test]
fn short_rows_are_computed_together() {
    cases("short_rows", 300, |rng| {
        let shape = [1 + rng.below(90), 1 + rng.below(40)];
        let (inputs, ops) = (1 + rng.below(4), 1 + rng.below(6));
        let case = Case::random(rng, inputs, ops).outputs(rng, 1);
        let inputs: Vec<Input> =
            case.body.inputs().iter().map(|dtype| Input::random(rng, *dtype, shape)).collect();
        let sources: Vec<Source<'_>> = inputs.iter().map(Input::source).collect();
        let dtype = case.body.dtype(case.body.outputs()[0]);
        // Rows that follow each other, or with room between them.
        let pitch = shape[1] + if rng.chance(1, 4) { 3 } else { 0 };
        let strides = [pitch.cast_signed(), 1];
        for vectors in Vectors::all() {
            let program = Program::compile_for(&case.body, vectors).unwrap();
            let mut bytes = vec![0xAA; shape[0] * pitch * dtype.bytes()];
            let places = [Target { buffer: 0, offset: 0, strides: &strides }];
            let mut targets = Targets { buffers: &mut [&mut bytes], places: &places };
            map(&program, &shape, &sources, &mut targets, &mut Scratch::new()).unwrap();
            for (row, line) in bytes.chunks(pitch * dtype.bytes()).enumerate() {
                for column in 0..shape[1] {
                    let given: Vec<Scalar> =
                        inputs.iter().map(|input| input.at(row, column)).collect();
                    let at = column * dtype.bytes();
                    let got = Scalar::from_bytes(dtype, &line[at..at + dtype.bytes()]).unwrap();
                    case.check(&given, &[got], &vectors);
                }
                let room = &line[shape[1] * dtype.bytes()..];
                assert!(room.iter().all(|byte| *byte == 0xAA), "room was written");
            }
        }
    });
}
