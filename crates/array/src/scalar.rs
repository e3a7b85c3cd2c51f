//! Numbers beside arrays.

use std::sync::Arc;

use pantile_engine::DType;
use pantile_ir::reference::cast;
use pantile_ir::{Complex, Op, Place, Scalar, Type};
use smallvec::smallvec;

use super::node::{Node, Operands};
use super::{Array, Session};

/// A number without a type of its own: beside an array it takes the array's, if that has such
/// numbers, else the usual one of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number beyond those of `i64`.
    Large(u64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

impl From<bool> for Number {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f32> for Number {
    fn from(value: f32) -> Self {
        Self::Float(value.into())
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<Complex<f64>> for Number {
    fn from(value: Complex<f64>) -> Self {
        Self::Complex(value)
    }
}

impl Number {
    /// The type it has beside elements of type `other`.
    pub(crate) fn dtype(self, other: DType) -> DType {
        let complex = matches!(other, DType::C64 | DType::C128);
        let float = complex || matches!(other, DType::F32 | DType::F64);
        match self {
            Self::Bool(_) => other,
            Self::Int(_) if other == DType::Bool => DType::I64,
            Self::Large(_) if !float => DType::U64,
            Self::Int(_) | Self::Large(_) => other,
            Self::Float(_) if float => other,
            Self::Float(_) => DType::F64,
            Self::Complex(_) if complex => other,
            Self::Complex(_) if other == DType::F32 => DType::C64,
            Self::Complex(_) => DType::C128,
        }
    }

    /// Its value, if it is a real number.
    #[allow(clippy::cast_precision_loss, reason = "whole numbers beside floats are floats")]
    pub(crate) fn real(self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(value as f64),
            Self::Large(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Bool(_) | Self::Complex(_) => None,
        }
    }

    /// The number as people write it.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Large(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Complex(value) => format!("({}, {})", value.re, value.im),
        }
    }

    /// The scalar of its own type.
    pub(crate) fn scalar(self) -> Scalar {
        match self {
            Self::Bool(value) => Scalar::of(value),
            Self::Int(value) => Scalar::of(value),
            Self::Large(value) => Scalar::of(value),
            Self::Float(value) => Scalar::of(value),
            Self::Complex(value) => Scalar::of(value),
        }
    }

    /// The number as an array beside one of elements of type `other`.
    pub(crate) fn array(self, world: &Session, other: DType, place: &Place) -> Array {
        let constant = self.node(other, place);
        let (op, ty) = (Op::CastElement { copy: None }, Type::array(&[], constant.dtype()));
        Array::of(world, Node::new(op, smallvec![constant], ty, place.clone()))
    }

    /// The number beside elements of type `other`, as an operand that is no array.
    pub(crate) fn node(self, other: DType, place: &Place) -> Arc<Node> {
        let scalar = match (self, self.dtype(other)) {
            // The usual case at once.
            #[allow(clippy::cast_precision_loss, reason = "rounded once, as a cast does")]
            (Self::Int(value), DType::F64) => Scalar::of(value as f64),
            (_, dtype) => cast(self.scalar(), dtype),
        };
        let ty = Type::scalar(scalar.dtype());
        Node::new(Op::Constant(scalar), Operands::new(), ty, place.clone())
    }
}
