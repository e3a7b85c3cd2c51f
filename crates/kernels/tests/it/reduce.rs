//! Reductions against folding one element after the other.

use crate::bodies::{BodyCase, BodyView, LANES, element, is_float, memory, positions, shape, view};
use pantile_kernels::lanes::{LoopProgram, Scratch, Source};
use pantile_kernels::reduce::{Folds, LaneFold, reduce, tree_product};
use pantile_kernels::{Complex, DType, ExactSum, Scalar, Vectors, bytes_of, bytes_of_mut};
use pantile_lanes::{BinaryOp, LaneOp, LoopBody, evaluate};
use pantile_testkit::{Rng, cases};

const FOLDS: [LaneFold; 7] = [
    LaneFold::Sum,
    LaneFold::Prod,
    LaneFold::Min,
    LaneFold::Max,
    LaneFold::Any,
    LaneFold::All,
    LaneFold::Count,
];

/// What a fold of values in a cell gives, one after the other.
fn folded(fold: LaneFold, dtype: DType, start: &[u8], values: &[Scalar]) -> Vec<u8> {
    let number =
        |value: &Scalar| value.get::<f64>().or_else(|| value.get::<f32>().map(f64::from)).unwrap();
    if fold == LaneFold::Sum && is_float(dtype) {
        let mut words = [0; ExactSum::WORDS];
        bytes_of_mut(&mut words).copy_from_slice(start);
        let mut sum = ExactSum::read(&words);
        values.iter().for_each(|value| sum.add(number(value)));
        sum.write(&mut words);
        return bytes_of(&words).to_vec();
    }
    if let LaneFold::Rounded { count } = fold {
        // Cells that no element belongs to stay as they are.
        if values.is_empty() {
            return start.to_vec();
        }
        let mut sum = ExactSum::new();
        values.iter().for_each(|value| sum.add(number(value)));
        return match dtype {
            DType::F32 => sum.divided_f32(count).to_ne_bytes().to_vec(),
            _ => sum.divided_f64(count).to_ne_bytes().to_vec(),
        };
    }
    if fold == LaneFold::Count {
        let count = values.iter().filter(|value| value.get() == Some(true)).count();
        let before = i64::from_ne_bytes(start.try_into().unwrap());
        return (before + count as i64).to_ne_bytes().to_vec();
    }
    let two = match fold {
        LaneFold::Sum => BinaryOp::Add,
        LaneFold::Prod => BinaryOp::Mul,
        LaneFold::Min => BinaryOp::Min,
        LaneFold::Max => BinaryOp::Max,
        LaneFold::Any => BinaryOp::Or,
        _ => BinaryOp::And,
    };
    let mut body = LoopBody::new();
    let inputs = [body.input(dtype).unwrap(), body.input(dtype).unwrap()];
    let node = body.push(LaneOp::Binary(two, inputs[0], inputs[1])).unwrap();
    let node = if is_float(dtype) {
        body.push(LaneOp::Unary(pantile_lanes::UnaryOp::Canonical, node)).unwrap()
    } else {
        node
    };
    body.output(node);
    let start = Scalar::from_bytes(dtype, start).unwrap();
    let all = values.iter().fold(start, |all, value| evaluate(&body, &[all, *value]).unwrap()[0]);
    all.as_bytes().to_vec()
}

/// A fold that lanes of a type have.
fn fold_for(rng: &mut Rng, dtype: DType) -> LaneFold {
    loop {
        let rounded = LaneFold::Rounded { count: *rng.pick(&[1, 3]) };
        let fold = if rng.chance(1, 3) { rounded } else { *rng.pick(&FOLDS) };
        if fold.cell(dtype).is_ok() {
            return fold;
        }
    }
}

/// Places of cells: one for each position of the kept axes.
fn cells(rng: &mut Rng, shape: &[usize]) -> BodyView {
    let kept: Vec<bool> = shape.iter().map(|_| rng.chance(1, 2)).collect();
    let lengths: Vec<usize> =
        shape.iter().zip(&kept).map(|(extent, kept)| if *kept { *extent } else { 1 }).collect();
    let mut view = view(rng, &lengths, false, 1);
    for (stride, kept) in view.strides.iter_mut().zip(kept) {
        *stride *= isize::from(kept);
    }
    view
}

#[test]
fn reductions_fold_every_element_once() {
    let mut scratch = Scratch::new();
    cases("reductions", 1500, |rng| {
        let (inputs, ops, outputs) = (rng.below(3), rng.below(9), 1 + rng.below(2));
        let case = BodyCase::random(rng, inputs, ops).outputs(rng, outputs);
        let shape = shape(rng);
        check(rng, &case, &shape, &mut scratch);
    });
}

