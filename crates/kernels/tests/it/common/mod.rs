//! Random layouts and plain oracles, element by element.

use pantile_geometry::{Indices, Operator, Segment, Segments, Slab};
use pantile_kernels::{DType, Layout};
use pantile_testkit::Rng;

/// A layout and its offsets, found by enumeration.
#[derive(Debug)]
pub(crate) struct NestCase {
    pub(crate) layout: Layout,
    pub(crate) offsets: Vec<usize>,
}

/// One run, or several at equal distances, of `size` places from `start` on; and where they end.
fn segment(rng: &mut Rng, start: usize, size: usize) -> (Segment, usize) {
    let divisors: Vec<usize> = (1..=size).filter(|d| size.is_multiple_of(*d)).collect();
    let length = *rng.pick(&divisors);
    let step = length + rng.below(4);
    let segment = Segment::strided(start, length, step, size / length).expect("not empty");
    (segment, segment.stop())
}

/// `size` places of one axis, of every kind, and one past the last.
fn places(rng: &mut Rng, size: usize) -> (Indices, usize) {
    let start = rng.below(3);
    if size == 0 {
        return (Indices::Segments(Segments::new()), start);
    }
    match rng.below(6) {
        0 | 1 => {
            let (segment, stop) = segment(rng, start, size);
            (Indices::Segments([segment].into_iter().collect()), stop)
        }
        2 => {
            let run = Segment::run(start, start + size).expect("not empty");
            (Indices::Segments([run].into_iter().collect()), start + size)
        }
        3 => {
            let (mut segments, mut stop, mut left) = (Segments::new(), start, size);
            while left > 0 {
                let part = 1 + rng.below(left);
                let (segment, end) = segment(rng, stop, part);
                segments.push(segment);
                (stop, left) = (end + rng.below(3), left - part);
            }
            (Indices::Segments(segments), stop)
        }
        _ => {
            let mut at = start;
            let mut list: Vec<usize> = (0..size)
                .map(|_| {
                    at += 1 + if rng.chance(1, 2) { rng.below(4) } else { 0 };
                    at - 1
                })
                .collect();
            if rng.chance(1, 4) {
                rng.shuffle(&mut list);
            }
            (Indices::List(list.into()), at)
        }
    }
}

/// A layout of a region of these sizes per axis, somewhere in a larger memory.
pub(crate) fn case_of(rng: &mut Rng, sizes: &[usize]) -> NestCase {
    if rng.chance(1, 4) {
        let (start, len) = (rng.below(4), sizes.iter().product());
        return NestCase {
            layout: Layout::dense(start, len),
            offsets: (start..start + len).collect(),
        };
    }
    let (mut axes, mut shape) = (Vec::new(), Vec::new());
    for size in sizes {
        let (indices, stop) = places(rng, *size);
        // A tight shape lets axes merge.
        shape.push(stop + if rng.chance(1, 2) { 0 } else { rng.below(3) });
        axes.push(indices);
    }
    let slab = Slab { axes };
    let offsets = offsets(&slab, &shape);
    NestCase { layout: Layout::of(&slab, &shape).expect("the places lie inside"), offsets }
}

/// Row-major offsets, by one loop per axis.
fn offsets(slab: &Slab, shape: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    for (indices, length) in slab.axes.iter().zip(shape) {
        let mut places = Vec::new();
        match indices {
            Indices::List(list) => places.extend_from_slice(list),
            Indices::Segments(segments) => {
                for segment in segments {
                    for run in 0..segment.count() {
                        for index in 0..segment.length() {
                            places.push(segment.start() + run * segment.step() + index);
                        }
                    }
                }
            }
        }
        let mut longer = Vec::new();
        for offset in &offsets {
            for place in &places {
                longer.push(offset * length + place);
            }
        }
        offsets = longer;
    }
    offsets
}

/// Sizes of a region: no axes to four, rarely empty.
pub(crate) fn sizes(rng: &mut Rng) -> Vec<usize> {
    let axes = rng.below(5);
    let size = |rng: &mut Rng| if rng.chance(1, 30) { 0 } else { 1 + rng.below(7) };
    (0..axes).map(|_| size(rng)).collect()
}

/// Other sizes with the same product, or the same ones.
pub(crate) fn resized(rng: &mut Rng, sizes: &[usize]) -> Vec<usize> {
    let mut left: usize = sizes.iter().product();
    if left == 0 || rng.chance(2, 3) {
        return sizes.to_vec();
    }
    let mut other = Vec::new();
    while left > 1 {
        let divisors: Vec<usize> = (2..=left).filter(|d| left.is_multiple_of(*d)).collect();
        let size = *rng.pick(&divisors);
        other.push(size);
        left /= size;
    }
    other
}

/// Random bytes that are elements of the type, with many special values.
pub(crate) fn elements(rng: &mut Rng, dtype: DType, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        match dtype {
            DType::Bool => bytes.push(u8::from(rng.chance(1, 2))),
            DType::F32 => bytes.extend(narrow(number(rng)).to_ne_bytes()),
            DType::F64 => bytes.extend(number(rng).to_ne_bytes()),
            DType::C64 => {
                (0..2).for_each(|_| bytes.extend(narrow(number(rng)).to_ne_bytes()));
            }
            DType::C128 => (0..2).for_each(|_| bytes.extend(number(rng).to_ne_bytes())),
            _ => {
                let bits = *rng.pick(&[0, 1, u64::MAX, 1 << 63, rng.clone().bits()]);
                bytes.extend(
                    bits.rotate_left(8 * u32::from(rng.chance(1, 2)))
                        .to_ne_bytes()
                        .iter()
                        .take(dtype.bytes()),
                );
            }
        }
    }
    bytes
}

