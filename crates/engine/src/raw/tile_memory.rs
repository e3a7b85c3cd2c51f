//! The elements of a tile, as elements and as bytes.

use std::any::Any;
use std::ptr::NonNull;

use pantile_comm::MemoryBlock;
use pantile_kernels::{DType, Element};

use super::MemorySpan;

/// Memory with a type.
///
/// Invariants: R1 and R2 of the folder.
#[derive(Clone)]
pub(crate) struct TileMemory {
    memory: MemoryBlock,
    dtype: DType,
    len: usize,
}

impl TileMemory {
    /// The first elements of a memory, whose bytes are elements of this type.
    ///
    /// # Panics
    /// If it has not so many, or is not aligned for the type.
    pub(crate) fn new(memory: MemoryBlock, dtype: DType, len: usize) -> Self {
        let fits = len.checked_mul(dtype.bytes()).is_some_and(|bytes| bytes <= memory.bytes());
        assert!(fits, "{len} elements of {dtype} in {} bytes", memory.bytes());
        let aligned = memory.start().addr().get().is_multiple_of(dtype.align());
        assert!(aligned || len == 0, "elements of {dtype} out of line");
        Self { memory, dtype, len }
    }

    /// The elements of a vector, without copying them.
    pub(crate) fn from_vec<T: Element>(mut vector: Vec<T>) -> Self {
        let (len, bytes) = (vector.len(), std::mem::size_of_val(vector.as_slice()));
        let start = NonNull::from(vector.as_mut_slice()).cast();
        let owner: Box<dyn Any + Send + Sync> = Box::new(vector);
        // SAFETY: R2; the vector owns the bytes, is the block's owner now, and comes back out of it only.
        let memory = unsafe { MemoryBlock::given(start, bytes, owner) };
        Self::new(memory, T::DTYPE, len)
    }

    /// The memory itself.
    pub(crate) fn block(&self) -> &MemoryBlock {
        &self.memory
    }

    /// Type of the elements.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where the elements lie.
    pub(crate) fn span(&self) -> MemorySpan {
        MemorySpan::from(&self.memory).first(self.len * self.dtype.bytes())
    }

    /// The elements.
    ///
    /// # Panics
    /// If they are of another type.
    pub(crate) fn as_slice<T: Element>(&self) -> &[T] {
        let start = self.start_of::<T>();
        // SAFETY: R1, R2; `new` compares the length with the memory, `start_of` the type.
        unsafe { std::slice::from_raw_parts(start, self.len) }
    }

    /// The elements, to be written.
    ///
    /// # Panics
    /// If they are of another type.
    pub(crate) fn as_mut_slice<T: Element>(&mut self) -> &mut [T] {
        let start = self.start_of::<T>();
        // SAFETY: R1, R2; `new` compares the length with the memory, `start_of` the type.
        unsafe { std::slice::from_raw_parts_mut(start, self.len) }
    }

    fn start_of<T: Element>(&self) -> *mut T {
        assert!(self.dtype == T::DTYPE, "a tile of {} is not one of {}", self.dtype, T::DTYPE);
        self.memory.start().cast().as_ptr()
    }

    /// The bytes of the elements.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        let (start, bytes) = self.span().parts();
        // SAFETY: R1, R2; `new` compares the length with the memory, and any element is plain bytes.
        unsafe { std::slice::from_raw_parts(start, bytes) }
    }

    /// The bytes of the elements, to be written by kernels, which write valid elements only.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let (start, bytes) = self.span().parts();
        // SAFETY: R1, R2; `new` compares the length with the memory.
        unsafe { std::slice::from_raw_parts_mut(start, bytes) }
    }

    /// Takes over the elements of another memory.
    ///
    /// # Panics
    /// If type or length differ.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        assert!((self.dtype, self.len) == (other.dtype, other.len), "tiles of different kinds");
        super::copy_run(other.span(), self.span(), self.len, self.dtype.bytes());
    }
}
