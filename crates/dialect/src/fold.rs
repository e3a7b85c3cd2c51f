//! What is known becomes constants, known entries of slices, and known lengths in types.
//!
//! A value whose type gets to know more is made anew with that type and cast to the old one;
//! operations read through such casts. Numbers that depend on the member are folded if the member
//! is given, or if the types of arrays say where its parts lie. Elementwise functions of constants
//! become constants, those of arrays with one and the same element everywhere such arrays.
//! Nothing is taken out but what
//! became a constant and inserts of nothing; `dce` takes out what is then not read.

use std::collections::{BTreeMap, BTreeSet};

use pantile_geometry::slices;
use pantile_lanes::{DType, Scalar};

use super::alias::Aliases;
use super::facts::Facts;
use super::refine;
use super::rewrite::{Rewriter, each_function, entries, slice_of, uses};
use super::{Member, PassError, scalars};
use pantile_ir::{Arith, Env, Function, Index, Op, Operation, Program, Slice, Type, Value};

pub(super) fn run(program: &mut Program, member: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let aliases = Aliases::new(function, &body);
        let used = uses(&body).into_keys().collect();
        let mut facts = Facts::new(member);
        for argument in &body.arguments {
            facts.argument(function, *argument);
        }
        let mut fold = Fold { facts, aliases, used, filled: BTreeMap::new() };
        let mut rewriter = Rewriter::new(function);
        rewriter.block(body, &mut |rewriter, operation| {
            fold.operation(rewriter, operation);
            Ok(())
        })
    })
}

struct Fold {
    facts: Facts,
    aliases: Aliases,
    /// Values that something reads.
    used: BTreeSet<Value>,
    /// The element of arrays that have no other, and are not written.
    filled: BTreeMap<Value, Scalar>,
}

impl Fold {
    fn operation(&mut self, to: &mut Rewriter<'_>, mut operation: Operation) {
        to.resolve(&mut operation);
        refine::through_casts(to, &mut operation);
        if !operation.blocks.is_empty() {
            self.nested(to, operation);
            return;
        }
        self.known_entries(to.function, &mut operation);
        if self.constant(to, &operation) || self.partly(to, &operation) || self.gone(to, &operation)
        {
            return;
        }
        if self.identity(to, &mut operation) || self.alike(to, &operation) {
            return;
        }
        let before = to.out.len();
        refine::results(to, operation, &self.facts);
        for operation in &to.out[before..] {
            self.facts.note(to.function, operation);
        }
    }

    fn nested(&mut self, to: &mut Rewriter<'_>, mut operation: Operation) {
        let blocks = std::mem::take(&mut operation.blocks);
        for block in blocks {
            for argument in &block.arguments {
                self.facts.argument(to.function, *argument);
            }
            let made = to.block::<PassError>(block, &mut |to, inner| {
                self.operation(to, inner);
                Ok(())
            });
            operation.blocks.extend(made);
        }
        self.facts.note(to.function, &operation);
        to.out.push(operation);
    }

    /// Entries of slices and lengths that are constants.
    fn known_entries(&self, function: &Function, operation: &mut Operation) {
        let Some((slice, first)) = slice_of(&operation.op) else { return };
        let mut made = slice.clone();
        let mut operands = operation.operands[..first].to_vec();
        let mut dynamic = operation.operands[first..].iter();
        let ndim = slice.sizes.len();
        let lists = made.offsets.iter_mut().chain(&mut made.sizes).chain(&mut made.strides);
        for (number, entry) in lists.enumerate() {
            if *entry != Index::Operand {
                continue;
            }
            let Some(value) = dynamic.next() else { return };
            // What could not be written as a constant stays, to be reported later.
            let fits = |known: &i64| match number.checked_div(ndim) {
                Some(1) => *known >= 0,
                Some(2) => *known != 0,
                _ => true,
            };
            match self.facts.index(*value).filter(fits) {
                Some(known) => *entry = Index::Known(known),
                None => operands.push(*value),
            }
        }
        operands.extend(dynamic);
        let op = with_slice(&operation.op, made);
        let changed = Operation { op, operands, ..operation.clone() };
        // A slice that turns out to leave its array is a fault for the verifier, not for here.
        if pantile_ir::infer::result_types(function, &changed, &Program::default()).is_ok()
            || entries(slice).all(|entry| *entry != Index::Operand)
        {
            *operation = changed;
        }
    }

