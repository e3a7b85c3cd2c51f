//! Reductions of boxes: into the cells of a tile, by one thread or by several.

use pantile_kernels::lanes::{LoopProgram, Scratch};
use pantile_kernels::reduce::{FoldCell, Folds, LaneFold};
use pantile_kernels::{DType, Error as KernelError};
use smallvec::SmallVec;

use super::cut::{CutBox, FoldCells};
use super::loops::{BoxLoop, BoxPart, LoopContext, ProgramMemories};
use crate::raw::{Few, LoopOperands, fold_cells};
use crate::thread_pool::{ThreadPool, ThreadScratch};
use crate::{Error, Tile};

/// One number for each axis, on the stack.
type Strides = SmallVec<[isize; 16]>;

/// What is folded, and where to.
#[derive(Clone, Copy)]
struct Folding<'a> {
    program: &'a LoopProgram,
    folds: &'a [LaneFold],
    /// Cells from one index to the next, per axis; 0 along axes that are folded.
    strides: &'a [isize],
}

impl<'a> Folding<'a> {
    /// How outputs are folded, and their types.
    fn outputs(self) -> impl Iterator<Item = (LaneFold, DType)> + Clone + 'a {
        self.folds.iter().copied().zip(self.program.outputs().iter().copied())
    }

    /// The cells as a cut looks at them.
    fn cells(self) -> Result<FoldCells<'a>, Error> {
        let (mut bytes, mut merges) = (0, true);
        for (fold, dtype) in self.outputs() {
            match fold.of_parts() {
                Some(parts) => bytes += parts.cell(dtype)?.bytes(),
                None => merges = false,
            }
        }
        Ok(FoldCells { strides: self.strides, bytes, merges })
    }
}

impl BoxLoop {
    /// Folds the outputs of a program over the box into the cells of other tiles.
    pub(crate) fn fold(
        &self,
        program: &LoopProgram,
        folds: &[LaneFold],
        tiles: ProgramMemories<'_>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        let Some(first) = self.writes.first() else { return Ok(()) };
        // The cells of sums have many words; places count words.
        let cell = words(folds[0].cell(program.outputs()[0])?);
        let strides: Strides = first.strides.iter().map(|stride| stride / cell).collect();
        let folding = Folding { program, folds, strides: &strides };
        self.check_alike(folding)?;
        let thread_pool = context.thread_pool;
        let cut = match thread_pool.threads() {
            1 => None,
            _ => CutBox::of_fold(thread_pool, &self.shape, self.cost, folding.cells()?),
        };
        match cut {
            None => self.fold_piece(folding, tiles, &BoxPart::all(&self.shape), context.scratch),
            Some((cut, false)) => thread_pool.run(cut.pieces, &|number, thread_scratch| {
                let piece = BoxPart::of(&self.shape, &cut, number);
                self.fold_piece(folding, tiles, &piece, &mut thread_scratch.scratch)
            }),
            Some((cut, true)) => self.fold_apart(folding, tiles, thread_pool, &cut),
        }
    }

    /// Refuses outputs whose cells do not lie as those of the first one.
    ///
    /// # Panics
    /// If there are some: the lowering fuses no such folds.
    fn check_alike(&self, folding: Folding<'_>) -> Result<(), Error> {
        for (places, (fold, dtype)) in self.writes.iter().zip(folding.outputs()).skip(1) {
            let cell = words(fold.cell(dtype)?);
            let mut steps = places.strides.iter().zip(folding.strides);
            assert!(steps.all(|(one, first)| *one == first * cell), "folds of one loop lie alike");
        }
        Ok(())
    }

    /// Folds a piece that has its cells for itself.
    fn fold_piece(
        &self,
        folding: Folding<'_>,
        tiles: ProgramMemories<'_>,
        piece: &BoxPart,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let (mut cells, offset) = self.cells_of(folding, tiles, piece)?;
        let (folds, strides) = (folding.folds, folding.strides);
        let into = Folds { folds, cells: &mut cells, offset, strides };
        let mut operands = LoopOperands::default();
        self.read_into(tiles, piece, &mut operands);
        Ok(operands.reduce(folding.program, &piece.shape, into, scratch)?)
    }

