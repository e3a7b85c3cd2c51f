//! Where the lanes of slots are, and how they come to registers and back.
//!
//! Addresses of the slots that are met most have registers of their own, which are renewed in every
//! pass. Where there are 32 vector registers, so have the constants that are met most.

use super::super::{BytecodeOp, FEW, NONE, Opcode, OperandKind};
use super::assembler::{Condition, GprOperand, VectorEncoding, distance};
use super::emit::{AT, EmitPass, Emitter, NO, SLOTS, X};
use super::encode::{Gpr, Register, VectorOperand};
use super::ops::{LOAD, STORE, STREAM};
use crate::lanes::kernel::LaneSlot;

/// Addresses that are computed once in a pass.
const HELD: [Gpr; 8] = [Gpr(8), Gpr(9), Gpr(3), Gpr(5), Gpr(12), Gpr(13), Gpr(14), Gpr(15)];

/// The first register of constants that stay, and how many do.
const SAME: usize = 16;
const SAME_MOST: usize = 16;

/// Where the lanes of a slot are in a pass.
#[derive(Clone, Copy)]
pub(super) enum SlotPlace {
    /// Behind an address.
    At(Gpr),
    /// In a register, the same for all vectors.
    Same(Register),
}

impl Emitter {
    /// Chooses the slots whose addresses have registers, and the constants that have.
    pub(super) fn hold(&mut self, bytecode: &[BytecodeOp]) {
        let most = if self.lanes.form == VectorEncoding::Evex { SAME_MOST } else { 0 };
        self.same = met_most(bytecode.iter().flat_map(constants), most);
        let moving = bytecode.iter().flat_map(lanes).filter(|slot| !self.same.contains(slot));
        self.held = met_most(moving, HELD.len());
    }

    /// Brings constants to their registers, before the first pass.
    pub(super) fn load_constants(&mut self) {
        for (at, slot) in self.same.clone().into_iter().enumerate() {
            self.load_constant(Register::nth(SAME + at), slot, X);
        }
    }

    fn load_constant(&mut self, to: Register, slot: u32, address: Gpr) {
        self.code.number(0x8B, address, Self::field(slot, 0));
        self.code.vector(self.lanes.float(LOAD), to, NO, VectorOperand::Memory(address, 0));
    }

    /// Renews the addresses that have registers.
    pub(super) fn addresses(&mut self) {
        for (slot, register) in self.held.clone().into_iter().zip(HELD) {
            self.address_of(slot, register, false);
        }
    }

    /// A place of a slot's record.
    fn field(slot: u32, word: usize) -> GprOperand {
        GprOperand::Memory(SLOTS, distance(slot as usize * size_of::<LaneSlot>() + word * 8))
    }

    /// Brings the address of the pass in a slot to a register; of lanes, or of bools.
    pub(super) fn address_of(&mut self, slot: u32, register: Gpr, bools: bool) {
        self.code.number(0x8B, register, GprOperand::Register(AT));
        if bools {
            // shr register, bits
            let bits = if self.lanes.bytes == 8 { 3 } else { 2 };
            self.code.raw(&[0x48 | register.0 >> 3, 0xC1, 0xE8 | register.0 & 7, bits]);
        }
        self.code.number(0x23, register, Self::field(slot, 1));
        self.code.number(0x03, register, Self::field(slot, 0));
    }

    /// Where the pass is in a slot: its address comes to a register if it has none.
    pub(super) fn place(&mut self, slot: u32, otherwise: Gpr) -> SlotPlace {
        if let Some(register) = self.constant(slot) {
            return SlotPlace::Same(register);
        }
        match self.held.iter().position(|held| *held == slot) {
            Some(place) => SlotPlace::At(HELD[place]),
            None => {
                self.address_of(slot, otherwise, false);
                SlotPlace::At(otherwise)
            }
        }
    }

    /// The register of a constant that has one.
    fn constant(&self, slot: u32) -> Option<Register> {
        self.same.iter().position(|same| *same == slot).map(|at| Register::nth(SAME + at))
    }

    /// A vector of a slot, as an operand; with masks it has to be brought to a register first.
    pub(super) fn operand(
        &mut self,
        pass: EmitPass,
        vector: usize,
        place: SlotPlace,
        room: Register,
    ) -> VectorOperand {
        match place {
            SlotPlace::Same(register) => VectorOperand::Register(register),
            SlotPlace::At(at) if pass.some => {
                let from = self.behind(at, vector);
                self.load_some(room, from, vector);
                VectorOperand::Register(room)
            }
            SlotPlace::At(at) => self.behind(at, vector),
        }
    }

    /// A vector of a pass, behind an address.
    fn behind(&self, at: Gpr, vector: usize) -> VectorOperand {
        VectorOperand::Memory(at, distance(vector * self.lanes.form.bytes()))
    }

    /// An operand in a register.
    pub(super) fn register(&mut self, operand: VectorOperand, room: Register) -> Register {
        match operand {
            VectorOperand::Register(register) => register,
            memory => {
                self.code.vector(self.lanes.float(LOAD), room, NO, memory);
                room
            }
        }
    }

