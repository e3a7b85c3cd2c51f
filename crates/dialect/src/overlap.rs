//! Computes while halos travel: waits come as late as they may.
//!
//! Between a wait and the next operation that must keep its place (a write, a loop, a collective
//! operation that needs the halos), everything that needs no halos goes first, then each wait
//! stands in front of the first operation that needs it. Exchanges start in the same order as
//! before, on all members.

use std::collections::{BTreeMap, BTreeSet};

use super::rewrite::each_function;
use super::{Member, PassError, dce};
use pantile_ir::{Block, Op, Operation, Program, Value};

pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |_, body| Ok(block(body)))
}

fn block(mut block: Block) -> Block {
    for operation in &mut block.operations {
        let inner = std::mem::take(&mut operation.blocks);
        operation.blocks = inner.into_iter().map(self::block).collect();
    }
    let mut protected: BTreeMap<Value, Value> = BTreeMap::new();
    let mut window = Window::default();
    let mut out = Vec::new();
    for operation in block.operations {
        if let Some((handle, halos)) =
            operation.results.split_first().filter(|_| starts(&operation.op))
        {
            protected.extend(halos.iter().map(|halo| (*halo, *handle)));
        }
        window.take(operation, &protected, &mut out);
    }
    window.close(&protected, &mut out);
    Block { arguments: block.arguments, operations: out }
}

fn starts(op: &Op) -> bool {
    matches!(op, Op::GetHalo { .. } | Op::CopyReshape { .. } | Op::CopyPermute { .. })
}

/// Operations since the first wait that is put off.
#[derive(Default)]
struct Window {
    waits: Vec<Operation>,
    late: Vec<Operation>,
    /// Values that need a wait.
    pending: BTreeSet<Value>,
}

impl Window {
    fn take(
        &mut self,
        operation: Operation,
        protected: &BTreeMap<Value, Value>,
        out: &mut Vec<Operation>,
    ) {
        if operation.op == Op::Wait {
            let handle = operation.operands[0];
            let halos = protected.iter().filter(|(_, of)| **of == handle);
            self.pending.extend(halos.map(|(halo, _)| *halo));
            self.waits.push(operation);
            return;
        }
        let needs = operation.operands.iter().any(|value| self.pending.contains(value));
        let moves = operation.blocks.is_empty()
            && (dce::is_pure(&operation.op) || (starts(&operation.op) && !needs));
        if !moves {
            self.close(protected, out);
            out.push(operation);
        } else if needs {
            self.pending.extend(&operation.results);
            self.late.push(operation);
        } else {
            out.push(operation);
        }
    }

    /// Writes what was put off, each wait in front of its first user.
    fn close(&mut self, protected: &BTreeMap<Value, Value>, out: &mut Vec<Operation>) {
        for operation in std::mem::take(&mut self.late) {
            let needed: BTreeSet<Value> = operation
                .operands
                .iter()
                .filter_map(|value| protected.get(value).copied())
                .collect();
            let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waits)
                .into_iter()
                .partition(|wait| needed.contains(&wait.operands[0]));
            self.waits = later;
            out.extend(now);
            out.push(operation);
        }
        out.append(&mut self.waits);
        self.pending.clear();
    }
}
