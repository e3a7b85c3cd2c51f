//! `pow`, `hypot` and `erf`.

use super::build::{FloatPair, FormulaBuilder, two};
use super::constants as c;
use super::{exponential, logarithm};
use crate::DType;

/// Whether y is a whole number, and whether it is an odd one.
#[inline(always)]
fn whole_odd<B: FormulaBuilder>(b: &mut B, y: B::Node) -> (B::Node, B::Node) {
    let floor = b.floor(y);
    let whole = b.eq(floor, y);
    let half = b.mul_f(y, 0.5);
    let floor = b.floor(half);
    let even = b.eq(floor, half);
    let odd = b.not(even);
    (whole, b.and(whole, odd))
}

/// x to the power of y: exp(y ln(x)) with the logarithm and the product to 68 bits.
#[inline(always)]
pub(super) fn pow<B: FormulaBuilder>(b: &mut B, x: B::Node, y: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let log = logarithm::log_pair(b, magnitude);
    // Powers of x beyond 2^70 in magnitude are 0, 1 or infinite; the product stays finite.
    let capped = b.at_most(y, two(70));
    let capped = b.at_least(capped, -two(70));
    let product = b.two_product(log.hi, capped);
    let lo = b.fma(log.lo, capped, product.lo);
    let product = b.quick_sum(product.hi, lo);
    let result = exponential::exp_pair(b, product);
    // 0 and infinity to a power: one of the two again.
    let (zero, infinite) = (b.eq_f(x, 0.0), b.is_inf(x));
    let extreme = b.or(zero, infinite);
    let negative = b.lt_f(y, 0.0);
    let inverse = b.xor(zero, negative);
    let edge = b.either_f(inverse, 0.0, f64::INFINITY);
    let result = b.select(extreme, edge, result);
    let (whole, odd) = whole_odd(b, y);
    let no_sign = b.u(0);
    let sign = b.sign_of(x);
    let sign = b.select(odd, sign, no_sign);
    let result = b.xor_sign(result, sign);
    // A finite negative number has no broken powers.
    let below = b.lt_f(x, 0.0);
    let broken = b.not(whole);
    let undefined = b.and(below, broken);
    let finite = b.not(infinite);
    let undefined = b.and(undefined, finite);
    let result = b.select_f(undefined, f64::NAN, result);
    infinite_powers(b, x, y, result)
}

/// The powers that an infinite y, a NaN, y = 0 and x = 1 give, else `result`.
#[inline(always)]
fn infinite_powers<B: FormulaBuilder>(
    b: &mut B,
    x: B::Node,
    y: B::Node,
    result: B::Node,
) -> B::Node {
    let magnitude = b.abs(x);
    let endless = b.is_inf(y);
    let negative = b.lt_f(y, 0.0);
    let above = b.gt_f(magnitude, 1.0);
    let grows = b.xor(above, negative);
    let limit = b.either_f(grows, f64::INFINITY, 0.0);
    let unit = b.eq_f(magnitude, 1.0);
    let limit = b.select_f(unit, 1.0, limit);
    let result = b.select(endless, limit, result);
    let sum = b.add(x, y);
    let (x_nan, y_nan) = (b.is_nan(x), b.is_nan(y));
    let nan = b.or(x_nan, y_nan);
    let result = b.select(nan, sum, result);
    let (nothing, one) = (b.eq_f(y, 0.0), b.eq_f(x, 1.0));
    let trivial = b.or(nothing, one);
    b.select_f(trivial, 1.0, result)
}

/// sqrt(x^2 + y^2) as a pair and the factor that it was scaled with, for finite x and y.
#[inline(always)]
pub(super) fn length<B: FormulaBuilder>(
    b: &mut B,
    x: B::Node,
    y: B::Node,
) -> (FloatPair<B::Node>, B::Node) {
    let (x, y) = (b.abs(x), b.abs(y));
    let (short, long) = (b.min(x, y), b.max(x, y));
    let large = b.gt_f(long, two(500));
    let small = b.lt_f(long, two(-400));
    let factor = b.either_f(large, two(-600), 1.0);
    let factor = b.select_f(small, two(600), factor);
    let back = b.either_f(large, two(600), 1.0);
    let back = b.select_f(small, two(-600), back);
    let (short, long) = (b.mul(short, factor), b.mul(long, factor));
    let (low, high) = (b.two_product(short, short), b.two_product(long, long));
    let sum = b.add_pair(high, low);
    let root = b.sqrt_pair(sum);
    let zero = b.eq_f(root.hi, 0.0);
    let lo = b.select_f(zero, 0.0, root.lo);
    (FloatPair { hi: root.hi, lo }, back)
}

/// sqrt(x^2 + y^2); infinite if one of them is, even beside a NaN.
#[inline(always)]
pub(super) fn hypot<B: FormulaBuilder>(b: &mut B, x: B::Node, y: B::Node) -> B::Node {
    let (length, back) = length(b, x, y);
    let length = b.rounded(length);
    let length = b.mul(length, back);
    let (x, y) = (b.is_inf(x), b.is_inf(y));
    let infinite = b.or(x, y);
    b.select_f(infinite, f64::INFINITY, length)
}

/// erf(x), by polynomials around the eighths up to 6.
#[inline(always)]
pub(super) fn erf<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let capped = b.at_most(magnitude, 5.921_875); // from here on 1 to the last bit
    let eighths = b.mul_f(capped, 8.0);
    let nearest = b.round_even(eighths);
    let place = b.cast(nearest, DType::U64);
    let (step, minus) = (b.f(-0.125), nearest);
    let h = b.fma(minus, step, capped); // exact
    let coefficients = c::ERF.map(|table| b.lookup(table, place));
    let (last, others) = coefficients[4..].split_last().expect("erf has coefficients");
    let mut p = *last;
    for coefficient in others.iter().rev() {
        p = b.fma(p, h, *coefficient);
    }
    let square = b.mul(h, h);
    let rest = b.fma(h, coefficients[3], coefficients[1]);
    let rest = b.fma(square, p, rest);
    let linear = b.two_product(h, coefficients[2]);
    let sum = b.quick_sum(coefficients[0], linear.hi);
    let rest = b.add(rest, linear.lo);
    let rest = b.add(rest, sum.lo);
    let y = b.add(sum.hi, rest);
    b.copysign(y, x)
}
