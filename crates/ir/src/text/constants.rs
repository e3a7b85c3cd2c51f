//! Constants and comparisons: the operations whose words are not values.

use pantile_lanes::{Complex, DType, Scalar};

use super::attributes::{Dict, hexadecimal, is_decimal, whole};
use super::build::Head;
use super::names;
use super::reader::{Parsed, Reader};
use crate::{Attribute, Op, Type};

impl Reader<'_> {
    /// `5 : index`, `1.5 : f64`, `true`, `[1.0, 2.0] : complex<f64>`.
    pub(super) fn constant(&mut self, complex: bool) -> Parsed<(Scalar, Type)> {
        if complex {
            return self.complex_constant();
        }
        let at = self.offset();
        for (word, value) in [("true", true), ("false", false)] {
            if self.eat_word(word) {
                let ty = Type::scalar(DType::Bool);
                let at = self.offset();
                if self.eat(":") && self.ty()? != ty {
                    return Err(self.fault(at + 1, format!("{word} has type {ty}")));
                }
                return Ok((Scalar::of(value), ty));
            }
        }
        let number = self.number("a number, `true` or `false`")?;
        let mut type_at = at;
        let ty = match self.eat(":") {
            true => {
                type_at = self.offset();
                self.ty()?
            }
            // As in attributes, a number without a type is one of 64 bits.
            false if is_decimal(number) => Type::scalar(DType::F64),
            false => Type::scalar(DType::I64),
        };
        let dtype = match &ty {
            Type::Index => DType::I64,
            Type::Scalar(element) => element.dtype,
            other => return Err(self.fault(type_at, format!("{other} is no type of a number"))),
        };
        let scalar = scalar_from(number, dtype)
            .ok_or_else(|| self.fault(at, format!("{number} is no {ty}")))?;
        Ok((scalar, ty))
    }

    fn complex_constant(&mut self) -> Parsed<(Scalar, Type)> {
        self.expect("[")?;
        let at = self.offset();
        let one = self.number("the real part")?;
        self.expect(",")?;
        let other = self.number("the imaginary part")?;
        self.expect("]")?;
        self.expect(":")?;
        let type_at = self.offset();
        let ty = self.ty()?;
        let both = |dtype| scalar_from(one, dtype).zip(scalar_from(other, dtype));
        let scalar = match ty.dtype() {
            Some(DType::C64) if matches!(ty, Type::Scalar(_)) => both(DType::F32)
                .and_then(|(re, im)| Some(Scalar::of(Complex::new(re.get::<f32>()?, im.get()?)))),
            Some(DType::C128) if matches!(ty, Type::Scalar(_)) => both(DType::F64)
                .and_then(|(re, im)| Some(Scalar::of(Complex::new(re.get::<f64>()?, im.get()?)))),
            _ => return Err(self.fault(type_at, format!("{ty} is no complex type"))),
        };
        let scalar =
            scalar.ok_or_else(|| self.fault(at, format!("[{one}, {other}] is no {ty}")))?;
        Ok((scalar, ty))
    }

    /// The constant of the quoted form: its number is the attribute `value`.
    pub(super) fn generic_constant(&self, head: &Head<'_>, dict: &mut Dict) -> Parsed<Op> {
        let Some((value, at)) = dict.take("value") else {
            return Err(self.fault(head.at, format!("`{}` needs an attribute `value`", head.name)));
        };
        let dtype = head.results.first().and_then(|ty| ty.dtype());
        let float = |attribute: &Attribute| self.float(attribute, at).map(f64::from_bits);
        #[allow(clippy::cast_possible_truncation, reason = "the constant is an f32")]
        let scalar = match (&value, dtype) {
            (Attribute::Bool(value), Some(DType::Bool)) => Some(Scalar::of(*value)),
            (Attribute::List(parts), Some(DType::C64)) if parts.len() == 2 => {
                Some(Scalar::of(Complex::new(float(&parts[0])? as f32, float(&parts[1])? as f32)))
            }
            (Attribute::List(parts), Some(DType::C128)) if parts.len() == 2 => {
                Some(Scalar::of(Complex::new(float(&parts[0])?, float(&parts[1])?)))
            }
            (Attribute::Float(..) | Attribute::Int(..), Some(DType::F32)) => {
                Some(Scalar::of(float(&value)? as f32))
            }
            (Attribute::Float(..) | Attribute::Int(..), Some(DType::F64)) => {
                Some(Scalar::of(float(&value)?))
            }
            (Attribute::Int(number, _), Some(dtype)) => scalar_from(&number.to_string(), dtype),
            _ => None,
        };
        let scalar = scalar.ok_or_else(|| {
            self.fault(at, format!("{value} does not fit the type of the result"))
        })?;
        Ok(Op::Constant(scalar))
    }

    /// The comparison `arith.cmpi` or `arith.cmpf` with this word.
    pub(super) fn comparison(&self, name: &str, word: &str, at: usize) -> Parsed<Op> {
        let predicate = names::predicate(word, name == "arith.cmpf");
        let known = if name == "arith.cmpf" {
            "oeq, une, olt, ole, ogt or oge"
        } else {
            "eq, ne, slt, sle, sgt, sge, ult, ule, ugt or uge"
        };
        let predicate =
            predicate.ok_or_else(|| self.fault(at, format!("expected {known}, found `{word}`")))?;
        Ok(Op::Compare(predicate))
    }
}