    /// Operations on constants; true if it is one now.
    fn constant(&mut self, to: &mut Rewriter<'_>, operation: &Operation) -> bool {
        let [result] = operation.results[..] else { return false };
        let known: Option<Vec<Scalar>> =
            operation.operands.iter().map(|value| self.facts.scalar(*value)).collect();
        let number = |number: Option<usize>| {
            number.and_then(|number| i64::try_from(number).ok()).map(Scalar::of)
        };
        let folded = match (&operation.op, known.as_deref()) {
            (Op::Arith(arith), Some(of)) => scalars::arith(*arith, of),
            (Op::Compare(predicate), Some([x, y])) => scalars::compare(*predicate, x, y),
            (Op::Convert, Some([x])) => {
                to.function.ty(result).dtype().and_then(|dtype| scalars::convert(x, dtype))
            }
            (Op::Unary(named), Some([x])) => {
                let wanted = to.function.ty(result).dtype();
                wanted.and_then(|wanted| scalars::unary(named.function, x, wanted))
            }
            (Op::Binary(named), Some([x, y])) => {
                let wanted = to.function.ty(result).dtype();
                wanted.and_then(|wanted| scalars::binary(named.function, [x, y], wanted))
            }
            (Op::TeamSize(team), _) => number(self.facts.member.of_team(team).ranks),
            (Op::TeamMember(team), _) => number(self.facts.member.of_team(team).rank),
            (Op::Dim, _) => {
                let axis = operation.operands.get(1).and_then(|axis| self.facts.count(*axis));
                let shape = to.function.ty(operation.operands[0]).shape();
                number(axis.and_then(|axis| shape.get(axis).copied().flatten()))
            }
            _ => None,
        };
        let is_scalar = matches!(to.function.ty(result), Type::Scalar(_) | Type::Index);
        let fits =
            |scalar: &Scalar| is_scalar && Some(scalar.dtype()) == to.function.ty(result).dtype();
        let Some(scalar) = folded.filter(fits) else { return false };
        self.put_constant(to, result, scalar);
        true
    }

    /// Local arrays whose elements are all the same, and of known lengths: so is what is computed
    /// from them. True if it is made from that element now.
    fn alike(&mut self, to: &mut Rewriter<'_>, operation: &Operation) -> bool {
        let [result] = operation.results[..] else { return false };
        let Type::Array(made) = to.function.ty(result).clone() else { return false };
        let local = |array: &pantile_ir::ArrayType| {
            let placed =
                array.envs.iter().any(|env| matches!(env, Env::Dist(_) | Env::Placement(_)));
            !placed && array.known_shape().is_some()
        };
        let arrays = operation.operands.iter().filter_map(|v| to.function.ty(*v).as_array());
        if !local(&made) || !arrays.into_iter().all(local) || self.aliases.is_written(result) {
            return false;
        }
        let element = |value: &Value| self.facts.scalar(*value).or(self.filled.get(value).copied());
        let known: Option<Vec<Scalar>> = operation.operands.iter().map(element).collect();
        let dtype = made.dtype();
        let found = match (&operation.op, known.as_deref()) {
            (Op::Create { value: true }, _) => {
                let value = operation.operands.last().and_then(|value| self.facts.scalar(*value));
                // The element is the value in the type of the array.
                let element = value.and_then(|value| match value.dtype() == made.dtype() {
                    true => Some(value),
                    false => scalars::convert(&value, made.dtype()),
                });
                if let Some(element) = element {
                    self.filled.insert(result, element);
                }
                return false;
            }
            (Op::Unary(named), Some([x])) => scalars::unary(named.function, x, dtype),
            (Op::Binary(named), Some([x, y])) => scalars::binary(named.function, [x, y], dtype),
            (Op::CastElement { .. }, Some([x])) => scalars::convert(x, dtype),
            (Op::Reduce { reduction, .. }, Some([x])) => {
                let of = to.function.ty(operation.operands[0]).shape();
                let size = |shape: &[pantile_ir::Dim]| -> usize {
                    shape.iter().map(|length| length.unwrap_or(0)).product()
                };
                let groups = size(&made.shape);
                let count = size(of).checked_div(groups);
                count.and_then(|count| scalars::reduced(reduction.function, x, count, dtype))
            }
            _ => None,
        };
        let Some(scalar) = found.filter(|scalar| scalar.dtype() == dtype) else { return false };
        let constant = Op::Constant(scalar);
        let value = to.one(constant, Vec::new(), Type::Scalar(made.element));
        self.facts.note(to.function, &to.out[to.out.len() - 1]);
        let create = Operation::new(Op::Create { value: true }, vec![value], vec![result]);
        to.push(create.at(to.place.clone()));
        self.filled.insert(result, scalar);
        true
    }

    fn put_constant(&mut self, to: &mut Rewriter<'_>, result: Value, scalar: Scalar) {
        let made = Operation::new(Op::Constant(scalar), Vec::new(), vec![result]);
        let made = made.at(to.place.clone());
        self.facts.note(to.function, &made);
        to.out.push(made);
    }

