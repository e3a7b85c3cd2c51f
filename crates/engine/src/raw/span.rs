//! Memory that loops get by pointers, with its length: the last place where that is known.

use std::ptr::NonNull;

use pantile_comm::{MemoryBlock, MemorySlice};
use pantile_memory::MemoryAddress;

/// Where bytes lie, and how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemorySpan {
    start: MemoryAddress,
    bytes: usize,
}

impl MemorySpan {
    /// The bytes of a message, or room for one.
    pub(crate) fn of_piece(piece: &MemorySlice) -> Self {
        let start = NonNull::new(piece.as_ptr()).expect("a place in a block");
        Self { start: start.into(), bytes: piece.len() }
    }

    /// What lies from a byte on.
    ///
    /// # Panics
    /// If the byte lies behind the end.
    pub(crate) fn skip(self, at: usize) -> Self {
        assert!(at <= self.bytes, "byte {at} of {}", self.bytes);
        Self { start: self.start.further(at), bytes: self.bytes - at }
    }

    /// The first bytes of it.
    ///
    /// # Panics
    /// If there are not so many.
    pub(crate) fn first(self, bytes: usize) -> Self {
        assert!(bytes <= self.bytes, "{bytes} bytes of {}", self.bytes);
        Self { bytes, ..self }
    }

    /// The first byte, and how many there are.
    pub(super) fn parts(self) -> (*mut u8, usize) {
        (self.start.pointer().as_ptr(), self.bytes)
    }

    /// The first byte, of which so many elements are about to be read or written.
    ///
    /// # Panics
    /// If there are fewer.
    pub(super) fn holding(self, elements: usize, element_bytes: usize) -> *mut u8 {
        let fits = elements.checked_mul(element_bytes).is_some_and(|bytes| bytes <= self.bytes);
        assert!(fits, "{elements} elements of {element_bytes} bytes in {}", self.bytes);
        self.start.pointer().as_ptr()
    }
}

impl From<&MemoryBlock> for MemorySpan {
    fn from(memory: &MemoryBlock) -> Self {
        Self { start: memory.start().into(), bytes: memory.bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T>(what: impl FnOnce() -> T + std::panic::UnwindSafe) -> bool {
        std::panic::catch_unwind(what).is_err()
    }

    #[test]
    fn nothing_beyond_the_end_is_handed_out() {
        let memory = MemoryBlock::zeroed(24);
        let span = MemorySpan::from(&memory);
        for at in [0, 1, 8, 23, 24] {
            let rest = span.skip(at);
            let fits = (24 - at) / 8;
            assert_eq!(rest.holding(fits, 8), memory.start().as_ptr().wrapping_add(at));
            assert!(refused(move || rest.holding(fits + 1, 8)), "from {at}");
            assert!(refused(move || rest.holding(usize::MAX, 8)), "from {at}");
        }
        assert!(refused(move || span.skip(25)));
        let piece = MemorySpan::of_piece(&memory.slice(8, 8));
        assert_eq!(piece.holding(1, 8), memory.start().as_ptr().wrapping_add(8));
        assert!(refused(move || piece.holding(2, 8)));
    }
}
