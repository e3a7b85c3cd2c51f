//! Products, quotients and directions of complex numbers.

use super::super::build::{FormulaBuilder, NodeWriter, two};
use super::super::power;
use super::{ComplexParts, choose};
use crate::LaneNode;

/// (a + bi)(c + di) by the plain formula, each product and sum rounded.
pub(super) fn multiply(b: &mut NodeWriter<'_>, z: ComplexParts, w: ComplexParts) -> ComplexParts {
    let (first, second) = (b.mul(z.0, w.0), b.mul(z.1, w.1));
    let re = b.sub(first, second);
    let (first, second) = (b.mul(z.0, w.1), b.mul(z.1, w.0));
    (re, b.add(first, second))
}

/// x u + y v, within two units even where the products cancel.
fn dot(b: &mut NodeWriter<'_>, (x, u): ComplexParts, (y, v): ComplexParts) -> LaneNode {
    let product = b.two_product(y, v);
    let sum = b.fma(x, u, product.hi);
    let corrected = b.add(sum, product.lo);
    // Adding no correction would take the sign from a zero.
    let exact = b.eq_f(product.lo, 0.0);
    b.select(exact, sum, corrected)
}

/// A power of two that brings the larger part near 1, its exponent kept in the normal range.
fn scale_of(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> LaneNode {
    let (x, y) = (b.abs(x), b.abs(y));
    let largest = b.max(x, y);
    let bits = b.bits(largest);
    let exponent = b.shr_u(bits, 52);
    let limit = b.u(2045);
    let exponent = b.min(exponent, limit);
    let top = b.u(2046);
    let scale = b.sub(top, exponent);
    let scale = b.shl_u(scale, 52);
    let least = b.u(1 << 52);
    let scale = b.max(scale, least);
    b.float(scale)
}

/// 1 with the sign of x where it is infinite, else 0.
fn unit_if_infinite(b: &mut NodeWriter<'_>, x: LaneNode) -> LaneNode {
    let infinite = b.is_inf(x);
    let one = b.f(1.0);
    let unit = b.copysign(one, x);
    let zero = b.f(0.0);
    b.select(infinite, unit, zero)
}

/// A divisor scaled by a power of two to near 1, or the direction of an infinite one, and the
/// factor.
fn scaled_divisor(b: &mut NodeWriter<'_>, w: ComplexParts) -> (ComplexParts, LaneNode) {
    let (re_inf, im_inf) = (b.is_inf(w.0), b.is_inf(w.1));
    let infinite = b.or(re_inf, im_inf);
    let direction = (unit_if_infinite(b, w.0), unit_if_infinite(b, w.1));
    let direction = (b.copysign(direction.0, w.0), b.copysign(direction.1, w.1));
    let factor = scale_of(b, w);
    let scaled = (b.mul(w.0, factor), b.mul(w.1, factor));
    (choose(b, infinite, direction, scaled), b.select_f(infinite, 0.0, factor))
}

/// True where both parts are 0.
fn is_zero(b: &mut NodeWriter<'_>, z: ComplexParts) -> LaneNode {
    let (re, im) = (b.eq_f(z.0, 0.0), b.eq_f(z.1, 0.0));
    b.and(re, im)
}

/// z / w: both scaled by powers of two, then z conj(w) / |w|^2.
pub(super) fn divide(b: &mut NodeWriter<'_>, z: ComplexParts, w: ComplexParts) -> ComplexParts {
    let ((c, d), factor) = scaled_divisor(b, w);
    // Numerators near the largest number are halved a few times, tiny ones doubled.
    let (x, y) = (b.abs(z.0), b.abs(z.1));
    let largest = b.max(x, y);
    let large = b.gt_f(largest, 1e300);
    let tiny = b.lt_f(largest, 1e-290);
    let shrink = b.either_f(large, two(-4), 1.0);
    let shrink = b.select_f(tiny, two(60), shrink);
    let grow = b.either_f(large, 16.0, 1.0);
    let grow = b.select_f(tiny, two(-60), grow);
    let (x, y) = (b.mul(z.0, shrink), b.mul(z.1, shrink));
    let below = dot(b, (c, c), (d, d));
    let (re, minus) = (dot(b, (x, c), (y, d)), b.neg(x));
    let im = dot(b, (y, c), (minus, d));
    let (re, im) = (b.div(re, below), b.div(im, below));
    let (re, im) = (times(b, re, factor, grow), times(b, im, factor, grow));
    let zero = is_zero(b, w);
    let nothing = b.f(0.0);
    let by_zero = (b.div(z.0, nothing), b.div(z.1, nothing));
    choose(b, zero, by_zero, (re, im))
}

/// x times both factors: the one that may shrink x below the normal range comes last.
fn times(b: &mut NodeWriter<'_>, x: LaneNode, factor: LaneNode, grow: LaneNode) -> LaneNode {
    let shrinks = b.lt_f(grow, 1.0);
    let (first, second) = (b.select(shrinks, factor, grow), b.select(shrinks, grow, factor));
    let x = b.mul(x, first);
    b.mul(x, second)
}

/// 1 / z.
pub(super) fn reciprocal(b: &mut NodeWriter<'_>, z: ComplexParts) -> ComplexParts {
    let ((c, d), factor) = scaled_divisor(b, z);
    let below = dot(b, (c, c), (d, d));
    let (re, im) = (b.div(c, below), b.div(d, below));
    let (re, im) = (b.mul(re, factor), b.mul(im, factor));
    let im = b.neg(im);
    let zero = is_zero(b, z);
    let (infinity, nan) = (b.f(f64::INFINITY), b.f(f64::NAN));
    choose(b, zero, (infinity, nan), (re, im))
}

/// z / |z|; 0 of 0. Of one infinite part its direction, of two NaN.
pub(super) fn sign(b: &mut NodeWriter<'_>, z: ComplexParts) -> ComplexParts {
    let factor = scale_of(b, z);
    let (x, y) = (b.mul(z.0, factor), b.mul(z.1, factor));
    let length = power::hypot(b, x, y);
    let scaled = (b.div(x, length), b.div(y, length));
    let (re_inf, im_inf) = (b.is_inf(z.0), b.is_inf(z.1));
    let one = b.xor(re_inf, im_inf);
    let direction = (unit_if_infinite(b, z.0), unit_if_infinite(b, z.1));
    let found = choose(b, one, direction, scaled);
    let nothing = is_zero(b, z);
    let zero = b.f(0.0);
    choose(b, nothing, (zero, zero), found)
}
