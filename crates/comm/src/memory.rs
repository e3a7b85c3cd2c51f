//! Memory that messages are sent from and received into, and that windows show.
#![allow(unsafe_code, reason = "hands out raw memory that outlives every message in flight")]

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use pantile_memory::{AlignedBuffer, OutOfMemory};

mod ranges;

pub use ranges::{Ranges, Scattered};

/// From this size on memory is in large pages.
pub const LARGE_PAGE: usize = pantile_memory::LARGE;

/// A block of bytes that lives as long as somebody refers to it: a transport that cannot end a
/// message keeps its memory alive instead of letting it dangle.
///
/// Clones refer to the same bytes. Reading and writing them is `unsafe`, because the type does not
/// say who may when; that is agreed by law 6 of [`Transport`](crate::Transport) and by the protocol
/// of [`Windows`](crate::Windows).
///
/// Invariants:
/// 1. `start` is valid for `bytes` bytes as long as `owner` lives.
/// 2. The bytes are initialised.
#[derive(Clone)]
pub struct Memory {
    block: Arc<Block>,
}

struct Block {
    start: NonNull<u8>,
    bytes: usize,
    owner: Owner,
}

enum Owner {
    /// Allocated here, until it is dropped.
    Own {
        /// Keeps the bytes.
        _buffer: AlignedBuffer,
    },
    /// Given by somebody else, who is dropped with the block.
    Given(Box<dyn Any + Send + Sync>),
}

// SAFETY: a block is a plain range of bytes; who may touch it when is the contract of the unsafe
// functions that reach it.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Memory {
    /// New memory, all zero, aligned to a cache line.
    ///
    /// # Panics
    /// With an [`OutOfMemory`] if there is no such amount of memory.
    #[must_use]
    pub fn zeroed(bytes: usize) -> Self {
        Self::of(AlignedBuffer::zeroed(bytes))
    }

    /// The same, if there is such an amount of memory.
    ///
    /// # Errors
    /// How many bytes were asked for.
    pub fn try_zeroed(bytes: usize) -> Result<Self, OutOfMemory> {
        AlignedBuffer::try_zeroed(bytes).map(Self::of)
    }

    fn of(buffer: AlignedBuffer) -> Self {
        let (start, bytes) = (buffer.start(), buffer.bytes());
        Self { block: Arc::new(Block { start, bytes, owner: Owner::Own { _buffer: buffer } }) }
    }

    /// Somebody else's memory, kept alive by `owner`.
    ///
    /// # Safety
    /// `start` is valid for reading and writing `bytes` initialised bytes as long as `owner` lives,
    /// and nobody but the holders of this memory touches them.
    #[must_use]
    pub unsafe fn given(
        start: NonNull<u8>,
        bytes: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self { block: Arc::new(Block { start, bytes, owner: Owner::Given(owner) }) }
    }

    /// The owner that was given, if this is the last reference to its memory.
    ///
    /// # Errors
    /// The memory itself, if it was not given or is still referred to.
    pub fn into_owner(self) -> Result<Box<dyn Any + Send + Sync>, Self> {
        if !matches!(self.block.owner, Owner::Given(_)) {
            return Err(self);
        }
        let mut block = Arc::try_unwrap(self.block).map_err(|block| Self { block })?;
        match std::mem::replace(&mut block.owner, Owner::Given(Box::new(()))) {
            Owner::Given(owner) => Ok(owner),
            _ => unreachable!("own memory was sent back above"),
        }
    }

    /// Number of bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.block.bytes
    }

    /// The first byte.
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        self.block.start
    }

    /// True if both are the same memory.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block)
    }

    /// True if nobody else refers to this memory.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        Arc::strong_count(&self.block) == 1
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self) -> Piece {
        Piece { memory: self.clone(), start: 0, bytes: self.bytes() }
    }

    /// The bytes `start..start + bytes`.
    ///
    /// # Panics
    /// If they are not inside.
    #[must_use]
    pub fn piece(&self, start: usize, bytes: usize) -> Piece {
        let inside = start.checked_add(bytes).is_some_and(|stop| stop <= self.bytes());
        assert!(inside, "bytes {start}+{bytes} of a memory of {}", self.bytes());
        Piece { memory: self.clone(), start, bytes }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Memory({} bytes)", self.bytes())
    }
}

/// A range of bytes of a [`Memory`]: the body of a message, or room for one.
///
/// Invariant 3: the range lies inside the memory.
#[derive(Clone, Debug)]
pub struct Piece {
    memory: Memory,
    start: usize,
    bytes: usize,
}

impl Piece {
    /// New memory with these bytes.
    #[must_use]
    pub fn copied_from(bytes: &[u8]) -> Self {
        let piece = Memory::zeroed(bytes.len()).whole();
        // SAFETY: nobody else knows this memory yet.
        unsafe { piece.as_mut_slice() }.copy_from_slice(bytes);
        piece
    }

    /// The memory it is a part of.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// True if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The first byte.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.memory.start().as_ptr().wrapping_add(self.start)
    }

    /// The bytes.
    ///
    /// # Safety
    /// Nobody writes them while the slice is in use.
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: invariants 1 to 3; the caller excludes writers.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// Nobody reads or writes them while the slice is in use.
    #[must_use]
    #[expect(clippy::mut_from_ref, reason = "exclusiveness is the caller's promise")]
    pub unsafe fn as_mut_slice(&self) -> &mut [u8] {
        // SAFETY: invariants 1 to 3; the caller excludes readers and writers.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_views_of_one_memory() {
        let memory = Memory::zeroed(10);
        let (left, right) = (memory.piece(0, 4), memory.piece(4, 6));
        // SAFETY: the two pieces do not overlap, and this thread has the only references.
        unsafe { left.as_mut_slice() }.fill(1);
        // SAFETY: as above.
        unsafe { right.as_mut_slice() }.fill(2);
        let whole = memory.whole();
        // SAFETY: nobody writes any more.
        assert_eq!(unsafe { whole.as_slice() }, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
        assert!(left.memory().is(&memory) && !memory.is_alone());
        assert_eq!(memory.start().as_ptr().addr() % pantile_memory::ALIGNMENT, 0);
        assert!(Memory::zeroed(0).whole().is_empty());
    }

    #[test]
    fn large_memory_is_zero_and_can_be_written_to_the_end() {
        for bytes in [LARGE_PAGE - 1, LARGE_PAGE, 3 * LARGE_PAGE + 17] {
            let whole = Memory::zeroed(bytes).whole();
            // SAFETY: this thread has the only reference.
            let slice = unsafe { whole.as_mut_slice() };
            assert!(slice.iter().all(|byte| *byte == 0));
            slice.fill(1);
            assert_eq!(slice.len(), bytes);
        }
    }

    #[test]
    #[should_panic(expected = "bytes 8+3 of a memory of 10")]
    fn a_piece_lies_inside() {
        let _ = Memory::zeroed(10).piece(8, 3);
    }

    #[test]
    fn given_memory_comes_back_when_nobody_else_has_it() {
        let mut vector = vec![1_u8, 2, 3];
        let start = NonNull::new(vector.as_mut_ptr()).expect("not null");
        // SAFETY: the vector is the owner and is not touched elsewhere.
        let memory = unsafe { Memory::given(start, 3, Box::new(vector)) };
        let other = memory.clone();
        let memory = memory.into_owner().expect_err("still referred to");
        drop(other);
        let owner = memory.into_owner().expect("the last reference");
        assert_eq!(*owner.downcast::<Vec<u8>>().expect("a vector"), [1, 2, 3]);
        assert!(Memory::zeroed(1).into_owner().is_err());
    }
}
