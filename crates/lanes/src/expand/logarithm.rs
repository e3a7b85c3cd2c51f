//! Logarithms and the inverse hyperbolic functions, over one table of 128 logarithms.

use super::build::{FloatPair, FormulaBuilder};
use super::constants as c;

/// The bits of the low end of the interval [0.706, 1.412) that a number is scaled into. One is in
/// the middle of one of its 128 parts, whose inverse is 1.
const START: u64 = 0x3fe6_9555_0000_0000;

/// A number z 2^k, with z in the interval.
struct Decoded<N> {
    z: N,
    k: N,
    place: N,
    exponent: N,
}

/// Takes a finite number above 0 apart.
#[inline(always)]
fn decode<B: FormulaBuilder>(b: &mut B, x: B::Node) -> Decoded<B::Node> {
    let tiny = b.lt_f(x, f64::MIN_POSITIVE);
    let larger = b.mul_f(x, 18_014_398_509_481_984.0); // 2^54
    let x = b.select(tiny, larger, x);
    let bits = b.bits(x);
    let offset = b.u((0x400u64 << 52) - START);
    let t = b.add(bits, offset);
    let part = b.shr_u(t, 45);
    let place = b.and_u(part, 127);
    let exponent = b.shr_u(t, 52); // k + 1024, 54 more if tiny
    let whole = b.u(0x433 << 52);
    let shifted = b.or(exponent, whole);
    let shifted = b.float(shifted);
    let bias = b.either_f(tiny, TWO_52 + 1078.0, TWO_52 + 1024.0);
    let k = b.sub(shifted, bias);
    let fraction = b.and_u(t, (1 << 52) - 1);
    let start = b.u(START);
    let z = b.add(fraction, start);
    let z = b.float(z);
    Decoded { z, k, place, exponent }
}

const TWO_52: f64 = 4_503_599_627_370_496.0;

/// The natural logarithm of a finite float above 0, to about 68 bits. Others give anything.
#[inline(always)]
pub(super) fn log_pair<B: FormulaBuilder>(b: &mut B, x: B::Node) -> FloatPair<B::Node> {
    let d = decode(b, x);
    let inverse = b.lookup(c::LOG_INVERSE, d.place);
    let minus = b.f(-1.0);
    let r = b.fma(d.z, inverse, minus); // exact: the inverse has 8 places
    finish(b, &d, r, None)
}

/// The natural logarithm of a pair: its first part is normal, finite and above 0.
#[inline(always)]
pub(super) fn log_of_pair<B: FormulaBuilder>(
    b: &mut B,
    x: FloatPair<B::Node>,
) -> FloatPair<B::Node> {
    let d = decode(b, x.hi);
    let inverse = b.lookup(c::LOG_INVERSE, d.place);
    let minus = b.f(-1.0);
    let r = b.fma(d.z, inverse, minus);
    // The low part times 2^-k; beyond k = 1022 it is 0 anyway.
    let limit = b.u(2046);
    let exponent = b.min(d.exponent, limit);
    let top = b.u(2047);
    let scale = b.sub(top, exponent);
    let scale = b.shl_u(scale, 52);
    let scale = b.float(scale);
    let low = b.mul(x.lo, scale);
    let low = b.mul(low, inverse);
    let r = b.two_sum(r, low);
    finish(b, &d, r.hi, Some(r.lo))
}

/// k ln(2) - ln(inverse), in two parts that are not yet a pair.
#[inline(always)]
fn steps<B: FormulaBuilder>(b: &mut B, d: &Decoded<B::Node>) -> (B::Node, B::Node) {
    let (high, low) = (b.lookup(c::LOG_HIGH, d.place), b.lookup(c::LOG_LOW, d.place));
    let (ln2_high, ln2_low) = (b.f(c::LN2_HIGH), b.f(c::LN2_LOW));
    // The first is exact: both have 42 places.
    (b.fma(d.k, ln2_high, high), b.fma(d.k, ln2_low, low))
}

