//! The run of a program over a block.

use pantile_lanes::SumTerms;

use super::CheckedSources;
use crate::lanes::kernel::{CHUNK, KernelCall, LaneSlot};
use crate::lanes::program::Instruction;
use crate::lanes::run::StoreMode;
use crate::lanes::scratch::BlockFrame;

impl CheckedSources<'_> {
    /// The elements of a block that was loaded whose products are the only output, if they are `F64` and
    /// can be read where they are.
    pub(crate) fn factors<'f>(
        &self,
        frame: &'f BlockFrame,
        count: usize,
    ) -> Option<[&'f [f64]; 2]> {
        let slots = self.program().product?.map(|input| frame.slots[input]);
        let there = |slot: &LaneSlot| slot.step != 0 && slot.start.cast::<f64>().is_aligned();
        slots.iter().all(there).then(|| {
            slots.map(|slot| {
                // SAFETY: R2, R6; inputs have a place for every element, and are found to be aligned above.
                unsafe { std::slice::from_raw_parts(slot.start.cast(), count) }
            })
        })
    }

    /// Computes a block whose inputs were loaded; slots of `prefetch_streams` are prefetched, as they will
    /// be read further on soon. [`BlockFrame::check`] has accepted so many elements.
    ///
    /// # Panics
    /// If there are fewer slots than the program has.
    pub(crate) fn run(&self, slots: &[LaneSlot], prefetch_streams: &[usize], count: usize) {
        let expected = self.program().slots();
        assert!(slots.len() >= expected, "{} slots of {expected}", slots.len());
        run(&self.program().instructions, slots, prefetch_streams, count);
    }

    /// Copies the outputs of a block that have other origins, but for those that are streamed from there.
    pub(super) fn copy(&self, frame: &BlockFrame, count: usize) {
        let program = self.program();
        for (output, copy) in &program.copies {
            let own = frame.slots[program.inputs.len() + output].start;
            if frame.store_modes[*output] != StoreMode::Streamed
                || frame.origin(program, *output).start == own
            {
                run(std::slice::from_ref(copy), &frame.slots, &[], count);
            }
        }
    }
}

/// Computes a block by instructions of one program.
fn run(
    instructions: &[Instruction],
    slots: &[LaneSlot],
    mut prefetch_streams: &[usize],
    count: usize,
) {
    let mut next = 0;
    while let Some(instruction) = instructions.get(next) {
        next += 1;
        match instruction {
            Instruction::Loop { kernel, target, operands, table } => {
                let (target, operands) = (slots[*target].start, operands.map(|slot| slots[slot]));
                let call = KernelCall { target, operands, count, table };
                // SAFETY: R2, R3, R4, R5, R7; slots are counted in `CheckedSources::run`, and kernels are those of
                // the vectors that the program was compiled for.
                unsafe { kernel(&call) };
            }
            Instruction::Sum { adds, target, operands, vectors } => {
                let mut terms = [slots[*target]; SumTerms::MOST];
                terms.iter_mut().zip(operands).for_each(|(term, slot)| *term = slots[*slot]);
                // SAFETY: R2, R3, R4, R5; slots are counted in `CheckedSources::run`.
                unsafe { adds(slots[*target].start, &terms, count, *vectors) };
            }
            Instruction::Bytecode { interpreter, bytecode, jit } => {
                let prefetch_streams = std::mem::take(&mut prefetch_streams);
                // SAFETY: R2, R3, R4, R5, R7; slots are counted in `CheckedSources::run`, and named as
                // `LoopProgram::check_slots` has found.
                unsafe {
                    match jit {
                        Some(jit) => jit.run(slots, prefetch_streams, count),
                        None => interpreter(bytecode, slots, prefetch_streams, count),
                    }
                }
            }
            Instruction::Predicated { mask, yes, skip } => {
                let slot = slots[*mask];
                let count = if slot.step == 0 { CHUNK } else { count };
                // SAFETY: R4, R5; an earlier instruction wrote so many bools, or it is a chunk.
                let bools = unsafe { std::slice::from_raw_parts(slot.start, count) };
                let other = u8::from(!yes);
                if bools.iter().fold(0, |any, byte| any | (byte ^ other)) == 0 {
                    next += skip;
                }
            }
        }
    }
}
