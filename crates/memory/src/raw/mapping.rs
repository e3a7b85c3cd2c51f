//! Pages of the system.

use std::ops::Range;
use std::ptr::NonNull;

use super::MemoryAddress;

/// Pages that the system mapped, zero until they are touched.
pub(crate) struct PageMapping {
    base: MemoryAddress,
    bytes: usize,
    /// Bytes from the start on that may be read and written.
    open: usize,
}

#[cfg(target_os = "linux")]
impl PageMapping {
    /// So many bytes in pages; none if the system has none.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: R1; a new anonymous mapping touches nothing that exists.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base.cast::<u8>())?.into();
        Some(Self { base, bytes, open: bytes })
    }

    /// Asks for large pages in a range that begins at the start of one; the system may refuse.
    pub(crate) fn prefer_large(&self, range: Range<usize>) {
        let start = self.at(range.clone()).pointer().as_ptr();
        // SAFETY: R2; `at` compares the range with the mapping, and contents stay as they are.
        unsafe { libc::madvise(start.cast(), range.len(), libc::MADV_HUGEPAGE) };
    }

    /// Takes access to all pages from this byte on away; false if the system refuses.
    pub(crate) fn close_from(&mut self, open: usize) -> bool {
        let range = open..self.open;
        let start = self.at(range.clone()).pointer().as_ptr();
        // SAFETY: R2; `at` compares the range with the mapping, and `open` keeps others out of it.
        let done = unsafe { libc::mprotect(start.cast(), range.len(), libc::PROT_NONE) };
        self.open = open;
        done == 0
    }
}

#[cfg(not(target_os = "linux"))]
impl PageMapping {
    /// None: other systems allocate as usual.
    pub(crate) fn new(_: usize) -> Option<Self> {
        None
    }

    /// Nothing to ask for.
    pub(crate) fn prefer_large(&self, _: Range<usize>) {}

    /// Never done.
    pub(crate) fn close_from(&mut self, _: usize) -> bool {
        false
    }
}

impl PageMapping {
    /// Where a range of bytes with access begins.
    ///
    /// # Panics
    /// If it does not lie inside.
    pub(crate) fn at(&self, range: Range<usize>) -> MemoryAddress {
        let inside = range.start <= range.end && range.end <= self.open;
        assert!(inside, "bytes {range:?} of {} in pages", self.open);
        self.base.further(range.start)
    }

    /// Bytes from the start to the first multiple of `alignment`.
    pub(crate) fn bytes_before(&self, alignment: usize) -> usize {
        self.base.pointer().align_offset(alignment)
    }

    /// Fills a range that is not lent.
    pub(crate) fn fill(&mut self, range: Range<usize>, byte: u8) {
        let start = self.at(range.clone()).pointer().as_ptr();
        // SAFETY: R2; `at` compares the range with the mapping, which is borrowed exclusively.
        unsafe { start.write_bytes(byte, range.len()) }
    }

    /// The bytes of a range that is not lent.
    pub(crate) fn read(&self, range: Range<usize>) -> &[u8] {
        let start = self.at(range.clone()).pointer().as_ptr();
        // SAFETY: R2; `at` compares the range with the mapping, whose pages are zero or were filled.
        unsafe { std::slice::from_raw_parts(start, range.len()) }
    }
}

impl Drop for PageMapping {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        // SAFETY: R1; start and length are those of the mapping, and private.
        unsafe {
            libc::munmap(self.base.pointer().as_ptr().cast(), self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    #[should_panic(expected = "bytes 4000..4097 of 4096 in pages")]
    fn closed_pages_are_not_handed_out() {
        let mut mapping = PageMapping::new(8192).expect("two pages");
        assert!(mapping.close_from(4096));
        mapping.fill(0..4096, 1);
        assert!(mapping.read(0..4096).iter().all(|byte| *byte == 1));
        let _ = mapping.at(4000..4097);
    }
}
