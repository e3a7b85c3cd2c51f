//! Inverse trigonometric functions.

use super::build::{FloatPair, FormulaBuilder, two};
use super::constants as c;
use crate::DType;

/// pi / 2 and pi in two parts.
const HALF: (f64, f64) = (c::HALF_PI[0], c::HALF_PI[1]);
const WHOLE: (f64, f64) = (2.0 * c::HALF_PI[0], 2.0 * c::HALF_PI[1]);

/// asin of the square root of z (up to 1/4): the root and the rest.
#[inline(always)]
fn asin_root<B: FormulaBuilder>(
    b: &mut B,
    z: B::Node,
    root: FloatPair<B::Node>,
) -> FloatPair<B::Node> {
    let p = b.poly(z, &c::ASIN);
    let cube = b.mul(z, root.hi);
    let rest = b.fma(cube, p, root.lo);
    b.quick_sum(root.hi, rest)
}

/// What asin and acos share: |x| and whether it is above 1/2, and the asin of |x| or, above,
/// of sqrt((1 - |x|) / 2).
#[inline(always)]
fn asin_core<B: FormulaBuilder>(b: &mut B, x: B::Node) -> (B::Node, B::Node, FloatPair<B::Node>) {
    let magnitude = b.abs(x);
    let outer = b.gt_f(magnitude, 0.5);
    let (minus, half) = (b.f(-0.5), b.f(0.5));
    let above = b.fma(magnitude, minus, half); // exact above 1/2
    let square = b.mul(magnitude, magnitude);
    let z = b.select(outer, above, square);
    let root = b.sqrt(above);
    let back = b.neg(root);
    let rest = b.fma(back, root, above);
    let twice = b.add(root, root);
    let low = b.div(rest, twice);
    let at_one = b.eq_f(magnitude, 1.0);
    let low = b.select_f(at_one, 0.0, low);
    let zero = b.f(0.0);
    let root = b.select_pair(
        outer,
        FloatPair { hi: root, lo: low },
        FloatPair { hi: magnitude, lo: zero },
    );
    let core = asin_root(b, z, root);
    (magnitude, outer, core)
}

/// asin(x).
#[inline(always)]
pub(super) fn asin<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let (_, outer, core) = asin_core(b, x);
    let (hi, lo) = (b.mul_f(core.hi, -2.0), b.mul_f(core.lo, -2.0));
    let half = b.pair(HALF);
    let far = b.quick_sum(half.hi, hi);
    let low = b.add(half.lo, lo);
    let low = b.add(low, far.lo);
    let far = b.add(far.hi, low);
    let y = b.select(outer, far, core.hi);
    b.copysign(y, x)
}

/// acos(x).
#[inline(always)]
pub(super) fn acos<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let (_, outer, core) = asin_core(b, x);
    let negative = b.lt_f(x, 0.0);
    // Inside: pi/2 -+ core. Outside: 2 core, or pi - 2 core.
    let twice = b.add_pair(core, core);
    let angle = b.select_pair(outer, twice, core);
    let minus = b.neg_pair(angle);
    let positive = b.select_pair(negative, angle, minus);
    let half = b.pair(HALF);
    let inside = b.add_pair(half, positive);
    let whole = b.pair(WHOLE);
    let left = b.add_pair(whole, minus);
    let outside = b.select(negative, left.hi, twice.hi);
    b.select(outer, outside, inside.hi)
}

/// The angle of (x, y) with 0 <= y <= x, x normal and their quotient not below the normal range
/// (where the low part is lost).
#[inline(always)]
fn octant<B: FormulaBuilder>(b: &mut B, y: B::Node, x: B::Node) -> FloatPair<B::Node> {
    let ratio = b.div(y, x);
    let eighths = b.mul_f(ratio, 8.0);
    let nearest = b.round_even(eighths);
    let place = b.cast(nearest, DType::U64);
    let tan = b.mul_f(nearest, 0.125);
    // atan(y/x) = atan(tan) + atan((y - tan x) / (x + tan y))
    let minus = b.neg(x);
    let product = b.two_product(tan, minus);
    let above = b.two_sum(y, product.hi);
    let low = b.add(above.lo, product.lo);
    let above = FloatPair { hi: above.hi, lo: low };
    let product = b.two_product(tan, y);
    let below = b.quick_sum(x, product.hi);
    let low = b.add(below.lo, product.lo);
    let t = b.div_pair(above, FloatPair { hi: below.hi, lo: low });
    let square = b.mul(t.hi, t.hi);
    let p = b.poly(square, &c::ATAN);
    let cube = b.mul(square, t.hi);
    let rest = b.fma(cube, p, t.lo);
    let (high, low) = (b.lookup(c::ATAN_HIGH, place), b.lookup(c::ATAN_LOW, place));
    let sum = b.quick_sum(high, t.hi);
    let rest = b.add(rest, low);
    let rest = b.add(rest, sum.lo);
    b.quick_sum(sum.hi, rest)
}

