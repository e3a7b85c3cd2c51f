//! Memory that can be run.

use std::ptr::NonNull;

/// Pages with machine code: written once, and then only read and run.
pub(super) struct ExecutablePages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: R8; no method writes the pages once they exist.
unsafe impl Send for ExecutablePages {}
// SAFETY: R8; no method writes the pages once they exist.
unsafe impl Sync for ExecutablePages {}

impl ExecutablePages {
    /// Copies code into pages of its own; none if the system refuses.
    pub(super) fn new(code: &[u8]) -> Option<Self> {
        let bytes = code.len();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: R8; a new anonymous mapping touches nothing that exists.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let pages = Self { start: NonNull::new(start.cast())?, bytes };
        // SAFETY: R4, R8; the pages are mapped with the length of the code, and run only after this.
        let fixed = unsafe {
            code.as_ptr().copy_to_nonoverlapping(pages.start.as_ptr(), bytes);
            libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_EXEC)
        };
        (fixed == 0).then_some(pages)
    }

    /// Its first byte.
    pub(super) fn start(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for ExecutablePages {
    fn drop(&mut self) {
        // SAFETY: R8; start and length are those of the mapping, and private.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
