//! Memory of the allocator.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::MemoryAddress;

/// Bytes of the allocator, all zero at first.
pub(crate) struct HeapMemory {
    start: MemoryAddress,
    layout: Layout,
}

impl HeapMemory {
    /// So many bytes, and one if these are none; nothing if no allocation has this size, or there is
    /// not so much memory.
    pub(crate) fn zeroed(bytes: usize, alignment: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1), alignment).ok()?;
        // SAFETY: R1; the layout has at least one byte.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?.into();
        Some(Self { start, layout })
    }

    /// The first byte at a multiple of `alignment`, where so many bytes follow.
    ///
    /// # Panics
    /// If they do not fit.
    pub(crate) fn aligned(&self, alignment: usize, bytes: usize) -> MemoryAddress {
        let skip = self.start.pointer().align_offset(alignment);
        let fits = skip.checked_add(bytes).is_some_and(|stop| stop <= self.layout.size());
        assert!(fits, "{bytes} bytes from byte {skip} of {}", self.layout.size());
        self.start.further(skip)
    }
}

impl Drop for HeapMemory {
    fn drop(&mut self) {
        // SAFETY: R1; start and layout are those of the allocation, and private.
        unsafe { dealloc(self.start.pointer().as_ptr(), self.layout) }
    }
}
