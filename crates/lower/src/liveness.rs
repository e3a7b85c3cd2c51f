//! Which arrays share memory: those that never matter at the same time.

use std::collections::{BTreeMap, BTreeSet};

use super::steps::{read, written};
use super::{Compute, Executable, IndexMap, Read, SlotId, Step, TripCount, Write};

/// From when to when the elements of a slot matter.
#[derive(Clone, Copy)]
struct Life {
    from: usize,
    to: usize,
}

/// A turn of a loop, by the numbers of steps: where it begins, and where it is known whether it goes
/// on.
struct Turn {
    begin: usize,
    decided: usize,
}

/// Lives of slots by the numbers of steps.
struct Lives<'a> {
    lives: BTreeMap<SlotId, Life>,
    clock: usize,
    /// Slots that may live on in the memory of another that ends when they begin.
    takeovers: BTreeMap<SlotId, Vec<SlotId>>,
    /// Slots of movements that others may read where they come from.
    remote_reads: &'a BTreeSet<SlotId>,
    /// What a loop may update in place.
    renewed: Vec<Renewed>,
}

/// What is for the next turn of a loop and what it then replaces, if that is not read any more in the
/// loop when the other begins: one memory will do.
struct Renewed {
    next: SlotId,
    current: SlotId,
    /// The end of the loop, where the current one may not be read behind it: a loop with a condition
    /// ends between the steps before the condition, which make the next one, and its body.
    until: Option<usize>,
}

impl Lives<'_> {
    fn define(&mut self, slot: SlotId, at: usize) {
        let life = self.lives.entry(slot).or_insert(Life { from: at, to: at });
        life.from = life.from.min(at);
        life.to = life.to.max(at);
    }

    fn touch(&mut self, slot: SlotId, at: usize) {
        let life = self.lives.entry(slot).or_insert(Life { from: 0, to: at });
        life.to = life.to.max(at);
    }

    fn steps(&mut self, steps: &[Step]) {
        let mut shown = None;
        for step in steps {
            self.clock += 1;
            let at = self.clock;
            // What others look at during a loop is not written in it.
            let seen: Option<SlotId> = shown.take();
            seen.into_iter().for_each(|slot| self.touch(slot, at));
            read(step, &mut |slot| self.touch(slot, at));
            match step {
                Step::Repeat(repeat) => {
                    let begin = self.clock;
                    for carried in &repeat.carried {
                        self.define(carried.current, begin);
                        self.takeovers.entry(carried.current).or_default().push(carried.initial);
                    }
                    if let TripCount::Count { counter, .. } = &repeat.turns {
                        self.define(*counter, begin);
                    }
                    if let TripCount::While { before, .. } = &repeat.turns {
                        self.steps(before);
                    }
                    let turn = Turn { begin, decided: self.clock };
                    self.steps(&repeat.body);
                    self.clock += 1;
                    self.turn_around(repeat, &turn, self.clock);
                }
                Step::Compute(compute) => {
                    self.take_over(compute, |from| Some(from) == seen);
                    written(step, &mut |slot| self.define(slot, at));
                }
                Step::Exchange(exchange) => {
                    // Halos travel while the loop runs.
                    let travels = |from| exchange.parts.iter().any(|part| part.slot == from);
                    if let Some(compute) = &exchange.during {
                        self.take_over(compute, |from| Some(from) == seen || travels(from));
                    }
                    written(step, &mut |slot| self.define(slot, at));
                }
                // What travels must not be written meanwhile: no slot takes over memory here.
                Step::Move(movement) => {
                    shown =
                        Some(movement.from).filter(|_| self.remote_reads.contains(&movement.to));
                    self.define(movement.to, at);
                }
                _ => written(step, &mut |slot| self.define(slot, at)),
            }
        }
    }

    /// Notes what may live on in the memory of what a loop reads, but for what must stay.
    fn take_over(&mut self, compute: &Compute, stays: impl Fn(SlotId) -> bool) {
        for (slot, from) in pointwise(compute) {
            if !stays(from) {
                self.takeovers.entry(slot).or_default().push(from);
            }
        }
    }

    /// What a loop uses of the world around it lives as long as the loop; what it carries too.
    fn turn_around(&mut self, repeat: &super::Repeat, turn: &Turn, end: usize) {
        let begin = turn.begin;
        for life in self.lives.values_mut() {
            if life.from < begin && life.to > begin {
                life.to = life.to.max(end);
            }
        }
        // What is for the next turn may be what is current for another slot.
        repeat.carried.iter().for_each(|one| self.touch(one.next, end));
        self.find_renewed(repeat, turn, end);
        let condition = match &repeat.turns {
            TripCount::While { condition, .. } => Some(*condition),
            TripCount::Count { counter, .. } => Some(*counter),
        };
        for slot in repeat.carried.iter().map(|one| one.current).chain(condition) {
            self.touch(slot, end);
            if let Some(life) = self.lives.get_mut(&slot)
                && repeat.carried.iter().any(|one| one.current == slot)
            {
                life.from = life.from.min(begin);
            }
        }
    }

    /// Finds what a loop carries and no step reads any more once what replaces it begins.
    fn find_renewed(&mut self, repeat: &super::Repeat, turn: &Turn, end: usize) {
        for one in &repeat.carried {
            let (Some(next), Some(current)) =
                (self.lives.get(&one.next), self.lives.get(&one.current))
            else {
                continue;
            };
            let handed = (self.takeovers.get(&one.next))
                .is_some_and(|heirs| heirs.contains(&one.current) && next.from == current.to);
            if next.from > turn.begin && (next.from > current.to || handed) {
                let until = (next.from <= turn.decided).then_some(end);
                let (next, current) = (one.next, one.current);
                self.renewed.push(Renewed { next, current, until });
            }
        }
    }
}

