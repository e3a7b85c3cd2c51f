//! Elements that one loop alone reads: ranks that see each other's memory need no copies of them.

use std::collections::{BTreeMap, BTreeSet};

use pantile_geometry::{Distribution, Rank};

use super::local::{LocalLoop, LocalRead, Memory, Run, box_runs};
use super::steps::read;
use super::{Compute, Executable, IndexMap, Move, Read, SlotId, Step, TripCount, Write, place};

impl Executable {
    /// Finds movements whose elements only the loop right behind them reads, and does not fold:
    /// there ranks that see each other's memory may read them where they are. That memory is not
    /// written until the loop is done.
    pub fn read_remotely(&mut self) {
        let mut readers: BTreeMap<SlotId, usize> = BTreeMap::new();
        count(&self.steps, &mut readers);
        self.results.iter().for_each(|(slot, _)| *readers.entry(*slot).or_default() += 1);
        let mut remote_reads = BTreeSet::new();
        find(&self.steps, &readers, &mut remote_reads);
        self.remote_reads = remote_reads;
    }

    /// The boxes that a rank computes of a loop behind a movement: each reads what was to be moved
    /// in the memory of one rank, the one that owns it. `None` if it takes more than that.
    #[must_use]
    pub fn local_remote_reads(
        &self,
        compute: &Compute,
        movement: &Move,
        rank: Rank,
    ) -> Option<Vec<(Rank, LocalLoop)>> {
        let Some(runs) = self.runs(compute, rank) else { return Some(Vec::new()) };
        let mut own = Vec::new();
        for list in &runs {
            let [Run { first, step: 1, count, .. }] = list[..] else { return None };
            own.push((first, first + i64::try_from(count).ok()?));
        }
        let mut accesses = compute.reads.iter().filter_map(|read| match read {
            Read::Slot(slot, _, access) if *slot == movement.to => Some(access),
            _ => None,
        });
        let access = accesses.next()?;
        if accesses.any(|other| other != access) {
            return None;
        }
        let home = &self.slots[movement.from.index()].home;
        // Where indices are dealt out, those of a rank are no box.
        let mut axes = place::axes(home).iter().chain(place::axes(&compute.domain));
        let blocks = axes.all(place::is_block);
        if !blocks || !home.free_mesh_axes().is_empty() {
            return None;
        }
        let (mut boxes, mut covered) = (Vec::new(), 0);
        for peer in home.mesh().ranks() {
            let part = owned_by(home, peer, access, &own)?;
            let size: usize = part.iter().map(|(from, to)| to.saturating_sub(*from)).product();
            if size > 0 {
                covered += size;
                boxes.push((peer, self.looking(compute, movement, (rank, peer), &part)?));
            }
        }
        let all: usize = runs.iter().map(|list| list[0].count).product();
        (covered == all).then_some(boxes)
    }

    /// A box of a loop that reads what was to be moved where a peer has it.
    fn looking(
        &self,
        compute: &Compute,
        movement: &Move,
        (rank, peer): (Rank, Rank),
        part: &[(usize, usize)],
    ) -> Option<LocalLoop> {
        let runs = box_runs(part);
        let mut one = self.local_loop(compute, rank, &runs)?;
        let memory = Memory::new(&self.slots[movement.from.index()].home, peer)?;
        for (local, read) in one.reads.iter_mut().zip(&compute.reads) {
            if let (LocalRead::Slot(_, _, places), Read::Slot(slot, _, access)) = (local, read)
                && *slot == movement.to
            {
                *places = memory.places(access, &runs)?;
            }
        }
        Some(one)
    }
}

/// The part of a loop that reads, in this way, what a rank owns; `None` if that is no box.
fn owned_by(
    home: &Distribution,
    rank: Rank,
    access: &[IndexMap],
    own: &[(i64, i64)],
) -> Option<Vec<(usize, usize)>> {
    let mut part = own.to_vec();
    for (axis, (map, index_map)) in place::axes(home).iter().zip(access).enumerate() {
        let (low, high) = place::owned(map, home.coordinate(rank, axis)?);
        match index_map {
            IndexMap::Fixed(index) if (low..high).contains(index) => {}
            IndexMap::Fixed(_) => part.iter_mut().for_each(|range| range.1 = range.0),
            IndexMap::Moves { axis: by, offset, step } if *step > 0 => {
                // offset + step * k is from `low` on, and below `high`.
                let first = |bound: i64| -(offset - bound).div_euclid(*step);
                let (from, to) = part[*by];
                part[*by] = (from.max(first(low)), to.min(first(high)));
            }
            IndexMap::Moves { .. } => return None,
        }
    }
    part.iter()
        .map(|(from, to)| {
            Some((usize::try_from(*from).ok()?, usize::try_from((*to).max(*from)).ok()?))
        })
        .collect()
}

/// Counts how many steps read a slot.
fn count(steps: &[Step], readers: &mut BTreeMap<SlotId, usize>) {
    for step in steps {
        let mut own = BTreeSet::new();
        read(step, &mut |slot| {
            own.insert(slot);
        });
        if let Step::Repeat(repeat) = step {
            own.extend(repeat.carried.iter().map(|carried| carried.next));
            if let TripCount::While { before, condition } = &repeat.turns {
                own.insert(*condition);
                count(before, readers);
            }
            count(&repeat.body, readers);
        }
        own.into_iter().for_each(|slot| *readers.entry(slot).or_default() += 1);
    }
}

fn find(steps: &[Step], readers: &BTreeMap<SlotId, usize>, remote_reads: &mut BTreeSet<SlotId>) {
    for (place, step) in steps.iter().enumerate() {
        match (step, steps.get(place + 1)) {
            (Step::Move(movement), Some(Step::Compute(compute))) => {
                let reads = compute
                    .reads
                    .iter()
                    .any(|read| matches!(read, Read::Slot(slot, ..) if *slot == movement.to));
                let stores = compute.writes.iter().all(|write| matches!(write, Write::Slot(..)));
                let alone = readers.get(&movement.to) == Some(&1);
                // A background is copied as a whole, also where the loop computes nothing.
                let copied = compute.pass_through.iter().any(|(_, from)| *from == movement.to);
                if reads && stores && alone && !copied && !movement.source.has_terms() {
                    remote_reads.insert(movement.to);
                }
            }
            (Step::Repeat(repeat), _) => {
                if let TripCount::While { before, .. } = &repeat.turns {
                    find(before, readers, remote_reads);
                }
                find(&repeat.body, readers, remote_reads);
            }
            _ => {}
        }
    }
}
