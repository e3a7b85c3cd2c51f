//! A loop body made ready for blocks: which loop runs when, and where its lanes lie.

#![allow(unsafe_code, reason = "calls the loops that it chose; see the promises of the parent")]

use pantile_lanes::{Body, DType, Scalar};

use super::compile::compile;
use super::kernel::{Call, Kernel, Slot};
use crate::Error;
use crate::simd::Vectors;

/// A loop body made ready for blocks of elements.
///
/// Lanes of a block lie in *slots*, in this order: inputs, outputs, constants, registers (shared
/// by nodes that are not needed at the same time).
///
/// Invariants:
/// 1. Every instruction reads slots of inputs and constants, or such that an earlier one wrote,
///    with the types of its loop; its target is an output or a register and none of its operands.
/// 2. Every output is written by one instruction, after which nobody writes its slot, or it is
///    copied from its origin, the slot of an input, a constant or another output.
/// 3. `vectors` are those that the loops were compiled for.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) inputs: Vec<DType>,
    pub(super) outputs: Vec<DType>,
    pub(super) constants: Vec<Scalar>,
    pub(super) registers: usize,
    pub(super) instructions: Vec<Instruction>,
    /// Those that copy outputs from their origins.
    pub(super) copies: Vec<Instruction>,
    /// The slot that has the bits of an output, whether it was copied or not.
    pub(super) origins: Vec<usize>,
    pub(super) vectors: Vectors,
    /// Bytes of the widest lane.
    pub(super) widest: usize,
}

/// A loop and the slots that it works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) kernel: Kernel,
    pub(super) target: usize,
    /// What the operation has not is the target again; the loop does not look at it.
    pub(super) operands: [usize; 3],
    pub(super) words: &'static [u64],
}

/// Bytes of registers and outputs that stay in the first cache beside the inputs.
const CACHE: usize = 24 << 10;

impl Program {
    /// Compiles a body for the widest vectors of this processor.
    ///
    /// # Errors
    /// If an output is not a node of the body.
    pub fn compile(body: &Body) -> Result<Self, Error> {
        Self::compile_for(body, Vectors::widest())
    }

    /// Compiles a body for some vectors. The results do not depend on them.
    ///
    /// # Errors
    /// If an output is not a node of the body.
    pub fn compile_for(body: &Body, vectors: Vectors) -> Result<Self, Error> {
        let nodes = body.nodes().len();
        if let Some(node) = body.outputs().iter().map(|node| node.index()).find(|at| *at >= nodes) {
            return Err(pantile_lanes::Error::UnknownNode { node, nodes }.into());
        }
        compile(body, vectors)
    }

    /// The types of its inputs.
    #[must_use]
    pub fn inputs(&self) -> &[DType] {
        &self.inputs
    }

    /// The types of its outputs.
    #[must_use]
    pub fn outputs(&self) -> &[DType] {
        &self.outputs
    }

    /// The vectors that it was compiled for.
    #[must_use]
    pub fn vectors(&self) -> Vectors {
        self.vectors
    }

    /// The number of its slots.
    pub(super) fn slots(&self) -> usize {
        self.inputs.len() + self.outputs.len() + self.constants.len() + self.registers
    }

    /// Elements of a block.
    pub(crate) fn block(&self) -> usize {
        let lanes = (self.registers + self.outputs.len()) * self.widest;
        match lanes * 512 {
            // Nothing but moving: the longer the better.
            _ if self.instructions.is_empty() => 2048,
            ..=CACHE => 512,
            _ => 256,
        }
    }

    /// Computes a block of at most [`block`](Self::block) elements.
    ///
    /// # Safety
    /// Slots of inputs and constants are readable and initialised, the others readable, writable
    /// and initialised, for so many elements of the widest type (a chunk where the step is 0);
    /// writable ones overlap no others.
    pub(crate) unsafe fn run(&self, slots: &[Slot], count: usize) {
        // SAFETY: the promises are the caller's.
        unsafe { run(&self.instructions, slots, count) }
    }

    /// Copies the outputs that have other origins.
    ///
    /// # Safety
    /// As of [`run`](Self::run), which computed the block.
    pub(super) unsafe fn copy(&self, slots: &[Slot], count: usize) {
        // SAFETY: the promises are the caller's.
        unsafe { run(&self.copies, slots, count) }
    }
}

/// # Safety
/// As of [`Program::run`], for instructions of that program.
unsafe fn run(instructions: &[Instruction], slots: &[Slot], count: usize) {
    for instruction in instructions {
        let call = Call {
            target: slots[instruction.target].start,
            operands: instruction.operands.map(|slot| slots[slot]),
            count,
            words: instruction.words,
        };
        // SAFETY: promises 1 and 2 of a call by invariant 1 and the caller's, 3 by invariant 3.
        unsafe { (instruction.kernel)(&call) };
    }
}
