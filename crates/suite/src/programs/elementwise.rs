//! Functions, choices, casts, reductions, stencils.

use pantile_ir::infer::{self, reduced_dtype};
use pantile_ir::{Boundary, Op, Random, Reduction};
use pantile_lanes::{Binary, DType, Scalar, Unary, promote};

use super::data;
use super::maker::{Known, Maker};

/// The shape of two arrays taken together, if they go together.
fn together(one: &[usize], other: &[usize]) -> Option<Vec<usize>> {
    let ndim = one.len().max(other.len());
    let at = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(ndim).map_or(1, |axis| shape[axis])
    };
    let along = |axis: usize| match (at(one, axis), at(other, axis)) {
        (1, length) | (length, 1) => Some(length),
        (one, other) => (one == other).then_some(one),
    };
    (0..ndim).map(along).collect()
}

impl Maker<'_> {
    pub(super) fn unary(&mut self) {
        let of = self.any();
        for _ in 0..20 {
            let function = *self.rng.pick(Unary::ALL);
            // Sometimes in another type than its own.
            let wanted = self.rng.chance(1, 6).then(|| self.dtype());
            if let Ok((_, dtype)) = infer::unary_types(function, of.dtype, wanted) {
                let op = match self.team && self.rng.chance(1, 2) {
                    true => Op::DistUnary(function.into()),
                    false => Op::Unary(function.into()),
                };
                return self.array(op, vec![of.value], dtype, &of.shape);
            }
        }
    }

    /// Something that goes together with an array: another array, or a scalar.
    fn partner(&mut self, of: &Known) -> Known {
        let fits = |known: &Known| {
            together(&of.shape, &known.shape)
                .is_some_and(|shape| shape.iter().product::<usize>() <= 2000)
        };
        if self.rng.chance(2, 3)
            && let Some(known) = self.any_that(fits)
        {
            return known;
        }
        let dtype = if self.rng.chance(2, 3) { of.dtype } else { self.dtype() };
        let value = self.scalar(dtype);
        Known { value, dtype, shape: Vec::new() }
    }

    pub(super) fn binary(&mut self) {
        let (mut one, mut other) = (self.any(), self.any());
        if together(&one.shape, &other.shape).is_none() || self.rng.chance(1, 3) {
            other = self.partner(&one);
        }
        if self.rng.chance(1, 4) {
            (one, other) = (other, one);
        }
        self.binary_of(&one, &other);
    }

    /// Some function of two arrays, if that is not too large.
    pub(super) fn binary_of(&mut self, one: &Known, other: &Known) {
        let shape = together(&one.shape, &other.shape);
        if shape.is_some_and(|shape| shape.iter().product::<usize>() <= 2000) {
            self.binary_pair(one, other);
        }
    }

    /// Some function of two arrays that go together.
    pub(super) fn binary_pair(&mut self, one: &Known, other: &Known) {
        let Some(shape) = together(&one.shape, &other.shape) else { return };
        for _ in 0..20 {
            // The plain ones more often.
            let shifts = [Binary::BitwiseRightShift, Binary::BitwiseLeftShift, Binary::FloorDivide];
            let function = match self.rng.below(8) {
                0 | 1 => *self.rng.pick(&[Binary::Add, Binary::Subtract, Binary::Multiply]),
                2 if infer::is_integer(one.dtype) => *self.rng.pick(&shifts),
                _ => *self.rng.pick(Binary::ALL),
            };
            // Sometimes in another type than their own.
            let wanted = self.rng.chance(1, 6).then(|| self.dtype());
            let types = infer::binary_types(function, (one.dtype, other.dtype), wanted);
            let Ok((_, dtype)) = types else { continue };
            let arrays = [one, other].iter().all(|known| self.ty(known.value).as_array().is_some());
            let op = match self.team && arrays && self.rng.chance(1, 2) {
                true => Op::DistBinary(function.into()),
                false => Op::Binary(function.into()),
            };
            return self.array(op, vec![one.value, other.value], dtype, &shape);
        }
    }

    pub(super) fn choose(&mut self) {
        let Some(which) = self.any_that(|known| known.dtype == DType::Bool) else {
            // Make one.
            let of = self.any();
            let function = Unary::IsFinite.into();
            return self.array(Op::Unary(function), vec![of.value], DType::Bool, &of.shape);
        };
        let (yes, no) = (self.partner(&which), self.partner(&which));
        let Some(shape) = together(&which.shape, &yes.shape)
            .and_then(|shape| together(&shape, &no.shape))
            .filter(|shape| shape.iter().product::<usize>() <= 2000)
        else {
            return;
        };
        let natural = promote(yes.dtype, no.dtype);
        let asked = if self.rng.chance(1, 5) { self.dtype() } else { natural };
        let dtype = if infer::may_become(natural, asked) { asked } else { natural };
        self.array(Op::Where, vec![which.value, yes.value, no.value], dtype, &shape);
    }

    pub(super) fn clip(&mut self) {
        let of = self.any();
        if matches!(of.dtype, DType::C64 | DType::C128) {
            return self.cast_element();
        }
        let (low, high) = (self.scalar(of.dtype), self.scalar(of.dtype));
        self.array(Op::Clip, vec![of.value, low, high], of.dtype, &of.shape);
    }

    pub(super) fn cast_element(&mut self) {
        let (of, dtype) = (self.any(), self.dtype());
        self.array(Op::CastElement { copy: None }, vec![of.value], dtype, &of.shape);
    }

    pub(super) fn reduce(&mut self) {
        let of = self.any();
        self.reduce_of(&of);
    }

    pub(super) fn reduce_of(&mut self, of: &Known) {
        for _ in 0..20 {
            let reduction = *self.rng.pick(&Reduction::ALL);
            let Ok(mut dtype) = reduced_dtype(reduction, of.dtype) else { continue };
            let all = self.rng.chance(1, 4);
            let axes: Vec<usize> =
                (0..of.shape.len()).filter(|_| all || self.rng.chance(1, 2)).collect();
            let keepdims = self.rng.chance(1, 3);
            let dim = |(axis, length): (usize, &usize)| match axes.contains(&axis) {
                true => keepdims.then_some(1),
                false => Some(*length),
            };
            let shape: Vec<usize> = of.shape.iter().enumerate().filter_map(dim).collect();
            let count: usize = axes.iter().map(|axis| of.shape[*axis]).product();
            use Reduction as R;
            let needs_some = matches!(reduction, R::Max | R::Min | R::ArgMax | R::ArgMin);
            if needs_some && count == 0 && shape.iter().product::<usize>() > 0 {
                continue;
            }
            if matches!(reduction, R::Sum | R::Prod) && self.rng.chance(1, 4) {
                let asked = *self.rng.pick(&[of.dtype, DType::F64, DType::C128, DType::I16]);
                let asked = if asked == DType::Bool { DType::I32 } else { asked };
                dtype = if infer::may_become(of.dtype, asked) { asked } else { dtype };
            }
            let correction = match reduction {
                R::Var | R::Std => *self.rng.pick(&[0.0, 1.0, 2.0, 0.5, -1.0, 9.0]),
                _ => 0.0,
            };
            let axes = if all && self.rng.chance(1, 2) { None } else { Some(axes) };
            let op = Op::Reduce {
                reduction: reduction.into(),
                axes,
                keepdims,
                correction: f64::to_bits(correction),
            };
            return self.array(op, vec![of.value], dtype, &shape);
        }
    }

    /// Many numbers of which every rounding is seen.
    pub(super) fn long_reduce(&mut self) {
        let length = 200 + self.rng.below(700);
        let dtype = *self.rng.pick(&[DType::F64, DType::F64, DType::F32]);
        let seed = Scalar::of(self.rng.bits().cast_signed());
        let seed = self.constant(seed);
        let ty = self.perhaps_placed(&[length], dtype);
        let op = Op::Random { kind: Random::Normal, stream: 0 };
        let mut numbers = self.push(op, vec![seed], ty);
        if dtype == DType::F64 && self.rng.chance(1, 3) {
            // Squares leave the range.
            let scale = *self.rng.pick(&[1e250, 1e-250]);
            let scale = self.constant(Scalar::of(scale));
            let ty = self.plain(&[length], dtype);
            numbers = self.push(Op::Binary(Binary::Multiply.into()), vec![numbers, scale], ty);
        }
        use Reduction as R;
        let reduction = *self.rng.pick(&[R::Prod, R::Prod, R::Sum, R::Mean, R::Var, R::Norm2]);
        let keepdims = self.rng.chance(1, 2);
        let reduce =
            Op::Reduce { reduction: reduction.into(), axes: None, keepdims, correction: 0 };
        let shape: &[usize] = if keepdims { &[1] } else { &[] };
        self.array(reduce, vec![numbers], dtype, shape);
    }

    pub(super) fn stencil(&mut self) {
        let float = |known: &Known| matches!(known.dtype, DType::F32 | DType::F64);
        let Some(of) = self.any_that(float) else { return self.unary() };
        let count = self.rng.below(4);
        let far = if self.rng.chance(1, 6) { 12 } else { 2 };
        let mut point = || of.shape.iter().map(|_| self.rng.range(-far, far + 1)).collect();
        let points: Vec<Vec<i64>> = (0..count).map(|_| point()).collect();
        let weights = points.iter().map(|_| data::number(self.rng).to_bits()).collect();
        let boundary = if self.rng.chance(1, 2) { Boundary::Zero } else { Boundary::Periodic };
        let op = Op::Stencil { points, weights, boundary };
        self.array(op, vec![of.value], of.dtype, &of.shape);
    }
}
