//! The ends of blocks, and what loops, regions and functions hand on.

use pantile_lanes::DType;

use super::{Checker, list};
use crate::{Block, Op, Operation, Type, Value};

fn ends(op: &Op) -> bool {
    matches!(op, Op::Return | Op::Yield | Op::Condition | Op::RegionYield)
}

impl<'p> Checker<'p> {
    pub(super) fn blocks(&mut self) {
        let function = self.function;
        let results: Vec<&Type> = function.results.iter().collect();
        match self.end(&function.body, &Op::Return) {
            Some(end) => self.hands_on(end, &end.operands, &results),
            None if function.body.operations.last().is_some_and(|last| ends(&last.op)) => {}
            None => self.report_function("the function does not end with `return`"),
        }
        function.body.walk(&mut |operation| self.block(operation));
    }

    /// The end of a block if it is the right one. What else is wrong with ends is reported.
    fn end(&mut self, block: &'p Block, expected: &Op) -> Option<&'p Operation> {
        let (last, before) = block.operations.split_last()?;
        for operation in before.iter().filter(|operation| ends(&operation.op)) {
            self.report(operation, "there are operations behind the end of the block");
        }
        if last.op == *expected {
            return Some(last);
        }
        if ends(&last.op) {
            self.report(last, format!("the block ends with `{}` here", expected.name()));
            // It has been said: what is handed on is not the question any more.
            return None;
        }
        None
    }

    fn hands_on(&mut self, end: &Operation, values: &[Value], expected: &[&Type]) {
        let got = self.types_of(values);
        if got != expected {
            let (got, expected) = (list(got), list(expected.iter().copied()));
            self.report(end, format!("hands on {got}, expected {expected}"));
        }
    }

    fn block(&mut self, operation: &'p Operation) {
        match (&operation.op, &operation.blocks[..]) {
            (Op::For, [body]) => self.for_loop(operation, body),
            (Op::While, [before, after]) => self.while_loop(operation, before, after),
            (Op::Region(_), [body]) => {
                if !body.arguments.is_empty() {
                    self.report(operation, "the block of a region has no arguments");
                }
                let results = self.types_of(&operation.results);
                self.ended(operation, body, (&Op::RegionYield, &results));
            }
            _ => {}
        }
    }

    /// A block that ends as it should and hands on these types.
    fn ended(&mut self, operation: &Operation, block: &'p Block, (op, types): (&Op, &[&Type])) {
        match self.end(block, op) {
            Some(end) => self.hands_on(end, &end.operands, types),
            None if block.operations.last().is_some_and(|last| ends(&last.op)) => {}
            None => self.report(operation, format!("the block does not end with `{}`", op.name())),
        }
    }

    fn for_loop(&mut self, operation: &Operation, body: &'p Block) {
        let carried = self.types_of(&operation.operands[3..]);
        let inside: Vec<&Type> =
            [&Type::Index].into_iter().chain(carried.iter().copied()).collect();
        self.takes(operation, body, &inside);
        self.gives(operation, &carried);
        self.ended(operation, body, (&Op::Yield, &carried));
    }

    fn while_loop(&mut self, operation: &Operation, before: &'p Block, after: &'p Block) {
        let carried = self.types_of(&operation.operands);
        let passed = self.types_of(&operation.results);
        self.takes(operation, before, &carried);
        self.takes(operation, after, &passed);
        self.ended(operation, after, (&Op::Yield, &carried));
        let Some(end) = self.end(before, &Op::Condition) else {
            if !before.operations.last().is_some_and(|last| ends(&last.op)) {
                self.report(operation, "the first block does not end with `scf.condition`");
            }
            return;
        };
        let Some((truth, values)) = end.operands.split_first() else { return };
        if *self.ty(*truth) != Type::scalar(DType::Bool) {
            let got = self.ty(*truth);
            self.report(end, format!("the condition is of type {got}, expected i1"));
        }
        self.hands_on(end, values, &passed);
    }

    fn takes(&mut self, operation: &Operation, block: &Block, expected: &[&Type]) {
        let got = self.types_of(&block.arguments);
        if got != expected {
            let (got, expected) = (list(got), list(expected.iter().copied()));
            self.report(operation, format!("a block takes {got}, expected {expected}"));
        }
    }

    fn gives(&mut self, operation: &Operation, expected: &[&Type]) {
        let got = self.types_of(&operation.results);
        if got != expected {
            let (got, expected) = (list(got), list(expected.iter().copied()));
            self.report(operation, format!("gives {got}, expected {expected}"));
        }
    }
}
