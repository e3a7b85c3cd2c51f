//! Writing a formula to all places: one loop with ordinary stores, one with non-temporal stores.

use super::Formula;

/// Writes a formula to all places; with non-temporal stores if `streaming`.
///
/// # Panics
/// If the formula has fewer elements than the target.
pub fn write<F: Formula>(into: &mut [f64], formula: F, streaming: bool) {
    formula.write_to(into, streaming);
}

/// The loops of [`write`].
pub(crate) fn loops<F: Formula>(into: &mut [f64], formula: F, streaming: bool) {
    assert!(formula.len() >= into.len(), "inputs are as long as the target");
    #[cfg(target_arch = "x86_64")]
    match (pantile_kernels::Vectors::widest().bytes(), streaming) {
        // SAFETY: R1, R2; lengths are compared above, and `Vectors::widest` was detected.
        (64, true) => return unsafe { x86::stream_avx512(into, formula) },
        // SAFETY: R1, R2; lengths are compared above, and `Vectors::widest` was detected.
        (64, false) => return unsafe { x86::plain_avx512(into, formula) },
        // SAFETY: R1, R2; lengths are compared above, and `Vectors::widest` was detected.
        (32, true) => return unsafe { x86::stream_avx2(into, formula) },
        // SAFETY: R1, R2; lengths are compared above, and `Vectors::widest` was detected.
        (32, false) => return unsafe { x86::plain_avx2(into, formula) },
        _ => {}
    }
    // Without wide vectors there is nothing to stream with.
    let _ = streaming;
    // SAFETY: R1; lengths are compared above.
    unsafe { everywhere(into, formula) }
}

/// # Safety
/// Inputs are as long as the target.
#[inline(always)]
unsafe fn everywhere<F: Formula>(into: &mut [f64], formula: F) {
    for (place, into) in into.iter_mut().enumerate() {
        // SAFETY: R1; promised by the caller for the length of the target.
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
        // SAFETY: R1; promised by the caller for the length of the target.
        unsafe { everywhere(into, formula) }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn plain_avx2<F: Formula>(into: &mut [f64], formula: F) {
        // SAFETY: R1; promised by the caller for the length of the target.
        unsafe { everywhere(into, formula) }
    }

    /// Elements that are computed before they are written with non-temporal stores: compilers make
    /// vectors of a loop with nothing else in it.
    const BLOCK: usize = 64;

    /// Declares a loop that writes with non-temporal stores.
    macro_rules! streaming {
        ($($name:ident, $features:literal, $lanes:literal, $load:ident, $stream:ident;)*) => {$(
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name<F: Formula>(into: &mut [f64], formula: F) {
                let count = into.len();
                let head = into.as_ptr().align_offset(8 * $lanes).min(count);
                let whole = head + (count - head) / BLOCK * BLOCK;
                for place in (0..head).chain(whole..count) {
                    // SAFETY: R1; the place is below the length of the target.
                    into[place] = unsafe { formula.at(place) };
                }
                for place in (head..whole).step_by(BLOCK) {
                    let mut block = [0.0; BLOCK];
                    for (at, value) in block.iter_mut().enumerate() {
                        // SAFETY: R1; the place is below the length of the target.
                        *value = unsafe { formula.at(place + at) };
                    }
                    for (vector, lanes) in block.as_chunks::<$lanes>().0.iter().enumerate() {
                        // SAFETY: R1, R2; a vector of the block lies inside the target, at an aligned place.
                        unsafe {
                            let to = into.as_mut_ptr().add(place + vector * $lanes);
                            $stream(to, $load(lanes.as_ptr()));
                        }
                    }
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