/// Rows around the lengths of blocks, with few operations or none: what is only read is not cut into
/// blocks, constants have room for one block.
#[test]
fn long_rows_are_folded_in_blocks() {
    let mut scratch = Scratch::new();
    cases("long_rows", 60, |rng| {
        let (inputs, ops, outputs) = (rng.below(3), rng.below(3), 1 + rng.below(2));
        let case = BodyCase::random(rng, inputs, ops).outputs(rng, outputs);
        let block = *rng.pick(&[256, 512, 2048, 8192, 16_384]);
        let long = *rng.pick(&[block - 1, block, block + 1, 2 * block, 2 * block + 1]);
        let shape = match rng.below(4) {
            0 => vec![2, long],
            1 => vec![long, 2],
            _ => vec![long],
        };
        check(rng, &case, &shape, &mut scratch);
    });
}

/// No input at all, or one that is not used: the outputs are constants.
#[test]
fn constants_are_folded_in_blocks() {
    let mut scratch = Scratch::new();
    cases("constants", 40, |rng| {
        let inputs = rng.below(2);
        let case = BodyCase::constants(rng, inputs, 1 + inputs);
        let shape = vec![*rng.pick(&[8191, 8192, 8193, 16_384, 17_000, 40_000])];
        check(rng, &case, &shape, &mut scratch);
    });
}

/// Reduces random elements, once or twice, and compares with folding one after the other.
fn check(rng: &mut Rng, case: &BodyCase, shape: &[usize], scratch: &mut Scratch) {
    let sets: Vec<Vectors> = Vectors::all().collect();
    let sources: Vec<(Vec<u8>, BodyView)> = (case.body.inputs().iter())
        .map(|dtype| {
            let view = view(rng, shape, true, 1);
            (memory(rng, *dtype, view.elements), view)
        })
        .collect();
    let cells = cells(rng, shape);
    let types: Vec<DType> = case.body.outputs().iter().map(|node| case.body.dtype(*node)).collect();
    let folds: Vec<LaneFold> = types.iter().map(|dtype| fold_for(rng, *dtype)).collect();
    // Words are whole numbers of eight bytes, and aligned.
    let mut memory: Vec<Vec<u64>> = (folds.iter().zip(&types))
        .map(|(fold, dtype)| vec![0; fold.cell(*dtype).unwrap().bytes() * cells.elements])
        .collect();
    let mut bytes: Vec<&mut [u8]> = (memory.iter_mut().zip(&folds).zip(&types))
        .map(|((words, fold), dtype)| {
            let size = fold.cell(*dtype).unwrap().bytes() * cells.elements;
            &mut bytes_of_mut(words)[..size]
        })
        .collect();
    for ((bytes, fold), dtype) in bytes.iter_mut().zip(&folds).zip(&types) {
        fold.start(*dtype, bytes).unwrap();
    }
    let before: Vec<Vec<u8>> = bytes.iter().map(|bytes| bytes.to_vec()).collect();
    let times = 1 + rng.below(2);
    for _ in 0..times {
        let program = LoopProgram::compile_for(&case.body, *rng.pick(&sets)).unwrap();
        let sources: Vec<Source<'_>> = (sources.iter())
            .map(|(bytes, view)| Source::Memory {
                bytes,
                offset: view.offset,
                strides: &view.strides,
            })
            .collect();
        let (offset, strides) = (cells.offset, &cells.strides);
        let mut into = Folds { folds: &folds, cells: &mut bytes, offset, strides };
        reduce(&program, shape, &sources, &mut into, scratch).unwrap();
    }
    // What each cell should have got.
    let mut values = vec![vec![Vec::new(); cells.elements]; types.len()];
    for position in positions(shape) {
        let inputs: Vec<Scalar> = (sources.iter().zip(case.body.inputs()))
            .map(|((bytes, view), dtype)| element(*dtype, bytes, view.place(&position)))
            .collect();
        for (output, value) in evaluate(&case.body, &inputs).unwrap().iter().enumerate() {
            (0..times).for_each(|_| values[output][cells.place(&position)].push(*value));
        }
    }
    for (output, (fold, dtype)) in folds.iter().zip(&types).enumerate() {
        let size = fold.cell(*dtype).unwrap().bytes();
        let got = bytes[output].chunks(size);
        for (place, (got, start)) in got.zip(before[output].chunks(size)).enumerate() {
            // The second of two reductions writes again what is rounded at once.
            let again = if matches!(fold, LaneFold::Rounded { .. }) { times } else { 1 };
            let own: Vec<Scalar> = values[output][place].iter().step_by(again).copied().collect();
            let expected = folded(*fold, *dtype, start, &own);
            assert_eq!(got, expected, "{fold:?} of {dtype} at {place}: {shape:?} {cells:?}");
        }
    }
}

/// A body that is its input.
fn itself(dtype: DType) -> LoopProgram {
    let mut body = LoopBody::new();
    let input = body.input(dtype).unwrap();
    body.output(input);
    LoopProgram::compile(&body).unwrap()
}

