//! Printing loops and regions.

use std::collections::BTreeSet;

use super::Printer;
use crate::{Attribute, Block, Operation, Type, Value};

impl<'p> Printer<'p> {
    /// `scf.for %i = %lower to %upper step %step iter_args(%a = %x) -> (T) { ... }`.
    pub(super) fn for_loop(&mut self, operation: &'p Operation, names: &[String]) -> bool {
        let [body] = &operation.blocks[..] else { return false };
        let ([lower, upper, step], Some(carried)) =
            (names.get(..3).unwrap_or_default(), operation.operands.get(3..))
        else {
            return false;
        };
        let bounds = operation.operands[..3].iter();
        let fits =
            bounds.chain(body.arguments.first()).all(|v| self.known(*v) == Some(&Type::Index))
                && body.arguments.len() == 1 + carried.len()
                && self.same(carried, &operation.results)
                && self.same(carried, &body.arguments[1..]);
        if !fits {
            return false;
        }
        self.scopes.push(BTreeSet::new());
        let counter = self.define(&body.arguments[..1]);
        let mut text = format!("scf.for {counter} = {lower} to {upper} step {step} ");
        if !carried.is_empty() {
            let pairs = self.bind(&body.arguments[1..], &names[3..]);
            let types = self.types_of(carried);
            text.push_str(&format!("iter_args({pairs}) -> ({types}) "));
        }
        self.out.push_str(&text);
        self.braces(body, false);
        self.scopes.pop();
        let attributes = self.attributes(&[], &operation.attributes);
        self.out.push_str(&attributes);
        true
    }

    /// `%a = %x, %b = %y`.
    fn bind(&mut self, arguments: &[Value], names: &[String]) -> String {
        let pair =
            |(argument, name): (&Value, &String)| format!("{} = {name}", self.define(&[*argument]));
        arguments.iter().zip(names).map(pair).collect::<Vec<_>>().join(", ")
    }

    /// True if these values have the same types.
    fn same(&self, one: &[Value], other: &[Value]) -> bool {
        one.len() == other.len()
            && one
                .iter()
                .zip(other)
                .all(|(a, b)| self.known(*a).is_some() && self.known(*a) == self.known(*b))
    }

    /// `scf.while (%a = %x) : (T) -> (T) { ... } do { ^bb0(%b: T): ... }`.
    pub(super) fn while_loop(&mut self, operation: &'p Operation, names: &[String]) -> bool {
        let [before, after] = &operation.blocks[..] else { return false };
        if !self.same(&operation.operands, &before.arguments) {
            return false;
        }
        self.scopes.push(BTreeSet::new());
        let pairs = self.bind(&before.arguments, names);
        let operands = self.types_of(&operation.operands);
        let results = self.types_of(&operation.results);
        let pairs = if pairs.is_empty() { pairs } else { format!("({pairs}) ") };
        let attributes = self.attributes(&[], &operation.attributes);
        let attributes =
            if attributes.is_empty() { attributes } else { format!(" attributes{attributes}") };
        self.out.push_str(&format!("scf.while {pairs}: ({operands}) -> ({results}){attributes} "));
        self.braces(before, false);
        self.scopes.pop();
        self.out.push_str(" do ");
        self.scoped(after);
        true
    }

    fn scoped(&mut self, block: &'p Block) {
        self.scopes.push(BTreeSet::new());
        self.braces(block, true);
        self.scopes.pop();
    }

    /// `region.env_region #env %a : T -> T { ... }`.
    pub(super) fn env_region(
        &mut self,
        operation: &'p Operation,
        env: &Attribute,
        names: &[String],
    ) -> bool {
        let [body] = &operation.blocks[..] else { return false };
        let mut attributes = self.attributes(&[], &operation.attributes);
        // An env in braces would be taken for the attributes.
        if attributes.is_empty() && matches!(env, Attribute::Dict(_)) {
            attributes = " {}".to_owned();
        }
        let values = self.typed(&operation.operands, names);
        let results = self.types_of(&operation.results);
        let results = if results.is_empty() { results } else { format!(" -> {results}") };
        self.out.push_str(&format!("region.env_region{attributes} {env}{values}{results} "));
        self.scoped(body);
        true
    }
}
