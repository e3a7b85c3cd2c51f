//! What differs from member to member, and what it must not decide.
//!
//! A value differs if it is made by an operation that asks who the member is (`team_member`,
//! `default_partition`, the local questions of `dist`, the parts and halos) or from a value that
//! differs. An array of all members is the same for all of them, whatever its parts: binding
//! parts and asking for other parts gives a value that does not differ. An all-reduce makes the
//! memory that it works on equal.

use std::collections::BTreeSet;

use super::Checker;
use crate::{Block, Op, Operation, Type, Value};

/// The values that differ.
struct Flow {
    differs: Vec<bool>,
    /// Memory that an all-reduce has made equal.
    reduced: BTreeSet<Value>,
    changed: bool,
}

impl Flow {
    fn of(&self, value: Value) -> bool {
        let equal = self.reduced.contains(&value);
        self.differs[value.index()] && !equal
    }

    fn any(&self, values: &[Value]) -> bool {
        values.iter().any(|value| self.of(*value))
    }

    fn mark(&mut self, value: Value, differs: bool) {
        if differs && !self.differs[value.index()] {
            self.differs[value.index()] = true;
            self.changed = true;
        }
    }

    fn pass(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            let differs = self.of(*from);
            self.mark(*to, differs);
        }
    }

    fn block(&mut self, block: &Block) {
        block.operations.iter().for_each(|operation| self.operation(operation));
    }

    fn operation(&mut self, operation: &Operation) {
        let (operands, results) = (&operation.operands, &operation.results);
        match (&operation.op, &operation.blocks[..]) {
            (Op::For, [body]) => {
                let counter = self.any(&operands[..3]);
                let Some((first, carried)) = body.arguments.split_first() else { return };
                self.mark(*first, counter);
                self.pass(&operands[3..], carried);
                self.block(body);
                let handed = end(body).map(|end| end.operands.clone()).unwrap_or_default();
                self.pass(&handed, carried);
                self.pass(&handed, results);
                self.pass(&operands[3..], results);
                // How often it runs decides what comes out.
                results.iter().for_each(|result| self.mark(*result, counter));
            }
            (Op::While, [before, after]) => {
                self.pass(operands, &before.arguments);
                self.block(before);
                if let Some([truth, passed @ ..]) = end(before).map(|end| &end.operands[..]) {
                    self.pass(passed, &after.arguments);
                    self.pass(passed, results);
                    let differs = self.of(*truth);
                    results.iter().for_each(|result| self.mark(*result, differs));
                }
                self.block(after);
                let handed = end(after).map(|end| end.operands.clone()).unwrap_or_default();
                self.pass(&handed, &before.arguments);
            }
            (Op::Region(_), [body]) => {
                self.block(body);
                let handed = end(body).map(|end| end.operands.clone()).unwrap_or_default();
                self.pass(&handed, results);
            }
            (Op::AllReduce { .. }, _) => {
                self.reduced.extend(operands);
            }
            (Op::InsertSlice(_), _) => {
                // A write of something that differs, or at a place that differs.
                let arrays: Vec<Value> =
                    operands.iter().copied().filter(|value| *value != operands[1]).collect();
                let differs = self.any(&arrays);
                self.mark(operands[1], differs);
            }
            (op, _) => {
                let differs = asks_who(op) || self.any(deciding(op, operands));
                results.iter().for_each(|result| self.mark(*result, differs));
            }
        }
    }
}

fn end(block: &Block) -> Option<&Operation> {
    block.operations.last()
}

/// True if each member gets another answer.
fn asks_who(op: &Op) -> bool {
    matches!(
        op,
        Op::TeamMember(_)
            | Op::DefaultPartition
            | Op::LocalOffsetsOf
            | Op::PartsOf
            | Op::LocalTarget
            | Op::BoundingBox { .. }
            | Op::LocalCore { .. }
            | Op::GetHalo { .. }
            | Op::CopyReshape { .. }
            | Op::CopyPermute { .. }
            | Op::ToTensor
    )
}

/// The operands on which the value of the result depends; requests, targets and cores say only
/// who computes it.
fn deciding<'v>(op: &Op, operands: &'v [Value]) -> &'v [Value] {
    let count = match op {
        Op::InitDist => 0,
        Op::Repartition { .. } | Op::DistUnary(_) => 1,
        Op::DistBinary(_) => 2,
        Op::DistSubview { slice, .. } => {
            let lists = [&slice.offsets, &slice.sizes, &slice.strides];
            let values = lists.into_iter().flatten();
            1 + values.filter(|entry| **entry == crate::Index::Operand).count()
        }
        _ => operands.len(),
    };
    &operands[..count.min(operands.len())]
}

impl<'p> Checker<'p> {
    pub(super) fn members(&mut self) {
        let function = self.function;
        let mut flow = Flow {
            differs: vec![false; function.values.len()],
            reduced: BTreeSet::new(),
            changed: false,
        };
        for argument in &function.body.arguments {
            let memory = matches!(function.ty(*argument), Type::MemRef(..));
            flow.mark(*argument, memory);
        }
        loop {
            flow.changed = false;
            flow.reduced.clear();
            flow.block(&function.body);
            if !flow.changed {
                break;
            }
        }
        flow.reduced.clear();
        self.decisions(&function.body, &mut flow, None);
    }

    /// Loops that differ, and what is collective inside of them.
    fn decisions(&mut self, block: &'p Block, flow: &mut Flow, outer: Option<&'p Operation>) {
        for operation in &block.operations {
            let mut inside = outer;
            match &operation.op {
                Op::AllReduce { .. } => flow.reduced.extend(&operation.operands),
                Op::For => {
                    if let Some(value) = operation.operands[..3].iter().find(|v| flow.of(**v)) {
                        let name = self.show(*value);
                        let message = format!(
                            "{name} differs from member to member: all members must run a loop equally often"
                        );
                        self.report(operation, message);
                        inside = Some(operation);
                    }
                }
                Op::Condition if flow.of(operation.operands[0]) => {
                    let name = self.show(operation.operands[0]);
                    let message = format!(
                        "{name} differs from member to member: all members must run a loop equally often"
                    );
                    self.report(operation, message);
                }
                Op::While => {
                    let last = operation.blocks.first().and_then(end);
                    let truth = last.and_then(|end| end.operands.first());
                    if truth.is_some_and(|truth| flow.of(*truth)) {
                        inside = Some(operation);
                    }
                }
                _ => {}
            }
            if let Some(outer) = outer.filter(|_| operation.op.is_collective()) {
                let line = match outer.place.line {
                    0 => String::new(),
                    line => format!(" in line {line}"),
                };
                let message = format!(
                    "all members take part in this, but the loop{line} around it runs on each as often as it likes"
                );
                self.report(operation, message);
            }
            for block in &operation.blocks {
                self.decisions(block, flow, inside);
            }
        }
    }
}
