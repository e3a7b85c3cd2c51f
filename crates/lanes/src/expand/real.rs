//! The functions on real lanes.

use super::build::{Build, Writer};
use super::simple;
use crate::{Binary, DType, Function, Node, One, Op, Two, Unary};

/// A function of one real lane in its compute type.
pub(super) fn unary(b: &mut Writer<'_>, function: Unary, x: Node) -> Node {
    match function {
        Unary::Abs if b.dtype(x) == DType::Bool => x,
        Unary::Abs => b.abs(x),
        Unary::Ceil => simple::rounding(b, One::Ceil, x),
        Unary::Floor => simple::rounding(b, One::Floor, x),
        Unary::Trunc => simple::rounding(b, One::Trunc, x),
        Unary::Round => simple::rounding(b, One::RoundEven, x),
        Unary::IsFinite => simple::class(b, x, true, |b, x| b.is_finite(x)),
        Unary::IsInf => simple::class(b, x, false, |b, x| b.is_inf(x)),
        Unary::IsNan => simple::class(b, x, false, |b, x| b.is_nan(x)),
        Unary::Sign => simple::sign(b, x),
        Unary::SignBit => simple::signbit(b, x),
        Unary::Square => b.mul(x, x),
        Unary::Sqrt => b.sqrt(x),
        Unary::Negative => b.neg(x),
        Unary::Positive | Unary::Conj | Unary::Real => x,
        Unary::Imag => {
            let dtype = b.dtype(x);
            if dtype == DType::Bool { b.truth(false) } else { b.small(0, dtype) }
        }
        Unary::LogicalNot => {
            let truth = simple::nonzero(b, x);
            b.not(truth)
        }
        Unary::BitwiseInvert => b.not(x),
        Unary::Reciprocal => {
            let dtype = b.dtype(x);
            let one = b.small(1, dtype);
            b.div(one, x)
        }
        _ => {
            let function = function.function();
            let function = function.unwrap_or_else(|| unreachable!("all others are written out"));
            through_f64(b, [x], |b, x| call(b, function, &x))
        }
    }
}

/// Computes in `F64` and rounds the result to the type of the lanes.
fn through_f64<const N: usize>(
    b: &mut Writer<'_>,
    lanes: [Node; N],
    compute: impl FnOnce(&mut Writer<'_>, [Node; N]) -> Node,
) -> Node {
    let dtype = b.dtype(lanes[0]);
    let wide = lanes.map(|lane| b.cast(lane, DType::F64));
    let y = compute(b, wide);
    b.cast(y, dtype)
}

/// Adds a function of `F64` lanes as one operation.
pub(super) fn call(b: &mut Writer<'_>, function: Function, lanes: &[Node]) -> Node {
    let last = lanes.len() - 1;
    b.push(Op::Call(function, [0, 1, 2].map(|lane: usize| lanes[lane.min(last)])))
}

/// A function of two real lanes of the same compute type.
pub(super) fn binary(b: &mut Writer<'_>, function: Binary, x: Node, y: Node) -> Node {
    let two = |b: &mut Writer<'_>, two: Two| b.push(Op::Two(two, x, y));
    match function {
        Binary::Add => two(b, Two::Add),
        Binary::Subtract => two(b, Two::Sub),
        Binary::Multiply => two(b, Two::Mul),
        Binary::Divide => two(b, Two::Div),
        Binary::Maximum => two(b, Two::Max),
        Binary::Minimum => two(b, Two::Min),
        Binary::BitwiseAnd => two(b, Two::And),
        Binary::BitwiseOr => two(b, Two::Or),
        Binary::BitwiseXor => two(b, Two::Xor),
        Binary::BitwiseLeftShift => two(b, Two::Shl),
        Binary::BitwiseRightShift => two(b, Two::Shr),
        Binary::Equal => two(b, Two::Eq),
        Binary::NotEqual => two(b, Two::Ne),
        Binary::Less => two(b, Two::Lt),
        Binary::LessEqual => two(b, Two::Le),
        Binary::Greater => b.lt(y, x),
        Binary::GreaterEqual => b.le(y, x),
        Binary::LogicalAnd | Binary::LogicalOr | Binary::LogicalXor => {
            let (x, y) = (simple::nonzero(b, x), simple::nonzero(b, y));
            logical(b, function, x, y)
        }
        Binary::CopySign => simple::copysign(b, x, y),
        Binary::NextAfter => simple::nextafter(b, x, y),
        Binary::Pow if !simple::is_float(b.dtype(x)) => simple::integer_power(b, x, y),
        Binary::FloorDivide if !simple::is_float(b.dtype(x)) => simple::floor_divide(b, x, y),
        Binary::Remainder if !simple::is_float(b.dtype(x)) => simple::remainder(b, x, y),
        _ => through_f64(b, [x, y], |b, lanes| {
            let [x, y] = lanes;
            match function {
                Binary::FloorDivide => simple::floor_divide(b, x, y),
                Binary::Remainder => simple::remainder(b, x, y),
                other => match other.function() {
                    Some(function) => call(b, function, &lanes),
                    None => unreachable!("{other} is computed directly"),
                },
            }
        }),
    }
}

/// A logical function of two truth values.
pub(super) fn logical(b: &mut Writer<'_>, function: Binary, x: Node, y: Node) -> Node {
    match function {
        Binary::LogicalAnd => b.and(x, y),
        Binary::LogicalOr => b.or(x, y),
        _ => b.xor(x, y),
    }
}
