//! `exp`, `expm1` and the hyperbolic functions, over one reduction by multiples of ln(2).

use super::build::{FloatPair, FormulaBuilder};
use super::constants as c;

/// 1.5 * 2^52: adding it rounds to a whole number and leaves that in the lowest bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Beyond this exp, times any float that is not 0, is 0 or infinite.
const WIDEST: f64 = 1400.0;

/// x = k ln(2) + r, with r in two parts and k as a float and plus 2046 in the lowest bits.
pub(super) struct ReducedExponent<N> {
    pub(super) r: FloatPair<N>,
    pub(super) k: N,
    biased: N,
}

/// The nearest k of x / ln(2), x less k times the upper part of ln(2), and k as in `ReducedExponent`.
#[inline(always)]
fn steps<B: FormulaBuilder>(b: &mut B, x: B::Node) -> (B::Node, B::Node, B::Node) {
    let (log2_e, magic) = (b.f(c::LOG2_E), b.f(MAGIC));
    let shifted = b.fma(x, log2_e, magic);
    let k = b.sub(shifted, magic);
    let high = b.f(-c::LN2_HIGH);
    let rest = b.fma(k, high, x); // exact: k has 11 bits and LN2_HIGH 42
    let bits = b.bits(shifted);
    let offset = b.u(2046u64.wrapping_sub(MAGIC.to_bits()));
    (k, rest, b.add(bits, offset))
}

/// Reduces x in [-`WIDEST`, `WIDEST`]; a NaN stays one in `r`.
#[inline(always)]
pub(super) fn reduce<B: FormulaBuilder>(
    b: &mut B,
    x: FloatPair<B::Node>,
) -> ReducedExponent<B::Node> {
    let (k, first, biased) = steps(b, x.hi);
    let low = b.f(-c::LN2_LOW);
    let rest = b.fma(k, low, x.lo);
    ReducedExponent { r: b.quick_sum(first, rest), k, biased }
}

/// x times 2^k, in two steps so that neither factor leaves the range; rounds once.
#[inline(always)]
pub(super) fn scale<B: FormulaBuilder>(
    b: &mut B,
    x: B::Node,
    reduced: &ReducedExponent<B::Node>,
) -> B::Node {
    scale_by(b, x, reduced.biased)
}

#[inline(always)]
fn scale_by<B: FormulaBuilder>(b: &mut B, x: B::Node, biased: B::Node) -> B::Node {
    let first = b.shr_u(biased, 1);
    let second = b.sub(biased, first);
    let (first, second) = (b.shl_u(first, 52), b.shl_u(second, 52));
    let (first, second) = (b.float(first), b.float(second));
    let x = b.mul(x, first);
    b.mul(x, second)
}

/// exp(r) - 1 of a reduced r.
#[inline(always)]
fn less_one<B: FormulaBuilder>(b: &mut B, r: FloatPair<B::Node>) -> FloatPair<B::Node> {
    let square = b.mul(r.hi, r.hi);
    let p = b.poly(r.hi, &c::EXP);
    // d/dr exp(r) = 1 + r + ...: what the low part does to the terms above the first.
    let low = b.fma(r.lo, r.hi, r.lo);
    let rest = b.fma(square, p, low);
    b.quick_sum(r.hi, rest)
}

/// x between two bounds beyond which exp is 0 or infinite; NaN stays.
#[inline(always)]
fn clamped<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let x = b.at_least(x, -746.0);
    b.at_most(x, 710.0)
}

/// exp(x).
#[inline(always)]
pub(super) fn exp<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let x = clamped(b, x);
    let (k, first, biased) = steps(b, x);
    let low = b.f(-c::LN2_LOW);
    let r = b.fma(k, low, first);
    let square = b.mul(r, r);
    let p = b.poly(r, &c::EXP);
    let s = b.fma(square, p, r);
    let y = b.add_f(s, 1.0);
    scale_by(b, y, biased)
}