/// The element that a number means as this type.
fn scalar_from(number: &str, dtype: DType) -> Option<Scalar> {
    match dtype {
        DType::F32 => match hexadecimal(number) {
            Some(bits) => Some(Scalar::of(f32::from_bits(u32::try_from(bits).ok()?))),
            None => number.parse().ok().map(Scalar::of::<f32>),
        },
        DType::F64 => match hexadecimal(number) {
            Some(bits) => Some(Scalar::of(f64::from_bits(bits))),
            None => number.parse().ok().map(Scalar::of::<f64>),
        },
        DType::C64 | DType::C128 => None,
        _ if is_decimal(number) => None,
        _ => {
            let value = whole(number)?;
            Some(match dtype {
                // One bit of 1 is -1 in two's complement: both spellings are in use.
                DType::Bool => Scalar::of(match value {
                    0 => false,
                    1 | -1 => true,
                    _ => return None,
                }),
                DType::I8 => Scalar::of(i8::try_from(value).ok()?),
                DType::I16 => Scalar::of(i16::try_from(value).ok()?),
                DType::I32 => Scalar::of(i32::try_from(value).ok()?),
                DType::I64 => Scalar::of(i64::try_from(value).ok()?),
                DType::U8 => Scalar::of(u8::try_from(value).ok()?),
                DType::U16 => Scalar::of(u16::try_from(value).ok()?),
                DType::U32 => Scalar::of(u32::try_from(value).ok()?),
                DType::U64 => Scalar::of(u64::try_from(value).ok()?),
                _ => return None,
            })
        }
    }
}

/// The shortest number that reads back to the same bits; NaN, infinities and -0.0 as bits.
pub(super) fn float_text(value: f64) -> String {
    if !value.is_finite() || (value == 0.0 && value.is_sign_negative()) {
        return format!("0x{:016X}", value.to_bits());
    }
    with_point(format!("{value:?}"))
}

fn float32_text(value: f32) -> String {
    if !value.is_finite() || (value == 0.0 && value.is_sign_negative()) {
        return format!("0x{:08X}", value.to_bits());
    }
    with_point(format!("{value:?}"))
}

/// A number with an exponent has a point as well.
fn with_point(text: String) -> String {
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// A constant without its type.
pub(super) fn scalar_text(scalar: &Scalar) -> String {
    let of = |text: Option<String>| text.unwrap_or_default();
    match scalar.dtype() {
        DType::Bool => of(scalar.get::<bool>().map(|value| value.to_string())),
        DType::I8 => of(scalar.get::<i8>().map(|value| value.to_string())),
        DType::I16 => of(scalar.get::<i16>().map(|value| value.to_string())),
        DType::I32 => of(scalar.get::<i32>().map(|value| value.to_string())),
        DType::I64 => of(scalar.get::<i64>().map(|value| value.to_string())),
        DType::U8 => of(scalar.get::<u8>().map(|value| value.to_string())),
        DType::U16 => of(scalar.get::<u16>().map(|value| value.to_string())),
        DType::U32 => of(scalar.get::<u32>().map(|value| value.to_string())),
        DType::U64 => of(scalar.get::<u64>().map(|value| value.to_string())),
        DType::F32 => of(scalar.get::<f32>().map(float32_text)),
        DType::F64 => of(scalar.get::<f64>().map(float_text)),
        DType::C64 => of(scalar
            .get::<Complex<f32>>()
            .map(|value| format!("[{}, {}]", float32_text(value.re), float32_text(value.im)))),
        DType::C128 => of(scalar
            .get::<Complex<f64>>()
            .map(|value| format!("[{}, {}]", float_text(value.re), float_text(value.im)))),
    }
}
