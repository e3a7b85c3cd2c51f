//! Elements worth computing with, and distributions as text.

use pantile_ir::reference::Array;
use pantile_lanes::{Complex, DType, Scalar};
use pantile_testkit::Rng;

/// A number that is easy, or one at an edge.
pub(super) fn number(rng: &mut Rng) -> f64 {
    match rng.below(16) {
        0 => -0.0,
        1 => 0.0,
        2 => f64::INFINITY,
        3 => f64::NEG_INFINITY,
        4 => f64::NAN,
        5 => f64::from_bits(0xfff0_0000_0000_0001 | rng.bits() >> 12),
        6 => f64::from_bits(rng.bits() >> 12),
        7 => 1e300 * f64::from(small(rng)),
        8 => 1e-300 * f64::from(small(rng)),
        9 => f64::from_bits(rng.bits()),
        10..13 => f64::from(small(rng)) / 10.0,
        _ => f64::from(small(rng)),
    }
}

fn small(rng: &mut Rng) -> i8 {
    i8::try_from(rng.range(-12, 13)).unwrap_or(0)
}

fn single(rng: &mut Rng) -> f32 {
    match rng.below(8) {
        0 => f32::from_bits(u32::try_from(rng.bits() >> 32).unwrap_or(0)),
        1 => f32::from_bits(u32::try_from(rng.bits() >> 41).unwrap_or(0)),
        #[allow(clippy::cast_possible_truncation, reason = "any number will do")]
        _ => number(rng) as f32,
    }
}

/// An element: an integer is small, or any.
pub(super) fn element(rng: &mut Rng, dtype: DType) -> Scalar {
    match dtype {
        DType::Bool => Scalar::of(rng.chance(1, 2)),
        DType::F32 => Scalar::of(single(rng)),
        DType::F64 => Scalar::of(number(rng)),
        DType::C64 => Scalar::of(Complex::new(single(rng), single(rng))),
        DType::C128 => Scalar::of(Complex::new(number(rng), number(rng))),
        whole => {
            let value = if rng.chance(1, 6) { rng.bits().cast_signed() } else { rng.range(-5, 12) };
            let bytes = value.to_le_bytes();
            Scalar::from_bytes(whole, &bytes[..whole.bytes()]).unwrap_or_else(|| Scalar::of(false))
        }
    }
}

/// An array of such elements, of easy numbers only, or of numbers whose squares leave the range.
pub(super) fn array(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Array {
    let flavour = rng.below(5);
    let mut one = || {
        let number = f64::from(small(rng));
        match (flavour, dtype) {
            (0 | 1, DType::F64) => Scalar::of(number / 4.0),
            (2, DType::F64) => Scalar::of(number * 1e250),
            (3, DType::F64) if rng.chance(1, 2) => Scalar::of(number * 1e-290),
            #[allow(clippy::cast_possible_truncation, reason = "twelve quarters are exact")]
            (0 | 1, DType::F32) => Scalar::of((number / 4.0) as f32),
            #[allow(clippy::cast_possible_truncation, reason = "any number will do")]
            (2, DType::F32) => Scalar::of((number * 1e30) as f32),
            _ => element(rng, dtype),
        }
    };
    let data = (0..shape.iter().product()).map(|_| one()).collect();
    Array { dtype, shape: shape.to_vec(), data }
}

/// The text of a distribution of an array of this shape on so many ranks.
pub(super) fn spread(rng: &mut Rng, shape: &[usize], ranks: usize) -> String {
    let ndim = shape.len();
    if ndim == 0 {
        return "copies".to_owned();
    }
    match rng.below(8) {
        0 => "auto".to_owned(),
        1 => "copies".to_owned(),
        2 => "block".to_owned(),
        3 => one_cut(rng, shape, &format!("r={ranks}"), ("r", ranks)),
        4 => {
            // Some ranks have nothing.
            let some = 1 + rng.below(ranks);
            one_cut(rng, shape, &format!("r={some}"), ("r", some))
        }
        5 if ndim >= 2 => {
            let first = 1 + rng.below(ranks.min(3));
            let mesh = format!("x={first}, y={}", ranks / first);
            let mut axes = vec!["whole".to_owned(); ndim];
            let mut places: Vec<usize> = (0..ndim).collect();
            rng.shuffle(&mut places);
            axes[places[0]] = cut(rng, shape[places[0]], ("x", first));
            axes[places[1]] = cut(rng, shape[places[1]], ("y", ranks / first));
            format!("{mesh}: {}", axes.join(", "))
        }
        6 => {
            let first = 1 + rng.below(ranks.min(3));
            let mut axes = vec!["whole".to_owned(); ndim];
            axes[rng.below(ndim)] = "block(x*y)".to_owned();
            format!("x={first}, y=*: {}", axes.join(", "))
        }
        _ => {
            // Copies along a mesh axis that cuts nothing.
            let first = 1 + rng.below(ranks.min(3));
            one_cut(rng, shape, &format!("x={first}, y=*"), ("x", first))
        }
    }
}

fn one_cut(rng: &mut Rng, shape: &[usize], mesh: &str, over: (&str, usize)) -> String {
    let mut axes = vec!["whole".to_owned(); shape.len()];
    let at = rng.below(shape.len());
    axes[at] = cut(rng, shape[at], over);
    format!("{mesh}: {}", axes.join(", "))
}

/// How one axis is cut over a mesh axis.
fn cut(rng: &mut Rng, length: usize, (name, parts): (&str, usize)) -> String {
    match rng.below(6) {
        0 => format!("block({name}, last)"),
        1 => format!("block({name}, ceil)"),
        2 => format!("cyclic({name}, {})", 1 + rng.below(3)),
        3 => {
            let mut cuts: Vec<usize> = (1..parts).map(|_| rng.below(length + 1)).collect();
            cuts.sort_unstable();
            let inner: String = cuts.iter().map(|cut| format!("{cut} ")).collect();
            format!("block({name}, cuts 0 {inner}{length})")
        }
        4 if length > 0 => {
            let mut lists = vec![String::new(); parts];
            for label in 0..length {
                let at = rng.below(parts);
                lists[at] += &format!(" {label}");
            }
            let lists: Vec<String> =
                lists.iter().map(|list| format!("[{}]", list.trim())).collect();
            format!("indexed({name}, {})", lists.join(" "))
        }
        _ => format!("block({name})"),
    }
}
