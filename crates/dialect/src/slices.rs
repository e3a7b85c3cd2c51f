//! Slices of slices become one slice; what was just inserted is not extracted again.

use std::collections::BTreeMap;

use super::alias::Aliases;
use super::refine;
use super::rewrite::{Rewriter, dynamic_count, each_function, known_slice};
use super::{Member, PassError};
use pantile_ir::{Arith, Index, Op, Operation, Program, Slice, Type, Value};

pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let aliases = Aliases::new(function, &body);
        let mut pass = Slices { aliases, made: BTreeMap::new() };
        let mut rewriter = Rewriter::new(function);
        rewriter.block(body, &mut |to, operation| {
            pass.operation(to, operation);
            Ok(())
        })
    })
}

/// One axis of a slice: offset, size, stride.
type Axis = (i64, i64, i64);

struct Slices {
    aliases: Aliases,
    /// The operations that make slices, by their result.
    made: BTreeMap<Value, Operation>,
}

impl Slices {
    fn operation(&mut self, to: &mut Rewriter<'_>, mut operation: Operation) {
        to.resolve(&mut operation);
        refine::through_casts(to, &mut operation);
        let blocks = std::mem::take(&mut operation.blocks);
        for block in blocks {
            let made = to.block::<PassError>(block, &mut |to, inner| {
                self.operation(to, inner);
                Ok(())
            });
            operation.blocks.extend(made);
        }
        let keeps = match operation.op {
            Op::ExtractSlice(_) => {
                self.skip_inserts(&mut operation);
                !self.is_inserted(to, &operation)
            }
            _ => true,
        };
        if !keeps {
            return;
        }
        if let Op::Subview(_) | Op::ExtractSlice(_) = operation.op {
            while self.compose(to, &mut operation) {}
            if self.is_whole(to, &operation) {
                return;
            }
        }
        if let (Op::Subview(_) | Op::ExtractSlice(_) | Op::ImmutableInsertSlice(_), Some(result)) =
            (&operation.op, operation.results.first())
        {
            self.made.insert(*result, operation.clone());
        }
        to.push(operation);
    }

    fn is_fixed(&self, values: &[Value]) -> bool {
        values.iter().all(|value| !self.aliases.is_written(*value))
    }

    /// Reads past inserts that do not touch what is extracted.
    fn skip_inserts(&self, operation: &mut Operation) {
        let Op::ExtractSlice(slice) = &operation.op else { return };
        let Some(wanted) = known_slice(slice) else { return };
        while let Some(insert) = self.made.get(&operation.operands[0])
            && let Op::ImmutableInsertSlice(given) = &insert.op
            && let Some(given) = known_slice(given)
            && wanted.iter().zip(&given).any(|(one, other)| are_apart(*one, *other))
            && self.is_fixed(&[insert.operands[1], insert.results[0]])
        {
            operation.operands[0] = insert.operands[1];
        }
    }

    /// True if what is extracted is what was inserted, which then stands for it.
    fn is_inserted(&self, to: &mut Rewriter<'_>, operation: &Operation) -> bool {
        let Op::ExtractSlice(wanted) = &operation.op else { return false };
        let Some(insert) = self.made.get(&operation.operands[0]) else { return false };
        let Op::ImmutableInsertSlice(given) = &insert.op else { return false };
        let same = given == wanted && insert.operands[2..] == operation.operands[1..];
        let (source, result) = (insert.operands[0], operation.results[0]);
        // A source that is broadcast has another shape.
        let sizes: Vec<Option<usize>> = given.sizes.iter().map(length).collect();
        let source_type = to.function.ty(source).clone();
        let whole = source_type.shape() == sizes && sizes.iter().all(Option::is_some);
        let dtype = source_type.dtype() == to.function.ty(result).dtype();
        let fits = same && whole && dtype && source_type.as_array().is_some();
        fits && self.is_fixed(&[source, result, insert.results[0]])
            && stands_for(to, source, result)
    }

    /// Slices a slice's base instead; true if it did.
    fn compose(&self, to: &mut Rewriter<'_>, operation: &mut Operation) -> bool {
        let Some(inner) = self.made.get(&operation.operands[0]) else { return false };
        let (Op::Subview(outer) | Op::ExtractSlice(outer)) = &operation.op else { return false };
        let view = matches!(operation.op, Op::Subview(_));
        let of = match &inner.op {
            // A copy cannot be seen through by a view, nor once its base has changed.
            Op::Subview(of) => of,
            Op::ExtractSlice(of) if !view && self.is_fixed(&[inner.operands[0]]) => of,
            _ => return false,
        };
        let keeps_axes = of.sizes.len() == outer.sizes.len();
        let negative = [of, outer].iter().any(|slice| {
            slice.strides.iter().any(|stride| matches!(stride, Index::Known(n) if *n < 0))
        });
        if !keeps_axes || negative {
            return false;
        }
        let (outer, of) = (outer.clone(), of.clone());
        let made = Composed { to, of: &of, of_values: &inner.operands[1..] }
            .with(&outer, &operation.operands[1..]);
        let Some((slice, dynamic)) = made else { return false };
        operation.operands = std::iter::once(inner.operands[0]).chain(dynamic).collect();
        operation.op = if view { Op::Subview(slice) } else { Op::ExtractSlice(slice) };
        true
    }

