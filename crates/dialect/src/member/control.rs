//! Arguments, results, loops and regions: arrays without halos pass as their owned part.

use super::MemberError;
use super::held::Held;
use super::{Lower, local_type};
use crate::PassError;
use crate::facts::Local;
use pantile_ir::{Block, Op, Operation, Type, Value};

impl Lower<'_> {
    /// The arguments of the function.
    pub(super) fn arguments(&mut self, arguments: &[Value]) -> Result<Vec<Value>, PassError> {
        let mut made = Vec::new();
        for argument in arguments {
            self.facts.argument(self.to.function, *argument);
            let Some(array) = self.spread(*argument) else {
                made.push(*argument);
                continue;
            };
            if array.ndim() == 0 {
                let value = self.to.function.value(local_type(&array, &[]));
                self.to.replace(*argument, value);
                made.push(value);
                continue;
            }
            let Some(local) = self.facts.local(*argument).cloned() else {
                let place = self.to.function.place.clone();
                let call = Operation::new(Op::Return, Vec::new(), Vec::new()).at(place);
                return self.refuse(&call, MemberError::UnknownArgument);
            };
            let mut held = Held { local, parts: [Vec::new(), Vec::new(), Vec::new()] };
            let halos = held.has_halos();
            for part in if halos { 0..3 } else { 1..2 } {
                let ty = local_type(&array, &held.local.part_shape(part));
                let value = self.to.function.value(ty);
                made.push(value);
                let rows = held.local.rows[part];
                if rows > 0 {
                    held.parts[part] = vec![super::held::HeldRows { rows, value }];
                }
            }
            self.name(*argument, &made, halos);
            self.held.insert(*argument, held);
        }
        Ok(made)
    }

    /// The parts are called as the array was.
    fn name(&mut self, argument: Value, made: &[Value], halos: bool) {
        let name = self.to.function.values[argument.index()].name.clone();
        let parts = if halos { 3 } else { 1 };
        for value in &made[made.len() - parts..] {
            self.to.function.values[value.index()].name.clone_from(&name);
        }
    }

    /// Values as they are handed on to `to`, which says what is expected there.
    fn handed(
        &mut self,
        operation: &Operation,
        values: &[Value],
        to: &[Value],
    ) -> Result<Vec<Value>, PassError> {
        let mut made = Vec::new();
        for (value, to) in values.iter().zip(to) {
            let Some(array) = self.spread(*value).filter(|array| array.ndim() > 0) else {
                made.push(self.to.now(*value));
                continue;
            };
            let (Some(held), Some(expected)) = (self.held.get(value), self.facts.local(*to)) else {
                return self.refuse(operation, MemberError::UnknownParts);
            };
            if !held.local.is_plain_like(expected) {
                return self.refuse(operation, MemberError::OtherParts);
            }
            let held = held.clone();
            made.push(self.part(&held, 1, &array));
        }
        Ok(made)
    }

    /// Values that take the place of distributed ones: owned parts.
    fn received(
        &mut self,
        operation: &Operation,
        values: &[Value],
    ) -> Result<Vec<Value>, PassError> {
        let mut made = Vec::new();
        for value in values {
            let Some(array) = self.spread(*value) else {
                made.push(*value);
                continue;
            };
            self.facts.argument(self.to.function, *value);
            let local = self.facts.local(*value).cloned();
            let shape = match (&local, array.ndim()) {
                (_, 0) => Vec::new(),
                (Some(local), _) => local.part_shape(1),
                (None, _) => {
                    return self.refuse(operation, MemberError::UnknownCarried);
                }
            };
            let new = self.to.function.value(local_type(&array, &shape));
            match local {
                Some(local) => {
                    self.held.insert(*value, Held::plain(&local, new));
                }
                None => self.to.replace(*value, new),
            }
            made.push(new);
        }
        Ok(made)
    }

    /// Loops and regions.
    pub(super) fn nested(&mut self, mut operation: Operation) -> Result<(), PassError> {
        let first = if operation.op == Op::For { 3 } else { 0 };
        let whole = operation.clone();
        let blocks = std::mem::take(&mut operation.blocks);
        if let Op::Region(_) = operation.op {
            // What a region lists is seen inside anyway.
            operation.operands.clear();
        }
        let ends: Vec<Vec<Value>> = match (&operation.op, &blocks[..]) {
            (Op::While, [before, after]) => {
                vec![after.arguments.clone(), before.arguments.clone()]
            }
            (Op::For, [body]) => vec![body.arguments[1..].to_vec()],
            _ => vec![operation.results.clone()],
        };
        let entered: Vec<Value> = match (&operation.op, &blocks[..]) {
            (Op::For, [body]) => body.arguments[1..].to_vec(),
            (_, [before, ..]) => before.arguments.clone(),
            _ => Vec::new(),
        };
        for value in entered.iter().chain(&operation.results).chain(ends.iter().flatten()) {
            self.facts.argument(self.to.function, *value);
        }
        let carried = operation.operands.split_off(first);
        let carried = self.handed(&whole, &carried, &entered)?;
        operation.operands = operation.operands.iter().map(|v| self.to.now(*v)).collect();
        operation.operands.extend(carried);
        for (block, end) in blocks.into_iter().zip(ends) {
            let arguments = self.received(&whole, &block.arguments)?;
            let inner = Block { arguments, operations: block.operations };
            operation.blocks.push(self.inner(inner, &end)?);
        }
        operation.results = self.received(&whole, &whole.results)?;
        self.to.place = operation.place.clone();
        self.to.push(operation);
        Ok(())
    }

    fn inner(&mut self, block: Block, expected: &[Value]) -> Result<Block, PassError> {
        let outer = std::mem::take(&mut self.to.out);
        for mut operation in block.operations {
            let kept = match operation.op {
                Op::Yield | Op::RegionYield => 0,
                Op::Condition => 1,
                _ => {
                    self.operation(operation)?;
                    continue;
                }
            };
            let passed = operation.operands.split_off(kept);
            let passed = self.handed(&operation, &passed, expected)?;
            self.to.resolve(&mut operation);
            operation.operands.extend(passed);
            self.to.push(operation);
        }
        let operations = std::mem::replace(&mut self.to.out, outer);
        Ok(Block { arguments: block.arguments, operations })
    }

    /// What everybody has is returned by its owner in the default partition.
    pub(super) fn to_owner(&self, held: &mut Held, array: &pantile_ir::ArrayType) {
        let shape = vec![1; array.ndim()];
        let Some(local) = Local::default_of(&shape, array, &self.facts.member) else { return };
        let pieces = held.pieces();
        held.parts = [Vec::new(), Vec::new(), Vec::new()];
        if local.rows[1] > 0 {
            held.parts[1] = pieces;
        }
        held.local = local;
    }

    /// `return`: owned parts, or all three where there are halos.
    pub(super) fn end(&mut self, mut operation: Operation) -> Result<(), PassError> {
        let mut made = Vec::new();
        for value in operation.operands.clone() {
            let Some(array) = self.spread(value).filter(|array| array.ndim() > 0) else {
                made.push(self.to.now(value));
                continue;
            };
            let Some(mut held) = self.held.get(&value).cloned() else {
                return self.refuse(&operation, MemberError::UnknownParts);
            };
            if held.local.everywhere {
                self.to_owner(&mut held, &array);
            }
            for part in if held.has_halos() { 0..3 } else { 1..2 } {
                made.push(self.part(&held, part, &array));
            }
        }
        let types: Vec<Type> = made.iter().map(|v| self.to.function.ty(*v).clone()).collect();
        self.results = Some(types);
        operation.operands = made;
        self.to.push(operation);
        Ok(())
    }
}
