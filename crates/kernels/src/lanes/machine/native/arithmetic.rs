//! Steps that compute lanes from lanes.

use super::super::{Code as What, Kind, NONE, Step};
use super::emit::{Emitter, NO, Pass, X, Y};
use super::encode::{Mask, Operand, Register};
use super::ops::{
    ADD, AND, BOTH, COMPARE, DIV, DOWN, EITHER, EQUAL, EVEN, FLIP, MAX, MIN, MUL, OR, SQRT, SUB,
    TO_FROM_PLUS, TO_FROM_TAKEN, TO_ZERO, UNORDERED, UP, WITH_FROM_MINUS, WITH_FROM_PLUS, XOR,
};

impl Emitter {
    /// The accumulator, times x if there is one, and products of inputs with constants more.
    pub(super) fn add_products(&mut self, step: &Step, pass: Pass) {
        let lanes = self.lanes;
        if step.x != NONE {
            let same = Operand::Register(self.load_same(pass, step.x, Y));
            for a in (0..pass.vectors).map(Register::nth) {
                self.code.vector(lanes.float(MUL), a, a, same);
            }
        }
        for pair in step.more.as_chunks::<2>().0 {
            let (x, same) = (self.place(pair[0], X), self.load_same(pass, pair[1], Y));
            for vector in 0..pass.vectors {
                let ([t, ..], a) = (pass.own(vector), Register::nth(vector));
                let x = self.operand(pass, vector, x, t);
                self.code.vector(lanes.float(MUL), t, same, x);
                self.code.vector(lanes.float(ADD), a, a, Operand::Register(t));
            }
        }
        if step.y != NONE {
            let y = self.place(step.y, Y);
            for vector in 0..pass.vectors {
                let a = Register::nth(vector);
                let y = self.operand(pass, vector, y, pass.own(vector)[0]);
                self.code.vector(lanes.float(ADD), a, a, y);
            }
        }
    }

    /// The accumulator times x, and a constant more, for each of some constants.
    pub(super) fn horner(&mut self, step: &Step, pass: Pass) {
        let x = self.place(step.x, X);
        for constant in &step.more {
            let same = self.load_same(pass, *constant, Y);
            for vector in 0..pass.vectors {
                let x = self.operand(pass, vector, x, pass.own(vector)[0]);
                self.code.vector(self.lanes.fused(TO_FROM_PLUS), Register::nth(vector), same, x);
            }
        }
    }

    /// A step that reads x, or x and y.
    pub(super) fn with(&mut self, step: &Step, pass: Pass) {
        let both = matches!(step.code.kind(), Kind::Both);
        let same = step.flat.then(|| self.load_same(pass, if both { step.y } else { step.x }, Y));
        let x = (both || same.is_none()).then(|| self.place(step.x, X));
        let y = (both && same.is_none()).then(|| self.place(step.y, Y));
        for vector in 0..pass.vectors {
            let (own, a) = (pass.own(vector), Register::nth(vector));
            let [t, u, _] = own;
            let x = match x {
                Some(x) => self.operand(pass, vector, x, t),
                None => Operand::Register(same.unwrap_or(t)),
            };
            if !both {
                let mask = self.own_mask(pass, vector);
                self.one_more((step.code, mask), a, x, own);
                continue;
            }
            let y = match (same, y) {
                (None, Some(y)) => self.operand(pass, vector, y, u),
                _ => Operand::Register(same.unwrap_or(u)),
            };
            self.two_more(step.code, a, (x, y), [t, u]);
        }
    }