fn number(rng: &mut Rng) -> f64 {
    let small = rng.range(-1000, 1000) as f64 / 8.0;
    *rng.pick(&[0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, small, small, small])
}

/// One element combined with another, by the book.
pub(crate) fn naive(dtype: DType, operator: Operator, one: &[u8], other: &[u8]) -> Vec<u8> {
    match dtype {
        DType::Bool => {
            let either = matches!(operator, Operator::Sum | Operator::Max | Operator::Or);
            let [one, other] = [one[0] == 1, other[0] == 1];
            vec![u8::from(if either { one || other } else { one && other })]
        }
        DType::F32 => {
            naive_float(operator, f32_of(one), f32_of(other), |x| narrow(x).to_ne_bytes().to_vec())
        }
        DType::F64 => {
            naive_float(operator, f64_of(one), f64_of(other), |x| x.to_ne_bytes().to_vec())
        }
        DType::C64 => {
            let part = |bytes: &[u8], at: usize| {
                f32::from_ne_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap())
            };
            let [a, b, c, d] = [part(one, 0), part(one, 1), part(other, 0), part(other, 1)];
            let sum = operator == Operator::Sum;
            let parts = if sum { [a + c, b + d] } else { [a * c - b * d, a * d + b * c] };
            parts.iter().flat_map(|part| part.to_ne_bytes()).collect()
        }
        DType::C128 => {
            let part = |bytes: &[u8], at: usize| f64_of(&bytes[8 * at..8 * at + 8]);
            let [a, b, c, d] = [part(one, 0), part(one, 1), part(other, 0), part(other, 1)];
            let sum = operator == Operator::Sum;
            let parts = if sum { [a + c, b + d] } else { [a * c - b * d, a * d + b * c] };
            parts.iter().flat_map(|part| part.to_ne_bytes()).collect()
        }
        _ => {
            let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
            let [a, b] = [one, other].map(|bytes| integer(bytes, signed));
            let value = match operator {
                Operator::Sum => a.wrapping_add(b),
                Operator::Prod => a.wrapping_mul(b),
                Operator::Min => {
                    if a < b {
                        a
                    } else {
                        b
                    }
                }
                Operator::Max => {
                    if a > b {
                        a
                    } else {
                        b
                    }
                }
                Operator::And => a & b,
                Operator::Or => a | b,
            };
            value.to_le_bytes()[..dtype.bytes()].to_vec()
        }
    }
}

/// The nearest `f32`.
#[allow(clippy::cast_possible_truncation, reason = "rounding is meant")]
fn narrow(number: f64) -> f32 {
    number as f32
}

fn f32_of(bytes: &[u8]) -> f64 {
    f64::from(f32::from_ne_bytes(bytes.try_into().unwrap()))
}

fn f64_of(bytes: &[u8]) -> f64 {
    f64::from_ne_bytes(bytes.try_into().unwrap())
}

/// Sums and products of two `f32` are rounded once more from `f64`, which changes nothing: twice
/// the digits and two more are enough.
fn naive_float(operator: Operator, a: f64, b: f64, write: impl Fn(f64) -> Vec<u8>) -> Vec<u8> {
    let below = |a: f64, b: f64| a < b || (a == b && a.is_sign_negative());
    write(match operator {
        Operator::Sum => a + b,
        Operator::Prod => a * b,
        _ if a.is_nan() || b.is_nan() => f64::NAN,
        Operator::Min => {
            if below(a, b) {
                a
            } else {
                b
            }
        }
        Operator::Max => {
            if below(a, b) {
                b
            } else {
                a
            }
        }
        Operator::And | Operator::Or => unreachable!("not for floats"),
    })
}

/// A little-endian integer of any width.
fn integer(bytes: &[u8], signed: bool) -> i128 {
    let negative = signed && bytes[bytes.len() - 1] >= 128;
    let mut wide = [if negative { 255 } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(wide)
}

/// Equal bytes, all NaN of a float being alike.
pub(crate) fn alike(dtype: DType, one: &[u8], other: &[u8]) -> bool {
    let nan4 = |b: &[u8]| f32::from_ne_bytes(b.try_into().unwrap()).is_nan();
    let nan8 = |b: &[u8]| f64_of(b).is_nan();
    let parts = |size: usize, nan: &dyn Fn(&[u8]) -> bool| {
        let mut pairs = one.chunks(size).zip(other.chunks(size));
        one.len() == other.len() && pairs.all(|(a, b)| a == b || (nan(a) && nan(b)))
    };
    match dtype {
        DType::F32 | DType::C64 => parts(4, &nan4),
        DType::F64 | DType::C128 => parts(8, &nan8),
        _ => one == other,
    }
}

/// All combinations that there are.
pub(crate) fn combinations() -> Vec<(DType, Operator)> {
    let all = DType::ALL.into_iter().flat_map(|dtype| Operator::ALL.map(|op| (dtype, op)));
    all.filter(|(dtype, operator)| pantile_kernels::supports(*dtype, *operator)).collect()
}
