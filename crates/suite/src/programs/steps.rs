//! Steps in time: halos of several steps, in loops and behind them.

use pantile_ir::{Arith, ArrayType, Env, Op, Operation, Predicate, Random, Reduction, Type, Value};
use pantile_lanes::{Binary, DType, Scalar};

use super::maker::{Known, Maker};
use super::scenes::part;

impl Maker<'_> {
    /// Steps in time of which each adds a reduction and shifts a part: halos of several steps, and of
    /// what is reduced. One after the other, or in a loop.
    pub(super) fn steps_with_reductions(&mut self) {
        let of = self.grid();
        let other = self.grid_like(&of);
        let reductions = [Reduction::Max, Reduction::Min, Reduction::Sum, Reduction::Mean];
        let (reduction, axis) = (*self.rng.pick(&reductions), self.rng.below(of.shape.len()));
        // Of what the steps change, or of what stays.
        let fixed = self.rng.chance(1, 2).then_some(other);
        let steps = 1 + self.rng.below(4);
        let step = |maker: &mut Self, current: &Known| {
            let from = fixed.clone().unwrap_or_else(|| current.clone());
            let sum = maker.reduced(&from, reduction, axis);
            let function = *maker.rng.pick(&[Binary::Add, Binary::Subtract, Binary::Maximum]);
            let ty = maker.ty(current.value);
            let next = maker.push(Op::Binary(function.into()), vec![current.value, sum], ty);
            let next = Known { value: next, ..current.clone() };
            maker.shift(&next);
            next
        };
        if self.depth > 1 || self.rng.chance(1, 2) {
            let last = (0..steps).fold(of, |current, _| step(self, &current));
            return self.arrays.push(last);
        }
        let bounds = [0, i64::try_from(steps).unwrap_or(1), 1];
        let mut operands: Vec<Value> = bounds.iter().map(|bound| self.index(*bound)).collect();
        operands.push(of.value);
        let ty = self.ty(of.value);
        let (counter, taken) = (self.function.value(Type::Index), self.function.value(ty));
        let block = self.block(vec![counter, taken], |maker| {
            let next = step(maker, &Known { value: taken, ..of.clone() });
            maker.operations.push(Operation::new(Op::Yield, vec![next.value], Vec::new()));
        });
        self.finish(Op::For, operands, vec![block], (&[], &[of]));
    }

    /// A grid that is cut somewhere, with an axis about as short as there are ranks.
    fn grid(&mut self) -> Known {
        let ndim = *self.rng.pick(&[1, 2, 2, 3, 3, 3]);
        let mut shape: Vec<usize> = (0..ndim).map(|_| 1 + self.rng.below(8)).collect();
        let axis = self.rng.below(ndim);
        shape[axis] = (self.ranks + self.rng.below(4)).saturating_sub(1).max(1);
        self.grid_along(axis, &shape)
    }

    /// A grid of this shape, most often cut along an axis.
    fn grid_along(&mut self, axis: usize, shape: &[usize]) -> Known {
        let ndim = shape.len();
        let mut ty = self.placed(shape, DType::F64);
        if !self.team && self.rng.chance(3, 4) {
            let mut axes = vec!["whole"; ndim];
            axes[axis] = "block(r)";
            let text = format!("r={}: {}", self.ranks, axes.join(", "));
            let array = ArrayType::new(shape, DType::F64);
            ty = Type::Array(array.placed(Some(Env::Placement(text.into()))));
        }
        self.grid_of(ty, shape)
    }

    /// Another grid that lives where the first one does.
    fn grid_like(&mut self, of: &Known) -> Known {
        let ty = self.ty(of.value);
        self.grid_of(ty, &of.shape)
    }

    fn grid_of(&mut self, ty: Type, shape: &[usize]) -> Known {
        let seed = Scalar::of(self.rng.bits().cast_signed());
        let seed = self.constant(seed);
        let op = Op::Random { kind: Random::Normal, stream: 1 };
        let value = self.push(op, vec![seed], ty);
        let known = Known { value, dtype: DType::F64, shape: shape.to_vec() };
        self.arrays.push(known.clone());
        known
    }

    /// A reduction along one axis, which stays with length 1.
    fn reduced(&mut self, of: &Known, reduction: Reduction, axis: usize) -> Value {
        let mut shape = of.shape.clone();
        shape[axis] = 1;
        let axes = Some(vec![axis]);
        let op = Op::Reduce { reduction: reduction.into(), axes, keepdims: true, correction: 0 };
        let ty = self.plain(&shape, of.dtype);
        self.push(op, vec![of.value], ty)
    }

    /// Assigns a part of an array to another part of it, most often its neighbour.
    fn shift(&mut self, of: &Known) {
        let (mut from, mut to, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for length in &of.shape {
            let by = (*self.rng.pick(&[0, 0, 1, 1, 1, 2])).min(length - 1);
            let room = length - by;
            let first = if self.rng.chance(1, 2) { 0 } else { self.rng.below(room) };
            let rest = room - first;
            sizes.push(if self.rng.chance(1, 2) { rest } else { 1 + self.rng.below(rest) });
            from.push(first);
            to.push(first + by);
        }
        let (from, to) = if self.rng.chance(1, 3) { (to, from) } else { (from, to) };
        let ty = self.plain(&sizes, of.dtype);
        let view = self.push(Op::Subview(part(&from, &sizes)), vec![of.value], ty);
        self.insert_part(view, of.value, part(&to, &sizes));
    }

    /// Steps in time in a loop, and steps behind it: these may need wider halos of what the loop stores
    /// than the loop does.
    pub(super) fn steps_behind_a_loop(&mut self) {
        let ndim = *self.rng.pick(&[1, 1, 2]);
        let mut shape: Vec<usize> = (0..ndim).map(|_| 1 + self.rng.below(5)).collect();
        let axis = self.rng.below(ndim);
        shape[axis] = 3 + self.rng.below(4 * self.ranks);
        let of = self.grid_along(axis, &shape);
        let turns = self.rng.range(0, 4);
        if self.depth > 1 || turns == 0 {
            self.neighbours(&of, axis);
        } else if self.rng.chance(1, 2) {
            let operands: Vec<Value> =
                [0, turns, 1].iter().map(|bound| self.index(*bound)).collect();
            let counter = self.function.value(Type::Index);
            let block = self.block(vec![counter], |maker| {
                (0..1 + maker.rng.below(2)).for_each(|_| maker.neighbours(&of, axis));
                maker.operations.push(Operation::new(Op::Yield, Vec::new(), Vec::new()));
            });
            self.finish(Op::For, operands, vec![block], (&[], &[]));
        } else {
            self.while_of_neighbours(&of, axis, turns);
        }
        (0..1 + self.rng.below(3)).for_each(|_| self.neighbours(&of, axis));
    }

    /// A loop whose steps come before its condition, behind it, or both.
    fn while_of_neighbours(&mut self, of: &Known, axis: usize, turns: i64) {
        let (start, limit) = (self.index(0), self.index(turns));
        let [count, again, last] = std::array::from_fn(|_| self.function.value(Type::Index));
        let place = self.rng.below(3);
        let before = self.block(vec![count], |maker| {
            if place != 1 {
                maker.neighbours(of, axis);
            }
            let (less, truth) = (Op::Compare(Predicate::Lt), Type::scalar(DType::Bool));
            let goes_on = maker.push(less, vec![count, limit], truth);
            let condition = Operation::new(Op::Condition, vec![goes_on, count], Vec::new());
            maker.operations.push(condition);
        });
        let after = self.block(vec![again], |maker| {
            if place != 0 {
                maker.neighbours(of, axis);
            }
            let (one, add) = (maker.index(1), Op::Arith(Arith::AddI));
            let next = maker.push(add, vec![again, one], Type::Index);
            maker.operations.push(Operation::new(Op::Yield, vec![next], Vec::new()));
        });
        self.finish(Op::While, vec![start], vec![before, after], (&[last], &[]));
    }

    /// Elements become something of their neighbours along an axis.
    fn neighbours(&mut self, of: &Known, axis: usize) {
        let by = 1 + self.rng.below(2);
        let (mut offsets, mut sizes) = (vec![0; of.shape.len()], of.shape.clone());
        sizes[axis] -= by;
        let ty = self.plain(&sizes, of.dtype);
        let low = self.push(Op::Subview(part(&offsets, &sizes)), vec![of.value], ty.clone());
        offsets[axis] = by;
        let high = self.push(Op::Subview(part(&offsets, &sizes)), vec![of.value], ty.clone());
        let function = *self.rng.pick(&[Binary::Add, Binary::Subtract, Binary::Multiply]);
        let made = self.push(Op::Binary(function.into()), vec![low, high], ty);
        offsets[axis] = self.rng.below(by + 1);
        self.insert_part(made, of.value, part(&offsets, &sizes));
    }
}
