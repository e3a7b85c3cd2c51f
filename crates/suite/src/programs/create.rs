//! Arrays from nothing.

use pantile_ir::{Op, Random};
use pantile_lanes::{DType, Scalar};

use super::maker::Maker;

impl Maker<'_> {
    /// A new array.
    pub(super) fn creation(&mut self) {
        let (dtype, shape) = (self.dtype(), self.shape());
        match (self.rng.below(6), shape.len()) {
            (0, 1) => self.linspace(dtype, shape[0]),
            (1, 1) => {
                let operands = vec![self.scalar(dtype), self.scalar(dtype)];
                let ty = self.perhaps_placed(&shape, dtype);
                self.array_of(Op::Arange, operands, ty, &shape);
            }
            (0 | 1, 2) => {
                let ty = self.perhaps_placed(&shape, dtype);
                let k = self.rng.range(-3, 4);
                self.array_of(Op::Eye { k }, Vec::new(), ty, &shape);
            }
            (2, _) => {
                let dtype = if self.rng.chance(1, 2) { DType::F32 } else { DType::F64 };
                let seed = Scalar::of(self.rng.bits().cast_signed());
                let seed = self.constant(seed);
                let kind = if self.rng.chance(1, 2) { Random::Uniform } else { Random::Normal };
                let op = Op::Random { kind, stream: self.rng.bits() % 3 };
                let ty = self.perhaps_placed(&shape, dtype);
                self.array_of(op, vec![seed], ty, &shape);
            }
            (3, 1..) => {
                let axis = self.rng.below(shape.len());
                let ty = self.perhaps_placed(&shape, dtype);
                self.array_of(Op::IndexAlong { axis }, Vec::new(), ty, &shape);
            }
            _ => {
                let ty = self.perhaps_placed(&shape, dtype);
                let value = self.rng.chance(2, 3);
                let mut operands = Vec::new();
                if self.rng.chance(1, 3) {
                    for length in &shape {
                        operands.push(self.index(i64::try_from(*length).unwrap_or(0)));
                    }
                }
                if value {
                    let of = if self.rng.chance(2, 3) { dtype } else { self.dtype() };
                    operands.push(self.scalar(of));
                }
                self.array_of(Op::Create { value }, operands, ty, &shape);
            }
        }
    }

    fn linspace(&mut self, dtype: DType, length: usize) {
        let of = if self.rng.chance(1, 2) { dtype } else { self.dtype() };
        let number = i64::try_from(length).unwrap_or(0);
        let operands = vec![self.scalar(of), self.scalar(of), self.index(number)];
        let endpoint = self.rng.chance(1, 2);
        let ty = self.perhaps_placed(&[length], dtype);
        self.array_of(Op::Linspace { endpoint }, operands, ty, &[length]);
    }
}