/// k ln(2) - ln(inverse) + ln(1 + r).
#[inline(always)]
fn finish<B: FormulaBuilder>(
    b: &mut B,
    d: &Decoded<B::Node>,
    r: B::Node,
    r_low: Option<B::Node>,
) -> FloatPair<B::Node> {
    let (lead, mut rest) = steps(b, d);
    let first = b.quick_sum(lead, r);
    let half = b.mul_f(r, -0.5);
    let square = b.two_product(r, half);
    let second = b.quick_sum(first.hi, square.hi);
    if let Some(r_low) = r_low {
        let minus = b.neg(r);
        let change = b.fma(minus, r_low, r_low);
        rest = b.add(rest, change);
    }
    let p = b.poly(r, &c::LOG);
    let cube = b.mul(square.hi, r);
    let cube = b.mul_f(cube, -2.0);
    rest = b.add(rest, square.lo);
    rest = b.add(rest, first.lo);
    rest = b.add(rest, second.lo);
    let rest = b.fma(cube, p, rest);
    b.quick_sum(second.hi, rest)
}

/// Of a logarithm y of x: what 0, negative numbers, infinity and NaN give.
#[inline(always)]
fn edges<B: FormulaBuilder>(b: &mut B, x: B::Node, y: B::Node) -> B::Node {
    let finite = b.is_below_infinity(x);
    let y = b.select(finite, y, x);
    let negative = b.lt_f(x, 0.0);
    let y = b.select_f(negative, f64::NAN, y);
    let zero = b.eq_f(x, 0.0);
    b.select_f(zero, f64::NEG_INFINITY, y)
}

/// ln(x): as `log_pair`, but only the first sum keeps its rest.
#[inline(always)]
pub(super) fn log<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let d = decode(b, x);
    let inverse = b.lookup(c::LOG_INVERSE, d.place);
    let minus = b.f(-1.0);
    let r = b.fma(d.z, inverse, minus);
    let (lead, rest) = steps(b, &d);
    let first = b.quick_sum(lead, r);
    let square = b.mul(r, r);
    let p = b.poly(r, &c::LOG_SHORT);
    let rest = b.fma(square, p, rest);
    let rest = b.add(rest, first.lo);
    let y = b.add(first.hi, rest);
    edges(b, x, y)
}

/// The logarithm to a base, given by 1 / ln(base). Exact for whole powers of the base.
#[inline(always)]
fn log_to_base<B: FormulaBuilder>(b: &mut B, x: B::Node, factor: (f64, f64)) -> B::Node {
    let y = log_pair(b, x);
    let factor = b.pair(factor);
    let y = b.mul_pair(y, factor);
    edges(b, x, y.hi)
}

/// The logarithm to base 2.
#[inline(always)]
pub(super) fn log2<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    log_to_base(b, x, c::LOG2_E_PAIR)
}

/// The logarithm to base 10.
#[inline(always)]
pub(super) fn log10<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    log_to_base(b, x, c::LOG10_E)
}

/// ln(1 + x) of a pair with 1 + x finite and above 0.
#[inline(always)]
pub(super) fn log1p_pair<B: FormulaBuilder>(
    b: &mut B,
    x: FloatPair<B::Node>,
) -> FloatPair<B::Node> {
    let one = b.f(1.0);
    let sum = b.two_sum(one, x.hi);
    let lo = b.add(sum.lo, x.lo);
    log_of_pair(b, FloatPair { hi: sum.hi, lo })
}

/// ln(1 + x).
#[inline(always)]
pub(super) fn log1p<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let zero = b.f(0.0);
    let y = log1p_pair(b, FloatPair { hi: x, lo: zero });
    let more = b.add_f(x, 1.0);
    let y = edges(b, more, y.hi);
    let zero = b.eq_f(x, 0.0);
    b.select(zero, x, y)
}

/// From here on sqrt(x^2 + 1) is x to the last bit, and squares are far from infinite.
const LARGE: f64 = 1_152_921_504_606_846_976.0; // 2^60

/// ln(x) + ln(2) where x is large, else another value.
#[inline(always)]
fn log_twice_if<B: FormulaBuilder>(
    b: &mut B,
    large: B::Node,
    x: B::Node,
    other: FloatPair<B::Node>,
) -> B::Node {
    let zero = b.f(0.0);
    let one = b.f(1.0);
    let sum = b.two_sum(one, other.hi);
    let low = b.add(sum.lo, other.lo);
    let argument =
        b.select_pair(large, FloatPair { hi: x, lo: zero }, FloatPair { hi: sum.hi, lo: low });
    let y = log_of_pair(b, argument);
    let ln2 = b.pair(c::LN2_PAIR);
    let more = b.add_pair(y, ln2);
    b.select(large, more.hi, y.hi)
}

