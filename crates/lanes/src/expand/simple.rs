//! Functions of real lanes that need no approximation.

use super::build::{FormulaBuilder, NodeWriter};
use crate::{DType, LaneNode, LaneOp, UnaryOp};

/// -1, 0 or 1; a NaN stays.
pub(super) fn sign(b: &mut NodeWriter<'_>, x: LaneNode) -> LaneNode {
    let dtype = b.dtype(x);
    let (zero, one) = (b.small(0, dtype), b.small(1, dtype));
    let above = b.lt(zero, x);
    if !is_signed(dtype) {
        return b.select(above, one, zero);
    }
    let minus = b.small(-1, dtype);
    let below = b.lt(x, zero);
    let mut rest = zero;
    if is_float(dtype) {
        let equal = b.eq(x, zero);
        rest = b.select(equal, zero, x);
    }
    let rest = b.select(below, minus, rest);
    b.select(above, one, rest)
}

/// True where the sign bit is set.
pub(super) fn signbit(b: &mut NodeWriter<'_>, x: LaneNode) -> LaneNode {
    let signed = match b.dtype(x) {
        DType::F32 => b.push(LaneOp::Bits(x, DType::I32)),
        DType::F64 => b.push(LaneOp::Bits(x, DType::I64)),
        dtype if is_signed(dtype) => x,
        _ => return b.boolean(false),
    };
    let dtype = b.dtype(signed);
    let zero = b.small(0, dtype);
    b.lt(signed, zero)
}

/// Not zero; a NaN is not.
pub(super) fn nonzero(b: &mut NodeWriter<'_>, x: LaneNode) -> LaneNode {
    b.cast(x, DType::Bool)
}

