//! Loops and what has to move before them: where a loop runs, and how each of its arrays gets
//! there.

use std::collections::BTreeMap;

use pantile_geometry::{Axis, Distribution};
use pantile_plan::Totals;

use super::expr::{Compiler, ExprId, Kind, identity};
use super::place::{self, Windows};
use super::{
    Compute, Exchange, ExchangePart, Fold, IndexMap, LowerErrorKind, Lowering, Move, Part,
    PlaceError, SlotId, Step, StridedRange, Write,
};
use pantile_ir::Place;
use pantile_lanes::DType;

/// How a slot is read: along each of its axes.
pub(crate) type Access = Vec<IndexMap>;

/// What becomes of the value of an expression.
pub(crate) enum Target {
    /// It is stored in a slot of the domain.
    Store(SlotId),
    /// It is combined along the reduced axes: into one element, if there is one.
    Fold(Fold, Vec<SlotId>, Option<Vec<usize>>),
}

/// The whole of an index space.
pub(crate) fn whole_region(shape: &[usize]) -> Vec<StridedRange> {
    shape.iter().map(|size| StridedRange { offset: 0, step: 1, size: *size }).collect()
}

/// How one axis of a temporary copy lives, by the axes of the loop's domain.
#[derive(Clone, PartialEq)]
enum TempAxis {
    /// One interval for everybody.
    Window((i64, i64)),
    /// An interval for each coordinate along an axis of the domain.
    Windows(usize, Windows),
    /// As an axis of the domain that is dealt out.
    Same(usize),
}

