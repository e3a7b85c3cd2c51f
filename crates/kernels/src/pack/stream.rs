//! Non-temporal (streaming) stores.
//!
//! An ordinary store first reads the line that it overwrites. For more bytes than the caches
//! keep, that is a third of the traffic of a copy, and what was in the caches is lost.

#![allow(unsafe_code, reason = "non-temporal stores are intrinsics")]

use crate::simd::prefetch;

/// Shorter runs are written through the caches: their first and last lines are partial.
pub(crate) const RUN_BYTES_MIN: usize = 2048;

/// Movements of fewer bytes stay in the caches.
pub(crate) const TOTAL_BYTES_MIN: usize = 4 << 20;

/// Whether to write so many bytes with non-temporal stores: they are more than a rank's share of
/// the last cache, so no later load would find them there.
#[must_use]
pub fn worth_streaming(total_bytes: usize) -> bool {
    total_bytes >= TOTAL_BYTES_MIN
}

/// Makes streamed bytes visible before anything that is written later.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: R7; every x86-64 has the instruction.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Bytes of the next run that are prefetched before a run is copied: hardware prefetchers foresee
/// how a run goes on, but not where the next one begins.
const PREFETCH_BYTES: usize = 512;

/// Prefetches the first lines of a run of so many bytes that will soon be copied; any place will
/// do.
#[inline]
pub(crate) fn prefetch_run(run: *const u8, bytes: usize) {
    for line in (0..bytes.min(PREFETCH_BYTES)).step_by(LINE) {
        prefetch(run.wrapping_add(line));
    }
}

/// Copies bytes and writes them with non-temporal stores; the caller ends with [`fence`].
///
/// # Safety
/// R1 to R3 of [`raw`](crate::raw), for `bytes` bytes.
pub(crate) unsafe fn copy_run(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: R1, R2, R3; promised by the caller for these bytes.
    unsafe { stream_run(source, target, bytes, copy_lines) }
}

/// Copies bytes that are near and writes them with non-temporal stores, one line after the other; the
/// caller ends with [`fence`].
///
/// # Safety
/// R1 to R3 of [`raw`](crate::raw), for `bytes` bytes.
pub(crate) unsafe fn write_non_temporal(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: R1, R2, R3; promised by the caller for these bytes.
    unsafe { stream_run(source, target, bytes, write_lines) }
}

/// Copies bytes: whole lines of the target as told, what is before and behind them as usual.
///
/// # Safety
/// As of [`copy_run`]; `copy` asks for no more than [`copy_lines`] does.
#[inline(always)]
unsafe fn stream_run(
    source: *const u8,
    target: *mut u8,
    bytes: usize,
    copy: unsafe fn(*const u8, *mut u8, usize),
) {
    let head = target.align_offset(LINE).min(bytes);
    let body = (bytes - head) / LINE * LINE;
    // SAFETY: R1, R2, R3; head, body and tail are these bytes, and the body begins with a line.
    unsafe {
        source.copy_to_nonoverlapping(target, head);
        let (from, to) = (source.add(head), target.add(head));
        copy(from, to, body);
        from.add(body).copy_to_nonoverlapping(to.add(body), bytes - head - body);
    }
}

/// Copies whole lines that are near: they are not prefetched.
///
/// # Safety
/// As of [`copy_lines`].
#[inline]
unsafe fn write_lines(source: *const u8, target: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: R1, R2, R3, R7; detected in the line above, the rest is promised by the caller.
        return unsafe { x86::copy_widest::<false>(source, target, bytes) };
    }
    // SAFETY: R1, R2, R3; promised by the caller for these bytes.
    unsafe { copy_lines(source, target, bytes) }
}

