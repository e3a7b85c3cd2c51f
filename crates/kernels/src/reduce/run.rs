//! Running reductions.

use super::LaneFold;
use std::ops::Range;

use super::rounded::Sums;
use super::state::{OutputBlock, OutputState};
use smallvec::SmallVec;

use crate::Error;
use crate::lanes::{
    BlockFrame, DomainWalk, LoopProgram, RawSource, Scratch, add_sources, counted, fill_scalars,
    joins_rows, prefetch_rows, reads_in_place,
};
use crate::raw::lanes::CheckedSources;

/// What outputs are folded into.
#[derive(Debug)]
pub struct Folds<'a, 'b> {
    /// How each output is folded.
    pub folds: &'a [LaneFold],
    /// The cells of each output, started or with what other reductions gave.
    pub cells: &'a mut [&'b mut [u8]],
    /// The cell of position 0.
    pub offset: isize,
    /// Cells from one position to the next, per axis of the domain; 0 along folded axes.
    pub strides: &'a [isize],
}

/// Folds the outputs of a program over a domain of this shape into cells; see [`reduce_raw`]. `check`
/// compares the sources with their bytes.
///
/// # Errors
/// As of [`reduce_raw`].
///
/// [`reduce_raw`]: crate::reduce::reduce_raw
pub(crate) fn fold_domain<'a>(
    (program, shape): (&'a LoopProgram, &[usize]),
    sources: &'a [RawSource<'a>],
    folds: &mut Folds<'_, '_>,
    scratch: &mut Scratch,
    check: impl FnOnce(&DomainWalk) -> Result<CheckedSources<'a>, Error>,
) -> Result<(), Error> {
    let Scratch { walk, frame, sums, .. } = scratch;
    let Folds { folds, cells, offset, strides } = folds;
    add_sources(program, shape, sources, walk)?;
    walk.operand(*offset as i64, strides.iter().map(|step| *step as i64), false)?;
    let outputs = program.outputs();
    counted("folds", folds.len(), outputs.len())?;
    counted("cells", cells.len(), outputs.len())?;
    sums.resize_with(sums.len().max(outputs.len()), Sums::default);
    let total = shape.iter().fold(size_of::<f64>(), |all, extent| all.saturating_mul(*extent));
    let folded = shape.iter().zip(*strides).filter(|(_, step)| **step == 0);
    let folded = folded.fold(1, |all: usize, (extent, _)| all.saturating_mul(*extent));
    // One by one where they stay: states are long, and moving a list of them takes its time.
    let mut states: SmallVec<[OutputState<'_>; 4]> = SmallVec::new();
    for (((fold, dtype), cells), sums) in folds.iter().zip(outputs).zip(cells.iter_mut()).zip(sums)
    {
        let sums = (sums, program.vectors());
        states.push(OutputState::new(*fold, *dtype, cells, sums, (total, folded))?);
    }
    if shape.contains(&0) {
        return nothing(shape, (*offset, strides), walk, &mut states);
    }
    let checked = check(walk)?;
    for state in &states {
        state.check(walk.reach(sources.len()))?;
    }
    walk.arrange_for(sources.len());
    frame.prepare(program);
    fill_scalars(program, sources, frame);
    let outputs_in_turn = 0..states.len();
    let mut run = ReductionRun { checked, walk, frame, states: &mut states, outputs_in_turn };
    run.all();
    Ok(())
}

/// Writes the sums of no elements, where folds need no start.
fn nothing(
    shape: &[usize],
    (offset, strides): (isize, &[isize]),
    walk: &mut DomainWalk,
    states: &mut [OutputState<'_>],
) -> Result<(), Error> {
    let kept: SmallVec<[usize; 8]> = shape
        .iter()
        .zip(strides)
        .map(|(extent, step)| if *step == 0 { 1 } else { *extent })
        .collect();
    if kept.contains(&0) || !states.iter().any(OutputState::is_rounded) {
        return Ok(());
    }
    walk.over(&kept);
    walk.operand(offset as i64, strides.iter().map(|step| *step as i64), false)?;
    for state in states.iter().filter(|state| state.is_rounded()) {
        state.check(walk.reach(0))?;
    }
    walk.arrange();
    loop {
        for element in 0..walk.row() {
            let place = walk.offsets(0, element);
            for state in states.iter_mut().filter(|state| state.is_rounded()) {
                state.open(place, 1);
                state.close();
            }
        }
        if !walk.advance() {
            return Ok(());
        }
    }
}

/// Columns whose binned accumulators stay in the first cache.
pub(super) const COLUMNS: usize = 1024;

/// Columns that are folded alone take so much longer than beside others.
pub(super) const ALONE: usize = 16;

/// A reduction on its way. Made after the sources and the cells were checked.
struct ReductionRun<'a, 'b> {
    checked: CheckedSources<'a>,
    walk: &'a mut DomainWalk,
    frame: &'a mut BlockFrame,
    states: &'a mut [OutputState<'b>],
    /// The outputs that are folded.
    outputs_in_turn: Range<usize>,
}

impl ReductionRun<'_, '_> {
    /// Folds the whole domain.
    fn all(&mut self) {
        let (row, longest) = (self.walk.row(), self.checked.program().block());
        let operand = self.checked.list().len();
        let columns = self.walk.stride(operand) != 0;
        let block = match columns {
            true => longest.min(COLUMNS),
            // What is only read need not be cut: the fold goes on without a pause.
            false if reads_in_place(self.checked.program(), self.checked.list(), self.walk) => row,
            false => longest,
        };
        let blocks = |first: usize| (first, block.min(row - first));
        let rows = longest / row;
        if !columns && rows > 1 && self.sums_rows() {
            return self.sum_rows(rows);
        }
        prefetch_rows(self.checked.program(), self.checked.list(), self.walk, self.frame);
        loop {
            if columns {
                // Every element of a row has a cell of its own: all rows of a block of columns.
                if rows > 1 && self.joins_rows() {
                    self.open((0, row));
                    self.fold_rows(rows);
                    self.settle(|run, _| {
                        run.open((0, row));
                        run.fold_rows(rows);
                    });
                    if !self.walk.advance_kept() {
                        return;
                    }
                    continue;
                }
                for block in (0..row).step_by(block).map(blocks) {
                    self.open(block);
                    self.fold(std::iter::once(block));
                    self.settle(|run, open| run.fold_columns(block, open));
                }
            } else {
                let parts = (0..row).step_by(block).map(blocks);
                self.open((0, 1));
                self.fold(parts.clone());
                self.settle(|run, _| {
                    run.open((0, 1));
                    run.fold(parts.clone());
                });
            }
            if !self.walk.advance_kept() {
                return;
            }
        }
    }

    /// Whether several rows can be computed and folded as one block.
    fn joins_rows(&mut self) -> bool {
        self.walk.folded_rows().is_some()
            && self.states.iter().all(OutputState::takes_rows)
            && joins_rows(self.checked.list(), self.walk, self.frame)
    }

    /// Whether rows of cells of their own can be computed and summed as one block.
    fn sums_rows(&mut self) -> bool {
        self.walk.kept_rows().is_some()
            && self.states.iter().all(OutputState::sums_rows)
            && joins_rows(self.checked.list(), self.walk, self.frame)
    }

    /// Sums all rows, each to its cell, up to `most` of them at a time.
    fn sum_rows(&mut self, most: usize) {
        let (row, operand) = (self.walk.row(), self.checked.list().len());
        #[allow(clippy::cast_possible_truncation, reason = "checked to lie inside of memory")]
        let step = self.walk.row_step(operand) as isize;
        loop {
            let rows = self.walk.kept_rows().unwrap_or(1).min(most);
            let count = rows * row;
            self.compute_rows(most, count);
            let (place, _) = self.walk.offsets(operand, 0);
            let (program, frame) = (self.checked.program(), &*self.frame);
            for (output, state) in self.states.iter_mut().enumerate() {
                let block = OutputBlock { program, frame, output, count };
                state.sum_rows(block, row, (place, step));
            }
            self.walk.skip_rows(rows - 1);
            if !self.walk.advance_kept() {
                return;
            }
        }
    }

    /// Refuses to compute more elements than blocks have room for.
    fn check(&self, count: usize) {
        if !self.checked.program().is_moving() {
            self.frame.check(self.checked.program(), count);
        }
    }

    /// Computes a block of rows that are joined.
    fn compute_rows(&mut self, most: usize, count: usize) {
        self.checked.repeat_rows(self.walk, self.frame, most);
        self.checked.load(self.walk, self.frame, (0, count));
        self.check(count);
        self.checked.run(self.frame.slots(), &[], count);
    }

    /// Folds again, exactly, what quick sums were not certain of: the columns of each output.
    fn settle(&mut self, mut again: impl FnMut(&mut Self, &[usize])) {
        for output in 0..self.states.len() {
            let open = self.states[output].take_open();
            if open.is_empty() {
                continue;
            }
            self.outputs_in_turn = output..output + 1;
            self.states[output].set_exact(true);
            again(self, &open);
            self.states[output].set_exact(false);
            self.outputs_in_turn = 0..self.states.len();
        }
    }

    /// Folds some columns of a block, one by one if they are few.
    fn fold_columns(&mut self, (first, count): (usize, usize), some: &[usize]) {
        let few = some.len() * ALONE <= count;
        let blocks = if few { some } else { &[0] };
        for column in blocks {
            let block = (first + column, if few { 1 } else { count });
            self.open(block);
            self.fold(std::iter::once(block));
        }
    }

    /// Folds all rows that have the same cells, up to `most` of them at a time.
    fn fold_rows(&mut self, most: usize) {
        let row = self.walk.row();
        loop {
            let rows = self.walk.folded_rows().unwrap_or(1).min(most);
            let count = rows * row;
            self.compute_rows(most, count);
            let (program, frame) = (self.checked.program(), &*self.frame);
            for output in self.outputs_in_turn.clone() {
                let state = &mut self.states[output];
                state.fold_rows(OutputBlock { program, frame, output, count });
            }
            self.walk.skip_rows(rows - 1);
            if !self.walk.advance_folded() {
                break;
            }
        }
        self.states[self.outputs_in_turn.clone()].iter_mut().for_each(OutputState::close);
    }

    /// Selects the cells of a block.
    fn open(&mut self, (first, count): (usize, usize)) {
        let place = self.walk.offsets(self.checked.list().len(), first);
        let states = &mut self.states[self.outputs_in_turn.clone()];
        states.iter_mut().for_each(|state| state.open(place, count));
    }

    /// Folds all rows that have the same cells, block by block.
    fn fold(&mut self, blocks: impl Iterator<Item = (usize, usize)> + Clone) {
        loop {
            for block in blocks.clone() {
                self.checked.load(self.walk, self.frame, block);
                let factors = self.checked.factors(self.frame, block.1);
                if let (Some(factors), [state]) = (factors, &mut *self.states)
                    && state.add_products(factors)
                {
                    continue;
                }
                self.check(block.1);
                self.checked.run(self.frame.slots(), self.frame.prefetch_streams(), block.1);
                let (program, frame, count) = (self.checked.program(), &*self.frame, block.1);
                for output in self.outputs_in_turn.clone() {
                    let state = &mut self.states[output];
                    state.fold(OutputBlock { program, frame, output, count });
                }
            }
            if !self.walk.advance_folded() {
                break;
            }
        }
        self.states[self.outputs_in_turn.clone()].iter_mut().for_each(OutputState::close);
    }
}
