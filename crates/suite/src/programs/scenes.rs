//! Several operations that belong together: what single random operations seldom line up to.

use pantile_ir::infer::reduced_dtype;
use pantile_ir::{Env, Index, Op, Operation, Reduction, Slice, Type, Value};
use pantile_lanes::{Binary, DType, Unary};

use super::data;
use super::maker::{Known, Maker};

/// Lengths at which loops of constants, sums and copies begin to go another way.
const LIMITS: [usize; 3] = [4096, 8192, 16384];

fn known(at: usize) -> Index {
    Index::Known(i64::try_from(at).unwrap_or(0))
}

/// A slice with steps of 1.
pub(super) fn part(offsets: &[usize], sizes: &[usize]) -> Slice {
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

    pub(super) fn insert_part(&mut self, value: Value, target: Value, slice: Slice) {
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
            let base = if self.rng.chance(1, 2) { of.value } else { moved.value };
            let source = match self.rng.below(4) {
                // A part of the other one, or of itself.
                0 | 1 => {
                    let (from, _) = self.any_part(&of.shape);
                    let room = of.shape.iter().zip(&sizes).zip(&from);
                    let from: Vec<usize> =
                        room.map(|((length, size), at)| *at.min(&(length - size))).collect();
                    let ty = self.plain(&sizes, of.dtype);
                    self.push(Op::Subview(part(&from, &sizes)), vec![base], ty)
                }
                2 => self.part_and_number(target, (&offsets, &sizes), of.dtype),
                _ => self.scalar(of.dtype),
            };
            self.insert_part(source, target, part(&offsets, &sizes));
        }
        self.binary_of(&of, &moved);
    }

    /// What `a[part] += number` computes: the part is read where it is written.
    fn part_and_number(
        &mut self,
        of: Value,
        (offsets, sizes): (&[usize], &[usize]),
        dtype: DType,
    ) -> Value {
        let ty = self.plain(sizes, dtype);
        let view = self.push(Op::Subview(part(offsets, sizes)), vec![of], ty.clone());
        let number = self.scalar(dtype);
        let function = match Binary::Add.types(dtype, dtype) {
            Ok(_) => *self.rng.pick(&[Binary::Add, Binary::Multiply]),
            Err(_) => Binary::LogicalXor,
        };
        self.push(Op::Binary(function.into()), vec![view, number], ty)
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
        // Constants alone: loops that read nothing, also where threads share the rows of a rank.
        for _ in 0..3 {
            let length = self.ranks * *self.rng.pick(&[8193, 20_000, 50_000]);
            let constant = self.constant_array(&Known { shape: vec![length], ..of.clone() });
            made.extend(self.reduce_all(&constant));
        }
        made
    }

    /// A reduction of all elements, if they have one that is drawn.
    fn reduce_all(&mut self, of: &Known) -> Option<Value> {
        use Reduction as R;
        let known = [R::Sum, R::Sum, R::Prod, R::Mean, R::Max, R::Min, R::All, R::CountNonZero];
        let reduction = *self.rng.pick(&known);
        let dtype = reduced_dtype(reduction, of.dtype).ok()?;
        let keepdims = self.rng.chance(1, 4);
        let op = Op::Reduce { reduction: reduction.into(), axes: None, keepdims, correction: 0 };
        let ty = self.plain(if keepdims { &[1] } else { &[] }, dtype);
        Some(self.push(op, vec![of.value], ty))
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
        Type::Array(array.placed(Some(Env::Placement(text.into()))))
    }

    /// A number, or an array of one number that goes together with another array.
    fn any_constant(&mut self, of: &Known) -> Known {
        if self.rng.chance(1, 2) {
            return self.constant_array(of);
        }
        let (value, dtype) = self.any_number(of);
        Known { value, dtype, shape: Vec::new() }
    }

    fn any_number(&mut self, of: &Known) -> (Value, DType) {
        let dtype = if self.rng.chance(2, 3) { of.dtype } else { self.dtype() };
        let element = data::element(self.rng, dtype);
        (self.constant(element), dtype)
    }

    fn constant_array(&mut self, of: &Known) -> Known {
        let (number, dtype) = self.any_number(of);
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
