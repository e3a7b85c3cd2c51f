//! One rank's share of a step: boxes of its own memory.

use pantile_geometry::{AxisMap, Distribution, Rank};

use super::place;
use super::{Compute, Executable, IndexMap, Lent, Part, Read, SlotId, StridedRange, Write};

/// Where an array lies in the memory of one rank: `offset + sum(strides * k)`, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The element for `k = 0`.
    pub offset: isize,
    /// Per axis of the loop.
    pub strides: Vec<isize>,
}

/// An input of a loop on one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalRead {
    /// Elements of a slot.
    Slot(SlotId, Part, Places),
    /// `start + sum(strides * k)`.
    Index(i64, Vec<i64>),
}

/// An output of a loop on one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalWrite {
    /// Elements of a slot; of a fold those that are left, with strides 0 along reduced axes.
    Slot(SlotId, Part, Places),
}

/// A box of elements that one rank computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalLoop {
    /// Lengths of the loop.
    pub shape: Vec<usize>,
    /// The inputs of the body.
    pub reads: Vec<LocalRead>,
    /// The outputs of the body.
    pub writes: Vec<LocalWrite>,
}

/// A box that is copied as it is from one slot to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCopy {
    /// Lengths of the box.
    pub shape: Vec<usize>,
    /// From here.
    pub from: (SlotId, Places),
    /// To here.
    pub to: (SlotId, Places),
}

/// Indices of a loop that one rank has, as far as they are evenly spaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first `k`.
    pub(super) first: i64,
    /// The distance between `k`s.
    pub(super) step: i64,
    /// Where the first one lies among those that the rank has.
    local: usize,
    /// How many.
    pub(super) count: usize,
}

/// The memory of one slot on one rank.
pub(super) struct Memory<'a> {
    home: &'a Distribution,
    coordinates: Vec<usize>,
    strides: Vec<isize>,
}

impl Executable {
    /// The shape of a slot's memory on a rank; `None` if it has none.
    #[must_use]
    pub fn local_shape(&self, slot: SlotId, rank: Rank) -> Option<Vec<usize>> {
        self.slots[slot.index()].home.local_shape(rank)
    }

    /// Where the elements of a slot live, without the room around them.
    #[must_use]
    pub fn plain_home(&self, slot: SlotId) -> Distribution {
        let home = &self.slots[slot.index()].home;
        place::plain(home).unwrap_or_else(|_| home.clone())
    }

