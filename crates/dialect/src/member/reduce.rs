//! Reductions and single elements: each member does its rows, the runtime the rest.
//!
//! `distruntime.allreduce` works on memory that the caller hands in: the function of a member gets
//! one `memref` more for each shape and type that is reduced over the team, behind its other
//! arguments. What an all-reduce leaves there is copied at once, so that the next one can use the
//! same memory.
//!
//! ```text
//!   sum(a)      ->     p = sum(owned rows)     m[] = p     allreduce(m)     copy of m[]
//! ```
//!
//! Members without rows bring the neutral element. The runtime rounds sums and products of floats
//! once: memory that holds a reduction of rows stands for these rows. A mean is such a sum divided by
//! the number of elements (`count`), with one rounding for both.

use pantile_lanes::{DType, Scalar};

use super::MemberError;
use super::held::{Held, rows_slice};
use super::moves::team;
use super::{Lower, local_type};
use crate::facts::Cover;
use crate::{PassError, scalars};
use pantile_ir::{Arith, ArrayType, Attribute, Op, Operation, Predicate, Reduction, Type, Value};

/// What members compute of their rows, and how that is put together.
fn steps(reduction: Reduction) -> Option<(Reduction, Reduction)> {
    use Reduction as R;
    Some(match reduction {
        R::Sum | R::Prod | R::Max | R::Min | R::Any | R::All => (reduction, reduction),
        R::Mean => (R::Sum, R::Mean),
        R::CountNonZero | R::Norm1 => (reduction, R::Sum),
        R::NormInf => (R::NormInf, R::Max),
        _ => return None,
    })
}

/// The element that changes no maximum or minimum.
fn neutral(reduction: Reduction, dtype: DType) -> Option<Scalar> {
    let lowest = reduction == Reduction::Max;
    macro_rules! ends {
        ($($name:ident $ty:ty),*) => {
            match dtype {
                $(DType::$name => Some(Scalar::of(if lowest { <$ty>::MIN } else { <$ty>::MAX })),)*
                DType::F32 if lowest => Some(Scalar::of(f32::NEG_INFINITY)),
                DType::F32 => Some(Scalar::of(f32::INFINITY)),
                DType::F64 if lowest => Some(Scalar::of(f64::NEG_INFINITY)),
                DType::F64 => Some(Scalar::of(f64::INFINITY)),
                _ => None,
            }
        };
    }
    ends!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
}