/// Sums of the columns of a matrix against one sum after the other.
fn check_columns(values: &[f64], columns: usize, program: &LoopProgram, scratch: &mut Scratch) {
    let rows = values.len() / columns;
    let mut words = vec![0i64; columns * ExactSum::WORDS];
    let strides = [columns.cast_signed(), 1];
    let sources = [Source::Memory { bytes: bytes_of(values), offset: 0, strides: &strides }];
    let mut into = Folds {
        folds: &[LaneFold::Sum],
        cells: &mut [bytes_of_mut(&mut words)],
        offset: 0,
        strides: &[0, 1],
    };
    reduce(program, &[rows, columns], &sources, &mut into, scratch).unwrap();
    for (column, words) in words.as_chunks().0.iter().enumerate() {
        let mut sum = ExactSum::new();
        values.chunks(columns).for_each(|row| sum.add(row[column]));
        let mut expected = [0; ExactSum::WORDS];
        sum.write(&mut expected);
        assert_eq!(*words, expected, "column {column} of {columns}, {rows} rows");
    }
}

#[test]
fn many_rows_into_columns() {
    let (mut scratch, program) = (Scratch::new(), itself(DType::F64));
    cases("many_rows", 30, |rng| {
        // Few columns would be rows.
        let (rows, columns) = (rng.below(2500), 16 + rng.below(20));
        let wide = rng.chance(1, 3);
        let values: Vec<f64> = (0..rows * columns)
            .map(|_| {
                let size = if wide { rng.range(-1074, 1023) } else { rng.range(-30, 3) };
                let number = rng.range(-1 << 52, 1 << 52) as f64 * 2f64.powi(-52);
                match rng.below(4000) {
                    0 => 1e300,
                    1 if wide => f64::INFINITY,
                    2 => 0.0,
                    _ => number * 2f64.powi(i32::try_from(size).unwrap()),
                }
            })
            .collect();
        check_columns(&values, columns, &program, &mut scratch);
    });
}

#[test]
fn columns_are_emptied_before_they_are_full() {
    let values = vec![1.999; 40_000 * 16];
    check_columns(&values, 16, &itself(DType::F64), &mut Scratch::new());
}

#[test]
fn folds_have_their_types() {
    let met = LANES.iter().flat_map(|dtype| FOLDS.map(|fold| fold.cell(*dtype).is_ok()));
    // Sum, minimum and maximum of all; products of all but floats; three of bools.
    assert_eq!(met.filter(|met| *met).count(), 3 * 11 + 9 + 3);
}

#[test]
fn products_are_a_fixed_tree() {
    cases("products", 100, |rng| {
        let count = rng.below(3000);
        let values: Vec<f64> = (0..count).map(|_| 1.0 + rng.range(-99, 99) as f64 / 1e4).collect();
        // Recursively: the largest power of two of leaves that is not all of them goes left.
        fn tree(leaves: &[f64]) -> f64 {
            match leaves {
                [] => 1.0,
                [leaf] => *leaf,
                _ => {
                    let left = leaves.len().next_power_of_two() / 2;
                    tree(&leaves[..left]) * tree(&leaves[left..])
                }
            }
        }
        let mut leaves = Vec::new();
        for chunk in values.chunks(256) {
            let mut product = chunk[0];
            chunk[1..].iter().for_each(|value| product *= value);
            leaves.push(product);
        }
        assert_eq!(tree_product(values).to_bits(), tree(&leaves).to_bits());
    });
    let turns = [Complex::new(0.0f32, 2.0); 3];
    assert_eq!(tree_product(turns), Complex::new(0.0, -8.0));
    assert_eq!(
        tree_product([Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)]),
        Complex::new(-5.0, 10.0)
    );
    assert_eq!((tree_product::<f32>([]), tree_product([3.0f32])), (1.0, 3.0));
}

/// Sums of small whole numbers are exact in any order, so the quick sum must find them.
#[test]
fn plain_sums_take_every_element_once() {
    let (program, mut scratch) = (itself(DType::F64), Scratch::new());
    cases("plain_sums", 200, |rng| {
        let shape = [rng.below(5), rng.below(90)];
        let numbers: Vec<f64> =
            (0..shape[0] * shape[1]).map(|_| rng.below(1000) as f64 - 500.0).collect();
        let strides = [shape[1].cast_signed(), 1];
        let source = Source::Memory { bytes: bytes_of(&numbers), offset: 0, strides: &strides };
        // All of them, those of each row, and those of each column.
        for (kept, cells) in [([0, 0], 1), ([1, 0], shape[0]), ([0, 1], shape[1])] {
            let mut sums = vec![1.0_f64; cells];
            let mut bytes: Vec<&mut [u8]> = vec![bytes_of_mut(&mut sums)];
            LaneFold::Plain.start(DType::F64, bytes[0]).unwrap();
            let folds = [LaneFold::Plain];
            let mut into = Folds { folds: &folds, cells: &mut bytes, offset: 0, strides: &kept };
            reduce(&program, &shape, &[source], &mut into, &mut scratch).unwrap();
            for (cell, sum) in sums.iter().enumerate() {
                let own = numbers.iter().enumerate().filter(|(place, _)| {
                    let at = [place / shape[1], place % shape[1]];
                    at[0] * kept[0].unsigned_abs() + at[1] * kept[1].unsigned_abs() == cell
                });
                assert_eq!(*sum, own.map(|(_, number)| number).sum::<f64>(), "{shape:?} {kept:?}");
            }
        }
    });
    assert!(LaneFold::Plain.cell(DType::I64).is_err());
}
