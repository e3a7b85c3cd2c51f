//! Large memory in large pages: a tile whose columns are walked touches a page per row, and with
//! pages of 4 KiB most of the time goes into finding them.

#![allow(unsafe_code, reason = "maps pages")]

use std::ptr::NonNull;

/// From this size on memory is mapped in pages of this size, where the system can.
pub const LARGE: usize = 2 << 20;

/// Memory from the system, zero until it is touched.
///
/// Invariant 1: `length` bytes from `base` were mapped and belong to this value alone; `start` lies
/// in them, at least as many bytes before their end as were asked for.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    length: usize,
    start: NonNull<u8>,
}

#[cfg(target_os = "linux")]
impl Mapping {
    /// Memory of so many bytes; none if that is little, or the system has none.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if bytes < LARGE {
            return None;
        }
        let place = Self::place(bytes);
        let used = bytes.checked_add(place)?.checked_next_multiple_of(LARGE)?;
        let length = used.checked_add(LARGE)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping touches nothing that exists.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base.cast::<u8>())?;
        let skip = base.as_ptr().align_offset(LARGE);
        let first = base.as_ptr().wrapping_add(skip);
        // SAFETY: the range lies in the mapping; this is only a wish, and may be refused.
        unsafe { libc::madvise(first.cast(), used, libc::MADV_HUGEPAGE) };
        let start = NonNull::new(first.wrapping_add(place))?;
        Some(Self { base, length, start })
    }

    /// Where in its first page a memory of so many bytes begins. Each at another place: where several
    /// are walked at once, elements at the same distance from their starts would compete for the same
    /// banks of memory and the same places in caches. Only where that wastes little: a memory of one
    /// page would need two.
    fn place(bytes: usize) -> usize {
        use std::sync::atomic::{AtomicUsize, Ordering};
        const APART: usize = 64 << 10;
        const PLACES: usize = 16;
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        match bytes >= PLACES * LARGE {
            true => COUNT.fetch_add(1, Ordering::Relaxed) % PLACES * APART,
            false => 0,
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Mapping {
    /// None: other systems allocate as usual.
    pub(crate) fn new(_: usize) -> Option<Self> {
        None
    }
}

impl Mapping {
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        // SAFETY: invariant 1.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), self.length);
        }
    }
}
