//! Operations that compute lanes from lanes.

use super::super::{BytecodeOp, NONE, Opcode, OperandKind};
use super::emit::{EmitPass, Emitter, NO, X, Y};
use super::encode::{MaskRegister, Register, VectorOperand};
use super::ops::{
    ADD, AND, BOTH, COMPARE, DIV, DOWN, EITHER, EQUAL, EVEN, FLIP, MAX, MIN, MUL, OR, SQRT, SUB,
    TO_FROM_PLUS, TO_FROM_TAKEN, TO_ZERO, UNORDERED, UP, WITH_FROM_MINUS, WITH_FROM_PLUS, XOR,
};

impl Emitter {
    /// The accumulator, times x if there is one, and products of inputs with constants more.
    pub(super) fn add_products(&mut self, operation: &BytecodeOp, pass: EmitPass) {
        let lanes = self.lanes;
        if operation.x != NONE {
            let same = VectorOperand::Register(self.load_same(pass, operation.x, Y));
            for a in (0..pass.vectors).map(Register::nth) {
                self.code.vector(lanes.float(MUL), a, a, same);
            }
        }
        for pair in operation.more.as_chunks::<2>().0 {
            let (x, same) = (self.place(pair[0], X), self.load_same(pass, pair[1], Y));
            for vector in 0..pass.vectors {
                let ([t, ..], a) = (pass.own(vector), Register::nth(vector));
                let x = self.operand(pass, vector, x, t);
                self.code.vector(lanes.float(MUL), t, same, x);
                self.code.vector(lanes.float(ADD), a, a, VectorOperand::Register(t));
            }
        }
        if operation.y != NONE {
            let y = self.place(operation.y, Y);
            for vector in 0..pass.vectors {
                let a = Register::nth(vector);
                let y = self.operand(pass, vector, y, pass.own(vector)[0]);
                self.code.vector(lanes.float(ADD), a, a, y);
            }
        }
    }

    /// The accumulator times x, and a constant more, for each of some constants.
    pub(super) fn horner(&mut self, operation: &BytecodeOp, pass: EmitPass) {
        let x = self.place(operation.x, X);
        for constant in &operation.more {
            let same = self.load_same(pass, *constant, Y);
            for vector in 0..pass.vectors {
                let x = self.operand(pass, vector, x, pass.own(vector)[0]);
                self.code.vector(self.lanes.fused(TO_FROM_PLUS), Register::nth(vector), same, x);
            }
        }
    }

    /// An operation that reads x, or x and y.
    pub(super) fn with(&mut self, operation: &BytecodeOp, pass: EmitPass) {
        let both = matches!(operation.code.kind(), OperandKind::Both);
        let same = operation
            .invariant
            .then(|| self.load_same(pass, if both { operation.y } else { operation.x }, Y));
        let x = (both || same.is_none()).then(|| self.place(operation.x, X));
        let y = (both && same.is_none()).then(|| self.place(operation.y, Y));
        for vector in 0..pass.vectors {
            let (own, a) = (pass.own(vector), Register::nth(vector));
            let [t, u, _] = own;
            let x = match x {
                Some(x) => self.operand(pass, vector, x, t),
                None => VectorOperand::Register(same.unwrap_or(t)),
            };
            if !both {
                let mask = self.own_mask(pass, vector);
                self.one_more((operation.code, mask), a, x, own);
                continue;
            }
            let y = match (same, y) {
                (None, Some(y)) => self.operand(pass, vector, y, u),
                _ => VectorOperand::Register(same.unwrap_or(u)),
            };
            self.two_more(operation.code, a, (x, y), [t, u]);
        }
    }

    /// `a` becomes what a code makes of it and `x`.
    fn one_more(
        &mut self,
        (code, mask): (Opcode, MaskRegister),
        a: Register,
        x: VectorOperand,
        [t, _, v]: [Register; 3],
    ) {
        let lanes = self.lanes;
        let (op, swapped) = match code {
            Opcode::Add => (lanes.float(ADD), false),
            Opcode::Sub => (lanes.float(SUB), false),
            Opcode::SubFrom => (lanes.float(SUB), true),
            Opcode::Mul => (lanes.float(MUL), false),
            Opcode::Div => (lanes.float(DIV), false),
            Opcode::DivInto => (lanes.float(DIV), true),
            Opcode::AtMost => (lanes.float(MIN), true),
            Opcode::AtLeast => (lanes.float(MAX), true),
            Opcode::Plus => (lanes.plus(), false),
            Opcode::Minus => (lanes.minus(), false),
            Opcode::MinusFrom => (lanes.minus(), true),
            Opcode::And => (AND, false),
            Opcode::Or => (OR, false),
            Opcode::Xor => (XOR, false),
            Opcode::Shl => (lanes.shift_left(), false),
            Opcode::ShlBy => (lanes.shift_left(), true),
            Opcode::Shr => (lanes.shift_right(), false),
            Opcode::ShrBy => (lanes.shift_right(), true),
            // The least, or the most: of equal ones both bits of the sign, or of NaN the first.
            _ => {
                let (least, both) = if code == Opcode::Min { (MIN, EITHER) } else { (MAX, BOTH) };
                let own = VectorOperand::Register(a);
                self.look_where(lanes.float(COMPARE).by(EQUAL), mask, a, x);
                self.code.vector(lanes.float(both), v, a, x);
                self.code.vector(lanes.float(least), t, a, x);
                self.blend(t, t, VectorOperand::Register(v), mask);
                self.look_where(lanes.float(COMPARE).by(UNORDERED), mask, a, own);
                return self.blend(a, t, own, mask);
            }
        };
        if swapped {
            let x = self.register(x, t);
            self.code.vector(op, a, x, VectorOperand::Register(a));
        } else {
            self.code.vector(op, a, a, x);
        }
    }

