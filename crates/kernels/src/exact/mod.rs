//! Sums of floats that are exact, and rounded once when they are read.
//!
//! The sum does not depend on the order of the numbers, on how they are dealt to ranks, on the
//! width of vectors or on the way that a loop takes: all of them are exact.

mod adder;
mod binned;
mod binned_avx2;
mod columns;
mod compensated;
mod flags;
mod round;
mod superaccumulator;

/// Lengths at which these loops change their way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("exact::FEW", adder::FEW),
    ("exact::FIRST", adder::FIRST),
    ("exact::FEWEST", adder::FEWEST),
    ("exact::BLOCK", adder::BLOCK),
    ("exact::FAR", adder::FAR),
    ("exact::ROWS", binned::ROWS),
    ("exact::PART", compensated::PART),
    ("exact::LEAST", flags::LEAST),
    ("exact::LEAST_WIDE", flags::LEAST_WIDE),
    ("exact::COLUMNS_TILE", columns::TILE),
    ("exact::COLUMNS_FEW", columns::FEW),
];

#[cfg(test)]
mod tests;

pub(crate) use adder::Adder;
pub(crate) use binned::Widen;
pub(crate) use columns::{ColumnAccumulators, ColumnSums};
pub(crate) use compensated::{COUNT_MAX, CompensatedLanes, CompensatedSums, PART, Rounds};

use crate::simd::Vectors;
use round::{F32, F64, quotient, rounded};
use superaccumulator::{LIMBS, Superaccumulator};

/// The exact sum of floats: a superaccumulator, which is a long integer with room for every one of
/// them.
///
/// | numbers | result |
/// |---|---|
/// | finite | the number nearest to the exact sum, ties to even; infinite only if that is |
/// | a NaN, or infinities of both signs | the positive quiet NaN without payload |
/// | infinities of one sign | that infinity |
/// | none, or an exact zero, whatever the signs | +0.0 |
///
/// For the type of numbers read it as `f64` or `f32`: each is rounded once from the exact sum.
///
/// ```
/// use pantile_kernels::ExactSum;
///
/// let mut sum = ExactSum::new();
/// sum.add_slice_f64(&[1e300, 1.0, -1e300]);
/// assert_eq!(sum.to_f64(), 1.0);
/// assert_eq!(sum.divided_f64(3), 1.0 / 3.0);
/// ```
#[derive(Clone, Debug)]
pub struct ExactSum {
    limbs: Superaccumulator,
    special: Special,
}

