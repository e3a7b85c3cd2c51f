//! The block with its reads redirected.

use std::collections::{BTreeMap, BTreeSet};

use super::super::distribute::moving;
use super::super::rewrite::Rewriter;
use super::reads::{Group, Plan, RowRead, Target};
use pantile_ir::{ArrayType, Block, Function, Op, Operation, Type, Value};

pub(super) fn write(function: &mut Function, plan: Plan, block: Block) -> Block {
    let mut operations: Vec<Option<Operation>> = block.operations.into_iter().map(Some).collect();
    let mut writer = Writer { to: Rewriter::new(function), served: BTreeMap::new() };
    for at in 0..operations.len() {
        for group in plan.groups.iter().filter(|group| group.at == at) {
            writer.pull(&group.moved, &mut operations);
            writer.group(group);
        }
        for (read, moved) in plan.fetched.iter().filter(|(read, _)| read.by.0 == at) {
            writer.pull(moved, &mut operations);
            writer.fetch(read);
        }
        let Some(operation) = operations[at].take() else { continue };
        match plan.gone.get(&at) {
            Some(value) => writer.to.replace(operation.results[0], *value),
            None => writer.put(operation, at),
        }
    }
    Block { arguments: block.arguments, operations: std::mem::take(&mut writer.to.out) }
}

struct Writer<'f> {
    to: Rewriter<'f>,
    /// What operands are instead.
    served: BTreeMap<(usize, usize), Value>,
}

impl Writer<'_> {
    /// Writes operations that come along.
    fn pull(&mut self, moved: &BTreeSet<usize>, operations: &mut [Option<Operation>]) {
        for number in moved {
            if let Some(operation) = operations[*number].take() {
                self.put(operation, *number);
            }
        }
    }

    fn put(&mut self, mut operation: Operation, at: usize) {
        for (number, operand) in operation.operands.iter_mut().enumerate() {
            if let Some(value) = self.served.get(&(at, number)) {
                *operand = *value;
            }
        }
        self.to.resolve(&mut operation);
        for inner in &mut operation.blocks {
            resolve_inside(&self.to, inner);
        }
        self.to.push(operation);
    }

    /// One repartition, and the views of it.
    fn group(&mut self, group: &Group) {
        let base = self.to.now(group.base);
        let Type::Array(array) = self.to.function.ty(base).clone() else { return };
        let first = &group.reads[0];
        let all_whole =
            group.reads.iter().all(|read| read.of == group.base && read.target == first.target);
        let mut targets: BTreeMap<&Target, Vec<Value>> = BTreeMap::new();
        for read in &group.reads {
            if !targets.contains_key(&read.target) {
                let values = self.target(&read.target, &array);
                targets.insert(&read.target, values);
            }
        }
        let ty = Type::Array(moving(&array));
        if all_whole {
            let operands = std::iter::once(base).chain(targets[&first.target].clone()).collect();
            let made = self.to.one(Op::Repartition { request: true }, operands, ty);
            self.served.extend(group.reads.iter().map(|read| (read.by, made)));
            return;
        }
        let mut bounds: Vec<Value> = Vec::new();
        let mut boxed: Vec<(&RowRead, Vec<Value>)> = Vec::new();
        for read in &group.reads {
            if boxed.iter().any(|(other, _)| is_same(other, read)) {
                continue;
            }
            let dynamic: Vec<Value> = read.dynamic.iter().map(|v| self.to.now(*v)).collect();
            let mut operands = self.to.slice_values(&read.slice, &dynamic);
            operands.extend(&targets[&read.target]);
            operands.extend(&bounds);
            let op = Op::BoundingBox { inner: false, previous: !bounds.is_empty() };
            bounds = self.to.emit(op, operands, vec![Type::Index; 2 * array.ndim()]);
            boxed.push((read, dynamic));
        }
        let operands = std::iter::once(base).chain(bounds).collect();
        let fetched = self.to.one(Op::Repartition { request: true }, operands, ty);
        for (read, dynamic) in boxed {
            let view = self.to.function.ty(read.of).clone();
            let Type::Array(view) = view else { continue };
            let operands = std::iter::once(fetched)
                .chain(dynamic)
                .chain(targets[&read.target].iter().copied())
                .collect();
            let op = Op::DistSubview { slice: read.slice.clone(), target: true };
            let made = self.to.one(op, operands, Type::Array(moving(&view)));
            let same = group.reads.iter().filter(|other| is_same(other, read));
            self.served.extend(same.map(|other| (other.by, made)));
        }
    }

    fn target(&mut self, target: &Target, array: &ArrayType) -> Vec<Value> {
        match target {
            Target::Given(values) => values.iter().map(|value| self.to.now(*value)).collect(),
            Target::Default(shape) => {
                let Some(env) = array.dist_env() else { return Vec::new() };
                let team = env.team.clone();
                let size = self.to.one(Op::TeamSize(team.clone()), Vec::new(), Type::Index);
                let member = self.to.one(Op::TeamMember(team), Vec::new(), Type::Index);
                let mut operands = vec![size, member];
                for length in shape {
                    let length = i64::try_from(*length).unwrap_or(i64::MAX);
                    operands.push(self.to.index(length));
                }
                self.to.emit(Op::DefaultPartition, operands, vec![Type::Index; 2 * shape.len()])
            }
        }
    }

    /// An operand that is brought to its target where it is read.
    fn fetch(&mut self, read: &RowRead) {
        let of = self.to.now(read.of);
        let Type::Array(array) = self.to.function.ty(of).clone() else { return };
        let target = self.target(&read.target, &array);
        let operands = std::iter::once(of).chain(target).collect();
        let ty = Type::Array(moving(&array));
        let made = self.to.one(Op::Repartition { request: true }, operands, ty);
        self.served.insert(read.by, made);
    }
}

fn is_same(one: &RowRead, other: &RowRead) -> bool {
    one.slice == other.slice && one.dynamic == other.dynamic && one.target == other.target
}

fn resolve_inside(to: &Rewriter<'_>, block: &mut Block) {
    for operation in &mut block.operations {
        for operand in &mut operation.operands {
            *operand = to.now(*operand);
        }
        operation.blocks.iter_mut().for_each(|inner| resolve_inside(to, inner));
    }
}
