//! Where the lanes of slots are, and how they come to registers and back.
//!
//! Addresses of the slots that are met most have registers of their own, which are renewed in every
//! pass. Where there are 32 vector registers, so have the constants that are met most.

use super::super::{Code as What, FEW, Kind, NONE, Step};
use super::code::{Form, Number, When, distance};
use super::emit::{AT, Emitter, NO, Pass, SLOTS, X};
use super::encode::{Gpr, Operand, Register};
use super::ops::{LOAD, STORE, STREAM};
use crate::lanes::kernel::Slot;

/// Addresses that are computed once in a pass.
const HELD: [Gpr; 8] = [Gpr(8), Gpr(9), Gpr(3), Gpr(5), Gpr(12), Gpr(13), Gpr(14), Gpr(15)];

/// The first register of constants that stay, and how many do.
const SAME: usize = 16;
const SAME_MOST: usize = 16;

/// Where the lanes of a slot are in a pass.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Behind an address.
    At(Gpr),
    /// In a register, the same for all vectors.
    Same(Register),
}

impl Emitter {
    /// Chooses the slots whose addresses have registers, and the constants that have.
    pub(super) fn hold(&mut self, steps: &[Step]) {
        let most = if self.lanes.form == Form::Evex { SAME_MOST } else { 0 };
        self.same = met_most(steps.iter().flat_map(constants), most);
        let moving = steps.iter().flat_map(lanes).filter(|slot| !self.same.contains(slot));
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
        self.code.vector(self.lanes.float(LOAD), to, NO, Operand::Memory(address, 0));
    }

    /// Renews the addresses that have registers.
    pub(super) fn addresses(&mut self) {
        for (slot, register) in self.held.clone().into_iter().zip(HELD) {
            self.address_of(slot, register, false);
        }
    }

    /// A place of a slot's record.
    fn field(slot: u32, word: usize) -> Number {
        Number::Memory(SLOTS, distance(slot as usize * size_of::<Slot>() + word * 8))
    }

    /// Brings the address of the pass in a slot to a register; of lanes, or of truth values.
    pub(super) fn address_of(&mut self, slot: u32, register: Gpr, truths: bool) {
        self.code.number(0x8B, register, Number::Register(AT));
        if truths {
            // shr register, bits
            let bits = if self.lanes.bytes == 8 { 3 } else { 2 };
            self.code.raw(&[0x48 | register.0 >> 3, 0xC1, 0xE8 | register.0 & 7, bits]);
        }
        self.code.number(0x23, register, Self::field(slot, 1));
        self.code.number(0x03, register, Self::field(slot, 0));
    }

    /// Where the pass is in a slot: its address comes to a register if it has none.
    pub(super) fn place(&mut self, slot: u32, otherwise: Gpr) -> Place {
        if let Some(register) = self.constant(slot) {
            return Place::Same(register);
        }
        match self.held.iter().position(|held| *held == slot) {
            Some(place) => Place::At(HELD[place]),
            None => {
                self.address_of(slot, otherwise, false);
                Place::At(otherwise)
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
        pass: Pass,
        vector: usize,
        place: Place,
        room: Register,
    ) -> Operand {
        match place {
            Place::Same(register) => Operand::Register(register),
            Place::At(at) if pass.some => {
                let from = self.behind(at, vector);
                self.load_some(room, from, vector);
                Operand::Register(room)
            }
            Place::At(at) => self.behind(at, vector),
        }
    }

    /// A vector of a pass, behind an address.
    fn behind(&self, at: Gpr, vector: usize) -> Operand {
        Operand::Memory(at, distance(vector * self.lanes.form.bytes()))
    }

    /// An operand in a register.
    pub(super) fn register(&mut self, operand: Operand, room: Register) -> Register {
        match operand {
            Operand::Register(register) => register,
            memory => {
                self.code.vector(self.lanes.float(LOAD), room, NO, memory);
                room
            }
        }
    }

    /// A constant, of which a whole chunk is there, in a register.
    pub(super) fn load_same(&mut self, pass: Pass, slot: u32, address: Gpr) -> Register {
        self.constant(slot).unwrap_or_else(|| {
            self.load_constant(pass.same(), slot, address);
            pass.same()
        })
    }

    /// The accumulator becomes what is in a slot.
    pub(super) fn load(&mut self, slot: u32, pass: Pass) {
        let from = self.place(slot, X);
        for vector in 0..pass.vectors {
            let a = Register::nth(vector);
            match self.operand(pass, vector, from, a) {
                Operand::Register(here) if here == a => {}
                from => self.code.vector(self.lanes.float(LOAD), a, NO, from),
            }
        }
    }

    /// Writes the accumulator to a slot, past the caches if that is what the slot says.
    pub(super) fn store(&mut self, slot: u32, pass: Pass) {
        // Nobody writes constants.
        let Place::At(to) = self.place(slot, X) else { return };
        if pass.some {
            return self.store_left(to);
        }
        let (past, end) = (self.code.label(), self.code.label());
        let Number::Memory(_, at) = Self::field(slot, 2) else { return };
        // cmp byte [rdi + at], 0
        self.code.raw(&[0x80, 0xBF]);
        self.code.raw(&at.to_le_bytes());
        self.code.raw(&[0]);
        self.code.jump(When::NotZero, past);
        self.store_all(STORE, to, pass);
        self.code.jump(When::Always, end);
        self.code.bind(past);
        self.store_all(STREAM, to, pass);
        self.code.bind(end);
    }

    fn store_all(&mut self, how: u8, to: Gpr, pass: Pass) {
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
            for (count, when, label) in
                [(vector * per, When::AtMost, end), ((vector + 1) * per, When::AtLeast, whole)]
            {
                // cmp rsi, count
                self.code.raw(&[0x48, 0x81, 0xFE]);
                self.code.raw(&distance(count).to_le_bytes());
                self.code.jump(when, label);
            }
            self.store_some(a, place, vector);
            self.code.jump(When::Always, next);
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

/// The constants of a step, of which one chunk is there.
fn constants(step: &Step) -> impl Iterator<Item = u32> {
    let products = step.code == What::AddProducts;
    let own = match step.code.kind() {
        Kind::Both if !products => step.y,
        Kind::With | Kind::Both | Kind::Truth => step.x,
        Kind::Alone => NONE,
    };
    let own = Some(own).filter(|_| step.flat && step.code != What::Horner);
    // Of products each second one is an input.
    let (first, each) = if products { (1, 2) } else { (0, 1) };
    step.more.iter().skip(first).step_by(each).copied().chain(own)
}

/// The slots of lanes whose addresses a step needs.
fn lanes(step: &Step) -> impl Iterator<Item = u32> {
    let products = step.code == What::AddProducts;
    let chooses = matches!(step.code, What::Keep | What::Replace);
    let x = match step.code.kind() {
        Kind::Alone => false,
        Kind::With => !step.flat || step.code == What::Horner,
        Kind::Both => !chooses && !products,
        Kind::Truth => true,
    };
    let y = matches!(step.code.kind(), Kind::Both) && (!step.flat || products);
    let own = [(true, step.first), (x, step.x), (y, step.y), (true, step.target)];
    let more = step.more.iter().step_by(2).filter(move |_| products);
    own.into_iter().filter(|(is, _)| *is).map(|(_, slot)| slot).chain(more.copied())
}
