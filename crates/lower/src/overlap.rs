//! Halos travel together, and while others compute.

use std::collections::BTreeSet;

use super::steps::{read, written};
use super::{Compute, Executable, Read, SlotId, Step, TripCount, Write};

impl Executable {
    /// Exchanges that could happen at the same time become one: one message per neighbour.
    pub fn aggregate_messages(&mut self) {
        each_block(&mut self.steps, &mut bundle);
    }

    /// A loop that needs halos runs its core while they travel.
    pub fn overlap(&mut self) {
        each_block(&mut self.steps, &mut overlap);
    }
}

/// Calls `f` with every list of steps, inner ones first.
fn each_block(steps: &mut Vec<Step>, f: &mut dyn FnMut(&mut Vec<Step>)) {
    for step in steps.iter_mut() {
        if let Step::Repeat(repeat) = step {
            if let TripCount::While { before, .. } = &mut repeat.turns {
                each_block(before, f);
            }
            each_block(&mut repeat.body, f);
        }
    }
    f(steps);
}

fn bundle(steps: &mut Vec<Step>) {
    let mut done: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        let Step::Exchange(exchange) = &step else {
            done.push(step);
            continue;
        };
        let slots: Vec<SlotId> = exchange.parts.iter().map(|part| part.slot).collect();
        match earlier(&done, &slots) {
            Some(at) => {
                if let (Step::Exchange(first), Step::Exchange(more)) = (&mut done[at], step) {
                    first.parts.extend(more.parts);
                }
            }
            None => done.push(step),
        }
    }
    *steps = done;
}

/// An exchange before which these slots are written already.
fn earlier(done: &[Step], slots: &[SlotId]) -> Option<usize> {
    for at in (0..done.len()).rev() {
        if matches!(&done[at], Step::Exchange(exchange) if exchange.during.is_none()) {
            return Some(at);
        }
        let mut blocked = false;
        written(&done[at], &mut |slot| blocked |= slots.contains(&slot));
        // A loop of its own may trade places of memory; nothing moves past it.
        if blocked || matches!(done[at], Step::Repeat(_)) {
            return None;
        }
    }
    None
}

fn overlap(steps: &mut Vec<Step>) {
    let mut at = 0;
    while at < steps.len() {
        if let Step::Exchange(exchange) = &steps[at]
            && exchange.during.is_none()
        {
            let slots: BTreeSet<SlotId> = exchange.parts.iter().map(|part| part.slot).collect();
            if let Some(next) = follower(steps, at, &slots) {
                let Step::Compute(compute) = steps.remove(next) else {
                    unreachable!("it is a loop")
                };
                if let Step::Exchange(exchange) = &mut steps[at] {
                    exchange.during = Some(compute);
                }
            }
        }
        at += 1;
    }
}

/// The first loop after an exchange that needs its halos, if nothing in between writes what it
/// reads.
fn follower(steps: &[Step], at: usize, slots: &BTreeSet<SlotId>) -> Option<usize> {
    for next in at + 1..steps.len() {
        if let Step::Compute(compute) = &steps[next]
            && compute.halos.iter().any(|slot| slots.contains(slot))
        {
            return alone(&steps[at + 1..next], compute, slots).then_some(next);
        }
        // Whoever needs the halos otherwise has to wait for them.
        let mut needs = false;
        read(&steps[next], &mut |slot| needs |= slots.contains(&slot));
        if needs || matches!(steps[next], Step::Repeat(_) | Step::Exchange(_)) {
            return None;
        }
    }
    None
}

/// True if a loop may run before these steps, and writes nothing that travels.
fn alone(between: &[Step], compute: &Compute, slots: &BTreeSet<SlotId>) -> bool {
    let mut mine: BTreeSet<SlotId> = compute
        .reads
        .iter()
        .filter_map(|read| match read {
            Read::Slot(slot, ..) => Some(*slot),
            Read::Index { .. } => None,
        })
        .collect();
    mine.extend(compute.pass_through.iter().map(|(_, from)| *from));
    let stores = compute
        .writes
        .iter()
        .all(|write| matches!(write, Write::Slot(slot, _) if !slots.contains(slot)));
    // What lies outside of the region is copied first, halos included: they have to be there.
    let mut free = stores && (compute.overcompute.is_empty() || compute.pass_through.is_empty());
    for step in between {
        written(step, &mut |slot| free &= !mine.contains(&slot));
    }
    free
}
