//! A superaccumulator: a long integer of many limbs, to which numbers are added in any order.

#![allow(clippy::cast_possible_truncation, reason = "numbers are cut into limbs")]

/// Limbs of the accumulator: enough for 2^64 times the largest `f64`.
pub(super) const LIMBS: usize = 68;

/// Deposits that fit before the limbs must be carried.
const LIMIT: u32 = 1 << 30;

const MASK: i64 = 0xFFFF_FFFF;

/// The number `sum of limb[i] * 2^(32 i)`, in units of 2^-1074.
///
/// Invariants:
/// 1. Every limb but the last is below `2^32 * deposits` in magnitude; `deposits <= LIMIT`.
#[derive(Clone, Debug)]
pub(super) struct Superaccumulator {
    limbs: [i64; LIMBS],
    deposits: u32,
}

/// A number without its sign: `2^-1074 * sum of limb[i] * 2^(32 i)`.
pub(super) struct Magnitude {
    /// True if the number is below zero.
    pub(super) negative: bool,
    /// Limbs below 2^32; the last two are the last one of [`Superaccumulator`].
    pub(super) limbs: [u32; LIMBS + 1],
}

impl Superaccumulator {
    pub(super) const ZERO: Self = Self { limbs: [0; LIMBS], deposits: 0 };

    /// The number that a sum of limbs of up to 2^30 numbers stands for.
    pub(super) fn of(limbs: [i64; LIMBS]) -> Self {
        let mut limbs = Self { limbs, deposits: LIMIT };
        limbs.carry();
        limbs
    }

    /// The same of up to 2^29 numbers, without looking at the limbs.
    pub(super) fn of_few(limbs: [i64; LIMBS]) -> Self {
        Self { limbs, deposits: LIMIT / 2 }
    }

    /// Its limbs, once each but the last is in `0..2^32`: equal numbers have equal limbs.
    pub(super) fn canonical(&mut self) -> &[i64; LIMBS] {
        self.carry();
        &self.limbs
    }

    /// Adds `magnitude * 2^place`, or subtracts it.
    #[inline]
    pub(super) fn deposit(&mut self, negative: bool, magnitude: u64, place: u32) {
        if self.deposits == LIMIT {
            self.carry();
        }
        deposit(&mut self.limbs, negative, magnitude, place);
        self.deposits += 1;
    }

    /// Adds another number.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.deposits + other.deposits <= LIMIT {
            return self.merge_limbs(other);
        }
        self.carry();
        let mut other = other.clone();
        other.carry();
        self.merge_limbs(&other);
    }

    fn merge_limbs(&mut self, other: &Self) {
        for (limb, more) in self.limbs.iter_mut().zip(&other.limbs) {
            *limb = limb.wrapping_add(*more);
        }
        self.deposits += other.deposits;
    }

    /// Moves what exceeds a limb into the next one.
    fn carry(&mut self) {
        carry(&mut self.limbs);
        self.deposits = 1;
    }

    /// The number without its sign.
    pub(super) fn magnitude(&self) -> Magnitude {
        let mut limbs = [0; LIMBS + 1];
        let mut carry = 0;
        for (limb, from) in limbs.iter_mut().zip(&self.limbs[..LIMBS - 1]) {
            let sum = from.wrapping_add(carry);
            (*limb, carry) = (sum as u32, sum >> 32);
        }
        let last = self.limbs[LIMBS - 1].wrapping_add(carry);
        [limbs[LIMBS - 1], limbs[LIMBS]] = [last as u32, (last >> 32) as u32];
        let negative = last < 0;
        if negative {
            // The first limb that is not zero changes its sign, those above flip all their bits.
            let first = limbs.iter().position(|limb| *limb != 0).unwrap_or(LIMBS);
            limbs[first] = limbs[first].wrapping_neg();
            limbs[first + 1..].iter_mut().for_each(|limb| *limb = !*limb);
        }
        Magnitude { negative, limbs }
    }

    /// Limbs as they may be after very many deposits.
    #[cfg(test)]
    pub(super) fn after_many(limbs: [i64; LIMBS]) -> Self {
        Self { limbs, deposits: LIMIT }
    }
}

/// Adds `magnitude * 2^place` to limbs, or subtracts it.
#[inline]
pub(super) fn deposit(limbs: &mut [i64; LIMBS], negative: bool, magnitude: u64, place: u32) {
    let shifted = u128::from(magnitude) << (place & 31);
    let parts = [shifted as i64 & MASK, (shifted >> 32) as i64 & MASK, (shifted >> 64) as i64];
    let sign = -i64::from(negative);
    let first = (place >> 5) as usize;
    for (limb, part) in limbs[first..].iter_mut().zip(parts) {
        *limb = limb.wrapping_add((part ^ sign) - sign);
    }
}

/// Moves what exceeds a limb into the next one, so that all but the last are in `0..2^32`.
pub(super) fn carry(limbs: &mut [i64; LIMBS]) {
    let mut carry = 0;
    for limb in &mut limbs[..LIMBS - 1] {
        let sum = limb.wrapping_add(carry);
        *limb = sum & MASK;
        carry = sum >> 32;
    }
    let last = &mut limbs[LIMBS - 1];
    *last = last.wrapping_add(carry);
}
