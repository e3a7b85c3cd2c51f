//! Rows with a constant stride: from one to the next every slot moves by as many bytes.
//!
//! Finding every place of a row anew takes as long as computing some hundred elements.

use pantile_lanes::DType;

use super::kernel::LaneSlot;
use super::panel::PITCH;
use super::run::StoreMode;
use super::scratch::BlockFrame;
use super::walk::DomainWalk;
use crate::pack::stream::LINE;
use crate::raw::lanes::{RawSource, Store};
use crate::simd::prefetch;

/// How a slot comes from a row to the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowAdvance {
    slot: usize,
    bytes: isize,
    /// This slot is written with non-temporal stores, where rows begin with a line.
    non_temporal: bool,
    /// Bytes of an element of a source that is read where it lies.
    read: Option<usize>,
}

impl RowAdvance {
    /// Prefetches the elements of the next row.
    fn prefetch_next(&self, slots: &[LaneSlot], count: usize) {
        let Some(element) = self.read else { return };
        let row = slots[self.slot].start.wrapping_offset(self.bytes);
        for line in (0..count * element).step_by(LINE) {
            prefetch(row.wrapping_add(line).cast_const());
        }
    }

    #[inline]
    fn advance(&self, slots: &mut [LaneSlot]) {
        let slot = &mut slots[self.slot];
        slot.start = slot.start.wrapping_offset(self.bytes);
        slot.non_temporal = self.non_temporal && slot.start.addr().is_multiple_of(LINE);
    }
}

impl Store<'_> {
    /// Finds how slots move from row to row; false if a row takes more than moving them.
    pub(crate) fn find_row_advances(&self, walk: &DomainWalk, frame: &mut BlockFrame) -> bool {
        let step = |operand: usize, dtype: DType| {
            isize::try_from(walk.row_step(operand)).unwrap_or(0) * dtype.bytes().cast_signed()
        };
        for (slot, (source, dtype)) in
            self.sources().iter().zip(self.program().inputs()).enumerate()
        {
            let bytes = step(slot, *dtype);
            let (bytes, read) = match (source, walk.stride(slot)) {
                _ if frame.transposed.contains(&slot) => (PITCH.cast_signed(), None),
                (RawSource::Scalar(_), _) => continue,
                (RawSource::Memory { .. }, 0) if bytes == 0 => continue,
                (RawSource::Memory { .. }, 1) if *dtype != DType::Bool => {
                    (bytes, Some(dtype.bytes()))
                }
                _ => return false,
            };
            frame.row_advances.push(RowAdvance { slot, bytes, non_temporal: false, read });
        }
        for (index, dtype) in self.program().outputs().iter().enumerate() {
            let (slot, mode) = (self.sources().len() + index, frame.store_modes[index]);
            if !matches!(mode, StoreMode::Direct | StoreMode::NonTemporal) {
                return false;
            }
            let non_temporal = mode == StoreMode::NonTemporal;
            frame.row_advances.push(RowAdvance {
                slot,
                bytes: step(slot, *dtype),
                non_temporal,
                read: None,
            });
        }
        self.program().copies_nothing()
    }
}

/// Computes rows that follow each other from the one of the walk on, of each the same columns, as
/// one block; the walk stays at the last one. With `prefetches`, every row prefetches the next one:
/// where columns are few the hardware prefetcher hardly foresees it.
/// The frame is prepared and the row advances were found; slots of transposed sources are at their panels.
pub(crate) fn constant_stride_rows(
    walk: &mut DomainWalk,
    frame: &mut BlockFrame,
    store: &Store<'_>,
    (rows, block): (usize, (usize, usize)),
    prefetches: bool,
) {
    frame.check(store.program(), block.1);
    store.before(walk, frame, block.0);
    let checked = store.checked();
    checked.load(walk, frame, block);
    let BlockFrame { slots, row_advances, prefetch_streams, .. } = &mut *frame;
    for row in 0..rows {
        if prefetches && row + 1 < rows {
            row_advances.iter().for_each(|one| one.prefetch_next(slots, block.1));
        }
        checked.run(slots, prefetch_streams, block.1);
        row_advances.iter().for_each(|one| one.advance(slots));
    }
    walk.skip_rows(rows - 1);
}
