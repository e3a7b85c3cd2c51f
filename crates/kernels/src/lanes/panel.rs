//! Sources whose rows are columns in memory: they are transposed a panel of rows at a time.
//!
//! Reading such a row by itself takes one element of every line that it meets, and the next row
//! meets the same lines again when they are long gone.

use pantile_lanes::DType;

use super::constant_stride::constant_stride_rows;
use super::kernel::{EACH, LaneSlot};
use super::operand_load::element;
use super::program::LoopProgram;
use super::run::end_streams;
use super::scratch::BlockFrame;
use super::walk::DomainWalk;
use crate::pack::stream::LINE;
use crate::raw::lanes::{RawSource, Store};
use crate::simd::prefetch;

/// Rows of a panel: long enough for the columns of sources to be streams.
pub(crate) const ROWS: usize = 128;

/// Columns of a panel: long enough for other sources and targets to be streams.
pub(crate) const COLUMNS: usize = 128;

/// Bytes from one row of a panel to the next, with a line between them.
pub(crate) const PITCH: usize = COLUMNS * 8 + 64;

/// Records the sources whose next row is nearer than their next element; false if there are none.
/// The loops are arranged.
pub(crate) fn find_transposed(
    program: &LoopProgram,
    sources: &[RawSource<'_>],
    walk: &DomainWalk,
    frame: &mut BlockFrame,
) -> bool {
    for (index, (source, dtype)) in sources.iter().zip(program.inputs()).enumerate() {
        let (along, across) = (walk.stride(index).unsigned_abs(), walk.row_step(index));
        let nearer = across != 0 && across.unsigned_abs() < along;
        if nearer && *dtype != DType::Bool && matches!(source, RawSource::Memory { .. }) {
            frame.transposed.push(index);
        }
    }
    !frame.transposed.is_empty()
}

/// Computes all blocks of a domain, none longer than `longest`, panel by panel, down all rows
/// before the next columns: lines of the transposed sources that have more rows than a panel are
/// met again while they are near.
/// The frame is prepared and has transposed sources.
pub(crate) fn each_panel(
    walk: &mut DomainWalk,
    frame: &mut BlockFrame,
    store: &Store<'_>,
    longest: usize,
) {
    let row = walk.row();
    let constant_stride = store.find_row_advances(walk, frame);
    for first in (0..row).step_by(COLUMNS) {
        let count = COLUMNS.min(row - first);
        loop {
            let rows = walk.folded_rows().unwrap_or(1).min(ROWS);
            let panels = store.checked().transpose_panels(walk, frame, (rows, (first, count)));
            if constant_stride && count <= longest {
                frame.show(store.program(), panels, (0, 0));
                constant_stride_rows(walk, frame, store, (rows, (first, count)), true);
            } else {
                any_rows(walk, frame, store, (panels, rows, (first, count)), longest);
            }
            if !walk.advance() {
                break;
            }
        }
    }
    end_streams(frame);
}

/// The rows of panels: where they are, how many, and which columns: the first and their number.
type PanelRows = (*mut u8, usize, (usize, usize));

/// Computes the rows of panels, block by block; the walk stays at the last one.
fn any_rows(
    walk: &mut DomainWalk,
    frame: &mut BlockFrame,
    store: &Store<'_>,
    (panels, rows, (first, count)): PanelRows,
    longest: usize,
) {
    for row in 0..rows {
        if row + 1 < rows {
            prefetch_next_row(store, walk, frame, (first, count));
        }
        for done in (0..count).step_by(longest) {
            frame.show(store.program(), panels, (row, done));
            let block = (first + done, longest.min(count - done));
            store.compute(walk, frame, block);
        }
        if row + 1 < rows {
            walk.skip_rows(1);
        }
    }
}

/// Prefetches the next row of the sources that are not transposed: a row of a panel is so short
/// that the hardware prefetcher hardly foresees it.
fn prefetch_next_row(
    store: &Store<'_>,
    walk: &DomainWalk,
    frame: &BlockFrame,
    (first, count): (usize, usize),
) {
    for (index, (source, dtype)) in store.sources().iter().zip(store.program().inputs()).enumerate()
    {
        let RawSource::Memory { start, .. } = source else { continue };
        if walk.stride(index) != 1 || frame.transposed.contains(&index) {
            continue;
        }
        let next = isize::try_from(walk.row_step(index)).unwrap_or(0);
        let row = element(*start, walk.offsets(index, first).0.wrapping_add(next), *dtype);
        for line in (0..count * dtype.bytes()).step_by(LINE) {
            prefetch(row.wrapping_add(line).cast_const());
        }
    }
}

impl BlockFrame {
    /// Brings the slots of transposed inputs to a place in a row of their panels; they need no
    /// other load.
    fn show(&mut self, program: &LoopProgram, panels: *mut u8, (row, column): (usize, usize)) {
        for (number, index) in self.transposed.iter().enumerate() {
            let along = column * program.inputs()[*index].bytes();
            let start = panels.wrapping_add((number * ROWS + row) * PITCH + along);
            self.slots[*index] = LaneSlot { start, step: EACH, non_temporal: false };
            self.repeats[*index] = true;
        }
    }
}
