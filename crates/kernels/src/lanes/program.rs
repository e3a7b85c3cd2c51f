//! A loop body made ready for blocks: which loop runs when, and where its lanes lie.

use pantile_lanes::{DType, LoopBody, Scalar};

use super::compile::compile;
use super::interpreter::{BytecodeOp, Interpreter, JitCode};
use super::kernel::Kernel;
use super::sum::Adds;
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
/// 2. Every output is written by one instruction, after which no instruction writes its slot, or it
///    is copied from its origin, the slot of an input, a constant or another output.
/// 3. `vectors` are those that the loops were compiled for.
/// 4. A register is local if whatever instruction reads a chunk of it has just written it.
#[derive(Clone, Debug)]
pub struct LoopProgram {
    pub(crate) inputs: Vec<DType>,
    pub(crate) outputs: Vec<DType>,
    pub(crate) constants: Vec<Scalar>,
    pub(crate) registers: usize,
    /// Whether all chunks of a register are the same memory.
    pub(crate) local: Vec<bool>,
    pub(crate) instructions: Vec<Instruction>,
    /// Whether bytecode writes an output and no instruction reads it: it may be written with
    /// non-temporal stores.
    pub(crate) streamable: Vec<bool>,
    /// The output that the last operation of the bytecode writes, after which nothing is read: it
    /// may be written over inputs.
    pub(crate) last: Option<usize>,
    /// Those that copy outputs, by number, from their origins.
    pub(crate) copies: Vec<(usize, Instruction)>,
    /// The two inputs whose product is the only output.
    pub(crate) product: Option<[usize; 2]>,
    /// The slot that has the bits of an output, whether it was copied or not.
    pub(crate) origins: Vec<usize>,
    pub(crate) vectors: Vectors,
    /// Bytes of the widest lane.
    pub(crate) widest: usize,
}

/// A part of a program.
#[derive(Clone, Debug)]
pub(crate) enum Instruction {
    /// A loop and the slots that it works on.
    Loop {
        kernel: Kernel,
        target: usize,
        /// What the operation has not is the target again; the loop does not look at it.
        operands: [usize; 3],
        table: &'static [u64],
    },
    /// Exact sums.
    Sum { adds: Adds, target: usize, operands: Box<[usize]>, vectors: Vectors },
    /// Bytecode, chunk by chunk: by the JIT's machine code if there is some, else by the
    /// interpreter.
    Bytecode { interpreter: Interpreter, bytecode: Box<[BytecodeOp]>, jit: Option<JitCode> },
    /// A predicated block: the next instructions are skipped if no element of this slot is true, or
    /// false.
    Predicated { mask: usize, yes: bool, skip: usize },
}

impl Instruction {
    /// The slots that it reads or writes as a whole; none for bytecode, which goes chunk by chunk.
    fn slots(&self) -> impl Iterator<Item = usize> {
        let (operands, own): (&[usize], _) = match self {
            Self::Loop { target, operands, .. } => (operands, Some(*target)),
            Self::Sum { target, operands, .. } => (operands, Some(*target)),
            Self::Predicated { mask, .. } => (&[], Some(*mask)),
            Self::Bytecode { .. } => (&[], None),
        };
        operands.iter().copied().chain(own)
    }

    /// Its bytecode, if it has some.
    fn bytecode(&self) -> &[BytecodeOp] {
        match self {
            Self::Bytecode { bytecode, .. } => bytecode,
            Self::Loop { .. } | Self::Sum { .. } | Self::Predicated { .. } => &[],
        }
    }
}

/// Bytes of registers and outputs that stay in the first cache beside the inputs.
pub(crate) const CACHE: usize = 24 << 10;

impl LoopProgram {
    /// Compiles a body for the widest vectors of this processor.
    ///
    /// # Errors
    /// If an output is not a node of the body.
    pub fn compile(body: &LoopBody) -> Result<Self, Error> {
        Self::compile_for(body, Vectors::widest())
    }

