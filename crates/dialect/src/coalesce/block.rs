//! What a block says about its values: who makes them, who uses them, when they are written.

use std::collections::{BTreeMap, BTreeSet};

use super::super::alias::Aliases;
use pantile_ir::{Block, Function, Op, Operation, Value};

/// A block that is looked at.
pub(in super::super) struct DefUse<'a> {
    pub(in super::super) function: &'a Function,
    pub(in super::super) aliases: &'a Aliases,
    pub(in super::super) operations: &'a [Operation],
    makers: BTreeMap<Value, usize>,
    uses: BTreeMap<Value, Vec<(usize, usize)>>,
    writes: Vec<BTreeSet<usize>>,
}

impl<'a> DefUse<'a> {
    pub(in super::super) fn new(
        function: &'a Function,
        aliases: &'a Aliases,
        block: &'a Block,
    ) -> Self {
        let mut known = Self {
            function,
            aliases,
            operations: &block.operations,
            makers: BTreeMap::new(),
            uses: BTreeMap::new(),
            writes: Vec::new(),
        };
        for (at, operation) in block.operations.iter().enumerate() {
            known.makers.extend(operation.results.iter().map(|value| (*value, at)));
            for (number, operand) in operation.operands.iter().enumerate() {
                known.uses.entry(*operand).or_default().push((at, number));
            }
            for inner in &operation.blocks {
                inner.walk(&mut |inner| {
                    for operand in &inner.operands {
                        known.uses.entry(*operand).or_default().push((at, usize::MAX));
                    }
                });
            }
            known.writes.push(aliases.written_in(operation));
        }
        known
    }

    /// Where a value is made in this block.
    pub(in super::super) fn maker(&self, value: Value) -> Option<usize> {
        self.makers.get(&value).copied()
    }

    /// The operation that makes a value in this block.
    pub(in super::super) fn made_by(&self, value: Value) -> Option<(usize, &'a Operation)> {
        let at = self.maker(value)?;
        Some((at, &self.operations[at]))
    }

    /// Operations and operand numbers that use a value; inside of loops the number is no operand.
    pub(in super::super) fn uses(&self, value: Value) -> &[(usize, usize)] {
        self.uses.get(&value).map_or(&[], Vec::as_slice)
    }

    /// How often the elements of a value have been written before an operation.
    pub(in super::super) fn epoch(&self, value: Value, at: usize) -> usize {
        let class = self.aliases.class(value);
        self.writes[..at].iter().filter(|written| written.contains(&class)).count()
    }

    /// The operations that have to come along for a value to be known before `at`; none if that
    /// cannot be. They compute nothing but indices.
    pub(in super::super) fn movable(&self, value: Value, at: usize) -> Option<BTreeSet<usize>> {
        let Some((maker, operation)) = self.made_by(value) else { return Some(BTreeSet::new()) };
        if maker < at {
            return Some(BTreeSet::new());
        }
        let of_indices = matches!(
            operation.op,
            Op::Constant(_)
                | Op::Arith(_)
                | Op::Compare(_)
                | Op::SelectScalar
                | Op::Convert
                | Op::Dim
                | Op::TeamSize(_)
                | Op::TeamMember(_)
                | Op::DefaultPartition
                | Op::LocalTarget
                | Op::BoundingBox { .. }
                | Op::LocalCore { .. }
                | Op::LocalOffsetsOf
        );
        if !of_indices {
            return None;
        }
        let mut moved = BTreeSet::from([maker]);
        for operand in &operation.operands {
            moved.extend(self.movable(*operand, at)?);
        }
        Some(moved)
    }
}
