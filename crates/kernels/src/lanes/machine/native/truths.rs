//! Steps that read or write truth values, which are bytes.

use super::super::{Code as What, Step};
use super::emit::{Emitter, NO, Pass, X, Y};
use super::encode::{Gpr, Op, Operand, When, Ymm};

impl Emitter {
    /// Truth values of a vector, so many bytes behind an address.
    fn bytes(&self, at: Gpr, vector: usize) -> Operand {
        let bytes = i32::try_from(vector * 32 / self.lane).unwrap_or(i32::MAX);
        Operand::Memory(at, bytes)
    }

    /// Writes how the accumulator compares with x.
    pub(super) fn compare(&mut self, step: &Step, pass: Pass) {
        let x = self.address(step.x, X);
        self.address_of(step.y, Y, true);
        let same = if self.lane == 8 { Op(1, 2, false, 0x29) } else { Op(1, 1, false, 0x76) };
        let how = match step.code {
            What::Eq => Some(0x00),
            What::Ne => Some(0x04),
            What::Lt => Some(0x11),
            What::Le => Some(0x12),
            What::Gt => Some(0x1E),
            What::Ge => Some(0x1D),
            _ => None,
        };
        for vector in 0..pass.vectors {
            let ([t, u, v], a) = (pass.own(vector), accumulator(vector));
            let x = self.operand(pass, vector, x, u);
            match how {
                Some(how) => self.code.vector_by((self.floats.op(0xC2), how), t, a, x),
                None => self.code.vector(same, t, a, x),
            }
            self.pack(t, v);
            let (write, to) = (if self.lane == 8 { (false, 0x7E) } else { (false, 0xD6) }, Y);
            let place = self.bytes(to, vector);
            self.code.half(Op(1, 1, write.0, write.1), t, NO, place);
        }
    }

    /// Makes bytes of 0 and 1 of a mask.
    fn pack(&mut self, mask: Ymm, room: Ymm) {
        let (words, bytes) = (Op(1, 1, false, 0x6B), Op(1, 1, false, 0x63));
        // The upper half; its register is the last operand.
        self.code.vector_by((Op(1, 3, false, 0x19), 1), mask, NO, Operand::Register(room));
        if self.lane == 8 {
            // Halves of a mask are masks: each second one will do.
            let both = Operand::Register(room);
            self.code.half_by((Op(0, 1, false, 0xC6), 0x88), mask, mask, both);
            self.code.half(words, mask, mask, Operand::Register(mask));
        } else {
            self.code.half(words, mask, mask, Operand::Register(room));
        }
        self.code.half(bytes, mask, mask, Operand::Register(mask));
        let ones = self.code.constant([0x0101_0101_0101_0101; 4]);
        self.code.half(Op(1, 1, false, 0xDB), mask, mask, Operand::Constant(ones));
    }

    /// The accumulator where x is true, else y; or y where x is true, else the accumulator.
    pub(super) fn choose(&mut self, step: &Step, pass: Pass) {
        self.address_of(step.x, X, true);
        let keep = step.code == What::Keep;
        let end = self.code.label();
        if !keep {
            self.jump_if_none(pass);
            self.code.jump(When::Zero, end);
        }
        let y = self.address(step.y, Y);
        let (widen, above) = match self.lane {
            8 => (Op(1, 2, false, 0x22), Op(1, 2, false, 0x37)),
            _ => (Op(1, 2, false, 0x21), Op(1, 1, false, 0x66)),
        };
        for vector in 0..pass.vectors {
            let ([t, u, v], a) = (pass.own(vector), accumulator(vector));
            let truths = self.bytes(X, vector);
            self.code.vector(widen, t, NO, truths);
            self.code.vector(Op(1, 1, false, 0xEF), v, v, Operand::Register(v));
            self.code.vector(above, t, t, Operand::Register(v));
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
    fn jump_if_none(&mut self, pass: Pass) {
        let [t, ..] = pass.own(0);
        let (bytes, load, or) =
            (pass.vectors * 32 / self.lane, Op(0, 1, false, 0x10), Op(1, 1, false, 0xEB));
        self.code.half(load, t, NO, Operand::Memory(X, 0));
        for at in (16..bytes).step_by(16) {
            let at = i32::try_from(at).unwrap_or(i32::MAX);
            self.code.half(or, t, t, Operand::Memory(X, at));
        }
        self.code.half(Op(1, 2, false, 0x17), t, NO, Operand::Register(t));
    }
}

/// A vector of the accumulator.
fn accumulator(vector: usize) -> Ymm {
    Ymm(u8::try_from(vector).unwrap_or(u8::MAX))
}
