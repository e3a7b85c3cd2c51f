//! Sums that are rounded at once against exact sums of one element after the other.
#![allow(clippy::cast_possible_truncation, reason = "numbers are made for the type")]

use crate::bodies::{BodyView, positions, view};
use pantile_kernels::lanes::{LoopProgram, Scratch, Source};
use pantile_kernels::reduce::{FoldCell, Folds, LaneFold, reduce};
use pantile_kernels::{DType, Error, ExactSum, Vectors, bytes_of, bytes_of_mut};
use pantile_lanes::{BinaryOp, LaneOp, LoopBody};
use pantile_testkit::{Rng, cases};

/// A body of one input, or of one times another that is the same along some axes.
fn body(dtype: DType, factors: bool) -> LoopBody {
    let mut body = LoopBody::new();
    let input = body.input(dtype).unwrap();
    let output = if factors {
        let other = body.input(dtype).unwrap();
        body.push(LaneOp::Binary(BinaryOp::Mul, input, other)).unwrap()
    } else {
        input
    };
    body.output(output);
    body
}

/// Two to a power, exactly, that of the smallest number included.
fn two_to(power: i64) -> f64 {
    (0..power.abs()).fold(1.0, |all, _| all * if power < 0 { 0.5 } else { 2.0 })
}

/// Kinds of numbers that sums meet.
const KINDS: usize = 11;

/// A number of a kind, for 53 or 24 bits; `before` is one of the numbers before it.
fn number(rng: &mut Rng, kind: usize, before: f64, narrow: bool) -> f64 {
    let bits = if narrow { 24 } else { 53 };
    let whole = |rng: &mut Rng| rng.range(-(1 << bits), 1 << bits) as f64;
    let power = |rng: &mut Rng, lowest: i64, highest: i64| two_to(rng.range(lowest, highest));
    let (tiny, huge) = if narrow { (-149, 127) } else { (-1074, 1023) };
    let unit = two_to(1 - bits);
    match kind {
        // As generators of random numbers make them: ties are common.
        0 => rng.range(0, 1 << bits) as f64 * two_to(-bits),
        1 => whole(rng) * unit * power(rng, -4, 4),
        // Numbers that cancel, and tiny ones.
        2 if rng.chance(1, 2) => -before,
        2 => whole(rng) * unit * power(rng, -100, 100),
        // Ties: one and halves of its last place, and a little more.
        3 => *rng.pick(&[
            1.0,
            unit / 2.0,
            -unit / 2.0,
            unit,
            1.5 * unit,
            unit * unit / 2.0,
            3.0,
            0.0,
        ]),
        4 => power(rng, tiny, huge) * *rng.pick(&[1.0, -1.0]),
        5 => whole(rng) * unit * power(rng, tiny + 60, huge),
        6 => rng.range(-1000, 1000) as f64,
        7 => match rng.below(40) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            _ => whole(rng),
        },
        // Overflow on the way, and at the end.
        8 => {
            *rng.pick(&[1.0, -1.0, 0.5, -0.5]) * if narrow { f64::from(f32::MAX) } else { f64::MAX }
        }
        9 => rng.range(-3, 3) as f64 * two_to(tiny),
        _ => *rng.pick(&[0.0, -0.0]),
    }
}

/// Numbers of a kind, or of two.
fn numbers(rng: &mut Rng, count: usize, narrow: bool) -> Vec<f64> {
    let kinds = [rng.below(KINDS), rng.below(KINDS)];
    let often = 1 + rng.below(60);
    let mut all: Vec<f64> = Vec::with_capacity(count);
    for _ in 0..count {
        let before = if all.is_empty() { 0.0 } else { all[rng.below(all.len())] };
        let kind = kinds[usize::from(rng.below(often) == 0)];
        let value = number(rng, kind, before, narrow);
        all.push(if narrow { f64::from(value as f32) } else { value });
    }
    all
}

/// The number that one exact sum gives, as bits.
fn rounded(values: &[f64], count: u64, narrow: bool) -> u64 {
    let mut sum = ExactSum::new();
    values.iter().for_each(|value| sum.add(*value));
    match (narrow, count) {
        (true, 1) => u64::from(sum.to_f32().to_bits()),
        (true, _) => u64::from(sum.divided_f32(count).to_bits()),
        (false, 1) => sum.to_f64().to_bits(),
        (false, _) => sum.divided_f64(count).to_bits(),
    }
}