    /// A constant, of which a whole chunk is there, in a register.
    pub(super) fn load_same(&mut self, pass: EmitPass, slot: u32, address: Gpr) -> Register {
        self.constant(slot).unwrap_or_else(|| {
            self.load_constant(pass.same(), slot, address);
            pass.same()
        })
    }

    /// The accumulator becomes what is in a slot.
    pub(super) fn load(&mut self, slot: u32, pass: EmitPass) {
        let from = self.place(slot, X);
        for vector in 0..pass.vectors {
            let a = Register::nth(vector);
            match self.operand(pass, vector, from, a) {
                VectorOperand::Register(here) if here == a => {}
                from => self.code.vector(self.lanes.float(LOAD), a, NO, from),
            }
        }
    }

    /// Writes the accumulator to a slot, with non-temporal stores if that is what the slot says.
    pub(super) fn store(&mut self, slot: u32, pass: EmitPass) {
        // Constants are not written.
        let SlotPlace::At(to) = self.place(slot, X) else { return };
        if pass.some {
            return self.store_left(to);
        }
        let (non_temporal, end) = (self.code.label(), self.code.label());
        let GprOperand::Memory(_, at) = Self::field(slot, 2) else { return };
        // cmp byte [rdi + at], 0
        self.code.raw(&[0x80, 0xBF]);
        self.code.raw(&at.to_le_bytes());
        self.code.raw(&[0]);
        self.code.jump(Condition::NotZero, non_temporal);
        self.store_all(STORE, to, pass);
        self.code.jump(Condition::Always, end);
        self.code.bind(non_temporal);
        self.store_all(STREAM, to, pass);
        self.code.bind(end);
    }

    fn store_all(&mut self, how: u8, to: Gpr, pass: EmitPass) {
        for vector in 0..pass.vectors {
            let place = self.behind(to, vector);
            self.code.vector(self.lanes.float(how), Register::nth(vector), NO, place);
        }
    }

    /// Writes what is left. Stores with masks are slow on some processors, even of all lanes or none.
    fn store_left(&mut self, to: Gpr) {
        let end = self.code.label();
        let per = self.lanes.per_vector();
        for vector in 0..FEW {
            let (whole, next) = (self.code.label(), self.code.label());
            let (a, place) = (Register::nth(vector), self.behind(to, vector));
            for (count, when, label) in [
                (vector * per, Condition::AtMost, end),
                ((vector + 1) * per, Condition::AtLeast, whole),
            ] {
                // cmp rsi, count
                self.code.raw(&[0x48, 0x81, 0xFE]);
                self.code.raw(&distance(count).to_le_bytes());
                self.code.jump(when, label);
            }
            self.store_some(a, place, vector);
            self.code.jump(Condition::Always, next);
            self.code.bind(whole);
            self.code.vector(self.lanes.float(STORE), a, NO, place);
            self.code.bind(next);
        }
        self.code.bind(end);
    }
}

/// The slots that are met most often, at most so many.
fn met_most(slots: impl Iterator<Item = u32>, most: usize) -> Vec<u32> {
    let mut met: Vec<(u32, usize)> = Vec::new();
    for slot in slots.filter(|slot| *slot != NONE) {
        match met.iter_mut().find(|known| known.0 == slot) {
            Some(known) => known.1 += 1,
            None => met.push((slot, 1)),
        }
    }
    met.sort_by_key(|known| std::cmp::Reverse(known.1));
    met.into_iter().take(most).map(|known| known.0).collect()
}

/// The constants of an operation, of which one chunk is there.
fn constants(operation: &BytecodeOp) -> impl Iterator<Item = u32> {
    let products = operation.code == Opcode::AddProducts;
    let own = match operation.code.kind() {
        OperandKind::Both if !products => operation.y,
        OperandKind::With | OperandKind::Both | OperandKind::Compare => operation.x,
        OperandKind::Alone => NONE,
    };
    let own = Some(own).filter(|_| operation.invariant && operation.code != Opcode::Horner);
    // Of products each second one is an input.
    let (first, each) = if products { (1, 2) } else { (0, 1) };
    operation.more.iter().skip(first).step_by(each).copied().chain(own)
}

/// The slots of lanes whose addresses an operation needs.
fn lanes(operation: &BytecodeOp) -> impl Iterator<Item = u32> {
    let products = operation.code == Opcode::AddProducts;
    let chooses = matches!(operation.code, Opcode::Keep | Opcode::Replace);
    let x = match operation.code.kind() {
        OperandKind::Alone => false,
        OperandKind::With => !operation.invariant || operation.code == Opcode::Horner,
        OperandKind::Both => !chooses && !products,
        OperandKind::Compare => true,
    };
    let y =
        matches!(operation.code.kind(), OperandKind::Both) && (!operation.invariant || products);
    let own =
        [(true, operation.first), (x, operation.x), (y, operation.y), (true, operation.target)];
    let more = operation.more.iter().step_by(2).filter(move |_| products);
    own.into_iter().filter(|(is, _)| *is).map(|(_, slot)| slot).chain(more.copied())
}
