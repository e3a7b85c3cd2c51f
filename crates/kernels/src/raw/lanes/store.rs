//! The outputs of a program, compared with their bytes, and blocks that are brought to them.

use super::load::{Strided, transfer};
use super::{CheckedSources, RawSource};
use crate::Error;
use crate::lanes::kernel::{EACH, LaneSlot};
use crate::lanes::operand_load::{element, inside};
use crate::lanes::program::LoopProgram;
use crate::lanes::run::StoreMode;
use crate::lanes::scratch::BlockFrame;
use crate::lanes::walk::DomainWalk;
use crate::pack::stream::{LINE, copy_run, write_non_temporal};

/// Where an output of a program goes, through a pointer; see [`OutputTarget`](crate::lanes::OutputTarget).
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

/// Brings outputs to their targets.
///
/// Invariant: R1 to R3 hold for sources and targets, at every position of the walk that they were compared
/// for.
pub(crate) struct Store<'a> {
    checked: CheckedSources<'a>,
    targets: &'a [RawTarget<'a>],
}

impl<'a> Store<'a> {
    /// These sources and then these targets, the operands of a walk over a domain that is not empty.
    ///
    /// # Errors
    /// If one reaches beyond its bytes.
    ///
    /// # Safety
    /// R1 and R3 of [`raw`](crate::raw), for the bytes of all of them, and as long as this is used.
    pub(super) unsafe fn new(
        program: &'a LoopProgram,
        sources: &'a [RawSource<'a>],
        targets: &'a [RawTarget<'a>],
        walk: &DomainWalk,
    ) -> Result<Self, Error> {
        // SAFETY: R1; promised by the caller.
        let checked = unsafe { CheckedSources::new(program, sources, walk)? };
        for (index, (target, dtype)) in targets.iter().zip(program.outputs()).enumerate() {
            inside(walk.reach(sources.len() + index), target.bytes, *dtype)?;
        }
        Ok(Self { checked, targets })
    }

    /// The program.
    pub(crate) fn program(&self) -> &'a LoopProgram {
        self.checked.program()
    }

    /// The sources.
    pub(crate) fn sources(&self) -> &'a [RawSource<'a>] {
        self.checked.list()
    }

    /// The targets.
    pub(crate) fn targets(&self) -> &'a [RawTarget<'a>] {
        self.targets
    }

    /// The sources, to be loaded.
    pub(crate) fn checked(&self) -> CheckedSources<'a> {
        self.checked
    }

    /// Computes a block of a row, or of rows that are joined, from the place of the walk on. The frame is
    /// prepared, and what repeats is in its slots.
    ///
    /// # Panics
    /// If the block has more elements than the frame has room for.
    pub(crate) fn compute(&self, walk: &DomainWalk, frame: &mut BlockFrame, block: (usize, usize)) {
        frame.check(self.program(), block.1);
        self.before(walk, frame, block.0);
        self.checked.load(walk, frame, block);
        self.checked.run(&frame.slots, &frame.prefetch_streams, block.1);
        self.checked.copy(frame, block.1);
        self.after(walk, frame, block);
    }

    /// Brings the slots of direct targets to a block.
    pub(crate) fn before(&self, walk: &DomainWalk, frame: &mut BlockFrame, first: usize) {
        for (index, target) in self.targets.iter().enumerate() {
            let operand = self.sources().len() + index;
            if matches!(frame.store_modes[index], StoreMode::Direct | StoreMode::NonTemporal) {
                let (place, _) = walk.offsets(operand, first);
                let start = element(target.start, place, self.program().outputs()[index]);
                let non_temporal = frame.store_modes[index] == StoreMode::NonTemporal
                    && start.addr().is_multiple_of(LINE);
                frame.slots[operand] = LaneSlot { start, step: EACH, non_temporal };
            }
        }
    }

    /// Brings a block to the other targets.
    fn after(&self, walk: &DomainWalk, frame: &BlockFrame, (first, count): (usize, usize)) {
        for (index, (target, dtype)) in
            self.targets.iter().zip(self.program().outputs()).enumerate()
        {
            let operand = self.sources().len() + index;
            let (place, stride) = walk.offsets(operand, first);
            let to = Strided { start: element(target.start, place, *dtype), stride };
            match frame.store_modes[index] {
                StoreMode::Direct | StoreMode::NonTemporal => continue,
                StoreMode::Streamed => {
                    let (from, own) = (frame.origin(self.program(), index), frame.block(operand));
                    let copy = if from.start == own { write_non_temporal } else { copy_run };
                    // SAFETY: R1, R2, R3, R4; `new` has compared the target, whose elements lie side by side.
                    unsafe { copy(from.start, to.start, count * dtype.bytes()) };
                    continue;
                }
                StoreMode::Copied => {}
            }
            let from = Strided { start: frame.slots[operand].start, stride: 1 };
            // SAFETY: R1, R2, R3, R4; `new` has compared the target, `BlockFrame::check` the count.
            unsafe { transfer(*dtype, [from, to], count, self.program().vectors()) };
        }
    }
}
