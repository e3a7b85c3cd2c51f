//! `sin`, `cos` and `tan`, of huge arguments too.

use super::build::{Build, Pair, two};
use super::constants as c;
use crate::{DType, Node};

/// 1.5 * 2^52: adding it rounds to a whole number and leaves that in the lowest bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// |x| = q pi/2 + r, with q modulo 4 (in the lowest two bits) and |r| below pi/4.
struct Reduced {
    r: Pair,
    q: Node,
}

/// Up to 2^27 by three parts of pi/2, which leaves the r of an infinity or a NaN a NaN.
fn reduce_small(b: &mut Build<'_>, x: Node) -> Reduced {
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
    Reduced { r, q }
}

/// Any finite x from 2^20 on, by the bits of 2/pi that its exponent asks for.
///
/// x = m 2^e with a whole m of 53 bits. Of 2^e 2/pi the bits worth 4 and more give multiples of
/// 2 pi; the next 192 bits are w, and the upper two of their three words of m w are the angle
/// as a fraction of 2 pi.
fn reduce_large(b: &mut Build<'_>, x: Node) -> Reduced {
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
    let words: Vec<Node> = (0..4)
        .map(|i| {
            let offset = b.u(i);
            let place = if i == 0 { place } else { b.add(place, offset) };
            b.word(&c::TWO_OVER_PI_BITS, place)
        })
        .collect();
    let w: Vec<Node> = words
        .windows(2)
        .map(|pair| {
            let (left, right) = (b.shl(pair[0], up), b.shr(pair[1], down));
            b.or(left, right)
        })
        .collect();
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
    Reduced { r, q }
}

/// The fraction of a quarter turn below the upper two bits of a 128-bit angle, as radians in
/// (-pi/4, pi/4].
fn quarter_turns(b: &mut Build<'_>, p0: Node, p1: Node) -> Pair {
    let (up, down) = (b.shl_u(p0, 2), b.shr_u(p1, 62));
    let f0 = b.or(up, down);
    let f1 = b.shl_u(p1, 2);
    let signed = b.cast(f0, DType::I64);
    let amount = b.small(32, DType::I64);
    let first = b.push(crate::Op::Two(crate::Two::Shr, signed, amount));
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

/// Reduces the magnitude of x.
fn reduce(b: &mut Build<'_>, x: Node) -> Reduced {
    let magnitude = b.abs(x);
    let small = reduce_small(b, magnitude);
    let large = reduce_large(b, magnitude);
    let big = b.gt_f(magnitude, 134_217_728.0);
    let finite = b.lt_f(magnitude, f64::INFINITY);
    let big = b.and(big, finite);
    let r = b.select_pair(big, large.r, small.r);
    Reduced { r, q: b.select(big, large.q, small.q) }
}

/// sin(r) less r.hi.
fn sin_rest(b: &mut Build<'_>, r: Pair, square: Node) -> Node {
    let p = b.poly(square, &c::SIN);
    let cube = b.mul(square, r.hi);
    let half = b.mul_f(square, -0.5);
    let low = b.fma(half, r.lo, r.lo);
    b.fma(cube, p, low)
}

/// cos(r) as a float near 1 and the rest.
fn cos_parts(b: &mut Build<'_>, r: Pair, square: Node) -> Pair {
    let half = b.f(-0.5);
    let one = b.f(1.0);
    let lead = b.fma(square, half, one);
    let minus = b.sub(one, lead);
    let left = b.fma(square, half, minus);
    let p = b.poly(square, &c::COS);
    let fourth = b.mul(square, square);
    let cross = b.neg(r.hi);
    let low = b.fma(cross, r.lo, left);
    // What rounding the square lost.
    let lost = b.neg(square);
    let lost = b.fma(r.hi, r.hi, lost);
    let low = b.fma(lost, half, low);
    Pair { hi: lead, lo: b.fma(fourth, p, low) }
}

/// sin(r) and cos(r), and what q makes of them.
struct Waves {
    sin: Node,
    cos: Node,
    q: Node,
    even: Node,
}

fn waves(b: &mut Build<'_>, reduced: &Reduced) -> Waves {
    let Reduced { r, q } = *reduced;
    let square = b.mul(r.hi, r.hi);
    let rest = sin_rest(b, r, square);
    let sin = b.add(r.hi, rest);
    let cos = cos_parts(b, r, square);
    let cos = b.rounded(cos);
    let odd = b.and_u(q, 1);
    let zero = b.u(0);
    Waves { sin, cos, q, even: b.eq(odd, zero) }
}

impl Waves {
    /// sin of the x that was reduced.
    fn sin(&self, b: &mut Build<'_>, x: Node) -> Node {
        let turn = b.shl_u(self.q, 62);
        let own = b.bits(x);
        let sign = b.xor(turn, own);
        let sign = b.and_u(sign, 1 << 63);
        let y = b.select(self.even, self.sin, self.cos);
        b.xor_sign(y, sign)
    }

    /// cos of the x that was reduced.
    fn cos(&self, b: &mut Build<'_>) -> Node {
        let one = b.u(1);
        let next = b.add(self.q, one);
        let turn = b.shl_u(next, 62);
        let sign = b.and_u(turn, 1 << 63);
        let y = b.select(self.even, self.cos, self.sin);
        b.xor_sign(y, sign)
    }
}

/// sin and cos of x.
pub(super) fn sin_cos(b: &mut Build<'_>, x: Node) -> (Node, Node) {
    let reduced = reduce(b, x);
    let waves = waves(b, &reduced);
    (waves.sin(b, x), waves.cos(b))
}

/// sin(x).
pub(super) fn sin(b: &mut Build<'_>, x: Node) -> Node {
    let reduced = reduce(b, x);
    waves(b, &reduced).sin(b, x)
}

/// cos(x).
pub(super) fn cos(b: &mut Build<'_>, x: Node) -> Node {
    let reduced = reduce(b, x);
    waves(b, &reduced).cos(b)
}

/// cos(x) of an x from 0 to 2^27.
pub(super) fn cos_small(b: &mut Build<'_>, x: Node) -> Node {
    let reduced = reduce_small(b, x);
    waves(b, &reduced).cos(b)
}

/// tan(x).
pub(super) fn tan(b: &mut Build<'_>, x: Node) -> Node {
    let Reduced { r, q } = reduce(b, x);
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
