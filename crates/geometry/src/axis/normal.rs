//! The normal form of an axis: one spelling for what is the same.

use super::{AxisMap, Cut, Cuts, Extent, View};
use crate::number::position;

impl AxisMap {
    /// The same axis in its simplest spelling; expects mesh axes of extent 1 to be gone from
    /// `over`.
    pub(crate) fn normal(&self) -> Self {
        match &self.cut {
            Cut::Cyclic { .. } if self.parts == 1 => {
                Self { cut: Cut::Block(Cuts::Balanced), ..self.clone() }.normal()
            }
            Cut::Block(cuts) => {
                let simple =
                    Self { cut: Cut::Block(cuts.normal(self.base, self.parts)), ..self.clone() }
                        .with_normal_extents();
                if simple.sees_all() || !simple.view_can_go() {
                    return simple;
                }
                simple.without_view().normal()
            }
            _ => self.clone(),
        }
    }

    /// A view becomes other cuts if it runs forwards or there is one coordinate only, and if
    /// nothing lies beyond the ends of the axis.
    fn view_can_go(&self) -> bool {
        !self.periodic && (self.parts == 1 || self.view.step() > 0)
    }

    fn without_view(&self) -> Self {
        let seen = |(low, high): (i64, i64)| {
            let (from, to) = self.view.range(low, high);
            (position(from), position(to))
        };
        let mut cuts: Vec<usize> =
            (0..self.parts).map(|c| self.view.range(0, self.owned_interval(c).1).1).collect();
        cuts.insert(0, 0);
        if self.parts == 1 {
            cuts = vec![0, self.length()];
        }
        let held = (0..self.parts).map(|c| seen(self.held_interval(c))).collect();
        let room = (0..self.parts).map(|c| seen(self.room_interval(c))).collect();
        self.with_lists(cuts, held, room)
    }

    fn with_normal_extents(mut self) -> Self {
        let held = self.normal_extent(&self.held);
        let room = self.room.as_ref().map(|room| self.normal_extent(room));
        self.room = room.filter(|room| *room != held);
        self.held = held;
        if self.periodic && !self.leaves_axis() {
            // On an axis with ends a list may be a halo that was clipped.
            self.periodic = false;
            return self.with_normal_extents();
        }
        self
    }

    fn leaves_axis(&self) -> bool {
        let leaves = |(low, high): (i64, i64)| low < high && (low < 0 || high > self.turn());
        match self.room.as_ref().unwrap_or(&self.held) {
            Extent::Owned => false,
            // The first and the last part that is not empty touch the ends of the axis.
            Extent::Halo { before, after } if *before >= 0 && *after >= 0 => {
                self.base > 0 && before + after > 0
            }
            _ => (0..self.parts).any(|c| leaves(self.room_interval(c))),
        }
    }

    fn normal_extent(&self, extent: &Extent) -> Extent {
        if self.base == 0 {
            return Extent::Owned;
        }
        match *extent {
            Extent::Owned => Extent::Owned,
            Extent::Halo { before, after } if before >= 0 && after >= 0 => {
                self.clipped(before, after)
            }
            _ => self.normal_list(extent),
        }
    }

    /// A halo no wider than it shows: on an axis with ends no one reaches beyond them.
    fn clipped(&self, before: i64, after: i64) -> Extent {
        let (mut before, mut after) = (before, after);
        if !self.periodic {
            let part_of = |at: usize| self.part_of_base(at);
            let last_start = self.owned_interval(part_of(self.base - 1)).0;
            let first_stop = self.owned_interval(part_of(0)).1;
            (before, after) = (before.min(last_start), after.min(self.turn() - first_stop));
        }
        if before == 0 && after == 0 { Extent::Owned } else { Extent::Halo { before, after } }
    }

    fn part_of_base(&self, at: usize) -> usize {
        match &self.cut {
            Cut::Block(cuts) => cuts.part_of(self.base, self.parts, at),
            _ => 0,
        }
    }

