//! The same loop compiled for wider vectors, chosen when it runs.
//!
//! Vectors of 32 bytes pay for sums in the caches and for minima of long integers; vectors of 64
//! bytes were measured to be no faster, so there is no third variant.

#![allow(unsafe_code, reason = "calls code for instruction sets that were detected")]

/// A loop that the compiler turns into vector code.
pub(super) trait TileLoop {
    /// Runs it; must be `#[inline(always)]`, so that it is compiled for its caller's vectors.
    ///
    /// # Safety
    /// What the implementation asks for.
    unsafe fn run(self);
}

/// Runs a loop with the widest useful vectors of this processor.
///
/// # Safety
/// What the loop asks for.
#[inline]
pub(super) unsafe fn dispatch<B: TileLoop>(body: B) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: promise 7, just detected; the loop's own promises are the caller's.
        return unsafe { with_avx2(body) };
    }
    // SAFETY: the loop's own promises are the caller's.
    unsafe { body.run() }
}

/// # Safety
/// What the loop asks for.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn with_avx2<B: TileLoop>(body: B) {
    // SAFETY: the loop's own promises are the caller's.
    unsafe { body.run() }
}
