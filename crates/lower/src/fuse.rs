//! Loops over the same elements become one: what the first computes, the second need not read.

use std::collections::{BTreeMap, BTreeSet};

use pantile_lanes::{DType, LaneNode, LaneOp, LoopBody};

use super::steps::{read, written};
use super::{
    Compute, Executable, Fold, IndexMap, Read, Slot, SlotId, Step, TripCount, Write, place,
};

/// Loops over fewer elements are joined even if nothing is read once instead of twice: they take
/// less time than beginning one of them.
pub(super) const FEW_ELEMENTS: usize = 1 << 16;

/// Bodies beyond this size are slower together than alone: their lanes leave the nearest cache.
const MOST_NODES: usize = 2048;

impl Executable {
    /// Joins loops over the same region where the later ones read what the earlier ones write at
    /// the same places only, and drops what is not read.
    pub fn fuse(&mut self) {
        let mut steps = std::mem::take(&mut self.steps);
        join(&mut steps, &self.slots);
        self.steps = steps;
        self.drop_unread();
    }

    /// Drops stores that are not read, and loops that store nothing.
    pub fn drop_unread(&mut self) {
        loop {
            let mut needed: BTreeSet<SlotId> = self.results.iter().map(|(slot, _)| *slot).collect();
            all_reads(&self.steps, &mut needed);
            if !sweep(&mut self.steps, &needed) {
                return;
            }
        }
    }
}

fn all_reads(steps: &[Step], needed: &mut BTreeSet<SlotId>) {
    for step in steps {
        // An exchange is for readers, not one itself.
        if !matches!(step, Step::Exchange(_)) {
            read(step, &mut |slot| {
                needed.insert(slot);
            });
        }
        if let Step::Repeat(repeat) = step {
            needed.extend(repeat.carried.iter().flat_map(|one| [one.current, one.next]));
            if let TripCount::While { before, condition } = &repeat.turns {
                needed.insert(*condition);
                all_reads(before, needed);
            }
            all_reads(&repeat.body, needed);
        }
    }
}

/// Drops what is not needed; true if something was dropped. Every rank has the same steps, so
/// every rank drops the same movements.
fn sweep(steps: &mut Vec<Step>, needed: &BTreeSet<SlotId>) -> bool {
    let before = steps.len();
    let mut changed = false;
    steps.retain_mut(|step| match step {
        Step::Compute(compute) => {
            changed |= prune(compute, needed);
            !compute.writes.is_empty()
        }
        Step::Finish(step) => needed.contains(&step.to),
        Step::Reshape { to, .. } => needed.contains(to),
        Step::Product(step) => needed.contains(&step.to),
        Step::Contract(step) => needed.contains(&step.to),
        Step::Repeat(repeat) => {
            if let TripCount::While { before, .. } = &mut repeat.turns {
                changed |= sweep(before, needed);
            }
            changed |= sweep(&mut repeat.body, needed);
            true
        }
        Step::Move(step) => needed.contains(&step.to),
        Step::Exchange(step) => step.parts.iter().any(|part| needed.contains(&part.slot)),
    });
    changed || steps.len() != before
}

/// Drops the outputs of a loop that are not needed.
fn prune(compute: &mut Compute, needed: &BTreeSet<SlotId>) -> bool {
    let slot_of = |write: &Write| match write {
        Write::Slot(slot, _) | Write::Fold(_, slot, _) => *slot,
    };
    let keep: Vec<bool> =
        compute.writes.iter().map(|write| needed.contains(&slot_of(write))).collect();
    if keep.iter().all(|keep| *keep) {
        return false;
    }
    let mut joined = Joined::default();
    let nodes = joined.add(&compute.body, &compute.reads, &BTreeMap::new());
    let outputs = compute.body.outputs().iter().zip(&compute.writes).zip(&keep);
    let kept: Vec<(LaneNode, Write)> = outputs
        .filter(|(_, keep)| **keep)
        .map(|((node, write), _)| (nodes[node.index()], write.clone()))
        .collect();
    let (body, reads) = joined.finish(&kept.iter().map(|(node, _)| *node).collect::<Vec<_>>());
    compute.writes = kept.into_iter().map(|(_, write)| write).collect();
    let stored: BTreeSet<SlotId> = compute.writes.iter().map(slot_of).collect();
    compute.pass_through.retain(|(slot, _)| stored.contains(slot));
    (compute.body, compute.reads) = (body, reads);
    true
}

