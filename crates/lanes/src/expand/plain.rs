//! Formulas computed at once, on numbers: the form that kernels compile into loops.
//!
//! The formulas are those of the expansions, so that the bits are the same. Everything is inlined
//! into a loop without branches, which the compiler makes vector code of.

use super::build::FormulaBuilder;
use super::{arc, exponential, logarithm, power, random, trigonometry};
use crate::{BinaryOp, DType, LookupTable, UnaryOp};

/// Declares functions of `F64` numbers by their formulas.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($x:ident),*) = $formula:path;)*) => {$(
        $(#[$doc])*
        #[must_use]
        #[inline(always)]
        pub fn $name($($x: f64),*) -> f64 {
            $formula(&mut PlainEvaluator, $(PlainValue::of($x)),*).float()
        }
    )*};
}

functions! {
    /// The inverse cosine.
    acos(x) = arc::acos;
    /// The inverse hyperbolic cosine.
    acosh(x) = logarithm::acosh;
    /// The inverse sine.
    asin(x) = arc::asin;
    /// The inverse hyperbolic sine.
    asinh(x) = logarithm::asinh;
    /// The inverse tangent.
    atan(x) = arc::atan;
    /// The angle of (x, y).
    atan2(y, x) = arc::atan2;
    /// The inverse hyperbolic tangent.
    atanh(x) = logarithm::atanh;
    /// The cosine.
    cos(x) = trigonometry::cos;
    /// The cosine of an x that [`is_small_angle`].
    cos_of_small(x) = trigonometry::cos_of_small;
    /// The hyperbolic cosine.
    cosh(x) = exponential::cosh;
    /// The error function.
    erf(x) = power::erf;
    /// e to the power x.
    exp(x) = exponential::exp;
    /// e to the power x, less one.
    expm1(x) = exponential::expm1;
    /// The square root of x^2 + y^2.
    hypot(x, y) = power::hypot;
    /// The natural logarithm.
    log(x) = logarithm::log;
    /// The natural logarithm of 1 + x.
    log1p(x) = logarithm::log1p;
    /// The logarithm to base 2.
    log2(x) = logarithm::log2;
    /// The logarithm to base 10.
    log10(x) = logarithm::log10;
    /// The logarithm of the sum of two exponentials.
    logaddexp(x, y) = logarithm::logaddexp;
    /// x to the power y.
    pow(x, y) = power::pow;
    /// The sine.
    sin(x) = trigonometry::sin;
    /// The sine of an x that [`is_small_angle`].
    sin_of_small(x) = trigonometry::sin_of_small;
    /// The hyperbolic sine.
    sinh(x) = exponential::sinh;
    /// The tangent.
    tan(x) = trigonometry::tan;
    /// The tangent of an x that [`is_small_angle`].
    tan_of_small(x) = trigonometry::tan_of_small;
    /// The hyperbolic tangent.
    tanh(x) = exponential::tanh;
}

/// True if the angle needs no reduction by the bits of 2/pi: up to 2^27, and if it is no number.
#[must_use]
#[inline(always)]
pub fn is_small_angle(x: f64) -> bool {
    trigonometry::is_large(&mut PlainEvaluator, PlainValue::of(x)).bits == 0
}

/// A random number in [0, 1) at a place.
#[must_use]
#[inline(always)]
pub fn uniform(index: u64, seed: u64, stream: u64) -> f64 {
    let [index, seed, stream] = [index, seed, stream].map(PlainValue::word);
    random::uniform_of(&mut PlainEvaluator, index, seed, stream).float()
}

/// A random number of the normal distribution at a place.
#[must_use]
#[inline(always)]
pub fn normal(index: u64, seed: u64, stream: u64) -> f64 {
    let [index, seed, stream] = [index, seed, stream].map(PlainValue::word);
    random::normal_of(&mut PlainEvaluator, index, seed, stream).float()
}

/// Computes at once. The types of all values are known to the compiler once all is inlined.
struct PlainEvaluator;

/// The bits of a number and their type: `F64`, `U64`, `I64` or `Bool`.
#[derive(Clone, Copy)]
struct PlainValue {
    bits: u64,
    dtype: DType,
}

impl PlainValue {
    #[inline(always)]
    fn of(value: f64) -> Self {
        Self { bits: value.to_bits(), dtype: DType::F64 }
    }

    #[inline(always)]
    fn word(bits: u64) -> Self {
        Self { bits, dtype: DType::U64 }
    }

    #[inline(always)]
    fn boolean(value: bool) -> Self {
        Self { bits: u64::from(value), dtype: DType::Bool }
    }

