//! External buffers: elements that another library reads and writes, too.
//!
//! Nothing here is locked: the library that shares memory does not write while a program reads or writes it.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use pantile_comm::MemoryBlock;
use pantile_kernels::DType;
use pantile_memory::MemoryAddress;

use crate::Tile;

/// Elements anywhere in memory, evenly spaced along every axis, kept alive by their owner.
///
/// Invariant: R6 of the folder.
#[derive(Clone)]
pub struct ExternalBuffer {
    start: MemoryAddress,
    dtype: DType,
    shape: Vec<usize>,
    /// In bytes.
    strides: Vec<isize>,
    owner: Arc<dyn Any + Send + Sync>,
}

/// A place along an axis of a foreign section, and the place of the same element in a tile.
pub type Pick = (usize, usize);

/// Where the elements of a box lie in a tile: the first one, and how far neighbours along each axis
/// are apart, in elements.
#[derive(Clone, Debug)]
pub struct TilePlaces {
    /// The first element.
    pub first: usize,
    /// The distance of neighbours along each axis.
    pub strides: Vec<usize>,
}

impl ExternalBuffer {
    /// Elements of this shape, `strides` bytes apart.
    ///
    /// # Safety
    /// Every element lies in initialised memory that `owner` keeps, and that may be written unless no
    /// caller calls [`ExternalBuffer::write`].
    #[must_use]
    pub unsafe fn new(
        start: NonNull<u8>,
        dtype: DType,
        (shape, strides): (Vec<usize>, Vec<isize>),
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self { start: start.into(), dtype, shape, strides, owner }
    }

    /// The elements of a box of a tile. Writing them changes the tile.
    ///
    /// # Panics
    /// If the box is not inside.
    #[must_use]
    pub fn of_tile(tile: &Arc<Tile>, shape: Vec<usize>, places: &TilePlaces) -> Self {
        let size = tile.dtype().bytes();
        if !shape.contains(&0) {
            let steps = shape.iter().zip(&places.strides).map(|(n, stride)| (n - 1) * stride);
            assert!(places.first + steps.sum::<usize>() < tile.len(), "a box of the tile");
        }
        let first = if shape.contains(&0) { 0 } else { places.first };
        let signed = |stride: &usize| isize::try_from(stride * size).unwrap_or(isize::MAX);
        let strides = places.strides.iter().map(signed).collect();
        let start = MemoryAddress::from(tile.memory().start()).further(first * size);
        Self { start, dtype: tile.dtype(), shape, strides, owner: Arc::clone(tile) as _ }
    }

    /// The length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The same memory as a tile, if its elements lie in a row in row-major order, where elements
    /// of their type may lie.
    #[must_use]
    pub fn tile(&self) -> Option<Tile> {
        let size = self.dtype.bytes();
        let count: usize = self.shape.iter().product();
        let mut dense = isize::try_from(size).ok()?;
        for (length, stride) in self.shape.iter().zip(&self.strides).rev() {
            if count > 0 && *length > 1 && *stride != dense {
                return None;
            }
            dense = dense.checked_mul(isize::try_from((*length).max(1)).ok()?)?;
        }
        let alignment = match self.dtype {
            DType::C64 | DType::C128 => size / 2,
            _ => size,
        };
        if !self.start.pointer().as_ptr().addr().is_multiple_of(alignment) {
            return None;
        }
        let owner: Box<dyn Any + Send + Sync> = Box::new(Arc::clone(&self.owner));
        // SAFETY: R6; strides were found to be dense, and the tile is open from here on.
        let memory = unsafe { MemoryBlock::given(self.start.pointer(), count * size, owner) };
        let tile = Tile::given(memory, self.dtype, count);
        tile.set_open();
        Some(tile)
    }

    /// The owner of the memory.
    #[must_use]
    pub fn owner(&self) -> &Arc<dyn Any + Send + Sync> {
        &self.owner
    }

    /// Takes elements over into a tile: along each axis those of `picks`.
    ///
    /// # Panics
    /// If they are not inside of both, or the types differ.
    pub fn read(&self, picks: &[Vec<Pick>], places: &TilePlaces, tile: &mut Tile) {
        let truths = self.dtype == DType::Bool;
        let size = self.dtype.bytes();
        assert_eq!(self.dtype, tile.dtype(), "elements of one type");
        let bytes = tile.bytes_mut();
        self.each(picks, places, &mut |theirs, ours, count| {
            let room = &mut bytes[ours * size..][..count * size];
            // SAFETY: R6; `each` compares picks with the shape, and the tile is other memory.
            unsafe { std::ptr::copy_nonoverlapping(theirs, room.as_mut_ptr(), room.len()) };
            if truths {
                room.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            }
        });
    }