    /// Operations that give a number per axis: each result that is known becomes a constant, or
    /// the operand that it is. True if it is such an operation, which is then written.
    fn partly(&mut self, to: &mut Rewriter<'_>, operation: &Operation) -> bool {
        let Some(found) = self.per_axis(operation) else { return false };
        let all = found.iter().all(Option::is_some);
        let results: BTreeSet<Value> = operation.results.iter().copied().collect();
        if results.len() != found.len() {
            return false;
        }
        if !all {
            to.out.push(operation.clone());
        }
        for (result, found) in operation.results.iter().zip(found) {
            match found {
                Some(FoldedNumber::Known(number)) if all => {
                    self.put_constant(to, *result, Scalar::of(number));
                }
                Some(FoldedNumber::Known(number)) if self.used.contains(result) => {
                    let value = to.index(number);
                    self.facts.note(to.function, &to.out[to.out.len() - 1]);
                    to.replace(*result, value);
                }
                Some(FoldedNumber::Is(value)) => to.replace(*result, value),
                _ => {}
            }
        }
        true
    }

    fn per_axis(&self, operation: &Operation) -> Option<Vec<Option<FoldedNumber>>> {
        let operands = &operation.operands[..];
        let ndim = operation.results.len() / 2;
        let facts = &self.facts;
        Some(match &operation.op {
            Op::DefaultPartition => {
                let rows = || {
                    let [ranks, rank, length] = facts.counts(operands.get(..3)?)?[..] else {
                        return None;
                    };
                    slices::default_rows(length, ranks, rank).ok()
                };
                cut_rows(rows(), ndim, |axis| operands[2 + axis])
            }
            Op::LocalTarget => {
                let rows = || {
                    let owned = facts.local(operands[0])?.owned_rows();
                    let axis = [operands[1], operands[1 + ndim], operands[1 + 2 * ndim]];
                    slices::local_target(&owned, facts.slices(&axis)?.first()?).ok()
                };
                cut_rows(rows(), ndim, |axis| operands[1 + ndim + axis])
            }
            Op::BoundingBox { inner, previous } => {
                pairs((0..ndim).map(|axis| self.boxed(operands, (axis, ndim), *inner, *previous)))
            }
            Op::LocalCore { previous } => {
                pairs((0..ndim).map(|axis| self.core(operands, (axis, ndim), *previous)))
            }
            Op::LocalOffsetsOf => {
                let offsets = facts.local(operands[0])?.to_type().offsets;
                offsets.into_iter().map(|offset| offset.map(FoldedNumber::Known)).collect()
            }
            _ => return None,
        })
    }

    fn boxed(
        &self,
        operands: &[Value],
        (axis, ndim): (usize, usize),
        inner: bool,
        previous: bool,
    ) -> Option<std::ops::Range<usize>> {
        let at = |list: usize| operands[list * ndim + axis];
        let view = *self.facts.slices(&[at(0), at(1), at(2)])?.first()?;
        let target = self.facts.ranges(&[at(3), at(4)])?.remove(0);
        let before = match previous {
            true => Some(self.facts.ranges(&[at(5), at(6)])?.remove(0)),
            false => None,
        };
        let hull = if inner { slices::inner_box } else { slices::bounding_box };
        hull(&view, &target, before.as_ref()).ok()
    }

    fn core(
        &self,
        operands: &[Value],
        (axis, ndim): (usize, usize),
        previous: bool,
    ) -> Option<std::ops::Range<usize>> {
        let at = |list: usize| operands[1 + list * ndim + axis];
        let owned = self.facts.local(operands[0])?.owned();
        let target = self.facts.ranges(&[at(0), at(1)])?.remove(0);
        let slice = *self.facts.slices(&[at(2), at(3), at(4)])?.first()?;
        let before = match previous {
            true => Some(self.facts.ranges(&[at(5), at(6)])?.remove(0)),
            false => None,
        };
        slices::local_core(owned.get(axis)?, &target, &slice, before.as_ref()).ok()
    }

    /// Inserts of nothing; true if it was one.
    fn gone(&mut self, to: &mut Rewriter<'_>, operation: &Operation) -> bool {
        let (Op::InsertSlice(slice) | Op::ImmutableInsertSlice(slice)) = &operation.op else {
            return false;
        };
        let source = to.function.ty(operation.operands[0]);
        let empty = slice.sizes.contains(&Index::Known(0)) || source.shape().contains(&Some(0));
        match operation.results[..] {
            [] => empty,
            [result] if empty && self.may_share(operation.operands[1], result) => {
                self.alias(to, operation.operands[1], result);
                true
            }
            _ => false,
        }
    }