    #[inline(always)]
    fn float(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

impl FormulaBuilder for PlainEvaluator {
    type Node = PlainValue;

    #[inline(always)]
    fn dtype(&self, x: PlainValue) -> DType {
        x.dtype
    }

    #[inline(always)]
    fn f(&mut self, value: f64) -> PlainValue {
        PlainValue::of(value)
    }

    #[inline(always)]
    fn u(&mut self, value: u64) -> PlainValue {
        PlainValue::word(value)
    }

    #[inline(always)]
    fn one(&mut self, op: UnaryOp, x: PlainValue) -> PlainValue {
        let value = x.float();
        match (op, x.dtype) {
            (UnaryOp::Not, DType::Bool) => PlainValue { bits: x.bits ^ 1, ..x },
            (UnaryOp::Not, _) => PlainValue { bits: !x.bits, ..x },
            (UnaryOp::Neg, _) => PlainValue::of(-value),
            (UnaryOp::Abs, _) => PlainValue::of(value.abs()),
            (UnaryOp::Sqrt, _) => PlainValue::of(value.sqrt()),
            (UnaryOp::Floor, _) => PlainValue::of(value.floor()),
            (UnaryOp::Ceil, _) => PlainValue::of(value.ceil()),
            (UnaryOp::Trunc, _) => PlainValue::of(value.trunc()),
            (UnaryOp::RoundEven, _) => PlainValue::of(value.round_ties_even()),
            (UnaryOp::Canonical, _) if value.is_nan() => PlainValue::word(0x7ff8_0000_0000_0000),
            (UnaryOp::Canonical, _) => x,
        }
    }

    #[inline(always)]
    fn two(&mut self, op: BinaryOp, x: PlainValue, y: PlainValue) -> PlainValue {
        match x.dtype {
            DType::F64 => floats(op, x.float(), y.float()),
            _ => words(op, x, y),
        }
    }

    #[inline(always)]
    fn fma(&mut self, x: PlainValue, y: PlainValue, z: PlainValue) -> PlainValue {
        PlainValue::of(x.float().mul_add(y.float(), z.float()))
    }

    #[inline(always)]
    fn select(&mut self, which: PlainValue, yes: PlainValue, no: PlainValue) -> PlainValue {
        PlainValue { bits: if which.bits == 0 { no.bits } else { yes.bits }, ..no }
    }

    #[inline(always)]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "casts of lanes"
    )]
    #[allow(clippy::cast_sign_loss, reason = "negative numbers become 0")]
    fn cast(&mut self, x: PlainValue, to: DType) -> PlainValue {
        match (x.dtype, to) {
            (DType::F64, DType::U64) => PlainValue::word(x.float() as u64),
            (DType::U64, DType::F64) => PlainValue::of(x.bits as f64),
            (DType::I64, DType::F64) => PlainValue::of(x.bits.cast_signed() as f64),
            _ => PlainValue { bits: x.bits, dtype: to },
        }
    }

    #[inline(always)]
    fn reinterpret(&mut self, x: PlainValue, to: DType) -> PlainValue {
        PlainValue { bits: x.bits, dtype: to }
    }

    #[inline(always)]
    fn word(&mut self, table: LookupTable, place: PlainValue) -> PlainValue {
        let last = table.entries.len() - 1;
        let place = usize::try_from(place.bits).map_or(last, |place| place.min(last));
        PlainValue::word(table.entries[place])
    }

    /// One comparison: a NaN is none, and equal numbers that are not zero are the same.
    #[inline(always)]
    fn at_most(&mut self, x: PlainValue, bound: f64) -> PlainValue {
        PlainValue::of(if bound < x.float() { bound } else { x.float() })
    }

    #[inline(always)]
    fn at_least(&mut self, x: PlainValue, bound: f64) -> PlainValue {
        PlainValue::of(if bound > x.float() { bound } else { x.float() })
    }
}

/// Selections rather than branches. Equal numbers differ at most in the sign of zero: the bits of
/// both together have it (minimum), or not (maximum).
#[inline(always)]
fn floats(op: BinaryOp, x: f64, y: f64) -> PlainValue {
    PlainValue::of(match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        BinaryOp::Min => {
            let least = if x < y { x } else { y };
            let both = f64::from_bits(x.to_bits() | y.to_bits());
            let least = if x == y { both } else { least };
            if x.is_nan() { x } else { least }
        }
        BinaryOp::Max => {
            let most = if x > y { x } else { y };
            let both = f64::from_bits(x.to_bits() & y.to_bits());
            let most = if x == y { both } else { most };
            if x.is_nan() { x } else { most }
        }
        BinaryOp::Eq => return PlainValue::boolean(x == y),
        BinaryOp::Ne => return PlainValue::boolean(x != y),
        BinaryOp::Lt => return PlainValue::boolean(x < y),
        BinaryOp::Le => return PlainValue::boolean(x <= y),
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::MulHigh => {
            unreachable!("floats have no bits in formulas")
        }
    })
}

/// Words and bools; the amounts of shifts are below the width, or nothing is left.
#[inline(always)]
fn words(op: BinaryOp, left: PlainValue, right: PlainValue) -> PlainValue {
    let signed = left.dtype == DType::I64;
    let (x, y) = (left.bits, right.bits);
    let below = if signed { x.cast_signed() < y.cast_signed() } else { x < y };
    let bits = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::MulHigh => mul_high(x, y),
        BinaryOp::Min => {
            if below {
                x
            } else {
                y
            }
        }
        BinaryOp::Max => {
            if below {
                y
            } else {
                x
            }
        }
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl => {
            if y < 64 {
                x << (y & 63)
            } else {
                0
            }
        }
        BinaryOp::Shr if signed => (x.cast_signed() >> y.min(63)).cast_unsigned(),
        BinaryOp::Shr => {
            if y < 64 {
                x >> (y & 63)
            } else {
                0
            }
        }
        BinaryOp::Eq => return PlainValue::boolean(x == y),
        BinaryOp::Ne => return PlainValue::boolean(x != y),
        BinaryOp::Lt => return PlainValue::boolean(below),
        BinaryOp::Le => return PlainValue::boolean(below || x == y),
        BinaryOp::Div | BinaryOp::Rem => unreachable!("words are not divided in formulas"),
    };
    PlainValue { bits, dtype: left.dtype }
}

/// The upper half of a product of words.
#[must_use]
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the upper half of 128 bits")]
pub fn mul_high(x: u64, y: u64) -> u64 {
    ((u128::from(x) * u128::from(y)) >> 64) as u64
}
