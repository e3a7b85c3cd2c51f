//! Running a program over a domain, through pointers.

use std::ops::Range;

use pantile_lanes::DType;

use super::constant_stride::constant_stride_rows;
use super::operand_load::{element, fill_scalars, is_row, joins_rows};
use super::panel::{each_panel, find_transposed};
use super::scratch::{BlockFrame, Scratch};
use super::walk::DomainWalk;
use crate::pack::stream::{LINE, RUN_BYTES_MIN, fence};
use crate::pack::worth_streaming;
use crate::raw::lanes::{RawSource, Store};

/// Computes all blocks of a domain that is not empty.
pub(crate) fn each_block(scratch: &mut Scratch, store: &Store<'_>) {
    let (program, sources) = (store.program(), store.sources());
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
        return each_panel(walk, frame, store, longest);
    }
    if row <= longest / 2 && store.joins_rows(walk, frame) {
        return each_join(walk, frame, store, longest / row);
    }
    if row <= longest && store.lines_stay(walk, frame) && store.find_row_advances(walk, frame) {
        return each_constant_stride(walk, frame, store);
    }
    loop {
        let (mut first, lead) = (0, store.lead(walk, frame));
        while first < row {
            let count = if first < lead { lead - first } else { row - first };
            let block = (first, longest.min(count));
            store.compute(walk, frame, block);
            first += block.1;
        }
        if !walk.advance() {
            break;
        }
    }
    end_streams(frame);
}

/// Computes all rows of a domain, each as one block.
/// The frame is prepared, and the moves were found.
fn each_constant_stride(walk: &mut DomainWalk, frame: &mut BlockFrame, store: &Store<'_>) {
    loop {
        let rows = (walk.rows_left(), (0, walk.row()));
        constant_stride_rows(walk, frame, store, rows, false);
        if !walk.advance() {
            break;
        }
    }
    end_streams(frame);
}

/// Computes all blocks of a domain whose rows are short, up to `most` of them as one.
/// The frame is prepared, and rows can be joined.
fn each_join(walk: &mut DomainWalk, frame: &mut BlockFrame, store: &Store<'_>, most: usize) {
    loop {
        let rows = walk.folded_rows().unwrap_or(1).min(most);
        let block = (0, rows * walk.row());
        store.checked().repeat_rows(walk, frame, most);
        store.compute(walk, frame, block);
        walk.skip_rows(rows - 1);
        if !walk.advance() {
            break;
        }
    }
    end_streams(frame);
}

