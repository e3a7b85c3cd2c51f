//! What steps read and write.

use super::{Compute, Read, SlotId, Step, TripCount};

/// Calls `f` with every slot that a step writes.
pub(crate) fn written(step: &Step, f: &mut dyn FnMut(SlotId)) {
    match step {
        Step::Compute(compute) => compute_writes(compute, f),
        Step::Move(step) => f(step.to),
        Step::Exchange(exchange) => {
            if let Some(compute) = &exchange.during {
                compute_writes(compute, f);
            }
        }
        Step::Finish(step) => f(step.to),
        Step::Product(step) => f(step.to),
        Step::Contract(step) => f(step.to),
        Step::Reshape { to, .. } => f(*to),
        Step::Repeat(repeat) => {
            repeat.carried.iter().for_each(|carried| f(carried.current));
            if let TripCount::Count { counter, .. } = &repeat.turns {
                f(*counter);
            }
            if let TripCount::While { before, .. } = &repeat.turns {
                before.iter().for_each(|step| written(step, f));
            }
            repeat.body.iter().for_each(|step| written(step, f));
        }
    }
}

/// Calls `f` with every slot that a step reads by itself, not in its blocks.
pub(crate) fn read(step: &Step, f: &mut dyn FnMut(SlotId)) {
    match step {
        Step::Compute(compute) => compute_reads(compute, f),
        Step::Move(step) => f(step.from),
        Step::Exchange(exchange) => {
            exchange.parts.iter().for_each(|part| f(part.slot));
            if let Some(compute) = &exchange.during {
                compute_reads(compute, f);
            }
        }
        Step::Finish(step) => f(step.from),
        Step::Product(step) => f(step.from),
        Step::Contract(step) => step.reads.iter().for_each(|(slot, _)| f(*slot)),
        Step::Reshape { from, .. } => f(*from),
        Step::Repeat(repeat) => {
            repeat.carried.iter().for_each(|carried| f(carried.initial));
            if let TripCount::Count { lower, upper, step, .. } = &repeat.turns {
                [lower, upper, step].into_iter().for_each(|slot| f(*slot));
            }
        }
    }
}

fn compute_writes(compute: &Compute, f: &mut dyn FnMut(SlotId)) {
    compute.stored().for_each(f);
}

fn compute_reads(compute: &Compute, f: &mut dyn FnMut(SlotId)) {
    for read in &compute.reads {
        if let Read::Slot(slot, ..) = read {
            f(*slot);
        }
    }
    compute.pass_through.iter().for_each(|(_, from)| f(*from));
}
