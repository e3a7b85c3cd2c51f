//! From steps to code.
//!
//! Registers: the accumulator is in the first vectors, what is only needed within a step in those
//! behind it; the masks of a pass over what is left are in the last four. `rdi` are the slots, `rsi`
//! the elements that are left, `rax` the bytes of a lane before the pass, `rdx` and `rcx` the slots
//! that are asked for ahead. Addresses of the slots that are read most are in registers of their own.

use super::super::{AHEAD, Code as What, FEW, Kind, NONE, Step};
use super::VECTOR;
use super::encode::{Code, Gpr, Number, Operand, When, Ymm, distance};
use super::ops::{FROM_NUMBER, LOAD, Lanes, STORE, STREAM};
use crate::lanes::kernel::Slot;

const AT: Gpr = Gpr(0);
const SLOTS: Gpr = Gpr(7);
/// Addresses that a step computes for itself.
pub(super) const X: Gpr = Gpr(10);
pub(super) const Y: Gpr = Gpr(11);
/// Addresses that are computed once in a pass.
const HELD: [Gpr; 8] = [Gpr(8), Gpr(9), Gpr(3), Gpr(5), Gpr(12), Gpr(13), Gpr(14), Gpr(15)];

/// No register: instructions that have one operand less say so.
pub(super) const NO: Ymm = Ymm(0);

/// Vectors of a pass; those of long code, and over what is left, have [`FEW`].
const MANY: usize = 8;

/// More steps than this are long code.
const LONG: usize = 48;

/// A pass over some vectors; the last one is over some of their elements.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) vectors: usize,
    pub(super) some: bool,
}

impl Pass {
    /// Registers of a vector's own within a step.
    pub(super) fn own(self, vector: usize) -> [Ymm; 3] {
        let first = self.vectors + 3 * (vector % 2);
        [Ymm::nth(first), Ymm::nth(first + 1), Ymm::nth(first + 2)]
    }

    /// A register for what is the same for all vectors.
    pub(super) fn same(self) -> Ymm {
        Ymm(if self.vectors == MANY { 15 } else { 11 })
    }

    fn mask(vector: usize) -> Ymm {
        Ymm::nth(12 + vector)
    }
}

/// Code on its way.
pub(super) struct Emitter {
    pub(super) code: Code,
    pub(super) lanes: Lanes,
    /// The slots whose addresses have registers.
    held: Vec<u32>,
}

impl Emitter {
    /// No code yet, for lanes of so many bytes.
    pub(super) fn new(lane: usize) -> Self {
        Self { code: Code::default(), lanes: Lanes { bytes: lane }, held: Vec::new() }
    }

    /// The code of all steps; none if there is none for one of them.
    pub(super) fn all(mut self, steps: &[Step]) -> Option<Vec<u8>> {
        self.hold(steps);
        // push rbx, rbp, r12 to r15; xor eax, eax
        self.code.raw(&[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x31, 0xC0]);
        if steps.len() <= LONG {
            self.passes(steps, MANY)?;
        }
        self.passes(steps, FEW)?;
        let end = self.code.label();
        // test rsi, rsi
        self.code.raw(&[0x48, 0x85, 0xF6]);
        self.code.jump(When::Zero, end);
        self.masks();
        self.pass(steps, Pass { vectors: FEW, some: true })?;
        self.code.bind(end);
        // vzeroupper; pop r15 to r12, rbp, rbx; ret
        self.code.raw(&[0xC5, 0xF8, 0x77, 0x41, 0x5F, 0x41, 0x5E, 0x41, 0x5D, 0x41, 0x5C]);
        self.code.raw(&[0x5D, 0x5B, 0xC3]);
        self.code.finish()
    }

    /// Chooses the slots whose addresses have registers: those that are met most often.
    fn hold(&mut self, steps: &[Step]) {
        let mut met: Vec<(u32, usize)> = Vec::new();
        let mut meet = |slot: u32| match met.iter_mut().find(|known| known.0 == slot) {
            _ if slot == NONE => {}
            Some(known) => known.1 += 1,
            None => met.push((slot, 1)),
        };
        for step in steps {
            let lanes = !matches!(step.code, What::Keep | What::Replace);
            meet(step.first);
            if lanes && !matches!(step.code.kind(), Kind::Alone) && !only_x(step) {
                meet(step.x);
            }
            if matches!(step.code.kind(), Kind::Both)
                && (!step.flat || step.code == What::AddProducts)
            {
                meet(step.y);
            }
            if step.code == What::AddProducts {
                step.more.iter().step_by(2).for_each(|slot| meet(*slot));
            }
            meet(step.target);
        }
        met.sort_by_key(|known| std::cmp::Reverse(known.1));
        self.held = met.into_iter().take(HELD.len()).map(|known| known.0).collect();
    }

