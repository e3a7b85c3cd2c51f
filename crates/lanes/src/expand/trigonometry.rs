//! `sin`, `cos` and `tan`, of huge arguments too.

use super::build::{FloatPair, FormulaBuilder, two};
use super::constants as c;
use crate::DType;

/// 1.5 * 2^52: adding it rounds to a whole number and leaves that in the lowest bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// |x| = q pi/2 + r, with q modulo 4 (in the lowest two bits) and |r| below pi/4.
#[derive(Clone, Copy)]
struct ReducedAngle<N> {
    r: FloatPair<N>,
    q: N,
}

/// Up to 2^27 by three parts of pi/2, which leaves the r of an infinity or a NaN a NaN.
#[inline(always)]
fn reduce_small<B: FormulaBuilder>(b: &mut B, x: B::Node) -> ReducedAngle<B::Node> {
    let (factor, magic) = (b.f(c::TWO_OVER_PI), b.f(MAGIC));
    let shifted = b.fma(x, factor, magic);
    let k = b.sub(shifted, magic);
    let [first, second, third] = c::HALF_PI.map(|part| b.f(-part));
    // Exact: x and k times the first part are multiples of 2^-53 and differ by less than 1.
    let t = b.fma(k, first, x);
    let product = b.two_product(k, second);
    let sum = b.two_sum(t, product.hi);
    let low = b.fma(k, third, product.lo);
    let low = b.add(low, sum.lo);
    let r = b.quick_sum(sum.hi, low);
    let q = b.bits(shifted);
    ReducedAngle { r, q }
}

/// Any finite x from 2^20 on, by the bits of 2/pi that its exponent asks for.
///
/// x = m 2^e with a whole m of 53 bits. Of 2^e 2/pi the bits worth 4 and more give multiples of
/// 2 pi; the next 192 bits are w, and the upper two of their three words of m w are the angle
/// as a fraction of 2 pi.
#[inline(always)]
fn reduce_large<B: FormulaBuilder>(b: &mut B, x: B::Node) -> ReducedAngle<B::Node> {
    let bits = b.bits(x);
    let exponent = b.shr_u(bits, 52);
    let fraction = b.and_u(bits, (1 << 52) - 1);
    let hidden = b.u(1 << 52);
    let m = b.or(fraction, hidden);
    // e = exponent - 1075; the first bit wanted is at e - 2 after the point of 2/pi, and the
    // table has 64 zeros before it.
    let base = b.u(1075 + 2 - 64);
    let first = b.sub(exponent, base);
    let place = b.shr_u(first, 6);
    let up = b.and_u(first, 63);
    let width = b.u(64);
    let down = b.sub(width, up);
    let words = [0, 1, 2, 3].map(|i| {
        let offset = b.u(i);
        let place = if i == 0 { place } else { b.add(place, offset) };
        b.word(c::TWO_OVER_PI_BITS, place)
    });
    let w = [0, 1, 2].map(|i| {
        let (left, right) = (b.shl(words[i], up), b.shr(words[i + 1], down));
        b.or(left, right)
    });
    let (low, carried) = (b.mul(m, w[1]), b.mul_high(m, w[2]));
    let p1 = b.add(low, carried);
    let carry = b.lt(p1, low);
    let carry = b.cast(carry, DType::U64);
    let (p0, upper) = (b.mul(m, w[0]), b.mul_high(m, w[1]));
    let p0 = b.add(p0, upper);
    let p0 = b.add(p0, carry);
    let half = b.u(1 << 61);
    let nearest = b.add(p0, half);
    let q = b.shr_u(nearest, 62);
    let r = quarter_turns(b, p0, p1);
    ReducedAngle { r, q }
}

/// The fraction of a quarter turn below the upper two bits of a 128-bit angle, as radians in
/// (-pi/4, pi/4].
#[inline(always)]
fn quarter_turns<B: FormulaBuilder>(b: &mut B, p0: B::Node, p1: B::Node) -> FloatPair<B::Node> {
    let (up, down) = (b.shl_u(p0, 2), b.shr_u(p1, 62));
    let f0 = b.or(up, down);
    let f1 = b.shl_u(p1, 2);
    let signed = b.cast(f0, DType::I64);
    let amount = b.u(32);
    let amount = b.cast(amount, DType::I64);
    let first = b.shr(signed, amount);
    let first = b.cast(first, DType::F64);
    let first = b.mul_f(first, two(-32));
    let second = b.and_u(f0, 0xffff_ffff);
    let second = b.cast(second, DType::F64);
    let second = b.mul_f(second, two(-64));
    let third = b.shr_u(f1, 12);
    let third = b.cast(third, DType::F64);
    let third = b.mul_f(third, two(-116));
    let sum = b.quick_sum(first, second);
    let low = b.add(sum.lo, third);
    let turns = b.quick_sum(sum.hi, low);
    let half_pi = b.pair((c::HALF_PI[0], c::HALF_PI[1]));
    b.mul_pair(turns, half_pi)
}

/// True for a number beyond the reach of `reduce_small`.
#[inline(always)]
pub(super) fn is_large<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let big = b.gt_f(magnitude, 134_217_728.0);
    let finite = b.is_below_infinity(magnitude);
    b.and(big, finite)
}

/// Reduces the magnitude of x.
#[inline(always)]
fn reduce<B: FormulaBuilder>(b: &mut B, x: B::Node) -> ReducedAngle<B::Node> {
    let magnitude = b.abs(x);
    let small = reduce_small(b, magnitude);
    let large = reduce_large(b, magnitude);
    let big = is_large(b, x);
    let r = b.select_pair(big, large.r, small.r);
    ReducedAngle { r, q: b.select(big, large.q, small.q) }
}

