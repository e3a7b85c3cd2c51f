//! Products of matrices and vectors.

use pantile_ir::{Op, Random, infer};
use pantile_lanes::{DType, Scalar};

use super::maker::{Known, Maker};

/// The shape of a product, if there is one that is not too large to be computed naively.
fn product(one: &Known, other: &Known) -> Option<Vec<usize>> {
    infer::matmul_dtype(one.dtype, other.dtype).ok()?;
    let known = |shape: &[usize]| shape.iter().copied().map(Some).collect::<Vec<_>>();
    let shape = infer::matmul_shape(&known(&one.shape), &known(&other.shape)).ok()?;
    let shape: Vec<usize> = shape.into_iter().flatten().collect();
    let terms = one.shape.last().copied().unwrap_or(0).max(1);
    (shape.iter().product::<usize>() * terms <= 20_000).then_some(shape)
}

impl Maker<'_> {
    /// An array times another that fits, or itself with its last axes turned.
    pub(super) fn matmul(&mut self) {
        let Some(one) = self.any_that(|known| !known.shape.is_empty()) else { return };
        let one = if self.rng.chance(1, 4) { self.matrix() } else { one };
        let other = match self.any_that(|known| product(&one, known).is_some()) {
            Some(other) if self.rng.chance(1, 2) => other,
            _ => self.turned(&one),
        };
        let pair = if self.rng.chance(1, 3) { (other, one) } else { (one, other) };
        let Some(shape) = product(&pair.0, &pair.1) else { return };
        let Ok(dtype) = infer::matmul_dtype(pair.0.dtype, pair.1.dtype) else { return };
        self.array(Op::MatMul, vec![pair.0.value, pair.1.value], dtype, &shape);
    }

    /// A matrix of which every rounding is seen, with more terms than a panel has, perhaps.
    fn matrix(&mut self) -> Known {
        let long = if self.rng.chance(1, 2) { 250 + self.rng.below(350) } else { 40 };
        let mut shape = vec![1 + self.rng.below(6), 1 + self.rng.below(long)];
        if self.rng.chance(1, 3) {
            shape.reverse();
        }
        let dtype = *self.rng.pick(&[DType::F64, DType::F64, DType::F32]);
        let seed = Scalar::of(self.rng.bits().cast_signed());
        let seed = self.constant(seed);
        let ty = self.perhaps_placed(&shape, dtype);
        let op = Op::Random { kind: Random::Normal, stream: 0 };
        let value = self.push(op, vec![seed], ty);
        Known { value, dtype, shape }
    }

    /// The same with its last two axes turned.
    fn turned(&mut self, of: &Known) -> Known {
        let ndim = of.shape.len();
        if ndim < 2 {
            return of.clone();
        }
        let mut axes: Vec<usize> = (0..ndim).collect();
        axes.swap(ndim - 2, ndim - 1);
        let shape: Vec<usize> = axes.iter().map(|axis| of.shape[*axis]).collect();
        let ty = self.plain(&shape, of.dtype);
        let value = self.push(Op::Permute(axes), vec![of.value], ty);
        Known { value, dtype: of.dtype, shape }
    }
}
