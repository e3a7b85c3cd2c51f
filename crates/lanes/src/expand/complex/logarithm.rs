//! Logarithms, roots and powers of complex numbers.

use super::super::build::{FloatPair, FormulaBuilder, NodeWriter, two};
use super::super::constants as c;
use super::super::{arc, logarithm, power};
use super::{ComplexParts, arithmetic, choose, exponential};
use crate::LaneNode;

/// ln |x + iy| as a pair, given |x + iy|^2 - 1 for those near the unit circle.
fn log_abs(b: &mut NodeWriter<'_>, (x, y): ComplexParts, beyond: FloatPair) -> FloatPair {
    let (length, back) = power::length(b, x, y);
    let (low, high) = (b.gt_f(length.hi, 0.5), b.lt_f(length.hi, 2.0));
    let near = b.and(low, high);
    let plain = b.eq_f(back, 1.0);
    let near = b.and(near, plain);
    let one = b.f(1.0);
    let sum = b.two_sum(one, beyond.hi);
    let lo = b.add(sum.lo, beyond.lo);
    let argument = b.select_pair(near, FloatPair { hi: sum.hi, lo }, length);
    let log = logarithm::log_of_pair(b, argument);
    let factor = b.either_f(near, 0.5, 1.0);
    let log = FloatPair { hi: b.mul(log.hi, factor), lo: b.mul(log.lo, factor) };
    // What the length was scaled with: 2^600 or 2^-600.
    let (grown, shrunk) = (b.gt_f(back, 1.0), b.lt_f(back, 1.0));
    let steps = b.either_f(grown, 600.0, 0.0);
    let steps = b.select_f(shrunk, -600.0, steps);
    let ln2 = b.pair(c::LN2_PAIR);
    let product = b.two_product(ln2.hi, steps);
    let lo = b.fma(ln2.lo, steps, product.lo);
    let log = b.add_pair(log, FloatPair { hi: product.hi, lo });
    let zero = b.eq_f(length.hi, 0.0);
    let (re, im) = (b.is_inf(x), b.is_inf(y));
    let infinite = b.or(re, im);
    let hi = b.select_f(zero, f64::NEG_INFINITY, log.hi);
    let hi = b.select_f(infinite, f64::INFINITY, hi);
    let special = b.or(zero, infinite);
    FloatPair { hi, lo: b.select_f(special, 0.0, log.lo) }
}

