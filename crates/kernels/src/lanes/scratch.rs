//! Memory that calls use again and again: blocks, slots, loops.

#![allow(unsafe_code, reason = "computes places inside of its own memory")]

use pantile_lanes::DType;

use super::constant_stride::RowAdvance;
use super::interpreter::PASS;
use super::kernel::{CHUNK, EACH, LaneSlot};
use super::load::{Strided, transfer};
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
    pub(super) slots: Vec<LaneSlot>,
    /// The place that the same value of a whole row was taken from.
    pub(super) taken: Vec<Option<isize>>,
    /// True for inputs whose blocks have the same row again and again.
    pub(super) repeats: Vec<bool>,
    /// How outputs come to their targets.
    pub(super) store_modes: Vec<StoreMode>,
    /// The inputs that are prefetched.
    pub(super) prefetch_streams: Vec<usize>,
    /// The inputs whose rows are columns in memory.
    pub(super) transposed: Vec<usize>,
    /// How slots move from row to row.
    pub(super) row_advances: Vec<RowAdvance>,
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
            // SAFETY: invariant 1, the block lies inside of the lines.
            next = unsafe { next.add(lines * LINE) };
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
            // SAFETY: the bytes of a scalar are an element of its type.
            unsafe { self.fill(program, first + index, value.dtype(), value.as_bytes().as_ptr()) };
        }
    }

    /// Makes a slot one chunk of the value at a place.
    ///
    /// # Safety
    /// The value may be read. The slot is still in a block of its own.
    pub(super) unsafe fn fill(
        &mut self,
        program: &LoopProgram,
        slot: usize,
        dtype: DType,
        value: *const u8,
    ) {
        self.slots[slot].step = 0;
        let from = Strided { start: value.cast_mut(), stride: 0 };
        let to = Strided { start: self.block_of(slot, CHUNK), stride: 1 };
        // SAFETY: the caller's promise; a block is longer than a chunk (invariant 1).
        unsafe { transfer(dtype, [from, to], CHUNK, program.vectors()) };
    }

    /// So many bytes for each input that is transposed, one after the other; a multiple of a line.
    pub(super) fn panels(&mut self, bytes: usize) -> *mut u8 {
        self.panels.room(bytes * self.transposed.len())
    }

    /// The block of a slot that stays in it.
    pub(super) fn block(&self, slot: usize) -> *mut u8 {
        self.slots[slot].start
    }

    /// The same for writing so many elements.
    ///
    /// # Panics
    /// If the block has no room for them.
    pub(super) fn block_of(&self, slot: usize, count: usize) -> *mut u8 {
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
    pub(super) fn origin(&self, program: &LoopProgram, output: usize) -> LaneSlot {
        let origin = self.slots[program.origins[output]];
        if origin.step == 0 { self.slots[program.inputs.len() + output] } else { origin }
    }

    /// The elements of an output that a program has computed: where they are, if that will do.
    ///
    /// # Safety
    /// A block of so many elements of type `T`, which is the output's, was computed.
    pub(crate) unsafe fn output<T>(
        &self,
        program: &LoopProgram,
        output: usize,
        count: usize,
    ) -> &[T] {
        let origin = self.slots[program.origins[output]];
        let block = self.slots[program.inputs.len() + output].start;
        let aligned = origin.start.cast::<T>().is_aligned();
        let start = if aligned && origin.step != 0 { origin.start } else { block };
        if start != origin.start {
            let start = self.block_of(program.inputs.len() + output, count);
            let stride = isize::from(origin.step != 0);
            let (from, to) =
                (Strided { start: origin.start, stride }, Strided { start, stride: 1 });
            // SAFETY: the origin has these elements; the block of an output is our own.
            unsafe { transfer(program.outputs[output], [from, to], count, program.vectors()) };
        }
        // SAFETY: the elements are there, and blocks are aligned for every type.
        unsafe { std::slice::from_raw_parts(start.cast(), count) }
    }
}
