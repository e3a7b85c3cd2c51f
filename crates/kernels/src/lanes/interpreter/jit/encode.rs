//! Instructions on vectors as bytes.

use super::assembler::{Assembler, VectorEncoding};

/// A register for addresses and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpr(pub(super) u8);

/// A vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register(pub(super) u8);

impl Register {
    /// One of them, by its number.
    pub(super) fn nth(number: usize) -> Self {
        Self(u8::try_from(number).expect("one of 32"))
    }
}

/// A register that says which lanes are meant: a vector whose lanes are all ones or zeros, or one of
/// the registers that [`VectorEncoding::Evex`] has for that.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaskRegister(pub(super) u8);

impl MaskRegister {
    /// The same as what an instruction writes or reads.
    pub(super) fn register(self) -> Register {
        Register(self.0)
    }
}

/// What the last operand of an instruction is.
#[derive(Clone, Copy, Debug)]
pub(super) enum VectorOperand {
    Register(Register),
    /// Memory so many bytes behind an address.
    Memory(Gpr, i32),
    /// A vector of the code's own constants, by number.
    Constant(usize),
}

/// An instruction on vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorInstruction {
    /// 0: none, 1: 66, 2: F3, 3: F2.
    prefix: u8,
    /// The map of codes. 1: 0F, 2: 0F38, 3: 0F3A.
    map: u8,
    /// The bit W.
    w: bool,
    code: u8,
    /// A byte behind it.
    byte: Option<u8>,
    /// The lanes that it is for, of [`VectorEncoding::Evex`]; 0 for all.
    mask: u8,
    /// True if other lanes become zero.
    clears: bool,
}

impl VectorInstruction {
    /// An instruction by its prefix, map, bit W and code.
    pub(super) const fn new(prefix: u8, map: u8, w: bool, code: u8) -> Self {
        Self { prefix, map, w, code, byte: None, mask: 0, clears: false }
    }

    /// The same with a byte behind it.
    pub(super) fn by(self, byte: u8) -> Self {
        Self { byte: Some(byte), ..self }
    }

    /// The same for some lanes, of [`VectorEncoding::Evex`]; others stay as they were.
    pub(super) fn only(self, mask: MaskRegister) -> Self {
        Self { mask: mask.0, ..self }
    }

    /// The same for some lanes; others become zero.
    pub(super) fn or_zero(self, mask: MaskRegister) -> Self {
        Self { clears: true, ..self.only(mask) }
    }
}

/// Bytes that an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VectorLength {
    Sixteen,
    ThirtyTwo,
    SixtyFour,
}

impl Assembler {
    /// An instruction on a vector: `to = op(with, from)`, or as the operation has it.
    pub(super) fn vector(
        &mut self,
        op: VectorInstruction,
        to: Register,
        with: Register,
        from: VectorOperand,
    ) {
        match self.form {
            VectorEncoding::Vex => self.vex(op, VectorLength::ThirtyTwo, (to, with), from),
            VectorEncoding::Evex => self.evex(op, VectorLength::SixtyFour, (to, with), from),
        }
    }

    /// The same on 16 bytes of one of the first sixteen registers.
    pub(super) fn short(
        &mut self,
        op: VectorInstruction,
        to: Register,
        with: Register,
        from: VectorOperand,
    ) {
        self.vex(op, VectorLength::Sixteen, (to, with), from);
    }

    /// The same of [`VectorEncoding::Evex`], with masks. No operand lies behind an address: short
    /// distances would count in other units.
    pub(super) fn short_some(
        &mut self,
        op: VectorInstruction,
        to: Register,
        with: Register,
        from: VectorOperand,
    ) {
        self.evex(op, VectorLength::Sixteen, (to, with), from);
    }

    fn vex(
        &mut self,
        op: VectorInstruction,
        length: VectorLength,
        (to, with): (Register, Register),
        from: VectorOperand,
    ) {
        let base = base(from);
        debug_assert!(to.0.max(with.0).max(base) < 16 && op.mask == 0, "what this form has");
        // The high bits of registers are stored the other way round.
        let high = u8::from(to.0 < 8) << 7 | 1 << 6 | u8::from(base < 8) << 5;
        let long = u8::from(length == VectorLength::ThirtyTwo);
        let rest = u8::from(op.w) << 7 | (!with.0 & 15) << 3 | long << 2 | op.prefix;
        self.bytes.extend([0xC4, high | op.map, rest, op.code]);
        self.operand(to.0, from, (1, op.byte.is_some()));
        self.bytes.extend(op.byte);
    }

    fn evex(
        &mut self,
        op: VectorInstruction,
        length: VectorLength,
        (to, with): (Register, Register),
        from: VectorOperand,
    ) {
        let whole = length == VectorLength::SixtyFour;
        debug_assert!(whole || !matches!(from, VectorOperand::Memory(..)), "no other unit");
        let base = base(from);
        let is_clear = |number: u8, bit: u8| (!number >> bit) & 1;
        // The high bits of registers are stored the other way round.
        let to_high = is_clear(to.0, 3) << 7 | is_clear(to.0, 4) << 4;
        let high = to_high | is_clear(base, 4) << 6 | is_clear(base, 3) << 5;
        let rest = u8::from(op.w) << 7 | (!with.0 & 15) << 3 | 1 << 2 | op.prefix;
        let long = if whole { 2 << 5 } else { 0 };
        let which = u8::from(op.clears) << 7 | long | is_clear(with.0, 4) << 3 | op.mask;
        self.bytes.extend([0x62, high | op.map, rest, which, op.code]);
        self.operand(to.0, from, (64, op.byte.is_some()));
        self.bytes.extend(op.byte);
    }

    /// The bytes that say which register and which operand. Short distances count in so many bytes;
    /// `more` if one byte follows.
    pub(super) fn operand(
        &mut self,
        register: u8,
        operand: VectorOperand,
        (unit, more): (i32, bool),
    ) {
        let register = (register & 7) << 3;
        match operand {
            VectorOperand::Register(Register(number)) => {
                self.bytes.push(0xC0 | register | number & 7)
            }
            VectorOperand::Memory(Gpr(base), distance) => {
                let short = i8::try_from(distance / unit).ok().filter(|_| distance % unit == 0);
                let mode = if short.is_some() { 0x40 } else { 0x80 };
                self.bytes.push(mode | register | base & 7);
                if base & 7 == 4 {
                    self.bytes.push(0x24);
                }
                match short {
                    Some(distance) => self.bytes.extend(distance.to_le_bytes()),
                    None => self.bytes.extend(distance.to_le_bytes()),
                }
            }
            VectorOperand::Constant(number) => {
                self.bytes.push(0x05 | register);
                self.uses.push((self.bytes.len(), number));
                // The place itself keeps how many bytes follow until its distance is known.
                self.bytes.extend([u8::from(more), 0, 0, 0]);
            }
        }
    }
}

/// The number of the register that an operand is or lies behind.
fn base(operand: VectorOperand) -> u8 {
    match operand {
        VectorOperand::Register(Register(number)) | VectorOperand::Memory(Gpr(number), _) => number,
        VectorOperand::Constant(_) => 0,
    }
}
