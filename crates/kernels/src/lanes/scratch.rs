//! Memory that calls use again and again: blocks, slots, loops.

use super::constant_stride::RowAdvance;
use super::interpreter::PASS;
use super::kernel::{EACH, LaneSlot};
use super::program::LoopProgram;
use super::run::StoreMode;
use super::walk::DomainWalk;
use crate::contract::Packed;
use crate::reduce::Sums;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Memory for running programs, for one thread at a time. Calls that use the same one again
/// allocate nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) walk: DomainWalk,
    pub(crate) frame: BlockFrame,
    /// Sums on their way, for each output of a reduction.
    pub(crate) sums: Vec<Sums>,
    packed: Packed,
}

impl Scratch {
    /// No memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Memory for the panels of products of matrices.
    pub fn packed(&mut self) -> &mut Packed {
        &mut self.packed
    }
}

/// The blocks of a program.
///
/// Invariants:
/// 1. `lines` has room for a block of the widest type for every slot, and a line more each; for
///    registers that are local, for a pass of the interpreter. Those lie close together: a place
///    that was just written must not be taken for another one 4096 bytes away.
#[derive(Debug, Default)]
pub(crate) struct BlockFrame {
    lines: pantile_memory::ScratchBuffer,
    /// Elements that a block has room for.
    room: usize,
    /// Where every slot is now: in a block of its own, or in memory of others.
    pub(crate) slots: Vec<LaneSlot>,
    /// The place that the same value of a whole row was taken from.
    pub(crate) taken: Vec<Option<isize>>,
    /// True for inputs whose blocks have the same row again and again.
    pub(crate) repeats: Vec<bool>,
    /// How outputs come to their targets.
    pub(crate) store_modes: Vec<StoreMode>,
    /// The inputs that are prefetched.
    pub(crate) prefetch_streams: Vec<usize>,
    /// The inputs whose rows are columns in memory.
    pub(crate) transposed: Vec<usize>,
    /// How slots move from row to row.
    pub(crate) row_advances: Vec<RowAdvance>,
    panels: pantile_memory::ScratchBuffer,
}

impl BlockFrame {
    /// Gives every slot of a program a block, and fills those of constants.
    pub(crate) fn prepare(&mut self, program: &LoopProgram) {
        // One line more than a block keeps blocks from competing for places in the cache.
        let each = (program.block() * program.widest).div_ceil(LINE) + 1;
        let few = PASS.div_ceil(LINE);
        let first = program.slots() - program.registers;
        let local = |slot: usize| slot >= first && program.local[slot - first];
        let lines =
            (0..program.slots()).map(|slot| if local(slot) { few } else { each }).sum::<usize>();
        let mut next = self.lines.room(lines * LINE);
        self.room = program.block();
        self.slots.clear();
        self.slots.extend((0..program.slots()).map(|slot| {
            let (step, lines) = if local(slot) { (0, few) } else { (EACH, each) };
            let start = next;
            next = next.wrapping_add(lines * LINE);
            LaneSlot { start, step, non_temporal: false }
        }));
        self.taken.clear();
        self.taken.resize(program.inputs.len(), None);
        self.repeats.clear();
        self.repeats.resize(program.inputs.len(), false);
        self.transposed.clear();
        self.row_advances.clear();
        self.prefetch_streams.clear();
        self.store_modes.clear();
        self.store_modes.resize(program.outputs.len(), StoreMode::Copied);
        let first = program.inputs.len() + program.outputs.len();
        for (index, value) in program.constants.iter().enumerate() {
            self.fill_scalar(program, first + index, value);
        }
    }

    /// So many bytes for each input that is transposed, one after the other; a multiple of a line.
    pub(crate) fn panels(&mut self, bytes: usize) -> *mut u8 {
        self.panels.room(bytes * self.transposed.len())
    }

    /// The block of a slot that stays in it.
    pub(crate) fn block(&self, slot: usize) -> *mut u8 {
        self.slots[slot].start
    }

    /// The same for writing so many elements.
    ///
    /// # Panics
    /// If the block has no room for them.
    pub(crate) fn block_of(&self, slot: usize, count: usize) -> *mut u8 {
        assert!(count <= self.room, "{count} elements, room for {}", self.room);
        self.block(slot)
    }

    /// Refuses to compute more elements at a time than blocks have room for, unless everything is
    /// written where it goes.
    ///
    /// # Panics
    /// If there are too many.
    pub(crate) fn check(&self, program: &LoopProgram, count: usize) {
        let direct = |mode: &StoreMode| matches!(mode, StoreMode::Direct | StoreMode::NonTemporal);
        let fits =
            count <= self.room || program.is_one_pass() && self.store_modes.iter().all(direct);
        assert!(fits, "{count} elements, room for {}", self.room);
    }

    /// The inputs that are prefetched.
    pub(crate) fn prefetch_streams(&self) -> &[usize] {
        &self.prefetch_streams
    }

    /// Where every slot is.
    pub(crate) fn slots(&self) -> &[LaneSlot] {
        &self.slots
    }

    /// Where an output is, or an origin of it that has a place for every element.
    pub(crate) fn origin(&self, program: &LoopProgram, output: usize) -> LaneSlot {
        let origin = self.slots[program.origins[output]];
        if origin.step == 0 { self.slots[program.inputs.len() + output] } else { origin }
    }
}
