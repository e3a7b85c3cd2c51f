//! Hand-written loops, compiled for the same instruction sets as ours: what the machine can do.

#![allow(unsafe_code, reason = "the loops are compiled for the vectors that were detected")]

mod functions;
mod plain;

use pantile_kernels::Vectors;

pub(in crate::bench) use functions::{CURVE, MARKET, Prices, Waves};
pub(in crate::bench) use plain::{
    Rows, add_one, add_star, add_turned, add_turned_by_8, dot, jacobi, sum, turned, turned_by_8,
};

/// What is computed for one element.
///
/// # Safety
/// `at` reads inside of its inputs for every place below `len`.
pub(in crate::bench) unsafe trait Formula: Copy {
    /// How many elements there are.
    fn len(&self) -> usize;

    /// The element at a place. Must be `#[inline(always)]`.
    ///
    /// # Safety
    /// The place is below `len`.
    unsafe fn at(&self, place: usize) -> f64;
}

/// Declares formulas over slices.
macro_rules! formulas {
    ($($(#[$doc:meta])* $name:ident($count:literal) |$inputs:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(in crate::bench) struct $name<'a>(pub(in crate::bench) [&'a [f64]; $count]);

        // SAFETY: the shortest input decides how many there are.
        unsafe impl Formula for $name<'_> {
            fn len(&self) -> usize {
                self.0.iter().map(|input| input.len()).min().unwrap_or(0)
            }

            #[inline(always)]
            unsafe fn at(&self, place: usize) -> f64 {
                // SAFETY: the caller's promise.
                let $inputs = self.0.map(|input| unsafe { *input.get_unchecked(place) });
                $value
            }
        }
    )*};
}

formulas! {
    /// a
    Copied(1) |inputs| inputs[0];
    /// a + 3 b
    Triad(2) |inputs| inputs[0] + 3.0 * inputs[1];
    /// a b + c d - e / f
    Six(6) |inputs| {
        let [a, b, c, d, e, f] = inputs;
        a * b + c * d - e / f
    };
    /// The mean of four neighbours: up, down, left, right.
    Four(4) |inputs| {
        let [up, down, left, right] = inputs;
        (up + down + left + right) * 0.25
    };
}

/// Writes a formula to all places; with stores past the caches if `streaming`.
///
/// # Panics
/// If the formula has fewer elements than the target.
pub(in crate::bench) fn write<F: Formula>(into: &mut [f64], formula: F, streaming: bool) {
    assert!(formula.len() >= into.len(), "inputs are as long as the target");
    #[cfg(target_arch = "x86_64")]
    match (Vectors::widest().bytes(), streaming) {
        // SAFETY: the processor has them; inputs are as long as the target.
        (64, true) => return unsafe { x86::stream_avx512(into, formula) },
        // SAFETY: the same.
        (64, false) => return unsafe { x86::plain_avx512(into, formula) },
        // SAFETY: the same.
        (32, true) => return unsafe { x86::stream_avx2(into, formula) },
        // SAFETY: the same.
        (32, false) => return unsafe { x86::plain_avx2(into, formula) },
        _ => {}
    }
    // Without wide vectors there is nothing to stream with.
    let _ = streaming;
    // SAFETY: inputs are as long as the target.
    unsafe { everywhere(into, formula) }
}

/// # Safety
/// Inputs are as long as the target.
#[inline(always)]
unsafe fn everywhere<F: Formula>(into: &mut [f64], formula: F) {
    for (place, into) in into.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *into = unsafe { formula.at(place) };
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm_sfence, _mm256_loadu_pd, _mm256_stream_pd, _mm512_loadu_pd, _mm512_stream_pd,
    };

    use super::{Formula, everywhere};

    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) unsafe fn plain_avx512<F: Formula>(into: &mut [f64], formula: F) {
        // SAFETY: the caller's promise.
        unsafe { everywhere(into, formula) }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn plain_avx2<F: Formula>(into: &mut [f64], formula: F) {
        // SAFETY: the caller's promise.
        unsafe { everywhere(into, formula) }
    }

    /// Declares a loop that writes past the caches.
    macro_rules! streaming {
        ($($name:ident, $features:literal, $lanes:literal, $load:ident, $stream:ident;)*) => {$(
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name<F: Formula>(into: &mut [f64], formula: F) {
                let count = into.len();
                let head = into.as_ptr().align_offset(8 * $lanes).min(count);
                let whole = head + (count - head) / $lanes * $lanes;
                for place in (0..head).chain(whole..count) {
                    // SAFETY: the place lies inside.
                    into[place] = unsafe { formula.at(place) };
                }
                for place in (head..whole).step_by($lanes) {
                    let mut lanes = [0.0; $lanes];
                    for (lane, value) in lanes.iter_mut().enumerate() {
                        // SAFETY: the place lies inside.
                        *value = unsafe { formula.at(place + lane) };
                    }
                    // SAFETY: a vector from an aligned place on lies inside.
                    unsafe { $stream(into.as_mut_ptr().add(place), $load(lanes.as_ptr())) };
                }
                _mm_sfence();
            }
        )*};
    }

    streaming! {
        stream_avx512, "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl", 8, _mm512_loadu_pd, _mm512_stream_pd;
        stream_avx2, "avx2,fma", 4, _mm256_loadu_pd, _mm256_stream_pd;
    }
}
