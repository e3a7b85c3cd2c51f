//! Creation, views, assignments, and what the runtime moves.

use std::ops::Range;

use pantile_geometry::slices;

use super::MemberError;
use super::held::{Held, HeldRows, known, rows_slice};
use super::{Lower, local_type};
use crate::PassError;
use crate::facts::Local;
use pantile_ir::{ArrayType, Index, Op, Operation, Slice, Type, Value};

/// Offsets of a slice: known but for those that are open.
fn at_open(offsets: impl Iterator<Item = usize>, open: &[Option<Value>]) -> Vec<Index> {
    let entry = |(offset, open): (usize, &Option<Value>)| match open {
        Some(_) => Index::Operand,
        None => known(offset),
    };
    offsets.zip(open).map(entry).collect()
}

impl Lower<'_> {
    /// Where the result of an operation lies.
    pub(super) fn local_of(&self, operation: &Operation, value: Value) -> Result<Local, PassError> {
        match self.facts.local(value) {
            Some(local) => Ok(local.clone()),
            None => self.refuse(operation, MemberError::UnknownParts),
        }
    }

    pub(super) fn held_of(&self, operation: &Operation, value: Value) -> Result<Held, PassError> {
        match self.held.get(&value) {
            Some(held) => Ok(held.clone()),
            None => self.refuse(operation, MemberError::UnknownParts),
        }
    }

    pub(super) fn create(&mut self, operation: &Operation) -> Result<(), PassError> {
        let result = operation.results[0];
        let Some(array) = self.spread(result) else {
            return self.refuse(operation, MemberError::DistributedValue);
        };
        let valued = operation.op == (Op::Create { value: true });
        let value = operation.operands.last().filter(|_| valued).map(|value| self.to.now(*value));
        let operands: Vec<Value> = value.into_iter().collect();
        if array.ndim() == 0 {
            let made = self.to.one(operation.op.clone(), operands, local_type(&array, &[]));
            self.to.replace(result, made);
            return Ok(());
        }
        let local = self.local_of(operation, result)?;
        let ty = local_type(&array, &local.part_shape(1));
        let made = self.to.one(operation.op.clone(), operands, ty);
        self.held.insert(result, Held::plain(&local, made));
        Ok(())
    }

    /// What depends on global places is made as a whole, bit for bit, and the owned part taken.
    pub(super) fn create_all(&mut self, mut operation: Operation) -> Result<(), PassError> {
        let result = operation.results[0];
        let array = self.spread(result).filter(|array| array.ndim() > 0);
        let shape = array.as_ref().and_then(ArrayType::known_shape);
        let (Some(array), Some(shape)) = (array, shape) else {
            return self.refuse(&operation, MemberError::UnknownLengths);
        };
        let local = self.local_of(&operation, result)?;
        self.to.resolve(&mut operation);
        let all = self.to.one(operation.op, operation.operands, local_type(&array, &shape));
        let slice = rows_slice(local.owned_rows().start, local.rows[1], &shape);
        let ty = local_type(&array, &local.part_shape(1));
        let made = self.to.one(Op::ExtractSlice(slice), vec![all], ty);
        self.held.insert(result, Held::plain(&local, made));
        Ok(())
    }

    pub(super) fn subview(
        &mut self,
        operation: &Operation,
        slice: &Slice,
        target: bool,
    ) -> Result<(), PassError> {
        let (base, result) = (operation.operands[0], operation.results[0]);
        let held = self.held_of(operation, base)?;
        let Type::Array(array) = self.to.function.ty(result).clone() else {
            return self.refuse(operation, MemberError::ViewNotArray);
        };
        let dynamic = super::super::rewrite::dynamic_count(slice);
        let whole = held.local.has_columns(self.to.function.ty(base).shape());
        let numbers = self.facts.numbers(slice, &operation.operands[1..], whole);
        let targets = match target {
            true => self.facts.ranges(&operation.operands[1 + dynamic..]).map(Some),
            false => Some(None),
        };
        let (Some(numbers), Some(targets)) = (numbers, targets) else {
            return self.refuse(operation, MemberError::UnknownSlice);
        };
        let (numbers, open) = (numbers.axes, numbers.open);
        if array.ndim() != numbers.len() {
            return self.refuse(operation, MemberError::ViewDropsAxes);
        }
        let local = self.local_of(operation, result)?;
        let (rows, columns) = (held.local.parts(), &held.local.columns);
        let view = match slices::subview_nd(&rows, columns, &numbers, targets.as_deref()) {
            Ok(view) => view,
            Err(error) => return self.refuse(operation, MemberError::Slice(error)),
        };
        let mut made = Held { local: local.clone(), parts: [Vec::new(), Vec::new(), Vec::new()] };
        for (part, shown) in view.rows.iter().enumerate() {
            let ([piece], true) = (&held.parts[part][..], shown.count > 0) else { continue };
            let axes = std::iter::once(shown).chain(&view.trailing);
            let offsets = axes.clone().map(|axis| axis.offset);
            let slice = Slice {
                offsets: at_open(offsets, &open),
                sizes: axes.map(|axis| known(axis.count)).collect(),
                strides: numbers.iter().map(|slice| known(slice.stride())).collect(),
            };
            let ty = local_type(&array, &local.part_shape(part));
            let operands = std::iter::once(piece.value).chain(self.now_open(&open)).collect();
            let value = self.to.one(Op::Subview(slice), operands, ty);
            made.parts[part] = vec![HeldRows { rows: shown.count, value }];
        }
        self.held.insert(result, made);
        Ok(())
    }

    pub(super) fn insert(&mut self, operation: &Operation, slice: &Slice) -> Result<(), PassError> {
        let (source, target) = (operation.operands[0], operation.operands[1]);
        if self.spread(target).is_none() {
            return self.refuse(operation, MemberError::DistributedSource);
        }
        let held = self.held_of(operation, target)?;
        if held.has_halos() {
            return self.refuse(operation, MemberError::Halos);
        }
        let whole = held.local.has_columns(self.to.function.ty(target).shape());
        let Some(numbers) = self.facts.numbers(slice, &operation.operands[2..], whole) else {
            return self.refuse(operation, MemberError::UnknownSlice);
        };
        let (numbers, open) = (numbers.axes, numbers.open);
        let owned = held.local.owned();
        let overlap = match slices::overlap(&owned[0], &numbers[0]) {
            Ok(overlap) => overlap,
            Err(error) => return self.refuse(operation, MemberError::Slice(error)),
        };
        let inside = owned.iter().zip(&numbers).skip(1).all(|(range, slice)| {
            let last = slice.offset() + slice.size().saturating_sub(1) * slice.stride();
            slice.size() == 0 || (slice.offset() >= range.start && last < range.end)
        });
        if !inside {
            return self.refuse(operation, MemberError::MissingColumns);
        }
        let pieces = self.inserted(operation, source, overlap.count, &numbers)?;
        let [to] = held.parts[1][..] else { return Ok(()) };
        let mut row = overlap.first - owned[0].start;
        for piece in pieces.into_iter().filter(|piece| piece.rows > 0) {
            let columns = owned.iter().zip(&numbers).skip(1);
            let columns = columns.map(|(range, slice)| slice.offset() - range.start);
            let offsets = at_open(std::iter::once(row).chain(columns), &open);
            let mut sizes = vec![known(piece.rows)];
            sizes.extend(numbers[1..].iter().map(|slice| known(slice.size())));
            let strides = numbers.iter().map(|slice| known(slice.stride())).collect();
            let op = Op::InsertSlice(Slice { offsets, sizes, strides });
            let operands = [piece.value, to.value].into_iter().chain(self.now_open(&open));
            let made = Operation::new(op, operands.collect(), Vec::new());
            self.to.push(made.at(operation.place.clone()));
            row += piece.rows * numbers[0].stride();
        }
        Ok(())
    }

    /// The values of offsets that are open.
    fn now_open(&self, open: &[Option<Value>]) -> Vec<Value> {
        open.iter().flatten().map(|value| self.to.now(*value)).collect()
    }

    /// What is inserted, in pieces of rows.
    fn inserted(
        &self,
        operation: &Operation,
        source: Value,
        count: usize,
        numbers: &[slices::Slice],
    ) -> Result<Vec<HeldRows>, PassError> {
        let ty = self.to.function.ty(source);
        if ty.shape().is_empty() {
            return Ok(vec![HeldRows { rows: count, value: self.to.now(source) }]);
        }
        let Some(array) = self.spread(source) else {
            return self.refuse(operation, MemberError::LocalSource);
        };
        let pieces = self.held_of(operation, source)?.pieces();
        let unit = numbers.iter().all(|slice| slice.size() == 1);
        if array.is_unit() && !unit {
            let [piece] = pieces[..] else {
                return self.refuse(operation, MemberError::MissingElement);
            };
            return Ok(vec![HeldRows { rows: count, value: piece.value }]);
        }
        let rows: usize = pieces.iter().map(|piece| piece.rows).sum();
        let sizes: Vec<Option<usize>> = numbers.iter().map(|slice| Some(slice.size())).collect();
        if rows != count || array.shape != sizes {
            return self.refuse(operation, MemberError::Places { rows, places: count });
        }
        Ok(pieces)
    }

    fn indices(&mut self, numbers: impl Iterator<Item = usize>) -> Vec<Value> {
        let numbers: Vec<usize> = numbers.collect();
        let index = |number| self.to.index(i64::try_from(number).unwrap_or(i64::MAX));
        numbers.into_iter().map(index).collect()
    }

    pub(super) fn repartition(
        &mut self,
        operation: &Operation,
        request: bool,
    ) -> Result<(), PassError> {
        let (of, result) = (operation.operands[0], operation.results[0]);
        let Some(array) = self.spread(of) else {
            return self.refuse(operation, MemberError::NotDistributed);
        };
        if array.ndim() == 0 {
            return self.same(operation);
        }
        let held = self.held_of(operation, of)?;
        let wanted = self.facts.requested(&operation.operands, request, &array);
        let Some(wanted) = wanted.filter(|_| array.known_shape().is_some()) else {
            return self.refuse(operation, MemberError::UnknownRequest);
        };
        if held.local.everywhere {
            // Everybody has it: nothing has to be sent, on any member.
            let local = self.local_of(operation, result)?;
            let mut made = Held { local, parts: [Vec::new(), Vec::new(), Vec::new()] };
            if made.local.rows[1] > 0 {
                made.parts[1] = held.pieces();
            }
            self.held.insert(result, made);
            return Ok(());
        }
        let found = match slices::repartition_nd(&held.local.owned(), &wanted) {
            Ok(found) => found,
            Err(error) => return self.refuse(operation, MemberError::Slice(error)),
        };
        let owned = self.part(&held, 1, &array);
        let halos = self.halos(&array, (owned, &held.local), &wanted, &found);
        let local = Local {
            offset: wanted[0].start,
            rows: [found.rows.left, found.rows.view.len(), found.rows.right],
            columns: wanted[1..].to_vec(),
            invented: false,
            everywhere: array.is_unit() && !request,
            cover: self.local_of(operation, result)?.cover,
        };
        let mut made = Held { local, parts: [Vec::new(), Vec::new(), Vec::new()] };
        for (part, value) in [(0, halos[0]), (2, halos[1])] {
            let rows = made.local.rows[part];
            if rows > 0 {
                made.parts[part] = vec![HeldRows { rows, value }];
            }
        }
        let rows = found.rows.view.len();
        if rows > 0 {
            let ranges = std::iter::once(&found.rows.view).chain(&found.trailing);
            let value = self.shown(&array, owned, ranges, self.copied.contains(&result));
            made.parts[1] = vec![HeldRows { rows, value }];
        }
        self.held.insert(result, made);
        Ok(())
    }

    /// Some of the owned part: a view, or a copy if the array changes before it is read.
    fn shown<'r>(
        &mut self,
        array: &ArrayType,
        owned: Value,
        ranges: impl Iterator<Item = &'r Range<usize>> + Clone,
        copied: bool,
    ) -> Value {
        let shape: Vec<usize> = ranges.clone().map(ExactSizeIterator::len).collect();
        let whole = ranges.clone().all(|range| range.start == 0)
            && self
                .to
                .function
                .ty(owned)
                .shape()
                .iter()
                .copied()
                .eq(shape.iter().map(|n| Some(*n)));
        if whole && !copied {
            return owned;
        }
        let slice = Slice {
            offsets: ranges.map(|range| known(range.start)).collect(),
            sizes: shape.iter().map(|length| known(*length)).collect(),
            strides: vec![known(1); shape.len()],
        };
        let op = if copied { Op::ExtractSlice(slice) } else { Op::Subview(slice) };
        self.to.one(op, vec![owned], local_type(array, &shape))
    }

    /// Asks the runtime for halos and waits for them.
    fn halos(
        &mut self,
        array: &ArrayType,
        (owned, local): (Value, &Local),
        wanted: &[Range<usize>],
        found: &slices::RepartitionNd,
    ) -> [Value; 2] {
        let mut operands = vec![owned];
        operands.extend(self.indices(array.known_shape().unwrap_or_default().into_iter()));
        operands.extend(self.indices(local.owned().iter().map(|range| range.start)));
        operands.extend(self.indices(wanted.iter().map(|range| range.start)));
        operands.extend(self.indices(wanted.iter().map(ExactSizeIterator::len)));
        let [left, _, right] = found.part_shapes();
        let types = vec![Type::Handle, local_type(array, &left), local_type(array, &right)];
        let op = Op::GetHalo { team: team(array), key: -1 };
        let made = self.to.emit(op, operands, types);
        self.wait(made[0]);
        [made[1], made[2]]
    }

    fn wait(&mut self, handle: Value) {
        let wait = Operation::new(Op::Wait, vec![handle], Vec::new());
        self.to.push(wait.at(self.to.place.clone()));
    }

    /// Reshape and permutation: the runtime copies into the default partition of the result.
    pub(super) fn rearrange(&mut self, operation: &Operation) -> Result<(), PassError> {
        let (of, result) = (operation.operands[0], operation.results[0]);
        let (Some(from), Some(array)) = (self.spread(of), self.spread(result)) else {
            return self.refuse(operation, MemberError::LocalOperand);
        };
        let shapes = from.known_shape().zip(array.known_shape());
        let Some((shape, new_shape)) = shapes.filter(|(a, b)| !a.is_empty() && !b.is_empty())
        else {
            return self.refuse(operation, MemberError::UnknownOrNoLengths);
        };
        let mut held = self.held_of(operation, of)?;
        if held.local.everywhere {
            self.to_owner(&mut held, &from);
        }
        let local = self.local_of(operation, result)?;
        let owned = self.part(&held, 1, &from);
        let mut operands = vec![owned];
        operands.extend(self.indices(shape.iter().copied()));
        operands.extend(self.indices(held.local.owned().iter().map(|range| range.start)));
        let op = match &operation.op {
            Op::Permute(axes) => Op::CopyPermute { team: team(&array), axes: axes.clone() },
            _ => {
                operands.extend(self.indices(new_shape.iter().copied()));
                Op::CopyReshape { team: team(&array) }
            }
        };
        operands.extend(self.indices(local.owned().iter().map(|range| range.start)));
        operands.extend(self.indices(local.part_shape(1).into_iter()));
        let types = vec![Type::Handle, local_type(&array, &local.part_shape(1))];
        let made = self.to.emit(op, operands, types);
        self.wait(made[0]);
        self.held.insert(result, Held::plain(&local, made[1]));
        Ok(())
    }

    /// `init_dist_array`.
    pub(super) fn bind(&mut self, operation: &Operation) -> Result<(), PassError> {
        let result = operation.results[0];
        let ndim = self.to.function.ty(result).shape().len();
        let parts: Vec<Value> =
            operation.operands[ndim..].iter().map(|v| self.to.now(*v)).collect();
        if ndim == 0 {
            self.to.replace(result, parts[0]);
            return Ok(());
        }
        let local = self.local_of(operation, result)?;
        let first = if parts.len() == 1 { 1 } else { 0 };
        let mut made = Held { local, parts: [Vec::new(), Vec::new(), Vec::new()] };
        for (number, value) in parts.into_iter().enumerate() {
            let rows = made.local.rows[first + number];
            let known = self.to.function.ty(value).shape().first() == Some(&Some(rows));
            if !known {
                return self.refuse(operation, MemberError::PartLength);
            }
            if rows > 0 {
                made.parts[first + number] = vec![HeldRows { rows, value }];
            }
        }
        self.held.insert(result, made);
        Ok(())
    }

    pub(super) fn parts_of(&mut self, operation: &Operation) -> Result<(), PassError> {
        let of = operation.operands[0];
        let Some(array) = self.spread(of) else {
            return self.refuse(operation, MemberError::NotDistributed);
        };
        if array.ndim() == 0 {
            return self.same(operation);
        }
        let held = self.held_of(operation, of)?;
        for (part, result) in operation.results.iter().enumerate() {
            let value = self.part(&held, part, &array);
            if self.to.function.ty(value) == self.to.function.ty(*result) {
                self.to.replace(*result, value);
            } else {
                let cast = Operation::new(Op::Cast, vec![value], vec![*result]);
                self.to.push(cast.at(operation.place.clone()));
            }
        }
        Ok(())
    }

    pub(super) fn tensor(&mut self, mut operation: Operation) -> Result<(), PassError> {
        if let (Some(array), Some(held)) =
            (self.spread(operation.operands[0]), self.held.get(&operation.operands[0]).cloned())
        {
            operation.operands[0] = self.part(&held, 1, &array);
        }
        self.to.resolve(&mut operation);
        self.to.push(operation);
        Ok(())
    }

    pub(super) fn delete(&mut self, operation: &Operation) -> Result<(), PassError> {
        let of = operation.operands[0];
        let values = match self.held.get(&of) {
            Some(held) => held.pieces().iter().map(|piece| piece.value).collect(),
            None => vec![self.to.now(of)],
        };
        for value in values {
            let made = Operation::new(Op::Delete, vec![value], Vec::new());
            self.to.push(made.at(operation.place.clone()));
        }
        Ok(())
    }
}

pub(super) fn team(array: &ArrayType) -> pantile_ir::Attribute {
    array.dist_env().map_or(pantile_ir::Attribute::int(0), |env| env.team.clone())
}
