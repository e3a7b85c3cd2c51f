//! Operations that read or write bools, which are bytes.

use super::super::{BytecodeOp, Opcode};
use super::assembler::{Condition, distance};
use super::emit::{EmitPass, Emitter, NO, X, Y};
use super::encode::{Register, VectorOperand};
use super::ops::{AT_LEAST, AT_MOST, COMPARE, EQUAL, GREATER, LESS, LOAD_SHORT, OR, TEST, UNEQUAL};

impl Emitter {
    /// Writes how the accumulator compares with x.
    pub(super) fn compare(&mut self, operation: &BytecodeOp, pass: EmitPass) {
        let x = self.place(operation.x, X);
        self.address_of(operation.y, Y, true);
        let compare = |how: u8| self.lanes.float(COMPARE).by(how);
        let how = match operation.code {
            Opcode::Eq => compare(EQUAL),
            Opcode::Ne => compare(UNEQUAL),
            Opcode::Lt => compare(LESS),
            Opcode::Le => compare(AT_MOST),
            Opcode::Gt => compare(GREATER),
            Opcode::Ge => compare(AT_LEAST),
            _ => self.lanes.same(),
        };
        for vector in 0..pass.vectors {
            let ([t, _, v], mask) = (pass.own(vector), self.own_mask(pass, vector));
            let x = self.operand(pass, vector, x, t);
            self.look_where(how, mask, Register::nth(vector), x);
            self.store_mask(mask, v, (Y, vector));
        }
    }

    /// The accumulator where x is true, else y; or y where x is true, else the accumulator.
    pub(super) fn choose(&mut self, operation: &BytecodeOp, pass: EmitPass) {
        self.address_of(operation.x, X, true);
        let keep = operation.code == Opcode::Keep;
        let end = self.code.label();
        if !keep {
            self.look_for_any(pass);
            self.code.jump(Condition::Zero, end);
        }
        let y = self.place(operation.y, Y);
        for vector in 0..pass.vectors {
            let ([t, _, v], a) = (pass.own(vector), Register::nth(vector));
            let mask = self.own_mask(pass, vector);
            self.load_mask(mask, v, (X, vector));
            let other = self.operand(pass, vector, y, t);
            if keep {
                let other = self.register(other, t);
                self.blend(a, other, VectorOperand::Register(a), mask);
            } else {
                self.blend(a, a, other, mask);
            }
        }
        self.code.bind(end);
    }

    /// Looks whether any bool of the pass is true: a rare condition holds nowhere in most passes.
    fn look_for_any(&mut self, pass: EmitPass) {
        let [t, ..] = pass.own(0);
        self.code.short(LOAD_SHORT, t, NO, VectorOperand::Memory(X, 0));
        for at in (16..pass.vectors * self.lanes.per_vector()).step_by(16) {
            self.code.short(OR, t, t, VectorOperand::Memory(X, distance(at)));
        }
        self.code.short(TEST, t, NO, VectorOperand::Register(t));
    }
}
