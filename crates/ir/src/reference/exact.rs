//! Sums without rounding: whole numbers of the smallest float, in long hand.

/// Digits of 32 bits; enough for 2^40 of the largest float in units of the smallest.
const DIGITS: usize = 70;

/// The exponent of the unit: 2^-1074.
const UNIT: i32 = -1074;

/// More digits below the unit for what a division leaves.
const MORE: usize = 2;

/// A sum of floats; what is above and below zero is kept apart.
#[derive(Clone)]
pub(super) struct Sum {
    above: [u32; DIGITS],
    below: [u32; DIGITS],
    nan: bool,
    infinite: [bool; 2],
}

/// What a result is rounded to.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// Bits of the fraction, with the leading one.
    precision: i32,
    /// The exponent of the last bit of the smallest numbers.
    least: i32,
    /// The exponent of the last bit of the largest numbers.
    most: i32,
}

pub(super) const DOUBLE: Format = Format { precision: 53, least: -1074, most: 971 };
pub(super) const SINGLE: Format = Format { precision: 24, least: -149, most: 104 };

impl Sum {
    pub(super) fn new() -> Self {
        Self { above: [0; DIGITS], below: [0; DIGITS], nan: false, infinite: [false; 2] }
    }

    pub(super) fn add(&mut self, value: f64) {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            self.nan = true;
            return;
        }
        if value.is_infinite() {
            self.infinite[usize::from(negative)] = true;
            return;
        }
        let bits = value.to_bits();
        let exponent = (bits >> 52) & 0x7ff;
        let fraction = bits & 0x000f_ffff_ffff_ffff;
        // Subnormal numbers have no leading one, and the exponent of the smallest normal ones.
        let (fraction, shift) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << 52, exponent - 1),
        };
        let digits = if negative { &mut self.below } else { &mut self.above };
        add_shifted(digits, fraction, shift);
    }

    /// The sum divided by a count, rounded once; as an `f64` whatever the format.
    pub(super) fn rounded(&self, count: u64, format: Format) -> f64 {
        match (self.nan || count == 0, self.infinite) {
            (true, _) | (_, [true, true]) => return f64::NAN,
            (_, [true, false]) => return f64::INFINITY,
            (_, [false, true]) => return f64::NEG_INFINITY,
            _ => {}
        }
        let negative = self.below.iter().rev().gt(self.above.iter().rev());
        let (large, small) =
            if negative { (&self.below, &self.above) } else { (&self.above, &self.below) };
        let (quotient, rest) = divided(&difference(large, small), count);
        let magnitude = round(&quotient, rest, format);
        if negative { -magnitude } else { magnitude }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "digits are the lower 32 bits, one by one")]
fn add_shifted(digits: &mut [u32; DIGITS], fraction: u64, shift: u64) {
    let first = (shift / 32) as usize;
    let mut rest = u128::from(fraction) << (shift % 32);
    let mut at = first;
    let mut carry = 0u64;
    while (rest != 0 || carry != 0) && at < DIGITS {
        let sum = u64::from(digits[at]) + u64::from(rest as u32) + carry;
        digits[at] = sum as u32;
        carry = sum >> 32;
        rest >>= 32;
        at += 1;
    }
}

#[allow(clippy::cast_possible_truncation, reason = "digits are the lower 32 bits, one by one")]
fn difference(large: &[u32; DIGITS], small: &[u32; DIGITS]) -> [u32; DIGITS] {
    let mut result = [0; DIGITS];
    let mut borrow = 0u64;
    for at in 0..DIGITS {
        let wanted = u64::from(small[at]) + borrow;
        let have = u64::from(large[at]);
        borrow = u64::from(have < wanted);
        result[at] = ((have + (borrow << 32)) - wanted) as u32;
    }
    result
}

