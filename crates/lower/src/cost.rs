//! What a program will cost, before anything runs.

use std::collections::BTreeSet;

use pantile_geometry::{Distribution, Rank};
use pantile_lanes::DType;
use pantile_plan::{Estimate, Machine, Plan, Terrain, Totals, route};

use super::{Compute, Contract, Executable, SlotId, Step, TripCount, Write};
use pantile_ir::Place;

/// Beyond so many ranks the messages of bundled exchanges are not listed one by one.
const LISTED: usize = 4096;

/// What a step does, and what it costs each time.
#[derive(Clone, Debug, PartialEq)]
pub struct StepCost {
    /// In words: `loop`, `exchange`, `fetch`, `redistribute`, `reduce`, ...
    pub what: &'static str,
    /// How often, if that is known.
    pub times: Option<u64>,
    /// How deep in loops.
    pub depth: usize,
    /// Elements computed by all ranks together.
    pub elements: u128,
    /// Operations per element.
    pub operations: usize,
    /// Arrays that are read, and written.
    pub arrays: (usize, usize),
    /// Bytes that change rank.
    pub bytes: u128,
    /// Messages between ranks.
    pub messages: u128,
    /// Predicted seconds.
    pub seconds: f64,
    /// What moves: distributions from and to.
    pub movements: Vec<(Distribution, Distribution, DType)>,
    /// Where it was written.
    pub place: Place,
}

/// What a program costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The steps in order; loops are flattened, see [`StepCost::times`].
    pub steps: Vec<StepCost>,
    /// Bytes that change rank; `None` if a loop's turns are not known.
    pub bytes: Option<u128>,
    /// Messages between ranks; `None` as above.
    pub messages: Option<u128>,
    /// Predicted seconds; `None` as above.
    pub seconds: Option<f64>,
    /// Memory of the rank that needs most, in bytes.
    pub peak: usize,
    /// That rank.
    pub peak_rank: Rank,
}

/// How fast one rank computes: operations and bytes of memory per second. Rough; only good for
/// comparing.
const OPERATIONS: f64 = 2e9;
const MEMORY: f64 = 8e9;
/// Operations per second of products of matrices.
const PRODUCTS: f64 = 2e10;

impl Executable {
    /// What the program costs on a machine whose ranks exchange over this terrain.
    ///
    /// # Errors
    /// None for executables that were lowered; the signature leaves it open.
    pub fn cost(&self, machine: &Machine, terrain: Terrain) -> Result<Cost, pantile_plan::Error> {
        let mut steps = Vec::new();
        self.add_costs(&self.steps, (Some(1), 0), (machine, terrain), &mut steps)?;
        let total = |one: &dyn Fn(&StepCost) -> u128| -> Option<u128> {
            steps.iter().map(|step| Some(one(step) * u128::from(step.times?))).sum()
        };
        #[allow(clippy::cast_precision_loss, reason = "an estimate")]
        let seconds = steps.iter().map(|step| Some(step.seconds * step.times? as f64)).sum();
        let (peak, peak_rank) = self.peak();
        Ok(Cost {
            bytes: total(&|step| step.bytes),
            messages: total(&|step| step.messages),
            seconds,
            peak,
            peak_rank,
            steps,
        })
    }

    /// Bytes that a rank needs: beside what callers lend, or with what they give to be copied.
    #[must_use]
    pub fn needed_bytes(&self, rank: Rank) -> usize {
        let bytes = |slot: SlotId, shape: Option<Vec<usize>>| {
            let elements = shape.map_or(0, |shape| shape.iter().product::<usize>());
            elements.saturating_mul(self.slots[slot.index()].dtype.bytes())
        };
        let mut needed = self.local_bytes(rank);
        for (number, (slot, _)) in self.arguments.iter().enumerate() {
            if self.lent.is_none() {
                let shape = self.local_owned(*slot, rank).map(|(shape, _)| shape);
                needed = needed.saturating_add(bytes(*slot, shape));
            } else if self.takes_directly(number, rank) {
                needed = needed.saturating_sub(bytes(*slot, self.local_shape(*slot, rank)));
            }
        }
        needed
    }