/// The cells of a reduction, as bits; cells that it does not write are all ones.
fn reduced(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[(&[f64], &BodyView)],
    (cells, count): (&BodyView, u64),
    scratch: &mut Scratch,
) -> Vec<u64> {
    let narrow = program.outputs()[0] == DType::F32;
    let singles: Vec<Vec<f32>> =
        sources.iter().map(|(values, _)| values.iter().map(|v| *v as f32).collect()).collect();
    let sources: Vec<Source<'_>> = (sources.iter().zip(&singles))
        .map(|((values, view), singles)| Source::Memory {
            bytes: if narrow { bytes_of(singles.as_slice()) } else { bytes_of(values) },
            offset: view.offset,
            strides: &view.strides,
        })
        .collect();
    let fold = LaneFold::Rounded { count };
    let mut wide = vec![u64::MAX; cells.elements];
    let mut short = vec![u32::MAX; cells.elements];
    let bytes =
        if narrow { bytes_of_mut(short.as_mut_slice()) } else { bytes_of_mut(wide.as_mut_slice()) };
    fold.start(program.outputs()[0], bytes).unwrap();
    let mut into = Folds {
        folds: &[fold],
        cells: &mut [bytes],
        offset: cells.offset,
        strides: &cells.strides,
    };
    reduce(program, shape, &sources, &mut into, scratch).unwrap();
    if narrow {
        short
            .into_iter()
            .map(|bits| if bits == u32::MAX { u64::MAX } else { u64::from(bits) })
            .collect()
    } else {
        wide
    }
}

/// Runs a reduction and compares each cell with the sum of its elements.
fn check(
    rng: &mut Rng,
    (shape, kept): (&[usize], &[bool]),
    (source, cells): (&BodyView, &BodyView),
    sets: &[Vectors],
    scratch: &mut Scratch,
) {
    let vectors = *rng.pick(sets);
    let narrow = rng.chance(1, 2);
    let factors = rng.chance(1, 4);
    let dtype = if narrow { DType::F32 } else { DType::F64 };
    let program = LoopProgram::compile_for(&body(dtype, factors), vectors).unwrap();
    let values = numbers(rng, source.elements, narrow);
    let folded: usize =
        shape.iter().zip(kept).map(|(extent, kept)| if *kept { 1 } else { *extent }).product();
    let counts = [1, 1, folded as u64, folded as u64, 2, 3, 6, 1 << 26, (1 << 26) + 1, u64::MAX, 0];
    let count = *rng.pick(&counts);
    // The other factor is the same along some axes.
    let mut other = source.clone();
    other.strides.iter_mut().for_each(|step| *step *= isize::from(rng.chance(1, 2)));
    let factor = [1.0, -1.0, 0.5, 2.0];
    let scales: Vec<f64> = (0..source.elements).map(|_| *rng.pick(&factor)).collect();
    let mut sources = vec![(values.as_slice(), source)];
    if factors {
        sources.push((scales.as_slice(), &other));
    }
    let got = reduced(&program, shape, &sources, (cells, count), scratch);
    let mut expected = vec![None; cells.elements];
    let kept_shape: Vec<usize> =
        shape.iter().zip(kept).map(|(extent, kept)| if *kept { *extent } else { 1 }).collect();
    for position in positions(&kept_shape) {
        expected[cells.place(&position)] = Some(Vec::new());
    }
    for position in positions(shape) {
        let value = values[source.place(&position)];
        let scale = if factors { scales[other.place(&position)] } else { 1.0 };
        let product = value * scale;
        let product = if narrow { f64::from(product as f32) } else { product };
        expected[cells.place(&position)].as_mut().unwrap().push(product);
    }
    for (place, (got, values)) in got.iter().zip(&expected).enumerate() {
        let bits = values.as_ref().map_or(u64::MAX, |values| rounded(values, count, narrow));
        assert_eq!(
            *got,
            bits,
            "place {place} of {shape:?}, kept {kept:?}, {source:?}, {cells:?}, {dtype}, {count}, \
             {}: {:?}",
            vectors.name(),
            values.as_ref().filter(|values| values.len() < 100)
        );
    }
}

#[test]
fn sums_are_those_of_one_element_after_the_other() {
    let (mut scratch, sets): (_, Vec<Vectors>) = (Scratch::new(), Vectors::all().collect());
    cases("rounded_sums", 3000, |rng| {
        let mut shape = crate::bodies::shape(rng);
        if rng.chance(1, 2) {
            let most = *rng.pick(&[20, 130, 700]);
            let extents = [1 + rng.below(12), rng.below(5), rng.below(most)];
            shape = extents[rng.below(3)..].to_vec();
            rng.shuffle(&mut shape);
        }
        let kept: Vec<bool> = shape.iter().map(|_| rng.chance(1, 2)).collect();
        let extents: Vec<usize> =
            shape.iter().zip(&kept).map(|(extent, kept)| if *kept { *extent } else { 1 }).collect();
        let mut cells = view(rng, &extents, false, 1);
        for (stride, kept) in cells.strides.iter_mut().zip(&kept) {
            *stride *= isize::from(*kept);
        }
        let source = if rng.chance(1, 2) { dense(&shape) } else { view(rng, &shape, true, 1) };
        check(rng, (&shape, &kept), (&source, &cells), &sets, &mut scratch);
    });
}

