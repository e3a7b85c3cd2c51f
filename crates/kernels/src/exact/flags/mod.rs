//! Windows whose processor says itself whether an addition was exact.
//!
//! A processor notes whether a result was rounded. What is rounded on purpose can go unnoted: vectors
//! of 64 bytes can add so (`{rn-sae}`), all others can round to whole numbers so. Everything else is
//! noted, and if none of it was rounded, invalid or too large, then no bit was lost, whatever the
//! sizes of the numbers. That is four or five operations a number instead of nine.
//!
//! Asking the processor takes a while, so it is done for many numbers at a time only.

#![allow(unsafe_code, reason = "instructions that compilers must not move apart")]

#[cfg(target_arch = "x86_64")]
mod narrow;
#[cfg(target_arch = "x86_64")]
mod wide;

use std::sync::OnceLock;

use super::window::{LANES, Numbers};
use crate::simd::Vectors;

/// Nothing noted yet, nothing interrupts, rounded to nearest, subnormal numbers as they are.
#[cfg(target_arch = "x86_64")]
const QUIET: u32 = 0x1F80;

/// Rounded, too large or too small, or not valid.
#[cfg(target_arch = "x86_64")]
const LOST: u32 = 0x39;

/// The settings before, during and after.
#[cfg(target_arch = "x86_64")]
const START: [u32; 3] = [0, QUIET, 0];

/// Fewer numbers than this are added in the ordinary way by vectors of 64 bytes.
pub(super) const LEAST_WIDE: usize = 2048;

/// The same by vectors of 32 bytes: there the ordinary way takes longer.
pub(super) const LEAST: usize = 512;

/// The lowest bit of the first level, at least: then one over it is a number, too.
const UNIT: f64 = f64::from_bits(3 << 52);

/// How many of some numbers, the first of them, are added in this way to levels of which the first
/// has this lowest bit; none if these vectors cannot do it, or it is not worth it.
pub(super) fn count(vectors: Vectors, numbers: Numbers<'_>, unit: f64) -> usize {
    let count = numbers.len();
    match (vectors.bytes(), numbers) {
        (64, Numbers::Wide(_) | Numbers::Products(..)) => {
            let worth = count >= LEAST_WIDE && count.is_multiple_of(2 * LANES);
            if worth && notes() { count } else { 0 }
        }
        // That products are rounded would be noted here.
        (32, Numbers::Wide(_) | Numbers::Narrow(_)) => {
            let worth = count >= LEAST && unit >= UNIT;
            if worth && notes() { count / ROW * ROW } else { 0 }
        }
        _ => 0,
    }
}

/// Numbers of a row of vectors of 32 bytes: they use that many lanes.
const ROW: usize = 16;

/// Numbers of a row: lanes that are in use.
pub(super) fn width(vectors: Vectors) -> usize {
    if vectors.bytes() == 64 { LANES } else { ROW }
}

/// Adds numbers to two levels, of which the first has this lowest bit; false if bits were lost, and
/// then the levels are worth nothing. Lanes that left their binade are for the caller to find.
///
/// # Panics
/// If there are not as many numbers as [`count`] gives, or fewer others.
pub(super) fn add(
    vectors: Vectors,
    (levels, unit): (&mut [[f64; LANES]; 2], f64),
    numbers: Numbers<'_>,
    far: bool,
) -> bool {
    let all = count(vectors, numbers, unit) == numbers.len();
    assert!(all, "these vectors cannot note what was lost of {} numbers", numbers.len());
    // SAFETY: the vectors were found to be there.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        match numbers {
            Numbers::Narrow(numbers) => narrow::widen((levels, unit), numbers, far),
            Numbers::Wide(numbers) if vectors.bytes() == 32 => {
                narrow::add((levels, unit), numbers, far)
            }
            Numbers::Wide(numbers) => wide::add(levels, (numbers, None), far),
            Numbers::Products(one, other) => wide::add(levels, (one, Some(other)), far),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (levels, far);
        unreachable!("other processors have other vectors")
    }
}

/// Whether the processor notes what is rounded. Those that are played by programs may not.
fn notes() -> bool {
    static NOTES: OnceLock<bool> = OnceLock::new();
    #[cfg(target_arch = "x86_64")]
    return *NOTES.get_or_init(|| {
        let levels = || [[1.5 * f64::from(1 << 12); LANES], [1.5 / f64::from(1 << 30); LANES]];
        let fits = |number: f64| {
            let numbers = [number; ROW];
            // SAFETY: vectors of 64 bytes, too, are only there beside those of 32 bytes.
            unsafe { narrow::add((&mut levels(), UNIT_OF_ONE), &numbers, false) }
        };
        fits(1.0) && fits(1.0 + f64::EPSILON) && !fits(f64::MIN_POSITIVE)
    });
    #[cfg(not(target_arch = "x86_64"))]
    *NOTES.get_or_init(|| false)
}

/// The lowest bit of a first level for numbers up to two.
#[cfg(target_arch = "x86_64")]
const UNIT_OF_ONE: f64 = 1.0 / (1_u64 << 40) as f64;
