//! Masks, which say what lanes are meant.
//!
//! Of vectors of 32 bytes they are vectors themselves, whose lanes are all ones or zeros. Of those of
//! 64 they have registers of their own, and most instructions take one.

use super::assembler::{VectorEncoding, distance};
use super::emit::{EmitPass, Emitter, NO, X};
use super::encode::{Gpr, MaskRegister, Register, VectorInstruction, VectorOperand};
use super::ops::{
    AND, FROM_NUMBER, HALF, LOAD, LOAD_BYTES, MASK_BEHIND, MASK_FROM_NUMBER, PACK_HALVES,
    PACK_WORDS, SHUFFLE, STORE, TEST_BYTES, XOR,
};
use crate::lanes::interpreter::FEW;

impl Emitter {
    /// A mask of a vector's own within an operation; where masks are vectors it is the second of
    /// its own.
    pub(super) fn own_mask(&self, pass: EmitPass, vector: usize) -> MaskRegister {
        match self.lanes.form {
            VectorEncoding::Vex => MaskRegister(pass.own(vector)[1].0),
            VectorEncoding::Evex => MaskRegister(Register::nth(5 + vector % 2).0),
        }
    }

    /// The mask of a vector in the pass over what is left.
    fn left(&self, vector: usize) -> MaskRegister {
        let first = if self.lanes.form == VectorEncoding::Vex { 12 } else { 1 };
        MaskRegister(Register::nth(first + vector).0)
    }

    /// Makes the masks of what is left, which is less than a pass of [`FEW`].
    pub(super) fn make_masks(&mut self) {
        match self.lanes.form {
            VectorEncoding::Vex => self.make_vectors(),
            VectorEncoding::Evex => self.make_bits(),
        }
    }

    /// A lane is meant if the count is above its number.
    fn make_vectors(&mut self) {
        let (left, lanes) = (Register(4), self.lanes);
        // Of numbers of 64 bits only the low half is looked at in narrow lanes.
        self.code.short(FROM_NUMBER, left, NO, VectorOperand::Register(Register(6)));
        self.code.vector(lanes.spread(), left, NO, VectorOperand::Register(left));
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
        self.code.short(MASK_FROM_NUMBER, first, NO, VectorOperand::Register(Register(X.0)));
        for vector in 1..FEW {
            let lanes = u8::try_from(vector * self.lanes.per_vector()).expect("at most 48");
            let mask = self.left(vector).register();
            self.code.short(MASK_BEHIND.by(lanes), mask, NO, VectorOperand::Register(first));
        }
    }

    /// Reads the lanes of a vector that are left; the others are zero.
    pub(super) fn load_some(&mut self, to: Register, from: VectorOperand, vector: usize) {
        let (lanes, mask) = (self.lanes, self.left(vector));
        match lanes.form {
            VectorEncoding::Vex => self.code.vector(lanes.load_some(), to, mask.register(), from),
            VectorEncoding::Evex => self.code.vector(lanes.float(LOAD).or_zero(mask), to, NO, from),
        }
    }

    /// Writes the lanes of a vector that are left.
    pub(super) fn store_some(&mut self, of: Register, to: VectorOperand, vector: usize) {
        let (lanes, mask) = (self.lanes, self.left(vector));
        match lanes.form {
            VectorEncoding::Vex => self.code.vector(lanes.store_some(), of, mask.register(), to),
            VectorEncoding::Evex => self.code.vector(lanes.float(STORE).only(mask), of, NO, to),
        }
    }

    /// The mask becomes where a comparison is true.
    pub(super) fn look_where(
        &mut self,
        op: VectorInstruction,
        mask: MaskRegister,
        a: Register,
        x: VectorOperand,
    ) {
        self.code.vector(op, mask.register(), a, x);
    }

    /// `to` becomes `yes` where the mask is set, else `no`.
    pub(super) fn blend(
        &mut self,
        to: Register,
        no: Register,
        yes: VectorOperand,
        mask: MaskRegister,
    ) {
        let blend = match self.lanes.form {
            VectorEncoding::Vex => self.lanes.blend().by(mask.0 << 4),
            VectorEncoding::Evex => self.lanes.blend().only(mask),
        };
        self.code.vector(blend, to, no, yes);
    }

    /// Bools of a vector, so many bytes behind an address.
    fn bools(&self, at: Gpr, vector: usize) -> VectorOperand {
        VectorOperand::Memory(at, distance(vector * self.lanes.per_vector()))
    }

    /// The mask is set where bools are true.
    pub(super) fn load_mask(
        &mut self,
        mask: MaskRegister,
        room: Register,
        (at, vector): (Gpr, usize),
    ) {
        let (lanes, bools, rest) =
            (self.lanes, self.bools(at, vector), VectorOperand::Register(room));
        match lanes.form {
            VectorEncoding::Vex => {
                self.code.vector(lanes.widen(), mask.register(), NO, bools);
                self.code.vector(XOR, room, room, rest);
                self.code.vector(lanes.above(), mask.register(), mask.register(), rest);
            }
            VectorEncoding::Evex => {
                self.code.short(lanes.read_bytes(), room, NO, bools);
                self.code.short_some(TEST_BYTES, mask.register(), room, rest);
            }
        }
    }

    /// Bools become true where the mask is set, else false.
    pub(super) fn store_mask(
        &mut self,
        mask: MaskRegister,
        room: Register,
        (at, vector): (Gpr, usize),
    ) {
        let ones = self.code.constant([0x0101_0101_0101_0101; 8]);
        let bytes = match self.lanes.form {
            VectorEncoding::Vex => {
                self.pack(mask.register(), room, ones);
                mask.register()
            }
            VectorEncoding::Evex => {
                self.code.short_some(LOAD_BYTES.or_zero(mask), room, NO, ones);
                room
            }
        };
        let place = self.bools(at, vector);
        self.code.short(self.lanes.write_bytes(), bytes, NO, place);
    }

    /// Makes bytes of 0 and 1 of a mask that is a vector.
    fn pack(&mut self, mask: Register, room: Register, ones: VectorOperand) {
        let (own, high) = (VectorOperand::Register(mask), VectorOperand::Register(room));
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