    /// Passes of so many vectors while there is enough for one.
    fn passes(&mut self, steps: &[Step], vectors: usize) -> Option<()> {
        let (next, end) = (self.code.label(), self.code.label());
        let elements = distance(vectors * self.lanes.per_vector()).to_le_bytes();
        self.code.bind(next);
        // cmp rsi, elements
        self.code.raw(&[0x48, 0x81, 0xFE]);
        self.code.raw(&elements);
        self.code.jump(When::Below, end);
        if vectors == MANY {
            self.ask();
        }
        self.pass(steps, Pass { vectors, some: false })?;
        // add rax, bytes; sub rsi, elements
        self.code.raw(&[0x48, 0x05]);
        self.code.raw(&distance(vectors * VECTOR).to_le_bytes());
        self.code.raw(&[0x48, 0x81, 0xEE]);
        self.code.raw(&elements);
        self.code.jump(When::Always, next);
        self.code.bind(end);
        Some(())
    }

    /// Asks for memory that will be read soon.
    fn ask(&mut self) {
        let (next, end) = (self.code.label(), self.code.label());
        // test rcx, rcx
        self.code.raw(&[0x48, 0x85, 0xC9]);
        self.code.jump(When::Zero, end);
        // mov r11, rcx
        self.code.number(0x8B, Y, Number::Register(Gpr(1)));
        self.code.bind(next);
        // mov r10, [rdx + 8 r11 - 8]; r10 times 3; mov r10, [rdi + 8 r10]
        const { assert!(size_of::<Slot>() == 24, "three words") };
        self.code.raw(&[0x4E, 0x8B, 0x54, 0xDA, 0xF8, 0x4F, 0x8D, 0x14, 0x52]);
        self.code.raw(&[0x4E, 0x8B, 0x14, 0xD7]);
        self.code.number(0x03, X, Number::Register(AT));
        for line in (0..distance(MANY * VECTOR)).step_by(64) {
            // prefetcht0 [r10 + ...]
            self.code.raw(&[0x41, 0x0F, 0x18, 0x8A]);
            self.code.raw(&(distance(AHEAD) + line).to_le_bytes());
        }
        // dec r11
        self.code.raw(&[0x49, 0xFF, 0xCB]);
        self.code.jump(When::NotZero, next);
        self.code.bind(end);
    }

    /// The masks of what is left.
    fn masks(&mut self) {
        let (left, lanes) = (Ymm(4), self.lanes);
        // Of numbers of 64 bits only the low half is looked at in narrow lanes.
        self.code.half(FROM_NUMBER, left, NO, Operand::Register(Ymm(6)));
        self.code.vector(lanes.spread(), left, NO, Operand::Register(left));
        for vector in 0..FEW {
            let lane = |at: usize| (vector * lanes.per_vector() + at) as u64;
            let words = [0, 1, 2, 3].map(|word| match lanes.bytes {
                8 => lane(word),
                _ => lane(2 * word) | lane(2 * word + 1) << 32,
            });
            let numbers = Operand::Constant(self.code.constant(words));
            self.code.vector(lanes.above(), Pass::mask(vector), left, numbers);
        }
    }