/// Joins neighbours, loops inside of loops too.
fn join(steps: &mut Vec<Step>, slots: &[Slot]) {
    let mut done: Vec<Step> = Vec::with_capacity(steps.len());
    for mut step in steps.drain(..) {
        match &mut step {
            Step::Repeat(repeat) => {
                if let TripCount::While { before, .. } = &mut repeat.turns {
                    join(before, slots);
                }
                join(&mut repeat.body, slots);
            }
            Step::Compute(compute) => {
                if let Some(at) = partner(&done, compute, slots)
                    && let Step::Compute(first) = &mut done[at]
                {
                    merge(first, compute);
                    continue;
                }
            }
            _ => {}
        }
        done.push(step);
    }
    *steps = done;
}

/// The latest loop that a loop can be joined with: nothing in between writes what it reads.
fn partner(done: &[Step], compute: &Compute, slots: &[Slot]) -> Option<usize> {
    let mut mine: BTreeSet<SlotId> = BTreeSet::new();
    for read in &compute.reads {
        if let Read::Slot(slot, ..) = read {
            mine.insert(*slot);
        }
    }
    mine.extend(compute.pass_through.iter().map(|(_, from)| *from));
    for at in (0..done.len()).rev() {
        if let Step::Compute(first) = &done[at]
            && fits(first, compute, slots)
        {
            return Some(at);
        }
        let mut blocked = matches!(&done[at], Step::Exchange(step) if step.parts.iter().any(|part| compute.halos.contains(&part.slot)));
        written(&done[at], &mut |slot| blocked |= mine.contains(&slot));
        if blocked {
            return None;
        }
    }
    None
}

fn fits(first: &Compute, second: &Compute, slots: &[Slot]) -> bool {
    let alike = first.region == second.region
        && first.domain == second.domain
        && first.domain.mesh().names() == second.domain.mesh().names()
        && first.reduced == second.reduced
        && first.overcompute == second.overcompute
        && first.body.nodes().len() + second.body.nodes().len() <= MOST_NODES;
    if !alike {
        return false;
    }
    let stores =
        |compute: &Compute| compute.writes.iter().all(|write| matches!(write, Write::Slot(..)));
    let folds =
        |compute: &Compute| compute.writes.iter().all(|write| matches!(write, Write::Fold(..)));
    let joined = stores(first) && stores(second)
        || folds(first) && folds(second) && folds_alike(first, second, slots);
    if !joined {
        return false;
    }
    let made: BTreeSet<SlotId> = first
        .writes
        .iter()
        .map(|write| match write {
            Write::Slot(slot, _) | Write::Fold(_, slot, _) => *slot,
        })
        .collect();
    let here = same_places(second);
    let shifted = second.reads.iter().any(|read| {
        matches!(read, Read::Slot(slot, _, access) if made.contains(slot) && *access != here)
    });
    let behind = second.pass_through.iter().any(|(_, from)| made.contains(from));
    let folded = folds(first)
        && second
            .reads
            .iter()
            .any(|read| matches!(read, Read::Slot(slot, ..) if made.contains(slot)));
    let apart = stores(first) && are_strangers(first, second, &made);
    !shifted && !behind && !folded && !apart
}

/// True if all folds of two loops go the same way through memory, so that one loop over cells serves
/// them: cells of one kind, with the same room around them.
fn folds_alike(first: &Compute, second: &Compute, slots: &[Slot]) -> bool {
    let cells = |write: &Write| match write {
        Write::Fold(fold, slot, _) => {
            let kind = match fold {
                Fold::Exact => 0,
                Fold::Rounded(_) => 1,
                _ => 2,
            };
            Some((kind, place::windows_of(&slots[slot.index()].home)))
        }
        Write::Slot(..) => None,
    };
    let mut all = first.writes.iter().chain(&second.writes).map(cells);
    let one = all.next().flatten();
    one.is_some() && all.all(|other| other == one)
}

/// True for large loops that read nothing in common: joined they read as much, but what one of them
/// could renew in place may be what the other reads elsewhere, and then needs new memory.
fn are_strangers(first: &Compute, second: &Compute, made: &BTreeSet<SlotId>) -> bool {
    let elements = first.region.iter().map(|one| one.size).fold(1, usize::saturating_mul);
    let reads = |compute: &Compute| compute.reads.iter().any(|read| matches!(read, Read::Slot(..)));
    let known = |read: &Read| match read {
        Read::Slot(slot, ..) => made.contains(slot) || first.reads.contains(read),
        Read::Index { .. } => false,
    };
    elements >= FEW_ELEMENTS && reads(first) && reads(second) && !second.reads.iter().any(known)
}