/// Elements side by side, in row-major order.
fn dense(shape: &[usize]) -> BodyView {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].cast_signed();
    }
    BodyView { offset: 0, strides, elements: shape.iter().product() }
}

#[test]
fn matrices_along_both_axes() {
    let (mut scratch, sets): (_, Vec<Vectors>) = (Scratch::new(), Vectors::all().collect());
    cases("rounded_matrices", 400, |rng| {
        let long = *rng.pick(&[70, 300, 3000]);
        let mut shape = [1 + rng.below(long), 1 + rng.below(40)];
        rng.shuffle(&mut shape);
        let axis = rng.below(2);
        let kept = [axis == 1, axis == 0];
        let cells = BodyView {
            offset: 0,
            strides: kept.map(isize::from).to_vec(),
            elements: shape[1 - axis],
        };
        check(rng, (&shape, &kept), (&dense(&shape), &cells), &sets, &mut scratch);
    });
}

#[test]
fn known_sums() {
    let unit = f64::EPSILON;
    let half = unit / 2.0;
    let known: [(&[f64], u64, f64); 17] = [
        (&[], 1, 0.0),
        (&[-0.0, -0.0], 1, 0.0),
        (&[1.0, half], 1, 1.0),
        (&[1.0 + unit, half], 1, 1.0 + 2.0 * unit),
        (&[1.0, half, f64::from_bits(1)], 1, 1.0 + unit),
        (&[1.0, half, -f64::from_bits(1)], 1, 1.0),
        (&[1.0 + unit, half, -f64::from_bits(1)], 1, 1.0 + unit),
        (&[1e300, 1.0, -1e300, 1e-300], 1, 1.0),
        (&[f64::MAX, f64::MAX, -f64::MAX], 1, f64::MAX),
        (&[f64::MAX, f64::MAX], 2, f64::MAX),
        (&[f64::MAX, f64::MAX], 1, f64::INFINITY),
        (&[f64::NEG_INFINITY, 1.0], 3, f64::NEG_INFINITY),
        (&[1e300, 1.0, -1e300], 3, 1.0 / 3.0),
        (&[-f64::from_bits(1)], 3, -0.0),
        // Thirds that are ties, and so near to them that compensated sums cannot tell.
        (&[3.0, 1.5 * unit], 3, 1.0),
        (&[3.0, 1.5 * unit, unit * unit / 2.0], 3, 1.0 + unit),
        (&[3.0, 1.5 * unit, -unit * unit / 2.0], 3, 1.0),
    ];
    for (values, count, expected) in known {
        check_known(DType::F64, values, count, expected.to_bits());
    }
}

#[test]
fn known_sums_of_narrow_numbers() {
    let unit = f64::from(f32::EPSILON);
    let (most, least) = (f64::from(f32::MAX), two_to(-149));
    let known: [(&[f64], u64, f32); 8] = [
        (&[], 7, 0.0),
        (&[1.0, unit / 2.0], 1, 1.0),
        // Rounding to the wider type first would make it a tie.
        (&[1.0, unit / 2.0, two_to(-80)], 1, 1.0 + f32::EPSILON),
        (&[1.0 + unit, unit / 2.0, -two_to(-80)], 1, 1.0 + f32::EPSILON),
        (&[most, most], 2, f32::MAX),
        (&[most, most], 1, f32::INFINITY),
        // The sign of a number that is rounded to zero stays.
        (&[-least], 3, -0.0),
        (&[two_to(100), -least, -two_to(100)], 8, -0.0),
    ];
    for (values, count, expected) in known {
        check_known(DType::F32, values, count, u64::from(expected.to_bits()));
    }
}

fn check_known(dtype: DType, values: &[f64], count: u64, expected: u64) {
    let (shape, cells) = ([values.len()], BodyView { offset: 0, strides: vec![0], elements: 1 });
    let (source, mut scratch) = (dense(&shape), Scratch::new());
    for vectors in Vectors::all() {
        let program = LoopProgram::compile_for(&body(dtype, false), vectors).unwrap();
        let got = reduced(&program, &shape, &[(values, &source)], (&cells, count), &mut scratch);
        assert_eq!(got, [expected], "{values:?} / {count}, {dtype}, {}", vectors.name());
    }
}

#[test]
fn cells_are_numbers_of_the_type() {
    let fold = LaneFold::Rounded { count: 3 };
    for dtype in crate::bodies::LANES {
        let cell = fold.cell(dtype);
        if matches!(dtype, DType::F32 | DType::F64) {
            let FoldCell { dtype: own, elements, .. } = cell.unwrap();
            assert_eq!((own, elements), (dtype, 1));
        } else {
            assert!(matches!(cell, Err(Error::Unsupported { .. })), "{dtype}");
        }
    }
    let mut cells = [7.0];
    fold.start(DType::F64, bytes_of_mut(&mut cells)).unwrap();
    assert_eq!(cells, [7.0]);
    assert!(fold.start(DType::F64, &mut [0; 7]).is_err());
}