/// The quotient with `MORE` digits below the unit, lowest digit first, and whether more is left.
#[allow(clippy::cast_possible_truncation, reason = "a digit of a quotient has 32 bits")]
fn divided(digits: &[u32; DIGITS], count: u64) -> (Vec<u32>, bool) {
    let mut quotient = vec![0; DIGITS + MORE];
    let mut rest = 0u128;
    for at in (0..DIGITS + MORE).rev() {
        let digit = if at >= MORE { digits[at - MORE] } else { 0 };
        rest = rest << 32 | u128::from(digit);
        quotient[at] = (rest / u128::from(count)) as u32;
        rest %= u128::from(count);
    }
    (quotient, rest != 0)
}

/// The nearest number of a format, halves to even.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "places are below 3000, fractions have at most 53 bits"
)]
fn round(digits: &[u32], more: bool, format: Format) -> f64 {
    let bit = |place: i32| place >= 0 && digits[place as usize / 32] >> (place % 32) & 1 == 1;
    let bottom = UNIT - 32 * MORE as i32;
    let length = 32 * digits.len() as i32;
    let Some(top) = (0..length).rev().find(|place| bit(*place)) else {
        return 0.0;
    };
    // The exponent of the last bit that is kept.
    let mut last = (top + bottom - (format.precision - 1)).max(format.least);
    let place = last - bottom;
    let mut kept = (place..=top).rev().fold(0u64, |kept, at| kept << 1 | u64::from(bit(at)));
    let half = bit(place - 1);
    let beyond = more || (0..place - 1).any(bit);
    if half && (beyond || kept & 1 == 1) {
        kept += 1;
    }
    if kept == 1 << format.precision {
        (kept, last) = (kept >> 1, last + 1);
    }
    if last > format.most {
        return f64::INFINITY;
    }
    // In two steps: 2^-1074 is no normal number, but the product is exact.
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    let first = last.max(-1000);
    kept as f64 * power(first) * power(last - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64], count: u64, format: Format) -> f64 {
        let mut sum = Sum::new();
        values.iter().for_each(|value| sum.add(*value));
        sum.rounded(count, format)
    }

    #[test]
    fn sums_are_rounded_once() {
        let tiny = f64::from_bits(1);
        assert_eq!(sum(&[], 1, DOUBLE).to_bits(), 0);
        assert_eq!(sum(&[-0.0, -0.0], 1, DOUBLE).to_bits(), 0);
        assert_eq!(sum(&[1e308, 1e308, -1e308], 1, DOUBLE), 1e308);
        assert_eq!(sum(&[f64::MAX, f64::MAX], 1, DOUBLE), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX], 2, DOUBLE), f64::MAX);
        assert_eq!(sum(&[1.0, 2f64.powi(-53)], 1, DOUBLE), 1.0);
        assert_eq!(sum(&[1.0, 2f64.powi(-53), tiny], 1, DOUBLE), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[tiny, tiny, -3.0 * tiny], 1, DOUBLE), -tiny);
        assert_eq!(sum(&[-tiny], 2, DOUBLE).to_bits(), 1 << 63);
        assert_eq!(sum(&[tiny, tiny, tiny], 2, DOUBLE), 2.0 * tiny);
        assert_eq!(sum(&[1.0], 3, DOUBLE), 1.0 / 3.0);
        assert_eq!(sum(&[-10.0], 3, DOUBLE), -10.0 / 3.0);
        assert!(sum(&[1.0], 0, DOUBLE).is_nan());
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY], 1, DOUBLE).is_nan());
        assert_eq!(sum(&[f64::NEG_INFINITY, 1.0], 9, DOUBLE), f64::NEG_INFINITY);
        // Rounding to f64 first would lose the last bit.
        assert_eq!(sum(&[1.0, 2f64.powi(-24), 1e-30], 1, SINGLE), 1.0 + 2f64.powi(-23));
        assert_eq!(sum(&[f64::from(f32::MAX), f64::from(f32::MAX)], 1, SINGLE), f64::INFINITY);
        assert_eq!(sum(&[f64::from(f32::from_bits(3))], 2, SINGLE), f64::from(f32::from_bits(2)));
    }
}