/// Copies whole lines.
///
/// # Safety
/// As of [`copy_run`], for a multiple of [`LINE`]; `target` is aligned to it.
#[inline]
pub(crate) unsafe fn copy_lines(source: *const u8, target: *mut u8, bytes: usize) {
    assert!(bytes == 0 || target.addr().is_multiple_of(LINE) && bytes.is_multiple_of(LINE));
    #[cfg(target_arch = "x86_64")]
    {
        let copy = match () {
            () if is_x86_feature_detected!("avx512f") => x86::copy_widest::<true>,
            () if is_x86_feature_detected!("avx2") => x86::copy_wide,
            () => x86::copy,
        };
        // SAFETY: R1, R2, R3, R7; detected above, and whole lines are asserted.
        unsafe { copy(source, target, bytes) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: R1, R2, R3; promised by the caller for these bytes.
    unsafe {
        source.copy_to_nonoverlapping(target, bytes);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_stream_si128, _mm256_loadu_si256,
        _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    use super::LINE;
    use crate::simd::prefetch;

    /// The prefetch distance in bytes: processors with AVX-512 were found to read faster then,
    /// others not.
    const PREFETCH_DISTANCE: usize = 2048;

    /// Copies lines with the stores that every processor has.
    ///
    /// # Safety
    /// As [`copy_lines`](super::copy_lines).
    pub(crate) unsafe fn copy(source: *const u8, target: *mut u8, bytes: usize) {
        for line in (0..bytes).step_by(LINE) {
            for part in (line..line + LINE).step_by(size_of::<__m128i>()) {
                // SAFETY: R1, R2, R3, R7; `part` is below `bytes`, and `copy_lines` has asserted whole lines.
                unsafe {
                    let value = _mm_loadu_si128(source.add(part).cast());
                    _mm_stream_si128(target.add(part).cast(), value);
                }
            }
        }
    }

    /// Stretches of so many bytes are copied side by side, so many lines of each in turn: the
    /// hardware prefetcher foresees how each of them goes on, and has more on its way than from one
    /// place. What is left of long ones goes in short ones.
    const STRETCHES: [usize; 2] = [16 << 10, 4 << 10];
    const BESIDE: usize = 4;
    const LINES: usize = 4;

    /// Copies lines with stores of a line; those that are `FAR` are read in several places at once.
    ///
    /// # Safety
    /// As [`copy_lines`](super::copy_lines), and the processor has AVX-512 (R7).
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn copy_widest<const FAR: bool>(
        source: *const u8,
        target: *mut u8,
        bytes: usize,
    ) {
        let mut done = 0;
        for stretch in STRETCHES.into_iter().filter(|_| FAR) {
            while bytes - done >= BESIDE * stretch {
                for first in (done..done + stretch).step_by(LINES * LINE) {
                    for at in (0..BESIDE).map(|place| first + place * stretch) {
                        // SAFETY: R1, R2, R3, R7; so many stretches fit, and `copy_lines` has asserted whole lines.
                        unsafe { few_lines(source.add(at), target.add(at)) };
                    }
                }
                done += BESIDE * stretch;
            }
        }
        for line in (done..bytes).step_by(LINE) {
            if FAR && line + PREFETCH_DISTANCE < bytes {
                prefetch(source.wrapping_add(line + PREFETCH_DISTANCE));
            }
            // SAFETY: R1, R2, R3, R7; `line` is below `bytes`, and `copy_lines` has asserted whole lines.
            unsafe {
                let value = _mm512_loadu_si512(source.add(line).cast());
                _mm512_stream_si512(target.add(line).cast(), value);
            }
        }
    }

    /// Reads a few lines, and then writes them.
    ///
    /// # Safety
    /// As [`copy_widest`], for [`LINES`] lines.
    #[target_feature(enable = "avx512f")]
    unsafe fn few_lines(source: *const u8, target: *mut u8) {
        // SAFETY: R1, R2, R3, R7; promised by `copy_widest` for as many lines.
        unsafe {
            let read = |line: usize| _mm512_loadu_si512(source.add(line * LINE).cast());
            let values: [__m512i; LINES] = std::array::from_fn(read);
            for (line, value) in values.into_iter().enumerate() {
                _mm512_stream_si512(target.add(line * LINE).cast(), value);
            }
        }
    }

    /// Vectors that are read before they are written: alternating between reading and writing less
    /// often was found to be faster by a fifth.
    const BATCH: usize = 16;

    /// Copies lines with stores of half a line.
    ///
    /// # Safety
    /// As [`copy_lines`](super::copy_lines), and the processor has AVX2 (R7).
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn copy_wide(source: *const u8, target: *mut u8, bytes: usize) {
        const VECTOR: usize = size_of::<__m256i>();
        let whole = bytes / (BATCH * VECTOR) * (BATCH * VECTOR);
        // SAFETY: R1, R2, R3, R7; parts are below `bytes`, and `copy_lines` has asserted whole lines.
        unsafe {
            for first in (0..whole).step_by(BATCH * VECTOR) {
                let read = |at: usize| _mm256_loadu_si256(source.add(first + at * VECTOR).cast());
                let values: [__m256i; BATCH] = std::array::from_fn(read);
                for (at, value) in values.into_iter().enumerate() {
                    _mm256_stream_si256(target.add(first + at * VECTOR).cast(), value);
                }
            }
            for part in (whole..bytes).step_by(VECTOR) {
                let value = _mm256_loadu_si256(source.add(part).cast());
                _mm256_stream_si256(target.add(part).cast(), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn stores_of_every_width_copy_the_same() {
        type LineCopy = unsafe fn(*const u8, *mut u8, usize);
        let widest = is_x86_feature_detected!("avx512f");
        let copies: [(bool, LineCopy); 4] = [
            (true, x86::copy),
            (is_x86_feature_detected!("avx2"), x86::copy_wide),
            (widest, x86::copy_widest::<false>),
            (widest, x86::copy_widest::<true>),
        ];
        // Long stretches, a short one, and lines that are left; no two stretches are alike.
        const LINES: usize = (64 + 16 + 16) * 1024 / LINE + 5;
        let byte = |at: usize| u8::try_from((at ^ at >> 8 ^ at >> 16) % 251).expect("a byte");
        let source: Vec<u8> = (0..LINES * LINE + 5).map(byte).collect();
        for copy in copies.into_iter().filter(|(here, _)| *here).map(|(_, copy)| copy) {
            let mut target = vec![0u8; (LINES + 1) * LINE];
            let head = target.as_ptr().align_offset(LINE);
            // SAFETY: so many lines fit behind the head, and behind the fifth byte of the source.
            unsafe { copy(source.as_ptr().add(5), target.as_mut_ptr().add(head), LINES * LINE) };
            fence();
            assert_eq!(target[head..head + LINES * LINE], source[5..]);
        }
    }

    #[test]
    fn only_large_movements_stream() {
        assert!(!worth_streaming(1 << 20));
        assert!(worth_streaming(1 << 26));
    }
}