/// exp of a pair, as a pair before scaling: exp(x) = (hi + lo) 2^k.
#[inline(always)]
pub(super) fn exp_parts<B: FormulaBuilder>(
    b: &mut B,
    x: FloatPair<B::Node>,
) -> (FloatPair<B::Node>, ReducedExponent<B::Node>) {
    let reduced = reduce(b, x);
    let s = less_one(b, reduced.r);
    let one = b.f(1.0);
    let sum = b.quick_sum(one, s.hi);
    let lo = b.add(sum.lo, s.lo);
    (FloatPair { hi: sum.hi, lo }, reduced)
}

/// exp(x) still to be scaled, for any x.
#[inline(always)]
pub(super) fn exp_unscaled<B: FormulaBuilder>(
    b: &mut B,
    x: B::Node,
) -> (B::Node, ReducedExponent<B::Node>) {
    let zero = b.f(0.0);
    let hi = b.at_least(x, -WIDEST);
    let hi = b.at_most(hi, WIDEST);
    let (y, reduced) = exp_parts(b, FloatPair { hi, lo: zero });
    (b.rounded(y), reduced)
}

/// exp of a pair whose first part may be anything, as one float.
#[inline(always)]
pub(super) fn exp_pair<B: FormulaBuilder>(b: &mut B, x: FloatPair<B::Node>) -> B::Node {
    let hi = clamped(b, x.hi);
    let same = b.eq(hi, x.hi);
    let zero = b.f(0.0);
    let lo = b.select(same, x.lo, zero);
    let (y, reduced) = exp_parts(b, FloatPair { hi, lo });
    let y = b.rounded(y);
    scale(b, y, &reduced)
}

/// exp(x) - 1 of x in (-1100, 64) as a pair.
#[inline(always)]
fn expm1_pair<B: FormulaBuilder>(b: &mut B, x: B::Node) -> FloatPair<B::Node> {
    let zero = b.f(0.0);
    let reduced = reduce(b, FloatPair { hi: x, lo: zero });
    let s = less_one(b, reduced.r);
    let one = b.f(1.0);
    // 2^k (1 + s) - 1, where 2^k is a float of its own: k is above -1075 and below 1024.
    let power = scale(b, one, &reduced);
    let minus = b.f(-1.0);
    let lead = b.two_sum(power, minus);
    let (hi, lo) = (b.mul(s.hi, power), b.mul(s.lo, power));
    b.add_pair(lead, FloatPair { hi, lo })
}

/// exp(x) - 1.
#[inline(always)]
pub(super) fn expm1<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let inner = b.at_least(x, -64.0);
    let inner = b.at_most(inner, 60.0);
    let pair = expm1_pair(b, inner);
    let small = b.rounded(pair);
    let large = exp(b, x);
    // Above 60 the one is beyond the last bit. Zeros keep their sign.
    let big = b.gt_f(x, 60.0);
    let y = b.select(big, large, small);
    let zero = b.eq_f(x, 0.0);
    b.select(zero, x, y)
}

/// What sinh and cosh of k ln(2) + r are made of, before scaling by 2^k.
struct Halves<N> {
    /// 2^-k cosh(k ln 2) and what its rounding left.
    c: FloatPair<N>,
    /// 2^-k sinh(k ln 2) and what its rounding left.
    s: FloatPair<N>,
    /// sinh(r) in two parts.
    odd: FloatPair<N>,
    /// cosh(r) - 1.
    even: N,
    reduced: ReducedExponent<N>,
}