/// The natural logarithm, both parts as pairs.
fn log_pair(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> (FloatPair, FloatPair) {
    let (left, right) = (b.abs(x), b.abs(y));
    let (short, long) = (b.min(left, right), b.max(left, right));
    let square = b.two_product(long, long);
    let minus = b.f(-1.0);
    let beyond = b.add_to_pair(square, minus);
    let square = b.two_product(short, short);
    let beyond = b.add_pair(beyond, square);
    let re = log_abs(b, (x, y), beyond);
    (re, arc::atan2_pair(b, y, x))
}

/// The natural logarithm.
pub(super) fn log(b: &mut NodeWriter<'_>, z: ComplexParts) -> ComplexParts {
    let (re, im) = log_pair(b, z);
    (re.hi, im.hi)
}

/// The natural logarithm of 1 + z.
pub(super) fn log1p(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    // |1 + z|^2 - 1 = x (2 + x) + y^2
    let two = b.f(2.0);
    let sum = b.two_sum(two, x);
    let zero = b.f(0.0);
    let product = b.mul_pair(sum, FloatPair { hi: x, lo: zero });
    let square = b.two_product(y, y);
    let beyond = b.add_pair(product, square);
    let more = b.add_f(x, 1.0);
    let re = log_abs(b, (more, y), beyond);
    // Where the products underflow the logarithm of 1 + z is z.
    let (left, right) = (b.abs(x), b.abs(y));
    let largest = b.max(left, right);
    let tiny = b.lt_f(largest, 1e-150);
    let re = b.select(tiny, x, re.hi);
    (re, arc::atan2(b, y, more))
}

fn log_to_base(b: &mut NodeWriter<'_>, z: ComplexParts, factor: (f64, f64)) -> ComplexParts {
    let (re, im) = log_pair(b, z);
    let factor = b.pair(factor);
    let scaled = b.mul_pair(re, factor);
    let finite = b.is_finite(re.hi);
    let scaled = b.select(finite, scaled.hi, re.hi);
    // A zero keeps its sign: the pair would lose it.
    let angle = b.mul_pair(im, factor);
    let zero = b.eq_f(im.hi, 0.0);
    (scaled, b.select(zero, im.hi, angle.hi))
}

/// The logarithm to base 2.
pub(super) fn log2(b: &mut NodeWriter<'_>, z: ComplexParts) -> ComplexParts {
    log_to_base(b, z, c::LOG2_E_PAIR)
}

/// The logarithm to base 10.
pub(super) fn log10(b: &mut NodeWriter<'_>, z: ComplexParts) -> ComplexParts {
    log_to_base(b, z, c::LOG10_E)
}

/// The square root with a real part not below zero.
///
/// With t = sqrt((|x| + |z|) / 2) it is (t, y / 2t) on the right and (|y| / 2t, t) on the left,
/// with the sign of y.
pub(super) fn sqrt(b: &mut NodeWriter<'_>, (x, y): ComplexParts) -> ComplexParts {
    let (length, back) = power::length(b, x, y);
    let (grown, shrunk) = (b.gt_f(back, 1.0), b.lt_f(back, 1.0));
    let factor = b.either_f(grown, two(-600), 1.0);
    let factor = b.select_f(shrunk, two(600), factor);
    let root = b.either_f(grown, two(300), 1.0);
    let root = b.select_f(shrunk, two(-300), root);
    let (left, up) = (b.abs(x), b.abs(y));
    let left = b.mul(left, factor);
    let sum = b.add_to_pair(length, left);
    let sum = FloatPair { hi: b.mul_f(sum.hi, 0.5), lo: b.mul_f(sum.lo, 0.5) };
    let t = b.sqrt_pair(sum);
    let zero = b.f(0.0);
    let twice = FloatPair { hi: b.add(t.hi, t.hi), lo: b.add(t.lo, t.lo) };
    // A short part beside a huge one is divided as it is: scaled down it would be lost.
    let full = b.either_f(grown, two(300), 1.0);
    let twice = FloatPair { hi: b.mul(twice.hi, full), lo: b.mul(twice.lo, full) };
    let lift = b.either_f(shrunk, two(600), 1.0);
    let up = b.mul(up, lift);
    let other = b.div_pair(FloatPair { hi: up, lo: zero }, twice);
    let lower = b.either_f(shrunk, two(-300), 1.0);
    let t = b.rounded(t);
    let (t, other) = (b.mul(t, root), b.mul(other.hi, lower));
    let negative = b.lt_f(x, 0.0);
    let (re, im) = choose(b, negative, (other, t), (t, other));
    let im = b.copysign(im, y);
    // Zero, and infinities: an infinite y wins over anything.
    let nothing = b.eq_f(length.hi, 0.0);
    let (re, im) = choose(b, nothing, (zero, y), (re, im));
    let along = b.is_inf(x);
    let magnitude = b.abs(x);
    let signed = b.copysign(zero, y);
    let y_nan = b.is_nan(y);
    let vanished = b.select(y_nan, y, zero);
    let flat = b.select(y_nan, y, signed);
    let upright = b.copysign(magnitude, y);
    let edge = choose(b, negative, (vanished, upright), (magnitude, flat));
    let (re, im) = choose(b, along, edge, (re, im));
    let endless = b.is_inf(y);
    let infinity = b.f(f64::INFINITY);
    choose(b, endless, (infinity, y), (re, im))
}

/// z to a whole power below 128 in magnitude, by squaring.
fn whole_power(b: &mut NodeWriter<'_>, z: ComplexParts, exponent: LaneNode) -> ComplexParts {
    let magnitude = b.abs(exponent);
    let mut left = b.cast(magnitude, crate::DType::U64);
    let (one, zero) = (b.f(1.0), b.f(0.0));
    let (unit, none) = (b.u(1), b.u(0));
    let (mut result, mut base) = ((one, zero), z);
    for step in 0..7 {
        if step > 0 {
            base = arithmetic::multiply(b, base, base);
        }
        let bit = b.and(left, unit);
        let set = b.ne(bit, none);
        let product = arithmetic::multiply(b, result, base);
        // A first factor is taken as it is: a product with 1 would turn the sign of a zero.
        let first = b.eq(result.0, one);
        let second = b.eq(result.1, zero);
        let fresh = b.and(first, second);
        let product = choose(b, fresh, base, product);
        result = choose(b, set, product, result);
        left = b.shr_u(left, 1);
    }
    let inverse = arithmetic::reciprocal(b, result);
    let negative = b.lt(exponent, zero);
    choose(b, negative, inverse, result)
}

/// A pair times a float.
fn times(b: &mut NodeWriter<'_>, x: FloatPair, y: LaneNode) -> FloatPair {
    let product = b.two_product(x.hi, y);
    FloatPair { hi: product.hi, lo: b.fma(x.lo, y, product.lo) }
}

/// z to the power of w: by squaring for whole real w below 128, else exp(w ln z).
pub(super) fn pow(b: &mut NodeWriter<'_>, z: ComplexParts, w: ComplexParts) -> ComplexParts {
    let (re, im) = log_pair(b, z);
    // w ln z in pairs: its errors grow with |w ln z| in the result.
    let minus = b.neg(w.1);
    let (first, second) = (times(b, re, w.0), times(b, im, minus));
    let sum = b.add_pair(first, second);
    let (first, second) = (times(b, im, w.0), times(b, re, w.1));
    let angle = b.add_pair(first, second);
    let power = exponential::exp(b, (sum.hi, angle.hi));
    // Corrections for the low parts, of first order where they are small: exp(z + d) = exp(z) (1 + d).
    let finite = b.is_finite(sum.hi);
    let zero = b.f(0.0);
    let (d, e) = (b.select(finite, sum.lo, zero), b.select(finite, angle.lo, zero));
    let minus = b.neg(e);
    let re = b.fma(power.0, d, power.0);
    let re = b.fma(power.1, minus, re);
    let im = b.fma(power.1, d, power.1);
    let im = b.fma(power.0, e, im);
    // The low part of a large angle is no small one: the result is rotated by it.
    let size = b.abs(e);
    let large = b.gt_f(size, two(-27));
    let turn = exponential::exp(b, (zero, e));
    let rotated = arithmetic::multiply(b, power, turn);
    let (re, im) = choose(b, large, rotated, (re, im));
    // Infinite results take no corrections.
    let (re_finite, im_finite) = (b.is_finite(power.0), b.is_finite(power.1));
    let both = b.and(re_finite, im_finite);
    let general = choose(b, both, (re, im), power);
    let floor = b.floor(w.0);
    let (whole, real) = (b.eq(floor, w.0), b.eq_f(w.1, 0.0));
    let size = b.abs(w.0);
    let small = b.lt_f(size, 128.0);
    let by_squaring = b.and(whole, real);
    let by_squaring = b.and(by_squaring, small);
    let squared = whole_power(b, z, w.0);
    let result = choose(b, by_squaring, squared, general);
    // 0 to a power with a positive real part is 0, to others undefined.
    let (re_zero, im_zero) = (b.eq_f(z.0, 0.0), b.eq_f(z.1, 0.0));
    let origin = b.and(re_zero, im_zero);
    let others = b.not(by_squaring);
    let origin = b.and(origin, others);
    let positive = b.gt_f(w.0, 0.0);
    let edge = b.either_f(positive, 0.0, f64::NAN);
    choose(b, origin, (edge, edge), result)
}
