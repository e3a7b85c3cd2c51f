//! From steps to code.
//!
//! Registers: the accumulator is in the first vectors, what is only needed within a step in those
//! behind it; the masks of a pass over what is left are in the last four. `rdi` are the slots, `rsi`
//! the elements that are left, `rax` the bytes of a lane before the pass, `rdx` and `rcx` the slots
//! that are asked for ahead. Addresses of the slots that are read most are in registers of their own.

use super::super::{Code as What, Kind, NONE, Step};
use super::encode::{Code, Gpr, Number, Op, Operand, When, Ymm};
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

/// Bytes of a vector.
const VECTOR: usize = 32;

/// Vectors of a pass, of one of long code, and of one over what is left.
const MANY: usize = 8;
const FEW: usize = 4;

/// More steps than this are long code.
const LONG: usize = 48;

/// How far ahead memory is asked for, in bytes: farther than it takes to arrive, and near enough to
/// be there still.
const AHEAD: i32 = 1024;

/// A pass over some vectors; the last one is over some of their elements.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) vectors: usize,
    pub(super) some: bool,
}

impl Pass {
    /// Registers of a vector's own within a step.
    pub(super) fn own(self, vector: usize) -> [Ymm; 3] {
        let first = if self.vectors == MANY { 8 } else { 4 } + 3 * small(vector % 2);
        [Ymm(first), Ymm(first + 1), Ymm(first + 2)]
    }

    /// A register for what is the same for all vectors.
    fn same(self) -> Ymm {
        Ymm(if self.vectors == MANY { 15 } else { 11 })
    }

    fn mask(vector: usize) -> Ymm {
        Ymm(12 + small(vector))
    }
}

