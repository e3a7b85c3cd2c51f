//! Local memory with a type: elements that a rank holds.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pantile_comm::MemoryBlock;
use pantile_kernels::{DType, Element};
use pantile_memory::OutOfMemory;

use crate::pool::Pool;
use crate::raw::{MemorySpan, TileMemory};

/// A rank's elements, contiguous and of one type. A tile that is *open* shares its memory with another
/// library, which touches it only while nothing runs.
pub struct Tile {
    elements: TileMemory,
    /// The pool that gets the memory back when the tile is dropped.
    pool: Option<Pool>,
    /// True once others know the memory, and may write it.
    open: AtomicBool,
}

impl Drop for Tile {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.give_back(self.memory(), self.dtype());
        }
    }
}

impl Tile {
    /// `len` zeros.
    ///
    /// # Panics
    /// With an [`OutOfMemory`] if there is not so much memory.
    #[must_use]
    pub fn zeroed(dtype: DType, len: usize) -> Self {
        Self::try_zeroed(dtype, len).unwrap_or_else(|error| std::panic::panic_any(error))
    }

    /// `len` zeros, if there is so much memory.
    ///
    /// # Errors
    /// How many bytes were asked for.
    pub fn try_zeroed(dtype: DType, len: usize) -> Result<Self, OutOfMemory> {
        let memory = MemoryBlock::try_zeroed(len.saturating_mul(dtype.bytes()))?;
        Ok(Self::given(memory, dtype, len))
    }

    /// No elements; costs nothing.
    pub(crate) fn empty() -> Self {
        static NOTHING: OnceLock<MemoryBlock> = OnceLock::new();
        let memory = NOTHING.get_or_init(|| MemoryBlock::zeroed(0)).clone();
        Self::given(memory, DType::Bool, 0)
    }

    /// Elements of any value in memory of a pool, which has at least as many bytes.
    pub(crate) fn pooled(memory: MemoryBlock, dtype: DType, len: usize, pool: Pool) -> Self {
        let elements = TileMemory::new(memory, dtype, len);
        Self { elements, pool: Some(pool), open: AtomicBool::new(false) }
    }

    /// The same memory under another name: for a program that reads it while it runs.
    pub(crate) fn alias(&self) -> Self {
        Self::of(self.elements.clone())
    }

    /// Memory that another rank shows, while it does.
    pub(crate) fn shown(memory: MemoryBlock, dtype: DType) -> Self {
        let len = memory.bytes() / dtype.bytes();
        Self::given(memory, dtype, len)
    }

    /// Memory that a peer or another library exposed, with so many elements.
    ///
    /// # Panics
    /// If it has not so many bytes, or is not aligned for the type.
    pub(crate) fn given(memory: MemoryBlock, dtype: DType, len: usize) -> Self {
        Self::of(TileMemory::new(memory, dtype, len))
    }

    fn of(elements: TileMemory) -> Self {
        Self { elements, pool: None, open: AtomicBool::new(false) }
    }

    /// From now on others may write its memory: no other array may have the same.
    pub fn set_open(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    /// True if others may write its memory.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// While testing, fills memory of any value with unexpected values: a reader of what was never
    /// written is found out.
    pub(crate) fn poisoned(mut self) -> Self {
        if cfg!(debug_assertions) {
            let byte = if self.dtype() == DType::Bool { 1 } else { 0xA5 };
            self.bytes_mut().fill(byte);
        }
        self
    }

    /// The elements of a vector, without copying them.
    #[must_use]
    pub fn from_vec<T: Element>(vector: Vec<T>) -> Self {
        Self::of(TileMemory::from_vec(vector))
    }

    /// The elements as a vector; without copying if they came as one.
    ///
    /// # Panics
    /// If the elements are of another type.
    #[must_use]
    pub fn into_vec<T: Element>(self) -> Vec<T> {
        assert!(self.dtype() == T::DTYPE, "a tile of {} is not one of {}", self.dtype(), T::DTYPE);
        if self.pool.is_some() {
            return self.to_vec();
        }
        let (memory, dtype, len) = (self.memory().clone(), self.dtype(), self.len());
        drop(self);
        match memory.into_owner().map(<Box<dyn Any + Send + Sync>>::downcast::<Vec<T>>) {
            Ok(Ok(vector)) => *vector,
            Ok(Err(_)) => unreachable!("a tile of this type was made from such a vector"),
            Err(memory) => Self::given(memory, dtype, len).to_vec(),
        }
    }

    /// A copy of the elements.
    ///
    /// # Panics
    /// If the elements are of another type.
    #[must_use]
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        self.as_slice().to_vec()
    }

