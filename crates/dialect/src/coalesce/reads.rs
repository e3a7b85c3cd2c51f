//! Which reads are redirected to which boxes.

use std::collections::{BTreeMap, BTreeSet};

use super::super::alias::Aliases;
use super::super::rewrite::dynamic_count;
use super::block::DefUse;
use super::{arrays_of, is_elementwise};
use pantile_ir::{Block, Function, Index, Op, Slice, Type, Value};

/// Which elements of a view a member needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// Those at these offsets and sizes.
    Given(Vec<Value>),
    /// Those of the default partition of this shape.
    Default(Vec<usize>),
}

/// An array that an operation reads.
#[derive(Clone, Debug)]
pub(super) struct RowRead {
    /// The operation, and the number of its operand.
    pub(super) by: (usize, usize),
    /// When the elements are taken: the operation before which they must be fetched.
    pub(super) at: usize,
    /// The array or view.
    pub(super) of: Value,
    /// The array that is fetched.
    pub(super) base: Value,
    /// The slice of it, and the values in that.
    pub(super) slice: Slice,
    pub(super) dynamic: Vec<Value>,
    pub(super) target: Target,
}

/// What is fetched by one repartition.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Before this operation.
    pub(super) at: usize,
    pub(super) base: Value,
    pub(super) reads: Vec<RowRead>,
    /// Operations that move along.
    pub(super) moved: BTreeSet<usize>,
}

/// What is to be done with a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) groups: Vec<Group>,
    /// Operands that are repartitioned to a target where they are read, and what moves for that.
    pub(super) fetched: Vec<(RowRead, BTreeSet<usize>)>,
    /// Operations that go; others stand for their results.
    pub(super) gone: BTreeMap<usize, Value>,
}

pub(super) fn plan(function: &Function, aliases: &Aliases, block: &Block) -> Plan {
    let known = DefUse::new(function, aliases, block);
    let mut pass =
        Planner { known, reads: Vec::new(), plan: Plan::default(), placed: BTreeSet::new() };
    let mut targets = false;
    for at in (0..block.operations.len()).rev() {
        if block.operations[at].op == (Op::Repartition { request: true }) {
            targets |= pass.target(at);
        }
    }
    for at in 0..block.operations.len() {
        if block.operations[at].op == (Op::Repartition { request: false }) {
            pass.by_default(at, targets);
        }
    }
    pass.groups();
    pass.without_readers();
    pass.plan
}

struct Planner<'a> {
    known: DefUse<'a>,
    reads: Vec<RowRead>,
    plan: Plan,
    /// Elementwise operations that compute a target.
    placed: BTreeSet<usize>,
}

