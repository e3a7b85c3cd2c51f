//! The inputs of a program, compared with their bytes, and brought to its slots block by block.

use pantile_lanes::Scalar;

use super::load::{Strided, ramp, transfer};
use crate::DType;
use crate::Error;
use crate::lanes::kernel::{EACH, LaneSlot};
use crate::lanes::operand_load::{element, inside};
use crate::lanes::program::LoopProgram;
use crate::lanes::scratch::BlockFrame;
use crate::lanes::walk::DomainWalk;

/// Where an input of a program comes from, through a pointer; see [`Source`](crate::lanes::Source).
#[derive(Clone, Copy, Debug)]
pub enum RawSource<'a> {
    /// Elements in memory.
    Memory {
        /// The first byte.
        start: *const u8,
        /// How many bytes there are.
        bytes: usize,
        /// The element at position 0, counted in lanes.
        offset: isize,
        /// Lanes from one position to the next, per axis of the domain.
        strides: &'a [isize],
    },
    /// A number that grows along the axes, wrapping; an `I64` lane.
    Index {
        /// Its value at position 0.
        start: i64,
        /// How much it grows from one position to the next, per axis.
        strides: &'a [i64],
    },
    /// The same value everywhere.
    Scalar(Scalar),
}

/// A program with sources that were compared with their bytes.
///
/// Invariant: R1 and R2 hold for the sources, at every position of the walk that they were compared for.
#[derive(Clone, Copy)]
pub(crate) struct CheckedSources<'a> {
    program: &'a LoopProgram,
    sources: &'a [RawSource<'a>],
}

impl<'a> CheckedSources<'a> {
    /// These sources, which are the first operands of a walk over a domain that is not empty.
    ///
    /// # Errors
    /// If one reaches beyond its bytes.
    ///
    /// # Safety
    /// R1 of [`raw`](crate::raw), for the bytes of all sources, and as long as this is used.
    pub(crate) unsafe fn new(
        program: &'a LoopProgram,
        sources: &'a [RawSource<'a>],
        walk: &DomainWalk,
    ) -> Result<Self, Error> {
        for (index, (source, dtype)) in sources.iter().zip(program.inputs()).enumerate() {
            if let RawSource::Memory { bytes, .. } = source {
                inside(walk.reach(index), *bytes, *dtype)?;
            }
        }
        Ok(Self { program, sources })
    }

    /// The program.
    pub(crate) fn program(&self) -> &'a LoopProgram {
        self.program
    }

    /// The sources.
    pub(crate) fn list(&self) -> &'a [RawSource<'a>] {
        self.sources
    }

    /// Brings the elements of a block to the slots of the inputs, or the slots to the elements.
    pub(crate) fn load(
        &self,
        walk: &DomainWalk,
        frame: &mut BlockFrame,
        (first, count): (usize, usize),
    ) {
        for (index, (source, dtype)) in self.sources.iter().zip(self.program.inputs()).enumerate() {
            match source {
                RawSource::Scalar(_) => {}
                _ if frame.repeats[index] => {}
                RawSource::Index { .. } => {
                    let (place, block) = (walk.place(index, first), frame.block_of(index, count));
                    // SAFETY: R4; `block_of` compares the count with the room, which is for lanes as wide.
                    unsafe { ramp(place, walk.stride(index), block, count) };
                }
                RawSource::Memory { start, .. } => {
                    let (place, stride) = walk.offsets(index, first);
                    let from = Strided { start: element(*start, place, *dtype), stride };
                    if stride == 0 {
                        if frame.taken[index] != Some(place) {
                            frame.taken[index] = Some(place);
                            // SAFETY: R1, R2; `new` has compared the reach of the source with its bytes.
                            unsafe { frame.fill(self.program, index, *dtype, from.start) };
                        }
                    } else if stride == 1 && *dtype != DType::Bool {
                        frame.slots[index] =
                            LaneSlot { start: from.start, step: EACH, non_temporal: false };
                    } else {
                        let to = Strided { start: frame.block_of(index, count), stride: 1 };
                        // SAFETY: R1, R2, R4; `new` has compared the source, `block_of` the count.
                        unsafe { transfer(*dtype, [from, to], count, self.program.vectors()) };
                    }
                }
            }
        }
    }

    /// Fills the slots of sources that do not go on from row to row: once for all blocks of so many
    /// rows if each is the same.
    ///
    /// # Panics
    /// If the rows are more than a block.
    pub(crate) fn repeat_rows(&self, walk: &DomainWalk, frame: &mut BlockFrame, rows: usize) {
        for (index, (source, dtype)) in self.sources.iter().zip(self.program.inputs()).enumerate() {
            if !frame.repeats[index] {
                continue;
            }
            let ((place, stride), step) = (walk.offsets(index, 0), walk.row_step(index));
            if step == 0 && frame.taken[index] == Some(place) {
                continue;
            }
            frame.taken[index] = Some(place);
            // Rows beyond the last one are filled only where they are the same.
            let rows = if step == 0 { rows } else { walk.rows_left().min(rows) };
            let mut start = frame.block_of(index, rows * walk.row());
            for row in 0..rows as i64 {
                match source {
                    RawSource::Scalar(_) => {}
                    RawSource::Index { .. } => {
                        let first = walk.place(index, 0).wrapping_add(step.wrapping_mul(row));
                        // SAFETY: R4; `block_of` compares the rows with the room, which is for lanes as wide.
                        unsafe { ramp(first, walk.stride(index), start, walk.row()) };
                    }
                    RawSource::Memory { start: memory, .. } => {
                        #[allow(clippy::cast_possible_truncation, reason = "checked to be inside")]
                        let place = place + (step * row) as isize;
                        let from = Strided { start: element(*memory, place, *dtype), stride };
                        let to = Strided { start, stride: 1 };
                        // SAFETY: R1, R2, R4; `new` has compared the source, `block_of` the rows.
                        unsafe { transfer(*dtype, [from, to], walk.row(), self.program.vectors()) };
                    }
                }
                start = start.wrapping_add(walk.row() * dtype.bytes());
            }
        }
    }
}
