//! The functions on real lanes.

use super::build::{FormulaBuilder, NodeWriter};
use super::simple;
use crate::{Binary, BinaryOp, DType, LaneFunction, LaneNode, LaneOp, Unary, UnaryOp};

/// A function of one real lane in its compute type.
pub(super) fn unary(b: &mut NodeWriter<'_>, function: Unary, x: LaneNode) -> LaneNode {
    match function {
        Unary::Abs if b.dtype(x) == DType::Bool => x,
        Unary::Abs => b.abs(x),
        Unary::Ceil => simple::rounding(b, UnaryOp::Ceil, x),
        Unary::Floor => simple::rounding(b, UnaryOp::Floor, x),
        Unary::Trunc => simple::rounding(b, UnaryOp::Trunc, x),
        Unary::Round => simple::rounding(b, UnaryOp::RoundEven, x),
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
            if dtype == DType::Bool { b.boolean(false) } else { b.small(0, dtype) }
        }
        Unary::LogicalNot => {
            let boolean = simple::nonzero(b, x);
            b.not(boolean)
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
    b: &mut NodeWriter<'_>,
    lanes: [LaneNode; N],
    compute: impl FnOnce(&mut NodeWriter<'_>, [LaneNode; N]) -> LaneNode,
) -> LaneNode {
    let dtype = b.dtype(lanes[0]);
    let wide = lanes.map(|lane| b.cast(lane, DType::F64));
    let y = compute(b, wide);
    b.cast(y, dtype)
}

/// Adds a function of `F64` lanes as one operation.
pub(super) fn call(b: &mut NodeWriter<'_>, function: LaneFunction, lanes: &[LaneNode]) -> LaneNode {
    let last = lanes.len() - 1;
    b.push(LaneOp::Call(function, [0, 1, 2].map(|lane: usize| lanes[lane.min(last)])))
}

/// A function of two real lanes of the same compute type.
pub(super) fn binary(
    b: &mut NodeWriter<'_>,
    function: Binary,
    x: LaneNode,
    y: LaneNode,
) -> LaneNode {
    let two = |b: &mut NodeWriter<'_>, two: BinaryOp| b.push(LaneOp::Binary(two, x, y));
    match function {
        Binary::Add => two(b, BinaryOp::Add),
        Binary::Subtract => two(b, BinaryOp::Sub),
        Binary::Multiply => two(b, BinaryOp::Mul),
        Binary::Divide => two(b, BinaryOp::Div),
        Binary::Maximum => two(b, BinaryOp::Max),
        Binary::Minimum => two(b, BinaryOp::Min),
        Binary::BitwiseAnd => two(b, BinaryOp::And),
        Binary::BitwiseOr => two(b, BinaryOp::Or),
        Binary::BitwiseXor => two(b, BinaryOp::Xor),
        Binary::BitwiseLeftShift => two(b, BinaryOp::Shl),
        Binary::BitwiseRightShift => two(b, BinaryOp::Shr),
        Binary::Equal => two(b, BinaryOp::Eq),
        Binary::NotEqual => two(b, BinaryOp::Ne),
        Binary::Less => two(b, BinaryOp::Lt),
        Binary::LessEqual => two(b, BinaryOp::Le),
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

/// A logical function of two bools.
pub(super) fn logical(
    b: &mut NodeWriter<'_>,
    function: Binary,
    x: LaneNode,
    y: LaneNode,
) -> LaneNode {
    match function {
        Binary::LogicalAnd => b.and(x, y),
        Binary::LogicalOr => b.or(x, y),
        _ => b.xor(x, y),
    }
}
