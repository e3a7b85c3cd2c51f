//! Transposes in vector registers of 32 bytes, straight from the source to the target, one column
//! block of a face after the other.
//!
//! A column block is a line of the target wide, all rows long. So few rows of the source are read
//! at a time that the hardware prefetcher foresees all of them, and each of their lines is used up
//! at once: where rows are a power of two apart, lines compete for the same few places of a cache.
//! What is written with non-temporal stores are whole lines, two at a time, of few rows: nothing is
//! kept in between.

#![allow(unsafe_code, reason = "vectors are intrinsics")]

use super::stream::LINE;
use crate::raw::pack::{Ends, TransposeFace};
use crate::simd::prefetch;

/// Bytes of a target row that a column block is wide.
pub(crate) const fn width(streaming: bool) -> usize {
    if streaming { 2 * LINE } else { LINE }
}

/// Rows of a column block that take at most so many bytes of a row of the source are short: the
/// hardware prefetcher hardly foresees how those of the next column block begin.
pub(crate) const SHORT: usize = 4096;

/// Prefetches the source of the column block behind a short one; any place will do.
fn prefetch_next<T>(face: TransposeFace, source: *const T) {
    let columns = face.columns.count.cast_signed();
    for column in columns..2 * columns {
        let run = source.wrapping_offset(column * face.columns.source).cast::<u8>();
        for line in (0..face.rows.count * size_of::<T>()).step_by(LINE) {
            prefetch(run.wrapping_add(line));
        }
    }
}

/// True if elements of so many bytes can be transposed by vectors of this processor.
pub(crate) fn can(bytes: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    return matches!(bytes, 4 | 8) && is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return {
        let _ = bytes;
        false
    };
}

