//! Halos that are computed rather than exchanged: several steps in time for one exchange.
//!
//! A rank that has a wide halo of an array computes from it not only what it owns of the next one
//! but a halo of that too, narrower by what the step reaches, and so on. Elements near the edges are
//! computed by several ranks, each to the same bits; messages are fewer by as many times.

use std::collections::{BTreeMap, BTreeSet};

use super::place::{self, Windows};
use super::{Compute, IndexMap, Lowering, Read, SlotId, Step, TripCount, Write};

impl Lowering<'_> {
    /// Lets loops compute the halos of what they store, as far as the setting asks for; gives the
    /// slots whose halos are there without an exchange.
    pub(super) fn deepen(&mut self, steps: &mut [Step]) -> BTreeSet<SlotId> {
        let mut computed = BTreeSet::new();
        if self.setting.steps_per_exchange > 1 {
            self.deepen_block(steps, &mut computed);
        }
        computed
    }

    /// The steps of a block from the last to the first, those of loops in their place: who reads a halo
    /// comes after who stores it, and what it needs is known before what that needs in turn.
    fn deepen_block(&mut self, steps: &mut [Step], computed: &mut BTreeSet<SlotId>) {
        let chained: BTreeMap<usize, SlotId> = self.chained(steps).into_iter().collect();
        for (at, step) in steps.iter_mut().enumerate().rev() {
            match step {
                Step::Repeat(repeat) => {
                    self.deepen_block(&mut repeat.body, computed);
                    if let TripCount::While { before, .. } = &mut repeat.turns {
                        self.deepen_block(before, computed);
                    }
                }
                Step::Compute(compute) => {
                    let Some(slot) = chained.get(&at) else { continue };
                    let asked = self.slots[slot.index()].windows.iter().any(Option::is_some);
                    if asked && self.widen(compute, *slot) {
                        computed.insert(*slot);
                    }
                }
                _ => {}
            }
        }
    }

    /// The loops of a block whose halos may be computed, in order, with what they store: all but
    /// every n-th of those that need the halos of each other.
    fn chained(&self, steps: &[Step]) -> Vec<(usize, SlotId)> {
        let mut links: BTreeMap<SlotId, usize> = BTreeMap::new();
        let mut found = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let Step::Compute(compute) = step else { continue };
            let Some(slot) = only_slot(compute) else { continue };
            let link = |slot: &SlotId| links.get(slot).copied().unwrap_or(0);
            let reads = compute.reads.iter().filter_map(|read| match read {
                Read::Slot(slot, ..) => Some(link(slot)),
                Read::Index { .. } => None,
            });
            let near = reads.chain(compute.pass_through.iter().map(|(_, from)| link(from))).max();
            let next = match compute.halos.iter().map(link).max() {
                Some(before) => (before + 1) % self.setting.steps_per_exchange,
                None => near.unwrap_or(0),
            };
            // What is made of nothing can be made anywhere.
            if (next > 0 || near.is_none()) && self.can_widen(compute) {
                links.insert(slot, next);
                found.push((at, slot));
            }
        }
        found
    }

    /// True if a loop can compute more than ranks own: everything it reads lies beside it.
    fn can_widen(&self, compute: &Compute) -> bool {
        let (axes, mesh) = (place::axes(&compute.domain), compute.domain.mesh());
        let even = axes
            .iter()
            .zip(&compute.region)
            .all(|(map, range)| place::is_block(map) && (place::is_whole(map) || range.step == 1));
        even && compute.reads.iter().all(|read| {
            let Read::Slot(slot, _, access) = read else { return true };
            let home = &self.slots[slot.index()].home;
            let maps = place::axes(home);
            if maps.iter().all(place::is_whole) {
                return place::windows_of(home).iter().all(Option::is_none);
            }
            // A copy of a part has no more than was asked for.
            place::same_mesh(home.mesh(), mesh)
                && place::windows_of(home).iter().all(Option::is_none)
                && maps.iter().zip(access).all(|(map, index_map)| match index_map {
                    _ if place::is_whole(map) => true,
                    IndexMap::Moves { axis, .. } => {
                        place::is_block(map) && map.over() == axes[*axis].over()
                    }
                    IndexMap::Fixed(_) => false,
                })
        })
    }

    /// Lets a loop compute all that is asked for of what it stores; false if that is too far away.
    fn widen(&mut self, compute: &mut Compute, slot: SlotId) -> bool {
        let axes = place::axes(&compute.domain);
        let windows = &self.slots[slot.index()].windows;
        let overcompute: Vec<Option<Windows>> = windows
            .iter()
            .zip(axes)
            .map(|(windows, map)| {
                let owned = (0..map.parts()).map(|at| place::owned(map, at)).collect();
                windows.as_ref().and_then(|_| place::join(windows, &Some(owned)))
            })
            .collect();
        let mut wanted: Vec<(SlotId, Vec<Option<Windows>>)> = Vec::new();
        for read in &compute.reads {
            let Read::Slot(from, _, access) = read else { continue };
            let maps = place::axes(&self.slots[from.index()].home);
            let mut all = Vec::new();
            for (map, index_map) in maps.iter().zip(access) {
                let IndexMap::Moves { axis, .. } = index_map else {
                    all.push(None);
                    continue;
                };
                if place::is_whole(map) {
                    all.push(None);
                    continue;
                }
                let by = (&axes[*axis], compute.region[*axis], overcompute[*axis].as_ref());
                let Some(windows) = place::beside(map, *index_map, by) else { return false };
                all.push(Some(windows));
            }
            wanted.push((*from, all));
        }
        // What is outside of the region comes from there, in the halo as well.
        wanted.extend(compute.pass_through.iter().map(|(_, from)| (*from, overcompute.clone())));
        compute.overcompute = overcompute;
        for (from, windows) in wanted {
            if self.request(from, windows) && !compute.halos.contains(&from) {
                compute.halos.push(from);
            }
        }
        true
    }
}

/// The slot that a loop stores, if it does nothing else.
fn only_slot(compute: &Compute) -> Option<SlotId> {
    let mut slots = compute.writes.iter().map(|write| match write {
        Write::Slot(slot, _) => Some(*slot),
        Write::Fold(..) => None,
    });
    let first = slots.next()??;
    slots.all(|slot| slot == Some(first)).then_some(first)
}