    /// True if ranks need nothing of each other.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        fn silent(steps: &[Step]) -> bool {
            steps.iter().all(|step| match step {
                Step::Move(_) | Step::Exchange(_) => false,
                Step::Repeat(repeat) => {
                    silent(&repeat.body)
                        && match &repeat.turns {
                            TripCount::While { before, .. } => silent(before),
                            TripCount::Count { .. } => true,
                        }
                }
                _ => true,
            })
        }
        self.ranks == 1 || silent(&self.steps)
    }

    /// True if the caller had best do it at once, rank after rank: the ranks need nothing of
    /// each other, and waking them up takes longer than the work.
    #[must_use]
    pub fn runs_inline(&self) -> bool {
        // One rank alone would do all of it anyway; but the caller wants to be asked now and then.
        let most = if self.ranks == 1 { 1 << 22 } else { 1 << 17 };
        self.is_silent() && self.work() <= most
    }

    /// Operations on elements, on all ranks together; elements that are moved or copied are
    /// operations, too. How many loops do is not known.
    #[must_use]
    pub fn work(&self) -> usize {
        let work = |step: &Step| match step {
            Step::Compute(compute) => {
                let sizes = compute.region.iter().map(|range| range.size);
                sizes.fold(1 + compute.body.operations(), usize::saturating_mul)
            }
            Step::Contract(step) => {
                step.domain.shape().iter().copied().fold(2, usize::saturating_mul)
            }
            Step::Repeat(_) => usize::MAX,
            _ => 0,
        };
        let loops = self.steps.iter().map(work).fold(0, usize::saturating_add);
        let length = |slot: &super::Slot| {
            slot.home.shape().iter().copied().fold(1usize, usize::saturating_mul)
        };
        self.slots.iter().map(length).fold(loops, usize::saturating_add)
    }

    /// Bytes of all its arrays, on all ranks together.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        let bytes = |slot: &super::Slot| {
            slot.home.shape().iter().copied().fold(slot.dtype.bytes(), usize::saturating_mul)
        };
        self.slots.iter().map(bytes).fold(0, usize::saturating_add)
    }

    /// Memory that a rank needs for its arrays, in bytes.
    #[must_use]
    pub fn local_bytes(&self, rank: Rank) -> usize {
        let mut sizes = vec![0usize; self.buffers];
        for slot in self.slots.iter().filter(|slot| slot.buffer < self.buffers) {
            let elements = slot.home.local_shape(rank).map_or(0, |shape| {
                shape.iter().fold(1usize, |size, length| size.saturating_mul(*length))
            });
            let bytes = elements.saturating_mul(slot.dtype.bytes());
            sizes[slot.buffer] = sizes[slot.buffer].max(bytes);
        }
        sizes.into_iter().fold(0, usize::saturating_add)
    }

    fn peak(&self) -> (usize, Rank) {
        let all = (0..self.ranks.min(LISTED)).map(|rank| (self.local_bytes(rank), rank));
        all.max_by_key(|(bytes, rank)| (*bytes, std::cmp::Reverse(*rank))).unwrap_or((0, 0))
    }

    fn add_costs(
        &self,
        steps: &[Step],
        (times, depth): (Option<u64>, usize),
        on: (&Machine, Terrain),
        costs: &mut Vec<StepCost>,
    ) -> Result<(), pantile_plan::Error> {
        let empty = |what: &'static str, place: &Place| StepCost {
            what,
            times,
            depth,
            elements: 0,
            operations: 0,
            arrays: (0, 0),
            bytes: 0,
            messages: 0,
            seconds: 0.0,
            movements: Vec::new(),
            place: place.clone(),
        };
        for step in steps {
            match step {
                Step::Compute(compute) => {
                    costs.push(self.loop_cost(compute, empty("loop", &compute.place)));
                }
                Step::Move(step) => {
                    let dtype = self.slots[step.from.index()].dtype;
                    let list = [(step.source.clone(), step.target.clone(), dtype)];
                    costs.push(movement_cost(&list, on, empty(step.name, &step.place))?);
                }
                Step::Exchange(step) => {
                    let list: Vec<_> = step
                        .parts
                        .iter()
                        .map(|part| {
                            let dtype = self.slots[part.slot.index()].dtype;
                            (part.source.clone(), part.target.clone(), dtype)
                        })
                        .collect();
                    costs.push(movement_cost(&list, on, empty("exchange", &step.place))?);
                    if let Some(compute) = &step.during {
                        costs.push(self.loop_cost(compute, empty("loop", &compute.place)));
                    }
                }
                Step::Finish(step) => costs.push(empty("finish", &step.place)),
                Step::Product(step) => costs.push(empty("product", &step.place)),
                Step::Contract(step) => {
                    costs.push(contract_cost(step, empty("contract", &step.place)));
                }
                Step::Reshape { .. } => costs.push(empty("reshape", &Place::default())),
                Step::Repeat(repeat) => {
                    let (turns, before) = match &repeat.turns {
                        TripCount::Count { turns, .. } => (*turns, &[][..]),
                        TripCount::While { before, .. } => (None, &before[..]),
                    };
                    let inner = times.zip(turns).map(|(times, turns)| times.saturating_mul(turns));
                    self.add_costs(before, (None, depth + 1), on, costs)?;
                    self.add_costs(&repeat.body, (inner, depth + 1), on, costs)?;
                }
            }
        }
        Ok(())
    }

    fn loop_cost(&self, compute: &Compute, empty: StepCost) -> StepCost {
        let copies: usize = {
            let free = compute.domain.free_mesh_axes();
            free.iter().map(|axis| compute.domain.mesh().shape()[*axis]).product()
        };
        let size: u128 = compute.region.iter().map(|range| range.size as u128).product();
        let elements = size * copies as u128;
        let stored = compute.writes.iter().filter(|write| matches!(write, Write::Slot(..))).count();
        let (reads, operations) = (compute.reads.len(), compute.body.operations());
        let workers = compute.domain.mesh().size().max(1);
        #[allow(clippy::cast_precision_loss, reason = "an estimate")]
        let each = elements as f64 / workers as f64;
        #[allow(clippy::cast_precision_loss, reason = "an estimate")]
        let seconds =
            each * (operations as f64 / OPERATIONS).max(8.0 * (reads + stored) as f64 / MEMORY);
        StepCost { elements, operations, arrays: (reads, stored), seconds, ..empty }
    }
}

