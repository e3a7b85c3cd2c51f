//! Long integers rounded once to floats: to nearest, ties to even.

#![allow(clippy::cast_possible_truncation, reason = "limbs are cut from wider numbers")]

use super::superaccumulator::{LIMBS, Magnitude};

/// A binary floating-point format.
#[derive(Clone, Copy)]
pub(super) struct FloatFormat {
    /// Bits of the significand, the hidden one included.
    precision: i32,
    /// The exponent of the smallest number.
    lowest: i32,
    /// The bits of infinity.
    infinity: u64,
}

pub(super) const F64: FloatFormat =
    FloatFormat { precision: 53, lowest: -1074, infinity: f64::INFINITY.to_bits() };
pub(super) const F32: FloatFormat =
    FloatFormat { precision: 24, lowest: -149, infinity: f32::INFINITY.to_bits() as u64 };

/// The exponent of the lowest bit of a [`Magnitude`].
const UNIT: i32 = -1074;

/// Limbs behind the point of a quotient. They have more bits than any divisor: whatever is not a
/// whole number shows in them, and the rest of the division decides nothing.
const GUARD_LIMBS: usize = 2;

/// The bits of the nearest number of a format, without a sign.
pub(super) fn rounded(magnitude: &Magnitude, format: FloatFormat) -> u64 {
    round(&magnitude.limbs, UNIT, format)
}

/// The bits of the number nearest to the quotient, without a sign. The divisor is not 0.
pub(super) fn quotient(magnitude: &Magnitude, divisor: u64, format: FloatFormat) -> u64 {
    let mut limbs = [0; GUARD_LIMBS + LIMBS + 1];
    limbs[GUARD_LIMBS..].copy_from_slice(&magnitude.limbs);
    let mut rest = 0;
    for limb in limbs.iter_mut().rev() {
        if rest == 0 && *limb == 0 {
            continue;
        }
        let part = u128::from(rest) << 32 | u128::from(*limb);
        let divisor = u128::from(divisor);
        // The quotient of a limb is below 2^32, because the rest is below the divisor.
        (*limb, rest) = ((part / divisor) as u32, (part % divisor) as u64);
    }
    round(&limbs, UNIT - 32 * GUARD_LIMBS as i32, format)
}

/// Rounds the number of these limbs in units of `2^unit`.
fn round(limbs: &[u32], unit: i32, format: FloatFormat) -> u64 {
    let Some(last) = limbs.iter().rposition(|limb| *limb != 0) else { return 0 };
    let highest = 32 * last as i32 + 31 - limbs[last].leading_zeros() as i32;
    // The exponent of the result's lowest bit; never below the unit, so bits are only dropped.
    let lowest = (highest + unit - (format.precision - 1)).max(format.lowest);
    let dropped = (lowest - unit) as usize;
    let kept = bits_from(limbs, dropped);
    let up = dropped > 0 && {
        let half = bits_from(limbs, dropped - 1) & 1 == 1;
        let odd = kept & 1 == 1;
        half && (odd || any_below(limbs, dropped - 1))
    };
    // A carry out of the significand moves on into the exponent by itself.
    let exponent = (lowest - format.lowest) as u64;
    let bits = (exponent << (format.precision - 1)) + kept + u64::from(up);
    bits.min(format.infinity)
}

/// Bits from a place on, as far as they fit.
fn bits_from(limbs: &[u32], place: usize) -> u64 {
    let at = |index: usize| u128::from(limbs.get(index).copied().unwrap_or(0));
    let first = place / 32;
    let three = at(first) | at(first + 1) << 32 | at(first + 2) << 64;
    (three >> (place % 32)) as u64
}

/// True if a bit below this place is set.
fn any_below(limbs: &[u32], place: usize) -> bool {
    let (whole, part) = limbs.split_at((place / 32).min(limbs.len()));
    let part = part.first().is_some_and(|limb| limb & ((1 << (place % 32)) - 1) != 0);
    part || whole.iter().any(|limb| *limb != 0)
}