#[inline(always)]
fn halves<B: FormulaBuilder>(b: &mut B, x: B::Node) -> Halves<B::Node> {
    let x = b.at_most(x, WIDEST);
    let zero = b.f(0.0);
    let reduced = reduce(b, FloatPair { hi: x, lo: zero });
    let r = reduced.r;
    // 2^(-2k) / 2, from k up to 40 on far below the last bit.
    let capped = b.at_most(reduced.k, 40.0);
    let magic = b.f(MAGIC);
    let shifted = b.add(capped, magic);
    let bits = b.bits(shifted);
    let top = b.u(1022); // the lowest 12 bits of MAGIC are 0
    let twice = b.shl_u(bits, 1);
    let exponent = b.sub(top, twice);
    let exponent = b.shl_u(exponent, 52);
    let small = b.float(exponent);
    let half = b.f(0.5);
    let minus = b.neg(small);
    let c = b.quick_sum(half, small);
    let s = b.quick_sum(half, minus);
    let square = b.mul(r.hi, r.hi);
    let p = b.poly(square, &c::SINH);
    let cube = b.mul(square, r.hi);
    let rest = b.fma(cube, p, r.lo);
    let odd = b.quick_sum(r.hi, rest);
    let q = b.poly(square, &c::COSH);
    let cross = b.mul(r.hi, r.lo);
    let even = b.fma(square, q, cross);
    Halves { c, s, odd, even, reduced }
}

/// sinh before scaling: s + c odd + s even.
#[inline(always)]
fn sinh_of<B: FormulaBuilder>(b: &mut B, h: &Halves<B::Node>) -> B::Node {
    let product = b.two_product(h.c.hi, h.odd.hi);
    let sum = b.two_sum(h.s.hi, product.hi);
    let low = b.fma(h.s.hi, h.even, h.s.lo);
    let low = b.fma(h.c.hi, h.odd.lo, low);
    let low = b.fma(h.c.lo, h.odd.hi, low);
    let low = b.add(low, product.lo);
    let low = b.add(low, sum.lo);
    b.add(sum.hi, low)
}

/// cosh before scaling: c + c even + s odd.
#[inline(always)]
fn cosh_of<B: FormulaBuilder>(b: &mut B, h: &Halves<B::Node>) -> B::Node {
    let product = b.two_product(h.s.hi, h.odd.hi);
    let sum = b.quick_sum(h.c.hi, product.hi);
    let low = b.fma(h.c.hi, h.even, h.c.lo);
    let low = b.add(low, product.lo);
    let low = b.add(low, sum.lo);
    b.add(sum.hi, low)
}

/// sinh(x).
#[inline(always)]
pub(super) fn sinh<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let h = halves(b, magnitude);
    let y = sinh_of(b, &h);
    let y = scale(b, y, &h.reduced);
    let sign = b.sign_of(x);
    b.xor_sign(y, sign)
}

/// sinh and cosh of x, still to be scaled, so that factors may keep them from overflowing.
#[inline(always)]
pub(super) fn sinh_cosh<B: FormulaBuilder>(
    b: &mut B,
    x: B::Node,
) -> (B::Node, B::Node, ReducedExponent<B::Node>) {
    let magnitude = b.abs(x);
    let h = halves(b, magnitude);
    let (sinh, cosh) = (sinh_of(b, &h), cosh_of(b, &h));
    let sign = b.sign_of(x);
    (b.xor_sign(sinh, sign), cosh, h.reduced)
}

/// cosh(x).
#[inline(always)]
pub(super) fn cosh<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let h = halves(b, magnitude);
    let y = cosh_of(b, &h);
    scale(b, y, &h.reduced)
}

/// tanh(x) = -m / (2 + m) with m = expm1(-2 |x|).
#[inline(always)]
pub(super) fn tanh<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let capped = b.at_most(magnitude, 30.0);
    let twice = b.mul_f(capped, -2.0);
    let m = expm1_pair(b, twice);
    let two = b.f(2.0);
    let below = b.quick_sum(two, m.hi);
    let low = b.add(below.lo, m.lo);
    let quotient = b.div_pair(m, FloatPair { hi: below.hi, lo: low });
    let y = b.rounded(quotient);
    let y = b.abs(y);
    b.copysign(y, x)
}