    /// One pass through all steps.
    fn pass(&mut self, steps: &[Step], pass: Pass) -> Option<()> {
        for (slot, register) in self.held.clone().into_iter().zip(HELD) {
            self.address_of(slot, register, false);
        }
        steps.iter().try_for_each(|step| self.step(step, pass))
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

    /// The register with the address of the pass in a slot.
    pub(super) fn address(&mut self, slot: u32, otherwise: Gpr) -> Gpr {
        match self.held.iter().position(|held| *held == slot) {
            Some(place) => HELD[place],
            None => {
                self.address_of(slot, otherwise, false);
                otherwise
            }
        }
    }

    /// A vector of a slot, as an operand; with masks it has to be brought to a register first.
    pub(super) fn operand(&mut self, pass: Pass, vector: usize, at: Gpr, room: Ymm) -> Operand {
        if pass.some {
            Operand::Register(self.load(pass, vector, at, room))
        } else {
            Operand::Memory(at, distance(vector * VECTOR))
        }
    }

    /// A vector of a slot, in a register.
    pub(super) fn load(&mut self, pass: Pass, vector: usize, at: Gpr, room: Ymm) -> Ymm {
        let from = Operand::Memory(at, distance(vector * VECTOR));
        if pass.some {
            self.code.vector(self.lanes.load_some(), room, Pass::mask(vector), from);
        } else {
            self.code.vector(LOAD, room, NO, from);
        }
        room
    }

    /// A constant, of which a whole chunk is there, in a register.
    pub(super) fn load_same(&mut self, pass: Pass, slot: u32, register: Gpr) -> Ymm {
        self.code.number(0x8B, register, Self::field(slot, 0));
        self.code.vector(LOAD, pass.same(), NO, Operand::Memory(register, 0));
        pass.same()
    }

    fn step(&mut self, step: &Step, pass: Pass) -> Option<()> {
        if step.first != NONE {
            let from = self.address(step.first, X);
            for vector in 0..pass.vectors {
                self.load(pass, vector, from, Ymm::nth(vector));
            }
        }
        match step.code {
            What::LookUp => return None,
            What::Keep | What::Replace => self.choose(step, pass),
            What::AddProducts => self.add_products(step, pass),
            What::Horner => self.horner(step, pass),
            code => match code.kind() {
                Kind::Alone => {
                    (0..pass.vectors).for_each(|vector| self.alone(code, pass, vector));
                }
                Kind::Truth => self.compare(step, pass),
                Kind::With | Kind::Both => self.with(step, pass),
            },
        }
        if step.canonical {
            (0..pass.vectors).for_each(|vector| self.alone(What::Canonical, pass, vector));
        }
        if step.target != NONE {
            self.store(step.target, pass);
        }
        Some(())
    }

    /// Writes the accumulator to a slot, past the caches if that is what the slot says.
    fn store(&mut self, slot: u32, pass: Pass) {
        let to = self.address(slot, X);
        let place = |vector: usize| Operand::Memory(to, distance(vector * VECTOR));
        if pass.some {
            return self.store_some(to);
        }
        let (past, end) = (self.code.label(), self.code.label());
        let Number::Memory(_, at) = Self::field(slot, 2) else { return };
        // cmp byte [rdi + at], 0
        self.code.raw(&[0x80, 0xBF]);
        self.code.raw(&at.to_le_bytes());
        self.code.raw(&[0]);
        self.code.jump(When::NotZero, past);
        for vector in 0..pass.vectors {
            self.code.vector(STORE, Ymm::nth(vector), NO, place(vector));
        }
        self.code.jump(When::Always, end);
        self.code.bind(past);
        for vector in 0..pass.vectors {
            self.code.vector(STREAM, Ymm::nth(vector), NO, place(vector));
        }
        self.code.bind(end);
    }

    /// Writes what is left. Stores with masks are slow on some processors, even of all lanes or none.
    fn store_some(&mut self, to: Gpr) {
        let end = self.code.label();
        let per = self.lanes.per_vector();
        for vector in 0..FEW {
            let (whole, next) = (self.code.label(), self.code.label());
            let (a, place) = (Ymm::nth(vector), Operand::Memory(to, distance(vector * VECTOR)));
            for (count, when, label) in
                [(vector * per, When::AtMost, end), ((vector + 1) * per, When::AtLeast, whole)]
            {
                // cmp rsi, count
                self.code.raw(&[0x48, 0x81, 0xFE]);
                self.code.raw(&distance(count).to_le_bytes());
                self.code.jump(when, label);
            }
            self.code.vector(self.lanes.store_some(), a, Pass::mask(vector), place);
            self.code.jump(When::Always, next);
            self.code.bind(whole);
            self.code.vector(STORE, a, NO, place);
            self.code.bind(next);
        }
        self.code.bind(end);
    }
}

/// True if x is a constant, of which one chunk is there.
fn only_x(step: &Step) -> bool {
    match step.code {
        What::Horner => false,
        What::AddProducts => true,
        code => step.flat && matches!(code.kind(), Kind::With),
    }
}