    /// Type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.elements.dtype()
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements.
    ///
    /// # Panics
    /// If they are of another type.
    #[must_use]
    pub fn as_slice<T: Element>(&self) -> &[T] {
        self.elements.as_slice()
    }

    /// The elements, to be written.
    ///
    /// # Panics
    /// If they are of another type.
    #[must_use]
    pub fn as_mut_slice<T: Element>(&mut self) -> &mut [T] {
        self.elements.as_mut_slice()
    }

    /// The bytes of the elements.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.elements.as_bytes()
    }

    /// The elements whose bytes these are, in the machine's order; `None` if they are not a whole
    /// number of elements, or no truth values where those are asked for.
    #[must_use]
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Self> {
        let whole = bytes.len().is_multiple_of(dtype.bytes());
        if !whole || (dtype == DType::Bool && bytes.iter().any(|byte| *byte > 1)) {
            return None;
        }
        let mut tile = Self::zeroed(dtype, bytes.len() / dtype.bytes());
        tile.bytes_mut().copy_from_slice(bytes);
        Some(tile)
    }

    /// So many elements whose bytes a function writes, for example from a socket; `None` if it wrote
    /// no truth values where those are asked for.
    ///
    /// # Errors
    /// What the function says.
    ///
    /// # Panics
    /// If there is not so much memory.
    pub fn filled<E>(
        dtype: DType,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Self>, E> {
        // Bytes first: whatever is written, it is a valid element of these.
        let mut bytes = Self::zeroed(DType::U8, len.checked_mul(dtype.bytes()).expect("it fits"));
        fill(bytes.bytes_mut())?;
        if dtype == DType::Bool && bytes.as_bytes().iter().any(|byte| *byte > 1) {
            return Ok(None);
        }
        Ok(Some(Self::given(bytes.memory().clone(), dtype, len)))
    }

    /// The bytes of the elements, to be written by kernels, which write valid elements only.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.elements.bytes_mut()
    }

    /// Takes over the elements of another tile of the same type and length.
    ///
    /// # Panics
    /// If type or length differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.elements.copy_from(&other.elements);
    }

    /// The memory itself, for movements.
    pub(crate) fn memory(&self) -> &MemoryBlock {
        self.elements.block()
    }

    /// Where its elements lie, for loops.
    pub(crate) fn span(&self) -> MemorySpan {
        self.elements.span()
    }
}

impl Clone for Tile {
    /// A copy with memory of its own.
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.dtype(), self.len());
        copy.copy_from(self);
        copy
    }
}

impl fmt::Debug for Tile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tile({} of {})", self.len(), self.dtype())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_goes_in_and_out_without_moving() {
        let vector = vec![1.5_f64, 2.5];
        let start = vector.as_ptr();
        let mut tile = Tile::from_vec(vector);
        tile.as_mut_slice::<f64>()[1] = 7.0;
        let copy = tile.clone();
        let vector: Vec<f64> = tile.into_vec();
        assert_eq!((vector.as_ptr(), vector), (start, vec![1.5, 7.0]));
        assert_eq!(copy.to_vec::<f64>(), [1.5, 7.0]);
        assert_eq!(copy.into_vec::<f64>(), [1.5, 7.0]);
    }

    #[test]
    fn bytes_become_elements_if_they_are_some() {
        let tile = Tile::from_bytes(DType::U16, &[1, 0, 2, 0]).unwrap();
        assert_eq!(tile.to_vec::<u16>(), [1, 2]);
        assert!(Tile::from_bytes(DType::U16, &[1, 0, 2]).is_none());
        assert!(Tile::from_bytes(DType::Bool, &[1, 2]).is_none());
        assert_eq!(Tile::from_bytes(DType::Bool, &[1, 0]).unwrap().to_vec::<bool>(), [true, false]);
    }

    #[test]
    fn no_elements_are_elements_too() {
        assert!(Tile::from_vec(Vec::<bool>::new()).as_slice::<bool>().is_empty());
        assert!(Tile::zeroed(DType::C128, 0).is_empty());
        assert_eq!(Tile::zeroed(DType::Bool, 2).as_slice::<bool>(), [false, false]);
        assert_eq!(Tile::from_vec(vec![1_u16, 2]).as_bytes(), [1, 0, 2, 0]);
    }

    #[test]
    #[should_panic(expected = "a tile of f64 is not one of f32")]
    fn types_are_checked() {
        let _ = Tile::zeroed(DType::F64, 1).as_slice::<f32>();
    }
}
