//! The last decisions: one exchange of halos per version of an array, and how much room each
//! needs.

use std::collections::{BTreeMap, BTreeSet};

use super::busy::Busy;
use super::place;
use super::steps::written;
use super::{Executable, LowerErrorKind, Lowering, Slot, SlotId, SlotInfo, Step, TripCount};
use pantile_ir::Type;

impl Lowering<'_> {
    /// Two slots that trade places get the same room.
    pub(crate) fn same_room(&mut self, one: SlotId, other: SlotId) {
        let (kept, gone) =
            (self.slots[one.index()].room_class, self.slots[other.index()].room_class);
        for slot in &mut self.slots {
            if slot.room_class == gone {
                slot.room_class = kept;
            }
        }
    }

    pub(crate) fn finish(
        &mut self,
        arguments: Vec<(SlotId, Type)>,
        results: Vec<(SlotId, Type)>,
    ) -> Result<Executable, LowerErrorKind> {
        let mut steps = std::mem::take(&mut self.steps);
        let mut computed = self.deepen(&mut steps);
        self.share(|slot| &mut slot.windows);
        self.room_like_arguments(&arguments, &results);
        self.share(|slot| &mut slot.room);
        let mut defined: BTreeSet<SlotId> = arguments.iter().map(|(slot, _)| *slot).collect();
        self.place_exchanges(&mut steps, &mut defined, &mut computed)?;
        let mut slots = Vec::new();
        for (number, info) in self.slots.iter().enumerate() {
            let room = info.all_room();
            let home = match room.iter().any(Option::is_some) {
                true => place::windowed(&info.home, &[], &room)?,
                false => info.home.clone(),
            };
            slots.push(Slot {
                dtype: info.dtype,
                home,
                buffer: number,
                name: format!("s{number}"),
            });
        }
        let buffers = slots.len();
        let lent = self.setting.lent.clone();
        let remote_reads = BTreeSet::new();
        let (ranks, busy) = (self.ranks, Busy::default());
        Ok(Executable {
            ranks,
            slots,
            buffers,
            arguments,
            results,
            lent,
            steps,
            remote_reads,
            busy,
        })
    }

    /// Results that live like an argument get its room: the next program often reads them as this
    /// one reads the argument, and then nothing has to be copied.
    fn room_like_arguments(&mut self, arguments: &[(SlotId, Type)], results: &[(SlotId, Type)]) {
        if self.setting.lent.is_none() {
            return;
        }
        for (result, _) in results {
            for (argument, _) in arguments {
                let (one, other) = (&self.slots[result.index()], &self.slots[argument.index()]);
                if one.dtype == other.dtype && one.home == other.home {
                    let (own, more) = (one.room.iter(), other.all_room());
                    let joined = own.zip(&more).map(|(own, more)| place::join(own, more)).collect();
                    self.slots[result.index()].room = joined;
                }
            }
        }
    }

    /// Windows (or room) of a class are those of all its members.
    fn share(&mut self, of: fn(&mut SlotInfo) -> &mut Vec<Option<place::Windows>>) {
        let mut joined: BTreeMap<SlotId, Vec<Option<place::Windows>>> = BTreeMap::new();
        for slot in &mut self.slots {
            let class = slot.room_class;
            let own = of(slot);
            let all = joined.entry(class).or_insert_with(|| vec![None; own.len()]);
            for (kept, windows) in all.iter_mut().zip(own) {
                *kept = place::join(kept, windows);
            }
        }
        for slot in &mut self.slots {
            let class = slot.room_class;
            of(slot).clone_from(&joined[&class]);
        }
    }

    /// Puts the exchange of a slot's halos before the first step that reads them, in the block
    /// where the slot is written. Those of `fresh` slots are there already.
    fn place_exchanges(
        &self,
        steps: &mut Vec<Step>,
        defined: &mut BTreeSet<SlotId>,
        fresh: &mut BTreeSet<SlotId>,
    ) -> Result<(), LowerErrorKind> {
        let mut placed = Vec::with_capacity(steps.len());
        for mut step in steps.drain(..) {
            let mut needed = Vec::new();
            halos_of(&step, &mut needed);
            for slot in needed {
                if defined.contains(&slot) && fresh.insert(slot) {
                    placed.push(Step::Exchange(Box::new(self.exchange(slot)?)));
                }
            }
            if let Step::Repeat(repeat) = &mut step {
                let mut inside = defined.clone();
                let mut known = fresh.clone();
                inside.extend(repeat.carried.iter().map(|carried| carried.current));
                if let TripCount::While { before, .. } = &mut repeat.turns {
                    self.place_exchanges(before, &mut inside, &mut known)?;
                }
                self.place_exchanges(&mut repeat.body, &mut inside, &mut known)?;
            }
            written(&step, &mut |slot| {
                defined.insert(slot);
            });
            placed.push(step);
        }
        *steps = placed;
        Ok(())
    }
}

/// Slots of which a step reads halos, loops included.
fn halos_of(step: &Step, found: &mut Vec<SlotId>) {
    match step {
        Step::Compute(compute) => found.extend(&compute.halos),
        Step::Repeat(repeat) => {
            if let TripCount::While { before, .. } = &repeat.turns {
                before.iter().for_each(|step| halos_of(step, found));
            }
            repeat.body.iter().for_each(|step| halos_of(step, found));
        }
        _ => {}
    }
}
