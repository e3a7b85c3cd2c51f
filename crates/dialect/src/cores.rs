//! The rows that can be computed before halos have arrived: one core for each expression.
//!
//! Elementwise operations that feed each other get the same core, the rows for which every view
//! that they read shows owned elements only.

use std::collections::{BTreeMap, BTreeSet};

use super::alias::Aliases;
use super::coalesce::{DefUse, arrays_of, is_elementwise};
use super::rewrite::{Rewriter, dynamic_count, each_function};
use super::{Member, PassError};
use pantile_ir::{Block, Function, Index, Op, Operation, Program, Slice, Type, Value};

pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let aliases = Aliases::new(function, &body);
        Ok(blocks(function, &aliases, body))
    })
}

fn blocks(function: &mut Function, aliases: &Aliases, mut block: Block) -> Block {
    for operation in &mut block.operations {
        let inner = std::mem::take(&mut operation.blocks);
        operation.blocks =
            inner.into_iter().map(|inner| blocks(function, aliases, inner)).collect();
    }
    let found = {
        let known = DefUse::new(function, aliases, &block);
        expressions(&known).iter().filter_map(|members| expression(&known, members)).collect()
    };
    write(function, block, found)
}

/// A view that an expression reads.
#[derive(Clone, PartialEq, Eq)]
struct Leaf {
    base: Value,
    slice: Slice,
    dynamic: Vec<Value>,
}

/// Elementwise operations that share a core.
struct Expression {
    /// The operations, in order.
    members: Vec<usize>,
    /// Target offsets and sizes.
    target: Vec<Value>,
    leaves: Vec<Leaf>,
    /// What moves in front of the first one.
    moved: BTreeSet<usize>,
}

/// Elementwise operations in groups that are connected.
fn expressions(known: &DefUse<'_>) -> Vec<Vec<usize>> {
    let mut group: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, operation) in known.operations.iter().enumerate() {
        if !is_elementwise(&operation.op) {
            continue;
        }
        group.insert(at, at);
        for operand in &operation.operands[..arrays_of(operation)] {
            let Some(other) = known.maker(*operand).and_then(|maker| group.get(&maker)) else {
                continue;
            };
            let (old, new) = (group[&at].max(*other), group[&at].min(*other));
            group.values_mut().filter(|number| **number == old).for_each(|number| *number = new);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, number) in group {
        groups.entry(number).or_default().push(at);
    }
    groups.into_values().collect()
}

fn expression(known: &DefUse<'_>, members: &[usize]) -> Option<Expression> {
    let first = *members.first()?;
    let mut target: Option<Vec<Value>> = None;
    let mut leaves: Vec<Leaf> = Vec::new();
    for at in members {
        let operation = &known.operations[*at];
        let result = known.function.ty(operation.results[0]).as_array()?;
        if operation.operands.len() > arrays_of(operation) || result.is_unit() || result.is_empty()
        {
            return None;
        }
        for operand in &operation.operands {
            let array = known.function.ty(*operand).as_array()?;
            if array.is_unit() {
                continue;
            }
            let (_, made) = known.made_by(*operand)?;
            if is_elementwise(&made.op) {
                continue;
            }
            let (leaf, wanted) = leaf(known, made)?;
            if *target.get_or_insert_with(|| wanted.clone()) != wanted {
                return None;
            }
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
    }
    let target = target?;
    let mut moved = BTreeSet::new();
    let bases = leaves.iter().map(|leaf| &leaf.base);
    let dynamic = leaves.iter().flat_map(|leaf| &leaf.dynamic);
    for value in target.iter().chain(bases).chain(dynamic) {
        moved.extend(known.movable(*value, first)?);
    }
    Some(Expression { members: members.to_vec(), target, leaves, moved })
}

/// What an operand shows of which array, and for which target.
fn leaf(known: &DefUse<'_>, made: &Operation) -> Option<(Leaf, Vec<Value>)> {
    match &made.op {
        Op::DistSubview { slice, target: true } => {
            let (_, fetched) = known.made_by(made.operands[0])?;
            if fetched.op != (Op::Repartition { request: true }) {
                return None;
            }
            let (dynamic, target) = made.operands[1..].split_at(dynamic_count(slice));
            let base = fetched.operands[0];
            let leaf = Leaf { base, slice: slice.clone(), dynamic: dynamic.to_vec() };
            Some((leaf, target.to_vec()))
        }
        Op::Repartition { request: true } => {
            let base = made.operands[0];
            let shape = known.function.ty(base).as_array()?.known_shape()?;
            let entry = |length: &usize| i64::try_from(*length).ok().map(Index::Known);
            let slice = Slice {
                offsets: vec![Index::Known(0); shape.len()],
                sizes: shape.iter().map(entry).collect::<Option<_>>()?,
                strides: vec![Index::Known(1); shape.len()],
            };
            Some((Leaf { base, slice, dynamic: Vec::new() }, made.operands[1..].to_vec()))
        }
        _ => None,
    }
}

fn write(function: &mut Function, block: Block, found: Vec<Expression>) -> Block {
    let mut operations: Vec<Option<Operation>> = block.operations.into_iter().map(Some).collect();
    let mut to = Rewriter::new(function);
    let mut extra: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for at in 0..operations.len() {
        for expression in found.iter().filter(|expression| expression.members[0] == at) {
            for number in &expression.moved {
                if let Some(operation) = operations[*number].take() {
                    to.push(operation);
                }
            }
            let operands = cores(&mut to, expression);
            extra.extend(expression.members.iter().map(|member| (*member, operands.clone())));
        }
        let Some(mut operation) = operations[at].take() else { continue };
        operation.operands.extend(extra.remove(&at).unwrap_or_default());
        to.push(operation);
    }
    Block { arguments: block.arguments, operations: std::mem::take(&mut to.out) }
}

/// The chain of cores; gives its offsets and sizes and the offsets of the target.
fn cores(to: &mut Rewriter<'_>, expression: &Expression) -> Vec<Value> {
    let ndim = expression.target.len() / 2;
    let mut core: Vec<Value> = Vec::new();
    for leaf in &expression.leaves {
        let mut operands = vec![leaf.base];
        operands.extend(&expression.target);
        operands.extend(to.slice_values(&leaf.slice, &leaf.dynamic));
        operands.extend(&core);
        let op = Op::LocalCore { previous: !core.is_empty() };
        core = to.emit(op, operands, vec![Type::Index; 2 * ndim]);
    }
    core.extend(&expression.target[..ndim]);
    core
}
