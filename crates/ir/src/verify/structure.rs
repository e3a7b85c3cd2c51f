//! Values are defined once, before they are used, where they are seen; counts fit.

use super::{Checker, counts};
use crate::{Block, Op, Operation, Value};

/// What is known of a value while the text is walked through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing defined it yet.
    Unknown,
    /// Defined, and seen here.
    Seen,
    /// Defined in a block that has ended.
    Hidden,
}

impl<'p> Checker<'p> {
    pub(super) fn structure(&mut self) {
        let mut states = vec![State::Unknown; self.function.values.len()];
        self.arguments_of_function(&mut states);
        self.block_structure(&self.function.body, &mut states);
    }

    fn arguments_of_function(&mut self, states: &mut [State]) {
        for argument in &self.function.body.arguments {
            if let Some(problem) = define(states, *argument) {
                self.report_function(format!("argument {} {problem}", self.show(*argument)));
            }
        }
    }

    fn block_structure(&mut self, block: &'p Block, states: &mut [State]) {
        let mut defined: Vec<Value> = Vec::new();
        for operation in &block.operations {
            for operand in &operation.operands {
                let problem = match states.get(operand.index()) {
                    None => "does not exist",
                    Some(State::Unknown) => "is used before it is defined",
                    Some(State::Hidden) => "is used outside of the block that defines it",
                    Some(State::Seen) => continue,
                };
                self.report(operation, format!("{} {problem}", self.show(*operand)));
            }
            self.inner_blocks(operation, states);
            for result in &operation.results {
                match define(states, *result) {
                    Some(problem) => {
                        self.report(operation, format!("result {} {problem}", self.show(*result)));
                    }
                    None => defined.push(*result),
                }
            }
            self.counts(operation);
        }
        defined.into_iter().for_each(|value| states[value.index()] = State::Hidden);
    }

    fn inner_blocks(&mut self, operation: &'p Operation, states: &mut [State]) {
        for block in &operation.blocks {
            let mut defined = Vec::new();
            for argument in &block.arguments {
                match define(states, *argument) {
                    Some(problem) => {
                        let message = format!("block argument {} {problem}", self.show(*argument));
                        self.report(operation, message);
                    }
                    None => defined.push(*argument),
                }
            }
            self.block_structure(block, states);
            defined.into_iter().for_each(|value| states[value.index()] = State::Hidden);
        }
    }

    fn counts(&mut self, operation: &Operation) {
        let blocks = match operation.op {
            Op::For | Op::Region(_) => 1,
            Op::While => 2,
            _ => 0,
        };
        if operation.blocks.len() != blocks {
            let got = operation.blocks.len();
            return self.report(operation, format!("has {got} blocks, expected {blocks}"));
        }
        let known = |value: &Value| value.index() < self.function.values.len();
        if !operation.operands.iter().chain(&operation.results).all(known) {
            return;
        }
        let operands = self.types_of(&operation.operands);
        let results = self.types_of(&operation.results);
        if let Some(message) = counts::wrong(&operation.op, &operands, &results) {
            self.report(operation, message);
        }
    }
}

/// Defines a value, or says why not.
fn define(states: &mut [State], value: Value) -> Option<&'static str> {
    match states.get_mut(value.index()) {
        None => Some("does not exist"),
        Some(state @ State::Unknown) => {
            *state = State::Seen;
            None
        }
        Some(_) => Some("is defined twice"),
    }
}
