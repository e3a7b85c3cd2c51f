//! Memory that loops use again and again.

use crate::buffer::AlignedBuffer;
use crate::guard::guarded;

/// A buffer that grows as it is asked for more; its content is not kept then.
#[derive(Debug, Default)]
pub struct ScratchBuffer {
    buffer: Option<AlignedBuffer>,
}

impl ScratchBuffer {
    /// At least so many bytes, aligned to a cache line and initialised; exactly so many where buffers
    /// are guarded. Pointers from earlier calls are not valid any more.
    #[must_use]
    pub fn room(&mut self, bytes: usize) -> *mut u8 {
        let fits = |buffer: &AlignedBuffer| match guarded() {
            true => buffer.bytes() == bytes,
            false => buffer.bytes() >= bytes,
        };
        if !self.buffer.as_ref().is_some_and(fits) {
            // The old one goes first: both together are never needed.
            self.buffer = None;
        }
        self.buffer.get_or_insert_with(|| AlignedBuffer::zeroed(bytes)).start().as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_and_stays() {
        let mut scratch = ScratchBuffer::default();
        let first = scratch.room(100);
        assert!(first.addr().is_multiple_of(crate::ALIGNMENT));
        assert_eq!(scratch.room(100), first);
        let _ = scratch.room(5000);
        assert!(scratch.buffer.is_some_and(|buffer| buffer.bytes() >= 5000));
    }
}