/// `isnan`, `isinf` or `isfinite` of a float given by a test of its `F64`; else a constant.
pub(super) fn class(
    b: &mut NodeWriter<'_>,
    x: LaneNode,
    of_integers: bool,
    test: fn(&mut NodeWriter<'_>, LaneNode) -> LaneNode,
) -> LaneNode {
    if is_float(b.dtype(x)) {
        let x = b.cast(x, DType::F64);
        test(b, x)
    } else {
        b.boolean(of_integers)
    }
}

/// A rounding of floats; integers are whole.
pub(super) fn rounding(b: &mut NodeWriter<'_>, one: UnaryOp, x: LaneNode) -> LaneNode {
    if is_float(b.dtype(x)) { b.push(LaneOp::Unary(one, x)) } else { x }
}

/// The magnitude of the first with the sign of the second, of either float type.
pub(super) fn copysign(b: &mut NodeWriter<'_>, x: LaneNode, y: LaneNode) -> LaneNode {
    if b.dtype(x) == DType::F64 {
        return b.copysign(x, y);
    }
    let negative = signbit(b, y);
    let magnitude = b.abs(x);
    let minus = b.neg(magnitude);
    b.select(negative, minus, magnitude)
}

/// The next number from x towards y.
pub(super) fn nextafter(b: &mut NodeWriter<'_>, x: LaneNode, y: LaneNode) -> LaneNode {
    let dtype = b.dtype(x);
    let unsigned = if dtype == DType::F32 { DType::U32 } else { DType::U64 };
    let (zero, one) = (b.small(0, dtype), b.small(1, unsigned));
    let bits = b.push(LaneOp::Bits(x, unsigned));
    let (more, less) = (b.add(bits, one), b.sub(bits, one));
    // Away from zero the bits count up.
    let (up, positive) = (b.lt(x, y), b.lt(zero, x));
    let away = b.eq(up, positive);
    let bits = b.select(away, more, less);
    let step = b.push(LaneOp::Bits(bits, dtype));
    let smallest = b.push(LaneOp::Bits(one, dtype));
    let smallest = copysign(b, smallest, y);
    let from_zero = b.eq(x, zero);
    let next = b.select(from_zero, smallest, step);
    let equal = b.eq(x, y);
    let next = b.select(equal, y, next);
    let (x_nan, y_nan) = (b.is_nan(x), b.is_nan(y));
    let nan = b.or(x_nan, y_nan);
    let sum = b.add(x, y);
    b.select(nan, sum, next)
}

/// Whether the remainder r of a division towards zero by y must move to the other side.
fn crosses(b: &mut NodeWriter<'_>, r: LaneNode, y: LaneNode) -> LaneNode {
    let dtype = b.dtype(r);
    let zero = b.small(0, dtype);
    let left = b.ne(r, zero);
    let (r_below, y_below) = (b.lt(r, zero), b.lt(y, zero));
    let differ = b.ne(r_below, y_below);
    b.and(left, differ)
}

/// The whole number below x / y; 0 if y is an integer 0.
pub(super) fn floor_divide(b: &mut NodeWriter<'_>, x: LaneNode, y: LaneNode) -> LaneNode {
    let dtype = b.dtype(x);
    if is_float(dtype) {
        return floor_divide_floats(b, x, y);
    }
    let quotient = b.div(x, y);
    if !is_signed(dtype) {
        return quotient;
    }
    let r = b.rem(x, y);
    let crosses = crosses(b, r, y);
    let one = b.small(1, dtype);
    let less = b.sub(quotient, one);
    b.select(crosses, less, quotient)
}

/// What `floor_divide` leaves; 0 if y is an integer 0.
pub(super) fn remainder(b: &mut NodeWriter<'_>, x: LaneNode, y: LaneNode) -> LaneNode {
    let dtype = b.dtype(x);
    let r = b.rem(x, y);
    if !is_signed(dtype) {
        return r;
    }
    let crosses = crosses(b, r, y);
    let more = b.add(r, y);
    let moved = b.select(crosses, more, r);
    if !is_float(dtype) {
        return moved;
    }
    // A zero has the sign of the divisor.
    let zero = b.small(0, dtype);
    let exact = b.eq(r, zero);
    let signed = copysign(b, zero, y);
    b.select(exact, signed, moved)
}

fn floor_divide_floats(b: &mut NodeWriter<'_>, x: LaneNode, y: LaneNode) -> LaneNode {
    let r = b.rem(x, y);
    let crosses = crosses(b, r, y);
    // x - r is a multiple of y, but its quotient may be rounded: to the nearest whole number.
    let multiple = b.sub(x, r);
    let quotient = b.div(multiple, y);
    let less = b.add_f(quotient, -1.0);
    let quotient = b.select(crosses, less, quotient);
    let below = b.floor(quotient);
    let rest = b.sub(quotient, below);
    let above = b.add_f(below, 1.0);
    let up = b.gt_f(rest, 0.5);
    let whole = b.select(up, above, below);
    // A zero has the sign of the true quotient, which is also the answer for a divisor 0. An infinite
    // x leaves NaN, and an infinite y leaves x itself: then the quotient is 0 or -1.
    let plain = b.div(x, y);
    let nothing = b.eq_f(quotient, 0.0);
    let zero = b.f(0.0);
    let signed = b.copysign(zero, plain);
    let whole = b.select(nothing, signed, whole);
    let by_zero = b.eq_f(y, 0.0);
    b.select(by_zero, plain, whole)
}

/// Integers: x to the power of y by squaring, wrapping. A negative y gives 0, unless x is 1 or -1.
pub(super) fn integer_power(b: &mut NodeWriter<'_>, x: LaneNode, y: LaneNode) -> LaneNode {
    let dtype = b.dtype(x);
    let (zero, one) = (b.small(0, dtype), b.small(1, dtype));
    let (mut result, mut base, mut left) = (one, x, y);
    let width = 8 * dtype.bytes();
    let mut odd = zero;
    for step in 0..width {
        let bit = b.and(left, one);
        let set = b.ne(bit, zero);
        if step == 0 {
            odd = set;
        } else {
            base = b.mul(base, base);
        }
        let product = b.mul(result, base);
        result = b.select(set, product, result);
        left = b.shr(left, one);
    }
    if !is_signed(dtype) {
        return result;
    }
    let minus = b.small(-1, dtype);
    let (is_one, is_minus) = (b.eq(x, one), b.eq(x, minus));
    let alternating = b.select(odd, minus, one);
    let inverse = b.select(is_minus, alternating, zero);
    let inverse = b.select(is_one, one, inverse);
    let negative = b.lt(y, zero);
    b.select(negative, inverse, result)
}

pub(super) fn is_float(dtype: DType) -> bool {
    crate::body::is_float(dtype)
}

/// True for signed integers and floats.
fn is_signed(dtype: DType) -> bool {
    !matches!(dtype, DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64)
}
