//! Inverse trigonometric and hyperbolic functions of complex numbers.
//!
//! The formulas are Kahan's: sums in them add terms of the same sign, so nothing cancels.

use super::super::build::{FormulaBuilder, NodeWriter, two};
use super::super::constants as c;
use super::super::{arc, logarithm as real_log, power};
use super::logarithm::sqrt;
use super::{ComplexParts, choose};
use crate::LaneNode;

/// The roots of 1 - z and 1 + z, with z made smaller by 2^64 if it is huge, and whether it was.
fn roots(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> (ComplexParts, ComplexParts, LaneNode) {
    let (left, up) = (b.abs(x), b.abs(y));
    let largest = b.max(left, up);
    let huge = b.gt_f(largest, 1e300);
    let factor = b.either_f(huge, two(-64), 1.0);
    let (x, y) = (b.mul(x, factor), b.mul(y, factor));
    let one = b.f(1.0);
    let (below, minus, above) = (b.sub(one, x), b.neg(y), b.add(one, x));
    let a = sqrt(b, (below, minus));
    let c = sqrt(b, (above, y));
    (a, c, huge)
}

/// asinh of ar ci - ai cr, which is the imaginary part of asin.
fn rise(b: &mut NodeWriter<'_>, a: ComplexParts, c: ComplexParts, huge: LaneNode) -> LaneNode {
    let minus = b.neg(a.1);
    let product = b.mul(minus, c.0);
    let sum = b.fma(a.0, c.1, product);
    let y = real_log::asinh(b, sum);
    let more = b.either_f(huge, 64.0 * c::LN2_PAIR.0, 0.0);
    let more = b.copysign(more, y);
    b.add(y, more)
}

/// The imaginary part of asin at an infinity, and whether z is there.
fn endless(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> (LaneNode, LaneNode) {
    let (re, im) = (b.is_inf(x), b.is_inf(y));
    let infinity = b.f(f64::INFINITY);
    (b.or(re, im), b.copysign(infinity, y))
}

/// The inverse sine.
pub(super) fn asin(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (a, c, huge) = roots(b, (x, y));
    let im = rise(b, a, c, huge);
    let minus = b.neg(a.1);
    let product = b.mul(minus, c.1);
    let along = b.fma(a.0, c.0, product);
    let factor = b.either_f(huge, two(-64), 1.0);
    let scaled = b.mul(x, factor);
    let re = arc::atan2(b, scaled, along);
    let (edge, limit) = endless(b, (x, y));
    let up = b.abs(y);
    let angle = arc::atan2(b, x, up);
    let (re, im) = choose(b, edge, (angle, limit), (re, im));
    // On the imaginary axis the real part stays.
    let vertical = b.eq_f(x, 0.0);
    (b.select(vertical, x, re), im)
}

/// The inverse cosine.
pub(super) fn acos(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (a, c, huge) = roots(b, (x, y));
    let im = rise(b, a, c, huge);
    let half = arc::atan2(b, a.0, c.0);
    let re = b.add(half, half);
    let (edge, limit) = endless(b, (x, y));
    let up = b.abs(y);
    let angle = arc::atan2(b, up, x);
    let (re, im) = choose(b, edge, (angle, limit), (re, im));
    let vertical = b.eq_f(x, 0.0);
    let re = b.select_f(vertical, c::HALF_PI[0], re);
    (re, b.neg(im))
}

/// The inverse hyperbolic cosine: acos rotated by a quarter turn, to the right.
pub(super) fn acosh(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (re, im) = acos(b, (x, y));
    (b.abs(im), b.copysign(re, y))
}

/// The inverse hyperbolic sine: asin is odd and keeps conjugates, so the parts change places.
pub(super) fn asinh(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (re, im) = asin(b, (y, x));
    (im, re)
}

/// The inverse hyperbolic tangent: re = ln(1 + 4 |x| / ((1 - |x|)^2 + y^2)) / 4 with the sign of
/// x, im = half the angle of (1 - x^2 - y^2, 2y).
pub(super) fn atanh(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (left, up) = (b.abs(x), b.abs(y));
    let one = b.f(1.0);
    let minus = b.neg(left);
    let gap = b.add(one, minus);
    let square = b.mul(gap, gap);
    let below = b.fma(up, up, square);
    let four = b.mul_f(left, 4.0);
    let ratio = b.div(four, below);
    // At x = 1 the square of a tiny y is lost: there it is ln(2 / |y|) / 2, and y made larger.
    let (at_one, small) = (b.eq_f(gap, 0.0), b.lt_f(up, two(-200)));
    let lift = b.and(at_one, small);
    let larger = b.mul_f(up, two(99));
    let tiny_ratio = b.div(one, larger);
    let ratio = b.select(lift, tiny_ratio, ratio);
    let log = real_log::log1p(b, ratio);
    let more = b.either_f(lift, 100.0 * c::LN2_PAIR.0, 0.0);
    let log = b.add(log, more);
    let share = b.either_f(lift, 0.5, 0.25);
    let re = b.mul(log, share);
    let twice = b.add(up, up);
    let sum = b.add(one, left);
    let difference = b.two_product(gap, sum);
    let minus = b.neg(up);
    let across = b.fma(minus, up, difference.hi);
    let across = b.add(across, difference.lo);
    let angle = arc::atan2(b, twice, across);
    let im = b.mul_f(angle, 0.5);
    let (re, im) = far(b, (left, up), (re, im));
    let (re, im) = (b.copysign(re, x), b.copysign(im, y));
    // (0, NaN) keeps its real part.
    let vertical = b.eq_f(x, 0.0);
    (b.select(vertical, x, re), im)
}

/// From 2^500 on: x / |z|^2 and pi / 2; with the values at infinity.
fn far(b: &mut NodeWriter<'_>, (left, up): ComplexParts, found: ComplexParts) -> ComplexParts {
    let largest = b.max(left, up);
    let (re_inf, im_inf) = (b.is_inf(left), b.is_inf(up));
    let endless = b.or(re_inf, im_inf);
    let distant = b.gt_f(largest, two(500));
    let distant = b.or(distant, endless);
    let quarter = b.mul_f(left, 0.25);
    let quarter_up = b.mul_f(up, 0.25);
    let length = power::hypot(b, quarter, quarter_up);
    let re = b.div(quarter, length);
    let re = b.div(re, length);
    let re = b.mul_f(re, 0.25);
    let re = b.select_f(endless, 0.0, re);
    let im = b.f(c::HALF_PI[0]);
    let unknown = b.is_nan(up);
    let im = b.select(unknown, up, im);
    choose(b, distant, (re, im), found)
}

/// The inverse tangent: atanh is odd and keeps conjugates, so the parts change places.
pub(super) fn atan(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (re, im) = atanh(b, (y, x));
    (im, re)
}
