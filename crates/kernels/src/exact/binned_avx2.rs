//! Two bins in vectors of 32 bytes, written out.
//!
//! The same operations as the loops of [`binned`](super::binned), which compilers turn into code
//! that keeps half of the lanes in halves of vectors. Two vectors of each bin are what registers
//! have room for: numbers are read one line after the other, and eight lanes take all of them.

#![allow(unsafe_code, reason = "vectors are intrinsics")]

use super::binned::LANES;
use crate::simd::Vectors;

/// Lanes that are in use: two vectors, a line of memory.
pub(super) const WIDTH: usize = 8;

/// The prefetch distance in numbers.
const PREFETCH_DISTANCE: usize = 128;

/// What was met: bits that did not fit, of which the sign of a zero is none, and the largest
/// magnitude, where NaN is not noticed.
pub(super) type PassExtremes = (u64, f64);

/// True if there are such loops for these vectors.
pub(super) fn can(vectors: Vectors) -> bool {
    cfg!(target_arch = "x86_64") && vectors.bytes() == 32
}

/// Adds numbers, or the products of equally many if there are others, to two bins; what does not
/// fill a line is left.
///
/// # Panics
/// If the vectors cannot do it, or there are fewer others.
pub(super) fn add(
    vectors: Vectors,
    bins: &mut [[f64; LANES]; 2],
    (numbers, others): (&[f64], Option<&[f64]>),
    far: bool,
) -> PassExtremes {
    assert!(can(vectors), "these vectors have loops of their own");
    let lines = numbers.as_chunks::<WIDTH>().0;
    let others = others.map(|others| &others.as_chunks::<WIDTH>().0[..lines.len()]);
    // SAFETY: R2, R7; `can` is asserted above, and lines are arrays.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        match (others, far) {
            (None, false) => x86::add::<false, false>(bins, lines, lines),
            (None, true) => x86::add::<false, true>(bins, lines, lines),
            (Some(others), false) => x86::add::<true, false>(bins, lines, others),
            (Some(others), true) => x86::add::<true, true>(bins, lines, others),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (bins, lines, others, far);
        unreachable!("other processors have other vectors")
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256d, _mm256_add_pd, _mm256_and_pd, _mm256_fmadd_pd, _mm256_fmsub_pd, _mm256_fnmadd_pd,
        _mm256_loadu_pd, _mm256_max_pd, _mm256_mul_pd, _mm256_or_pd, _mm256_set1_pd,
        _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd,
    };

    use super::{LANES, PREFETCH_DISTANCE, PassExtremes, WIDTH};
    use crate::simd::prefetch;

    /// Numbers of a vector.
    const FOUR: usize = 4;

    /// Two vectors of eight numbers or more.
    ///
    /// # Safety
    /// The processor has AVX2, and eight numbers may be read.
    #[inline(always)]
    unsafe fn both(from: *const f64) -> [__m256d; 2] {
        // SAFETY: R2, R7; promised by `add` for eight numbers.
        unsafe { [_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(FOUR))] }
    }

    /// Adds lines; `others` are as many, and are read if `PRODUCTS` are added.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn add<const PRODUCTS: bool, const FAR: bool>(
        [upper, lower]: &mut [[f64; LANES]; 2],
        lines: &[[f64; WIDTH]],
        others: &[[f64; WIDTH]],
    ) -> PassExtremes {
        let magnitude = _mm256_set1_pd(f64::from_bits(u64::MAX >> 1));
        // The compiler shall not see that it is one: it would make additions of these again.
        let one = _mm256_set1_pd(std::hint::black_box(1.0));
        let (mut residual, mut most) = ([_mm256_setzero_pd(); 2], [_mm256_setzero_pd(); 2]);
        // SAFETY: R2, R7; bins and lines are arrays of eight numbers, and four are a vector.
        unsafe {
            let (mut high, mut low) = (both(upper.as_ptr()), both(lower.as_ptr()));
            for (line, other) in lines.iter().zip(others) {
                if FAR {
                    prefetch(line.as_ptr().wrapping_add(PREFETCH_DISTANCE));
                    if PRODUCTS {
                        prefetch(other.as_ptr().wrapping_add(PREFETCH_DISTANCE));
                    }
                }
                let mut values = both(line.as_ptr());
                if PRODUCTS {
                    let factors = both(other.as_ptr());
                    values = [0, 1].map(|at| _mm256_mul_pd(values[at], factors[at]));
                }
                for at in 0..2 {
                    let rest = add_to_bin(&mut high[at], values[at]);
                    let left = add_to_bin_fused(&mut low[at], rest, one);
                    residual[at] = _mm256_or_pd(residual[at], left);
                    // The second of two operands is what stays if one is NaN.
                    most[at] = _mm256_max_pd(_mm256_and_pd(values[at], magnitude), most[at]);
                }
            }
            for at in 0..2 {
                _mm256_storeu_pd(upper.as_mut_ptr().add(at * FOUR), high[at]);
                _mm256_storeu_pd(lower.as_mut_ptr().add(at * FOUR), low[at]);
            }
            let (mut lanes, mut others) = ([0.0_f64; FOUR], [0.0; FOUR]);
            _mm256_storeu_pd(lanes.as_mut_ptr(), _mm256_or_pd(residual[0], residual[1]));
            _mm256_storeu_pd(others.as_mut_ptr(), _mm256_max_pd(most[0], most[1]));
            let residual =
                lanes.iter().fold(0, |all, residual| all | residual.to_bits()) & (u64::MAX >> 1);
            (residual, others.into_iter().fold(0.0, f64::max))
        }
    }

    /// Adds numbers to a bin; gives what did not fit.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add_to_bin(bin: &mut __m256d, values: __m256d) -> __m256d {
        let sum = _mm256_add_pd(*bin, values);
        let left = _mm256_sub_pd(values, _mm256_sub_pd(sum, *bin));
        *bin = sum;
        left
    }

    /// The same by units that multiply and add, with factors of one: where those that only add are
    /// others, both have half of the work.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add_to_bin_fused(bin: &mut __m256d, values: __m256d, one: __m256d) -> __m256d {
        let sum = _mm256_fmadd_pd(values, one, *bin);
        let left = _mm256_fnmadd_pd(_mm256_fmsub_pd(sum, one, *bin), one, values);
        *bin = sum;
        left
    }
}