    /// Looks at every coordinate: a uniform halo if that says the same, else the list with
    /// empty intervals at the owned start.
    fn normal_list(&self, extent: &Extent) -> Extent {
        let owned: Vec<(i64, i64)> = (0..self.parts).map(|c| self.owned_interval(c)).collect();
        let list: Vec<(i64, i64)> = (0..self.parts)
            .map(|c| {
                let (low, high) = self.interval(extent, c);
                if low < high { (low, high) } else { (owned[c].0, owned[c].0) }
            })
            .collect();
        let owning = || owned.iter().zip(&list).filter(|(owned, _)| owned.0 < owned.1);
        let before = owning().map(|(owned, held)| owned.0 - held.0).max();
        let after = owning().map(|(owned, held)| held.1 - owned.1).max();
        if let (Some(before), Some(after)) = (before, after)
            && before >= 0
            && after >= 0
        {
            let halo = self.clipped(before, after);
            if (0..self.parts).all(|c| self.interval(&halo, c) == list[c]) {
                return halo;
            }
        }
        Extent::Each(list.into())
    }

    /// Labels shown by an indexed axis through its view; `None` for other axes.
    #[must_use]
    pub fn shown_labels(&self) -> Option<Vec<i64>> {
        match &self.cut {
            Cut::Indexed(labels) => {
                Some((0..self.length()).map(|k| labels.label(self.view.base(k))).collect())
            }
            _ => None,
        }
    }

    /// True if this is an indexed axis, with or without a universe.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        matches!(self.cut, Cut::Indexed(_))
    }

    /// True if this is an indexed axis whose labels are not its indices.
    #[must_use]
    pub fn has_universe(&self) -> bool {
        matches!(&self.cut, Cut::Indexed(labels) if labels.universe().is_some())
    }

    /// The axis everywhere whole, as a block axis over no mesh axis.
    pub(crate) fn whole(length: usize) -> Self {
        Self {
            base: length,
            over: Vec::new(),
            parts: 1,
            cut: Cut::Block(Cuts::Balanced),
            held: Extent::Owned,
            room: None,
            periodic: false,
            view: View::whole(length),
        }
    }

    /// A whole axis of which only `range` is held: the axis of a box.
    pub(crate) fn cropped(length: usize, range: (usize, usize)) -> Self {
        let held = (position(range.0), position(range.1));
        Self { held: Extent::Each([held].into()), ..Self::whole(length) }
    }

    /// Only the mesh axes that satisfy `keep`; the others have extent 1.
    pub(crate) fn keeping(&self, keep: impl Fn(usize) -> bool) -> Self {
        let over = self.over.iter().copied().filter(|axis| keep(*axis)).collect();
        Self { over, ..self.clone() }
    }

    /// Room that contains the owned part, what was room and what was held.
    pub(crate) fn room_with_owned(&self) -> Extent {
        let room = self.room.as_ref().unwrap_or(&self.held);
        match room {
            Extent::Owned => Extent::Owned,
            Extent::Halo { before, after } => {
                Extent::Halo { before: (*before).max(0), after: (*after).max(0) }
            }
            Extent::Each(_) => {
                let hull = |c: usize| {
                    let (room, owned) = (self.room_interval(c), self.owned_interval(c));
                    match (room.0 < room.1, owned.0 < owned.1) {
                        (true, true) => (room.0.min(owned.0), room.1.max(owned.1)),
                        (true, false) => room,
                        _ => owned,
                    }
                };
                Extent::Each((0..self.parts).map(hull).collect())
            }
        }
    }

    /// What is both held and owned, per coordinate.
    pub(crate) fn held_and_owned(&self) -> Extent {
        match &self.held {
            Extent::Owned => Extent::Owned,
            Extent::Halo { before, after } => {
                Extent::Halo { before: (*before).min(0), after: (*after).min(0) }
            }
            Extent::Each(_) => {
                let both = |c: usize| {
                    let (held, owned) = (self.held_interval(c), self.owned_interval(c));
                    let (low, high) = (held.0.max(owned.0), held.1.min(owned.1));
                    if low < high { (low, high) } else { (owned.0, owned.0) }
                };
                Extent::Each((0..self.parts).map(both).collect())
            }
        }
    }

    /// Every coordinate must hold all it owns.
    pub(crate) fn check_owners_hold(&self, axis: usize) -> Result<(), crate::Error> {
        if self.held.reach().is_some() && self.is_surely_covered() {
            return Ok(());
        }
        for coordinate in 0..self.parts {
            let (held, owned) = (self.held_interval(coordinate), self.owned_interval(coordinate));
            if owned.0 < owned.1 && (held.0 > owned.0 || held.1 < owned.1) {
                return Err(crate::Error::NotHeld { axis, coordinate });
            }
        }
        Ok(())
    }
}