    /// Writes elements of a tile: along each axis those of `picks`.
    ///
    /// # Panics
    /// If they are not inside of both, or the types differ.
    pub fn write(&self, picks: &[Vec<Pick>], places: &TilePlaces, tile: &Tile) {
        let size = self.dtype.bytes();
        assert_eq!(self.dtype, tile.dtype(), "elements of one type");
        let bytes = tile.as_bytes();
        self.each(picks, places, &mut |theirs, ours, count| {
            let row = &bytes[ours * size..][..count * size];
            // SAFETY: R6; `each` compares picks with the shape. Where the tile is the same memory
            // nothing is written to another place.
            unsafe { std::ptr::copy(row.as_ptr(), theirs, row.len()) };
        });
    }

    /// Calls `f` with the address of elements in a row, their place in a tile and their number, until
    /// it has seen all of them.
    fn each(&self, picks: &[Vec<Pick>], places: &TilePlaces, f: Each<'_>) {
        assert_eq!((picks.len(), places.strides.len()), (self.shape.len(), self.shape.len()));
        for (list, length) in picks.iter().zip(&self.shape) {
            assert!(list.iter().all(|(theirs, _)| theirs < length), "picks inside of a section");
        }
        self.along(picks, places, (0, self.start.pointer().as_ptr(), places.first), f);
    }

    fn along(
        &self,
        picks: &[Vec<Pick>],
        places: &TilePlaces,
        (axis, theirs, ours): (usize, *mut u8, usize),
        f: Each<'_>,
    ) {
        let Some(list) = picks.get(axis) else { return f(theirs, ours, 1) };
        let (stride, step) = (self.strides[axis], places.strides[axis]);
        let at = |there: usize| theirs.wrapping_offset(stride.wrapping_mul(there.cast_signed()));
        let rows = axis + 1 == picks.len()
            && (stride.unsigned_abs(), stride > 0, step) == (self.dtype.bytes(), true, 1);
        if rows {
            let next = |one: &Pick, other: &Pick| (one.0 + 1, one.1 + 1) == *other;
            for row in list.chunk_by(next) {
                let (there, here) = row[0];
                f(at(there), ours + here, row.len());
            }
            return;
        }
        for (there, here) in list {
            self.along(picks, places, (axis + 1, at(*there), ours + here * step), f);
        }
    }
}

/// What is done with elements in a row: their address, their place in a tile, their number.
type Each<'a> = &'a mut dyn FnMut(*mut u8, usize, usize);

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(vector: Vec<i32>, shape: [usize; 2]) -> (ExternalBuffer, *const i32) {
        let owner = Arc::new(vector);
        let start = owner.as_ptr();
        let first = NonNull::new(start.cast_mut().cast()).unwrap();
        let strides = vec![4, 4 * isize::try_from(shape[0]).unwrap()];
        // SAFETY: the vector owns the elements, and there is no other reference to them.
        let foreign =
            unsafe { ExternalBuffer::new(first, DType::I32, (shape.to_vec(), strides), owner) };
        (foreign, start)
    }

    #[test]
    fn columns_become_rows_and_back() {
        let (foreign, start) = columns(vec![0, 10, 1, 11, 2, 12], [2, 3]);
        assert!(foreign.tile().is_none(), "not in a row");
        let places = TilePlaces { first: 0, strides: vec![3, 1] };
        let picks = vec![vec![(0, 0), (1, 1)], vec![(0, 0), (1, 1), (2, 2)]];
        let mut tile = Tile::zeroed(DType::I32, 6);
        foreign.read(&picks, &places, &mut tile);
        assert_eq!(tile.to_vec::<i32>(), [0, 1, 2, 10, 11, 12]);
        tile.as_mut_slice::<i32>()[5] = 7;
        foreign.write(&[vec![(1, 1)], vec![(2, 2)]], &places, &tile);
        // SAFETY: the vector is still there, and no thread writes it.
        assert_eq!(unsafe { *start.add(5) }, 7);
    }

    #[test]
    fn rows_are_a_tile_without_copying() {
        let tile = Arc::new(Tile::from_vec(vec![1_i64, 2, 3, 4, 5, 6]));
        let start = tile.as_bytes().as_ptr();
        let rows = TilePlaces { first: 3, strides: vec![3, 1] };
        let row = ExternalBuffer::of_tile(&tile, vec![1, 3], &rows);
        let same = row.tile().unwrap();
        assert_eq!(same.as_bytes().as_ptr(), start.wrapping_add(24));
        assert_eq!(same.to_vec::<i64>(), [4, 5, 6]);
        let inner = TilePlaces { first: 1, strides: vec![3, 1] };
        assert!(ExternalBuffer::of_tile(&tile, vec![2, 2], &inner).tile().is_none());
        assert_eq!(ExternalBuffer::of_tile(&tile, vec![0, 2], &inner).tile().unwrap().len(), 0);
    }

    #[test]
    #[should_panic(expected = "picks inside of a section")]
    fn nobody_reads_beyond_the_end() {
        let (foreign, _) = columns(vec![0; 6], [2, 3]);
        let places = TilePlaces { first: 0, strides: vec![3, 1] };
        foreign.read(&[vec![(2, 0)], vec![(0, 0)]], &places, &mut Tile::zeroed(DType::I32, 6));
    }
}