/// How a loop reads an array at the places where it stores.
fn same_places(compute: &Compute) -> Vec<IndexMap> {
    let index_map = |(axis, range): (usize, &super::StridedRange)| IndexMap::Moves {
        axis,
        offset: range.offset,
        step: range.step,
    };
    compute.region.iter().enumerate().map(index_map).collect()
}

/// The second loop becomes part of the first.
fn merge(first: &mut Compute, second: &Compute) {
    let mut joined = Joined::default();
    let nodes = joined.add(&first.body, &first.reads, &BTreeMap::new());
    let outputs: Vec<LaneNode> =
        first.body.outputs().iter().map(|node| nodes[node.index()]).collect();
    let here = same_places(first);
    let mut known: BTreeMap<Read, LaneNode> = BTreeMap::new();
    for (write, node) in first.writes.iter().zip(&outputs) {
        if let Write::Slot(slot, part) = write {
            known.insert(Read::Slot(*slot, *part, here.clone()), *node);
        }
    }
    let others = joined.add(&second.body, &second.reads, &known);
    let more = second.body.outputs().iter().map(|node| others[node.index()]);
    let all: Vec<LaneNode> = outputs.into_iter().chain(more).collect();
    (first.body, first.reads) = joined.finish(&all);
    first.writes.extend(second.writes.iter().cloned());
    first.pass_through.extend(second.pass_through.iter().copied());
    for slot in &second.halos {
        if !first.halos.contains(slot) {
            first.halos.push(*slot);
        }
    }
}

/// Bodies on their way into one; equal nodes are one.
#[derive(Default)]
struct Joined {
    body: LoopBody,
    reads: Vec<Read>,
    inputs: BTreeMap<Read, LaneNode>,
    known: BTreeMap<LaneOp, LaneNode>,
}

impl Joined {
    /// Adds the nodes of a body; inputs that are `given` are nodes already. Gives where each went.
    fn add(
        &mut self,
        body: &LoopBody,
        reads: &[Read],
        given: &BTreeMap<Read, LaneNode>,
    ) -> Vec<LaneNode> {
        let mut nodes: Vec<LaneNode> = Vec::with_capacity(body.nodes().len());
        for op in body.nodes() {
            let node = match *op {
                LaneOp::Input(number) => {
                    let (read, dtype) = (&reads[number as usize], body.inputs()[number as usize]);
                    given.get(read).copied().unwrap_or_else(|| self.input(read, dtype))
                }
                op => self.node(op.with_operands(|node| nodes[node.index()])),
            };
            nodes.push(node);
        }
        nodes
    }

    fn input(&mut self, read: &Read, dtype: DType) -> LaneNode {
        if let Some(node) = self.inputs.get(read) {
            return *node;
        }
        let node = self.body.input(dtype).expect("it was an input before");
        self.reads.push(read.clone());
        self.inputs.insert(read.clone(), node);
        node
    }

    fn node(&mut self, op: LaneOp) -> LaneNode {
        if let Some(node) = self.known.get(&op) {
            return *node;
        }
        let node = self.body.push(op).expect("it was a node before");
        self.known.insert(op, node);
        node
    }

    /// The body with these outputs, without nodes that they do not need.
    fn finish(self, outputs: &[LaneNode]) -> (LoopBody, Vec<Read>) {
        let old = self.body.nodes();
        let mut needed = vec![false; old.len()];
        outputs.iter().for_each(|node| needed[node.index()] = true);
        for at in (0..old.len()).rev() {
            if needed[at] {
                old[at].operands().for_each(|node| needed[node.index()] = true);
            }
        }
        let mut slim = Self::default();
        let mut nodes: Vec<Option<LaneNode>> = vec![None; old.len()];
        for (at, op) in old.iter().enumerate().filter(|(at, _)| needed[*at]) {
            nodes[at] = Some(match *op {
                LaneOp::Input(number) => {
                    slim.input(&self.reads[number as usize], self.body.inputs()[number as usize])
                }
                op => slim.node(op.with_operands(|node| {
                    nodes[node.index()].expect("operands of a needed node are needed")
                })),
            });
        }
        for node in outputs {
            slim.body.output(nodes[node.index()].expect("outputs are needed"));
        }
        (slim.body, slim.reads)
    }
}
