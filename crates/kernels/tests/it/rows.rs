//! Maps over short rows: several of them are one block. Matrices, rows and columns that are broadcast,
//! indices and numbers, against what the body means, on every instruction set.

use crate::bodies::{BodyCase, value};
use pantile_kernels::Vectors;
use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_lanes::{DType, Scalar};
use pantile_testkit::{Rng, cases};

/// An input: its elements, and how it moves along both axes.
enum RowsInput {
    Memory(Vec<Scalar>, Vec<u8>, [isize; 2]),
    Index(i64, [i64; 2]),
    Scalar(Scalar),
}

impl RowsInput {
    fn random(rng: &mut Rng, dtype: DType, [rows, columns]: [usize; 2]) -> Self {
        let (count, strides) = match rng.below(6) {
            0 if dtype == DType::I64 => {
                let mut step = || rng.range(-3, 3);
                let strides = [step(), step()];
                return Self::Index(rng.range(-99, 99), strides);
            }
            0 => return Self::Scalar(value(rng, dtype)),
            1 => (columns, [0, 1]),
            2 => (rows, [1, 0]),
            3 => (rows * (columns + 2), [columns.cast_signed() + 2, 1]),
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

/// What was written to a target: rows with room behind each.
struct RowsOutput {
    dtype: DType,
    bytes: Vec<u8>,
    strides: [isize; 2],
}

impl RowsOutput {
    /// Rows that follow each other, or with room between them.
    fn random(rng: &mut Rng, dtype: DType, [rows, columns]: [usize; 2]) -> Self {
        let pitch = columns + if rng.chance(1, 4) { 3 } else { 0 };
        let bytes = vec![0xAA; rows * pitch * dtype.bytes()];
        Self { dtype, bytes, strides: [pitch.cast_signed(), 1] }
    }

    fn at(&self, row: usize, column: usize) -> Scalar {
        let at = (row * self.strides[0].cast_unsigned() + column) * self.dtype.bytes();
        Scalar::from_bytes(self.dtype, &self.bytes[at..at + self.dtype.bytes()]).unwrap()
    }

    fn has_its_room(&self, columns: usize) -> bool {
        let mut rows = self.bytes.chunks(self.strides[0].cast_unsigned() * self.dtype.bytes());
        rows.all(|row| row[columns * self.dtype.bytes()..].iter().all(|byte| *byte == 0xAA))
    }
}

#[test]
fn short_rows_are_computed_together() {
    cases("short_rows", 300, |rng| {
        let shape = [1 + rng.below(90), 1 + rng.below(40)];
        let (inputs, ops, outputs) = (1 + rng.below(4), 1 + rng.below(6), 1 + rng.below(2));
        let case = BodyCase::random(rng, inputs, ops).outputs(rng, outputs);
        let inputs: Vec<RowsInput> =
            case.body.inputs().iter().map(|dtype| RowsInput::random(rng, *dtype, shape)).collect();
        let sources: Vec<Source<'_>> = inputs.iter().map(RowsInput::source).collect();
        for vectors in Vectors::all() {
            let program = LoopProgram::compile_for(&case.body, vectors).unwrap();
            let dtypes = program.outputs().iter();
            let mut outputs: Vec<RowsOutput> =
                dtypes.map(|dtype| RowsOutput::random(rng, *dtype, shape)).collect();
            let strides: Vec<[isize; 2]> = outputs.iter().map(|output| output.strides).collect();
            let places: Vec<OutputTarget<'_>> = (strides.iter().enumerate())
                .map(|(buffer, strides)| OutputTarget { buffer, offset: 0, strides })
                .collect();
            let mut buffers: Vec<&mut [u8]> =
                outputs.iter_mut().map(|output| output.bytes.as_mut_slice()).collect();
            let mut targets = OutputTargets { buffers: &mut buffers, places: &places };
            map(&program, &shape, &sources, &mut targets, &mut Scratch::new()).unwrap();
            for (row, column) in (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |c| (row, c)))
            {
                let given: Vec<Scalar> = inputs.iter().map(|input| input.at(row, column)).collect();
                let got: Vec<Scalar> = outputs.iter().map(|out| out.at(row, column)).collect();
                case.check(&given, &got, &vectors);
            }
            assert!(outputs.iter().all(|out| out.has_its_room(shape[1])), "room was written");
        }
    });
}
