//! The JIT: bytecode as machine code, the same operations in the same order, without decoding them
//! again and again.
//!
//! An interpreter spends most of its time on decoding, where the numbers are near. Here every
//! operation becomes the few instructions that it stands for, once, and a pass over a chunk is one
//! straight line of them. Vectors have 32 bytes or 64; every operation rounds as it does in the
//! interpreter, so that the bits are the same.
//!
//! The caller promises what it promises to an [`Interpreter`](super::Interpreter).

#![allow(unsafe_code, reason = "machine code is a kernel")]

mod arithmetic;
mod assembler;
mod compare;
mod emit;
mod encode;
mod masks;
mod memory;
mod operands;
mod ops;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use super::{BytecodeOp, FEW};
use crate::lanes::kernel::LaneSlot;
use crate::simd::Vectors;
use assembler::VectorEncoding;
use emit::{Emitter, MANY};
use memory::ExecutablePages;

/// Bytecode with slots from this one on is interpreted: machine code says where a record lies in 32
/// bits.
const SLOTS_MAX: usize = 1 << 20;

/// Code of more bytes than this would not stay in the cache of instructions: it has shorter passes,
/// and is interpreted if that is not enough.
const BYTES_MAX: usize = 48 << 10;

/// Bytecode as machine code.
#[derive(Clone)]
pub(crate) struct JitCode {
    code: Arc<ExecutablePages>,
    run: JitFunction,
}

/// Slots, the number of elements, and the slots that are prefetched.
type JitFunction = unsafe extern "sysv64" fn(*const LaneSlot, usize, *const usize, usize);

impl JitCode {
    /// Makes machine code of operations on lanes of so many bytes; none if there is no code for one
    /// of them or for these vectors, or the system has no memory for code.
    pub(crate) fn new(bytecode: &[BytecodeOp], lane: usize, vectors: Vectors) -> Option<Self> {
        let form = vectors.pick([None, Some(VectorEncoding::Vex), Some(VectorEncoding::Evex)])?;
        if bytecode.iter().flat_map(BytecodeOp::named).any(|slot| slot >= SLOTS_MAX) {
            return None;
        }
        // In long passes instructions wait less for each other.
        let code = [MANY, FEW].into_iter().find_map(|most| {
            let code = Emitter::new(lane, form).all(bytecode, most)?;
            (code.len() <= BYTES_MAX).then_some(code)
        })?;
        let code = Arc::new(ExecutablePages::new(&code)?);
        // SAFETY: R8; tests compare the code of every opcode with the interpreter, and it lives as long as
        // `code` does.
        let run = unsafe { std::mem::transmute::<*const u8, JitFunction>(code.start()) };
        Some(Self { code, run })
    }

    /// Runs it over a block of `count` elements; slots of `prefetch_streams` are prefetched, as
    /// they will be read further on soon.
    ///
    /// # Safety
    /// The promises of an [`Interpreter`](super::Interpreter).
    pub(crate) unsafe fn run(&self, slots: &[LaneSlot], prefetch_streams: &[usize], count: usize) {
        // SAFETY: R1, R2, R4, R5, R7, R8; `check_slots` has compared what operations name.
        unsafe {
            (self.run)(slots.as_ptr(), count, prefetch_streams.as_ptr(), prefetch_streams.len())
        }
    }
}

impl fmt::Debug for JitCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Native({} bytes)", self.code.len())
    }
}
