//! Running a program over a domain, through pointers.

#![allow(unsafe_code, reason = "works through pointers; see the promises of the parent module")]

use std::ops::Range;

use pantile_lanes::DType;

use super::constant_stride::constant_stride_rows;
use super::kernel::{EACH, LaneSlot};
use super::load::{Strided, transfer};
use super::moves::move_boxes;
use super::operand_load::{
    RawSource, add_sources, check_sources, counted, element, fill_scalars, inside, is_row,
    joins_rows, load, repeat_rows,
};
use super::panel::{each_panel, find_transposed};
use super::program::LoopProgram;
use super::scratch::{BlockFrame, Scratch};
use super::walk::DomainWalk;
use crate::Error;
use crate::pack::stream::{LINE, RUN_BYTES_MIN, copy_run, fence, write_non_temporal};
use crate::pack::worth_streaming;

/// Where an output of a program goes, through a pointer; see [`OutputTarget`](super::OutputTarget).
#[derive(Clone, Copy, Debug)]
pub struct RawTarget<'a> {
    /// The first byte.
    pub start: *mut u8,
    /// How many bytes there are.
    pub bytes: usize,
    /// The element at position 0, counted in lanes.
    pub offset: isize,
    /// Lanes from one position to the next, per axis of the domain.
    pub strides: &'a [isize],
}

/// Runs a program for every element of a domain of this shape.
///
/// # Errors
/// If sources or targets are not as many as inputs and outputs, have other types or numbers of
/// axes, or reach beyond their bytes. Nothing was written then.
///
/// # Safety
/// Promises 1 and 2 of [this module](super).
pub unsafe fn map_raw(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[RawSource<'_>],
    targets: &[RawTarget<'_>],
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let walk = &mut scratch.walk;
    add_sources(program, shape, sources, walk)?;
    counted("targets", targets.len(), program.outputs().len())?;
    for target in targets {
        walk.operand(target.offset as i64, target.strides.iter().map(|step| *step as i64), true)?;
    }
    if shape.contains(&0) {
        return Ok(());
    }
    check_sources(program, sources, walk)?;
    for (index, (target, dtype)) in targets.iter().zip(program.outputs()).enumerate() {
        inside(walk.reach(sources.len() + index), target.bytes, *dtype)?;
    }
    let store = Store { program, sources, targets };
    // SAFETY: promises 1 and 2; the elements of boxes were checked like all others.
    if unsafe { move_boxes(shape, &store, walk) } {
        return Ok(());
    }
    // SAFETY: promises 1 and 2; that elements lie inside of their bytes was just checked.
    unsafe { each_block(scratch, &store) };
    Ok(())
}

/// Computes all blocks of a domain that is not empty.
///
/// # Safety
/// Promises 1 and 2 of the parent module; sources and targets were checked.
unsafe fn each_block(scratch: &mut Scratch, store: &Store<'_>) {
    let (program, sources) = (store.program, store.sources);
    let Scratch { walk, frame, .. } = scratch;
    walk.arrange();
    frame.prepare(program);
    fill_scalars(program, sources, frame);
    store.choose_store_modes(walk, frame);
    store.find_prefetch_streams(walk, frame);
    let row = walk.row();
    // What is to be streamed must not leave the first cache before.
    let near = frame.store_modes.contains(&StoreMode::Streamed) && !program.instructions.is_empty();
    let longest = match near {
        true => program.block().min(NEAR),
        false if store.keeps_nothing(walk, frame) => row.max(program.block()),
        false => program.block(),
    };
    if find_transposed(program, sources, walk, frame) {
        // SAFETY: the caller's promises.
        return unsafe { each_panel(walk, frame, store, longest) };
    }
    if row <= longest / 2 && store.joins_rows(walk, frame) {
        // SAFETY: the caller's promises.
        return unsafe { each_join(walk, frame, store, longest / row) };
    }
    if row <= longest && store.lines_stay(walk, frame) && store.find_row_advances(walk, frame) {
        // SAFETY: the caller's promises.
        return unsafe { each_constant_stride(walk, frame, store) };
    }
    loop {
        let (mut first, lead) = (0, store.lead(walk, frame));
        while first < row {
            let count = if first < lead { lead - first } else { row - first };
            let block = (first, longest.min(count));
            // SAFETY: the caller's promises.
            unsafe { store.compute(walk, frame, block) };
            first += block.1;
        }
        if !walk.advance() {
            break;
        }
    }
    end_streams(frame);
}

/// Computes all rows of a domain, each as one block.
///
/// # Safety
/// Promises 1 and 2 of the parent module; sources and targets were checked, the frame is prepared,
/// and the moves were found.
unsafe fn each_constant_stride(walk: &mut DomainWalk, frame: &mut BlockFrame, store: &Store<'_>) {
    loop {
        let rows = (walk.rows_left(), (0, walk.row()));
        // SAFETY: the caller's promises.
        unsafe { constant_stride_rows(walk, frame, store, rows, false) };
        if !walk.advance() {
            break;
        }
    }
    end_streams(frame);
}

/// Computes all blocks of a domain whose rows are short, up to `most` of them as one.
///
/// # Safety
/// Promises 1 and 2 of the parent module; sources and targets were checked, the frame is prepared,
/// and rows can be joined.
unsafe fn each_join(walk: &mut DomainWalk, frame: &mut BlockFrame, store: &Store<'_>, most: usize) {
    loop {
        let rows = walk.folded_rows().unwrap_or(1).min(most);
        let block = (0, rows * walk.row());
        // SAFETY: the caller's promises.
        unsafe {
            repeat_rows(store.program, store.sources, walk, frame, most);
            store.compute(walk, frame, block);
        }
        walk.skip_rows(rows - 1);
        if !walk.advance() {
            break;
        }
    }
    end_streams(frame);
}

/// Makes what was written with non-temporal stores visible before anything that is written later.
pub(super) fn end_streams(frame: &BlockFrame) {
    if frame
        .store_modes
        .iter()
        .any(|mode| matches!(mode, StoreMode::Streamed | StoreMode::NonTemporal))
    {
        fence();
    }
}

/// More sources than this are not compared with each other.
const PREFETCH_STREAMS_MAX: usize = 32;

/// Elements of blocks that are streamed.
pub(super) const NEAR: usize = 512;

/// How an output is stored to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreMode {
    /// It is computed where it goes.
    Direct,
    /// It is computed where it goes, with non-temporal stores.
    NonTemporal,
    /// It is computed in a block, and written with non-temporal stores.
    Streamed,
    /// It is computed in a block, and copied.
    Copied,
}

/// The store mode of a target of so many bytes in rows of so many, side by side, that no other
/// operand has; `bytecode` is true if bytecode writes it and no instruction reads it.
fn store_mode(bytes: usize, row_bytes: usize, bytecode: bool) -> StoreMode {
    match worth_streaming(bytes) && row_bytes >= RUN_BYTES_MIN {
        true if bytecode => StoreMode::NonTemporal,
        true => StoreMode::Streamed,
        false => StoreMode::Direct,
    }
}

/// Brings outputs to their targets.
pub(super) struct Store<'a> {
    pub(super) program: &'a LoopProgram,
    pub(super) sources: &'a [RawSource<'a>],
    pub(super) targets: &'a [RawTarget<'a>],
}

