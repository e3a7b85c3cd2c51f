//! What an exact sum means: numbers as whole multiples of the smallest one, added as such.

use crate::{DType, Scalar};

/// Limbs of 32 bits: more than the largest float is of the smallest.
const LIMBS: usize = 68;

/// The exponent of the smallest float, and so that of the first limb.
const LOWEST: i32 = -1074;

/// The sum of floats of one type, rounded once; `None` if they are no floats.
pub(crate) fn sum(terms: &[Scalar]) -> Option<Scalar> {
    if terms.first()?.dtype() == DType::F32 {
        let terms: Option<Vec<f64>> =
            terms.iter().map(|term| term.get::<f32>().map(f64::from)).collect();
        #[allow(clippy::cast_possible_truncation, reason = "it has the digits of an f32")]
        return Some(Scalar::of(rounded(&terms?, 24, -149) as f32));
    }
    let terms: Option<Vec<f64>> = terms.iter().map(Scalar::get::<f64>).collect();
    Some(Scalar::of(rounded(&terms?, 53, LOWEST)))
}

/// The sum with so many bits, none of them below an exponent.
fn rounded(terms: &[f64], bits: usize, lowest: i32) -> f64 {
    if terms.iter().any(|term| !term.is_finite()) {
        // Infinities stay or meet each other, and NaN stays: any order does that.
        return terms.iter().filter(|term| !term.is_finite()).sum();
    }
    let mut limbs = [0i64; LIMBS];
    terms.iter().for_each(|term| add(&mut limbs, *term));
    let negative = carried(&mut limbs);
    let bit = |at: usize| limbs[at / 32] >> (at % 32) & 1;
    let Some(top) = (0..32 * LIMBS).rev().find(|at| bit(*at) == 1) else { return 0.0 };
    let least = usize::try_from(lowest - LOWEST).unwrap_or(0);
    let low = (top + 1).saturating_sub(bits).max(least);
    let kept = (low..=top).rev().fold(0i64, |number, at| 2 * number + bit(at));
    let half = low > 0 && bit(low - 1) == 1;
    let rest = low > 1 && (0..low - 1).any(|at| bit(at) == 1);
    let number = kept + i64::from(half && (rest || kept % 2 == 1));
    // Both factors are floats, and so is the product, or it is too large.
    #[allow(clippy::cast_precision_loss, reason = "it has the bits of a float")]
    let scaled = number as f64 * power(i32::try_from(low).unwrap_or(0) + LOWEST);
    if negative { -scaled } else { scaled }
}

/// Adds a number to limbs that are not carried.
fn add(limbs: &mut [i64; LIMBS], term: f64) {
    let exponent = usize::try_from(term.to_bits() >> 52 & 0x7ff).unwrap_or(0);
    let fraction = term.to_bits() & ((1 << 52) - 1);
    let fraction = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let place = exponent.max(1) - 1;
    let wide = u128::from(fraction) << (place % 32);
    for (limb, part) in limbs[place / 32..].iter_mut().zip([0, 32, 64]) {
        let part = i64::try_from(wide >> part & 0xffff_ffff).unwrap_or(0);
        *limb += if term < 0.0 { -part } else { part };
    }
}

/// Makes all limbs those of the magnitude, below 2^32; true if the number is negative.
fn carried(limbs: &mut [i64; LIMBS]) -> bool {
    // Limbs of several terms may outweigh the one above them: only the last carry knows the sign.
    let negative = carry(limbs) < 0;
    if negative {
        limbs.iter_mut().for_each(|limb| *limb = -*limb);
        carry(limbs);
    }
    negative
}

/// Makes all limbs 32 bits of two's complement; the last carry is the sign.
fn carry(limbs: &mut [i64; LIMBS]) -> i64 {
    limbs.iter_mut().fold(0, |carry, limb| {
        let all = carry + *limb;
        *limb = all & 0xffff_ffff;
        all >> 32
    })
}

/// A power of two that is a float.
fn power(exponent: i32) -> f64 {
    let bits = match u64::try_from(exponent + 1023) {
        Ok(biased) if biased > 0 => biased << 52,
        _ => 1 << (exponent - LOWEST).max(0),
    };
    f64::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(terms: &[f64]) -> f64 {
        let terms: Vec<Scalar> = terms.iter().map(|term| Scalar::of(*term)).collect();
        sum(&terms).and_then(|sum| sum.get()).unwrap()
    }

    #[test]
    fn sums_are_rounded_once() {
        let tiny = f64::from_bits(1);
        let half = f64::EPSILON / 2.0;
        let cases: &[(&[f64], f64)] = &[
            (&[0.1, 0.2], 0.1 + 0.2),
            (&[1e100, 1.0, -1e100], 1.0),
            (&[1.0, half, tiny], 1.0 + f64::EPSILON),
            (&[1.0, half, -tiny], 1.0),
            (&[1.0, half], 1.0),
            (&[-1.0, -half, -tiny], -1.0 - f64::EPSILON),
            (&[1.0 + f64::EPSILON, half], 1.0 + 2.0 * f64::EPSILON),
            (&[tiny, tiny, -3.0 * tiny], -tiny),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[-f64::MAX, -f64::MAX, f64::MAX, f64::MAX, 2.5], 2.5),
            (&[f64::INFINITY, -5.0], f64::INFINITY),
            // What is left has another sign than the limb of the largest terms.
            (
                &[-0.5 + half / 2.0, 0.5, -0.5 - half, 0.5 - half / 2.0, -0.5 + half / 2.0, 0.5],
                -half / 2.0,
            ),
        ];
        for (terms, expected) in cases {
            assert_eq!(double(terms).to_bits(), expected.to_bits(), "{terms:?}");
        }
        assert!(double(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(double(&[1.0, f64::NAN]).is_nan());
        assert_eq!(double(&[-0.0, -0.0]).to_bits(), 0);
        assert_eq!(double(&[3.0, -3.0]).to_bits(), 0);
    }

    #[test]
    fn single_sums_are_rounded_once_too() {
        let terms = [1.0f32, f32::EPSILON / 2.0, f32::from_bits(1)].map(Scalar::of);
        assert_eq!(sum(&terms).and_then(|sum| sum.get()), Some(1.0 + f32::EPSILON));
        let terms = [f32::MAX, f32::MAX].map(Scalar::of);
        assert_eq!(sum(&terms).and_then(|sum| sum.get()), Some(f32::INFINITY));
        let terms = [f32::from_bits(1), f32::from_bits(2)].map(Scalar::of);
        assert_eq!(sum(&terms).and_then(|sum| sum.get()), Some(f32::from_bits(3)));
        assert_eq!(sum(&[Scalar::of(1i64)]), None);
    }
}
