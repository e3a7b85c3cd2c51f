//! Memory that messages are sent from and received into, and that windows show.

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use pantile_memory::{AlignedBuffer, MemoryAddress, OutOfMemory};

/// From this size on memory is in large pages.
pub const LARGE_PAGE: usize = pantile_memory::LARGE;

/// A block of bytes that lives as long as a reference to it: a transport that cannot end a
/// message keeps its memory alive instead of letting it dangle.
///
/// Clones refer to the same bytes. Reading and writing them is `unsafe`, because the type does not
/// say which thread may when; that is agreed by law 6 of [`Transport`](crate::Transport) and by the
/// protocol of [`Windows`](crate::Windows).
///
/// Invariant: R1 of the folder.
#[derive(Clone)]
pub struct MemoryBlock {
    allocation: Arc<Allocation>,
}

struct Allocation {
    start: MemoryAddress,
    bytes: usize,
    owner: Owner,
}

enum Owner {
    /// Allocated here, until it is dropped.
    Own {
        /// Keeps the bytes.
        _buffer: AlignedBuffer,
    },
    /// Given by a caller, whose owner value is dropped with the allocation.
    Given(Box<dyn Any + Send + Sync>),
}

impl MemoryBlock {
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
        Self::new(start, bytes, Owner::Own { _buffer: buffer })
    }

    fn new(start: NonNull<u8>, bytes: usize, owner: Owner) -> Self {
        Self { allocation: Arc::new(Allocation { start: start.into(), bytes, owner }) }
    }

    /// The bytes of a vector, which comes back from [`MemoryBlock::into_owner`].
    #[must_use]
    pub fn from_vec(mut vector: Vec<u8>) -> Self {
        // Behind the vector's own borrow: it moves into the block, its bytes stay in place.
        let (start, bytes) = (NonNull::from(vector.as_mut_slice()).cast(), vector.len());
        Self::new(start, bytes, Owner::Given(Box::new(vector)))
    }

    /// Memory of another owner, kept alive by `owner`.
    ///
    /// # Safety
    /// `start` is valid for reading and writing `bytes` initialised bytes as long as `owner` lives,
    /// and only the holders of this memory touch them.
    #[must_use]
    pub unsafe fn given(
        start: NonNull<u8>,
        bytes: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self::new(start, bytes, Owner::Given(owner))
    }

    /// The owner that was given, if this is the last reference to its memory.
    ///
    /// # Errors
    /// The memory itself, if it was not given or is still referred to.
    pub fn into_owner(self) -> Result<Box<dyn Any + Send + Sync>, Self> {
        if !matches!(self.allocation.owner, Owner::Given(_)) {
            return Err(self);
        }
        let mut allocation =
            Arc::try_unwrap(self.allocation).map_err(|allocation| Self { allocation })?;
        match std::mem::replace(&mut allocation.owner, Owner::Given(Box::new(()))) {
            Owner::Given(owner) => Ok(owner),
            _ => unreachable!("own memory was sent back above"),
        }
    }

    /// Number of bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.allocation.bytes
    }

    /// The first byte.
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        self.allocation.start.pointer()
    }

    /// True if both are the same memory.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.allocation, &other.allocation)
    }

    /// True if this is the only reference to this memory.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        Arc::strong_count(&self.allocation) == 1
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self) -> MemorySlice {
        MemorySlice { memory: self.clone(), start: 0, bytes: self.bytes() }
    }

    /// The bytes `start..start + bytes`.
    ///
    /// # Panics
    /// If they are not inside.
    #[must_use]
    pub fn slice(&self, start: usize, bytes: usize) -> MemorySlice {
        let inside = start.checked_add(bytes).is_some_and(|stop| stop <= self.bytes());
        assert!(inside, "bytes {start}+{bytes} of a memory of {}", self.bytes());
        MemorySlice { memory: self.clone(), start, bytes }
    }
}

impl fmt::Debug for MemoryBlock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "MemoryBlock({} bytes)", self.bytes())
    }
}

/// A range of bytes of a [`MemoryBlock`]: the body of a message, or room for one.
///
/// Invariant: R2 of the folder.
#[derive(Clone, Debug)]
pub struct MemorySlice {
    memory: MemoryBlock,
    start: usize,
    bytes: usize,
}

impl MemorySlice {
    /// New memory with these bytes.
    #[must_use]
    pub fn copied_from(bytes: &[u8]) -> Self {
        let slice = MemoryBlock::zeroed(bytes.len()).whole();
        // SAFETY: R1; the block was made here, and no other thread knows it yet.
        unsafe { slice.as_mut_slice() }.copy_from_slice(bytes);
        slice
    }

    /// The memory it is a part of.
    #[must_use]
    pub fn memory(&self) -> &MemoryBlock {
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
    /// No thread writes them while the slice is in use.
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: R1, R2; `slice` compares the range with the block, and the caller excludes writers.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// No other thread reads or writes them while the slice is in use.
    #[must_use]
    #[expect(clippy::mut_from_ref, reason = "exclusiveness is the caller's promise")]
    pub unsafe fn as_mut_slice(&self) -> &mut [u8] {
        // SAFETY: R1, R2; `slice` compares the range with the block, and the caller excludes readers and
        // writers.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_views_of_one_memory() {
        let memory = MemoryBlock::zeroed(10);
        let (left, right) = (memory.slice(0, 4), memory.slice(4, 6));
        // SAFETY: the two slices do not overlap, and this thread has the only references.
        unsafe { left.as_mut_slice() }.fill(1);
        // SAFETY: as above.
        unsafe { right.as_mut_slice() }.fill(2);
        let whole = memory.whole();
        // SAFETY: no thread writes any more.
        assert_eq!(unsafe { whole.as_slice() }, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
        assert!(left.memory().is(&memory) && !memory.is_alone());
        assert_eq!(memory.start().as_ptr().addr() % pantile_memory::ALIGNMENT, 0);
        assert!(MemoryBlock::zeroed(0).whole().is_empty());
    }

    #[test]
    fn large_memory_is_zero_and_can_be_written_to_the_end() {
        for bytes in [LARGE_PAGE - 1, LARGE_PAGE, 3 * LARGE_PAGE + 17] {
            let whole = MemoryBlock::zeroed(bytes).whole();
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
        let _ = MemoryBlock::zeroed(10).slice(8, 3);
    }

    #[test]
    fn given_memory_comes_back_with_the_last_reference() {
        let memory = MemoryBlock::from_vec(vec![1, 2, 3]);
        let other = memory.clone();
        let memory = memory.into_owner().expect_err("still referred to");
        drop(other);
        let owner = memory.into_owner().expect("the last reference");
        assert_eq!(*owner.downcast::<Vec<u8>>().expect("a vector"), [1, 2, 3]);
        assert!(MemoryBlock::zeroed(1).into_owner().is_err());
    }
}