impl Lowering<'_> {
    /// The slot that has the value of an expression; computed where it costs least, or at `hint`.
    pub(crate) fn materialise(
        &mut self,
        id: ExprId,
        hint: Option<&Distribution>,
    ) -> Result<SlotId, LowerErrorKind> {
        if let Some(slot) = self.plain_slot(id) {
            return match hint {
                Some(home) if *home != self.slots[slot.index()].home => {
                    Ok(self.moved(slot, home, "redistribute")?)
                }
                _ => Ok(slot),
            };
        }
        let known = self.made.get(&id).copied();
        if let Some(slot) = known
            && hint.is_none_or(|home| *home == self.slots[slot.index()].home)
        {
            return Ok(slot);
        }
        let shape = self.exprs[id].shape.clone();
        let home = match hint {
            Some(home) => place::plain(home)?,
            None => self.domain_for(&[id], &shape)?,
        };
        let slot = self.new_slot(self.exprs[id].dtype, home.clone());
        let region = whole_region(&shape);
        self.compute(vec![(id, Target::Store(slot))], (&home, region), &[], Vec::new())?;
        self.made.insert(id, slot);
        Ok(slot)
    }

    /// The slot that an expression is all of.
    pub(crate) fn plain_slot(&self, id: ExprId) -> Option<SlotId> {
        let Kind::Read(slot, access) = &self.exprs[id].kind else { return None };
        let shape = self.slots[slot.index()].home.shape();
        (self.exprs[id].shape == shape && *access == identity(shape.len())).then_some(*slot)
    }

    /// A copy of a slot at another home.
    pub(crate) fn moved(
        &mut self,
        slot: SlotId,
        home: &Distribution,
        name: &'static str,
    ) -> Result<SlotId, PlaceError> {
        let home = place::plain(home)?;
        let (dtype, source) =
            (self.slots[slot.index()].dtype, self.slots[slot.index()].home.clone());
        if source == home {
            return Ok(slot);
        }
        self.check_movement(&source, &home)?;
        let to = self.new_slot(dtype, home.clone());
        let place = self.place.clone();
        self.steps.push(Step::Move(Box::new(Move {
            name,
            from: slot,
            to,
            source,
            target: home,
            place,
        })));
        Ok(to)
    }

    pub(crate) fn check_movement(
        &self,
        source: &Distribution,
        target: &Distribution,
    ) -> Result<(), PlaceError> {
        Ok(Totals::between(source, target).map(|_| ())?)
    }

    /// A loop over `region` of `domain`; what it reads is fetched first.
    pub(crate) fn compute(
        &mut self,
        roots: Vec<(ExprId, Target)>,
        (domain, region): (&Distribution, Vec<StridedRange>),
        reduced: &[usize],
        pass_through: Vec<(SlotId, SlotId)>,
    ) -> Result<(), LowerErrorKind> {
        let ids: Vec<ExprId> = roots.iter().map(|(id, _)| *id).collect();
        let leaves = self.leaves(&ids);
        let mut replaced: BTreeMap<(SlotId, Access), (SlotId, Access)> = BTreeMap::new();
        let mut halos: Vec<SlotId> = Vec::new();
        let mut remote: BTreeMap<SlotId, Vec<Access>> = BTreeMap::new();
        for (slot, access) in leaves {
            match self.in_place(slot, &access, domain, &region) {
                Some(windows) => {
                    if self.request(slot, windows) && !halos.contains(&slot) {
                        halos.push(slot);
                    }
                }
                None => remote.entry(slot).or_default().push(access),
            }
        }
        for (slot, accesses) in remote {
            self.fetch(slot, accesses, (domain, &region), &mut replaced)?;
        }
        let mut compiler = Compiler::new(&self.exprs);
        compiler.replaced = replaced;
        let mut writes = Vec::new();
        for (id, target) in roots {
            let nodes = match target {
                // Their results are NaN or not, whatever the bits of a NaN among many.
                Target::Fold(Fold::Exact | Fold::Rounded(_) | Fold::Min | Fold::Max, ..) => {
                    compiler.raw_nodes(id)
                }
                _ => compiler.nodes(id),
            };
            nodes.iter().for_each(|node| compiler.body.output(*node));
            let parts: &[Part] =
                if nodes.len() == 2 { &[Part::Real, Part::Imaginary] } else { &[Part::Whole] };
            match target {
                Target::Store(slot) => {
                    writes.extend(parts.iter().map(|part| Write::Slot(slot, *part)))
                }
                Target::Fold(fold, slots, at) => {
                    writes.extend(slots.iter().map(|slot| Write::Fold(fold, *slot, at.clone())));
                }
            }
        }
        let (body, reads) = (compiler.body, compiler.reads);
        self.steps.push(Step::Compute(Box::new(Compute {
            domain: domain.clone(),
            region,
            reads,
            body,
            writes,
            reduced: reduced.to_vec(),
            pass_through,
            halos,
            overcompute: Vec::new(),
            place: self.place.clone(),
        })));
        Ok(())
    }

    /// All slots that expressions read, with how; each once, in order.
    pub(crate) fn leaves(&self, ids: &[ExprId]) -> Vec<(SlotId, Access)> {
        let (mut found, mut seen, mut stack) = (Vec::new(), Vec::new(), ids.to_vec());
        let mut known = std::collections::BTreeSet::new();
        while let Some(id) = stack.pop() {
            if !known.insert(id) {
                continue;
            }
            seen.push(id);
            stack.extend(self.exprs.operands(id));
        }
        seen.sort_unstable();
        for id in seen {
            if let Kind::Read(slot, access) = &self.exprs[id].kind {
                let leaf = (*slot, access.clone());
                if !found.contains(&leaf) {
                    found.push(leaf);
                }
            }
        }
        found
    }

    /// The windows that every coordinate needs, if the slot can be read where it is: nothing
    /// beyond what its ranks own and a halo around that.
    fn in_place(
        &self,
        slot: SlotId,
        access: &[IndexMap],
        domain: &Distribution,
        region: &[StridedRange],
    ) -> Option<Vec<Option<Windows>>> {
        let home = &self.slots[slot.index()].home;
        if !place::same_mesh(home.mesh(), domain.mesh()) {
            // Copies on all ranks are there, whatever the shape of the mesh.
            let copies = place::axes(home).iter().all(place::is_whole)
                && domain.mesh().ranks().all(|rank| home.mesh().position_of(rank).is_some());
            return copies.then(|| vec![None; access.len()]);
        }
        let mut windows = Vec::new();
        for (map, index_map) in place::axes(home).iter().zip(access) {
            if place::is_whole(map) {
                windows.push(None);
                continue;
            }
            let IndexMap::Moves { axis, offset, step } = index_map else { return None };
            let by = &place::axes(domain)[*axis];
            if !place::is_block(map) || !place::is_block(by) {
                let range = region[*axis];
                let same = map == by
                    && *offset == 0
                    && *step == 1
                    && range.offset == 0
                    && range.step == 1
                    && range.size == map.length();
                if !same {
                    return None;
                }
                windows.push(None);
                continue;
            }
            if map.over() != by.over() {
                return None;
            }
            windows.push(Some(place::beside(map, *index_map, (by, region[*axis], None))?));
        }
        Some(windows)
    }

    /// True if every coordinate owns what it reads of a slot.
    pub(super) fn is_at_hand(
        &self,
        slot: SlotId,
        access: &[IndexMap],
        (domain, region): (&Distribution, &[StridedRange]),
    ) -> bool {
        let Some(windows) = self.in_place(slot, access, domain, region) else { return false };
        let maps = place::axes(&self.slots[slot.index()].home);
        maps.iter().zip(&windows).all(|(map, windows)| {
            let mut list = windows.iter().flatten().enumerate();
            list.all(|(coordinate, window)| {
                let owned = place::owned(map, coordinate);
                window.0 >= window.1 || (window.0 >= owned.0 && window.1 <= owned.1)
            })
        })
    }

    /// Adds windows to what is asked of a slot; true if they go beyond what its ranks own.
    pub(super) fn request(&mut self, slot: SlotId, windows: Vec<Option<Windows>>) -> bool {
        let info = &mut self.slots[slot.index()];
        let mut overcompute = false;
        for (axis, (kept, asked)) in info.windows.iter_mut().zip(&windows).enumerate() {
            let Some(asked) = asked else { continue };
            let map = &place::axes(&info.home)[axis];
            let outside = |(coordinate, window): (usize, &(i64, i64))| {
                let owned = place::owned(map, coordinate);
                window.0 < window.1 && (window.0 < owned.0 || window.1 > owned.1)
            };
            if asked.iter().enumerate().any(outside) {
                overcompute = true;
                let owned: Windows = (0..map.parts()).map(|c| place::owned(map, c)).collect();
                *kept = place::join(&place::join(kept, &Some(owned)), &Some(asked.clone()));
            }
        }
        overcompute
    }

    /// Copies what a loop reads of a slot to where it reads it.
    pub(super) fn fetch(
        &mut self,
        slot: SlotId,
        accesses: Vec<Access>,
        (domain, region): (&Distribution, &[StridedRange]),
        replaced: &mut BTreeMap<(SlotId, Access), (SlotId, Access)>,
    ) -> Result<(), LowerErrorKind> {
        // Reads of one shape are served by one copy of the box around them all.
        let mut groups: Vec<(Vec<TempAxis>, Vec<Access>)> = Vec::new();
        for access in accesses {
            let Some(wanted) = self.temp_axes(slot, &access, domain, region) else {
                self.fetch_view(slot, access, (domain, region), replaced)?;
                continue;
            };
            match groups
                .iter_mut()
                .find_map(|(axes, list)| merged(axes, &wanted).map(|both| (axes, list, both)))
            {
                Some((axes, list, both)) => {
                    *axes = both;
                    list.push(access);
                }
                None => groups.push((wanted, vec![access])),
            }
        }
        for (axes, accesses) in groups {
            let target = self.temp_home(slot, &axes, domain)?;
            let temp = self.temp_slot(slot, target)?;
            for access in accesses {
                replaced.insert((slot, access.clone()), (temp, access));
            }
        }
        Ok(())
    }

    /// A slice that has no box of its own on the domain becomes an array first.
    fn fetch_view(
        &mut self,
        slot: SlotId,
        access: Access,
        (domain, region): (&Distribution, &[StridedRange]),
        replaced: &mut BTreeMap<(SlotId, Access), (SlotId, Access)>,
    ) -> Result<(), LowerErrorKind> {
        let axes: Vec<usize> = access
            .iter()
            .filter_map(|index_map| match index_map {
                IndexMap::Moves { axis, .. } => Some(*axis),
                IndexMap::Fixed(_) => None,
            })
            .collect();
        let mut used = axes.clone();
        used.sort_unstable();
        used.dedup();
        let shape: Vec<usize> = used.iter().map(|axis| region[*axis].size).collect();
        let place_of = |axis: usize| used.iter().position(|other| *other == axis).unwrap_or(0);
        let inner: Access = access
            .iter()
            .map(|index_map| match *index_map {
                IndexMap::Moves { axis, offset, step } => {
                    IndexMap::Moves { axis: place_of(axis), offset, step }
                }
                fixed => fixed,
            })
            .collect();
        let dtype = self.slots[slot.index()].dtype;
        let view = self.exprs.add(Kind::Read(slot, inner), dtype, &shape);
        // First in blocks, then dealt out as the domain is.
        let blocks = place::blocks(&shape, self.ranks)?;
        let array = self.materialise(view, Some(&blocks))?;
        let parts: Vec<_> = used.iter().map(|axis| Some((*axis, region[*axis]))).collect();
        let target = place::follow(domain, &shape, &parts)?;
        let array = self.moved(array, &target, "fetch")?;
        let outer: Access =
            used.iter().map(|axis| IndexMap::Moves { axis: *axis, offset: 0, step: 1 }).collect();
        replaced.insert((slot, access), (array, outer));
        Ok(())
    }

    fn temp_axes(
        &self,
        slot: SlotId,
        access: &[IndexMap],
        domain: &Distribution,
        region: &[StridedRange],
    ) -> Option<Vec<TempAxis>> {
        let shape = self.slots[slot.index()].home.shape();
        let mut axes = Vec::new();
        for (index_map, length) in access.iter().zip(shape) {
            let IndexMap::Moves { axis, offset, step } = index_map else {
                axes.push(TempAxis::Window(place::reached(*index_map, (0, 1))?));
                continue;
            };
            let (map, range) = (&place::axes(domain)[*axis], region[*axis]);
            // Two axes of an array by one axis of the loop: the second gets all it may need.
            let taken = axes.iter().any(|other| match other {
                TempAxis::Windows(by, _) | TempAxis::Same(by) => by == axis,
                TempAxis::Window(_) => false,
            });
            if place::is_whole(map) || taken {
                let reached = place::reached(*index_map, (0, range.size)).unwrap_or((0, 0));
                axes.push(TempAxis::Window(reached));
            } else if place::is_block(map) {
                let windows = (0..map.parts()).map(|coordinate| {
                    let part = place::owned_part(map, coordinate, range);
                    place::reached(*index_map, part).unwrap_or((0, 0))
                });
                axes.push(TempAxis::Windows(*axis, windows.collect()));
            } else {
                let same = *offset == 0
                    && *step == 1
                    && *length == map.length()
                    && range.offset == 0
                    && range.step == 1
                    && range.size == *length;
                axes.push(same.then_some(TempAxis::Same(*axis))?);
            }
        }
        Some(axes)
    }

    fn temp_home(
        &self,
        slot: SlotId,
        axes: &[TempAxis],
        domain: &Distribution,
    ) -> Result<Distribution, PlaceError> {
        let mesh = domain.mesh();
        let shape = self.slots[slot.index()].home.shape().to_vec();
        let names = |axis: usize| -> Vec<&str> {
            let over = place::axes(domain)[axis].over().iter();
            over.map(|axis| mesh.names()[*axis].as_str()).collect()
        };
        let described = axes.iter().zip(&shape).map(|(axis, length)| match axis {
            TempAxis::Window((from, to)) if *from == 0 && usize::try_from(*to) == Ok(*length) => {
                Axis::whole()
            }
            TempAxis::Window(window) => Axis::whole().held(&[*window]),
            TempAxis::Windows(by, windows) => Axis::block(&names(*by)).held(windows),
            TempAxis::Same(by) => place::describe(&place::axes(domain)[*by], mesh),
        });
        place::build(&shape, mesh, described.collect())
    }

    /// A slot that holds a copy of part of another one.
    fn temp_slot(&mut self, from: SlotId, target: Distribution) -> Result<SlotId, PlaceError> {
        let key = (from, target.fingerprint());
        if let Some(slot) = self.copies.get(&key) {
            return Ok(*slot);
        }
        let (dtype, source) =
            (self.slots[from.index()].dtype, self.slots[from.index()].home.clone());
        self.check_movement(&source, &target)?;
        let to = self.new_slot(dtype, target.clone());
        let place = self.place.clone();
        self.steps.push(Step::Move(Box::new(Move {
            name: "fetch",
            from,
            to,
            source,
            target,
            place,
        })));
        self.copies.insert(key, to);
        Ok(to)
    }

    /// Where an array of this shape is computed from these expressions so that the least moves.
    pub(crate) fn domain_for(
        &self,
        ids: &[ExprId],
        shape: &[usize],
    ) -> Result<Distribution, PlaceError> {
        let leaves = self.leaves(ids);
        let mut candidates: Vec<Distribution> = Vec::new();
        for (slot, access) in &leaves {
            let home = &self.slots[slot.index()].home;
            let candidate = followed(home, access, shape)?;
            let cut = place::axes(&candidate).iter().any(|map| map.parts() > 1);
            let large = home.size() >= shape.iter().product();
            if (cut || large) && !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        let auto = || self.auto(shape);
        if candidates.len() <= 1 {
            return candidates.pop().map_or_else(auto, Ok);
        }
        let region = whole_region(shape);
        let cost = |domain: &Distribution| -> usize {
            let moved =
                leaves.iter().map(|(slot, access)| self.fetch_cost(*slot, access, domain, &region));
            moved.fold(0, usize::saturating_add)
        };
        let best = candidates.into_iter().map(|domain| (cost(&domain), domain));
        best.reduce(|best, next| if next.0 < best.0 { next } else { best })
            .map_or_else(auto, |(_, domain)| Ok(domain))
    }

    /// About how many elements move to read a slot on a domain.
    pub(super) fn fetch_cost(
        &self,
        slot: SlotId,
        access: &[IndexMap],
        domain: &Distribution,
        region: &[StridedRange],
    ) -> usize {
        let home = &self.slots[slot.index()].home;
        if let Some(windows) = self.in_place(slot, access, domain, region) {
            let target = windows.iter().enumerate().map(|(axis, windows)| {
                let map = &place::axes(home)[axis];
                let owned: Windows = (0..map.parts()).map(|c| place::owned(map, c)).collect();
                windows.as_ref().map(|list| place::join(&Some(owned), &Some(list.clone())))?
            });
            let target: Vec<Option<Windows>> = target.collect();
            let moved = place::windowed(home, &target, &target)
                .ok()
                .and_then(|target| Totals::between(home, &target).ok());
            return moved
                .map_or(usize::MAX, |totals| usize::try_from(totals.moved).unwrap_or(usize::MAX));
        }
        let target = self
            .temp_axes(slot, access, domain, region)
            .and_then(|axes| self.temp_home(slot, &axes, domain).ok());
        let moved = target.and_then(|target| Totals::between(home, &target).ok());
        moved.map_or(home.size().saturating_mul(2), |totals| {
            usize::try_from(totals.moved).unwrap_or(usize::MAX)
        })
    }

    /// An exchange of the halos that were asked for.
    pub(crate) fn exchange(&self, slot: SlotId) -> Result<Exchange, PlaceError> {
        let info = &self.slots[slot.index()];
        let part = ExchangePart {
            slot,
            source: place::windowed(&info.home, &[], &info.all_room())?,
            target: place::windowed(&info.home, &info.windows, &info.all_room())?,
        };
        Ok(Exchange { parts: vec![part], during: None, place: info.place.clone() })
    }

    /// A slot that nothing has written yet.
    pub(crate) fn new_slot(&mut self, dtype: DType, home: Distribution) -> SlotId {
        let id = SlotId(u32::try_from(self.slots.len()).expect("fewer than 2^32 slots"));
        let (windows, room) = (vec![None; home.ndim()], vec![None; home.ndim()]);
        let place: Place = self.place.clone();
        self.slots.push(super::SlotInfo { dtype, home, windows, room, place, room_class: id });
        id
    }
}

