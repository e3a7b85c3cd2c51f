//! Instructions as bytes: those that steps need, and no others.

use super::VECTOR;

/// A register for addresses and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpr(pub(super) u8);

/// A vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ymm(pub(super) u8);

impl Ymm {
    /// One of sixteen, by its number.
    pub(super) fn nth(number: usize) -> Self {
        Self(u8::try_from(number).expect("one of sixteen"))
    }
}

/// How far something lies behind an address. Slots are few, and so are vectors of a pass.
pub(super) fn distance(bytes: usize) -> i32 {
    i32::try_from(bytes).expect("near")
}

/// What the last operand of an instruction is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Register(Ymm),
    /// Memory so many bytes behind an address.
    Memory(Gpr, i32),
    /// A vector of the code's own constants, by number.
    Constant(usize),
}

/// An instruction on vectors: prefix (0: none, 1: 66, 2: F3, 3: F2), map of codes (1: 0F, 2: 0F38,
/// 3: 0F3A), the bit W, and its code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op(pub(super) u8, pub(super) u8, pub(super) bool, pub(super) u8);

/// A place that jumps go to; [`Code::bind`] says where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(usize);

/// When a jump is taken.
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Always,
    Below,
    AtLeast,
    AtMost,
    Zero,
    NotZero,
}

/// Code that grows.
#[derive(Default)]
pub(super) struct Code {
    bytes: Vec<u8>,
    constants: Vec<[u64; 4]>,
    labels: Vec<Option<usize>>,
    /// Places of four bytes that are distances to labels, and to constants.
    jumps: Vec<(usize, usize)>,
    uses: Vec<(usize, usize)>,
}

impl Code {
    /// The code with its constants behind it, ready to run.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        let pool = self.bytes.len().next_multiple_of(VECTOR);
        self.bytes.resize(pool, 0xCC);
        for constant in &self.constants {
            constant.iter().for_each(|word| self.bytes.extend(word.to_le_bytes()));
        }
        let labels = self.jumps.iter().map(|(at, label)| Some((*at, self.labels[*label]?)));
        let places: Option<Vec<_>> = labels.collect();
        let uses = self.uses.iter().map(|(at, constant)| (*at, pool + constant * VECTOR));
        for (at, to) in places?.into_iter().chain(uses) {
            // Distances count from behind the four bytes; one byte more may follow those of constants.
            let behind = at + 4 + usize::from(self.bytes[at]);
            let distance = i32::try_from(to.cast_signed() - behind.cast_signed()).ok()?;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Some(self.bytes)
    }

    /// The number of a constant.
    pub(super) fn constant(&mut self, words: [u64; 4]) -> usize {
        self.constants.iter().position(|known| *known == words).unwrap_or_else(|| {
            self.constants.push(words);
            self.constants.len() - 1
        })
    }

    /// A label without a place.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label is here.
    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.bytes.len());
    }

    /// Goes to a label.
    pub(super) fn jump(&mut self, when: When, label: Label) {
        match when {
            When::Always => self.bytes.push(0xE9),
            When::Below => self.bytes.extend([0x0F, 0x82]),
            When::AtLeast => self.bytes.extend([0x0F, 0x83]),
            When::AtMost => self.bytes.extend([0x0F, 0x86]),
            When::Zero => self.bytes.extend([0x0F, 0x84]),
            When::NotZero => self.bytes.extend([0x0F, 0x85]),
        }
        self.jumps.push((self.bytes.len(), label.0));
        self.bytes.extend([0; 4]);
    }

    /// Bytes that are known.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// An instruction on 256 bits: `to = op(with, from)`, or as the operation has it.
    pub(super) fn vector(&mut self, op: Op, to: Ymm, with: Ymm, from: Operand) {
        self.vex((op, None), true, (to, with), from);
    }

    /// The same on 128 bits.
    pub(super) fn half(&mut self, op: Op, to: Ymm, with: Ymm, from: Operand) {
        self.vex((op, None), false, (to, with), from);
    }

    /// The same with a byte behind it.
    pub(super) fn vector_by(&mut self, (op, byte): (Op, u8), to: Ymm, with: Ymm, from: Operand) {
        self.vex((op, Some(byte)), true, (to, with), from);
    }

    /// The same on 128 bits.
    pub(super) fn half_by(&mut self, (op, byte): (Op, u8), to: Ymm, with: Ymm, from: Operand) {
        self.vex((op, Some(byte)), false, (to, with), from);
    }

    fn vex(
        &mut self,
        (Op(prefix, map, w, code), byte): (Op, Option<u8>),
        long: bool,
        (to, with): (Ymm, Ymm),
        from: Operand,
    ) {
        let base = match from {
            Operand::Register(Ymm(number)) | Operand::Memory(Gpr(number), _) => number,
            Operand::Constant(_) => 0,
        };
        // The high bits of registers are stored the other way round.
        let high = u8::from(to.0 < 8) << 7 | 1 << 6 | u8::from(base < 8) << 5;
        let rest = u8::from(w) << 7 | (!with.0 & 15) << 3 | u8::from(long) << 2 | prefix;
        self.bytes.extend([0xC4, high | map, rest, code]);
        self.operand(to.0, from, byte.is_some());
        self.bytes.extend(byte);
    }

    /// The bytes that say which register and which operand; `more` if one byte follows.
    fn operand(&mut self, register: u8, operand: Operand, more: bool) {
        let register = (register & 7) << 3;
        match operand {
            Operand::Register(Ymm(number)) => self.bytes.push(0xC0 | register | number & 7),
            Operand::Memory(Gpr(base), distance) => {
                let short = i8::try_from(distance).ok();
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
            Operand::Constant(number) => {
                self.bytes.push(0x05 | register);
                self.uses.push((self.bytes.len(), number));
                // How many bytes follow is noted in the place itself until it is known.
                self.bytes.extend([u8::from(more), 0, 0, 0]);
            }
        }
    }

    /// An instruction on numbers of 64 bits: a register and memory or another register.
    pub(super) fn number(&mut self, code: u8, register: Gpr, operand: Number) {
        let (base, operand) = match operand {
            Number::Register(Gpr(base)) => (base, Operand::Register(Ymm(base))),
            Number::Memory(base, distance) => (base.0, Operand::Memory(base, distance)),
        };
        self.bytes.extend([0x48 | register.0 >> 3 << 2 | base >> 3, code]);
        self.operand(register.0, operand, false);
    }
}

/// What the last operand of an instruction on numbers is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Register(Gpr),
    /// Memory so many bytes behind an address.
    Memory(Gpr, i32),
}