    /// `a` becomes what a code makes of it and `x`.
    fn one_more(
        &mut self,
        (code, mask): (What, Mask),
        a: Register,
        x: Operand,
        [t, _, v]: [Register; 3],
    ) {
        let lanes = self.lanes;
        let (op, turned) = match code {
            What::Add => (lanes.float(ADD), false),
            What::Sub => (lanes.float(SUB), false),
            What::SubFrom => (lanes.float(SUB), true),
            What::Mul => (lanes.float(MUL), false),
            What::Div => (lanes.float(DIV), false),
            What::DivInto => (lanes.float(DIV), true),
            What::AtMost => (lanes.float(MIN), true),
            What::AtLeast => (lanes.float(MAX), true),
            What::Plus => (lanes.plus(), false),
            What::Minus => (lanes.minus(), false),
            What::MinusFrom => (lanes.minus(), true),
            What::And => (AND, false),
            What::Or => (OR, false),
            What::Xor => (XOR, false),
            What::Shl => (lanes.shift_left(), false),
            What::ShlBy => (lanes.shift_left(), true),
            What::Shr => (lanes.shift_right(), false),
            What::ShrBy => (lanes.shift_right(), true),
            // The least, or the most: of equal ones both bits of the sign, or of NaN the first.
            _ => {
                let (least, both) = if code == What::Min { (MIN, EITHER) } else { (MAX, BOTH) };
                let own = Operand::Register(a);
                self.look_where(lanes.float(COMPARE).by(EQUAL), mask, a, x);
                self.code.vector(lanes.float(both), v, a, x);
                self.code.vector(lanes.float(least), t, a, x);
                self.blend(t, t, Operand::Register(v), mask);
                self.look_where(lanes.float(COMPARE).by(UNORDERED), mask, a, own);
                return self.blend(a, t, own, mask);
            }
        };
        if turned {
            let x = self.register(x, t);
            self.code.vector(op, a, x, Operand::Register(a));
        } else {
            self.code.vector(op, a, a, x);
        }
    }

    /// `a` becomes what a code makes of it, `x` and `y`.
    fn two_more(
        &mut self,
        code: What,
        a: Register,
        (x, y): (Operand, Operand),
        [t, u]: [Register; 2],
    ) {
        let lanes = self.lanes;
        // What is made of x and y, and of that and a; true if a is the second operand.
        let (inner, outer, turned) = match code {
            What::TimesPlus | What::NegTimesPlus => {
                let y = self.register(y, u);
                let op = if code == What::TimesPlus { TO_FROM_PLUS } else { TO_FROM_TAKEN };
                return self.code.vector(lanes.fused(op), a, y, x);
            }
            What::PlusFused | What::FusedMinus => {
                let x = self.register(x, t);
                let op = if code == What::PlusFused { WITH_FROM_PLUS } else { WITH_FROM_MINUS };
                return self.code.vector(lanes.fused(op), a, x, y);
            }
            What::AddThenAdd | What::MulThenAdd | What::MulThenMul => {
                let first = if code == What::AddThenAdd { ADD } else { MUL };
                let second = if code == What::MulThenMul { MUL } else { ADD };
                self.code.vector(lanes.float(first), a, a, x);
                return self.code.vector(lanes.float(second), a, a, y);
            }
            What::SubThenSubFrom => {
                self.code.vector(lanes.float(SUB), a, a, x);
                let y = self.register(y, u);
                return self.code.vector(lanes.float(SUB), a, y, Operand::Register(a));
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
        self.code.vector(lanes.float(inner), t, x, y);
        let (one, other) = if turned { (t, a) } else { (a, t) };
        self.code.vector(lanes.float(outer), a, one, Operand::Register(other));
    }

    /// A vector of the accumulator becomes what a code makes of it alone.
    pub(super) fn alone(&mut self, code: What, pass: Pass, vector: usize) {
        let a = Register::nth(vector);
        let (lanes, own) = (self.lanes, Operand::Register(a));
        let round = lanes.round();
        match code {
            What::Neg => {
                let sign = self.everywhere(1 << 63, 1 << 31);
                self.code.vector(lanes.float(FLIP), a, a, sign);
            }
            What::Abs => {
                let magnitude = self.everywhere(u64::MAX >> 1, u32::MAX >> 1);
                self.code.vector(lanes.float(BOTH), a, a, magnitude);
            }
            What::Sqrt => self.code.vector(lanes.float(SQRT), a, NO, own),
            What::Floor => self.code.vector(round.by(DOWN), a, NO, own),
            What::Ceil => self.code.vector(round.by(UP), a, NO, own),
            What::Trunc => self.code.vector(round.by(TO_ZERO), a, NO, own),
            What::RoundEven => self.code.vector(round.by(EVEN), a, NO, own),
            What::Square => self.code.vector(lanes.float(MUL), a, a, own),
            _ => {
                let nan = self.everywhere(0x7FF8 << 48, 0x7FC0 << 16);
                let mask = self.own_mask(pass, vector);
                self.look_where(lanes.float(COMPARE).by(UNORDERED), mask, a, own);
                self.blend(a, a, nan, mask);
            }
        }
    }

    /// A constant of the code's own, the same in all lanes.
    fn everywhere(&mut self, wide: u64, narrow: u32) -> Operand {
        let word =
            if self.lanes.bytes == 8 { wide } else { u64::from(narrow) << 32 | u64::from(narrow) };
        self.code.constant([word; 8])
    }
}
