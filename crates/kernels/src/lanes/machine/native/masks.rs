//! Masks, which say what lanes are meant.
//!
//! Of vectors of 32 bytes they are vectors themselves, whose lanes are all ones or zeros. Of those of
//! 64 they have registers of their own, and most instructions take one.

use super::code::{Form, distance};
use super::emit::{Emitter, NO, Pass, X};
use super::encode::{Gpr, Mask, Op, Operand, Register};
use super::ops::{
    AND, FROM_NUMBER, HALF, LOAD, LOAD_BYTES, MASK_BEHIND, MASK_FROM_NUMBER, PACK_HALVES,
    PACK_WORDS, SHUFFLE, STORE, TEST_BYTES, XOR,
};
use crate::lanes::machine::FEW;

impl Emitter {
    /// A mask of a vector's own within a step; where masks are vectors it is the second of its own.
    pub(super) fn own_mask(&self, pass: Pass, vector: usize) -> Mask {
        match self.lanes.form {
            Form::Vex => Mask(pass.own(vector)[1].0),
            Form::Evex => Mask(Register::nth(5 + vector % 2).0),
        }
    }

    /// The mask of a vector in the pass over what is left.
    fn left(&self, vector: usize) -> Mask {
        let first = if self.lanes.form == Form::Vex { 12 } else { 1 };
        Mask(Register::nth(first + vector).0)
    }

    /// Makes the masks of what is left, which is less than a pass of [`FEW`].
    pub(super) fn make_masks(&mut self) {
        match self.lanes.form {
            Form::Vex => self.make_vectors(),
            Form::Evex => self.make_bits(),
        }
    }

    /// A lane is meant if the count is above its number.
    fn make_vectors(&mut self) {
        let (left, lanes) = (Register(4), self.lanes);
        // Of numbers of 64 bits only the low half is looked at in narrow lanes.
        self.code.short(FROM_NUMBER, left, NO, Operand::Register(Register(6)));
        self.code.vector(lanes.spread(), left, NO, Operand::Register(left));
        for vector in 0..FEW {
            let lane = |at: usize| (vector * lanes.per_vector() + at) as u64;
            let numbers = self.code.constant(std::array::from_fn(|word| match lanes.bytes {
                8 => lane(word),
                _ => lane(2 * word) | lane(2 * word + 1) << 32,
            }));
            self.code.vector(lanes.above(), self.left(vector).register(), left, numbers);
        }
    }

    /// One bit for each lane of a pass: they are at most 64, and some are not left.
    fn make_bits(&mut self) {
        // xor r10, r10; bts r10, rsi; dec r10
        self.code.raw(&[0x4D, 0x31, 0xD2, 0x49, 0x0F, 0xAB, 0xF2, 0x49, 0xFF, 0xCA]);
        let first = self.left(0).register();
        self.code.short(MASK_FROM_NUMBER, first, NO, Operand::Register(Register(X.0)));
        for vector in 1..FEW {
            let lanes = u8::try_from(vector * self.lanes.per_vector()).expect("at most 48");
            let mask = self.left(vector).register();
            self.code.short(MASK_BEHIND.by(lanes), mask, NO, Operand::Register(first));
        }
    }

    /// Reads the lanes of a vector that are left; the others are zero.
    pub(super) fn load_some(&mut self, to: Register, from: Operand, vector: usize) {
        let (lanes, mask) = (self.lanes, self.left(vector));
        match lanes.form {
            Form::Vex => self.code.vector(lanes.load_some(), to, mask.register(), from),
            Form::Evex => self.code.vector(lanes.float(LOAD).or_zero(mask), to, NO, from),
        }
    }

    /// Writes the lanes of a vector that are left.
    pub(super) fn store_some(&mut self, of: Register, to: Operand, vector: usize) {
        let (lanes, mask) = (self.lanes, self.left(vector));
        match lanes.form {
            Form::Vex => self.code.vector(lanes.store_some(), of, mask.register(), to),
            Form::Evex => self.code.vector(lanes.float(STORE).only(mask), of, NO, to),
        }
    }

    /// The mask becomes where a comparison is true.
    pub(super) fn look_where(&mut self, op: Op, mask: Mask, a: Register, x: Operand) {
        self.code.vector(op, mask.register(), a, x);
    }

    /// `to` becomes `yes` where the mask is set, else `no`.
    pub(super) fn blend(&mut self, to: Register, no: Register, yes: Operand, mask: Mask) {
        let blend = match self.lanes.form {
            Form::Vex => self.lanes.blend().by(mask.0 << 4),
            Form::Evex => self.lanes.blend().only(mask),
        };
        self.code.vector(blend, to, no, yes);
    }

    /// Truth values of a vector, so many bytes behind an address.
    fn truths(&self, at: Gpr, vector: usize) -> Operand {
        Operand::Memory(at, distance(vector * self.lanes.per_vector()))
    }

    /// The mask becomes where truth values are true.
    pub(super) fn read_truths(&mut self, mask: Mask, room: Register, (at, vector): (Gpr, usize)) {
        let (lanes, truths, rest) = (self.lanes, self.truths(at, vector), Operand::Register(room));
        match lanes.form {
            Form::Vex => {
                self.code.vector(lanes.widen(), mask.register(), NO, truths);
                self.code.vector(XOR, room, room, rest);
                self.code.vector(lanes.above(), mask.register(), mask.register(), rest);
            }
            Form::Evex => {
                self.code.short(lanes.read_bytes(), room, NO, truths);
                self.code.short_some(TEST_BYTES, mask.register(), room, rest);
            }
        }
    }

    /// Truth values become true where the mask is set, else false.
    pub(super) fn write_truths(&mut self, mask: Mask, room: Register, (at, vector): (Gpr, usize)) {
        let ones = self.code.constant([0x0101_0101_0101_0101; 8]);
        let bytes = match self.lanes.form {
            Form::Vex => {
                self.pack(mask.register(), room, ones);
                mask.register()
            }
            Form::Evex => {
                self.code.short_some(LOAD_BYTES.or_zero(mask), room, NO, ones);
                room
            }
        };
        let place = self.truths(at, vector);
        self.code.short(self.lanes.write_bytes(), bytes, NO, place);
    }

    /// Makes bytes of 0 and 1 of a mask that is a vector.
    fn pack(&mut self, mask: Register, room: Register, ones: Operand) {
        let (own, high) = (Operand::Register(mask), Operand::Register(room));
        self.code.vector(HALF.by(1), mask, NO, high);
        if self.lanes.bytes == 8 {
            // Halves of a mask are masks: each second one will do.
            self.code.short(SHUFFLE.by(0x88), mask, mask, high);
            self.code.short(PACK_WORDS, mask, mask, own);
        } else {
            self.code.short(PACK_WORDS, mask, mask, high);
        }
        self.code.short(PACK_HALVES, mask, mask, own);
        self.code.short(AND, mask, mask, ones);
    }
}