    /// True if nothing can tell a value from a copy of it.
    fn may_share(&self, one: Value, other: Value) -> bool {
        !self.aliases.is_written(one) && !self.aliases.is_written(other)
    }

    /// Lets `value` stand for `result`, cast if the types differ.
    fn alias(&mut self, to: &mut Rewriter<'_>, value: Value, result: Value) {
        if to.function.ty(value) == to.function.ty(result) {
            to.replace(result, value);
            return;
        }
        let cast = Operation::new(Op::Cast, vec![value], vec![result]).at(to.place.clone());
        self.facts.note(to.function, &cast);
        to.push(cast);
    }

    /// Operations that give one of their operands; true if it was one.
    fn identity(&mut self, to: &mut Rewriter<'_>, operation: &mut Operation) -> bool {
        let ([result], operands) = (&operation.results[..], &operation.operands[..]) else {
            return false;
        };
        let result = *result;
        match (&operation.op, operands) {
            (Op::Cast, [of]) if to.function.ty(*of) == to.function.ty(result) => {
                to.replace(result, *of);
            }
            (Op::Permute(axes), [of])
                if axes.iter().copied().eq(0..axes.len()) && self.may_share(*of, result) =>
            {
                self.alias(to, *of, result);
            }
            (Op::SelectScalar, [truth, yes, no]) => {
                let Some(truth) = self.facts.scalar(*truth).and_then(|t| t.get::<bool>()) else {
                    return false;
                };
                to.replace(result, if truth { *yes } else { *no });
            }
            (Op::Arith(arith), [x, y]) => {
                let Some(value) = self.neutral(*arith, *x, *y) else { return false };
                to.replace(result, value);
            }
            _ => return false,
        }
        true
    }

    /// Sums with 0, products with 1: of whole numbers only, floats have a -0.0.
    fn neutral(&self, arith: Arith, x: Value, y: Value) -> Option<Value> {
        let is = |value: Value, number: i128| {
            let scalar = self.facts.scalar(value).filter(|s| s.dtype() != DType::Bool);
            scalar.and_then(|scalar| scalars::integer(&scalar)) == Some(number)
        };
        match arith {
            Arith::AddI if is(x, 0) => Some(y),
            Arith::AddI | Arith::SubI if is(y, 0) => Some(x),
            Arith::MulI if is(x, 1) => Some(y),
            Arith::MulI | Arith::DivSI | Arith::CeilDivSI | Arith::FloorDivSI if is(y, 1) => {
                Some(x)
            }
            Arith::MinSI | Arith::MaxSI if x == y => Some(x),
            _ => None,
        }
    }
}

/// What is known of a result.
#[derive(Clone, Copy)]
enum FoldedNumber {
    Known(i64),
    /// It is this value.
    Is(Value),
}

fn known(number: usize) -> Option<FoldedNumber> {
    i64::try_from(number).ok().map(FoldedNumber::Known)
}

/// Offsets and sizes where the first axis is cut and the others are whole.
fn cut_rows(
    rows: Option<std::ops::Range<usize>>,
    ndim: usize,
    size: impl Fn(usize) -> Value,
) -> Vec<Option<FoldedNumber>> {
    let mut offsets = vec![Some(FoldedNumber::Known(0)); ndim];
    let mut sizes: Vec<Option<FoldedNumber>> =
        (0..ndim).map(|axis| Some(FoldedNumber::Is(size(axis)))).collect();
    if ndim > 0 {
        offsets[0] = rows.as_ref().and_then(|rows| known(rows.start));
        sizes[0] = rows.as_ref().and_then(|rows| known(rows.len()));
    }
    offsets.into_iter().chain(sizes).collect()
}

fn pairs(axes: impl Iterator<Item = Option<std::ops::Range<usize>>>) -> Vec<Option<FoldedNumber>> {
    let axes: Vec<_> = axes.collect();
    let offsets = axes.iter().map(|range| range.as_ref().and_then(|range| known(range.start)));
    let sizes = axes.iter().map(|range| range.as_ref().and_then(|range| known(range.len())));
    offsets.chain(sizes).collect()
}

fn with_slice(op: &Op, slice: Slice) -> Op {
    match op {
        Op::Subview(_) => Op::Subview(slice),
        Op::ExtractSlice(_) => Op::ExtractSlice(slice),
        Op::InsertSlice(_) => Op::InsertSlice(slice),
        Op::ImmutableInsertSlice(_) => Op::ImmutableInsertSlice(slice),
        Op::DistSubview { target, .. } => Op::DistSubview { slice, target: *target },
        other => other.clone(),
    }
}
