//! Rows whose places move evenly: from one to the next every slot goes on by as many bytes.
//!
//! Finding every place of a row anew takes as long as computing some hundred elements.

#![allow(unsafe_code, reason = "works through pointers; see the promises of the parent module")]

use pantile_lanes::DType;

use super::feed::{RawSource, load};
use super::kernel::Slot;
use super::panel::PITCH;
use super::run::{Store, Way};
use super::scratch::Frame;
use super::walk::Walk;
use crate::pack::stream::LINE;
use crate::simd::prefetch;

/// How a slot comes from a row to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    slot: usize,
    bytes: isize,
    /// What is written here goes past the caches, where rows begin with a line.
    past: bool,
    /// Bytes of an element of a source that is read where it lies.
    read: Option<usize>,
}

impl Move {
    /// Asks for the elements of the next row.
    fn ask(&self, slots: &[Slot], count: usize) {
        let Some(element) = self.read else { return };
        let row = slots[self.slot].start.wrapping_offset(self.bytes);
        for line in (0..count * element).step_by(LINE) {
            prefetch(row.wrapping_add(line).cast_const());
        }
    }

    #[inline]
    fn go(&self, slots: &mut [Slot]) {
        let slot = &mut slots[self.slot];
        slot.start = slot.start.wrapping_offset(self.bytes);
        slot.past = self.past && slot.start.addr().is_multiple_of(LINE);
    }
}

impl Store<'_> {
    /// Finds how slots move from row to row; false if a row takes more than moving them.
    pub(super) fn find_moves(&self, walk: &Walk, frame: &mut Frame) -> bool {
        let step = |operand: usize, dtype: DType| {
            isize::try_from(walk.row_step(operand)).unwrap_or(0) * dtype.bytes().cast_signed()
        };
        for (slot, (source, dtype)) in self.sources.iter().zip(self.program.inputs()).enumerate() {
            let bytes = step(slot, *dtype);
            let (bytes, read) = match (source, walk.stride(slot)) {
                _ if frame.turned.contains(&slot) => (PITCH.cast_signed(), None),
                (RawSource::Scalar(_), _) => continue,
                (RawSource::Memory { .. }, 0) if bytes == 0 => continue,
                (RawSource::Memory { .. }, 1) if *dtype != DType::Bool => {
                    (bytes, Some(dtype.bytes()))
                }
                _ => return false,
            };
            frame.moves.push(Move { slot, bytes, past: false, read });
        }
        for (index, dtype) in self.program.outputs().iter().enumerate() {
            let (slot, way) = (self.sources.len() + index, frame.ways[index]);
            if !matches!(way, Way::Direct | Way::Past) {
                return false;
            }
            let past = way == Way::Past;
            frame.moves.push(Move { slot, bytes: step(slot, *dtype), past, read: None });
        }
        self.program.copies_nothing()
    }
}

/// Computes rows that follow each other from the one of the walk on, of each the same columns, as one
/// block; the walk stays at the last one. With `asks`, every row asks for the next one: where
/// columns are few the processor hardly foresees it.
///
/// # Safety
/// Promises 1 and 2 of the parent module; sources and targets were checked, the frame is prepared and
/// the moves were found; slots of turned sources are at their panels.
pub(super) unsafe fn even_rows(
    walk: &mut Walk,
    frame: &mut Frame,
    store: &Store<'_>,
    (rows, block): (usize, (usize, usize)),
    asks: bool,
) {
    frame.check(store.program, block.1);
    store.before(walk, frame, block.0);
    // SAFETY: the caller's promises, for the first row.
    unsafe { load(store.program, store.sources, walk, frame, block) };
    let Frame { slots, moves, fronts, .. } = &mut *frame;
    for row in 0..rows {
        if asks && row + 1 < rows {
            moves.iter().for_each(|one| one.ask(slots, block.1));
        }
        // SAFETY: the caller's promises; slots are at the same columns of this row.
        unsafe { store.program.run(slots, fronts, block.1) };
        moves.iter().for_each(|one| one.go(slots));
    }
    walk.skip_rows(rows - 1);
}
