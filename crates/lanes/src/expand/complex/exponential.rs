//! Exponential, hyperbolic and trigonometric functions of complex numbers.

use super::super::build::{FormulaBuilder, NodeWriter};
use super::super::{exponential, trigonometry};
use super::{ComplexParts, choose};
use crate::LaneNode;

/// exp(x + iy) = exp(x) (cos y + i sin y), scaled last so that it overflows only if it must.
pub(super) fn exp(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (sin, cos) = trigonometry::sin_cos(b, y);
    let (e, reduced) = exponential::exp_unscaled(b, x);
    let (re, im) = (b.mul(e, cos), b.mul(e, sin));
    let (re, im) = (exponential::scale(b, re, &reduced), exponential::scale(b, im, &reduced));
    // On the real axis the imaginary part stays what it is; exp(-inf) is 0 in any direction,
    // exp(inf) infinite.
    let real = b.eq_f(y, 0.0);
    let im = b.select(real, y, im);
    let finite = b.is_finite(y);
    let endless = b.not(finite);
    let (below, above) = (b.eq_f(x, f64::NEG_INFINITY), b.eq_f(x, f64::INFINITY));
    let (below, above) = (b.and(below, endless), b.and(above, endless));
    let re = b.select(above, x, re);
    let zero = b.f(0.0);
    let signed = b.copysign(zero, y);
    choose(b, below, (zero, signed), (re, im))
}

/// exp(z) - 1: expm1(x) cos y - 2 sin(y / 2)^2 + i exp(x) sin y.
pub(super) fn expm1(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let whole = exp(b, (x, y));
    let half = b.mul_f(y, 0.5);
    let sin = trigonometry::sin(b, half);
    let square = b.mul(sin, sin);
    let versed = b.add(square, square); // 1 - cos y
    let m = exponential::expm1(b, x);
    let one = b.f(1.0);
    let cosine = b.sub(one, versed);
    let product = b.two_product(m, cosine);
    let near = b.sub(product.hi, versed);
    let near = b.add(near, product.lo);
    // Far out, and where exp has special values, the one is lost or does not matter.
    let far = b.add_f(whole.0, -1.0);
    let magnitude = b.abs(x);
    let inner = b.lt_f(magnitude, 40.0);
    let finite = b.is_finite(y);
    let inner = b.and(inner, finite);
    let re = b.select(inner, near, far);
    let real = b.eq_f(y, 0.0);
    (b.select(real, m, re), whole.1)
}

/// sinh(x + iy) = sinh x cos y + i cosh x sin y.
pub(super) fn sinh(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (sin, cos) = trigonometry::sin_cos(b, y);
    let (s, c, reduced) = exponential::sinh_cosh(b, x);
    let (re, im) = (b.mul(s, cos), b.mul(c, sin));
    let (re, im) = (exponential::scale(b, re, &reduced), exponential::scale(b, im, &reduced));
    let real = b.eq_f(y, 0.0);
    let im = b.select(real, y, im);
    (keep_edges(b, (x, y), re), im)
}

/// cosh(x + iy) = cosh x cos y + i sinh x sin y.
pub(super) fn cosh(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (sin, cos) = trigonometry::sin_cos(b, y);
    let (s, c, reduced) = exponential::sinh_cosh(b, x);
    let (re, im) = (b.mul(c, cos), b.mul(s, sin));
    let (re, im) = (exponential::scale(b, re, &reduced), exponential::scale(b, im, &reduced));
    // On the axes the imaginary part is 0, whatever the other factor.
    let (vertical, real, unknown) = (b.eq_f(x, 0.0), b.eq_f(y, 0.0), b.is_nan(im));
    let axis = b.or(vertical, real);
    let axis = b.and(axis, unknown);
    let zero = b.f(0.0);
    let (x_sign, y_sign) = (b.sign_of(x), b.sign_of(y));
    let sign = b.xor(x_sign, y_sign);
    let signed = b.xor_sign(zero, sign);
    let im = b.select(axis, signed, im);
    let (infinite, finite) = (b.is_inf(x), b.is_finite(y));
    let endless = b.not(finite);
    let edge = b.and(infinite, endless);
    (b.select_f(edge, f64::INFINITY, re), im)
}

/// Real parts of sinh and tanh: x itself where it is 0, or infinite beside a y that is not finite.
fn keep_edges(b: &mut NodeWriter<'_>, (x, y): ComplexParts, re: LaneNode) -> LaneNode {
    let (zero, infinite, finite) = (b.eq_f(x, 0.0), b.is_inf(x), b.is_finite(y));
    let edge = b.or(zero, infinite);
    let endless = b.not(finite);
    let edge = b.and(edge, endless);
    b.select(edge, x, re)
}

/// tanh(x + iy) = (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y).
pub(super) fn tanh(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (sin, cos) = trigonometry::sin_cos(b, y);
    let (low, high) = (b.f(-20.0), b.f(20.0));
    let inner = b.max(x, low);
    let inner = b.min(inner, high);
    let (s, c, reduced) = exponential::sinh_cosh(b, inner);
    let (s, c) = (exponential::scale(b, s, &reduced), exponential::scale(b, c, &reduced));
    let square = b.mul(s, s);
    let below = b.fma(cos, cos, square);
    let (product, turn) = (b.mul(s, c), b.mul(sin, cos));
    let (re, im) = (b.div(product, below), b.div(turn, below));
    // Further out than 20 the real part is 1 and the imaginary one 4 sin y cos y exp(-2 |x|).
    let magnitude = b.abs(x);
    let twice = b.mul_f(magnitude, -2.0);
    let (e, reduced) = exponential::exp_unscaled(b, twice);
    let four = b.mul_f(turn, 4.0);
    let tail = b.mul(four, e);
    let tail = exponential::scale(b, tail, &reduced);
    let far = b.gt_f(magnitude, 20.0);
    let one = b.f(1.0);
    let unit = b.copysign(one, x);
    let (infinite, finite) = (b.is_inf(x), b.is_finite(y));
    let lead = b.select_f(finite, 1.0, turn); // a NaN where y is not finite
    let lead = b.copysign(lead, x);
    let (re, im) = choose(b, far, (lead, tail), (re, im));
    let endless = b.not(finite);
    let edge = b.and(infinite, endless);
    let nothing = b.f(0.0);
    let signed = b.copysign(nothing, y);
    let im = b.select(edge, signed, im);
    // With y infinite or NaN only x = 0 and x infinite have a real part.
    let re = b.select(edge, unit, re);
    let zero = b.eq_f(x, 0.0);
    let vertical = b.and(zero, endless);
    let re = b.select(vertical, x, re);
    let real = b.eq_f(y, 0.0);
    (re, b.select(real, y, im))
}

/// sin(z) = -i sinh(iz).
pub(super) fn sin(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    // sinh is odd and sinh(conj z) = conj sinh(z), so the parts may just change places.
    let (re, im) = sinh(b, (y, x));
    (im, re)
}

/// cos(z) = cosh(iz).
pub(super) fn cos(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let minus = b.neg(y);
    cosh(b, (minus, x))
}

/// tan(z) = -i tanh(iz).
pub(super) fn tan(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (re, im) = tanh(b, (y, x));
    (im, re)
}
