//! Types of results: promotion, and the types that each function computes in and gives.
//!
//! Where the array API standard leaves a case open, the answer is NumPy's, except that
//! - functions such as `sin` compute in `F64` for every integer type and `Bool`, where NumPy goes
//!   to 16 or 32 bits for short ones;
//! - `reciprocal` of integers is `F64`, as `divide` is;
//! - complex numbers are not ordered: no comparisons, `maximum` or `minimum`.

use crate::{Binary, DType, Error, Unary};

/// The type that both types fit into.
///
/// Integers of both kinds go to the next larger signed type, `I64` with `U64` to `F64`; integers
/// up to 16 bits fit into `F32` and `C64`, larger ones ask for `F64` and `C128`.
#[must_use]
pub fn promote(a: DType, b: DType) -> DType {
    use TypeCategory::{Bool, Complex, Float, Signed, Unsigned};
    let wider = if a.bytes() >= b.bytes() { a } else { b };
    match (kind(a), kind(b)) {
        (x, y) if x == y => wider,
        (Bool, _) => b,
        (_, Bool) => a,
        (Complex, _) => complex_of(promote(part_of(a), b)),
        (_, Complex) => complex_of(promote(a, part_of(b))),
        (Float, _) => float_for(a, b),
        (_, Float) => float_for(b, a),
        (Signed, Unsigned) => integer_for(a, b),
        (Unsigned, _) => integer_for(b, a),
        (Signed, Signed) => wider,
    }
}

fn float_for(float: DType, integer: DType) -> DType {
    if integer.bytes() <= 2 { float } else { DType::F64 }
}

fn integer_for(signed: DType, unsigned: DType) -> DType {
    let needed = match unsigned {
        DType::U8 => DType::I16,
        DType::U16 => DType::I32,
        DType::U32 => DType::I64,
        _ => return DType::F64,
    };
    if signed.bytes() > needed.bytes() { signed } else { needed }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeCategory {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

fn kind(dtype: DType) -> TypeCategory {
    match dtype {
        DType::Bool => TypeCategory::Bool,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => TypeCategory::Signed,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => TypeCategory::Unsigned,
        DType::F32 | DType::F64 => TypeCategory::Float,
        DType::C64 | DType::C128 => TypeCategory::Complex,
    }
}

/// The type of the parts of a complex type; of a real type itself.
fn part_of(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    }
}

fn complex_of(part: DType) -> DType {
    if part == DType::F32 { DType::C64 } else { DType::C128 }
}

/// Floats and complex types as they are, `F64` for the others.
fn inexact(dtype: DType) -> DType {
    match kind(dtype) {
        TypeCategory::Float | TypeCategory::Complex => dtype,
        _ => DType::F64,
    }
}

/// What NumPy computes in where it has no loop for bools.
fn numeric(dtype: DType) -> DType {
    if dtype == DType::Bool { DType::I8 } else { dtype }
}

impl Unary {
    /// The type that the operand is cast to, and that of the result.
    ///
    /// # Errors
    /// If the function has no meaning for the type.
    pub fn types(self, x: DType) -> Result<(DType, DType), Error> {
        let refuse = || Err(Error::WrongTypes { function: self.name(), dtypes: vec![x] });
        let kind = kind(x);
        match self {
            Self::IsFinite | Self::IsInf | Self::IsNan | Self::LogicalNot => Ok((x, DType::Bool)),
            Self::SignBit if kind != TypeCategory::Complex => Ok((x, DType::Bool)),
            Self::Abs | Self::Real | Self::Imag => Ok((x, part_of(x))),
            Self::Round | Self::Conj => Ok((x, x)),
            Self::Ceil | Self::Floor | Self::Trunc if kind != TypeCategory::Complex => Ok((x, x)),
            Self::Negative | Self::Positive | Self::Sign if kind != TypeCategory::Bool => {
                Ok((x, x))
            }
            Self::Square => Ok((numeric(x), numeric(x))),
            Self::BitwiseInvert if !matches!(kind, TypeCategory::Float | TypeCategory::Complex) => {
                Ok((x, x))
            }
            Self::SignBit | Self::Ceil | Self::Floor | Self::Trunc => refuse(),
            Self::Negative | Self::Positive | Self::Sign | Self::BitwiseInvert => refuse(),
            Self::Erf if kind == TypeCategory::Complex => refuse(),
            _ => Ok((inexact(x), inexact(x))),
        }
    }
}

impl Binary {
    /// The type that both operands are cast to, and that of the result.
    ///
    /// Comparisons of `I64` with `U64` go through `F64`, so large numbers may compare equal that
    /// are not.
    ///
    /// # Errors
    /// If the function has no meaning for the types.
    pub fn types(self, x: DType, y: DType) -> Result<(DType, DType), Error> {
        let refuse = || Err(Error::WrongTypes { function: self.name(), dtypes: vec![x, y] });
        let both = promote(x, y);
        let kind = kind(both);
        let whole = !matches!(kind, TypeCategory::Float | TypeCategory::Complex);
        match self {
            Self::Add | Self::Multiply => Ok((both, both)),
            Self::Subtract if kind != TypeCategory::Bool => Ok((both, both)),
            Self::Equal | Self::NotEqual => Ok((both, DType::Bool)),
            Self::LogicalAnd | Self::LogicalOr | Self::LogicalXor => Ok((both, DType::Bool)),
            Self::Divide => Ok((inexact(both), inexact(both))),
            Self::Pow => Ok((numeric(both), numeric(both))),
            Self::BitwiseAnd | Self::BitwiseOr | Self::BitwiseXor if whole => Ok((both, both)),
            Self::BitwiseLeftShift | Self::BitwiseRightShift if whole => {
                Ok((numeric(both), numeric(both)))
            }
            _ if kind == TypeCategory::Complex => refuse(),
            Self::Greater | Self::GreaterEqual | Self::Less | Self::LessEqual => {
                Ok((both, DType::Bool))
            }
            Self::Maximum | Self::Minimum => Ok((both, both)),
            Self::FloorDivide | Self::Remainder => Ok((numeric(both), numeric(both))),
            Self::Atan2 | Self::Hypot | Self::LogAddExp | Self::CopySign | Self::NextAfter => {
                Ok((inexact(both), inexact(both)))
            }
            _ => refuse(),
        }
    }
}
