//! Writing past the caches.
//!
//! An ordinary store first reads the line that it overwrites. For more bytes than the caches
//! keep, that is a third of the traffic of a copy, and what was in the caches is lost.

#![allow(unsafe_code, reason = "non-temporal stores are intrinsics")]

/// Shorter runs are written through the caches: their first and last lines are partial.
pub(crate) const RUN_BYTES_MIN: usize = 2048;

/// Movements of fewer bytes stay in the caches.
const TOTAL_BYTES_MIN: usize = 4 << 20;

/// Whether to write so many bytes past the caches: they are more than a rank's share of the last
/// cache, so nobody would find them there.
#[must_use]
pub fn worth_streaming(total_bytes: usize) -> bool {
    total_bytes >= TOTAL_BYTES_MIN
}

/// Makes streamed bytes visible before anything that is written later.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction (7).
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Runs of so many bytes are copied by themselves: they fill several pages.
pub(super) const LONG_RUN_BYTES_MIN: usize = PARTS * PAGE;

/// Runs of equal length that are copied together, line by line in turns.
pub(super) struct Batch {
    bytes: usize,
    runs: [(*const u8, *mut u8); PARTS],
    count: usize,
}

impl Batch {
    /// An empty batch for runs of so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes, runs: [(std::ptr::null(), std::ptr::null_mut()); PARTS], count: 0 }
    }

    /// Adds a run; copies all of them once there are `together` of them.
    ///
    /// # Safety
    /// Promises 1 to 4, for this run until it is copied, and for those before it.
    pub(super) unsafe fn push(&mut self, source: *const u8, target: *mut u8, together: usize) {
        self.runs[self.count] = (source, target);
        self.count += 1;
        if self.count >= together.min(PARTS) {
            // SAFETY: the caller's.
            unsafe { self.flush() };
        }
    }

    /// Copies the runs that were added since the last time; the caller ends with [`fence`].
    ///
    /// # Safety
    /// Promises 1 to 4, for all of them.
    pub(super) unsafe fn flush(&mut self) {
        if self.count == PARTS {
            // SAFETY: the caller's.
            unsafe { copy_together(&self.runs, self.bytes) };
        } else {
            for (source, target) in &self.runs[..self.count] {
                // SAFETY: the caller's.
                unsafe { copy_run(*source, *target, self.bytes) };
            }
        }
        self.count = 0;
    }
}

/// Copies runs in turns, a few lines of each.
///
/// # Safety
/// Promises 1 to 4, for `bytes` bytes of each.
unsafe fn copy_together(runs: &[(*const u8, *mut u8); PARTS], bytes: usize) {
    // Where the whole lines of each run begin; the shortest body is at most a line shorter.
    let heads = runs.map(|(_, target)| target.align_offset(LINE).min(bytes));
    let longest = heads.iter().copied().max().unwrap_or(0);
    let body = (bytes - longest) / TURN * TURN;
    for ((source, target), head) in runs.iter().zip(heads) {
        // SAFETY: the head is part of the run.
        unsafe { source.copy_to_nonoverlapping(*target, head) };
    }
    for start in (0..body).step_by(TURN) {
        for ((source, target), head) in runs.iter().zip(heads) {
            // SAFETY: the lines end before `bytes`, and begin aligned.
            unsafe { copy_lines(source.add(head + start), target.add(head + start), TURN) };
        }
    }
    for ((source, target), head) in runs.iter().zip(heads) {
        // SAFETY: what is left of the run.
        unsafe {
            let (source, target) = (source.add(head + body), target.add(head + body));
            copy_run(source, target, bytes - head - body);
        }
    }
}

/// Bytes that are copied from each run in turn.
const TURN: usize = 256;

/// Copies bytes and writes them past the caches; the caller ends with [`fence`].
///
/// # Safety
/// Promises 1 to 4, for `bytes` bytes.
pub(crate) unsafe fn copy_run(source: *const u8, target: *mut u8, bytes: usize) {
    let head = target.align_offset(LINE).min(bytes);
    let body = (bytes - head) / LINE * LINE;
    let tail = bytes - head - body;
    // SAFETY: head, body and tail are the bytes of promises 1 to 4, and the body is aligned.
    unsafe {
        source.copy_to_nonoverlapping(target, head);
        copy_lines(source.add(head), target.add(head), body);
        source.add(head + body).copy_to_nonoverlapping(target.add(head + body), tail);
    }
}

/// Copies bytes that are near and writes them past the caches, one line after the other; the
/// caller ends with [`fence`].
///
/// # Safety
/// Promises 1 to 4, for `bytes` bytes.
pub(crate) unsafe fn write_past(source: *const u8, target: *mut u8, bytes: usize) {
    let head = target.align_offset(LINE).min(bytes);
    let body = (bytes - head) / LINE * LINE;
    // SAFETY: head, body and tail are the bytes of promises 1 to 4, and the body is aligned.
    unsafe {
        source.copy_to_nonoverlapping(target, head);
        let (from, to) = (source.add(head), target.add(head));
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            x86::write_lines(from, to, body);
        } else {
            copy_lines(from, to, body);
        }
        #[cfg(not(target_arch = "x86_64"))]
        copy_lines(from, to, body);
        from.add(body).copy_to_nonoverlapping(to.add(body), bytes - head - body);
    }
}

