//! Views, assignments, other shapes, other places.

use pantile_ir::{ArrayType, Attribute, Index, Op, Operation, Predicate, Slice, Type};
use pantile_lanes::{Binary, DType};

use super::maker::{Known, Maker};

/// A slice, the values in it, and its sizes.
struct Cutting {
    slice: Slice,
    operands: Vec<pantile_ir::Value>,
    sizes: Vec<usize>,
}

fn known(at: usize) -> Index {
    Index::Known(i64::try_from(at).unwrap_or(0))
}

impl Maker<'_> {
    /// A slice of an array: any step, constants or values.
    fn cutting(&mut self, shape: &[usize]) -> Cutting {
        let mut slice = Slice::default();
        let mut values = [Vec::new(), Vec::new(), Vec::new()];
        let mut sizes = Vec::new();
        for length in shape {
            let (mut offset, mut size, mut step) = self.along(*length);
            let fits = |known: &super::maker::Counter, size: i64, step: i64| {
                let inside = |at: i64| at >= 0 && usize::try_from(at).is_ok_and(|at| at < *length);
                [known.low, known.high]
                    .iter()
                    .all(|at| inside(*at) && inside(*at + (size - 1) * step))
            };
            let counters: Vec<super::maker::Counter> =
                self.counters.iter().copied().filter(|known| fits(known, 1, 1)).collect();
            let mut at = None;
            if !counters.is_empty() && self.rng.chance(2, 3) {
                let counter = *self.rng.pick(&counters);
                at = Some(counter.value);
                if !fits(&counter, size, step) || size == 0 {
                    (size, step) = (1, 1);
                }
                offset = counter.low;
            }
            let mut entry = |maker: &mut Self, value: i64, list: usize, odds: usize| {
                if maker.rng.chance(odds, 10) {
                    let known = maker.index(value);
                    values[list].push(known);
                    Index::Operand
                } else {
                    Index::Known(value)
                }
            };
            let (count, stride) = (entry(self, size, 1, 1), entry(self, step, 2, 1));
            slice.sizes.push(count);
            slice.strides.push(stride);
            slice.offsets.push(match at {
                Some(value) => {
                    values[0].push(value);
                    Index::Operand
                }
                None => entry(self, offset, 0, 1),
            });
            sizes.push(usize::try_from(size).unwrap_or(0));
        }
        Cutting { slice, operands: values.concat(), sizes }
    }

    /// Offset, size and step along an axis.
    fn along(&mut self, length: usize) -> (i64, i64, i64) {
        let length = i64::try_from(length).unwrap_or(0);
        if length == 0 || self.rng.chance(1, 20) {
            return (self.rng.range(0, length + 1), 0, 1);
        }
        if self.rng.chance(1, 4) {
            return (0, length, 1);
        }
        let step = *self.rng.pick(&[1, 1, 1, 2, 3, -1, -1, -2]);
        let offset = self.rng.range(0, length);
        let most = if step > 0 { (length - 1 - offset) / step } else { offset / -step };
        let size = if self.rng.chance(1, 2) { most + 1 } else { 1 + self.rng.range(0, most + 1) };
        (offset, size, step)
    }

    /// A view, or a copy of a part.
    pub(super) fn slice(&mut self) {
        let of = self.any();
        let cutting = self.cutting(&of.shape);
        let mut shape = Vec::new();
        for size in &cutting.sizes {
            if *size != 1 || self.rng.chance(2, 3) {
                shape.push(*size);
            }
        }
        // The types of lengths that are values cannot drop axes.
        if cutting.slice.sizes.contains(&Index::Operand) {
            shape.clone_from(&cutting.sizes);
        }
        let op = match self.rng.below(8) {
            0 | 1 => Op::ExtractSlice(cutting.slice),
            2..5 if self.team => Op::DistSubview { slice: cutting.slice, target: false },
            _ => Op::Subview(cutting.slice),
        };
        let mut operands = vec![of.value];
        operands.extend(cutting.operands);
        self.array(op, operands, of.dtype, &shape);
    }

    /// An assignment in place, or the changed copy.
    pub(super) fn insert(&mut self) {
        let target = self.any();
        let mut cutting = self.cutting(&target.shape);
        let spreads = |sizes: &[usize], known: &Known| {
            known.shape.len() <= sizes.len()
                && known
                    .shape
                    .iter()
                    .rev()
                    .zip(sizes.iter().rev())
                    .all(|(one, other)| one == other || *one == 1)
        };
        let mut found = None;
        for _ in 0..4 {
            let sizes = cutting.sizes.clone();
            found = self.any_that(|known| spreads(&sizes, known));
            if found.is_some() {
                break;
            }
            cutting = self.cutting(&target.shape);
        }
        let source = match found {
            Some(known) if self.rng.chance(4, 5) => known.value,
            _ => {
                let dtype = if self.rng.chance(2, 3) { target.dtype } else { self.dtype() };
                self.scalar(dtype)
            }
        };
        let mut operands = vec![source, target.value];
        operands.extend(cutting.operands);
        if self.rng.chance(1, 4) {
            let ty = self.ty(target.value);
            return self.array_of(
                Op::ImmutableInsertSlice(cutting.slice),
                operands,
                ty,
                &target.shape,
            );
        }
        let insert = Operation::new(Op::InsertSlice(cutting.slice), operands, Vec::new());
        self.operations.push(insert);
    }

    /// Shifted views of one array combined, and perhaps assigned to a part of it or of another.
    pub(super) fn statement(&mut self) {
        let long = |known: &Known| known.shape.iter().any(|length| *length >= 3);
        let Some(of) = self.any_that(long) else { return self.slice() };
        let shifts: Vec<usize> = of.shape.iter().map(|length| (*length).clamp(1, 3) - 1).collect();
        let shifts: Vec<usize> = shifts.iter().map(|most| self.rng.below(most + 1)).collect();
        let sizes: Vec<usize> =
            of.shape.iter().zip(&shifts).map(|(length, shift)| length - shift).collect();
        let cut = |offsets: &[usize]| Slice {
            offsets: offsets.iter().map(|at| known(*at)).collect(),
            sizes: sizes.iter().map(|size| known(*size)).collect(),
            strides: vec![Index::Known(1); sizes.len()],
        };
        let mut made = None;
        for _ in 0..2 + self.rng.below(2) {
            let offsets: Vec<usize> = shifts.iter().map(|most| self.rng.below(most + 1)).collect();
            let ty = self.plain(&sizes, of.dtype);
            let view = self.push(Op::Subview(cut(&offsets)), vec![of.value], ty.clone());
            made = Some(match made {
                None => view,
                Some(sum) => {
                    let function = *self.rng.pick(&[Binary::Add, Binary::Multiply]);
                    self.push(Op::Binary(function.into()), vec![sum, view], ty)
                }
            });
        }
        let Some(value) = made else { return };
        let shape = of.shape.clone();
        let target = self.any_that(|known| known.shape == shape).filter(|_| self.rng.chance(3, 4));
        if let Some(target) = target {
            let offsets: Vec<usize> = shifts.iter().map(|most| self.rng.below(most + 1)).collect();
            let op = Op::InsertSlice(cut(&offsets));
            let insert = Operation::new(op, vec![value, target.value], Vec::new());
            self.operations.push(insert);
        }
        self.arrays.push(Known { value, dtype: of.dtype, shape: sizes });
    }

    pub(super) fn reshape(&mut self) {
        let of = self.any();
        let size: usize = of.shape.iter().product();
        let mut shape = Vec::new();
        let mut rest = size;
        for _ in 0..self.rng.below(3) {
            let divisors: Vec<usize> =
                (1..=rest.max(1)).filter(|length| rest.is_multiple_of(*length)).collect();
            let length = *self.rng.pick(&divisors);
            shape.push(length);
            rest /= length;
        }
        if rest != 1 || self.rng.chance(1, 3) {
            shape.push(rest);
        }
        let mut operands = vec![of.value];
        if self.rng.chance(1, 3) {
            for length in &shape {
                operands.push(self.index(i64::try_from(*length).unwrap_or(0)));
            }
        }
        self.array(Op::Reshape { copy: None }, operands, of.dtype, &shape);
    }

    pub(super) fn permute(&mut self) {
        let of = self.any();
        let mut axes: Vec<usize> = (0..of.shape.len()).collect();
        self.rng.shuffle(&mut axes);
        let shape: Vec<usize> = axes.iter().map(|axis| of.shape[*axis]).collect();
        self.array(Op::Permute(axes), vec![of.value], of.dtype, &shape);
    }

    pub(super) fn broadcast(&mut self) {
        let of = self.any();
        let mut shape: Vec<usize> = of
            .shape
            .iter()
            .map(|length| if *length == 1 { self.rng.below(4) } else { *length })
            .collect();
        if shape.len() < 3 && self.rng.chance(1, 2) {
            shape.insert(0, self.rng.below(4));
        }
        if shape.iter().product::<usize>() <= 600 {
            self.array(Op::Broadcast, vec![of.value], of.dtype, &shape);
        }
    }

    /// The same array, elsewhere or as another value.
    pub(super) fn same(&mut self) {
        let of = self.any();
        match self.rng.below(6) {
            0 | 1 => {
                let ty = self.placed(&of.shape, of.dtype);
                self.array_of(Op::Redistribute, vec![of.value], ty, &of.shape);
            }
            2 => self.array(Op::Replicate, vec![of.value], of.dtype, &of.shape),
            3 => {
                let mut widths = || of.shape.iter().map(|_| self.rng.below(3)).collect();
                let (low, high) = (widths(), widths());
                self.array(Op::Halo { low, high }, vec![of.value], of.dtype, &of.shape);
            }
            4 => {
                // An alias of which less is known.
                let known: Vec<Option<usize>> = of
                    .shape
                    .iter()
                    .map(|length| self.rng.chance(1, 2).then_some(*length))
                    .collect();
                let Type::Array(array) = self.plain(&of.shape, of.dtype) else { return };
                let ty = Type::Array(ArrayType { shape: known, ..array });
                self.array_of(Op::Cast, vec![of.value], ty, &of.shape);
            }
            _ if self.team => self.repartition(&of),
            _ => self.array(Op::Copy, vec![of.value], of.dtype, &of.shape),
        }
    }

    /// What every member wants is its own affair: the array is the same.
    fn repartition(&mut self, of: &Known) {
        let request = !of.shape.is_empty() && self.rng.chance(1, 2);
        let mut operands = vec![of.value];
        if request {
            let team = Attribute::int(1);
            let mut given = vec![
                self.push(Op::TeamSize(team.clone()), Vec::new(), Type::Index),
                self.push(Op::TeamMember(team), Vec::new(), Type::Index),
            ];
            for length in &of.shape {
                given.push(self.index(i64::try_from(*length).unwrap_or(0)));
            }
            let parts: Vec<pantile_ir::Value> =
                (0..2 * of.shape.len()).map(|_| self.function.value(Type::Index)).collect();
            let partition = Operation::new(Op::DefaultPartition, given, parts.clone());
            self.operations.push(partition);
            operands.extend(parts);
        }
        self.array(Op::Repartition { request }, operands, of.dtype, &of.shape);
    }

    /// An element or a length as a scalar.
    pub(super) fn load(&mut self) {
        let of = self.any();
        if !of.shape.is_empty() && self.rng.chance(1, 4) {
            let axis = i64::try_from(self.rng.below(of.shape.len())).unwrap_or(0);
            let axis = self.index(axis);
            let length = self.push(Op::Dim, vec![of.value, axis], Type::Index);
            let number = self.push(Op::Convert, vec![length], Type::scalar(DType::I64));
            self.scalars.push((number, DType::I64));
            return;
        }
        if of.shape.contains(&0) {
            return;
        }
        let mut operands = vec![of.value];
        for length in &of.shape {
            let at = i64::try_from(self.rng.below(*length)).unwrap_or(0);
            operands.push(self.index(at));
        }
        let element = self.push(Op::Load, operands, Type::scalar(of.dtype));
        self.scalars.push((element, of.dtype));
    }

    /// Arithmetic on scalars.
    pub(super) fn arith(&mut self) {
        use pantile_ir::Arith as A;
        if self.rng.chance(1, 5) {
            let dtype = *self.rng.pick(&[DType::F64, DType::I32, DType::I8]);
            let pair = vec![self.scalar(dtype), self.scalar(dtype)];
            let mut known = vec![Predicate::Lt, Predicate::Ge, Predicate::Ne];
            if dtype != DType::F64 {
                known.extend([Predicate::ULt, Predicate::UGe]);
            }
            let compare = Op::Compare(*self.rng.pick(&known));
            let truth = self.push(compare, pair.clone(), Type::scalar(DType::Bool));
            self.scalars.push((truth, DType::Bool));
            let operands = vec![truth, pair[0], pair[1]];
            let value = self.push(Op::SelectScalar, operands, Type::scalar(dtype));
            self.scalars.push((value, dtype));
            return;
        }
        if self.rng.chance(1, 2) {
            let dtype = *self.rng.pick(&[DType::F64, DType::F32]);
            let (one, other) = (self.scalar(dtype), self.scalar(dtype));
            let arith = *self.rng.pick(&[A::AddF, A::SubF, A::MulF, A::DivF, A::NegF]);
            let operands = if arith == A::NegF { vec![one] } else { vec![one, other] };
            let value = self.push(Op::Arith(arith), operands, Type::scalar(dtype));
            self.scalars.push((value, dtype));
            return;
        }
        let all = [
            A::AddI,
            A::SubI,
            A::MulI,
            A::DivSI,
            A::CeilDivSI,
            A::FloorDivSI,
            A::RemSI,
            A::MinSI,
            A::MaxSI,
            A::AndI,
            A::OrI,
            A::XOrI,
            A::DivUI,
            A::CeilDivUI,
            A::RemUI,
            A::MinUI,
            A::MaxUI,
            A::ShLI,
            A::ShRSI,
            A::ShRUI,
        ];
        let dtype = *self.rng.pick(&[DType::I64, DType::I32, DType::I8]);
        let operands = vec![self.scalar(dtype), self.scalar(dtype)];
        let arith = *self.rng.pick(&all);
        let value = self.push(Op::Arith(arith), operands, Type::scalar(dtype));
        self.scalars.push((value, dtype));
    }

    /// The counter of a loop as a number.
    pub(super) fn counted(&mut self) {
        let Some(counter) = self.counters.last().copied() else { return self.arith() };
        let number = self.push(Op::Convert, vec![counter.value], Type::scalar(DType::I64));
        self.scalars.push((number, DType::I64));
    }
}