impl Planner<'_> {
    /// A repartition to a target: true if its request is the target of a slice.
    fn target(&mut self, at: usize) -> bool {
        let operation = &self.known.operations[at];
        let request = operation.operands[1..].to_vec();
        let made = request.first().and_then(|value| self.known.made_by(*value));
        let Some((_, maker)) = made else { return false };
        if maker.op != Op::LocalTarget || maker.results != request {
            return false;
        }
        let (of, result) = (operation.operands[0], operation.results[0]);
        let target = Target::Given(request);
        let stays = self.known.aliases.is_written(result);
        match self.known.made_by(of) {
            _ if stays => {}
            Some((maker, made)) if is_elementwise(&made.op) && self.is_ours(of, (at, 0)) => {
                let before = (self.reads.clone(), self.plan.clone(), self.placed.clone());
                self.place(maker, &target);
                self.plan.gone.insert(at, of);
                if !self.is_known_in_time(before.0.len(), before.1.fetched.len()) {
                    (self.reads, self.plan, self.placed) = before;
                }
            }
            Some((_, made)) if is_view(&made.op) => {
                let uses = self.known.uses(result).to_vec();
                let soon = uses
                    .iter()
                    .all(|(user, number)| *number != usize::MAX && self.same_time(of, at, *user));
                if soon && !uses.is_empty() {
                    for by in uses {
                        self.read(by, at, of, &target);
                    }
                }
            }
            _ => {}
        }
        true
    }

    /// True if the targets of the latest reads can be known where they are needed.
    fn is_known_in_time(&mut self, reads: usize, fetched: usize) -> bool {
        let late = |read: &RowRead, at: usize| self.moved(read, at).is_none();
        if self.reads[reads..].iter().any(|read| late(read, read.at)) {
            return false;
        }
        for number in fetched..self.plan.fetched.len() {
            let read = &self.plan.fetched[number].0;
            let Some(moved) = self.moved(read, read.by.0) else { return false };
            self.plan.fetched[number].1 = moved;
        }
        true
    }

    /// True if a value has this use only and is not written.
    fn is_ours(&self, value: Value, by: (usize, usize)) -> bool {
        self.known.uses(value) == [by] && !self.known.aliases.is_written(value)
    }

    fn same_time(&self, value: Value, one: usize, other: usize) -> bool {
        self.known.epoch(value, one) == self.known.epoch(value, other)
    }

    /// An elementwise operation computes the elements of a target.
    fn place(&mut self, at: usize, target: &Target) {
        self.placed.insert(at);
        let operation = &self.known.operations[at];
        let result = self.known.function.ty(operation.results[0]).as_array();
        let unit = result.is_some_and(pantile_ir::ArrayType::is_unit);
        for number in 0..arrays_of(operation) {
            let value = operation.operands[number];
            let Some(array) = self.known.function.ty(value).as_array() else { continue };
            // One element for all rows is the same on every member.
            if array.ndim() == 0 || (array.is_unit() && !unit) {
                continue;
            }
            self.push(value, (at, number), target);
        }
    }

    /// Brings the elements of a target to an operand.
    fn push(&mut self, value: Value, by: (usize, usize), target: &Target) {
        match self.known.made_by(value) {
            Some((maker, made)) if is_elementwise(&made.op) && self.is_ours(value, by) => {
                self.place(maker, target);
            }
            Some((_, made)) if is_view(&made.op) => self.read(by, by.0, value, target),
            Some((at, made)) if made.op == (Op::Repartition { request: false }) => {
                let of = made.operands[0];
                let mine = self.is_ours(value, by);
                match self.known.made_by(of) {
                    Some((maker, inner))
                        if mine && is_elementwise(&inner.op) && self.is_ours(of, (at, 0)) =>
                    {
                        self.plan.gone.insert(at, of);
                        self.place(maker, target);
                    }
                    _ if self.same_time(of, at, by.0) && !self.known.aliases.is_written(value) => {
                        self.read(by, at, of, target);
                    }
                    _ => self.fetch(by, value, target),
                }
            }
            Some((_, made)) if is_elementwise(&made.op) => self.fetch(by, value, target),
            _ => self.read(by, by.0, value, target),
        }
    }

    fn fetch(&mut self, by: (usize, usize), of: Value, target: &Target) {
        if let Some(read) = self.whole(by, by.0, of, target) {
            self.plan.fetched.push((read, BTreeSet::new()));
        }
    }

    fn read(&mut self, by: (usize, usize), at: usize, of: Value, target: &Target) {
        let view = self.known.made_by(of).and_then(|(_, made)| match &made.op {
            Op::DistSubview { slice, target: false }
                if keeps_axes(self.known.function, of, slice) =>
            {
                let dynamic = made.operands[1..1 + dynamic_count(slice)].to_vec();
                Some((made.operands[0], slice.clone(), dynamic))
            }
            _ => None,
        });
        let target = target.clone();
        match view {
            Some((base, slice, dynamic)) => {
                self.reads.push(RowRead { by, at, of, base, slice, dynamic, target });
            }
            None => match self.whole(by, at, of, &target) {
                Some(read) => self.reads.push(read),
                None => self.fetch(by, of, &target),
            },
        }
    }

    /// A read of all of an array, of which the lengths are known.
    fn whole(&self, by: (usize, usize), at: usize, of: Value, target: &Target) -> Option<RowRead> {
        let shape = self.known.function.ty(of).as_array()?.known_shape()?;
        let entry = |length: &usize| i64::try_from(*length).ok().map(Index::Known);
        let slice = Slice {
            offsets: vec![Index::Known(0); shape.len()],
            sizes: shape.iter().map(entry).collect::<Option<_>>()?,
            strides: vec![Index::Known(1); shape.len()],
        };
        let (dynamic, target) = (Vec::new(), target.clone());
        Some(RowRead { by, at, of, base: of, slice, dynamic, target })
    }

    /// A default repartition that no target asked for.
    fn by_default(&mut self, at: usize, targets: bool) {
        let operation = &self.known.operations[at];
        let (of, result) = (operation.operands[0], operation.results[0]);
        let uses = self.known.uses(result).to_vec();
        let open = |user: &(usize, usize)| {
            let fetched = self.plan.fetched.iter().map(|(read, _)| read);
            let read = self.reads.iter().chain(fetched).any(|read| read.by == *user);
            !read && !self.plan.gone.contains_key(&at)
        };
        let left: Vec<(usize, usize)> = uses.iter().copied().filter(open).collect();
        let computes = |user: &(usize, usize)| {
            user.1 != usize::MAX && is_elementwise(&self.known.operations[user.0].op)
        };
        if left.is_empty() || !left.iter().all(computes) || self.known.aliases.is_written(result) {
            return;
        }
        let Some((_, made)) = self.known.made_by(of) else { return };
        if is_elementwise(&made.op) {
            // What was just computed in the default partition is there already.
            if uses.len() == 1 && self.is_default(of) && !self.known.aliases.is_written(of) {
                self.plan.gone.insert(at, of);
            }
        } else if targets && is_view(&made.op) {
            let array = self.known.function.ty(of).as_array();
            let Some(shape) = array.and_then(pantile_ir::ArrayType::known_shape) else { return };
            let unit = shape.iter().all(|length| *length == 1);
            let soon = left.iter().all(|(user, _)| self.same_time(of, at, *user));
            if soon && !unit {
                for by in left {
                    self.read(by, at, of, &Target::Default(shape.clone()));
                }
            }
        }
    }

    /// True if a value is computed in the default partition.
    fn is_default(&self, value: Value) -> bool {
        let Some((at, made)) = self.known.made_by(value) else { return false };
        let unit = self.known.function.ty(value).as_array().is_none_or(|array| array.is_unit());
        match &made.op {
            _ if unit || self.placed.contains(&at) => false,
            Op::DistBinary(_) | Op::Repartition { request: false } => true,
            Op::DistUnary(_) => self.is_default(made.operands[0]),
            _ => false,
        }
    }

    /// Puts reads together that one repartition can serve.
    fn groups(&mut self) {
        let mut reads = std::mem::take(&mut self.reads);
        reads.sort_by_key(|read| (read.at, read.by));
        for read in reads {
            let epoch = self.known.epoch(read.base, read.at);
            let fits = |group: &Group| {
                group.base == read.base && self.known.epoch(read.base, group.at) == epoch
            };
            let group = self.plan.groups.iter().rposition(fits);
            let found = group.and_then(|number| {
                let moved = self.moved(&read, self.plan.groups[number].at)?;
                Some((number, moved))
            });
            if let Some((number, moved)) = found {
                self.plan.groups[number].moved.extend(moved);
                self.plan.groups[number].reads.push(read);
            } else {
                let (at, base) = (read.at, read.base);
                let moved = self.moved(&read, at).unwrap_or_default();
                self.plan.groups.push(Group { at, base, reads: vec![read], moved });
            }
        }
        self.plan.groups.sort_by_key(|group| group.at);
    }

    /// What has to move for a read to be served before `at`.
    fn moved(&self, read: &RowRead, at: usize) -> Option<BTreeSet<usize>> {
        let target: &[Value] = match &read.target {
            Target::Given(values) => values,
            Target::Default(_) => &[],
        };
        let mut moved = BTreeSet::new();
        for value in target.iter().chain(&read.dynamic) {
            moved.extend(self.known.movable(*value, at)?);
        }
        Some(moved)
    }

    /// Repartitions that are not read any more.
    fn without_readers(&mut self) {
        let groups = self.plan.groups.iter().flat_map(|group| &group.reads);
        let served: BTreeSet<(usize, usize)> = groups
            .chain(self.plan.fetched.iter().map(|(read, _)| read))
            .map(|read| read.by)
            .collect();
        for (at, operation) in self.known.operations.iter().enumerate() {
            let Op::Repartition { .. } = operation.op else { continue };
            let uses = self.known.uses(operation.results[0]);
            if !uses.is_empty() && uses.iter().all(|by| served.contains(by)) {
                self.plan.gone.entry(at).or_insert(operation.operands[0]);
            }
        }
    }
}

fn is_view(op: &Op) -> bool {
    matches!(op, Op::DistSubview { target: false, .. })
}

fn keeps_axes(function: &Function, view: Value, slice: &Slice) -> bool {
    matches!(function.ty(view), Type::Array(array) if array.ndim() == slice.sizes.len())
}
