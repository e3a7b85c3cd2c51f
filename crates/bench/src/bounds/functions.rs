//! `exp`, `sin` and `log` written out: the polynomials of the expansions, without the reduction
//! of huge angles.

use std::sync::OnceLock;

use pantile_lanes::expand::expansion;
use pantile_lanes::{LaneFunction, LaneOp};

use super::formula::formulas;
use crate::bounds::Formula;

const MAGIC: f64 = 6_755_399_441_055_744.0;
const TWO_52: f64 = 4_503_599_627_370_496.0;
const LN2: [f64; 2] = floats([0x3fe6_2e42_fefa_3800, 0x3d2e_f357_93c7_6730]);
const QUARTER: [f64; 4] = floats([
    0x3fe4_5f30_6dc9_c883,
    0x3ff9_21fb_5444_2d18,
    0x3c91_a626_3314_5c07,
    0xb91f_1976_b7ed_8fbc,
]);
const EXP: [f64; 11] = floats([
    0x3fe0_0000_0000_0000,
    0x3fc5_5555_5555_5557,
    0x3fa5_5555_5555_5556,
    0x3f81_1111_1111_00dc,
    0x3f56_c16c_16c1_62d4,
    0x3f2a_01a0_1abe_7fe1,
    0x3efa_01a0_1a6d_889c,
    0x3ec7_1de0_2319_60eb,
    0x3e92_7e4d_b646_b17e,
    0x3e5a_f4de_97ca_4194,
    0x3e21_f730_3498_68ce,
]);
const SIN: [f64; 7] = floats([
    0xbfc5_5555_5555_5555,
    0x3f81_1111_1111_1110,
    0xbf2a_01a0_1a01_9936,
    0x3ec7_1de3_a546_05ee,
    0xbe5a_e645_4126_6378,
    0x3de6_1217_ec01_749d,
    0xbd6a_b17a_7923_7a19,
]);
const COS: [f64; 7] = floats([
    0x3fa5_5555_5555_5555,
    0xbf56_c16c_16c1_6c16,
    0x3efa_01a0_1a01_9d0a,
    0xbe92_7e4f_b771_2bdf,
    0x3e21_eed8_deb6_d561,
    0xbda9_394b_9c9c_20a4,
    0x3d2a_b783_3769_62cf,
]);

const LOG: [f64; 6] = floats([
    0xbfe0_0000_0000_0001,
    0x3fd5_5555_5555_5558,
    0xbfcf_ffff_ffd5_f3ea,
    0x3fc9_9999_9974_3984,
    0xbfc5_5589_357d_6d2e,
    0x3fc2_4952_aee0_9901,
]);

const fn floats<const N: usize>(bits: [u64; N]) -> [f64; N] {
    let mut floats = [0.0; N];
    let mut place = 0;
    while place < N {
        floats[place] = f64::from_bits(bits[place]);
        place += 1;
    }
    floats
}

#[inline(always)]
fn poly<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut sum = coefficients[N - 1];
    for place in (0..N - 1).rev() {
        sum = sum.mul_add(x, coefficients[place]);
    }
    sum
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    let x = if x < -746.0 { -746.0 } else { x };
    let x = if x > 710.0 { 710.0 } else { x };
    let shifted = x.mul_add(std::f64::consts::LOG2_E, MAGIC);
    let k = shifted - MAGIC;
    let r = k.mul_add(-LN2[1], k.mul_add(-LN2[0], x));
    let s = (r * r).mul_add(poly(r, &EXP), r);
    let biased = shifted.to_bits().wrapping_add(2046u64.wrapping_sub(MAGIC.to_bits()));
    let first = biased >> 1;
    let second = biased.wrapping_sub(first);
    (s + 1.0) * f64::from_bits(first << 52) * f64::from_bits(second << 52)
}

#[inline(always)]
fn sin(x: f64) -> f64 {
    let shifted = x.abs().mul_add(QUARTER[0], MAGIC);
    let k = shifted - MAGIC;
    let t = k.mul_add(-QUARTER[1], x.abs());
    let product = k * -QUARTER[2];
    let product_low = k.mul_add(-QUARTER[2], -product);
    let sum = t + product;
    let part = sum - t;
    let low = (t - (sum - part)) + (product - part);
    let low = k.mul_add(-QUARTER[3], product_low) + low;
    let r = sum + low;
    let r_low = low - (r - sum);
    let square = r * r;
    let rest = (square * -0.5).mul_add(r_low, r_low);
    let sin = r + (square * r).mul_add(poly(square, &SIN), rest);
    let lead = square.mul_add(-0.5, 1.0);
    let left = square.mul_add(-0.5, 1.0 - lead);
    let low = (-r).mul_add(r_low, left);
    let low = r.mul_add(r, -square).mul_add(-0.5, low);
    let cos = lead + (square * square).mul_add(poly(square, &COS), low);
    let q = shifted.to_bits();
    let y = if q & 1 == 0 { sin } else { cos };
    f64::from_bits(y.to_bits() ^ (((q << 62) ^ x.to_bits()) & 1 << 63))
}