    /// The cells of a piece in their tiles, for each output from the lowest to the highest, and which
    /// of them is that of the first index.
    fn cells_of<'a>(
        &self,
        folding: Folding<'_>,
        tiles: ProgramMemories<'a>,
        piece: &BoxPart,
    ) -> Result<(Few<&'a mut [u8]>, isize), Error> {
        let (lowest, count) = reach(&piece.shape, folding.strides);
        let shift = lowest + piece.shift(folding.strides);
        let mut cells = Few::new();
        for (places, (fold, dtype)) in self.writes.iter().zip(folding.outputs()) {
            let cell = fold.cell(dtype)?;
            let first = usize::try_from(places.offset / words(cell) + shift).unwrap_or(0);
            cells.push(fold_cells(tiles.at(places.tile), first, count, cell.bytes()));
        }
        Ok((cells, -lowest))
    }

    /// Folds pieces that have cells in common: every thread into cells of its own, which are merged
    /// then. The order does not matter to the bits.
    fn fold_apart(
        &self,
        folding: Folding<'_>,
        tiles: ProgramMemories<'_>,
        thread_pool: &ThreadPool,
        cut: &CutBox,
    ) -> Result<(), Error> {
        let (strides, count) = dense_strides(&self.shape, folding.strides);
        let folds: Option<Few<LaneFold>> =
            folding.folds.iter().map(|fold| fold.of_parts()).collect();
        let folds = folds.expect("only such folds are cut that can be merged");
        let own = Folding { folds: &folds, strides: &strides, ..folding };
        thread_pool.thread_scratches().for_each(|mut thread_scratch| thread_scratch.busy = false);
        thread_pool.run(cut.pieces, &|number, thread_scratch| {
            let piece = BoxPart::of(&self.shape, cut, number);
            if !std::mem::replace(&mut thread_scratch.busy, true) {
                start(thread_scratch, own, count)?;
            }
            let mut cells = parts(&mut thread_scratch.cells, own, count)?;
            let offset = piece.shift(&strides);
            let into = Folds { folds: &folds, cells: &mut cells, offset, strides: &strides };
            let mut operands = LoopOperands::default();
            self.read_into(tiles, &piece, &mut operands);
            Ok(operands.reduce(own.program, &piece.shape, into, &mut thread_scratch.scratch)?)
        })?;
        let mut thread_scratches =
            thread_pool.thread_scratches().filter(|thread_scratch| thread_scratch.busy);
        let Some(mut all) = thread_scratches.next() else { return Ok(()) };
        let mut all = parts(&mut all.cells, own, count)?;
        for mut thread_scratch in thread_scratches {
            let part = parts(&mut thread_scratch.cells, own, count)?;
            for ((cells, part), (fold, dtype)) in all.iter_mut().zip(part).zip(own.outputs()) {
                fold.merge(dtype, cells, part)?;
            }
        }
        self.merge(folding, tiles, (&strides, &all))
    }

    /// Merges cells that lie one after the other into those of the tiles.
    fn merge(
        &self,
        folding: Folding<'_>,
        tiles: ProgramMemories<'_>,
        (strides, parts): (&[isize], &[&mut [u8]]),
    ) -> Result<(), Error> {
        let (mut cells, first) = self.cells_of(folding, tiles, &BoxPart::all(&self.shape))?;
        for ((cells, part), (fold, dtype)) in cells.iter_mut().zip(parts).zip(folding.outputs()) {
            if strides == folding.strides {
                fold.merge(dtype, cells, part)?;
                continue;
            }
            let into = fold.cell(dtype)?.bytes();
            let from = fold.of_parts().unwrap_or(fold).cell(dtype)?.bytes();
            let mut merged: Result<(), KernelError> = Ok(());
            each(&self.shape, [folding.strides, strides], [first, 0], &mut |[to, at]| {
                let (to, at) = (to.cast_unsigned() * into, at.cast_unsigned() * from);
                let done = fold.merge(dtype, &mut cells[to..to + into], &part[at..at + from]);
                merged = std::mem::replace(&mut merged, Ok(())).and(done);
            });
            merged?;
        }
        Ok(())
    }
}

/// Starts the cells that a thread has of its own, so many for each output.
fn start(thread_scratch: &mut ThreadScratch, own: Folding<'_>, count: usize) -> Result<(), Error> {
    for (number, (fold, dtype)) in own.outputs().enumerate() {
        let bytes = fold.cell(dtype)?.bytes() * count;
        let needed = bytes.div_ceil(DType::I64.bytes());
        match thread_scratch.cells.get_mut(number) {
            Some(tile) if tile.len() >= needed => {}
            Some(tile) => *tile = Tile::zeroed(DType::I64, needed),
            None => thread_scratch.cells.push(Tile::zeroed(DType::I64, needed)),
        }
        fold.start(dtype, &mut thread_scratch.cells[number].bytes_mut()[..bytes])?;
    }
    Ok(())
}

/// The cells that a thread has of its own, so many for each output.
fn parts<'a>(
    cells: &'a mut [Tile],
    own: Folding<'_>,
    count: usize,
) -> Result<Few<&'a mut [u8]>, Error> {
    let mut parts = Few::new();
    for (tile, (fold, dtype)) in cells.iter_mut().zip(own.outputs()) {
        parts.push(&mut tile.bytes_mut()[..fold.cell(dtype)?.bytes() * count]);
    }
    Ok(parts)
}

/// The words of a cell, as places count them.
fn words(cell: FoldCell) -> isize {
    isize::try_from(cell.elements).unwrap_or(isize::MAX)
}

/// The lowest cell of a box, counted from that of the first index, and how many there are from there
/// to the highest.
fn reach(shape: &[usize], strides: &[isize]) -> (isize, usize) {
    let (mut lowest, mut highest) = (0, 0);
    for (length, stride) in shape.iter().zip(strides).filter(|(_, stride)| **stride != 0) {
        let Some(last) = length.checked_sub(1) else { return (0, 0) };
        let far = last.cast_signed() * stride;
        lowest += far.min(0);
        highest += far.max(0);
    }
    (lowest, (highest - lowest).unsigned_abs() + 1)
}

/// The strides of cells that lie one after the other, and how many there are.
fn dense_strides(shape: &[usize], strides: &[isize]) -> (Strides, usize) {
    let (mut dense, mut count) = (Strides::from_elem(0, shape.len()), 1);
    for axis in (0..shape.len()).rev().filter(|axis| strides[*axis] != 0) {
        dense[axis] = isize::try_from(count).unwrap_or(isize::MAX);
        count *= shape[axis];
    }
    (dense, count)
}

/// Calls `f` with the places of every cell of a box on two sides.
fn each(
    shape: &[usize],
    [one, other]: [&[isize]; 2],
    at: [isize; 2],
    f: &mut dyn FnMut([isize; 2]),
) {
    let Some((length, shape)) = shape.split_first() else { return f(at) };
    let steps = [one[0], other[0]];
    let count = if steps[0] == 0 { 1 } else { *length };
    for index in 0..count.cast_signed() {
        let at = [at[0] + index * steps[0], at[1] + index * steps[1]];
        each(shape, [&one[1..], &other[1..]], at, f);
    }
}
