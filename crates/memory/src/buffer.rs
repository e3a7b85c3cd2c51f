//! The one place where memory for elements comes from.

use std::fmt;
use std::ptr::NonNull;

use crate::guard::GuardedBuffer;
use crate::pages::LargePages;
use crate::raw::{HeapMemory, MemoryAddress};

/// Start of every buffer: a cache line, enough for every vector instruction.
pub const ALIGNMENT: usize = 64;

/// The system gave no memory of this size: what allocations return, or panic with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes that were asked for.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the system gave no memory of {} bytes", self.bytes)
    }
}

impl std::error::Error for OutOfMemory {}

/// Buffers of at least so many bytes are asked for without an alignment, and a line longer: the
/// allocator then leaves fresh pages untouched, which are zero already, and the system gives memory
/// only to those that are used.
const LONG: usize = 64 << 10;

/// Bytes that belong to this value alone.
///
/// Invariant 1: `start` is aligned to [`ALIGNMENT`], and `bytes` initialised bytes from it on may be
/// read and written as long as the value lives.
pub struct AlignedBuffer {
    start: MemoryAddress,
    bytes: usize,
    /// Frees the memory when it is dropped.
    _source: AllocationSource,
}

/// Where a buffer comes from.
enum AllocationSource {
    Allocator { _memory: HeapMemory },
    Pages { _pages: LargePages },
    GuardedBuffer { _guarded: GuardedBuffer },
}

impl AlignedBuffer {
    /// New bytes, all zero.
    ///
    /// # Panics
    /// With an [`OutOfMemory`] if there is no such amount of memory.
    #[must_use]
    pub fn zeroed(bytes: usize) -> Self {
        Self::try_zeroed(bytes).unwrap_or_else(|error| std::panic::panic_any(error))
    }

    /// New bytes, all zero, if there is such an amount of memory.
    ///
    /// # Errors
    /// How many bytes were asked for.
    pub fn try_zeroed(bytes: usize) -> Result<Self, OutOfMemory> {
        let (start, source) = if let Some(guarded) = GuardedBuffer::new(bytes) {
            (guarded.start(), AllocationSource::GuardedBuffer { _guarded: guarded })
        } else if let Some(pages) = LargePages::new(bytes) {
            (pages.start(), AllocationSource::Pages { _pages: pages })
        } else {
            let (more, alignment) = if bytes < LONG { (0, ALIGNMENT) } else { (ALIGNMENT, 1) };
            let memory = HeapMemory::zeroed(bytes.saturating_add(more), alignment)
                .ok_or(OutOfMemory { bytes })?;
            let start = memory.aligned(ALIGNMENT, bytes);
            (start, AllocationSource::Allocator { _memory: memory })
        };
        Ok(Self { start, bytes, _source: source })
    }

    /// The first byte.
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        self.start.pointer()
    }

    /// Number of bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Buffer({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(unsafe_code, reason = "looks at the memory of a buffer")]

    use super::*;

    #[test]
    fn more_than_there_is_is_an_error() {
        for bytes in [1 << 46, 1 << 60, usize::MAX] {
            let error = AlignedBuffer::try_zeroed(bytes).expect_err("no machine has it");
            assert_eq!(error, OutOfMemory { bytes });
            let panic =
                std::panic::catch_unwind(|| AlignedBuffer::zeroed(bytes)).expect_err("the same");
            assert_eq!(panic.downcast_ref::<OutOfMemory>(), Some(&error));
        }
        let text = OutOfMemory { bytes: 12 }.to_string();
        assert_eq!(text, "the system gave no memory of 12 bytes");
        assert_eq!(AlignedBuffer::try_zeroed(100).map(|buffer| buffer.bytes()), Ok(100));
    }

    #[test]
    fn buffers_of_any_size_are_aligned_and_zero() {
        for bytes in [0, 1, 63, 64, 65, LONG - 1, LONG, LONG + 1, 2 * LONG + 7, crate::LARGE] {
            // Freed memory that is used again has to be zero, too.
            for _ in 0..3 {
                let buffer = AlignedBuffer::zeroed(bytes);
                assert!(buffer.start().addr().get().is_multiple_of(ALIGNMENT), "{bytes} bytes");
                assert_eq!(buffer.bytes(), bytes);
                // SAFETY: invariant 1, and no other code knows the buffer.
                let all = unsafe { std::slice::from_raw_parts_mut(buffer.start().as_ptr(), bytes) };
                assert!(all.iter().all(|byte| *byte == 0), "{bytes} bytes");
                all.fill(0xff);
            }
        }
    }
}