    /// `a` becomes what a code makes of it, `x` and `y`.
    fn two_more(
        &mut self,
        code: Opcode,
        a: Register,
        (x, y): (VectorOperand, VectorOperand),
        [t, u]: [Register; 2],
    ) {
        let lanes = self.lanes;
        // What is made of x and y, and of that and a; true if a is the second operand.
        let (inner, outer, swapped) = match code {
            Opcode::TimesPlus | Opcode::NegTimesPlus => {
                let y = self.register(y, u);
                let op = if code == Opcode::TimesPlus { TO_FROM_PLUS } else { TO_FROM_TAKEN };
                return self.code.vector(lanes.fused(op), a, y, x);
            }
            Opcode::PlusFused | Opcode::FusedMinus => {
                let x = self.register(x, t);
                let op = if code == Opcode::PlusFused { WITH_FROM_PLUS } else { WITH_FROM_MINUS };
                return self.code.vector(lanes.fused(op), a, x, y);
            }
            Opcode::AddThenAdd | Opcode::MulThenAdd | Opcode::MulThenMul => {
                let first = if code == Opcode::AddThenAdd { ADD } else { MUL };
                let second = if code == Opcode::MulThenMul { MUL } else { ADD };
                self.code.vector(lanes.float(first), a, a, x);
                return self.code.vector(lanes.float(second), a, a, y);
            }
            Opcode::SubThenSubFrom => {
                self.code.vector(lanes.float(SUB), a, a, x);
                let y = self.register(y, u);
                return self.code.vector(lanes.float(SUB), a, y, VectorOperand::Register(a));
            }
            Opcode::AddSum => (ADD, ADD, false),
            Opcode::AddDifference => (SUB, ADD, false),
            Opcode::AddProduct => (MUL, ADD, false),
            Opcode::AddQuotient => (DIV, ADD, false),
            Opcode::SubSum => (ADD, SUB, false),
            Opcode::SubDifference => (SUB, SUB, false),
            Opcode::SubProduct => (MUL, SUB, false),
            Opcode::SubQuotient => (DIV, SUB, false),
            Opcode::SubFromSum => (ADD, SUB, true),
            Opcode::SubFromDifference => (SUB, SUB, true),
            Opcode::SubFromProduct => (MUL, SUB, true),
            Opcode::SubFromQuotient => (DIV, SUB, true),
            Opcode::MulSum => (ADD, MUL, false),
            Opcode::MulDifference => (SUB, MUL, false),
            Opcode::MulProduct => (MUL, MUL, false),
            _ => (DIV, MUL, false),
        };
        let x = self.register(x, t);
        self.code.vector(lanes.float(inner), t, x, y);
        let (one, other) = if swapped { (t, a) } else { (a, t) };
        self.code.vector(lanes.float(outer), a, one, VectorOperand::Register(other));
    }

    /// A vector of the accumulator becomes what a code makes of it alone.
    pub(super) fn alone(&mut self, code: Opcode, pass: EmitPass, vector: usize) {
        let a = Register::nth(vector);
        let (lanes, own) = (self.lanes, VectorOperand::Register(a));
        let round = lanes.round();
        match code {
            Opcode::Neg => {
                let sign = self.everywhere(1 << 63, 1 << 31);
                self.code.vector(lanes.float(FLIP), a, a, sign);
            }
            Opcode::Abs => {
                let magnitude = self.everywhere(u64::MAX >> 1, u32::MAX >> 1);
                self.code.vector(lanes.float(BOTH), a, a, magnitude);
            }
            Opcode::Sqrt => self.code.vector(lanes.float(SQRT), a, NO, own),
            Opcode::Floor => self.code.vector(round.by(DOWN), a, NO, own),
            Opcode::Ceil => self.code.vector(round.by(UP), a, NO, own),
            Opcode::Trunc => self.code.vector(round.by(TO_ZERO), a, NO, own),
            Opcode::RoundEven => self.code.vector(round.by(EVEN), a, NO, own),
            Opcode::Square => self.code.vector(lanes.float(MUL), a, a, own),
            _ => {
                let nan = self.everywhere(0x7FF8 << 48, 0x7FC0 << 16);
                let mask = self.own_mask(pass, vector);
                self.look_where(lanes.float(COMPARE).by(UNORDERED), mask, a, own);
                self.blend(a, a, nan, mask);
            }
        }
    }

    /// A constant of the code's own, the same in all lanes.
    fn everywhere(&mut self, wide: u64, narrow: u32) -> VectorOperand {
        let word =
            if self.lanes.bytes == 8 { wide } else { u64::from(narrow) << 32 | u64::from(narrow) };
        self.code.constant([word; 8])
    }
}
