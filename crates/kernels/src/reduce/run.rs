//! Running reductions.

#![allow(unsafe_code, reason = "works through pointers; see the promises of `lanes`")]

use super::Fold;
use super::state::{Block, State};
use smallvec::SmallVec;

use crate::Error;
use crate::exact::Columns;
use crate::lanes::{
    Frame, Program, RawSource, Scratch, Source, Walk, add_sources, check_sources, counted,
    fill_scalars, joins_rows, load_block, repeat_rows,
};

/// What outputs are folded into.
#[derive(Debug)]
pub struct Folds<'a, 'b> {
    /// How each output is folded.
    pub folds: &'a [Fold],
    /// The cells of each output, started or with what other reductions gave.
    pub cells: &'a mut [&'b mut [u8]],
    /// The cell of position 0.
    pub offset: isize,
    /// Cells from one position to the next, per axis of the domain; 0 along folded axes.
    pub strides: &'a [isize],
}

/// Folds the outputs of a program over a domain of this shape into cells; see [`reduce_raw`].
///
/// # Errors
/// As of [`reduce_raw`]; a [`Source::Buffer`] is refused, because there are no buffers.
pub fn reduce(
    program: &Program,
    shape: &[usize],
    sources: &[Source<'_>],
    folds: &mut Folds<'_, '_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let sources: Result<Vec<RawSource<'_>>, Error> = (sources.iter())
        .map(|source| {
            source
                .raw(|buffer| Err(Error::Counts { what: "buffers", got: 0, expected: buffer + 1 }))
        })
        .collect();
    // SAFETY: the promises are those of the references.
    unsafe { reduce_raw(program, shape, &sources?, folds, scratch) }
}

/// Folds the outputs of a program over a domain of this shape into cells.
///
/// Words of sums that are in the cells already must be those that [`ExactSum`](crate::ExactSum)
/// writes, or sums of up to 2^29 such; afterwards they are such.
///
/// # Errors
/// If sources are not as many as inputs, or folds and cells as outputs, or they have other types
/// or numbers of axes; if a source reaches beyond its bytes, or the cells are too few, not whole
/// or not aligned. Nothing was written then.
///
/// # Safety
/// Promises 1 and 2 of [`lanes`](crate::lanes).
pub unsafe fn reduce_raw(
    program: &Program,
    shape: &[usize],
    sources: &[RawSource<'_>],
    folds: &mut Folds<'_, '_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let Scratch { walk, frame, columns } = scratch;
    let Folds { folds, cells, offset, strides } = folds;
    add_sources(program, shape, sources, walk)?;
    walk.operand(*offset as i64, strides.iter().map(|step| *step as i64), false)?;
    let outputs = program.outputs();
    counted("folds", folds.len(), outputs.len())?;
    counted("cells", cells.len(), outputs.len())?;
    columns.resize_with(columns.len().max(outputs.len()), Columns::default);
    let total = shape.iter().fold(size_of::<f64>(), |all, extent| all.saturating_mul(*extent));
    let folds = folds.iter().zip(outputs);
    let states: Result<SmallVec<[State<'_>; 4]>, Error> =
        (folds.zip(cells.iter_mut()).zip(columns))
            .map(|(((fold, dtype), cells), columns)| {
                State::new(*fold, *dtype, cells, (columns, program.vectors()), total)
            })
            .collect();
    let mut states = states?;
    if shape.contains(&0) {
        return Ok(());
    }
    check_sources(program, sources, walk)?;
    for state in &states {
        state.check(walk.reach(sources.len()))?;
    }
    walk.arrange_for(sources.len());
    frame.prepare(program);
    fill_scalars(program, sources, frame);
    let mut run = Run { program, sources, walk, frame, states: &mut states };
    // SAFETY: the promises are the caller's; the sources were checked.
    unsafe { run.all() };
    Ok(())
}

/// Columns whose windows stay in the first cache.
const COLUMNS: usize = 1024;

/// A reduction on its way. Made after the sources and the cells were checked.
struct Run<'a, 'b> {
    program: &'a Program,
    sources: &'a [RawSource<'a>],
    walk: &'a mut Walk,
    frame: &'a mut Frame,
    states: &'a mut [State<'b>],
}

impl Run<'_, '_> {
    /// # Safety
    /// Promises 1 and 2 of `lanes`; the sources were checked.
    unsafe fn all(&mut self) {
        let (row, longest) = (self.walk.row(), self.program.block());
        let operand = self.sources.len();
        let columns = self.walk.stride(operand) != 0;
        let block = if columns { longest.min(COLUMNS) } else { longest };
        let blocks = |first: usize| (first, block.min(row - first));
        loop {
            if columns {
                // Every element of a row has a cell of its own: all rows of a block of columns.
                let rows = longest / row;
                if rows > 1 && self.joins_rows() {
                    self.open((0, row));
                    // SAFETY: the promises are the caller's.
                    unsafe { self.fold_rows(rows) };
                    if !self.walk.advance_kept() {
                        return;
                    }
                    continue;
                }
                for block in (0..row).step_by(block).map(blocks) {
                    self.open(block);
                    // SAFETY: the promises are the caller's.
                    unsafe { self.fold(std::iter::once(block)) };
                }
            } else {
                self.open((0, 1));
                // SAFETY: the promises are the caller's.
                unsafe { self.fold((0..row).step_by(block).map(blocks)) };
            }
            if !self.walk.advance_kept() {
                return;
            }
        }
    }

    /// Whether several rows can be computed and folded as one block.
    fn joins_rows(&mut self) -> bool {
        self.walk.folded_rows().is_some()
            && self.states.iter().all(State::takes_rows)
            && joins_rows(self.sources, self.walk, self.frame)
    }

    /// Folds all rows that have the same cells, up to `most` of them at a time.
    ///
    /// # Safety
    /// Promises 1 and 2 of `lanes`; the sources were checked, and rows can be joined.
    unsafe fn fold_rows(&mut self, most: usize) {
        let row = self.walk.row();
        loop {
            let rows = self.walk.folded_rows().unwrap_or(1).min(most);
            let count = rows * row;
            // SAFETY: the promises are the caller's. Slots are blocks of our own or sources.
            unsafe {
                repeat_rows(self.program, self.sources, self.walk, self.frame, most);
                load_block(self.program, self.sources, self.walk, self.frame, (0, count));
                self.program.run(self.frame.slots(), count);
            }
            let (program, frame) = (self.program, &*self.frame);
            for (output, state) in self.states.iter_mut().enumerate() {
                // SAFETY: the output of the block was just computed.
                unsafe { state.fold_rows(Block { program, frame, output, count }) };
            }
            self.walk.skip_folded(rows - 1);
            if !self.walk.advance_folded() {
                break;
            }
        }
        self.states.iter_mut().for_each(State::close);
    }

    /// Turns to the cells of a block.
    fn open(&mut self, (first, count): (usize, usize)) {
        let place = self.walk.offsets(self.sources.len(), first);
        self.states.iter_mut().for_each(|state| state.open(place, count));
    }

    /// Folds all rows that have the same cells, block by block.
    ///
    /// # Safety
    /// Promises 1 and 2 of `lanes`; the sources were checked.
    unsafe fn fold(&mut self, blocks: impl Iterator<Item = (usize, usize)> + Clone) {
        loop {
            for block in blocks.clone() {
                // SAFETY: the promises are the caller's. Slots are blocks of our own or sources.
                unsafe {
                    load_block(self.program, self.sources, self.walk, self.frame, block);
                    let factors = self.program.factors(self.frame, block.1);
                    if let (Some(factors), [state]) = (factors, &mut *self.states)
                        && state.add_products(factors)
                    {
                        continue;
                    }
                    self.program.run(self.frame.slots(), block.1);
                }
                let (program, frame, count) = (self.program, &*self.frame, block.1);
                for (output, state) in self.states.iter_mut().enumerate() {
                    // SAFETY: the output of the block was just computed.
                    unsafe { state.fold(Block { program, frame, output, count }) };
                }
            }
            if !self.walk.advance_folded() {
                break;
            }
        }
        self.states.iter_mut().for_each(State::close);
    }
}
