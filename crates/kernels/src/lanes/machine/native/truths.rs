//! Steps that read or write truth values, which are bytes.

use super::super::{Code as What, Step};
use super::emit::{Emitter, NO, Pass, X, Y};
use super::encode::{Gpr, Operand, When, Ymm, distance};
use super::ops::{
    AND, AT_LEAST, AT_MOST, COMPARE, EQUAL, GREATER, HALF, LESS, LOAD, OR, PACK_HALVES, PACK_WORDS,
    SHUFFLE, TEST, UNEQUAL, XOR,
};

impl Emitter {
    /// Truth values of a vector, so many bytes behind an address.
    fn bytes(&self, at: Gpr, vector: usize) -> Operand {
        Operand::Memory(at, distance(vector * self.lanes.per_vector()))
    }

    /// Writes how the accumulator compares with x.
    pub(super) fn compare(&mut self, step: &Step, pass: Pass) {
        let x = self.address(step.x, X);
        self.address_of(step.y, Y, true);
        let lanes = self.lanes;
        let how = match step.code {
            What::Eq => Some(EQUAL),
            What::Ne => Some(UNEQUAL),
            What::Lt => Some(LESS),
            What::Le => Some(AT_MOST),
            What::Gt => Some(GREATER),
            What::Ge => Some(AT_LEAST),
            _ => None,
        };
        for vector in 0..pass.vectors {
            let ([t, u, v], a) = (pass.own(vector), Ymm::nth(vector));
            let x = self.operand(pass, vector, x, u);
            match how {
                Some(how) => self.code.vector_by((lanes.float(COMPARE), how), t, a, x),
                None => self.code.vector(lanes.same(), t, a, x),
            }
            self.pack(t, v);
            let place = self.bytes(Y, vector);
            self.code.half(lanes.write_bytes(), t, NO, place);
        }
    }

    /// Makes bytes of 0 and 1 of a mask.
    fn pack(&mut self, mask: Ymm, room: Ymm) {
        self.code.vector_by((HALF, 1), mask, NO, Operand::Register(room));
        if self.lanes.bytes == 8 {
            // Halves of a mask are masks: each second one will do.
            let both = Operand::Register(room);
            self.code.half_by((SHUFFLE, 0x88), mask, mask, both);
            self.code.half(PACK_WORDS, mask, mask, Operand::Register(mask));
        } else {
            self.code.half(PACK_WORDS, mask, mask, Operand::Register(room));
        }
        self.code.half(PACK_HALVES, mask, mask, Operand::Register(mask));
        let ones = self.code.constant([0x0101_0101_0101_0101; 4]);
        self.code.half(AND, mask, mask, Operand::Constant(ones));
    }

    /// The accumulator where x is true, else y; or y where x is true, else the accumulator.
    pub(super) fn choose(&mut self, step: &Step, pass: Pass) {
        self.address_of(step.x, X, true);
        let keep = step.code == What::Keep;
        let end = self.code.label();
        if !keep {
            self.look_for_any(pass);
            self.code.jump(When::Zero, end);
        }
        let y = self.address(step.y, Y);
        let lanes = self.lanes;
        for vector in 0..pass.vectors {
            let ([t, u, v], a) = (pass.own(vector), Ymm::nth(vector));
            let truths = self.bytes(X, vector);
            self.code.vector(lanes.widen(), t, NO, truths);
            self.code.vector(XOR, v, v, Operand::Register(v));
            self.code.vector(lanes.above(), t, t, Operand::Register(v));
            if keep {
                let other = self.load(pass, vector, y, u);
                self.blend(a, other, Operand::Register(a), t);
            } else {
                let other = self.operand(pass, vector, y, u);
                self.blend(a, a, other, t);
            }
        }
        self.code.bind(end);
    }

    /// Looks whether any truth value of the pass is true: what is rare is nowhere in most passes.
    fn look_for_any(&mut self, pass: Pass) {
        let [t, ..] = pass.own(0);
        self.code.half(LOAD, t, NO, Operand::Memory(X, 0));
        for at in (16..pass.vectors * self.lanes.per_vector()).step_by(16) {
            self.code.half(OR, t, t, Operand::Memory(X, distance(at)));
        }
        self.code.half(TEST, t, NO, Operand::Register(t));
    }
}