/// Copies the first rows and columns of a face, as many of both as vectors can, and gives their
/// numbers. With `non_temporal`, whole lines are written with non-temporal stores; the caller ends
/// with a fence.
///
/// # Panics
/// If rows are not side by side in the source, or columns in the target; if vectors cannot
/// transpose such elements; or if rows of the target do not begin with a line, with `non_temporal`.
pub(crate) fn transpose_vectors<T: Copy>(
    face: TransposeFace,
    at: Ends<T>,
    non_temporal: bool,
) -> (usize, usize) {
    assert!(face.rows.source == 1 && face.columns.target == 1, "near on both sides");
    assert!(can(size_of::<T>()), "vectors for elements of {} bytes", size_of::<T>());
    let row = face.rows.target.unsigned_abs().wrapping_mul(size_of::<T>());
    let lines = at.target().addr().is_multiple_of(LINE) && row.is_multiple_of(LINE);
    assert!(lines || !non_temporal, "rows that begin with a line");
    #[cfg(target_arch = "x86_64")]
    {
        let whole = |count: usize, of: usize| count / of * of;
        let (rows, columns) = (face.rows.count, face.columns.count);
        // Half a line is not written with non-temporal stores.
        let lines = if non_temporal { LINE } else { x86::VECTOR } / size_of::<T>();
        let done = (whole(rows, x86::VECTOR / size_of::<T>()), whole(columns, lines));
        let transpose = match (size_of::<T>(), non_temporal) {
            (8, false) => x86::transpose_8::<false>,
            (8, true) => x86::transpose_8::<true>,
            (_, false) => x86::transpose_4::<false>,
            (_, true) => x86::transpose_4::<true>,
        };
        if non_temporal && rows * size_of::<T>() <= SHORT {
            prefetch_next::<T>(face, at.source());
        }
        let bytes = size_of::<T>().cast_signed();
        let ends = at.cast::<u8>();
        // SAFETY: R1, R2, R3, R7; `can` and lines are checked above, `Ends` has the rest for the face.
        unsafe { transpose(ends, (face.columns.source * bytes, face.rows.target * bytes), done) };
        done
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (face, at, non_temporal);
        (0, 0)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        __m256d, __m256i, _mm256_castpd_ps, _mm256_castpd_si256, _mm256_castps_pd, _mm256_loadu_pd,
        _mm256_permute2f128_pd, _mm256_storeu_si256, _mm256_stream_si256, _mm256_unpackhi_pd,
        _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps,
    };
    use std::array::from_fn;

    use super::Ends;

    /// Bytes of a vector.
    pub(crate) const VECTOR: usize = 32;

    /// Writes a vector; with non-temporal stores its place has to be aligned.
    ///
    /// # Safety
    /// The bytes may be written, and the processor has AVX2.
    #[inline(always)]
    unsafe fn write<const NON_TEMPORAL: bool>(to: *mut u8, vector: __m256d) {
        // SAFETY: R1, R2, R7; the vector is one of a square, and lines were found to be aligned.
        unsafe {
            let (to, bits) = (to.cast::<__m256i>(), _mm256_castpd_si256(vector));
            if NON_TEMPORAL { _mm256_stream_si256(to, bits) } else { _mm256_storeu_si256(to, bits) }
        }
    }

    /// The first halves of two vectors as one, and the second ones.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn halves(one: __m256d, other: __m256d) -> [__m256d; 2] {
        [_mm256_permute2f128_pd::<0x20>(one, other), _mm256_permute2f128_pd::<0x31>(one, other)]
    }

    /// Transposes `rows` by `columns` elements of eight bytes, both multiples of four. Columns are
    /// `column` bytes apart in the source, rows `row` bytes in the target.
    ///
    /// # Safety
    /// The elements may be read and written, no byte is both, and the processor has AVX2. With
    /// `NON_TEMPORAL`, rows of the target are aligned.
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn transpose_8<const NON_TEMPORAL: bool>(
        at: Ends<u8>,
        (column, row): (isize, isize),
        (rows, columns): (usize, usize),
    ) {
        squares::<4, NON_TEMPORAL>(rows, columns, |first, left| {
            let from = at.source().wrapping_add(8 * first).wrapping_offset(left * column);
            let to = at.target().wrapping_offset(first.cast_signed() * row + 8 * left);
            // SAFETY: R1, R2, R3, R7; the square is part of the rows and columns, multiples of its side.
            unsafe {
                let v: [__m256d; 4] = from_fn(|k| {
                    _mm256_loadu_pd(from.wrapping_offset(k.cast_signed() * column).cast())
                });
                let low = [_mm256_unpacklo_pd(v[0], v[1]), _mm256_unpacklo_pd(v[2], v[3])];
                let high = [_mm256_unpackhi_pd(v[0], v[1]), _mm256_unpackhi_pd(v[2], v[3])];
                let ([a, c], [b, d]) = (halves(low[0], low[1]), halves(high[0], high[1]));
                for (k, vector) in [a, b, c, d].into_iter().enumerate() {
                    write::<NON_TEMPORAL>(to.wrapping_offset(k.cast_signed() * row), vector);
                }
            }
        });
    }

    /// The same for elements of four bytes; rows and columns are multiples of eight.
    ///
    /// # Safety
    /// As of [`transpose_8`].
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn transpose_4<const NON_TEMPORAL: bool>(
        at: Ends<u8>,
        (column, row): (isize, isize),
        (rows, columns): (usize, usize),
    ) {
        squares::<8, NON_TEMPORAL>(rows, columns, |first, left| {
            let from = at.source().wrapping_add(4 * first).wrapping_offset(left * column);
            let to = at.target().wrapping_offset(first.cast_signed() * row + 4 * left);
            // SAFETY: R1, R2, R3, R7; the square is part of the rows and columns, multiples of its side.
            unsafe {
                let v: [__m256d; 8] = from_fn(|k| {
                    _mm256_loadu_pd(from.wrapping_offset(k.cast_signed() * column).cast())
                });
                // Pairs of columns, then fours, then all eight.
                let pairs: [[__m256d; 2]; 4] = from_fn(|k| {
                    let (one, other) = (_mm256_castpd_ps(v[2 * k]), _mm256_castpd_ps(v[2 * k + 1]));
                    [_mm256_unpacklo_ps(one, other), _mm256_unpackhi_ps(one, other)]
                        .map(|both| _mm256_castps_pd(both))
                });
                let fours = |k: usize, half: usize| {
                    let (one, other) = (pairs[2 * k][half], pairs[2 * k + 1][half]);
                    [_mm256_unpacklo_pd(one, other), _mm256_unpackhi_pd(one, other)]
                };
                for half in 0..2 {
                    let (one, other) = (fours(0, half), fours(1, half));
                    for k in 0..2 {
                        let line = (2 * half + k).cast_signed();
                        let [upper, lower] = halves(one[k], other[k]);
                        write::<NON_TEMPORAL>(to.wrapping_offset(line * row), upper);
                        write::<NON_TEMPORAL>(to.wrapping_offset((line + 4) * row), lower);
                    }
                }
            }
        });
    }

    /// Visits the squares of rows and columns, those of the same rows one after the other; if they
    /// are not written with non-temporal stores, those of the same lines of the source: two below
    /// each other.
    #[inline(always)]
    fn squares<const SIDE: usize, const NON_TEMPORAL: bool>(
        rows: usize,
        columns: usize,
        mut visit: impl FnMut(usize, isize),
    ) {
        let high = if NON_TEMPORAL { SIDE } else { 2 * SIDE };
        for above in (0..rows).step_by(high) {
            for left in (0..columns).step_by(SIDE) {
                for first in (above..rows.min(above + high)).step_by(SIDE) {
                    visit(first, left.cast_signed());
                }
            }
        }
    }
}
