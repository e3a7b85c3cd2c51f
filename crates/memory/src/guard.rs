//! Buffers that end against a page without access, if `PANTILE_GUARD=1` asks for it.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buffer::ALIGNMENT;
use crate::raw::{MemoryAddress, PageMapping};

/// Above this number of guarded buffers only those of at least a page are: a system has a limit on
/// ranges of pages, and each buffer takes two.
const MANY: usize = 20_000;

/// Bytes of a page.
const PAGE: usize = 4096;

/// What lies beside a buffer in its pages.
const PATTERN: u8 = 0xC7;

/// Guarded buffers that exist now.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// True if buffers end against guard pages.
#[must_use]
pub fn guarded() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| std::env::var_os("PANTILE_GUARD").is_some_and(|value| value == "1"))
}

/// A buffer between a pattern and a page without access.
///
/// Invariant 1: the last page of the mapping has no access; the buffer's bytes lie in those before it,
/// all others of these have the pattern.
pub(crate) struct GuardedBuffer {
    mapping: PageMapping,
    /// Bytes of the pages with access.
    used: usize,
    before: usize,
    bytes: usize,
}

impl GuardedBuffer {
    /// So many zeros; none if guards were not asked for, there are too many, or the system has
    /// none.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if !guarded() || (bytes < PAGE && LIVE.load(Ordering::Relaxed) >= MANY) {
            return None;
        }
        let used = bytes.checked_next_multiple_of(PAGE)?.max(PAGE);
        let mut mapping = PageMapping::new(used.checked_add(PAGE)?)?;
        let before = used - bytes.next_multiple_of(ALIGNMENT);
        let closed = mapping.close_from(used);
        LIVE.fetch_add(1, Ordering::Relaxed);
        let mut made = Self { mapping, used, before, bytes };
        for range in made.beside() {
            made.mapping.fill(range, PATTERN);
        }
        closed.then_some(made)
    }

    /// The first byte of the buffer.
    pub(crate) fn start(&self) -> MemoryAddress {
        self.mapping.at(self.before..self.before + self.bytes)
    }

    /// Where the pattern lies: before and behind the buffer.
    fn beside(&self) -> [Range<usize>; 2] {
        [0..self.before, self.before + self.bytes..self.used]
    }

    /// The first place outside of the buffer that was written, counted from its start.
    fn broken(&self) -> Option<isize> {
        self.beside().into_iter().find_map(|range| {
            let start = range.start;
            let place = self.mapping.read(range).iter().position(|byte| *byte != PATTERN)?;
            Some((start + place).cast_signed() - self.before.cast_signed())
        })
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        if let Some(place) = self.broken() {
            let bytes = self.bytes;
            eprintln!("PANTILE_GUARD: byte {place} of a buffer of {bytes} bytes was written");
            std::process::abort();
        }
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}
