//! Steps that read or write truth values, which are bytes.

use super::super::{Code as What, Step};
use super::code::{When, distance};
use super::emit::{Emitter, NO, Pass, X, Y};
use super::encode::{Operand, Register};
use super::ops::{AT_LEAST, AT_MOST, COMPARE, EQUAL, GREATER, LESS, LOAD_SHORT, OR, TEST, UNEQUAL};

impl Emitter {
    /// Writes how the accumulator compares with x.
    pub(super) fn compare(&mut self, step: &Step, pass: Pass) {
        let x = self.place(step.x, X);
        self.address_of(step.y, Y, true);
        let compare = |how: u8| self.lanes.float(COMPARE).by(how);
        let how = match step.code {
            What::Eq => compare(EQUAL),
            What::Ne => compare(UNEQUAL),
            What::Lt => compare(LESS),
            What::Le => compare(AT_MOST),
            What::Gt => compare(GREATER),
            What::Ge => compare(AT_LEAST),
            _ => self.lanes.same(),
        };
        for vector in 0..pass.vectors {
            let ([t, _, v], mask) = (pass.own(vector), self.own_mask(pass, vector));
            let x = self.operand(pass, vector, x, t);
            self.look_where(how, mask, Register::nth(vector), x);
            self.write_truths(mask, v, (Y, vector));
        }
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
        let y = self.place(step.y, Y);
        for vector in 0..pass.vectors {
            let ([t, _, v], a) = (pass.own(vector), Register::nth(vector));
            let mask = self.own_mask(pass, vector);
            self.read_truths(mask, v, (X, vector));
            let other = self.operand(pass, vector, y, t);
            if keep {
                let other = self.register(other, t);
                self.blend(a, other, Operand::Register(a), mask);
            } else {
                self.blend(a, a, other, mask);
            }
        }
        self.code.bind(end);
    }

    /// Looks whether any truth value of the pass is true: what is rare is nowhere in most passes.
    fn look_for_any(&mut self, pass: Pass) {
        let [t, ..] = pass.own(0);
        self.code.short(LOAD_SHORT, t, NO, Operand::Memory(X, 0));
        for at in (16..pass.vectors * self.lanes.per_vector()).step_by(16) {
            self.code.short(OR, t, t, Operand::Memory(X, distance(at)));
        }
        self.code.short(TEST, t, NO, Operand::Register(t));
    }
}