/// Makes what was written with non-temporal stores visible before anything that is written later.
pub(crate) fn end_streams(frame: &BlockFrame) {
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
pub(crate) const NEAR: usize = 512;

/// How an output is stored to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreMode {
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

impl Store<'_> {
    /// Finds the targets that may be written where they are, or with non-temporal stores: no other
    /// operand has their bytes.
    fn choose_store_modes(&self, walk: &DomainWalk, frame: &mut BlockFrame) {
        for (index, dtype) in self.program().outputs().iter().enumerate() {
            let operand = self.sources().len() + index;
            let contiguous = walk.stride(operand) == 1;
            let over = || self.alone(walk, index, |other| !self.same_places(walk, other, index));
            frame.store_modes[index] = if contiguous && self.alone(walk, index, |_| true) {
                let bytecode = self.program().streamable[index];
                // Rows that are joined are as long as all of them.
                let rows =
                    if self.goes_on(walk, index) { walk.folded_rows().unwrap_or(1) } else { 1 };
                store_mode(
                    walk.elements() * dtype.bytes(),
                    rows * walk.row() * dtype.bytes(),
                    bytecode,
                )
            } else if contiguous && self.program().last == Some(index) && over() {
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
        let mut sources = self.sources().iter().zip(self.program().inputs()).enumerate();
        self.program().is_one_pass()
            && frame
                .store_modes
                .iter()
                .all(|mode| matches!(mode, StoreMode::Direct | StoreMode::NonTemporal))
            && self.program().outputs().iter().all(|dtype| *dtype != DType::Bool)
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
        let dtypes = self.program().inputs();
        let widest = dtypes.iter().map(|dtype| dtype.bytes()).max().unwrap_or(0);
        if row < NEAR
            || self.sources().len() > PREFETCH_STREAMS_MAX
            || !worth_streaming(walk.elements() * widest)
        {
            return;
        }
        let rows = (0..self.sources().len()).filter(|source| is_row(self.sources(), walk, *source));
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
            && (0..self.targets().len()).all(|target| self.goes_on(walk, target))
            && joins_rows(self.sources(), walk, frame)
    }

    /// Whether the next row of a target begins where a row ends.
    fn goes_on(&self, walk: &DomainWalk, target: usize) -> bool {
        let operand = self.sources().len() + target;
        let row = i64::try_from(walk.row()).unwrap_or(i64::MAX);
        walk.stride(operand).checked_mul(row) == Some(walk.row_step(operand))
    }

    /// True if no other operand has bytes of a target; those are compared for which `looks_at` is
    /// true.
    pub(crate) fn alone(
        &self,
        walk: &DomainWalk,
        target: usize,
        looks_at: impl Fn(usize) -> bool,
    ) -> bool {
        let operand = self.sources().len() + target;
        let own = self.bytes(walk, operand);
        let others =
            (0..self.sources().len() + self.targets().len()).filter(|other| *other != operand);
        others.filter(|other| looks_at(*other)).all(|other| apart(&own, &self.bytes(walk, other)))
    }

    /// Whether a source has the places of a target, one by one.
    fn same_places(&self, walk: &DomainWalk, source: usize, target: usize) -> bool {
        let Some(RawSource::Memory { start, .. }) = self.sources().get(source) else {
            return false;
        };
        let (from, to) = (self.program().inputs()[source], self.program().outputs()[target]);
        let operand = self.sources().len() + target;
        let first = |start: *const u8, operand: usize, dtype: DType| {
            element(start, walk.offsets(operand, 0).0, dtype)
        };
        from.bytes() == to.bytes()
            && walk.moves_alike(source, operand)
            && first(*start, source, from) == first(self.targets()[target].start, operand, to)
    }

    /// Elements of a row before the first whose place in a target that is written with non-temporal
    /// stores is that of a line.
    fn lead(&self, walk: &DomainWalk, frame: &BlockFrame) -> usize {
        let non_temporal =
            frame.store_modes.iter().position(|mode| *mode == StoreMode::NonTemporal);
        non_temporal
            .map_or(0, |index| {
                let dtype = self.program().outputs()[index];
                let (place, _) = walk.offsets(self.sources().len() + index, 0);
                let start = element(self.targets()[index].start, place, dtype);
                start.align_offset(LINE) / dtype.bytes()
            })
            .min(walk.row())
    }

    /// True if no row of a target that is written with non-temporal stores begins within a line.
    fn lines_stay(&self, walk: &DomainWalk, frame: &BlockFrame) -> bool {
        let non_temporal =
            frame.store_modes.iter().position(|mode| *mode == StoreMode::NonTemporal);
        non_temporal.is_none_or(|index| {
            let bytes = self.program().outputs()[index].bytes() as i64;
            let step = walk.row_step(self.sources().len() + index) * bytes;
            self.lead(walk, frame) == 0 && step % LINE as i64 == 0
        })
    }

    /// The addresses that an operand reaches; none if it is no memory.
    fn bytes(&self, walk: &DomainWalk, operand: usize) -> Range<i128> {
        let (start, dtype) = match self.sources().get(operand) {
            Some(RawSource::Memory { start, .. }) => (*start, self.program().inputs()[operand]),
            Some(_) => return 0..0,
            None => {
                let index = operand - self.sources().len();
                (self.targets()[index].start.cast_const(), self.program().outputs()[index])
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
