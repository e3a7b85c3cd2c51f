//! Binned accumulators that are checked by the sticky exception flags of the processor (MXCSR).
//!
//! An instruction that rounds its result sets the inexact flag. What is rounded on purpose can
//! leave the flags alone: vectors of 64 bytes can add so (`{rn-sae}`), all others can round to
//! whole numbers so. Everything else sets flags, and if none of it was rounded, invalid or too
//! large, then no bit was lost, whatever the sizes of the numbers. That is four or five operations
//! a number instead of nine.
//!
//! Reading and writing MXCSR takes a while, so it is done for many numbers at a time only.

#![allow(unsafe_code, reason = "instructions that compilers must not move apart")]

#[cfg(target_arch = "x86_64")]
mod narrow;
#[cfg(target_arch = "x86_64")]
mod wide;

use std::sync::OnceLock;

use super::binned::{Addends, LANES};
use crate::simd::Vectors;

/// No flag set, no exception unmasked, rounded to nearest, subnormal numbers as they are.
#[cfg(target_arch = "x86_64")]
const MXCSR_DEFAULT: u32 = 0x1F80;

/// The flags for inexact, underflow, overflow and invalid results.
#[cfg(target_arch = "x86_64")]
const EXCEPTION_FLAGS: u32 = 0x39;

/// MXCSR before, during and after.
#[cfg(target_arch = "x86_64")]
const MXCSR_SLOTS: [u32; 3] = [0, MXCSR_DEFAULT, 0];

/// Fewer numbers than this are added in the ordinary way by vectors of 64 bytes.
pub(super) const LEAST_WIDE: usize = 2048;

/// The same by vectors of 32 bytes: there the ordinary way takes longer.
pub(super) const LEAST: usize = 512;

/// The lowest bit of the first bin, at least: then one over it is a number, too.
const UNIT: f64 = f64::from_bits(3 << 52);

/// How many of some numbers, the first of them, are added in this way to bins of which the first
/// has this lowest bit; none if these vectors cannot do it, or it is not worth it.
pub(super) fn count(vectors: Vectors, numbers: Addends<'_>, unit: f64) -> usize {
    let count = numbers.len();
    match (vectors.bytes(), numbers) {
        (64, Addends::Wide(_) | Addends::Products(..)) => {
            let worth = count >= LEAST_WIDE && count.is_multiple_of(2 * LANES);
            if worth && flags_are_sticky() { count } else { 0 }
        }
        // Rounded products would set the inexact flag here.
        (32, Addends::Wide(_) | Addends::Narrow(_)) => {
            let worth = count >= LEAST && unit >= UNIT;
            if worth && flags_are_sticky() { count / ROW * ROW } else { 0 }
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

/// Adds numbers to two bins, of which the first has this lowest bit; false if bits were lost, and
/// then the bins are worth nothing. Lanes that left their binade are for the caller to find.
///
/// # Panics
/// If there are not as many numbers as [`count`] gives, or fewer others.
pub(super) fn add(
    vectors: Vectors,
    (bins, unit): (&mut [[f64; LANES]; 2], f64),
    numbers: Addends<'_>,
    far: bool,
) -> bool {
    let all = count(vectors, numbers, unit) == numbers.len();
    assert!(all, "these vectors cannot check the exception flags of {} numbers", numbers.len());
    // SAFETY: R2, R7; `count` has compared vectors and numbers, as asserted above.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        match numbers {
            Addends::Narrow(numbers) => narrow::widen((bins, unit), numbers, far),
            Addends::Wide(numbers) if vectors.bytes() == 32 => {
                narrow::add((bins, unit), numbers, far)
            }
            Addends::Wide(numbers) => wide::add(bins, (numbers, None), far),
            Addends::Products(one, other) => wide::add(bins, (one, Some(other)), far),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (bins, far);
        unreachable!("other processors have other vectors")
    }
}

/// Whether the processor sets the flags of what is rounded. Emulators may not.
fn flags_are_sticky() -> bool {
    static STICKY: OnceLock<bool> = OnceLock::new();
    #[cfg(target_arch = "x86_64")]
    return *STICKY.get_or_init(|| {
        let bins = || [[1.5 * f64::from(1 << 12); LANES], [1.5 / f64::from(1 << 30); LANES]];
        let fits = |number: f64| {
            let numbers = [number; ROW];
            // SAFETY: R7; `count` asks for vectors of 32 bytes or more, and those of 64 come beside them.
            unsafe { narrow::add((&mut bins(), UNIT_OF_ONE), &numbers, false) }
        };
        fits(1.0) && fits(1.0 + f64::EPSILON) && !fits(f64::MIN_POSITIVE)
    });
    #[cfg(not(target_arch = "x86_64"))]
    *STICKY.get_or_init(|| false)
}

/// The lowest bit of a first bin for numbers up to two.
#[cfg(target_arch = "x86_64")]
const UNIT_OF_ONE: f64 = 1.0 / (1_u64 << 40) as f64;