impl Store<'_> {
    /// Finds the targets that may be written where they are, or with non-temporal stores: no other
    /// operand has their bytes.
    fn choose_store_modes(&self, walk: &DomainWalk, frame: &mut BlockFrame) {
        for (index, dtype) in self.program.outputs().iter().enumerate() {
            let operand = self.sources.len() + index;
            let alone = self.alone(walk, index, |_| true);
            let over = self.alone(walk, index, |other| !self.same_places(walk, other, index));
            frame.store_modes[index] = if walk.stride(operand) == 1 && alone {
                let bytecode = self.program.streamable[index];
                // Rows that are joined are as long as all of them.
                let rows =
                    if self.goes_on(walk, index) { walk.folded_rows().unwrap_or(1) } else { 1 };
                store_mode(
                    walk.elements() * dtype.bytes(),
                    rows * walk.row() * dtype.bytes(),
                    bytecode,
                )
            } else if walk.stride(operand) == 1 && over && self.program.last == Some(index) {
                // What was just read is in the caches.
                StoreMode::Direct
            } else {
                StoreMode::Copied
            };
        }
    }

    /// True if nothing is put into blocks: everything is read and written where it is, and rows need
    /// not be cut.
    fn keeps_nothing(&self, walk: &DomainWalk, frame: &BlockFrame) -> bool {
        let mut sources = self.sources.iter().zip(self.program.inputs()).enumerate();
        self.program.is_one_pass()
            && frame
                .store_modes
                .iter()
                .all(|mode| matches!(mode, StoreMode::Direct | StoreMode::NonTemporal))
            && self.program.outputs().iter().all(|dtype| *dtype != DType::Bool)
            && sources.all(|(index, (source, dtype))| match source {
                RawSource::Scalar(_) => true,
                RawSource::Index { .. } => false,
                RawSource::Memory { .. } => match walk.stride(index) {
                    0 => true,
                    1 => *dtype != DType::Bool,
                    _ => false,
                },
            })
    }

    /// Finds where large arrays are read for the first time, if elements of other rows are read as
    /// well: processors expect the next element of a row, but take several rows for too many.
    fn find_prefetch_streams(&self, walk: &DomainWalk, frame: &mut BlockFrame) {
        let row = walk.row();
        let dtypes = self.program.inputs();
        let widest = dtypes.iter().map(|dtype| dtype.bytes()).max().unwrap_or(0);
        if row < NEAR
            || self.sources.len() > PREFETCH_STREAMS_MAX
            || !worth_streaming(walk.elements() * widest)
        {
            return;
        }
        let rows = (0..self.sources.len()).filter(|source| is_row(self.sources, walk, *source));
        let mut several = false;
        frame.prefetch_streams.extend(rows.clone().filter(|source| {
            let own = self.bytes(walk, *source);
            let alike = |other: &usize| {
                other != source
                    && dtypes[*other] == dtypes[*source]
                    && walk.moves_alike(*source, *other)
            };
            let others = rows.clone().filter(alike).map(|other| self.bytes(walk, other));
            others.filter(|bytes| !apart(&own, bytes)).fold(true, |first, bytes| {
                let by = bytes.start - own.start;
                several |= by.unsigned_abs() > row as u128 / 2;
                first && by <= 0
            })
        }));
        // Non-temporal stores keep memory as busy as several rows do.
        if !several && !frame.store_modes.contains(&StoreMode::NonTemporal) {
            frame.prefetch_streams.clear();
        }
    }

    /// Whether rows that follow each other can be computed as one. Records the sources that are the
    /// same in each.
    fn joins_rows(&self, walk: &DomainWalk, frame: &mut BlockFrame) -> bool {
        walk.folded_rows().is_some()
            && (0..self.targets.len()).all(|target| self.goes_on(walk, target))
            && joins_rows(self.sources, walk, frame)
    }

    /// Whether the next row of a target begins where a row ends.
    fn goes_on(&self, walk: &DomainWalk, target: usize) -> bool {
        let operand = self.sources.len() + target;
        let row = i64::try_from(walk.row()).unwrap_or(i64::MAX);
        walk.stride(operand).checked_mul(row) == Some(walk.row_step(operand))
    }

    /// True if no other operand has bytes of a target; those are compared for which `looks_at` is
    /// true.
    pub(super) fn alone(
        &self,
        walk: &DomainWalk,
        target: usize,
        looks_at: impl Fn(usize) -> bool,
    ) -> bool {
        let operand = self.sources.len() + target;
        let own = self.bytes(walk, operand);
        let others = (0..self.sources.len() + self.targets.len()).filter(|other| *other != operand);
        others.filter(|other| looks_at(*other)).all(|other| apart(&own, &self.bytes(walk, other)))
    }

    /// Whether a source has the places of a target, one by one.
    fn same_places(&self, walk: &DomainWalk, source: usize, target: usize) -> bool {
        let Some(RawSource::Memory { start, .. }) = self.sources.get(source) else { return false };
        let (from, to) = (self.program.inputs()[source], self.program.outputs()[target]);
        let operand = self.sources.len() + target;
        let first = |start: *const u8, operand: usize, dtype: DType| {
            element(start, walk.offsets(operand, 0).0, dtype)
        };
        from.bytes() == to.bytes()
            && walk.moves_alike(source, operand)
            && first(*start, source, from) == first(self.targets[target].start, operand, to)
    }

    /// Elements of a row before the first whose place in a target that is written with non-temporal
    /// stores is that of a line.
    fn lead(&self, walk: &DomainWalk, frame: &BlockFrame) -> usize {
        let non_temporal =
            frame.store_modes.iter().position(|mode| *mode == StoreMode::NonTemporal);
        non_temporal
            .map_or(0, |index| {
                let dtype = self.program.outputs()[index];
                let (place, _) = walk.offsets(self.sources.len() + index, 0);
                let start = element(self.targets[index].start, place, dtype);
                start.align_offset(LINE) / dtype.bytes()
            })
            .min(walk.row())
    }

    /// True if no row of a target that is written with non-temporal stores begins within a line.
    fn lines_stay(&self, walk: &DomainWalk, frame: &BlockFrame) -> bool {
        let non_temporal =
            frame.store_modes.iter().position(|mode| *mode == StoreMode::NonTemporal);
        non_temporal.is_none_or(|index| {
            let bytes = self.program.outputs()[index].bytes() as i64;
            let step = walk.row_step(self.sources.len() + index) * bytes;
            self.lead(walk, frame) == 0 && step % LINE as i64 == 0
        })
    }

    /// Computes a block of a row, or of rows that are joined, from the place of the walk on.
    ///
    /// # Safety
    /// Promises 1 and 2 of the parent module; sources and targets were checked, the frame is
    /// prepared, and what repeats is in its slots.
    pub(super) unsafe fn compute(
        &self,
        walk: &DomainWalk,
        frame: &mut BlockFrame,
        block: (usize, usize),
    ) {
        frame.check(self.program, block.1);
        self.before(walk, frame, block.0);
        // SAFETY: the caller's promises. Slots are blocks or panels of our own, sources that were
        // checked, or targets that overlap no source and no other target.
        unsafe {
            load(self.program, self.sources, walk, frame, block);
            self.program.run(&frame.slots, &frame.prefetch_streams, block.1);
            self.program.copy(frame, block.1);
            self.after(walk, frame, block);
        }
    }

    /// Brings the slots of direct targets to a block.
    pub(super) fn before(&self, walk: &DomainWalk, frame: &mut BlockFrame, first: usize) {
        for (index, target) in self.targets.iter().enumerate() {
            let operand = self.sources.len() + index;
            if matches!(frame.store_modes[index], StoreMode::Direct | StoreMode::NonTemporal) {
                let (place, _) = walk.offsets(operand, first);
                let start = element(target.start, place, self.program.outputs()[index]);
                let non_temporal = frame.store_modes[index] == StoreMode::NonTemporal
                    && start.addr().is_multiple_of(LINE);
                frame.slots[operand] = LaneSlot { start, step: EACH, non_temporal };
            }
        }
    }

    /// Brings a block to the other targets.
    ///
    /// # Safety
    /// Promises 1 and 2 of the parent module; targets were checked and the block computed.
    unsafe fn after(&self, walk: &DomainWalk, frame: &BlockFrame, (first, count): (usize, usize)) {
        for (index, (target, dtype)) in self.targets.iter().zip(self.program.outputs()).enumerate()
        {
            let operand = self.sources.len() + index;
            let (place, stride) = walk.offsets(operand, first);
            let to = Strided { start: element(target.start, place, *dtype), stride };
            match frame.store_modes[index] {
                StoreMode::Direct | StoreMode::NonTemporal => continue,
                StoreMode::Streamed => {
                    let (from, own) = (frame.origin(self.program, index), frame.block(operand));
                    let copy = if from.start == own { write_non_temporal } else { copy_run };
                    // SAFETY: as below; the elements lie side by side.
                    unsafe { copy(from.start, to.start, count * dtype.bytes()) };
                    continue;
                }
                StoreMode::Copied => {}
            }
            let from = Strided { start: frame.slots[operand].start, stride: 1 };
            // SAFETY: the elements lie inside of the target, which was checked; the block is ours.
            unsafe { transfer(*dtype, [from, to], count, self.program.vectors()) };
        }
    }

    /// The addresses that an operand reaches; none if it is no memory.
    fn bytes(&self, walk: &DomainWalk, operand: usize) -> Range<i128> {
        let (start, dtype) = match self.sources.get(operand) {
            Some(RawSource::Memory { start, .. }) => (*start, self.program.inputs()[operand]),
            Some(_) => return 0..0,
            None => {
                let index = operand - self.sources.len();
                (self.targets[index].start.cast_const(), self.program.outputs()[index])
            }
        };
        let (lowest, highest) = walk.reach(operand);
        let bytes = dtype.bytes() as i128;
        let start = start.addr() as i128;
        start + lowest * bytes..start + (highest + 1) * bytes
    }
}

fn apart(one: &Range<i128>, other: &Range<i128>) -> bool {
    one.end <= other.start || other.end <= one.start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_targets_in_long_rows_are_streamed() {
        let large = (0..40).map(|power| 1 << power).find(|bytes| worth_streaming(*bytes));
        let large = large.expect("some size is large");
        let expected = [
            (large, RUN_BYTES_MIN, true, StoreMode::NonTemporal),
            (large, RUN_BYTES_MIN, false, StoreMode::Streamed),
            (large + 1, RUN_BYTES_MIN, true, StoreMode::NonTemporal),
            (large - 1, RUN_BYTES_MIN, true, StoreMode::Direct),
            (large - 1, RUN_BYTES_MIN, false, StoreMode::Direct),
            (large, RUN_BYTES_MIN - 1, true, StoreMode::Direct),
            (8, 8, true, StoreMode::Direct),
        ];
        for (bytes, row_bytes, bytecode, expected) in expected {
            assert_eq!(
                store_mode(bytes, row_bytes, bytecode),
                expected,
                "{bytes} in rows of {row_bytes}"
            );
        }
    }
}
