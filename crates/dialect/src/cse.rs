//! What is computed twice from the same is computed once.
//!
//! Arrays that are written in place stay apart, and what is read from them counts as the same only
//! between two writes. Collective operations are never joined.

use std::collections::BTreeMap;

use super::alias::Aliases;
use super::rewrite::{Rewriter, each_function};
use super::{Member, PassError};
use pantile_ir::{Op, Operation, Program, Type, Value};

pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let aliases = Aliases::new(function, &body);
        let mut pass = Cse { aliases, epochs: BTreeMap::new(), seen: BTreeMap::new() };
        let mut rewriter = Rewriter::new(function);
        rewriter.block(body, &mut |to, operation| {
            pass.operation(to, operation);
            Ok(())
        })
    })
}

struct Cse {
    aliases: Aliases,
    /// How often a class of arrays has been written.
    epochs: BTreeMap<usize, usize>,
    /// Operations that were met, as text, and their results.
    seen: BTreeMap<String, Vec<Value>>,
}

impl Cse {
    fn operation(&mut self, to: &mut Rewriter<'_>, mut operation: Operation) {
        to.resolve(&mut operation);
        let written = self.aliases.written_in(&operation);
        self.write(&written);
        let blocks = std::mem::take(&mut operation.blocks);
        for block in blocks {
            // What is computed inside is not seen outside.
            let seen = self.seen.clone();
            let made = to.block::<PassError>(block, &mut |to, inner| {
                self.operation(to, inner);
                Ok(())
            });
            self.seen = seen;
            operation.blocks.extend(made);
        }
        self.write(&written);
        let Some(key) = self.key(to, &operation) else {
            to.push(operation);
            return;
        };
        match self.seen.get(&key) {
            Some(before) => {
                let before = before.clone();
                for (old, new) in operation.results.iter().zip(before) {
                    to.replace(*old, new);
                }
            }
            None => {
                self.seen.insert(key, operation.results.clone());
                to.push(operation);
            }
        }
    }

    fn write(&mut self, classes: &std::collections::BTreeSet<usize>) {
        for class in classes {
            *self.epochs.entry(*class).or_insert(0) += 1;
        }
    }

    /// What makes two operations the same; none for those that stay apart.
    fn key(&self, to: &Rewriter<'_>, operation: &Operation) -> Option<String> {
        if !operation.blocks.is_empty() || !super::dce::is_pure(&operation.op) {
            return None;
        }
        let view = matches!(operation.op, Op::Subview(_) | Op::DistSubview { .. } | Op::Cast);
        let made_to_write = operation.results.iter().any(|value| self.aliases.is_written(*value));
        if made_to_write && !view {
            return None;
        }
        let epoch = |value: &Value| match view {
            true => 0,
            false => self.epochs.get(&self.aliases.class(*value)).copied().unwrap_or(0),
        };
        let epochs: Vec<usize> = operation.operands.iter().map(epoch).collect();
        let types: Vec<&Type> = operation.results.iter().map(|v| to.function.ty(*v)).collect();
        let Operation { op, operands, attributes, .. } = operation;
        Some(format!("{op:?} {operands:?} {epochs:?} {types:?} {attributes:?}"))
    }
}
