//! Which values share their elements, and which of them are written in place.

use std::collections::BTreeSet;

use pantile_ir::{Block, Function, Op, Operation, Type, Value};

/// Values in classes: what one of a class shows may be elements of another.
pub(super) struct Aliases {
    parent: Vec<usize>,
    written: BTreeSet<usize>,
}

impl Aliases {
    /// The classes of the values of a function with this body.
    pub(super) fn new(function: &Function, body: &Block) -> Self {
        let parent = (0..function.values.len()).collect();
        let mut aliases = Self { parent, written: BTreeSet::new() };
        body.walk(&mut |operation| {
            let shared = match operation.op {
                Op::Subview(_) | Op::DistSubview { .. } | Op::Cast => &operation.operands[..1],
                Op::InitDist | Op::PartsOf | Op::FromMemRef | Op::ToTensor => {
                    &operation.operands[..]
                }
                _ => return,
            };
            let elements = |value: &&Value| !matches!(function.ty(**value), Type::Index);
            let mut values = shared.iter().chain(&operation.results).filter(elements);
            let Some(first) = values.next() else { return };
            for other in values {
                aliases.join(*first, *other);
            }
        });
        body.walk(&mut |operation| {
            if let Some(value) = written_by(operation) {
                let class = aliases.class(value);
                aliases.written.insert(class);
            }
        });
        aliases
    }

    fn join(&mut self, one: Value, other: Value) {
        let (one, other) = (self.class(one), self.class(other));
        self.parent[one.max(other)] = one.min(other);
    }

    /// The class of a value. Values that were made later are alone.
    pub(super) fn class(&self, value: Value) -> usize {
        let mut at = value.index();
        while let Some(parent) = self.parent.get(at).filter(|parent| **parent != at) {
            at = *parent;
        }
        at
    }

    /// True if something of the value's class is written or deleted somewhere in the function.
    pub(super) fn is_written(&self, value: Value) -> bool {
        self.written.contains(&self.class(value))
    }

    /// The classes that an operation, or something inside of it, writes.
    pub(super) fn written_in(&self, operation: &Operation) -> BTreeSet<usize> {
        let mut classes = BTreeSet::new();
        operation.walk(&mut |inner| classes.extend(written_by(inner).map(|v| self.class(v))));
        classes
    }
}

/// The value that an operation writes or deletes.
fn written_by(operation: &Operation) -> Option<Value> {
    match operation.op {
        Op::InsertSlice(_) => operation.operands.get(1).copied(),
        Op::Delete | Op::AllReduce { .. } => operation.operands.first().copied(),
        _ => None,
    }
}
