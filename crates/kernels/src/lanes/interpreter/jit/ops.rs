//! The instructions that operations need, by name.

use super::assembler::VectorEncoding;
use super::encode::VectorInstruction;

/// Codes of instructions on floats, which both widths of lanes have.
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
/// Loads, stores, and non-temporal stores.
pub(super) const LOAD: u8 = 0x10;
pub(super) const STORE: u8 = 0x11;
pub(super) const STREAM: u8 = 0x2B;

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

/// How numbers are rounded, without setting the inexact flag.
pub(super) const EVEN: u8 = 8;
pub(super) const DOWN: u8 = 9;
pub(super) const UP: u8 = 10;
pub(super) const TO_ZERO: u8 = 11;

/// Bits of vectors, as integers.
pub(super) const AND: VectorInstruction = VectorInstruction::new(1, 1, false, 0xDB);
pub(super) const OR: VectorInstruction = VectorInstruction::new(1, 1, false, 0xEB);
pub(super) const XOR: VectorInstruction = VectorInstruction::new(1, 1, false, 0xEF);

/// Sixteen bytes from memory, or eight.
pub(super) const LOAD_SHORT: VectorInstruction = VectorInstruction::new(0, 1, false, 0x10);
pub(super) const LOAD_EIGHT: VectorInstruction = VectorInstruction::new(2, 1, false, 0x7E);
/// Whether any bit is set.
pub(super) const TEST: VectorInstruction = VectorInstruction::new(1, 2, false, 0x17);
/// The half of a vector that the byte behind it names; its register is the last operand.
pub(super) const HALF: VectorInstruction = VectorInstruction::new(1, 3, false, 0x19);
/// Two of four words of each of two halves, those that the byte behind it names.
pub(super) const SHUFFLE: VectorInstruction = VectorInstruction::new(0, 1, false, 0xC6);
/// Words become halves of words, halves become bytes; what does not fit becomes the nearest.
pub(super) const PACK_WORDS: VectorInstruction = VectorInstruction::new(1, 1, false, 0x6B);
pub(super) const PACK_HALVES: VectorInstruction = VectorInstruction::new(1, 1, false, 0x63);
/// A number of 64 bits from a register for numbers.
pub(super) const FROM_NUMBER: VectorInstruction = VectorInstruction::new(1, 1, true, 0x6E);

/// A mask from the bits of a register for numbers; one without as many of the first lanes as the byte
/// behind it says.
pub(super) const MASK_FROM_NUMBER: VectorInstruction = VectorInstruction::new(3, 1, true, 0x92);
pub(super) const MASK_BEHIND: VectorInstruction = VectorInstruction::new(1, 3, true, 0x31);
/// The bytes of which some bit is set in both: a mask.
pub(super) const TEST_BYTES: VectorInstruction = VectorInstruction::new(1, 2, false, 0x26);
/// Some bytes.
pub(super) const LOAD_BYTES: VectorInstruction = VectorInstruction::new(3, 1, false, 0x6F);

/// Instructions on lanes of a width.
#[derive(Clone, Copy)]
pub(super) struct LaneWidth {
    /// Bytes of a lane: eight or four.
    pub(super) bytes: usize,
    pub(super) form: VectorEncoding,
}

impl LaneWidth {
    fn wide(self) -> bool {
        self.bytes == 8
    }

    /// Lanes of a vector.
    pub(super) fn per_vector(self) -> usize {
        self.form.bytes() / self.bytes
    }

    /// A code on floats.
    pub(super) fn float(self, code: u8) -> VectorInstruction {
        VectorInstruction::new(u8::from(self.wide()), 1, self.marks_width(), code)
    }

    /// The bit W of instructions whose codes tell lanes apart: only [`VectorEncoding::Evex`] looks
    /// at it, and emulators may refuse it elsewhere.
    fn marks_width(self) -> bool {
        self.wide() && self.form == VectorEncoding::Evex
    }

    /// A fused code, or one that shifts each lane by its own amount.
    pub(super) fn fused(self, code: u8) -> VectorInstruction {
        VectorInstruction::new(1, 2, self.wide(), code)
    }

    /// The one of two codes that is for these lanes, with its map of codes.
    fn pick(self, wide: (u8, u8), narrow: (u8, u8)) -> VectorInstruction {
        let (map, code) = if self.wide() { wide } else { narrow };
        VectorInstruction::new(1, map, self.marks_width(), code)
    }

    /// Integers: sums, differences, shifts.
    pub(super) fn plus(self) -> VectorInstruction {
        self.pick((1, 0xD4), (1, 0xFE))
    }

    pub(super) fn minus(self) -> VectorInstruction {
        self.pick((1, 0xFB), (1, 0xFA))
    }

    pub(super) fn shift_left(self) -> VectorInstruction {
        self.fused(0x47)
    }

    pub(super) fn shift_right(self) -> VectorInstruction {
        self.fused(0x45)
    }

    /// Integers that are equal, and above: masks.
    pub(super) fn same(self) -> VectorInstruction {
        self.pick((2, 0x29), (1, 0x76))
    }

    pub(super) fn above(self) -> VectorInstruction {
        self.pick((2, 0x37), (1, 0x66))
    }

    /// Rounds to whole numbers; the byte behind it says how.
    pub(super) fn round(self) -> VectorInstruction {
        self.pick((3, 0x09), (3, 0x08))
    }

    /// Chooses by a mask.
    pub(super) fn blend(self) -> VectorInstruction {
        match self.form {
            VectorEncoding::Vex => self.pick((3, 0x4B), (3, 0x4A)),
            VectorEncoding::Evex => self.fused(0x65),
        }
    }

    /// Bytes become lanes, where masks are vectors.
    pub(super) fn widen(self) -> VectorInstruction {
        self.pick((2, 0x22), (2, 0x21))
    }

    /// The first lane in all, where masks are vectors.
    pub(super) fn spread(self) -> VectorInstruction {
        self.pick((2, 0x59), (2, 0x58))
    }

    /// Loads and stores of lanes by a mask that is a vector.
    pub(super) fn load_some(self) -> VectorInstruction {
        self.pick((2, 0x2D), (2, 0x2C))
    }

    pub(super) fn store_some(self) -> VectorInstruction {
        self.pick((2, 0x2F), (2, 0x2E))
    }

    /// As many bytes as a vector has lanes, to memory.
    pub(super) fn write_bytes(self) -> VectorInstruction {
        match self.per_vector() {
            4 => VectorInstruction::new(1, 1, false, 0x7E),
            8 => VectorInstruction::new(1, 1, false, 0xD6),
            _ => VectorInstruction::new(0, 1, false, 0x11),
        }
    }

    /// As many from memory, where there are eight or more.
    pub(super) fn read_bytes(self) -> VectorInstruction {
        if self.per_vector() == 8 { LOAD_EIGHT } else { LOAD_SHORT }
    }
}