    /// True if a slice is all of its array, which then stands for it.
    fn is_whole(&self, to: &mut Rewriter<'_>, operation: &Operation) -> bool {
        let (Op::Subview(slice) | Op::ExtractSlice(slice)) = &operation.op else { return false };
        let Some(axes) = known_slice(slice) else { return false };
        let (source, result) = (operation.operands[0], operation.results[0]);
        let shape = to.function.ty(source).shape();
        let whole = axes.iter().zip(shape).all(|((offset, size, stride), length)| {
            let all = length.and_then(|length| i64::try_from(length).ok()) == Some(*size);
            *offset == 0 && all && (*stride == 1 || *size == 1)
        });
        let same = to.function.ty(source) == to.function.ty(result);
        let view = matches!(operation.op, Op::Subview(_));
        if whole && same && (view || self.is_fixed(&[source, result])) {
            to.replace(result, source);
            return true;
        }
        false
    }
}

/// Lets a value stand for another, cast if the types differ in what they know.
fn stands_for(to: &mut Rewriter<'_>, value: Value, result: Value) -> bool {
    let (one, other) = (to.function.ty(value).clone(), to.function.ty(result).clone());
    if one == other {
        to.replace(result, value);
        return true;
    }
    let (Type::Array(source), Type::Array(made)) = (&one, &other) else { return false };
    let castable = source.ndim() == made.ndim() && source.envs == made.envs;
    if castable {
        to.push(Operation::new(Op::Cast, vec![value], vec![result]).at(to.place.clone()));
    }
    castable
}

fn length(entry: &Index) -> Option<usize> {
    match entry {
        Index::Known(number) => usize::try_from(*number).ok(),
        Index::Operand => None,
    }
}

/// A number of a slice: known, or a value.
#[derive(Clone, Copy)]
enum Entry {
    Known(i64),
    Value(Value),
}

/// A slice of which another slice is taken.
struct Composed<'a, 'f> {
    to: &'a mut Rewriter<'f>,
    of: &'a Slice,
    of_values: &'a [Value],
}

impl Composed<'_, '_> {
    fn with(mut self, outer: &Slice, values: &[Value]) -> Option<(Slice, Vec<Value>)> {
        let ndim = outer.sizes.len();
        let of = numbered(self.of, self.of_values)?;
        let outer = numbered(outer, &values[..dynamic_count(outer)])?;
        let mut all = Vec::new();
        for axis in 0..ndim {
            let (base, step) = (of[axis], of[2 * ndim + axis]);
            let shift = self.times(outer[axis], step)?;
            all.push(self.plus(base, shift)?);
        }
        all.extend(&outer[ndim..2 * ndim]);
        for axis in 0..ndim {
            all.push(self.times(outer[2 * ndim + axis], of[2 * ndim + axis])?);
        }
        let mut dynamic = Vec::new();
        let mut entries = all.into_iter().map(|entry| match entry {
            Entry::Known(number) => Index::Known(number),
            Entry::Value(value) => {
                dynamic.push(value);
                Index::Operand
            }
        });
        let mut list = || entries.by_ref().take(ndim).collect::<Vec<Index>>();
        let slice = Slice { offsets: list(), sizes: list(), strides: list() };
        drop(entries);
        Some((slice, dynamic))
    }

    fn times(&mut self, one: Entry, other: Entry) -> Option<Entry> {
        Some(match (one, other) {
            (Entry::Known(a), Entry::Known(b)) => Entry::Known(a.checked_mul(b)?),
            (Entry::Known(0), _) | (_, Entry::Known(0)) => Entry::Known(0),
            (Entry::Known(1), other) | (other, Entry::Known(1)) => other,
            _ => self.arith(Arith::MulI, one, other),
        })
    }

    fn plus(&mut self, one: Entry, other: Entry) -> Option<Entry> {
        Some(match (one, other) {
            (Entry::Known(a), Entry::Known(b)) => Entry::Known(a.checked_add(b)?),
            (Entry::Known(0), other) | (other, Entry::Known(0)) => other,
            _ => self.arith(Arith::AddI, one, other),
        })
    }

    fn arith(&mut self, arith: Arith, one: Entry, other: Entry) -> Entry {
        let operands = [one, other].map(|entry| match entry {
            Entry::Known(number) => self.to.index(number),
            Entry::Value(value) => value,
        });
        Entry::Value(self.to.one(Op::Arith(arith), operands.to_vec(), Type::Index))
    }
}

fn numbered(slice: &Slice, values: &[Value]) -> Option<Vec<Entry>> {
    let mut values = values.iter();
    let entry = |entry: &Index| match entry {
        Index::Known(number) => Some(Entry::Known(*number)),
        Index::Operand => values.next().copied().map(Entry::Value),
    };
    super::rewrite::entries(slice).map(entry).collect()
}

/// True if two slices of one axis have no index in common.
fn are_apart(one: Axis, other: Axis) -> bool {
    let (Some(a), Some(b)) = (rising(one), rising(other)) else { return true };
    if a.1 < b.0 || b.1 < a.0 {
        return true;
    }
    // Steps of both can meet only where their common divisor lets them.
    let common = gcd(a.2, b.2);
    common > 0 && (i128::from(a.0) - i128::from(b.0)) % i128::from(common) != 0
}

/// First index, last index and step upwards; none if there are no indices.
fn rising((offset, size, stride): Axis) -> Option<(i64, i64, i64)> {
    if size <= 0 {
        return None;
    }
    let last = offset.saturating_add((size - 1).saturating_mul(stride));
    let step = if size == 1 { 0 } else { stride.saturating_abs() };
    Some((offset.min(last), offset.max(last), step))
}

fn gcd(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { gcd(other, one % other) }
}
