//! Formulas computed at once, on numbers: what whoever runs bodies compiles into loops.
//!
//! The formulas are those of the expansions, so that the bits are the same. Everything is inlined
//! into a loop without branches, which the compiler makes vector code of.

use super::build::Build;
use super::{arc, exponential, logarithm, power, random, trigonometry};
use crate::{DType, One, Table, Two};

/// Declares functions of `F64` numbers by their formulas.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($x:ident),*) = $formula:path;)*) => {$(
        $(#[$doc])*
        #[must_use]
        #[inline(always)]
        pub fn $name($($x: f64),*) -> f64 {
            $formula(&mut Plain, $(Value::of($x)),*).float()
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
    trigonometry::is_large(&mut Plain, Value::of(x)).bits == 0
}

/// A random number in [0, 1) at a place.
#[must_use]
#[inline(always)]
pub fn uniform(index: u64, seed: u64, stream: u64) -> f64 {
    let [index, seed, stream] = [index, seed, stream].map(Value::word);
    random::uniform_of(&mut Plain, index, seed, stream).float()
}

/// A random number of the normal distribution at a place.
#[must_use]
#[inline(always)]
pub fn normal(index: u64, seed: u64, stream: u64) -> f64 {
    let [index, seed, stream] = [index, seed, stream].map(Value::word);
    random::normal_of(&mut Plain, index, seed, stream).float()
}

/// Computes at once. The types of all values are known to the compiler once all is inlined.
struct Plain;

/// The bits of a number and their type: `F64`, `U64`, `I64` or `Bool`.
#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    dtype: DType,
}

impl Value {
    #[inline(always)]
    fn of(value: f64) -> Self {
        Self { bits: value.to_bits(), dtype: DType::F64 }
    }

    #[inline(always)]
    fn word(bits: u64) -> Self {
        Self { bits, dtype: DType::U64 }
    }

    #[inline(always)]
    fn truth(value: bool) -> Self {
        Self { bits: u64::from(value), dtype: DType::Bool }
    }

    #[inline(always)]
    fn float(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

impl Build for Plain {
    type Node = Value;

    #[inline(always)]
    fn dtype(&self, x: Value) -> DType {
        x.dtype
    }

    #[inline(always)]
    fn f(&mut self, value: f64) -> Value {
        Value::of(value)
    }

    #[inline(always)]
    fn u(&mut self, value: u64) -> Value {
        Value::word(value)
    }

    #[inline(always)]
    fn one(&mut self, op: One, x: Value) -> Value {
        let value = x.float();
        match (op, x.dtype) {
            (One::Not, DType::Bool) => Value { bits: x.bits ^ 1, ..x },
            (One::Not, _) => Value { bits: !x.bits, ..x },
            (One::Neg, _) => Value::of(-value),
            (One::Abs, _) => Value::of(value.abs()),
            (One::Sqrt, _) => Value::of(value.sqrt()),
            (One::Floor, _) => Value::of(value.floor()),
            (One::Ceil, _) => Value::of(value.ceil()),
            (One::Trunc, _) => Value::of(value.trunc()),
            (One::RoundEven, _) => Value::of(value.round_ties_even()),
            (One::Canonical, _) if value.is_nan() => Value::word(0x7ff8_0000_0000_0000),
            (One::Canonical, _) => x,
        }
    }

    #[inline(always)]
    fn two(&mut self, op: Two, x: Value, y: Value) -> Value {
        match x.dtype {
            DType::F64 => floats(op, x.float(), y.float()),
            _ => words(op, x, y),
        }
    }

    #[inline(always)]
    fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        Value::of(x.float().mul_add(y.float(), z.float()))
    }

    #[inline(always)]
    fn select(&mut self, which: Value, yes: Value, no: Value) -> Value {
        Value { bits: if which.bits == 0 { no.bits } else { yes.bits }, ..no }
    }

    #[inline(always)]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "casts of lanes"
    )]
    #[allow(clippy::cast_sign_loss, reason = "negative numbers become 0")]
    fn cast(&mut self, x: Value, to: DType) -> Value {
        match (x.dtype, to) {
            (DType::F64, DType::U64) => Value::word(x.float() as u64),
            (DType::U64, DType::F64) => Value::of(x.bits as f64),
            (DType::I64, DType::F64) => Value::of(x.bits.cast_signed() as f64),
            _ => Value { bits: x.bits, dtype: to },
        }
    }

    #[inline(always)]
    fn reinterpret(&mut self, x: Value, to: DType) -> Value {
        Value { bits: x.bits, dtype: to }
    }

    #[inline(always)]
    fn word(&mut self, table: Table, place: Value) -> Value {
        let last = table.words.len() - 1;
        let place = usize::try_from(place.bits).map_or(last, |place| place.min(last));
        Value::word(table.words[place])
    }

    /// One comparison: a NaN is none, and equal numbers that are not zero are the same.
    #[inline(always)]
    fn at_most(&mut self, x: Value, bound: f64) -> Value {
        Value::of(if bound < x.float() { bound } else { x.float() })
    }

    #[inline(always)]
    fn at_least(&mut self, x: Value, bound: f64) -> Value {
        Value::of(if bound > x.float() { bound } else { x.float() })
    }
}

