//! `pow`, `hypot` and `erf`.

use super::build::{Build, Pair, two};
use super::constants as c;
use super::{exponential, logarithm};
use crate::{DType, Node, One, Op};

/// Whether y is a whole number, and whether it is an odd one.
fn whole_odd(b: &mut Build<'_>, y: Node) -> (Node, Node) {
    let floor = b.floor(y);
    let whole = b.eq(floor, y);
    let half = b.mul_f(y, 0.5);
    let floor = b.floor(half);
    let even = b.eq(floor, half);
    let odd = b.not(even);
    (whole, b.and(whole, odd))
}

/// x to the power of y: exp(y ln(x)) with the logarithm and the product to 68 bits.
pub(super) fn pow(b: &mut Build<'_>, x: Node, y: Node) -> Node {
    let magnitude = b.abs(x);
    let log = logarithm::log_pair(b, magnitude);
    // Powers of x beyond 2^70 in magnitude are 0, 1 or infinite; the product stays finite.
    let limit = b.f(two(70));
    let lower = b.f(-two(70));
    let capped = b.min(y, limit);
    let capped = b.max(capped, lower);
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
fn infinite_powers(b: &mut Build<'_>, x: Node, y: Node, result: Node) -> Node {
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
pub(super) fn length(b: &mut Build<'_>, x: Node, y: Node) -> (Pair, Node) {
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
    (Pair { hi: root.hi, lo }, back)
}

/// sqrt(x^2 + y^2); infinite if one of them is, even beside a NaN.
pub(super) fn hypot(b: &mut Build<'_>, x: Node, y: Node) -> Node {
    let (length, back) = length(b, x, y);
    let length = b.rounded(length);
    let length = b.mul(length, back);
    let (x, y) = (b.is_inf(x), b.is_inf(y));
    let infinite = b.or(x, y);
    b.select_f(infinite, f64::INFINITY, length)
}

/// erf(x), by polynomials around the eighths up to 6.
pub(super) fn erf(b: &mut Build<'_>, x: Node) -> Node {
    let magnitude = b.abs(x);
    let limit = b.f(5.921_875); // from here on 1 to the last bit
    let capped = b.min(magnitude, limit);
    let eighths = b.mul_f(capped, 8.0);
    let nearest = b.push(Op::One(One::RoundEven, eighths));
    let place = b.cast(nearest, DType::U64);
    let (step, minus) = (b.f(-0.125), nearest);
    let h = b.fma(minus, step, capped); // exact
    let mut at = |number: usize| b.lookup(&c::ERF[number], place);
    let coefficients: Vec<Node> = (0..c::ERF.len()).map(&mut at).collect();
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