/// The cost of a product: a term is two operations, read from caches.
fn contract_cost(step: &Contract, empty: StepCost) -> StepCost {
    let mesh = step.domain.mesh();
    let free = step.domain.free_mesh_axes();
    let copies: u128 = free.iter().map(|axis| mesh.shape()[*axis] as u128).product();
    let (terms, outputs) = step.domain.shape().split_last().unwrap_or((&0, &[]));
    let elements = outputs.iter().map(|length| *length as u128).product::<u128>() * copies;
    let operations = terms.saturating_mul(2);
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    let seconds = elements as f64 / mesh.size().max(1) as f64 * operations as f64 / PRODUCTS;
    StepCost { elements, operations, arrays: (2, 1), seconds, ..empty }
}

/// The cost of movements that run together.
fn movement_cost(
    list: &[(Distribution, Distribution, DType)],
    (machine, terrain): (&Machine, Terrain),
    empty: StepCost,
) -> Result<StepCost, pantile_plan::Error> {
    let mut cost = StepCost { movements: list.to_vec(), ..empty };
    let routes: Vec<Vec<Distribution>> =
        list.iter().map(|(source, target, dtype)| taken(source, target, *dtype, terrain)).collect();
    let together =
        !terrain.windows && list.len() > 1 && routes.iter().all(|one| one.len() == routes[0].len());
    for (path, (_, _, dtype)) in routes.iter().zip(list) {
        for pair in path.windows(2) {
            let totals = Totals::between(&pair[0], &pair[1])?;
            cost.bytes += totals.moved * dtype.bytes() as u128;
            cost.messages += totals.messages;
            let estimate = Estimate::between((&pair[0], &pair[1]), machine, dtype.bytes(), 16)?;
            cost.seconds += estimate.seconds;
        }
    }
    if together {
        // Every part of a bundled message starts at a multiple of 16 bytes.
        let (messages, bytes) = bundled(&routes, list)?;
        (cost.messages, cost.bytes) = (messages, bytes);
    }
    Ok(cost)
}

/// The way that a movement takes.
fn taken(
    source: &Distribution,
    target: &Distribution,
    dtype: DType,
    terrain: Terrain,
) -> Vec<Distribution> {
    let path = route(source, target, dtype.bytes(), terrain);
    let exists = path.windows(2).all(|pair| Totals::between(&pair[0], &pair[1]).is_ok());
    if exists { path } else { vec![source.clone(), target.clone()] }
}

fn bundled(
    routes: &[Vec<Distribution>],
    list: &[(Distribution, Distribution, DType)],
) -> Result<(u128, u128), pantile_plan::Error> {
    let (mut messages, mut bytes) = (0, 0);
    for step in 1..routes[0].len() {
        let mut pairs: BTreeSet<(Rank, Rank)> = BTreeSet::new();
        let mut sizes: std::collections::BTreeMap<(Rank, Rank), usize> = Default::default();
        for (path, (_, _, dtype)) in routes.iter().zip(list) {
            let plan = Plan::between(&path[step - 1], &path[step])?;
            for (pair, elements) in plan.matrix() {
                if pair.0 != pair.1 && elements > 0 {
                    pairs.insert(pair);
                    let size = sizes.entry(pair).or_insert(0);
                    *size = size.next_multiple_of(16) + elements * dtype.bytes();
                }
            }
        }
        messages += pairs.len() as u128;
        bytes += sizes.values().map(|size| *size as u128).sum::<u128>();
    }
    Ok((messages, bytes))
}