    fn memory(&self, slot: SlotId, rank: Rank) -> Option<Memory<'_>> {
        Memory::new(&self.slots[slot.index()].home, rank)
    }

    /// The boxes that a rank computes.
    #[must_use]
    pub fn local_loops(&self, compute: &Compute, rank: Rank) -> Vec<LocalLoop> {
        let Some(runs) = self.runs(compute, rank) else { return Vec::new() };
        let mut loops = Vec::new();
        each_product(&runs, &mut |runs| {
            if let Some(one) = self.local_loop(compute, rank, runs) {
                loops.push(one);
            }
        });
        loops
    }

    /// The boxes that a rank computes: those that read of `halos` only what the rank owns, and the
    /// others.
    #[must_use]
    pub fn local_core(
        &self,
        compute: &Compute,
        halos: &[SlotId],
        rank: Rank,
    ) -> (Vec<LocalLoop>, Vec<LocalLoop>) {
        let Some(runs) = self.runs(compute, rank) else { return (Vec::new(), Vec::new()) };
        if runs.iter().any(|list| list.len() != 1 || list[0].count == 0 || list[0].step != 1) {
            // Nothing is near anything where indices are dealt out.
            return (Vec::new(), self.local_loops(compute, rank));
        }
        let own: Vec<(usize, usize)> = runs
            .iter()
            .map(|list| {
                let first = usize::try_from(list[0].first).unwrap_or(0);
                (first, first + list[0].count)
            })
            .collect();
        let core = self.core(compute, halos, rank, &own);
        let local = |one: &Vec<(usize, usize)>| self.local_loop(compute, rank, &box_runs(one));
        let empty = core.iter().any(|(from, to)| from >= to);
        let inner = if empty { Vec::new() } else { local(&core).into_iter().collect() };
        (inner, around(&own, &core).iter().filter_map(local).collect())
    }

    /// The indices of the loop whose reads of `halos` stay with what the rank owns.
    fn core(
        &self,
        compute: &Compute,
        halos: &[SlotId],
        rank: Rank,
        own: &[(usize, usize)],
    ) -> Vec<(usize, usize)> {
        let mut core = own.to_vec();
        for read in &compute.reads {
            let Read::Slot(slot, _, access) = read else { continue };
            if !halos.contains(slot) {
                continue;
            }
            let home = &self.slots[slot.index()].home;
            for (axis, (map, index_map)) in place::axes(home).iter().zip(access).enumerate() {
                let IndexMap::Moves { axis: by, offset, step } = index_map else { continue };
                if !place::is_block(map) || place::is_whole(map) {
                    continue;
                }
                let coordinate = home.coordinate(rank, axis).unwrap_or(0);
                let (low, high) = place::owned(map, coordinate);
                let inside = |k: usize| {
                    let index = offset + step * i64::try_from(k).unwrap_or(i64::MAX);
                    (low..high).contains(&index)
                };
                // Reads are evenly spaced: what is inside is one interval.
                let (mut from, mut to) = core[*by];
                while from < to && !inside(from) {
                    from += 1;
                }
                while to > from && !inside(to - 1) {
                    to -= 1;
                }
                core[*by] = (from, to);
            }
        }
        core
    }

    /// Per axis of the loop, the runs that a rank has; `None` if it is idle.
    pub(super) fn runs(&self, compute: &Compute, rank: Rank) -> Option<Vec<Vec<Run>>> {
        compute.domain.mesh().position_of(rank)?;
        let axes = place::axes(&compute.domain).iter().enumerate();
        let runs = axes.map(|(axis, map)| {
            let coordinate = compute.domain.coordinate(rank, axis).unwrap_or(0);
            let range = compute.region[axis];
            if place::is_block(map) {
                let overcompute = compute.overcompute.get(axis).and_then(Option::as_ref);
                let (from, to) = place::part_overcomputed(map, coordinate, range, overcompute);
                let first = i64::try_from(from).unwrap_or(i64::MAX);
                return vec![Run { first, step: 1, local: from, count: to - from }];
            }
            if self.looks_at(compute, axis) {
                even_runs(map, coordinate)
            } else {
                vec![Run { first: 0, step: 1, local: 0, count: map.local_length(coordinate) }]
            }
        });
        Some(runs.collect())
    }

    /// True if the loop has to know the global index along an axis that is dealt out.
    fn looks_at(&self, compute: &Compute, axis: usize) -> bool {
        compute.reads.iter().any(|read| match read {
            Read::Index { strides, .. } => strides[axis] != 0,
            Read::Slot(slot, _, access) => {
                let maps = place::axes(&self.slots[slot.index()].home);
                access.iter().zip(maps).any(|(index_map, map)| {
                    matches!(index_map, IndexMap::Moves { axis: by, .. } if *by == axis)
                        && place::is_block(map)
                })
            }
        })
    }

    pub(super) fn local_loop(
        &self,
        compute: &Compute,
        rank: Rank,
        runs: &[Run],
    ) -> Option<LocalLoop> {
        let shape: Vec<usize> = runs.iter().map(|run| run.count).collect();
        if shape.contains(&0) {
            return None;
        }
        let mut reads = Vec::new();
        for read in &compute.reads {
            reads.push(match read {
                Read::Index { offset, strides } => {
                    let start = strides
                        .iter()
                        .zip(runs)
                        .fold(*offset, |sum, (stride, run)| sum + stride * run.first);
                    let strides = strides.iter().zip(runs).map(|(stride, run)| stride * run.step);
                    LocalRead::Index(start, strides.collect())
                }
                Read::Slot(slot, part, access) => {
                    let places = self.memory(*slot, rank)?.places(access, runs)?;
                    LocalRead::Slot(*slot, *part, places)
                }
            });
        }
        let mut writes = Vec::new();
        for write in &compute.writes {
            writes.push(match write {
                Write::Slot(slot, part) => {
                    let access = stored_at(&compute.region);
                    LocalWrite::Slot(*slot, *part, self.memory(*slot, rank)?.places(&access, runs)?)
                }
                Write::Fold(_, slot, at) => {
                    let memory = self.memory(*slot, rank)?;
                    let mut access: Vec<IndexMap> = match at {
                        Some(at) => {
                            at.iter().map(|at| IndexMap::Fixed(at.cast_signed() as i64)).collect()
                        }
                        None => (0..runs.len())
                            .filter(|axis| !compute.reduced.contains(axis))
                            .map(|axis| IndexMap::Moves { axis, offset: 0, step: 1 })
                            .collect(),
                    };
                    // Sums in long form start at their first word.
                    access.resize(memory.strides.len(), IndexMap::Fixed(0));
                    LocalWrite::Slot(*slot, Part::Whole, memory.places(&access, runs)?)
                }
            });
        }
        Some(LocalLoop { shape, reads, writes })
    }

    /// What has to be copied so that `to` has the elements of `from` outside of a region.
    #[must_use]
    pub fn local_background(
        &self,
        compute: &Compute,
        (to, from): (SlotId, SlotId),
        rank: Rank,
    ) -> Vec<LocalCopy> {
        let axes = place::axes(&compute.domain);
        let own = axes.iter().enumerate().map(|(axis, map)| {
            let coordinate = compute.domain.coordinate(rank, axis).unwrap_or(0);
            match place::is_block(map) {
                true => {
                    let length = map.length();
                    let all = super::StridedRange { offset: 0, step: 1, size: length };
                    let overcompute = compute.overcompute.get(axis).and_then(Option::as_ref);
                    place::part_overcomputed(map, coordinate, all, overcompute)
                }
                false => (0, map.local_length(coordinate)),
            }
        });
        let own: Vec<(usize, usize)> = own.collect();
        let (Some(_), true) =
            (compute.domain.mesh().position_of(rank), own.iter().all(|(from, to)| from < to))
        else {
            return Vec::new();
        };
        let inner = compute.region.iter().enumerate().map(|(axis, range)| {
            let offset = usize::try_from(range.offset).unwrap_or(0);
            match place::is_block(&axes[axis]) {
                true => (
                    offset.clamp(own[axis].0, own[axis].1),
                    (offset + range.size).clamp(own[axis].0, own[axis].1),
                ),
                false => own[axis],
            }
        });
        let inner: Vec<(usize, usize)> = inner.collect();
        let gaps = compute.region.iter().any(|range| range.step != 1);
        let boxes = if gaps { vec![own] } else { around(&own, &inner) };
        boxes.into_iter().filter_map(|one| self.copy_of(&one, to, from, rank)).collect()
    }

    /// The elements that a rank owns of a slot, as a box of its memory.
    #[must_use]
    pub fn local_owned(&self, slot: SlotId, rank: Rank) -> Option<(Vec<usize>, Places)> {
        owned_places(&self.slots[slot.index()].home, rank)
    }

    /// How a caller lends an argument, if it does.
    #[must_use]
    pub fn lent(&self, argument: usize) -> Option<&Lent> {
        self.lent.as_ref()?.get(argument)
    }

    /// True if an argument is not needed afterwards.
    #[must_use]
    pub fn spends(&self, argument: usize) -> bool {
        self.lent(argument).is_some_and(|lent| lent.spent)
    }

    /// True if a rank reads an argument where the caller has it.
    #[must_use]
    pub fn takes_directly(&self, argument: usize, rank: Rank) -> bool {
        let Some(lent) = self.lent(argument) else { return false };
        let slot = self.arguments[argument].0;
        self.local_shape(slot, rank) == lent.home.local_shape(rank)
            && self.local_owned(slot, rank) == owned_places(&lent.home, rank)
    }

    fn copy_of(
        &self,
        own: &[(usize, usize)],
        to: SlotId,
        from: SlotId,
        rank: Rank,
    ) -> Option<LocalCopy> {
        let shape: Vec<usize> = own.iter().map(|(from, to)| to - from).collect();
        if shape.contains(&0) {
            return None;
        }
        let (access, runs) = (identity_of(own), box_runs(own));
        let from = (from, self.memory(from, rank)?.places(&access, &runs)?);
        let to = (to, self.memory(to, rank)?.places(&access, &runs)?);
        Some(LocalCopy { shape, from, to })
    }
}