/// The tables of `log`, as its expansion has them.
#[derive(Clone, Copy, Debug)]
struct Log([&'static [u64; 128]; 3]);

impl Log {
    fn new() -> Self {
        let body = expansion(LaneFunction::Log);
        let table = |name: &str| {
            let found = body.nodes().iter().find_map(|op| match op {
                LaneOp::Table(table, _) if table.name == name => Some(table.entries),
                _ => None,
            });
            found.and_then(|entries| entries.first_chunk()).expect("a table of log")
        };
        Self(["log_inverse", "log_high", "log_low"].map(table))
    }

    #[inline(always)]
    fn of(&self, x: f64) -> f64 {
        const START: u64 = 0x3fe6_9555_0000_0000;
        let tiny = x < f64::MIN_POSITIVE;
        let scaled = if tiny { x * 18_014_398_509_481_984.0 } else { x };
        let t = scaled.to_bits().wrapping_add((0x400u64 << 52).wrapping_sub(START));
        let place = usize::try_from((t >> 45) & 127).unwrap_or(0);
        let shifted = f64::from_bits((t >> 52) | 0x433 << 52);
        let k = shifted - if tiny { TWO_52 + 1078.0 } else { TWO_52 + 1024.0 };
        let z = f64::from_bits((t & ((1 << 52) - 1)).wrapping_add(START));
        let [inverse, high, low] = self.0.map(|table| f64::from_bits(table[place]));
        let r = z.mul_add(inverse, -1.0);
        let (lead, rest) = (k.mul_add(LN2[0], high), k.mul_add(LN2[1], low));
        let first = lead + r;
        let first_low = r - (first - lead);
        let y = first + ((r * r).mul_add(poly(r, &LOG), rest) + first_low);
        let y = if x < f64::INFINITY { y } else { x };
        let y = if x < 0.0 { f64::NAN } else { y };
        if x == 0.0 { f64::NEG_INFINITY } else { y }
    }
}

formulas! {
    /// exp(-x^2) sin(y) + sqrt |z|
    Waves(3) |inputs| {
        let [x, y, z] = inputs;
        exp(-(x * x)) * sin(y) + z.abs().sqrt()
    };
}

/// The prices of options, with a logistic curve for the normal distribution.
#[derive(Clone, Copy, Debug)]
pub struct Prices<'a> {
    /// Prices of shares, strike prices, times.
    inputs: [&'a [f64]; 3],
    log: Log,
}

impl<'a> Prices<'a> {
    /// For shares, strikes and times.
    #[must_use]
    pub fn new(inputs: [&'a [f64]; 3]) -> Self {
        static LOG: OnceLock<Log> = OnceLock::new();
        Self { inputs, log: *LOG.get_or_init(Log::new) }
    }
}

/// Interest, half the variance more, and volatility.
pub const MARKET: [f64; 3] = [0.02, 0.065, 0.3];

/// The slopes of the logistic curve.
pub const CURVE: [f64; 2] = [-1.5976, -0.07056];

// SAFETY: R1; `len` is the length of the shortest input.
unsafe impl Formula for Prices<'_> {
    fn len(&self) -> usize {
        self.inputs.iter().map(|input| input.len()).min().unwrap_or(0)
    }

    #[inline(always)]
    unsafe fn at(&self, place: usize) -> f64 {
        // SAFETY: R1; promised by the caller for a place below `len`.
        let [s, k, t] = self.inputs.map(|input| unsafe { *input.get_unchecked(place) });
        let spread = MARKET[2] * t.sqrt();
        let d1 = (self.log.of(s / k) + MARKET[1] * t) / spread;
        let d2 = d1 - spread;
        let [n1, n2] = [d1, d2].map(|d| {
            let up = exp(d * (CURVE[0] + CURVE[1] * (d * d)));
            1.0 / (1.0 + up)
        });
        let price = s * n1 - k * exp(-MARKET[0] * t) * n2;
        if 0.0 < price { price } else { 0.0 }
    }

    #[inline(never)]
    fn write_to(self, into: &mut [f64], streaming: bool) {
        crate::bounds::write::loops(into, self, streaming);
    }
}
