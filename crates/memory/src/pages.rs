//! Large memory in large pages: a tile whose columns are walked touches a page per row, and with
//! pages of 4 KiB most of the time goes into finding them.

use crate::raw::{MemoryAddress, PageMapping};

/// From this size on memory is mapped in pages of this size, where the system can.
pub const LARGE: usize = 2 << 20;

/// Memory from the system, zero until it is touched.
pub(crate) struct LargePages {
    start: MemoryAddress,
    _mapping: PageMapping,
}

impl LargePages {
    /// Memory of so many bytes; none if that is little, or the system has none.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if bytes < LARGE {
            return None;
        }
        let place = Self::place(bytes);
        let used = bytes.checked_add(place)?.checked_next_multiple_of(LARGE)?;
        let mapping = PageMapping::new(used.checked_add(LARGE)?)?;
        let first = mapping.bytes_before(LARGE);
        mapping.prefer_large(first..first + used);
        let start = mapping.at(first + place..first + place + bytes);
        Some(Self { start, _mapping: mapping })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> MemoryAddress {
        self.start
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
