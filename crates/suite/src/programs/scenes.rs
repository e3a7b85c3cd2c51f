//! Several operations that belong together: what single random operations seldom line up to.

use pantile_ir::{ArrayType, Env, Index, Op, Operation, Random, Reduction, Slice, Type, Value};
use pantile_lanes::{Binary, DType, Scalar, Unary};

use super::data;
use super::maker::{Known, Maker};

/// Lengths at which loops of constants, sums and copies begin to go another way.
const LIMITS: [usize; 3] = [4096, 8192, 16384];

fn known(at: usize) -> Index {
    Index::Known(i64::try_from(at).unwrap_or(0))
}

/// A slice with steps of 1.
fn part(offsets: &[usize], sizes: &[usize]) -> Slice {
    Slice {
        offsets: offsets.iter().copied().map(known).collect(),
        sizes: sizes.iter().copied().map(known).collect(),
        strides: vec![Index::Known(1); sizes.len()],
    }
}

impl Maker<'_> {
    /// Any part of a shape that is not empty: offsets and sizes.
    fn any_part(&mut self, shape: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let along = |length: &usize| {
            let offset = self.rng.below(*length);
            (offset, 1 + self.rng.below(length - offset))
        };
        shape.iter().map(along).unzip()
    }

    fn insert_part(&mut self, value: Value, target: Value, slice: Slice) {
        let insert = Operation::new(Op::InsertSlice(slice), vec![value, target], Vec::new());
        self.operations.push(insert);
    }

    /// An array goes elsewhere, a part of it is changed there, and both are read afterwards.
    pub(super) fn moved_and_changed(&mut self) {
        let Some(of) = self.any_that(|known| !known.shape.contains(&0)) else { return self.same() };
        let ty = self.placed(&of.shape, of.dtype);
        self.array_of(Op::Redistribute, vec![of.value], ty, &of.shape);
        let Some(moved) = self.arrays.last().cloned() else { return };
        for _ in 0..1 + self.rng.below(2) {
            let target = if self.rng.chance(3, 4) { moved.value } else { of.value };
            let (offsets, sizes) = self.any_part(&of.shape);
            let source = if self.rng.chance(1, 2) {
                // A part of the other one, or of itself.
                let (from, _) = self.any_part(&of.shape);
                let room = of.shape.iter().zip(&sizes).zip(&from);
                let from: Vec<usize> =
                    room.map(|((length, size), at)| *at.min(&(length - size))).collect();
                let base = if self.rng.chance(1, 2) { of.value } else { moved.value };
                let ty = self.plain(&sizes, of.dtype);
                self.push(Op::Subview(part(&from, &sizes)), vec![base], ty)
            } else {
                self.scalar(of.dtype)
            };
            self.insert_part(source, target, part(&offsets, &sizes));
        }
        self.binary_of(&of, &moved);
    }

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
        let mut ty = self.placed(&shape, DType::F64);
        if !self.team && self.rng.chance(3, 4) {
            let mut axes = vec!["whole"; ndim];
            axes[axis] = "block(r)";
            let text = format!("r={}: {}", self.ranks, axes.join(", "));
            let array = ArrayType::new(&shape, DType::F64);
            ty = Type::Array(array.placed(Some(Env::Spread(text))));
        }
        self.grid_of(ty, &shape)
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

    /// An element that is read, and used after the array was written there.
    pub(super) fn kept_element(&mut self) {
        let Some(of) = self.any_that(|known| !known.shape.contains(&0)) else { return self.load() };
        let at: Vec<usize> = of.shape.iter().map(|length| self.rng.below(*length)).collect();
        let one = vec![1; of.shape.len()];
        let element = match self.rng.below(3) {
            0 => {
                let mut operands = vec![of.value];
                for place in &at {
                    operands.push(self.index(i64::try_from(*place).unwrap_or(0)));
                }
                let element = self.push(Op::Load, operands, Type::scalar(of.dtype));
                self.scalars.push((element, of.dtype));
                element
            }
            kind => {
                let slice = part(&at, &one);
                let op = if kind == 1 { Op::ExtractSlice(slice) } else { Op::Subview(slice) };
                let ty = self.plain(&[], of.dtype);
                let element = self.push(op, vec![of.value], ty);
                self.arrays.push(Known { value: element, dtype: of.dtype, shape: Vec::new() });
                element
            }
        };
        // All of it, the element alone, or a part around it.
        let (offsets, sizes) = match self.rng.below(3) {
            0 => (vec![0; of.shape.len()], of.shape.clone()),
            1 => (at, one),
            _ => self.any_part(&of.shape),
        };
        let value = self.scalar(of.dtype);
        self.insert_part(value, of.value, part(&offsets, &sizes));
        let element = Known { value: element, dtype: of.dtype, shape: Vec::new() };
        self.binary_of(&of, &element);
    }

    /// A long array and constants: numbers, and arrays that are one number everywhere. Gives what is
    /// made of it.
    pub(super) fn with_constants(&mut self) -> Vec<Value> {
        // All elements, or those of every rank, are about as many as a limit.
        let ranks = if self.rng.chance(1, 2) { self.ranks } else { 1 };
        let limit = *self.rng.pick(&LIMITS) * (1 + self.rng.below(2)) * ranks;
        let length = (limit.min(40_000) + self.rng.below(3)).saturating_sub(1);
        let dtypes = [DType::F64, DType::F32, DType::I64, DType::I16, DType::C64, DType::Bool];
        let dtype = *self.rng.pick(&dtypes);
        let shape = if self.rng.chance(2, 3) { vec![length] } else { vec![2, length / 2] };
        let (ty, axis) = (self.long(&shape, dtype), shape.len() - 1);
        let value = self.push(Op::IndexAlong { axis }, Vec::new(), ty);
        let mut of = Known { value, dtype, shape };
        let mut made = vec![of.value];
        for _ in 0..1 + self.rng.below(3) {
            let constant = self.any_constant(&of);
            let count = self.arrays.len();
            match self.rng.below(5) {
                0 => self.choose_constant(&of, &constant),
                1 => self.binary_pair(&constant, &of),
                2 if of.shape.len() == 1 => {
                    let (offsets, sizes) = self.any_part(&of.shape);
                    let value = self.scalar(of.dtype);
                    self.insert_part(value, of.value, part(&offsets, &sizes));
                }
                _ => self.binary_pair(&of, &constant),
            }
            // Long arrays are for this alone: other operations have short ones.
            if let Some(next) = self.arrays.drain(count..).next_back() {
                made.push(next.value);
                of = next;
            }
        }
        self.reduce_of(&of);
        made
    }

    /// An array type that perhaps says where it lives, but lists no indices.
    fn long(&mut self, shape: &[usize], dtype: DType) -> Type {
        let Type::Array(array) = self.plain(shape, dtype) else { return Type::Index };
        let last = if shape.len() == 2 { ", whole" } else { "" };
        let text = match self.rng.below(5) {
            _ if self.team => return Type::Array(array),
            0 => "auto".to_owned(),
            1 => "copies".to_owned(),
            2 => format!("r={}: block(r){last}", self.ranks),
            3 => format!("r={}: cyclic(r, 3){last}", self.ranks),
            _ => return Type::Array(array),
        };
        Type::Array(array.placed(Some(Env::Spread(text))))
    }

    /// A number, or an array of one number that goes together with another array.
    fn any_constant(&mut self, of: &Known) -> Known {
        let dtype = if self.rng.chance(2, 3) { of.dtype } else { self.dtype() };
        let element = data::element(self.rng, dtype);
        let number = self.constant(element);
        if self.rng.chance(1, 2) {
            return Known { value: number, dtype, shape: Vec::new() };
        }
        let mut shape = of.shape.clone();
        if self.rng.chance(1, 4) {
            let axis = self.rng.below(shape.len());
            shape[axis] = 1;
        }
        let ty = self.long(&shape, dtype);
        let value = self.push(Op::Create { value: true }, vec![number], ty);
        Known { value, dtype, shape }
    }

    fn choose_constant(&mut self, of: &Known, constant: &Known) {
        let function = Unary::IsFinite.into();
        let ty = self.plain(&of.shape, DType::Bool);
        let which = self.push(Op::Unary(function), vec![of.value], ty);
        let dtype = pantile_lanes::promote(of.dtype, constant.dtype);
        let operands = vec![which, of.value, constant.value];
        self.array(Op::Where, operands, dtype, &of.shape);
    }
}
