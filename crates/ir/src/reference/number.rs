//! Elements as numbers: reading, writing in any type, and the bits of floats.

use pantile_lanes::{Complex, DType, Scalar};

/// What an element is, without loss; truth values are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Real(f64),
    Complex(f64, f64),
}

/// The number of an element.
pub(super) fn read(value: Scalar) -> Number {
    read_whole(value)
        .map(Number::Whole)
        .or_else(|| value.get::<f32>().map(|value| Number::Real(f64::from(value))))
        .or_else(|| value.get::<f64>().map(Number::Real))
        .or_else(|| {
            let value = value.get::<Complex<f32>>()?;
            Some(Number::Complex(f64::from(value.re), f64::from(value.im)))
        })
        .or_else(|| value.get::<Complex<f64>>().map(|value| Number::Complex(value.re, value.im)))
        .unwrap_or(Number::Whole(0))
}

fn read_whole(value: Scalar) -> Option<i128> {
    match value.dtype() {
        DType::Bool => value.get::<bool>().map(i128::from),
        DType::I8 => value.get::<i8>().map(i128::from),
        DType::I16 => value.get::<i16>().map(i128::from),
        DType::I32 => value.get::<i32>().map(i128::from),
        DType::I64 => value.get::<i64>().map(i128::from),
        DType::U8 => value.get::<u8>().map(i128::from),
        DType::U16 => value.get::<u16>().map(i128::from),
        DType::U32 => value.get::<u32>().map(i128::from),
        DType::U64 => value.get::<u64>().map(i128::from),
        _ => None,
    }
}

/// A number in a type. Whole numbers wrap; from a float to an integer goes towards zero and stops
/// at the ends, NaN is 0; to a truth value: not zero; to a float: rounded once, NaN is the one
/// positive quiet NaN. A real number has the imaginary part +0; from complex to real that is
/// dropped.
#[allow(clippy::cast_precision_loss, reason = "large whole numbers are rounded once, to nearest")]
pub(super) fn write(number: Number, dtype: DType) -> Scalar {
    match dtype {
        DType::Bool => Scalar::of(is_true(number)),
        DType::F32 => Scalar::of(single(number)),
        DType::F64 => Scalar::of(double(number)),
        DType::C64 => {
            let im =
                if let Number::Complex(_, im) = number { single(Number::Real(im)) } else { 0.0 };
            Scalar::of(Complex::new(single(number), im))
        }
        DType::C128 => {
            let im =
                if let Number::Complex(_, im) = number { double(Number::Real(im)) } else { 0.0 };
            Scalar::of(Complex::new(double(number), im))
        }
        whole => write_whole(
            match number {
                Number::Whole(value) => value,
                Number::Real(value) | Number::Complex(value, _) => towards_zero(value, whole),
            },
            whole,
        ),
    }
}

/// Not zero.
pub(super) fn is_true(number: Number) -> bool {
    match number {
        Number::Whole(value) => value != 0,
        Number::Real(value) => value != 0.0,
        Number::Complex(re, im) => re != 0.0 || im != 0.0,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "numbers become floats by one rounding to nearest"
)]
fn single(number: Number) -> f32 {
    let value = match number {
        Number::Whole(value) => value as f32,
        Number::Real(value) | Number::Complex(value, _) => value as f32,
    };
    if value.is_nan() { f32::from_bits(0x7fc0_0000) } else { value }
}

#[allow(clippy::cast_precision_loss, reason = "numbers become floats by one rounding to nearest")]
fn double(number: Number) -> f64 {
    let value = match number {
        Number::Whole(value) => value as f64,
        Number::Real(value) | Number::Complex(value, _) => value,
    };
    if value.is_nan() { f64::from_bits(0x7ff8_0000_0000_0000) } else { value }
}

/// The whole number towards zero, or the end of the type.
#[allow(clippy::cast_possible_truncation, reason = "numbers beyond the type stop at its ends")]
fn towards_zero(value: f64, dtype: DType) -> i128 {
    let bits = width(dtype);
    let (low, high) = match is_signed(dtype) {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    if value.is_nan() { 0 } else { (value.trunc() as i128).clamp(low, high) }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole numbers wrap into their type"
)]
fn write_whole(value: i128, dtype: DType) -> Scalar {
    match dtype {
        DType::I8 => Scalar::of(value as i8),
        DType::I16 => Scalar::of(value as i16),
        DType::I32 => Scalar::of(value as i32),
        DType::U8 => Scalar::of(value as u8),
        DType::U16 => Scalar::of(value as u16),
        DType::U32 => Scalar::of(value as u32),
        DType::U64 => Scalar::of(value as u64),
        _ => Scalar::of(value as i64),
    }
}

/// An element in another type; in its own it keeps its bits.
#[must_use]
pub fn cast(value: Scalar, dtype: DType) -> Scalar {
    if value.dtype() == dtype { value } else { write(read(value), dtype) }
}

/// Number of bits of an element.
pub(super) fn width(dtype: DType) -> u32 {
    match dtype.bytes() {
        1 => 8,
        2 => 16,
        4 => 32,
        8 => 64,
        _ => 128,
    }
}

/// True for `I8` to `I64`.
pub(super) fn is_signed(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// True for `C64` and `C128`.
pub(super) fn is_complex(dtype: DType) -> bool {
    matches!(dtype, DType::C64 | DType::C128)
}

/// True for `F32`, `F64`, `C64` and `C128`.
pub(super) fn is_inexact(dtype: DType) -> bool {
    is_complex(dtype) || matches!(dtype, DType::F32 | DType::F64)
}

/// The type of the parts of a complex type; of another type itself.
pub(super) fn part(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    }
}

/// An element of zeros.
pub(super) fn zero(dtype: DType) -> Scalar {
    write(Number::Whole(0), dtype)
}

/// The real and the imaginary part with their bits; of a real element itself and a zero.
pub(super) fn parts(value: Scalar) -> (Scalar, Scalar) {
    if let Some(value) = value.get::<Complex<f32>>() {
        (Scalar::of(value.re), Scalar::of(value.im))
    } else if let Some(value) = value.get::<Complex<f64>>() {
        (Scalar::of(value.re), Scalar::of(value.im))
    } else {
        (value, zero(value.dtype()))
    }
}

/// The complex element of two parts, with their bits.
pub(super) fn joined(re: Scalar, im: Scalar) -> Scalar {
    match (re.get::<f32>(), im.get::<f32>()) {
        (Some(re), Some(im)) => Scalar::of(Complex::new(re, im)),
        _ => Scalar::of(Complex::new(
            re.get::<f64>().unwrap_or_default(),
            im.get::<f64>().unwrap_or_default(),
        )),
    }
}

/// True if the sign bit of a float is set.
pub(super) fn sign_bit(value: Scalar) -> bool {
    value.get::<f32>().is_some_and(f32::is_sign_negative)
        || value.get::<f64>().is_some_and(f64::is_sign_negative)
}

/// A float with this sign bit and otherwise the same bits.
pub(super) fn with_sign(value: Scalar, negative: bool) -> Scalar {
    if let Some(value) = value.get::<f32>() {
        let sign = u32::from(negative) << 31;
        return Scalar::of(f32::from_bits(value.to_bits() & 0x7fff_ffff | sign));
    }
    let bits = value.get::<f64>().unwrap_or_default().to_bits();
    let sign = u64::from(negative) << 63;
    Scalar::of(f64::from_bits(bits & 0x7fff_ffff_ffff_ffff | sign))
}
