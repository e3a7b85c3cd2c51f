//! Blocks of a frame that are filled with one value, and those that outputs were computed in.

use bytemuck::Pod;
use pantile_lanes::{DType, Scalar};

use super::load::{Strided, transfer};
use crate::lanes::kernel::CHUNK;
use crate::lanes::program::LoopProgram;
use crate::lanes::scratch::BlockFrame;

impl BlockFrame {
    /// Makes a slot one chunk of a value.
    pub(crate) fn fill_scalar(&mut self, program: &LoopProgram, slot: usize, value: &Scalar) {
        // SAFETY: R6; the bytes of a scalar are an element of its type.
        unsafe { self.fill(program, slot, value.dtype(), value.as_bytes().as_ptr()) };
    }

    /// Makes a slot one chunk of the value at a place.
    ///
    /// # Safety
    /// The value may be read.
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
        // SAFETY: R1, R4; the value is promised by the caller, and `block_of` compares a chunk with the room.
        unsafe { transfer(dtype, [from, to], CHUNK, program.vectors()) };
    }

    /// The elements of an output that was computed: where they are, if that will do.
    ///
    /// # Panics
    /// If elements of the output have another size or alignment.
    pub(crate) fn output<T: Pod>(
        &self,
        program: &LoopProgram,
        output: usize,
        count: usize,
    ) -> &[T] {
        let dtype = program.outputs[output];
        assert!(size_of::<T>() == dtype.bytes(), "elements of {dtype}");
        let origin = self.slots[program.origins[output]];
        let block = self.slots[program.inputs.len() + output].start;
        let aligned = origin.start.cast::<T>().is_aligned();
        let start = if aligned && origin.step != 0 { origin.start } else { block };
        if start != origin.start {
            let start = self.block_of(program.inputs.len() + output, count);
            let stride = isize::from(origin.step != 0);
            let (from, to) =
                (Strided { start: origin.start, stride }, Strided { start, stride: 1 });
            // SAFETY: R4, R5; the origin was computed for the block, and `block_of` compares the count.
            unsafe { transfer(dtype, [from, to], count, program.vectors()) };
        }
        // SAFETY: R4, R5, R6; the elements were computed, their size and alignment compared above.
        unsafe { std::slice::from_raw_parts(start.cast(), count) }
    }
}