/// A number of a register.
fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn distance(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// Instructions on floats of a width.
#[derive(Clone, Copy)]
pub(super) struct Floats {
    wide: bool,
}

impl Floats {
    pub(super) fn op(self, code: u8) -> Op {
        Op(u8::from(self.wide), 1, false, code)
    }

    fn fused(self, code: u8) -> Op {
        Op(1, 2, self.wide, code)
    }

    /// Those whose codes of narrow floats are one less.
    fn of(self, map: u8, wide: u8) -> Op {
        Op(1, map, false, wide - u8::from(!self.wide))
    }
}

const ADD: u8 = 0x58;
const MUL: u8 = 0x59;
const SUB: u8 = 0x5C;
const DIV: u8 = 0x5E;
const MOVE: Op = Op(0, 1, false, 0x10);
const STORE: Op = Op(0, 1, false, 0x11);
const STREAM: Op = Op(0, 1, false, 0x2B);

/// Code on its way.
pub(super) struct Emitter {
    pub(super) code: Code,
    /// Bytes of a lane.
    pub(super) lane: usize,
    pub(super) floats: Floats,
    held: Vec<u32>,
}

impl Emitter {
    /// No code yet, for lanes of so many bytes.
    pub(super) fn new(lane: usize) -> Self {
        let floats = Floats { wide: lane == 8 };
        Self { code: Code::default(), lane, floats, held: Vec::new() }
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
        let elements = distance(vectors * VECTOR / self.lane).to_le_bytes();
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
            self.code.raw(&(AHEAD + line).to_le_bytes());
        }
        // dec r11
        self.code.raw(&[0x49, 0xFF, 0xCB]);
        self.code.jump(When::NotZero, next);
        self.code.bind(end);
    }

    /// The masks of what is left.
    fn masks(&mut self) {
        let left = Ymm(4);
        let per = VECTOR / self.lane;
        // Of numbers of 64 bits only the low half is looked at in narrow lanes.
        self.code.half(Op(1, 1, true, 0x6E), left, NO, Operand::Register(Ymm(6)));
        let (spread, above) = match self.lane {
            8 => (0x59, Op(1, 2, false, 0x37)),
            _ => (0x58, Op(1, 1, false, 0x66)),
        };
        self.code.vector(Op(1, 2, false, spread), left, NO, Operand::Register(left));
        for vector in 0..FEW {
            let lane = |at: usize| (vector * per + at) as u64;
            let words = [0, 1, 2, 3].map(|word| match self.lane {
                8 => lane(word),
                _ => lane(2 * word) | lane(2 * word + 1) << 32,
            });
            let numbers = Operand::Constant(self.code.constant(words));
            self.code.vector(above, Pass::mask(vector), left, numbers);
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
    pub(super) fn field(slot: u32, word: usize) -> Number {
        Number::Memory(SLOTS, distance(slot as usize * size_of::<Slot>() + word * 8))
    }

    /// Brings the address of the pass in a slot to a register; of lanes, or of truth values.
    pub(super) fn address_of(&mut self, slot: u32, register: Gpr, truths: bool) {
        self.code.number(0x8B, register, Number::Register(AT));
        if truths {
            // shr register, bits
            let bits = small(self.lane.trailing_zeros() as usize);
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
            self.code.vector(self.floats.of(2, 0x2D), room, Pass::mask(vector), from);
        } else {
            self.code.vector(MOVE, room, NO, from);
        }
        room
    }

    /// A constant, of which a whole chunk is there, in a register.
    fn load_same(&mut self, pass: Pass, slot: u32, register: Gpr) -> Ymm {
        self.code.number(0x8B, register, Self::field(slot, 0));
        self.code.vector(MOVE, pass.same(), NO, Operand::Memory(register, 0));
        pass.same()
    }

    fn step(&mut self, step: &Step, pass: Pass) -> Option<()> {
        if step.first != NONE {
            let from = self.address(step.first, X);
            for vector in 0..pass.vectors {
                self.load(pass, vector, from, Ymm(small(vector)));
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

    fn add_products(&mut self, step: &Step, pass: Pass) {
        let floats = self.floats;
        if step.x != NONE {
            let same = self.load_same(pass, step.x, Y);
            self.each(pass, |code, a| code.vector(floats.op(MUL), a, a, Operand::Register(same)));
        }
        for pair in step.more.as_chunks::<2>().0 {
            let (x, same) = (self.address(pair[0], X), self.load_same(pass, pair[1], Y));
            for vector in 0..pass.vectors {
                let ([t, ..], a) = (pass.own(vector), Ymm(small(vector)));
                let x = self.operand(pass, vector, x, t);
                self.code.vector(floats.op(MUL), t, same, x);
                self.code.vector(floats.op(ADD), a, a, Operand::Register(t));
            }
        }
        if step.y != NONE {
            let y = self.address(step.y, Y);
            for vector in 0..pass.vectors {
                let a = Ymm(small(vector));
                let y = self.operand(pass, vector, y, pass.own(vector)[0]);
                self.code.vector(floats.op(ADD), a, a, y);
            }
        }
    }

    fn horner(&mut self, step: &Step, pass: Pass) {
        let x = self.address(step.x, X);
        for constant in &step.more {
            let same = self.load_same(pass, *constant, Y);
            for vector in 0..pass.vectors {
                let x = self.operand(pass, vector, x, pass.own(vector)[0]);
                self.code.vector(self.floats.fused(0x98), Ymm(small(vector)), same, x);
            }
        }
    }

    fn each(&mut self, pass: Pass, mut act: impl FnMut(&mut Code, Ymm)) {
        (0..pass.vectors).for_each(|vector| act(&mut self.code, Ymm(small(vector))));
    }

    /// A step that reads x, or x and y.
    fn with(&mut self, step: &Step, pass: Pass) {
        let both = matches!(step.code.kind(), Kind::Both);
        let same = step.flat.then(|| self.load_same(pass, if both { step.y } else { step.x }, Y));
        let x = (both || same.is_none()).then(|| self.address(step.x, X));
        let y = (both && same.is_none()).then(|| self.address(step.y, Y));
        for vector in 0..pass.vectors {
            let ([t, u, v], a) = (pass.own(vector), Ymm(small(vector)));
            let x = match x {
                Some(x) => self.operand(pass, vector, x, t),
                None => Operand::Register(same.unwrap_or(t)),
            };
            if !both {
                self.one_more(step.code, a, x, [t, u, v]);
                continue;
            }
            let y = match (same, y) {
                (None, Some(y)) => self.operand(pass, vector, y, u),
                _ => Operand::Register(same.unwrap_or(u)),
            };
            self.two_more(step.code, a, (x, y), [t, u]);
        }
    }

    /// An operand in a register.
    fn register(&mut self, operand: Operand, room: Ymm) -> Ymm {
        match operand {
            Operand::Register(register) => register,
            memory => {
                self.code.vector(MOVE, room, NO, memory);
                room
            }
        }
    }

    /// `a` becomes what a code makes of it and `x`.
    fn one_more(&mut self, code: What, a: Ymm, x: Operand, [t, u, v]: [Ymm; 3]) {
        let floats = self.floats;
        let whole = |wide: u8, narrow: u8| Op(1, 1, false, if floats.wide { wide } else { narrow });
        let (op, turned) = match code {
            What::Add => (floats.op(ADD), false),
            What::Sub => (floats.op(SUB), false),
            What::SubFrom => (floats.op(SUB), true),
            What::Mul => (floats.op(MUL), false),
            What::Div => (floats.op(DIV), false),
            What::DivInto => (floats.op(DIV), true),
            What::AtMost => (floats.op(0x5D), true),
            What::AtLeast => (floats.op(0x5F), true),
            What::Plus => (whole(0xD4, 0xFE), false),
            What::Minus => (whole(0xFB, 0xFA), false),
            What::MinusFrom => (whole(0xFB, 0xFA), true),
            What::And => (Op(1, 1, false, 0xDB), false),
            What::Or => (Op(1, 1, false, 0xEB), false),
            What::Xor => (Op(1, 1, false, 0xEF), false),
            What::Shl => (floats.fused(0x47), false),
            What::ShlBy => (floats.fused(0x47), true),
            What::Shr => (floats.fused(0x45), false),
            What::ShrBy => (floats.fused(0x45), true),
            // The least, or the most: of equal ones both bits of the sign, or of NaN the first.
            _ => {
                let (least, both) = if code == What::Min { (0x5D, 0x56) } else { (0x5F, 0x54) };
                self.code.vector_by((floats.op(0xC2), 0), u, a, x);
                self.code.vector(floats.op(both), v, a, x);
                self.code.vector(floats.op(least), t, a, x);
                self.blend(t, t, Operand::Register(v), u);
                self.code.vector_by((floats.op(0xC2), 3), u, a, Operand::Register(a));
                return self.blend(a, t, Operand::Register(a), u);
            }
        };
        if turned {
            let x = self.register(x, t);
            self.code.vector(op, a, x, Operand::Register(a));
        } else {
            self.code.vector(op, a, a, x);
        }
    }

    /// `to` becomes `yes` where the mask is set, else `no`.
    pub(super) fn blend(&mut self, to: Ymm, no: Ymm, yes: Operand, mask: Ymm) {
        self.code.vector_by((self.floats.of(3, 0x4B), mask.0 << 4), to, no, yes);
    }

    /// `a` becomes what a code makes of it, `x` and `y`.
    fn two_more(&mut self, code: What, a: Ymm, (x, y): (Operand, Operand), [t, u]: [Ymm; 2]) {
        let floats = self.floats;
        // What is made of x and y, and of that and a; true if a is the second operand.
        let (inner, outer, turned) = match code {
            What::TimesPlus | What::NegTimesPlus => {
                let y = self.register(y, u);
                let op = if code == What::TimesPlus { 0x98 } else { 0x9C };
                return self.code.vector(floats.fused(op), a, y, x);
            }
            What::PlusFused | What::FusedMinus => {
                let x = self.register(x, t);
                let op = if code == What::PlusFused { 0xB8 } else { 0xBA };
                return self.code.vector(floats.fused(op), a, x, y);
            }
            What::AddThenAdd | What::MulThenAdd | What::MulThenMul => {
                let first = if code == What::AddThenAdd { ADD } else { MUL };
                let second = if code == What::MulThenMul { MUL } else { ADD };
                self.code.vector(floats.op(first), a, a, x);
                return self.code.vector(floats.op(second), a, a, y);
            }
            What::SubThenSubFrom => {
                self.code.vector(floats.op(SUB), a, a, x);
                let y = self.register(y, u);
                return self.code.vector(floats.op(SUB), a, y, Operand::Register(a));
            }
            What::AddSum => (ADD, ADD, false),
            What::AddDifference => (SUB, ADD, false),
            What::AddProduct => (MUL, ADD, false),
            What::AddQuotient => (DIV, ADD, false),
            What::SubSum => (ADD, SUB, false),
            What::SubDifference => (SUB, SUB, false),
            What::SubProduct => (MUL, SUB, false),
            What::SubQuotient => (DIV, SUB, false),
            What::SubFromSum => (ADD, SUB, true),
            What::SubFromDifference => (SUB, SUB, true),
            What::SubFromProduct => (MUL, SUB, true),
            What::SubFromQuotient => (DIV, SUB, true),
            What::MulSum => (ADD, MUL, false),
            What::MulDifference => (SUB, MUL, false),
            What::MulProduct => (MUL, MUL, false),
            _ => (DIV, MUL, false),
        };
        let x = self.register(x, t);
        self.code.vector(floats.op(inner), t, x, y);
        let (one, other) = if turned { (t, a) } else { (a, t) };
        self.code.vector(floats.op(outer), a, one, Operand::Register(other));
    }

    /// A vector of the accumulator becomes what a code makes of it alone.
    fn alone(&mut self, code: What, pass: Pass, vector: usize) {
        let ([t, ..], a) = (pass.own(vector), Ymm(small(vector)));
        let (floats, own) = (self.floats, Operand::Register(a));
        let round = floats.of(3, 0x09);
        match code {
            What::Neg => {
                let sign = self.lanes(1 << 63, 1 << 31);
                self.code.vector(floats.op(0x57), a, a, sign);
            }
            What::Abs => {
                let magnitude = self.lanes(u64::MAX >> 1, u32::MAX >> 1);
                self.code.vector(floats.op(0x54), a, a, magnitude);
            }
            What::Sqrt => self.code.vector(floats.op(0x51), a, NO, own),
            What::Floor => self.code.vector_by((round, 9), a, NO, own),
            What::Ceil => self.code.vector_by((round, 10), a, NO, own),
            What::Trunc => self.code.vector_by((round, 11), a, NO, own),
            What::RoundEven => self.code.vector_by((round, 8), a, NO, own),
            What::Square => self.code.vector(floats.op(MUL), a, a, own),
            _ => {
                let nan = self.lanes(0x7FF8 << 48, 0x7FC0 << 16);
                self.code.vector_by((floats.op(0xC2), 3), t, a, own);
                self.blend(a, a, nan, t);
            }
        }
    }

    /// A constant of the code's own, the same in all lanes.
    fn lanes(&mut self, wide: u64, narrow: u32) -> Operand {
        let word = if self.lane == 8 { wide } else { u64::from(narrow) << 32 | u64::from(narrow) };
        Operand::Constant(self.code.constant([word; 4]))
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
            self.code.vector(STORE, Ymm(small(vector)), NO, place(vector));
        }
        self.code.jump(When::Always, end);
        self.code.bind(past);
        for vector in 0..pass.vectors {
            self.code.vector(STREAM, Ymm(small(vector)), NO, place(vector));
        }
        self.code.bind(end);
    }

    /// Writes what is left. Stores with masks are slow on some processors, even of all lanes or none.
    fn store_some(&mut self, to: Gpr) {
        let end = self.code.label();
        let per = VECTOR / self.lane;
        for vector in 0..FEW {
            let (whole, next) = (self.code.label(), self.code.label());
            let (a, place) = (Ymm(small(vector)), Operand::Memory(to, distance(vector * VECTOR)));
            for (count, when, label) in
                [(vector * per, When::AtMost, end), ((vector + 1) * per, When::AtLeast, whole)]
            {
                // cmp rsi, count
                self.code.raw(&[0x48, 0x81, 0xFE]);
                self.code.raw(&distance(count).to_le_bytes());
                self.code.jump(when, label);
            }
            self.code.vector(self.floats.of(2, 0x2F), a, Pass::mask(vector), place);
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
