//! The same loop compiled for wider vectors, chosen when it runs.
//!
//! Vectors of 32 bytes pay for sums in the caches and for minima of long integers; vectors of 64
//! bytes were measured to be no faster, so there is no third variant.

#![allow(unsafe_code, reason = "calls code for instruction sets that were detected")]

/// A loop that the compiler turns into vector code.
pub(crate) trait TileLoop {
    /// Runs it; must be `#[inline(always)]`, so that it is compiled for its caller's vectors.
    fn run(self);
}

/// Runs a loop with the widest useful vectors of this processor.
#[inline]
pub(crate) fn dispatch<B: TileLoop>(body: B) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: R7; detected in the line above.
        return unsafe { with_avx2(body) };
    }
    body.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<B: TileLoop>(body: B) {
    body.run();
}
