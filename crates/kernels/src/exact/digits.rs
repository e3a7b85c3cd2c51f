//! A long integer as many digits, to which numbers are added in any order.

#![allow(clippy::cast_possible_truncation, reason = "numbers are cut into digits")]

/// Digits of the accumulator: enough for 2^64 times the largest `f64`.
pub(super) const DIGITS: usize = 68;

/// Deposits that fit before the digits must be carried.
const LIMIT: u32 = 1 << 30;

const MASK: i64 = 0xFFFF_FFFF;

/// The number `sum of digit[i] * 2^(32 i)`, in units of 2^-1074.
///
/// Invariants:
/// 1. Every digit but the last is below `2^32 * deposits` in magnitude; `deposits <= LIMIT`.
#[derive(Clone, Debug)]
pub(super) struct Digits {
    digits: [i64; DIGITS],
    deposits: u32,
}

/// A number without its sign: `2^-1074 * sum of digit[i] * 2^(32 i)`.
pub(super) struct Magnitude {
    /// True if the number is below zero.
    pub(super) negative: bool,
    /// Digits below 2^32; the last two are the last one of [`Digits`].
    pub(super) digits: [u32; DIGITS + 1],
}

impl Digits {
    pub(super) const ZERO: Self = Self { digits: [0; DIGITS], deposits: 0 };

    /// The number that a sum of digits of up to 2^30 numbers stands for.
    pub(super) fn of(digits: [i64; DIGITS]) -> Self {
        let mut digits = Self { digits, deposits: LIMIT };
        digits.carry();
        digits
    }

    /// The same of up to 2^29 numbers, without looking at the digits.
    pub(super) fn of_few(digits: [i64; DIGITS]) -> Self {
        Self { digits, deposits: LIMIT / 2 }
    }

    /// Its digits, once each but the last is in `0..2^32`: equal numbers have equal digits.
    pub(super) fn canonical(&mut self) -> &[i64; DIGITS] {
        self.carry();
        &self.digits
    }

    /// Adds `magnitude * 2^place`, or subtracts it.
    #[inline]
    pub(super) fn deposit(&mut self, negative: bool, magnitude: u64, place: u32) {
        if self.deposits == LIMIT {
            self.carry();
        }
        deposit(&mut self.digits, negative, magnitude, place);
        self.deposits += 1;
    }

    /// Adds another number.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.deposits + other.deposits <= LIMIT {
            return self.merge_digits(other);
        }
        self.carry();
        let mut other = other.clone();
        other.carry();
        self.merge_digits(&other);
    }

    fn merge_digits(&mut self, other: &Self) {
        for (digit, more) in self.digits.iter_mut().zip(&other.digits) {
            *digit = digit.wrapping_add(*more);
        }
        self.deposits += other.deposits;
    }

    /// Moves what exceeds a digit into the next one.
    fn carry(&mut self) {
        carry(&mut self.digits);
        self.deposits = 1;
    }

    /// The number without its sign.
    pub(super) fn magnitude(&self) -> Magnitude {
        let mut digits = [0; DIGITS + 1];
        let mut carry = 0;
        for (digit, from) in digits.iter_mut().zip(&self.digits[..DIGITS - 1]) {
            let sum = from.wrapping_add(carry);
            (*digit, carry) = (sum as u32, sum >> 32);
        }
        let last = self.digits[DIGITS - 1].wrapping_add(carry);
        [digits[DIGITS - 1], digits[DIGITS]] = [last as u32, (last >> 32) as u32];
        let negative = last < 0;
        if negative {
            // The first digit that is not zero turns its sign, those above all their bits.
            let first = digits.iter().position(|digit| *digit != 0).unwrap_or(DIGITS);
            digits[first] = digits[first].wrapping_neg();
            digits[first + 1..].iter_mut().for_each(|digit| *digit = !*digit);
        }
        Magnitude { negative, digits }
    }

    /// Digits as they may be after very many deposits.
    #[cfg(test)]
    pub(super) fn after_many(digits: [i64; DIGITS]) -> Self {
        Self { digits, deposits: LIMIT }
    }
}

/// Adds `magnitude * 2^place` to digits, or subtracts it.
#[inline]
pub(super) fn deposit(digits: &mut [i64; DIGITS], negative: bool, magnitude: u64, place: u32) {
    let shifted = u128::from(magnitude) << (place & 31);
    let pieces = [shifted as i64 & MASK, (shifted >> 32) as i64 & MASK, (shifted >> 64) as i64];
    let sign = -i64::from(negative);
    let first = (place >> 5) as usize;
    for (digit, piece) in digits[first..].iter_mut().zip(pieces) {
        *digit = digit.wrapping_add((piece ^ sign) - sign);
    }
}

/// Moves what exceeds a digit into the next one, so that all but the last are in `0..2^32`.
pub(super) fn carry(digits: &mut [i64; DIGITS]) {
    let mut carry = 0;
    for digit in &mut digits[..DIGITS - 1] {
        let sum = digit.wrapping_add(carry);
        *digit = sum & MASK;
        carry = sum >> 32;
    }
    let last = &mut digits[DIGITS - 1];
    *last = last.wrapping_add(carry);
}