/// Two requests of one copy as one, if they are cut alike.
fn merged(one: &[TempAxis], other: &[TempAxis]) -> Option<Vec<TempAxis>> {
    one.iter()
        .zip(other)
        .map(|(one, other)| match (one, other) {
            (TempAxis::Window(a), TempAxis::Window(b)) => {
                let both = place::hull(*a, *b);
                // Boxes far from each other are cheaper alone.
                let (gap, sum) = (both.1 - both.0, (a.1 - a.0) + (b.1 - b.0));
                (gap <= 2 * sum).then_some(TempAxis::Window(both))
            }
            (TempAxis::Windows(by, a), TempAxis::Windows(other, b)) if by == other => {
                let both = place::join(&Some(a.clone()), &Some(b.clone()))?;
                let length = |list: &Windows| list.iter().map(|(from, to)| to - from).sum::<i64>();
                (length(&both) <= 2 * (length(a) + length(b)))
                    .then_some(TempAxis::Windows(*by, both))
            }
            (TempAxis::Same(a), TempAxis::Same(b)) if a == b => Some(TempAxis::Same(*a)),
            _ => None,
        })
        .collect()
}

/// The distribution of an array of `shape` whose elements live where those that it reads do.
pub(super) fn followed(
    home: &Distribution,
    access: &[IndexMap],
    shape: &[usize],
) -> Result<Distribution, PlaceError> {
    let map: Vec<Option<(usize, StridedRange)>> = (0..shape.len())
        .map(|out| {
            access.iter().enumerate().find_map(|(base, index_map)| match *index_map {
                IndexMap::Moves { axis, offset, step } if axis == out => {
                    let size = shape[out];
                    let last = offset + step * i64::try_from(size).unwrap_or(0).saturating_sub(1);
                    // Backwards there is no order of blocks that follows; forwards comes closest.
                    let (offset, step) =
                        if step > 0 { (offset, step) } else { (last.max(0), -step) };
                    Some((base, StridedRange { offset, step, size }))
                }
                _ => None,
            })
        })
        .collect();
    place::follow(home, shape, &map)
}
