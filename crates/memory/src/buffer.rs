//! The one place where memory for elements comes from.
#![allow(unsafe_code, reason = "allocates")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ptr::NonNull;

use crate::guard::Guarded;
use crate::pages::Mapping;

/// Start of every buffer: a cache line, enough for every vector instruction.
pub const ALIGNMENT: usize = 64;

/// Bytes that belong to this value alone.
///
/// Invariant 1: `start` is aligned to [`ALIGNMENT`], and `bytes` initialised bytes from it on may be
/// read and written as long as the value lives.
pub struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
    source: Source,
}

/// Where a buffer comes from, and how it is freed.
enum Source {
    Allocator(Layout),
    Pages { _mapping: Mapping },
    Guarded { _guarded: Guarded },
}

// SAFETY: a plain range of bytes without an owner elsewhere.
unsafe impl Send for Buffer {}
// SAFETY: reading and writing through the pointer is the business of those who do it.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// New bytes, all zero.
    ///
    /// # Panics
    /// If there is no such amount of memory.
    #[must_use]
    pub fn zeroed(bytes: usize) -> Self {
        if let Some(guarded) = Guarded::new(bytes) {
            let start = guarded.start();
            return Self { start, bytes, source: Source::Guarded { _guarded: guarded } };
        }
        if let Some(mapping) = Mapping::new(bytes) {
            let start = mapping.start();
            return Self { start, bytes, source: Source::Pages { _mapping: mapping } };
        }
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).expect("fits the machine");
        // SAFETY: the layout has a size of at least one.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        Self { start, bytes, source: Source::Allocator(layout) }
    }

    /// The first byte.
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Number of bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Source::Allocator(layout) = self.source {
            // SAFETY: `start` came from `alloc_zeroed` with this layout.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Buffer({} bytes)", self.bytes)
    }
}
