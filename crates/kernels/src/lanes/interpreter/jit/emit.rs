//! Code generation: from bytecode to machine code.
//!
//! Registers: the accumulator is in the first vectors, what is only needed within an operation in
//! those behind it; masks of a pass over what is left are in the last of sixteen, or in registers
//! of their own, and constants in the sixteen behind those, if there are so many. `rdi` are the
//! slots, `rsi` the elements that are left, `rax` the bytes of a lane before the pass, `rdx` and
//! `rcx` the slots that are prefetched. Addresses of the slots that are read most are in registers
//! of their own.

use super::super::{BytecodeOp, FEW, NONE, Opcode, OperandKind, PREFETCH_DISTANCE};
use super::assembler::{Assembler, Condition, GprOperand, VectorEncoding, distance};
use super::encode::{Gpr, Register};
use super::ops::LaneWidth;
use crate::lanes::kernel::LaneSlot;

pub(super) const AT: Gpr = Gpr(0);
pub(super) const SLOTS: Gpr = Gpr(7);
/// Addresses that an operation computes for itself.
pub(super) const X: Gpr = Gpr(10);
pub(super) const Y: Gpr = Gpr(11);

/// No register: instructions that have one operand less say so.
pub(super) const NO: Register = Register(0);

/// Vectors of a pass; those of long code, and over what is left, have [`FEW`].
pub(super) const MANY: usize = 8;

/// A pass over some vectors; the last one is over some of their elements.
#[derive(Clone, Copy)]
pub(super) struct EmitPass {
    pub(super) vectors: usize,
    pub(super) some: bool,
}

impl EmitPass {
    /// Registers of a vector's own within an operation.
    pub(super) fn own(self, vector: usize) -> [Register; 3] {
        let first = self.vectors + 3 * (vector % 2);
        [Register::nth(first), Register::nth(first + 1), Register::nth(first + 2)]
    }

    /// A register for what is the same for all vectors.
    pub(super) fn same(self) -> Register {
        Register(if self.vectors == MANY { 15 } else { 11 })
    }
}

/// Code on its way.
pub(super) struct Emitter {
    pub(super) code: Assembler,
    pub(super) lanes: LaneWidth,
    /// The slots whose addresses have registers, and the constants that have.
    pub(super) held: Vec<u32>,
    pub(super) same: Vec<u32>,
}

impl Emitter {
    /// No code yet, for lanes of so many bytes.
    pub(super) fn new(lane: usize, form: VectorEncoding) -> Self {
        let lanes = LaneWidth { bytes: lane, form };
        Self { code: Assembler::new(form), lanes, held: Vec::new(), same: Vec::new() }
    }

    /// The machine code of all operations, in passes of at most so many vectors; none if one of
    /// them has none.
    pub(super) fn all(mut self, bytecode: &[BytecodeOp], most: usize) -> Option<Vec<u8>> {
        self.hold(bytecode);
        // push rbx, rbp, r12 to r15; xor eax, eax
        self.code.raw(&[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x31, 0xC0]);
        self.load_constants();
        if most == MANY {
            self.passes(bytecode, MANY)?;
        }
        self.passes(bytecode, FEW)?;
        let end = self.code.label();
        // test rsi, rsi
        self.code.raw(&[0x48, 0x85, 0xF6]);
        self.code.jump(Condition::Zero, end);
        self.make_masks();
        self.pass(bytecode, EmitPass { vectors: FEW, some: true })?;
        self.code.bind(end);
        // vzeroupper; pop r15 to r12, rbp, rbx; ret
        self.code.raw(&[0xC5, 0xF8, 0x77, 0x41, 0x5F, 0x41, 0x5E, 0x41, 0x5D, 0x41, 0x5C]);
        self.code.raw(&[0x5D, 0x5B, 0xC3]);
        self.code.finish()
    }

    /// Passes of so many vectors while there is enough for one.
    fn passes(&mut self, bytecode: &[BytecodeOp], vectors: usize) -> Option<()> {
        let (next, end) = (self.code.label(), self.code.label());
        let elements = distance(vectors * self.lanes.per_vector()).to_le_bytes();
        self.code.bind(next);
        // cmp rsi, elements
        self.code.raw(&[0x48, 0x81, 0xFE]);
        self.code.raw(&elements);
        self.code.jump(Condition::Below, end);
        if vectors == MANY {
            self.prefetch();
        }
        self.pass(bytecode, EmitPass { vectors, some: false })?;
        // add rax, bytes; sub rsi, elements
        self.code.raw(&[0x48, 0x05]);
        self.code.raw(&distance(vectors * self.lanes.form.bytes()).to_le_bytes());
        self.code.raw(&[0x48, 0x81, 0xEE]);
        self.code.raw(&elements);
        self.code.jump(Condition::Always, next);
        self.code.bind(end);
        Some(())
    }

    /// Prefetches memory that will be read soon.
    fn prefetch(&mut self) {
        let (next, end) = (self.code.label(), self.code.label());
        // test rcx, rcx
        self.code.raw(&[0x48, 0x85, 0xC9]);
        self.code.jump(Condition::Zero, end);
        // mov r11, rcx
        self.code.number(0x8B, Y, GprOperand::Register(Gpr(1)));
        self.code.bind(next);
        // mov r10, [rdx + 8 r11 - 8]; r10 times 3; mov r10, [rdi + 8 r10]
        const { assert!(size_of::<LaneSlot>() == 24, "three words") };
        self.code.raw(&[0x4E, 0x8B, 0x54, 0xDA, 0xF8, 0x4F, 0x8D, 0x14, 0x52]);
        self.code.raw(&[0x4E, 0x8B, 0x14, 0xD7]);
        self.code.number(0x03, X, GprOperand::Register(AT));
        for line in (0..distance(MANY * self.lanes.form.bytes())).step_by(64) {
            // prefetcht0 [r10 + ...]
            self.code.raw(&[0x41, 0x0F, 0x18, 0x8A]);
            self.code.raw(&(distance(PREFETCH_DISTANCE) + line).to_le_bytes());
        }
        // dec r11
        self.code.raw(&[0x49, 0xFF, 0xCB]);
        self.code.jump(Condition::NotZero, next);
        self.code.bind(end);
    }

    /// One pass through all operations.
    fn pass(&mut self, bytecode: &[BytecodeOp], pass: EmitPass) -> Option<()> {
        self.addresses();
        bytecode.iter().try_for_each(|operation| self.operation(operation, pass))
    }

    fn operation(&mut self, operation: &BytecodeOp, pass: EmitPass) -> Option<()> {
        if operation.first != NONE {
            self.load(operation.first, pass);
        }
        match operation.code {
            Opcode::LookUp => return None,
            Opcode::Keep | Opcode::Replace => self.choose(operation, pass),
            Opcode::AddProducts => self.add_products(operation, pass),
            Opcode::Horner => self.horner(operation, pass),
            code => match code.kind() {
                OperandKind::Alone => {
                    (0..pass.vectors).for_each(|vector| self.alone(code, pass, vector));
                }
                OperandKind::Compare => self.compare(operation, pass),
                OperandKind::With | OperandKind::Both => self.with(operation, pass),
            },
        }
        if operation.canonical {
            (0..pass.vectors).for_each(|vector| self.alone(Opcode::Canonical, pass, vector));
        }
        if operation.target != NONE {
            self.store(operation.target, pass);
        }
        Some(())
    }
}