/// Bytes that are read from each of [`PARTS`] places in turn: the prefetchers of a processor
/// follow several pages better than one after the other.
const PAGE: usize = 4096;

/// How many places.
pub(super) const PARTS: usize = 4;

/// Copies whole lines.
///
/// # Safety
/// Promises 1 to 4, for `bytes` bytes, a multiple of [`LINE`]; `target` is aligned to it.
#[inline]
pub(super) unsafe fn copy_lines(source: *const u8, target: *mut u8, bytes: usize) {
    debug_assert!(bytes == 0 || target.addr().is_multiple_of(LINE) && bytes.is_multiple_of(LINE));
    #[cfg(target_arch = "x86_64")]
    {
        let copy = if is_x86_feature_detected!("avx2") { x86::copy_wide } else { x86::copy };
        // SAFETY: promises 1 to 4 are the caller's, and 7 was just detected.
        unsafe { copy(source, target, bytes) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: promises 1 to 4 are the caller's.
    unsafe {
        source.copy_to_nonoverlapping(target, bytes);
    }
}

/// Calls `visit` with the offset of every line of `bytes` bytes.
#[inline(always)]
fn each_line(bytes: usize, mut visit: impl FnMut(usize)) {
    let mut start = 0;
    while bytes - start >= LINE * PARTS {
        let part = ((bytes - start) / PARTS / LINE * LINE).min(PAGE);
        for line in (start..start + part).step_by(LINE) {
            (0..PARTS).for_each(|at| visit(line + at * part));
        }
        start += part * PARTS;
    }
    (start..bytes).step_by(LINE).for_each(visit);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm_stream_si128, _mm256_loadu_si256,
        _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    use super::{LINE, each_line};

    /// Copies lines with the stores that every processor has.
    ///
    /// # Safety
    /// As [`copy_lines`](super::copy_lines).
    pub(super) unsafe fn copy(source: *const u8, target: *mut u8, bytes: usize) {
        each_line(bytes, |line| {
            for part in (line..line + LINE).step_by(size_of::<__m128i>()) {
                // SAFETY: promises 1 to 4, as `part` is below `bytes`; the target is aligned.
                unsafe {
                    let value = _mm_loadu_si128(source.add(part).cast());
                    _mm_stream_si128(target.add(part).cast(), value);
                }
            }
        });
    }

    /// Copies lines with stores of a line.
    ///
    /// # Safety
    /// As [`copy_lines`](super::copy_lines), and the processor has AVX-512 (7).
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn write_lines(source: *const u8, target: *mut u8, bytes: usize) {
        for line in (0..bytes).step_by(LINE) {
            // SAFETY: promises 1 to 4, as `line` is below `bytes`; the target is aligned.
            unsafe {
                let value = _mm512_loadu_si512(source.add(line).cast());
                _mm512_stream_si512(target.add(line).cast(), value);
            }
        }
    }

    /// Copies lines with stores of half a line.
    ///
    /// # Safety
    /// As [`copy_lines`](super::copy_lines), and the processor has AVX2 (7).
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn copy_wide(source: *const u8, target: *mut u8, bytes: usize) {
        each_line(bytes, |line| {
            for part in (line..line + LINE).step_by(size_of::<__m256i>()) {
                // SAFETY: promises 1 to 4, as `part` is below `bytes`; the target is aligned.
                unsafe {
                    let value = _mm256_loadu_si256(source.add(part).cast());
                    _mm256_stream_si256(target.add(part).cast(), value);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_met_once() {
        for lines in (0..200).chain([255, 256, 257, 300, 1000]) {
            let mut met = Vec::new();
            each_line(lines * LINE, |line| met.push(line));
            met.sort_unstable();
            assert_eq!(met, (0..lines).map(|line| line * LINE).collect::<Vec<_>>());
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn narrow_stores_copy_the_same() {
        let source: Vec<u8> = (0..=255).cycle().take(20 * LINE + 5).collect();
        let mut target = vec![0u8; 21 * LINE];
        let head = target.as_ptr().align_offset(LINE);
        // SAFETY: twenty lines fit behind the head, and behind the fifth byte of the source.
        unsafe { x86::copy(source.as_ptr().add(5), target.as_mut_ptr().add(head), 20 * LINE) };
        fence();
        assert_eq!(target[head..head + 20 * LINE], source[5..]);
    }

    #[test]
    fn only_large_movements_stream() {
        assert!(!worth_streaming(1 << 20));
        assert!(worth_streaming(1 << 26));
    }
}
