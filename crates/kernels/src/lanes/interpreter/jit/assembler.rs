//! An assembler: labels, jumps, constants, and instructions on numbers.

use super::encode::{Gpr, Register, VectorOperand};

/// How far something lies behind an address. Slots are few, and so are vectors of a pass.
pub(super) fn distance(bytes: usize) -> i32 {
    i32::try_from(bytes).expect("near")
}

/// How instructions on vectors are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VectorEncoding {
    /// On 32 bytes; there are sixteen registers.
    Vex,
    /// On 64 bytes; there are twice as many, and those of masks.
    Evex,
}

impl VectorEncoding {
    /// Bytes of a vector.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Vex => 32,
            Self::Evex => 64,
        }
    }
}

/// Eight words of a constant; vectors of 32 bytes look at the first four.
pub(super) type VectorConstant = [u64; 8];

/// A place that jumps go to; [`Assembler::bind`] says where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(usize);

/// When a jump is taken.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    Always,
    Below,
    AtLeast,
    AtMost,
    Zero,
    NotZero,
}

/// Machine code that grows.
pub(super) struct Assembler {
    pub(super) form: VectorEncoding,
    pub(super) bytes: Vec<u8>,
    constants: Vec<VectorConstant>,
    labels: Vec<Option<usize>>,
    /// Places of four bytes that are distances to labels, and to constants.
    jumps: Vec<(usize, usize)>,
    pub(super) uses: Vec<(usize, usize)>,
}

impl Assembler {
    /// No code yet.
    pub(super) fn new(form: VectorEncoding) -> Self {
        Self {
            form,
            bytes: Vec::new(),
            constants: Vec::new(),
            labels: Vec::new(),
            jumps: Vec::new(),
            uses: Vec::new(),
        }
    }

    /// The code with its constants behind it, ready to run.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        let pool = self.bytes.len().next_multiple_of(size_of::<VectorConstant>());
        self.bytes.resize(pool, 0xCC);
        for word in self.constants.iter().flatten() {
            self.bytes.extend(word.to_le_bytes());
        }
        let labels = self.jumps.iter().map(|(at, label)| Some((*at, self.labels[*label]?)));
        let places: Option<Vec<_>> = labels.collect();
        let place = |constant: &usize| pool + constant * size_of::<VectorConstant>();
        let uses = self.uses.iter().map(|(at, constant)| (*at, place(constant)));
        for (at, to) in places?.into_iter().chain(uses) {
            // Distances count from behind the four bytes; one byte more may follow those of constants.
            let behind = at + 4 + usize::from(self.bytes[at]);
            let distance = i32::try_from(to.cast_signed() - behind.cast_signed()).ok()?;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Some(self.bytes)
    }

    /// A constant of the code's own.
    pub(super) fn constant(&mut self, words: VectorConstant) -> VectorOperand {
        let known = self.constants.iter().position(|known| *known == words);
        VectorOperand::Constant(known.unwrap_or_else(|| {
            self.constants.push(words);
            self.constants.len() - 1
        }))
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
    pub(super) fn jump(&mut self, when: Condition, label: Label) {
        match when {
            Condition::Always => self.bytes.push(0xE9),
            Condition::Below => self.bytes.extend([0x0F, 0x82]),
            Condition::AtLeast => self.bytes.extend([0x0F, 0x83]),
            Condition::AtMost => self.bytes.extend([0x0F, 0x86]),
            Condition::Zero => self.bytes.extend([0x0F, 0x84]),
            Condition::NotZero => self.bytes.extend([0x0F, 0x85]),
        }
        self.jumps.push((self.bytes.len(), label.0));
        self.bytes.extend([0; 4]);
    }

    /// Bytes that are known.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// An instruction on numbers of 64 bits: a register and memory or another register.
    pub(super) fn number(&mut self, code: u8, register: Gpr, operand: GprOperand) {
        let (base, operand) = match operand {
            GprOperand::Register(Gpr(base)) => (base, VectorOperand::Register(Register(base))),
            GprOperand::Memory(base, distance) => (base.0, VectorOperand::Memory(base, distance)),
        };
        self.bytes.extend([0x48 | register.0 >> 3 << 2 | base >> 3, code]);
        self.operand(register.0, operand, (1, false));
    }
}

/// What the last operand of an instruction on numbers is.
#[derive(Clone, Copy, Debug)]
pub(super) enum GprOperand {
    Register(Gpr),
    /// Memory so many bytes behind an address.
    Memory(Gpr, i32),
}