    /// Compiles a body for some vectors. The results do not depend on them.
    ///
    /// # Errors
    /// If an output is not a node of the body.
    pub fn compile_for(body: &LoopBody, vectors: Vectors) -> Result<Self, Error> {
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

    /// Refuses instructions that name slots which the program has not: loops and machine code go to
    /// slots without looking again.
    ///
    /// # Panics
    /// If there are some.
    pub(crate) fn check_slots(&self) {
        let slots = self.slots();
        let copies = self.copies.iter().map(|(_, copy)| copy);
        for instruction in self.instructions.iter().chain(copies) {
            let bytecode = instruction.bytecode().iter().flat_map(BytecodeOp::named);
            let mut named = instruction.slots().chain(bytecode);
            assert!(named.all(|slot| slot < slots), "{instruction:?} of {slots} slots");
        }
    }

    /// The number of its slots.
    pub(crate) fn slots(&self) -> usize {
        self.inputs.len() + self.outputs.len() + self.constants.len() + self.registers
    }

    /// True if it computes nothing: its outputs are inputs or constants.
    pub(crate) fn is_moving(&self) -> bool {
        self.instructions.is_empty()
    }

    /// True if every output is an input.
    pub(crate) fn returns_inputs(&self) -> bool {
        self.is_moving() && self.origins.iter().all(|origin| *origin < self.inputs.len())
    }

    /// Elements of a block.
    pub(crate) fn block(&self) -> usize {
        let registers = self.local.iter().filter(|local| !**local).count();
        let lanes = (registers + self.outputs.len()) * self.widest;
        match lanes * 512 {
            // Nothing but moving, or nothing to be kept: the longer the better.
            _ if self.is_moving() || self.product.is_some() => 8192,
            _ if registers == 0 => 2048,
            ..=CACHE => 512,
            _ => 256,
        }
    }

    /// True if a single pass computes all outputs and keeps nothing between elements.
    pub(crate) fn is_one_pass(&self) -> bool {
        matches!(self.instructions.as_slice(), [Instruction::Bytecode { .. }])
            && self.copies.is_empty()
            && self.local.iter().all(|local| *local)
    }

    /// True if running it computes all outputs: none is copied from elsewhere.
    pub(crate) fn copies_nothing(&self) -> bool {
        self.copies.is_empty()
    }

    /// Finds the outputs that may be written with non-temporal stores.
    pub(crate) fn find_streamable(&mut self) {
        self.streamable = vec![false; self.outputs.len()];
        let first = self.inputs.len();
        let outputs = first..first + self.outputs.len();
        let mut read = vec![false; self.outputs.len()];
        let copies = self.copies.iter().map(|(_, copy)| copy);
        for instruction in self.instructions.iter().chain(copies) {
            for slot in instruction.slots().filter(|slot| outputs.contains(slot)) {
                read[slot - first] = true;
            }
            for (reads, writes) in instruction.bytecode().iter().map(BytecodeOp::slots) {
                let own = |slot: &usize| outputs.contains(slot);
                reads.into_iter().flatten().filter(own).for_each(|slot| read[slot - first] = true);
                let writes = writes.into_iter().flatten().filter(own);
                writes.for_each(|slot| self.streamable[slot - first] = true);
            }
        }
        self.streamable.iter_mut().zip(read).for_each(|(streamable, read)| *streamable &= !read);
    }

    /// Finds the output that may be written over inputs.
    pub(crate) fn find_last(&mut self) {
        let Some(Instruction::Bytecode { bytecode, .. }) = self.instructions.last() else { return };
        let target = bytecode.last().and_then(|operation| operation.slots().1[1]);
        let output = target.and_then(|slot| slot.checked_sub(self.inputs.len()));
        self.last = output.filter(|output| *output < self.outputs.len() && self.copies.is_empty());
    }

    /// Finds the registers that are local.
    pub(crate) fn find_local(&mut self) {
        let first = self.slots() - self.registers;
        self.local = vec![true; self.registers];
        for instruction in &self.instructions {
            for slot in instruction.slots().filter(|slot| *slot >= first) {
                self.local[slot - first] = false;
            }
            let mut written = vec![false; self.registers];
            for (reads, writes) in instruction.bytecode().iter().map(BytecodeOp::slots) {
                for slot in reads.into_iter().flatten().filter(|slot| *slot >= first) {
                    self.local[slot - first] &= written[slot - first];
                }
                for slot in writes.into_iter().flatten().filter(|slot| *slot >= first) {
                    written[slot - first] = true;
                }
            }
        }
    }
}