/// The elements that a rank owns of an array that lives so, as a box of its memory; `None` if there
/// are none.
#[must_use]
pub fn owned_places(home: &Distribution, rank: Rank) -> Option<(Vec<usize>, Places)> {
    let memory = Memory::new(home, rank)?;
    let axes = place::axes(memory.home).iter().enumerate();
    let own = axes.map(|(axis, map)| match place::is_block(map) {
        true => map.owned(memory.coordinates[axis]),
        false => (0, map.local_length(memory.coordinates[axis])),
    });
    let own: Vec<(usize, usize)> = own.collect();
    let shape: Vec<usize> = own.iter().map(|(from, to)| to - from).collect();
    if shape.contains(&0) {
        return None;
    }
    Some((shape, memory.places(&identity_of(&own), &box_runs(&own))?))
}

impl<'a> Memory<'a> {
    /// What a rank has of an array that lives so; `None` if it is outside of the mesh.
    pub(super) fn new(home: &'a Distribution, rank: Rank) -> Option<Self> {
        let shape = home.local_shape(rank)?;
        let mut strides = vec![1isize; shape.len()];
        for axis in (0..shape.len().saturating_sub(1)).rev() {
            strides[axis] =
                strides[axis + 1] * isize::try_from(shape[axis + 1]).unwrap_or(isize::MAX);
        }
        let coordinates =
            (0..shape.len()).map(|axis| home.coordinate(rank, axis).unwrap_or(0)).collect();
        Some(Self { home, coordinates, strides })
    }