/// What was met besides finite numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Special {
    nan: bool,
    above: bool,
    below: bool,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl ExactSum {
    /// Words of the form that ranks exchange: 68 limbs and three counters.
    pub const WORDS: usize = LIMBS + 3;

    /// The sum of no numbers.
    #[must_use]
    pub const fn new() -> Self {
        let special = Special { nan: false, above: false, below: false };
        Self { limbs: Superaccumulator::ZERO, special }
    }

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, value: f64) {
        match FloatParts::of(value) {
            FloatParts::Finite { negative, magnitude, place } => {
                self.limbs.deposit(negative, magnitude, place);
            }
            FloatParts::Nan => self.special.nan = true,
            FloatParts::Above => self.special.above = true,
            FloatParts::Below => self.special.below = true,
        }
    }

    /// Adds numbers.
    pub fn add_slice_f64(&mut self, values: &[f64]) {
        self.add_slice(values, Vectors::widest());
    }

    /// Adds numbers, each widened to `f64`, which is exact.
    pub fn add_slice_f32(&mut self, values: &[f32]) {
        self.add_slice(values, Vectors::widest());
    }

    /// Adds numbers by loops for these vectors.
    pub(crate) fn add_slice<T: Widen>(&mut self, values: &[T], vectors: Vectors) {
        let mut adder = Adder::new(size_of_val(values), vectors);
        adder.add(self, values);
        adder.finish(self);
    }

    /// Adds another sum. The order of merges does not matter.
    pub fn merge(&mut self, other: &Self) {
        self.limbs.merge(&other.limbs);
        self.special.nan |= other.special.nan;
        self.special.above |= other.special.above;
        self.special.below |= other.special.below;
    }

    /// The sum, rounded once.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.special.to_f64().unwrap_or_else(|| {
            let magnitude = self.limbs.magnitude();
            f64_of(magnitude.negative, rounded(&magnitude, F64))
        })
    }

    /// The sum, rounded once to `f32`; rounding [`to_f64`](Self::to_f64) again may differ.
    #[must_use]
    pub fn to_f32(&self) -> f32 {
        self.special.to_f32().unwrap_or_else(|| {
            let magnitude = self.limbs.magnitude();
            f32_of(magnitude.negative, rounded(&magnitude, F32))
        })
    }

    /// The sum divided by a count, rounded once; NaN if the count is 0. A quotient that is not
    /// zero keeps its sign when it is rounded to zero.
    #[must_use]
    pub fn divided_f64(&self, count: u64) -> f64 {
        if count == 0 {
            return NAN;
        }
        self.special.to_f64().unwrap_or_else(|| {
            let magnitude = self.limbs.magnitude();
            f64_of(magnitude.negative, quotient(&magnitude, count, F64))
        })
    }

    /// The sum divided by a count, rounded once to `f32`; see [`divided_f64`](Self::divided_f64).
    #[must_use]
    pub fn divided_f32(&self, count: u64) -> f32 {
        if count == 0 {
            return NAN_F32;
        }
        self.special.to_f32().unwrap_or_else(|| {
            let magnitude = self.limbs.magnitude();
            f32_of(magnitude.negative, quotient(&magnitude, count, F32))
        })
    }

    /// Writes the sum as words. Word by word sums, wrapping, of what up to 2^30 ranks wrote stand
    /// for the sum of all: see [`read`](Self::read). Equal sums write equal words.
    pub fn write(&mut self, words: &mut [i64; Self::WORDS]) {
        let (limbs, counters) = words.split_at_mut(LIMBS);
        limbs.copy_from_slice(self.limbs.canonical());
        let Special { nan, above, below } = self.special;
        counters.copy_from_slice(&[nan, above, below].map(i64::from));
    }

    /// The sum that words stand for, which may be sums of words of up to 2^30 ranks.
    #[must_use]
    pub fn read(words: &[i64; Self::WORDS]) -> Self {
        Self { limbs: Superaccumulator::of(limbs_of(words)), special: Special::of(words) }
    }

    /// The same, of words that are sums of those of up to 2^29 ranks; quicker.
    pub(crate) fn read_few(words: &[i64; Self::WORDS]) -> Self {
        Self { limbs: Superaccumulator::of_few(limbs_of(words)), special: Special::of(words) }
    }

    /// Adds `magnitude * 2^(place - 1074)`, or subtracts it.
    fn deposit(&mut self, negative: bool, magnitude: u64, place: u32) {
        self.limbs.deposit(negative, magnitude, place);
    }
}

/// What a number adds to a sum.
enum FloatParts {
    /// `magnitude * 2^(place - 1074)`, or the negative of it.
    Finite {
        negative: bool,
        magnitude: u64,
        place: u32,
    },
    Nan,
    Above,
    Below,
}

impl FloatParts {
    #[inline]
    fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (negative, field) = (value.is_sign_negative(), (bits >> 52) & 0x7FF);
        let fraction = bits & ((1 << 52) - 1);
        match u32::try_from(field) {
            Ok(0) => Self::Finite { negative, magnitude: fraction, place: 0 },
            Ok(field @ 1..0x7FF) => {
                Self::Finite { negative, magnitude: fraction | 1 << 52, place: field - 1 }
            }
            _ if fraction != 0 => Self::Nan,
            _ if negative => Self::Below,
            _ => Self::Above,
        }
    }
}

/// The one NaN that sums give.
pub(crate) const NAN: f64 = f64::from_bits(0x7FF8 << 48);
pub(crate) const NAN_F32: f32 = f32::from_bits(0x7FC0 << 16);

fn limbs_of(words: &[i64; ExactSum::WORDS]) -> [i64; LIMBS] {
    *words.first_chunk().expect("a sum has more words than limbs")
}

impl Special {
    fn of(words: &[i64; ExactSum::WORDS]) -> Self {
        let [nan, above, below] = [0, 1, 2].map(|counter| words[LIMBS + counter] != 0);
        Self { nan, above, below }
    }

    /// The result, if it is not that of the limbs.
    fn pick<T>(self, [nan, above, below]: [T; 3]) -> Option<T> {
        match (self.nan, self.above, self.below) {
            (false, false, false) => None,
            (false, true, false) => Some(above),
            (false, false, true) => Some(below),
            _ => Some(nan),
        }
    }

    fn to_f64(self) -> Option<f64> {
        self.pick([NAN, f64::INFINITY, f64::NEG_INFINITY])
    }

    fn to_f32(self) -> Option<f32> {
        self.pick([NAN_F32, f32::INFINITY, f32::NEG_INFINITY])
    }
}

fn f64_of(negative: bool, bits: u64) -> f64 {
    f64::from_bits(bits | u64::from(negative) << 63)
}

fn f32_of(negative: bool, bits: u64) -> f32 {
    let bits = u32::try_from(bits).expect("bits of an f32 are below those of infinity");
    f32::from_bits(bits | u32::from(negative) << 31)
}