/// asinh(x) = ln(1 + |x| + x^2 / (1 + sqrt(x^2 + 1))) with the sign of x.
#[inline(always)]
pub(super) fn asinh<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let large = b.gt_f(magnitude, LARGE);
    let zero = b.f(0.0);
    let inner = b.select(large, zero, magnitude);
    let one = b.f(1.0);
    let square = b.two_product(inner, inner);
    let below = b.add_to_pair(square, one);
    let root = b.sqrt_pair(below);
    let root = b.add_to_pair(root, one);
    let part = b.div_pair(square, root);
    let u = b.add_to_pair(part, inner);
    let y = log_twice_if(b, large, magnitude, u);
    let finite = b.is_below_infinity(magnitude);
    let y = b.select(finite, y, magnitude);
    // Below 2^-30 the next term is beyond the last bit; squares would lose it to underflow.
    let tiny = b.lt_f(magnitude, 9.313_225_746_154_785e-10);
    let y = b.select(tiny, magnitude, y);
    b.copysign(y, x)
}

/// acosh(x) = ln(1 + t + sqrt(2 t + t^2)) with t = x - 1.
#[inline(always)]
pub(super) fn acosh<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let large = b.gt_f(x, LARGE);
    let one = b.f(1.0);
    let inner = b.select(large, one, x);
    let minus = b.f(-1.0);
    let t = b.two_sum(inner, minus);
    let square = b.mul_pair(t, t);
    let (hi, lo) = (b.add(t.hi, t.hi), b.add(t.lo, t.lo));
    let sum = b.add_pair(FloatPair { hi, lo }, square);
    let root = b.sqrt_pair(sum);
    let u = b.add_pair(root, t);
    let y = log_twice_if(b, large, x, u);
    let finite = b.is_below_infinity(x);
    let y = b.select(finite, y, x);
    let below = b.lt_f(x, 1.0);
    let y = b.select_f(below, f64::NAN, y);
    let exact = b.eq_f(x, 1.0); // the root of 0 has no low part
    b.select_f(exact, 0.0, y)
}

/// atanh(x) = ln(1 + 2 |x| / (1 - |x|)) / 2 with the sign of x.
#[inline(always)]
pub(super) fn atanh<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let one = b.f(1.0);
    let minus = b.neg(magnitude);
    let below = b.two_sum(one, minus);
    let zero = b.f(0.0);
    let twice = b.add(magnitude, magnitude);
    let u = b.div_pair(FloatPair { hi: twice, lo: zero }, below);
    let y = log1p_pair(b, u);
    let y = b.mul_f(y.hi, 0.5);
    let at_one = b.eq_f(magnitude, 1.0);
    let y = b.select_f(at_one, f64::INFINITY, y);
    let inside = b.le(magnitude, one);
    let nan = b.f(f64::NAN);
    let y = b.select(inside, y, nan);
    let tiny = b.lt_f(magnitude, 9.313_225_746_154_785e-10);
    let y = b.select(tiny, magnitude, y);
    b.copysign(y, x)
}

/// ln(exp(x) + exp(y)) = max + ln(1 + exp(-|x - y|)).
#[inline(always)]
pub(super) fn logaddexp<B: FormulaBuilder>(b: &mut B, x: B::Node, y: B::Node) -> B::Node {
    let (low, high) = (b.min(x, y), b.max(x, y));
    let minus = b.neg(high);
    let difference = b.two_sum(low, minus);
    // Below, the power is less than half of the smallest number.
    let clipped = b.at_least(difference.hi, -746.0);
    let same = b.eq(clipped, difference.hi);
    let zero = b.f(0.0);
    let rest = b.select(same, difference.lo, zero);
    let (e, reduced) = super::exponential::exp_parts(b, FloatPair { hi: clipped, lo: rest });
    let (hi, lo) = (
        super::exponential::scale(b, e.hi, &reduced),
        super::exponential::scale(b, e.lo, &reduced),
    );
    let more = log1p_pair(b, FloatPair { hi, lo });
    let sum = b.add_to_pair(more, high);
    // Equal infinities have no difference; a NaN is in `high`.
    let finite = b.is_finite(high);
    let y = b.select(finite, sum.hi, high);
    let gone = b.eq_f(low, f64::NEG_INFINITY);
    b.select(gone, high, y)
}