/// atan(x).
#[inline(always)]
pub(super) fn atan<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let one = b.f(1.0);
    // From 2^60 on the angle is pi/2 to the last bit.
    let capped = b.at_most(magnitude, 1_152_921_504_606_846_976.0);
    let steep = b.lt(one, capped);
    let (above, below) = (b.select(steep, one, capped), b.select(steep, capped, one));
    let angle = octant(b, above, below);
    let minus = b.neg_pair(angle);
    let half = b.pair(HALF);
    let other = b.add_pair(half, minus);
    let y = b.select(steep, other.hi, angle.hi);
    // A tiny x is its own angle: the division may not keep its low part.
    let tiny = b.lt_f(magnitude, 9.313_225_746_154_785e-10);
    let y = b.select(tiny, magnitude, y);
    b.copysign(y, x)
}

/// The angle of (x, y), all around.
#[inline(always)]
pub(super) fn atan2<B: FormulaBuilder>(b: &mut B, y: B::Node, x: B::Node) -> B::Node {
    atan2_pair(b, y, x).hi
}

/// The angle of (x, y) in two parts.
#[inline(always)]
pub(super) fn atan2_pair<B: FormulaBuilder>(
    b: &mut B,
    y: B::Node,
    x: B::Node,
) -> FloatPair<B::Node> {
    let (mut up, mut along) = (b.abs(y), b.abs(x));
    let (both_low, both_high) = (b.is_inf(y), b.is_inf(x));
    let infinite = b.and(both_low, both_high);
    let one = b.f(1.0);
    up = b.select(infinite, one, up);
    along = b.select(infinite, one, along);
    let steep = b.lt(along, up);
    let (short, long) = (b.select(steep, along, up), b.select(steep, up, along));
    let endless = b.eq_f(long, f64::INFINITY);
    let short = b.select_f(endless, 0.0, short);
    let long = b.select(endless, one, long);
    // (0, 0) is a point on the axis; large and small ones are scaled so that nothing is lost.
    let nothing = b.eq_f(long, 0.0);
    let long = b.select(nothing, one, long);
    let large = b.gt_f(long, 1e150);
    let small = b.lt_f(long, 1e-150);
    let factor = b.either_f(large, two(-600), 1.0);
    let factor = b.select_f(small, two(600), factor);
    let (scaled_short, scaled_long) = (b.mul(short, factor), b.mul(long, factor));
    let angle = octant(b, scaled_short, scaled_long);
    // The scaled quotient may lose bits below the normal range: there it is the angle itself.
    let ratio = b.div(short, long);
    let tiny = b.lt_f(ratio, 1e-200);
    let zero = b.f(0.0);
    let angle = b.select_pair(tiny, FloatPair { hi: ratio, lo: zero }, angle);
    let left = b.sign_of(x);
    let no_sign = b.u(0);
    let left = b.ne(left, no_sign);
    let minus = b.neg_pair(angle);
    // Steep: pi/2 -+ angle. Flat: angle, or pi - angle.
    let reflected = b.select_pair(left, angle, minus);
    let half = b.pair(HALF);
    let upright = b.add_pair(half, reflected);
    let whole = b.pair(WHOLE);
    let behind = b.add_pair(whole, minus);
    let flat = b.select_pair(left, behind, angle);
    let found = b.select_pair(steep, upright, flat);
    let sign = b.sign_of(y);
    let (hi, lo) = (b.xor_sign(found.hi, sign), b.xor_sign(found.lo, sign));
    let sum = b.add(x, y);
    let (x_nan, y_nan) = (b.is_nan(x), b.is_nan(y));
    let any = b.or(x_nan, y_nan);
    FloatPair { hi: b.select(any, sum, hi), lo }
}