    /// Where the elements of a box lie that is read in this way.
    pub(super) fn places(&self, access: &[IndexMap], runs: &[Run]) -> Option<Places> {
        let mut places = Places { offset: 0, strides: vec![0; runs.len()] };
        for (axis, index_map) in access.iter().enumerate() {
            let map = &place::axes(self.home)[axis];
            let stride = self.strides[axis];
            let (first, by) = match index_map {
                IndexMap::Fixed(index) => (self.local(map, axis, *index)?, None),
                IndexMap::Moves { axis: by, offset, step } if place::is_block(map) => {
                    let run = &runs[*by];
                    (
                        self.local(map, axis, offset + step * run.first)?,
                        Some((*by, step * run.step)),
                    )
                }
                IndexMap::Moves { axis: by, .. } => {
                    (isize::try_from(runs[*by].local).ok()?, Some((*by, 1)))
                }
            };
            places.offset += stride * first;
            if let Some((by, step)) = by {
                places.strides[by] += stride * isize::try_from(step).ok()?;
            }
        }
        Some(places)
    }

    /// The place of an index along an axis.
    fn local(&self, map: &AxisMap, axis: usize, index: i64) -> Option<isize> {
        if !place::is_block(map) {
            let place = map.local(self.coordinates[axis], 0, usize::try_from(index).ok()?)?;
            return isize::try_from(place).ok();
        }
        let (origin, _) = map.global(self.coordinates[axis], 0)?;
        isize::try_from(index - i64::try_from(origin).ok()?).ok()
    }
}

/// Where a loop over a region stores.
fn stored_at(region: &[StridedRange]) -> Vec<IndexMap> {
    let index_map = |(axis, range): (usize, &StridedRange)| IndexMap::Moves {
        axis,
        offset: range.offset,
        step: range.step,
    };
    region.iter().enumerate().map(index_map).collect()
}

fn identity_of(own: &[(usize, usize)]) -> Vec<IndexMap> {
    (0..own.len()).map(|axis| IndexMap::Moves { axis, offset: 0, step: 1 }).collect()
}

pub(super) fn box_runs(own: &[(usize, usize)]) -> Vec<Run> {
    let run = |(from, to): &(usize, usize)| Run {
        first: i64::try_from(*from).unwrap_or(i64::MAX),
        step: 1,
        local: *from,
        count: to - from,
    };
    own.iter().map(run).collect()
}

/// The indices of a coordinate in local order, cut where they are not evenly spaced.
fn even_runs(map: &AxisMap, coordinate: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for local in 0..map.local_length(coordinate) {
        let Some((index, _)) = map.global(coordinate, local) else { break };
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        if let Some(run) = runs.last_mut() {
            let next = run.first + run.step * i64::try_from(run.count).unwrap_or(i64::MAX);
            if run.count == 1 && index > run.first {
                run.step = index - run.first;
                run.count = 2;
                continue;
            }
            if run.count > 1 && index == next {
                run.count += 1;
                continue;
            }
        }
        runs.push(Run { first: index, step: 1, local, count: 1 });
    }
    runs
}

/// Calls `f` with every choice of one run per axis.
fn each_product(runs: &[Vec<Run>], f: &mut dyn FnMut(&[Run])) {
    fn go(runs: &[Vec<Run>], chosen: &mut Vec<Run>, f: &mut dyn FnMut(&[Run])) {
        match runs.get(chosen.len()) {
            None => f(chosen),
            Some(list) => {
                for run in list {
                    chosen.push(*run);
                    go(runs, chosen, f);
                    chosen.pop();
                }
            }
        }
    }
    go(runs, &mut Vec::new(), f);
}

/// Boxes that cover `outer` without `inner`.
fn around(outer: &[(usize, usize)], inner: &[(usize, usize)]) -> Vec<Vec<(usize, usize)>> {
    if inner.iter().any(|(from, to)| from >= to) {
        return vec![outer.to_vec()];
    }
    let mut boxes = Vec::new();
    let mut rest = outer.to_vec();
    for axis in 0..outer.len() {
        for side in [(rest[axis].0, inner[axis].0), (inner[axis].1, rest[axis].1)] {
            if side.0 < side.1 {
                let mut one = rest.clone();
                one[axis] = side;
                boxes.push(one);
            }
        }
        rest[axis] = inner[axis];
    }
    boxes
}
