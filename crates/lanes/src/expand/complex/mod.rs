//! The functions on complex lanes, part by part.
//!
//! Special values follow Annex G of C, as the array API standard does. `C64` is computed in `F64`
//! and rounded, but sums, differences and products are those of its parts.

mod arc;
mod arithmetic;
mod exponential;
mod logarithm;

use super::build::{FormulaBuilder, NodeWriter};
use super::{ElementLanes, power, real, simple};
use crate::{Binary, DType, LaneNode, LaneOp, Unary, UnaryOp};

/// A real and an imaginary part.
type ComplexParts = (LaneNode, LaneNode);

/// A function of one complex lane.
pub(super) fn unary(b: &mut NodeWriter<'_>, function: Unary, (x, y): ComplexParts) -> ElementLanes {
    match function {
        Unary::Negative => ElementLanes::Complex(b.neg(x), b.neg(y)),
        Unary::Positive => ElementLanes::Complex(x, y),
        Unary::Conj => ElementLanes::Complex(x, b.neg(y)),
        Unary::Real => ElementLanes::Real(x),
        Unary::Imag => ElementLanes::Real(y),
        Unary::Round => ElementLanes::Complex(
            b.push(LaneOp::Unary(UnaryOp::RoundEven, x)),
            b.push(LaneOp::Unary(UnaryOp::RoundEven, y)),
        ),
        Unary::Square => lane(arithmetic::multiply(b, (x, y), (x, y))),
        Unary::IsNan | Unary::IsInf => {
            let (x, y) = (real::unary(b, function, x), real::unary(b, function, y));
            ElementLanes::Real(b.or(x, y))
        }
        Unary::IsFinite => {
            let (x, y) = (real::unary(b, function, x), real::unary(b, function, y));
            ElementLanes::Real(b.and(x, y))
        }
        Unary::LogicalNot => {
            let boolean = nonzero(b, (x, y));
            ElementLanes::Real(b.not(boolean))
        }
        Unary::Abs => {
            let dtype = b.dtype(x);
            let (x, y) = wide(b, (x, y));
            let length = power::hypot(b, x, y);
            ElementLanes::Real(b.cast(length, dtype))
        }
        _ => {
            let dtype = b.dtype(x);
            let z = wide(b, (x, y));
            let (re, im) = approximated(b, function, z);
            ElementLanes::Complex(b.cast(re, dtype), b.cast(im, dtype))
        }
    }
}

fn approximated(b: &mut NodeWriter<'_>, function: Unary, z: ComplexParts) -> ComplexParts {
    let expansion = match function {
        Unary::Acos => arc::acos,
        Unary::Acosh => arc::acosh,
        Unary::Asin => arc::asin,
        Unary::Asinh => arc::asinh,
        Unary::Atan => arc::atan,
        Unary::Atanh => arc::atanh,
        Unary::Cos => exponential::cos,
        Unary::Cosh => exponential::cosh,
        Unary::Exp => exponential::exp,
        Unary::Expm1 => exponential::expm1,
        Unary::Log => logarithm::log,
        Unary::Log1p => logarithm::log1p,
        Unary::Log2 => logarithm::log2,
        Unary::Log10 => logarithm::log10,
        Unary::Reciprocal => arithmetic::reciprocal,
        Unary::Sign => arithmetic::sign,
        Unary::Sin => exponential::sin,
        Unary::Sinh => exponential::sinh,
        Unary::Sqrt => logarithm::sqrt,
        Unary::Tan => exponential::tan,
        Unary::Tanh => exponential::tanh,
        other => unreachable!("the types of {other} refuse complex numbers"),
    };
    expansion(b, z)
}

/// A function of two complex lanes of the same type.
pub(super) fn binary(
    b: &mut NodeWriter<'_>,
    function: Binary,
    z: ComplexParts,
    w: ComplexParts,
) -> ElementLanes {
    match function {
        Binary::Add => ElementLanes::Complex(b.add(z.0, w.0), b.add(z.1, w.1)),
        Binary::Subtract => ElementLanes::Complex(b.sub(z.0, w.0), b.sub(z.1, w.1)),
        Binary::Multiply => lane(arithmetic::multiply(b, z, w)),
        Binary::Equal => {
            let (re, im) = (b.eq(z.0, w.0), b.eq(z.1, w.1));
            ElementLanes::Real(b.and(re, im))
        }
        Binary::NotEqual => {
            let (re, im) = (b.ne(z.0, w.0), b.ne(z.1, w.1));
            ElementLanes::Real(b.or(re, im))
        }
        Binary::LogicalAnd | Binary::LogicalOr | Binary::LogicalXor => {
            let (z, w) = (nonzero(b, z), nonzero(b, w));
            ElementLanes::Real(real::logical(b, function, z, w))
        }
        _ => {
            let dtype = b.dtype(z.0);
            let (z, w) = (wide(b, z), wide(b, w));
            let (re, im) = if function == Binary::Divide {
                arithmetic::divide(b, z, w)
            } else {
                logarithm::pow(b, z, w)
            };
            ElementLanes::Complex(b.cast(re, dtype), b.cast(im, dtype))
        }
    }
}

fn lane((re, im): ComplexParts) -> ElementLanes {
    ElementLanes::Complex(re, im)
}

fn wide(b: &mut NodeWriter<'_>, (re, im): ComplexParts) -> ComplexParts {
    (b.cast(re, DType::F64), b.cast(im, DType::F64))
}

fn nonzero(b: &mut NodeWriter<'_>, (re, im): ComplexParts) -> LaneNode {
    let (re, im) = (simple::nonzero(b, re), simple::nonzero(b, im));
    b.or(re, im)
}

/// Both parts of one of two numbers.
fn choose(
    b: &mut NodeWriter<'_>,
    which: LaneNode,
    yes: ComplexParts,
    no: ComplexParts,
) -> ComplexParts {
    (b.select(which, yes.0, no.0), b.select(which, yes.1, no.1))
}
