//! The instructions that steps need, by name.

use super::encode::Op;

/// Codes of instructions on floats, which both widths have.
pub(super) const ADD: u8 = 0x58;
pub(super) const MUL: u8 = 0x59;
pub(super) const SUB: u8 = 0x5C;
pub(super) const DIV: u8 = 0x5E;
pub(super) const MIN: u8 = 0x5D;
pub(super) const MAX: u8 = 0x5F;
pub(super) const SQRT: u8 = 0x51;
pub(super) const BOTH: u8 = 0x54;
pub(super) const EITHER: u8 = 0x56;
pub(super) const FLIP: u8 = 0x57;
/// Compares; the byte behind it says how.
pub(super) const COMPARE: u8 = 0xC2;

/// How numbers are compared; where one is NaN, only the last two are true.
pub(super) const EQUAL: u8 = 0x00;
pub(super) const LESS: u8 = 0x11;
pub(super) const AT_MOST: u8 = 0x12;
pub(super) const AT_LEAST: u8 = 0x1D;
pub(super) const GREATER: u8 = 0x1E;
pub(super) const UNEQUAL: u8 = 0x04;
pub(super) const UNORDERED: u8 = 0x03;

/// Fused codes, of `to`, `with` and `from`: `to from + with` and `with - to from`,
pub(super) const TO_FROM_PLUS: u8 = 0x98;
pub(super) const TO_FROM_TAKEN: u8 = 0x9C;
/// `with from + to` and `with from - to`.
pub(super) const WITH_FROM_PLUS: u8 = 0xB8;
pub(super) const WITH_FROM_MINUS: u8 = 0xBA;

/// How numbers are rounded, and nothing is noted.
pub(super) const EVEN: u8 = 8;
pub(super) const DOWN: u8 = 9;
pub(super) const UP: u8 = 10;
pub(super) const TO_ZERO: u8 = 11;

/// Whole vectors: loads, stores, and stores past the caches.
pub(super) const LOAD: Op = Op(0, 1, false, 0x10);
pub(super) const STORE: Op = Op(0, 1, false, 0x11);
pub(super) const STREAM: Op = Op(0, 1, false, 0x2B);

/// Bits of vectors, as integers.
pub(super) const AND: Op = Op(1, 1, false, 0xDB);
pub(super) const OR: Op = Op(1, 1, false, 0xEB);
pub(super) const XOR: Op = Op(1, 1, false, 0xEF);
/// Whether any bit is set.
pub(super) const TEST: Op = Op(1, 2, false, 0x17);
/// The half of a vector that the byte behind it names; its register is the last operand.
pub(super) const HALF: Op = Op(1, 3, false, 0x19);
/// Two of four words of each of two halves, those that the byte behind it names.
pub(super) const SHUFFLE: Op = Op(0, 1, false, 0xC6);
/// Words become halves of words, halves become bytes; what does not fit becomes the nearest.
pub(super) const PACK_WORDS: Op = Op(1, 1, false, 0x6B);
pub(super) const PACK_HALVES: Op = Op(1, 1, false, 0x63);
/// A number of 64 bits from a register for numbers.
pub(super) const FROM_NUMBER: Op = Op(1, 1, true, 0x6E);

/// Instructions on lanes of a width.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    /// Bytes of a lane: eight or four.
    pub(super) bytes: usize,
}

impl Lanes {
    fn wide(self) -> bool {
        self.bytes == 8
    }

    /// Lanes of a vector.
    pub(super) fn per_vector(self) -> usize {
        super::VECTOR / self.bytes
    }

    /// A code on floats.
    pub(super) fn float(self, code: u8) -> Op {
        Op(u8::from(self.wide()), 1, false, code)
    }

    /// A fused code, or one that shifts each lane by its own amount.
    pub(super) fn fused(self, code: u8) -> Op {
        Op(1, 2, self.wide(), code)
    }

    fn pick(self, wide: Op, narrow: Op) -> Op {
        if self.wide() { wide } else { narrow }
    }

    /// Integers: sums, differences, shifts.
    pub(super) fn plus(self) -> Op {
        self.pick(Op(1, 1, false, 0xD4), Op(1, 1, false, 0xFE))
    }

    pub(super) fn minus(self) -> Op {
        self.pick(Op(1, 1, false, 0xFB), Op(1, 1, false, 0xFA))
    }

    pub(super) fn shift_left(self) -> Op {
        self.fused(0x47)
    }

    pub(super) fn shift_right(self) -> Op {
        self.fused(0x45)
    }

    /// Integers that are equal, and above: masks.
    pub(super) fn same(self) -> Op {
        self.pick(Op(1, 2, false, 0x29), Op(1, 1, false, 0x76))
    }

    pub(super) fn above(self) -> Op {
        self.pick(Op(1, 2, false, 0x37), Op(1, 1, false, 0x66))
    }

    /// Bytes become lanes.
    pub(super) fn widen(self) -> Op {
        self.pick(Op(1, 2, false, 0x22), Op(1, 2, false, 0x21))
    }

    /// The first lane in all.
    pub(super) fn spread(self) -> Op {
        self.pick(Op(1, 2, false, 0x59), Op(1, 2, false, 0x58))
    }

    /// As many bytes as a vector has lanes, to memory.
    pub(super) fn write_bytes(self) -> Op {
        self.pick(Op(1, 1, false, 0x7E), Op(1, 1, false, 0xD6))
    }

    /// Rounds to whole numbers; the byte behind it says how.
    pub(super) fn round(self) -> Op {
        self.pick(Op(1, 3, false, 0x09), Op(1, 3, false, 0x08))
    }

    /// Chooses by a mask, which the byte behind it names.
    pub(super) fn blend(self) -> Op {
        self.pick(Op(1, 3, false, 0x4B), Op(1, 3, false, 0x4A))
    }

    /// Loads and stores of lanes by a mask.
    pub(super) fn load_some(self) -> Op {
        self.pick(Op(1, 2, false, 0x2D), Op(1, 2, false, 0x2C))
    }

    pub(super) fn store_some(self) -> Op {
        self.pick(Op(1, 2, false, 0x2F), Op(1, 2, false, 0x2E))
    }
}