/// Selections rather than branches. Equal numbers differ at most in the sign of zero: the bits of
/// both together have it (minimum), or not (maximum).
#[inline(always)]
fn floats(op: Two, x: f64, y: f64) -> Value {
    Value::of(match op {
        Two::Add => x + y,
        Two::Sub => x - y,
        Two::Mul => x * y,
        Two::Div => x / y,
        Two::Rem => x % y,
        Two::Min => {
            let least = if x < y { x } else { y };
            let both = f64::from_bits(x.to_bits() | y.to_bits());
            let least = if x == y { both } else { least };
            if x.is_nan() { x } else { least }
        }
        Two::Max => {
            let most = if x > y { x } else { y };
            let both = f64::from_bits(x.to_bits() & y.to_bits());
            let most = if x == y { both } else { most };
            if x.is_nan() { x } else { most }
        }
        Two::Eq => return Value::truth(x == y),
        Two::Ne => return Value::truth(x != y),
        Two::Lt => return Value::truth(x < y),
        Two::Le => return Value::truth(x <= y),
        Two::And | Two::Or | Two::Xor | Two::Shl | Two::Shr | Two::MulHigh => {
            unreachable!("floats have no bits in formulas")
        }
    })
}

/// Words and truth values; the amounts of shifts are below the width, or nothing is left.
#[inline(always)]
fn words(op: Two, left: Value, right: Value) -> Value {
    let signed = left.dtype == DType::I64;
    let (x, y) = (left.bits, right.bits);
    let below = if signed { x.cast_signed() < y.cast_signed() } else { x < y };
    let bits = match op {
        Two::Add => x.wrapping_add(y),
        Two::Sub => x.wrapping_sub(y),
        Two::Mul => x.wrapping_mul(y),
        Two::MulHigh => mul_high(x, y),
        Two::Min => {
            if below {
                x
            } else {
                y
            }
        }
        Two::Max => {
            if below {
                y
            } else {
                x
            }
        }
        Two::And => x & y,
        Two::Or => x | y,
        Two::Xor => x ^ y,
        Two::Shl => {
            if y < 64 {
                x << (y & 63)
            } else {
                0
            }
        }
        Two::Shr if signed => (x.cast_signed() >> y.min(63)).cast_unsigned(),
        Two::Shr => {
            if y < 64 {
                x >> (y & 63)
            } else {
                0
            }
        }
        Two::Eq => return Value::truth(x == y),
        Two::Ne => return Value::truth(x != y),
        Two::Lt => return Value::truth(below),
        Two::Le => return Value::truth(below || x == y),
        Two::Div | Two::Rem => unreachable!("words are not divided in formulas"),
    };
    Value { bits, dtype: left.dtype }
}

/// The upper half of a product of words.
#[must_use]
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the upper half of 128 bits")]
pub fn mul_high(x: u64, y: u64) -> u64 {
    ((u128::from(x) * u128::from(y)) >> 64) as u64
}
