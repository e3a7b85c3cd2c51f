//! What loops over tiles read and write: places in tiles, which kernels compare with the tiles' bytes.

use pantile_kernels::contract::{MatrixLayout, Packed, RawMatrix, contract_raw};
use pantile_kernels::lanes::{LoopProgram, RawSource, RawTarget, Scratch, map_raw};
use pantile_kernels::reduce::{Folds, reduce_raw};
use pantile_kernels::{DType, Error as KernelError};
use smallvec::SmallVec;

use crate::Tile;

/// Inputs and outputs of loops on the stack; more than so many cost an allocation.
pub(crate) type Few<T> = SmallVec<[T; 24]>;

/// The operands of a loop, all of them in tiles.
///
/// Invariant: every pointer is the start of a tile that lives as long as this, with its bytes.
#[derive(Default)]
pub(crate) struct LoopOperands<'a> {
    sources: Few<RawSource<'a>>,
    targets: Few<RawTarget<'a>>,
}

impl<'a> LoopOperands<'a> {
    /// Adds lanes of a tile to what is read.
    #[inline]
    pub(crate) fn read(&mut self, tile: &'a Tile, offset: isize, strides: &'a [isize]) {
        let (start, bytes) = tile.span().parts();
        self.sources.push(RawSource::Memory { start, bytes, offset, strides });
    }

    /// Adds a number that grows along the axes to what is read.
    #[inline]
    pub(crate) fn index(&mut self, start: i64, strides: &'a [i64]) {
        self.sources.push(RawSource::Index { start, strides });
    }

    /// Adds lanes of a tile to what is written.
    #[inline]
    pub(crate) fn write(&mut self, tile: &'a Tile, offset: isize, strides: &'a [isize]) {
        let (start, bytes) = tile.span().parts();
        self.targets.push(RawTarget { start, bytes, offset, strides });
    }

    /// Runs a program over a box.
    ///
    /// # Errors
    /// As of [`map_raw`].
    pub(crate) fn map(
        &self,
        program: &LoopProgram,
        shape: &[usize],
        scratch: &mut Scratch,
    ) -> Result<(), KernelError> {
        // SAFETY: R1, R4; `map_raw` compares sources and targets with the bytes of their tiles.
        unsafe { map_raw(program, shape, &self.sources, &self.targets, scratch) }
    }

    /// Folds what a program gives over a box into cells.
    ///
    /// # Errors
    /// As of [`reduce_raw`].
    pub(crate) fn reduce(
        &self,
        program: &LoopProgram,
        shape: &[usize],
        mut into: Folds<'_, '_>,
        scratch: &mut Scratch,
    ) -> Result<(), KernelError> {
        // SAFETY: R1, R4; `reduce_raw` compares sources with the bytes of their tiles, and counts cells.
        unsafe { reduce_raw(program, shape, &self.sources, &mut into, scratch) }
    }
}

/// So many cells of a tile from a cell on, as far as the tile has them; a cell has so many bytes. A fold
/// has a slot of its own, or one cell of it, and pieces that are folded at once have their own cells.
#[expect(clippy::mut_from_ref, reason = "R4: cells of a fold are its own")]
pub(crate) fn fold_cells(tile: &Tile, first: usize, count: usize, cell: usize) -> &mut [u8] {
    let (_, bytes) = tile.span().parts();
    let at = first.saturating_mul(cell).min(bytes);
    let len = count.saturating_mul(cell).min(bytes - at);
    let (start, _) = tile.span().skip(at).parts();
    // SAFETY: R1, R4; `at` and `len` are cut to the tile's bytes, and `MemorySpan::skip` compares them.
    unsafe { std::slice::from_raw_parts_mut(start, len) }
}

/// An operand of a product of matrices: its tile, the place of the first element, and strides.
pub(crate) type MatrixOperand<'a> = (&'a Tile, isize, &'a [isize]);

/// Products of matrices, from two tiles to a third.
///
/// # Errors
/// As of [`contract_raw`].
pub(crate) fn contract(
    loops: (DType, &[usize]),
    operands: [MatrixOperand<'_>; 3],
    packed: &mut Packed,
) -> Result<(), KernelError> {
    let raw = operands.map(|(tile, offset, strides)| {
        let (start, bytes) = tile.span().parts();
        RawMatrix { start, bytes, places: MatrixLayout { offset, strides } }
    });
    // SAFETY: R1, R4; `contract_raw` compares all three with the bytes of their tiles.
    unsafe { contract_raw(loops, raw, packed) }
}
