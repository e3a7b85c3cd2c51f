//! Buffers that end against a page without access, if `PANTILE_GUARD=1` asks for it.
#![allow(unsafe_code, reason = "maps pages and takes their access away")]

use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buffer::ALIGNMENT;

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
/// Invariant 1: `length` bytes from `base` were mapped for this value alone, the last page of them
/// without access; the buffer's bytes lie in those before it, all others of these have the pattern.
pub(crate) struct GuardedBuffer {
    base: NonNull<u8>,
    length: usize,
    before: usize,
    bytes: usize,
}

impl GuardedBuffer {
    /// So many zeros; none if guards were not asked for, there are too many, or the system has
    /// none.
    #[cfg(target_os = "linux")]
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if !guarded() || (bytes < PAGE && LIVE.load(Ordering::Relaxed) >= MANY) {
            return None;
        }
        let used = bytes.checked_next_multiple_of(PAGE)?.max(PAGE);
        let length = used.checked_add(PAGE)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping touches nothing that exists.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base.cast::<u8>())?;
        let before = used - bytes.next_multiple_of(ALIGNMENT);
        LIVE.fetch_add(1, Ordering::Relaxed);
        let made = Self { base, length, before, bytes };
        // SAFETY: the page lies at the end of the mapping, and no other code knows it yet.
        let closed =
            unsafe { libc::mprotect(base.as_ptr().add(used).cast(), PAGE, libc::PROT_NONE) };
        for (start, count) in made.beside() {
            // SAFETY: invariant 1; no other code knows these bytes.
            unsafe { base.as_ptr().add(start).write_bytes(PATTERN, count) };
        }
        (closed == 0).then_some(made)
    }

    /// None: other systems allocate as usual.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(_: usize) -> Option<Self> {
        None
    }

    /// The first byte of the buffer.
    pub(crate) fn start(&self) -> NonNull<u8> {
        // SAFETY: the buffer lies in the mapping (invariant 1).
        unsafe { self.base.add(self.before) }
    }

    /// Where the pattern lies: the first byte and the number of bytes, before and behind the buffer.
    fn beside(&self) -> [(usize, usize); 2] {
        let stop = self.before + self.bytes;
        [(0, self.before), (stop, self.length - PAGE - stop)]
    }

    /// The first place outside of the buffer that was written, counted from its start.
    fn broken(&self) -> Option<isize> {
        self.beside().into_iter().find_map(|(start, count)| {
            // SAFETY: invariant 1; no code may write there.
            let bytes = unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(start), count) };
            let place = bytes.iter().position(|byte| *byte != PATTERN)?;
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
        #[cfg(target_os = "linux")]
        // SAFETY: invariant 1.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), self.length);
        }
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}