impl Lower<'_> {
    pub(super) fn reduce(&mut self, operation: &Operation) -> Result<(), PassError> {
        let (of, result) = (operation.operands[0], operation.results[0]);
        let Op::Reduce { axes, .. } = &operation.op else { return Ok(()) };
        let Type::Array(made) = self.to.function.ty(result).clone() else {
            return self.refuse(operation, MemberError::ResultNotArray);
        };
        let Some(array) = self.spread(of) else {
            return self.refuse(operation, MemberError::DistributedResult);
        };
        if array.ndim() == 0 {
            let of = self.to.now(of);
            let value = self.to.one(operation.op.clone(), vec![of], local_type(&made, &[]));
            self.to.replace(result, value);
            return Ok(());
        }
        let mut held = self.held_of(operation, of)?;
        if held.local.everywhere {
            self.to_owner(&mut held, &array);
        }
        if !held.local.has_columns(&array.shape) {
            return self.refuse(operation, MemberError::SomeColumns);
        }
        match axes {
            Some(axes) if !axes.contains(&0) => self.reduce_columns(operation, &held, &array),
            _ => self.reduce_rows(operation, &held, &array),
        }
    }

    /// The first axis stays: every member does what it has.
    fn reduce_columns(
        &mut self,
        operation: &Operation,
        held: &Held,
        array: &ArrayType,
    ) -> Result<(), PassError> {
        let result = operation.results[0];
        let local = self.local_of(operation, result)?;
        let stored = held.local.offset..held.local.offset + held.local.all_rows();
        let Some(made) = self.spread(result).filter(|_| stored == local.owned_rows()) else {
            return self.refuse(operation, MemberError::NotDefaultPartition);
        };
        if stored.is_empty() {
            let held = Held { local, parts: [Vec::new(), Vec::new(), Vec::new()] };
            self.held.insert(result, held);
            return Ok(());
        }
        let rows = self.all_parts(held, array);
        let ty = local_type(&made, &local.part_shape(1));
        let value = self.to.one(operation.op.clone(), vec![rows], ty);
        self.held.insert(result, Held::plain(&local, value));
        Ok(())
    }

    /// The rows that are this member's share of the array: it and the first of them.
    fn share(
        &mut self,
        operation: &Operation,
        held: &Held,
        array: &ArrayType,
    ) -> Result<(Value, std::ops::Range<usize>), PassError> {
        match held.local.cover {
            Cover::Rows | Cover::Owned => Ok((self.part(held, 1, array), held.local.owned_rows())),
            Cover::Stored => {
                let first = held.local.offset;
                Ok((self.all_parts(held, array), first..first + held.local.all_rows()))
            }
            Cover::Unknown => self.refuse(operation, MemberError::RequestedRows),
        }
    }

    /// The first axis goes: the runtime puts together what members have.
    fn reduce_rows(
        &mut self,
        operation: &Operation,
        held: &Held,
        array: &ArrayType,
    ) -> Result<(), PassError> {
        let Op::Reduce { reduction, axes, keepdims, correction } = operation.op.clone() else {
            return Ok(());
        };
        let Type::Array(made) = self.to.function.ty(operation.results[0]).clone() else {
            return Ok(());
        };
        let Some((first, then)) = steps(reduction.function) else {
            return self.refuse(operation, MemberError::Reduction(reduction.function));
        };
        let (Some(shape), Some(lengths)) = (made.known_shape(), array.known_shape()) else {
            return self.refuse(operation, MemberError::UnknownLengths);
        };
        let reduced = |axis: &usize| axes.as_ref().is_none_or(|axes| axes.contains(axis));
        let count: usize = (0..lengths.len()).filter(reduced).map(|axis| lengths[axis]).product();
        let extreme = matches!(first, Reduction::Max | Reduction::Min);
        if count == 0 && extreme && shape.iter().all(|length| *length > 0) {
            return self.refuse(operation, MemberError::Empty(first));
        }
        let (rows, range) = self.share(operation, held, array)?;
        let ty = local_type(&made, &shape);
        let partial = if range.is_empty() && extreme {
            let Some(scalar) = neutral(first, made.dtype()) else {
                return self.refuse(operation, MemberError::NoLeast);
            };
            let value = self.constant(scalar);
            self.to.one(Op::Create { value: true }, vec![value], ty)
        } else {
            let named = if first == reduction.function { reduction } else { first.into() };
            let op = Op::Reduce { reduction: named, axes, keepdims, correction };
            self.to.one(op, vec![rows], ty)
        };
        let named = if then == reduction.function { reduction } else { then.into() };
        let count = (then == Reduction::Mean).then_some(count);
        let value = self.all_reduced(partial, &made, &shape, (named, team(array), count));
        self.put(operation, value, &made, &shape)
    }

    /// What everybody has now becomes the result.
    fn put(
        &mut self,
        operation: &Operation,
        value: Value,
        made: &ArrayType,
        shape: &[usize],
    ) -> Result<(), PassError> {
        let result = operation.results[0];
        if made.ndim() == 0 || made.dist_env().is_none() {
            self.to.replace(result, value);
            return Ok(());
        }
        let local = self.local_of(operation, result)?;
        let slice = rows_slice(local.owned_rows().start, local.rows[1], shape);
        let ty = local_type(made, &local.part_shape(1));
        let value = self.to.one(Op::Subview(slice), vec![value], ty);
        self.held.insert(result, Held::plain(&local, value));
        Ok(())
    }

    fn constant(&mut self, scalar: Scalar) -> Value {
        self.to.one(Op::Constant(scalar), Vec::new(), Type::scalar(scalar.dtype()))
    }

    /// The memory for reductions of this shape.
    fn memory(&mut self, ty: Type) -> Value {
        let known = |value: &&Value| *self.to.function.ty(**value) == ty;
        if let Some(known) = self.memory.iter().find(known) {
            return *known;
        }
        let value = self.to.function.value(ty);
        self.to.function.values[value.index()].name = Some("memory".into());
        self.memory.push(value);
        value
    }

    /// Writes to memory and reduces it over the team: an array that shows the memory.
    fn over_team(
        &mut self,
        partial: Value,
        (array, shape): (&ArrayType, &[usize]),
        (reduction, team, count): (pantile_ir::Named<Reduction>, Attribute, Option<usize>),
    ) -> Value {
        let dims = shape.iter().copied().map(Some).collect();
        let memory = self.memory(Type::MemRef(dims, array.element));
        let ty = local_type(array, shape);
        let cells = self.to.one(Op::FromMemRef, vec![memory], ty.clone());
        let rows = shape.first().copied().unwrap_or(0);
        let op = Op::InsertSlice(rows_slice(0, rows, shape));
        let place = self.to.place.clone();
        self.to.push(Operation::new(op, vec![partial, cells], Vec::new()).at(place.clone()));
        let op = Op::AllReduce { reduction, team: Some(team) };
        let mut reduce = Operation::new(op, vec![memory], Vec::new()).at(place);
        let count = count.and_then(|count| i64::try_from(count).ok());
        reduce.attributes.extend(count.map(|n| ("count".to_owned(), Attribute::int(n))));
        self.to.push(reduce);
        self.to.one(Op::FromMemRef, vec![memory], ty)
    }

    fn all_reduced(
        &mut self,
        partial: Value,
        array: &ArrayType,
        shape: &[usize],
        how: (pantile_ir::Named<Reduction>, Attribute, Option<usize>),
    ) -> Value {
        let shown = self.over_team(partial, (array, shape), how);
        self.to.one(Op::Copy, vec![shown], local_type(array, shape))
    }

    /// One element for everybody: its owner brings it, the others what adds nothing.
    pub(super) fn load(&mut self, operation: &Operation) -> Result<(), PassError> {
        let (of, result) = (operation.operands[0], operation.results[0]);
        let Some(array) = self.spread(of) else {
            return self.refuse(operation, MemberError::NotDistributed);
        };
        let indices: Vec<Value> =
            operation.operands[1..].iter().map(|value| self.to.now(*value)).collect();
        let ty = self.to.function.ty(result).clone();
        if array.ndim() == 0 {
            let operands = vec![self.to.now(of)];
            let value = self.to.one(Op::Load, operands, ty);
            self.to.replace(result, value);
            return Ok(());
        }
        let mut held = self.held_of(operation, of)?;
        if held.local.everywhere {
            self.to_owner(&mut held, &array);
        }
        if !held.local.has_columns(&array.shape) {
            return self.refuse(operation, MemberError::SomeColumns);
        }
        let dtype = array.dtype();
        let (nothing, how) = match dtype {
            DType::Bool => (Some(Scalar::of(false)), Reduction::Any),
            // -0.0 and anything is that: no bit of a float changes.
            DType::F32 | DType::F64 => (scalars::convert(&Scalar::of(-0.0), dtype), Reduction::Sum),
            _ => (scalars::convert(&Scalar::of(0_i64), dtype), Reduction::Sum),
        };
        let Some(nothing) = nothing else {
            return self.refuse(operation, MemberError::Complex);
        };
        let (rows, range) = self.share(operation, &held, &array)?;
        let nothing = self.constant(nothing);
        let value = self.own_element(operation, (rows, &range), &indices, nothing)?;
        let shown =
            self.over_team(value, (&array_of_one(&array), &[]), (how.into(), team(&array), None));
        let value = self.to.one(Op::Load, vec![shown], ty);
        self.to.replace(result, value);
        Ok(())
    }

    /// The element at these indices if this member has it, else `nothing`.
    fn own_element(
        &mut self,
        operation: &Operation,
        (rows, range): (Value, &std::ops::Range<usize>),
        indices: &[Value],
        nothing: Value,
    ) -> Result<Value, PassError> {
        let ty = self.to.function.ty(nothing).clone();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let known = self.facts.index(operation.operands[1]);
        let length = self.to.function.ty(operation.operands[0]).shape()[0];
        let outside = |row: i64| usize::try_from(row).map_or(true, |row| Some(row) >= length);
        if let Some(row) = known.filter(|row| outside(*row)) {
            let length = length.unwrap_or(0);
            return self.refuse(operation, MemberError::Row { row, length });
        }
        if range.is_empty() {
            return Ok(nothing);
        }
        let mut operands = vec![rows];
        if let Some(row) = known.and_then(|row| usize::try_from(row).ok()) {
            if !range.contains(&row) {
                return Ok(nothing);
            }
            operands.push(self.to.index(count(row - range.start)));
            operands.extend(&indices[1..]);
            return Ok(self.to.one(Op::Load, operands, ty));
        }
        let [first, zero, end] = [range.start, 0, range.len()].map(|n| self.to.index(count(n)));
        let last = self.to.index(count(range.len() - 1));
        let mut index =
            |arith, one, other| self.to.one(Op::Arith(arith), vec![one, other], Type::Index);
        let row = index(Arith::SubI, indices[0], first);
        let inside = index(Arith::MaxSI, row, zero);
        let inside = index(Arith::MinSI, inside, last);
        let truth = Type::scalar(DType::Bool);
        let low = self.to.one(Op::Compare(Predicate::Ge), vec![row, zero], truth.clone());
        let high = self.to.one(Op::Compare(Predicate::Lt), vec![row, end], truth.clone());
        let mine = self.to.one(Op::Arith(Arith::AndI), vec![low, high], truth);
        operands.push(inside);
        operands.extend(&indices[1..]);
        let value = self.to.one(Op::Load, operands, ty.clone());
        Ok(self.to.one(Op::SelectScalar, vec![mine, value, nothing], ty))
    }
}

/// The type of an array without axes of the same elements.
fn array_of_one(array: &ArrayType) -> ArrayType {
    ArrayType { shape: Vec::new(), ..array.clone() }
}