/// Slots that a loop stores and slots that it reads at the same places only, of the same type.
fn pointwise(compute: &Compute) -> Vec<(SlotId, SlotId)> {
    let same: Vec<IndexMap> = compute
        .region
        .iter()
        .enumerate()
        .map(|(axis, range)| IndexMap::Moves { axis, offset: range.offset, step: range.step })
        .collect();
    let shifted: BTreeSet<SlotId> = compute
        .reads
        .iter()
        .filter_map(|read| match read {
            Read::Slot(slot, _, access) if *access != same => Some(*slot),
            _ => None,
        })
        .collect();
    let mut sources: Vec<SlotId> = compute
        .reads
        .iter()
        .filter_map(|read| match read {
            Read::Slot(slot, ..) => Some(*slot),
            Read::Index { .. } => None,
        })
        .chain(compute.pass_through.iter().map(|(_, from)| *from))
        .filter(|slot| !shifted.contains(slot))
        .collect();
    sources.sort_unstable();
    sources.dedup();
    let targets = compute.writes.iter().filter_map(|write| match write {
        Write::Slot(slot, _) => Some(*slot),
        Write::Fold(..) => None,
    });
    let mut pairs = Vec::new();
    for target in targets {
        // Whoever has a background takes that one's memory or none.
        let passed = compute.pass_through.iter().find(|(slot, _)| *slot == target);
        match passed {
            Some((_, from)) if sources.contains(from) => pairs.push((target, *from)),
            Some(_) => {}
            None => pairs.extend(sources.iter().map(|source| (target, *source))),
        }
    }
    pairs
}

impl Executable {
    /// Gives slots that never live at the same time the same memory.
    pub fn share_memory(&mut self) {
        let (known, takeovers) = (BTreeMap::new(), BTreeMap::new());
        let (remote_reads, renewed) = (&self.remote_reads, Vec::new());
        let mut lives = Lives { lives: known, clock: 0, takeovers, remote_reads, renewed };
        for (slot, _) in &self.arguments {
            lives.define(*slot, 0);
        }
        lives.steps(&self.steps);
        for (slot, _) in &self.results {
            lives.touch(*slot, usize::MAX);
        }
        // Memory that callers want back is not shared.
        for ((slot, _), lent) in self.arguments.iter().zip(self.lent.iter().flatten()) {
            if !lent.spent {
                lives.touch(*slot, usize::MAX);
            }
        }
        let renewed = self.renew(&mut lives);
        let mut order: Vec<SlotId> = lives.lives.keys().copied().collect();
        order.sort_by_key(|slot| (lives.lives[slot].from, *slot));
        let mut memories: Vec<(String, usize, SlotId)> = Vec::new();
        for slot in order {
            // What it replaces began before it, and has its memory already.
            if let Some(current) = renewed.get(&slot) {
                self.slots[slot.index()].buffer = self.slots[current.index()].buffer;
                continue;
            }
            let life = lives.lives[&slot];
            let (key, complex) = (self.memory_key(slot), self.is_complex(slot));
            let heirs = lives.takeovers.get(&slot).cloned().unwrap_or_default();
            let free = memories.iter().position(|(other, until, last)| {
                let handed = *until == life.from && heirs.contains(last) && !complex;
                *other == key && (*until < life.from || handed)
            });
            let buffer = free.unwrap_or_else(|| {
                memories.push((key.clone(), 0, slot));
                memories.len() - 1
            });
            memories[buffer] = (key, life.to, slot);
            self.slots[slot.index()].buffer = buffer;
        }
        self.buffers = memories.len();
        // Slots that no step reads or writes are left: they get no memory of their own.
        for (number, slot) in self.slots.iter_mut().enumerate() {
            if !lives.lives.keys().any(|known| known.index() == number) {
                slot.buffer = usize::MAX;
            }
        }
    }

    /// What is for the next turn of a loop, with what it replaces in its memory; that lives as long
    /// as both then.
    fn renew(&self, lives: &mut Lives<'_>) -> BTreeMap<SlotId, SlotId> {
        let mut renewed = BTreeMap::new();
        for Renewed { next, current, until } in std::mem::take(&mut lives.renewed) {
            if until.is_some_and(|end| lives.lives[&current].to > end) {
                continue;
            }
            let fits = self.memory_key(next) == self.memory_key(current) && !self.is_complex(next);
            // No slot is renewed twice, and none is in two memories.
            let alone = !renewed.contains_key(&next) && !renewed.contains_key(&current);
            if fits && alone && !renewed.values().any(|other| *other == current || *other == next) {
                let to = lives.lives[&next].to;
                lives.touch(current, to);
                renewed.insert(next, current);
            }
        }
        renewed
    }

    /// Two lanes of a complex number are computed one after the other: not where they are read.
    fn is_complex(&self, slot: SlotId) -> bool {
        use pantile_lanes::DType::{C64, C128};
        matches!(self.slots[slot.index()].dtype, C64 | C128)
    }

    /// Slots with the same key have the same memory on every rank.
    fn memory_key(&self, slot: SlotId) -> String {
        let slot = &self.slots[slot.index()];
        format!("{} {}", slot.dtype, slot.home)
    }
}