/// sin(r) less r.hi.
#[inline(always)]
fn sin_rest<B: FormulaBuilder>(b: &mut B, r: FloatPair<B::Node>, square: B::Node) -> B::Node {
    let p = b.poly(square, &c::SIN);
    let cube = b.mul(square, r.hi);
    let half = b.mul_f(square, -0.5);
    let low = b.fma(half, r.lo, r.lo);
    b.fma(cube, p, low)
}

/// cos(r) as a float near 1 and the rest.
#[inline(always)]
fn cos_parts<B: FormulaBuilder>(
    b: &mut B,
    r: FloatPair<B::Node>,
    square: B::Node,
) -> FloatPair<B::Node> {
    let half = b.f(-0.5);
    let one = b.f(1.0);
    let lead = b.fma(square, half, one);
    let minus = b.sub(one, lead);
    let left = b.fma(square, half, minus);
    let p = b.poly(square, &c::COS);
    let fourth = b.mul(square, square);
    let cross = b.neg(r.hi);
    let low = b.fma(cross, r.lo, left);
    // The rounding error of the square.
    let lost = b.neg(square);
    let lost = b.fma(r.hi, r.hi, lost);
    let low = b.fma(lost, half, low);
    FloatPair { hi: lead, lo: b.fma(fourth, p, low) }
}

/// sin(r) and cos(r), and what q makes of them.
struct Waves<N> {
    sin: N,
    cos: N,
    q: N,
    even: N,
}

#[inline(always)]
fn waves<B: FormulaBuilder>(b: &mut B, reduced: &ReducedAngle<B::Node>) -> Waves<B::Node> {
    let ReducedAngle { r, q } = *reduced;
    let square = b.mul(r.hi, r.hi);
    let rest = sin_rest(b, r, square);
    let sin = b.add(r.hi, rest);
    let cos = cos_parts(b, r, square);
    let cos = b.rounded(cos);
    let odd = b.and_u(q, 1);
    let zero = b.u(0);
    Waves { sin, cos, q, even: b.eq(odd, zero) }
}

impl<N: Copy> Waves<N> {
    /// sin of the x that was reduced.
    #[inline(always)]
    fn sin<B: FormulaBuilder<Node = N>>(&self, b: &mut B, x: N) -> N {
        let turn = b.shl_u(self.q, 62);
        let own = b.bits(x);
        let sign = b.xor(turn, own);
        let sign = b.and_u(sign, 1 << 63);
        let y = b.select(self.even, self.sin, self.cos);
        b.xor_sign(y, sign)
    }

    /// cos of the x that was reduced.
    #[inline(always)]
    fn cos<B: FormulaBuilder<Node = N>>(&self, b: &mut B) -> N {
        let one = b.u(1);
        let next = b.add(self.q, one);
        let turn = b.shl_u(next, 62);
        let sign = b.and_u(turn, 1 << 63);
        let y = b.select(self.even, self.cos, self.sin);
        b.xor_sign(y, sign)
    }
}

/// sin and cos of x.
#[inline(always)]
pub(super) fn sin_cos<B: FormulaBuilder>(b: &mut B, x: B::Node) -> (B::Node, B::Node) {
    let reduced = reduce(b, x);
    let waves = waves(b, &reduced);
    (waves.sin(b, x), waves.cos(b))
}

/// sin(x).
#[inline(always)]
pub(super) fn sin<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let reduced = reduce(b, x);
    waves(b, &reduced).sin(b, x)
}

/// cos(x).
#[inline(always)]
pub(super) fn cos<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let reduced = reduce(b, x);
    waves(b, &reduced).cos(b)
}

/// sin(x) of an x that is not large.
#[inline(always)]
pub(super) fn sin_of_small<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let reduced = reduce_small(b, magnitude);
    waves(b, &reduced).sin(b, x)
}

/// cos(x) of an x that is not large.
#[inline(always)]
pub(super) fn cos_of_small<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let reduced = reduce_small(b, magnitude);
    waves(b, &reduced).cos(b)
}

/// tan(x).
#[inline(always)]
pub(super) fn tan<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let reduced = reduce(b, x);
    tan_of(b, x, &reduced)
}

/// tan(x) of an x that is not large.
#[inline(always)]
pub(super) fn tan_of_small<B: FormulaBuilder>(b: &mut B, x: B::Node) -> B::Node {
    let magnitude = b.abs(x);
    let reduced = reduce_small(b, magnitude);
    tan_of(b, x, &reduced)
}

#[inline(always)]
fn tan_of<B: FormulaBuilder>(b: &mut B, x: B::Node, reduced: &ReducedAngle<B::Node>) -> B::Node {
    let ReducedAngle { r, q } = *reduced;
    let square = b.mul(r.hi, r.hi);
    let rest = sin_rest(b, r, square);
    let sin = b.quick_sum(r.hi, rest);
    let cos = cos_parts(b, r, square);
    let cos = b.quick_sum(cos.hi, cos.lo);
    let odd = b.and_u(q, 1);
    let zero = b.u(0);
    let even = b.eq(odd, zero);
    let above = b.select_pair(even, sin, cos);
    let below = b.select_pair(even, cos, sin);
    let quotient = b.div_pair(above, below);
    let sign = b.shl_u(odd, 63);
    let own = b.sign_of(x);
    let sign = b.xor(sign, own);
    b.xor_sign(quotient.hi, sign)
}
