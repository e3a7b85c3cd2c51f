//! Block axes: intervals of positions as ranges of visible indices, and sweeps over them.

use std::collections::BTreeSet;

use super::{AxisMap, Cut, Cuts, Extent, Holder, Holding};
use crate::index::{IndexSet, Indices, Segment, Segments};
use crate::number::{index, lift_order, position};

/// The visible indices `from..to` under one lift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) lift: i64,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Span {
    pub(crate) fn length(&self) -> usize {
        self.to - self.from
    }
}

impl AxisMap {
    fn cuts(&self) -> &Cuts {
        match &self.cut {
            Cut::Block(cuts) => cuts,
            _ => unreachable!("invariant 3 of AxisMap: intervals exist on block axes only"),
        }
    }

    pub(super) fn owned_interval(&self, coordinate: usize) -> (i64, i64) {
        let (start, stop) = self.cuts().part(self.base, self.parts, coordinate);
        (position(start), position(stop))
    }

    pub(super) fn interval(&self, extent: &Extent, coordinate: usize) -> (i64, i64) {
        let owned = self.owned_interval(coordinate);
        extent.interval(coordinate, owned, self.turn(), self.periodic)
    }

    /// What `coordinate` holds, in positions of the base axis.
    pub(crate) fn held_interval(&self, coordinate: usize) -> (i64, i64) {
        self.interval(&self.held, coordinate)
    }

    /// What `coordinate` has room for, in positions of the base axis.
    pub(crate) fn room_interval(&self, coordinate: usize) -> (i64, i64) {
        self.interval(self.room.as_ref().unwrap_or(&self.held), coordinate)
    }

    /// The visible indices at positions `low..high`, by lift, in local order: ascending
    /// positions, or descending ones if the view runs backwards.
    pub(super) fn spans(&self, (low, high): (i64, i64)) -> Vec<Span> {
        let turn = self.turn();
        if low >= high || turn == 0 {
            return Vec::new();
        }
        let lifts = low.div_euclid(turn)..=(high - 1).div_euclid(turn);
        let span = |lift: i64| {
            let (low, high) = ((low - lift * turn).max(0), (high - lift * turn).min(turn));
            let (from, to) = self.view.range(low, high);
            (from < to).then_some(Span { lift, from, to })
        };
        if self.view.step() > 0 {
            lifts.filter_map(span).collect()
        } else {
            lifts.rev().filter_map(span).collect()
        }
    }

    /// Coordinates that may hold something visible in `from..to`, ascending. With a uniform
    /// halo those that own nothing hold nothing, however many there are.
    fn candidates(&self, from: usize, to: usize) -> Vec<usize> {
        let Some((before, after)) = self.held.reach() else {
            return (0..self.parts).collect();
        };
        let turn = self.turn();
        let of = |at: i64| self.cuts().part_of(self.base, self.parts, index(at));
        let (first, last) = (of(0), of(turn - 1));
        let (a, b) = (self.view.base(from), self.view.base(to - 1));
        let (low, high) = (position(a.min(b)) - after, position(a.max(b)) + 1 + before);
        if high - low >= turn {
            return (first..=last).collect();
        }
        if !self.periodic || (low >= 0 && high <= turn) {
            return (of(low.max(0))..=of(high.min(turn) - 1)).collect();
        }
        // The window leaves one end of a periodic axis and comes back at the other.
        let (head, tail) = (of((high - 1).rem_euclid(turn)), of(low.rem_euclid(turn)));
        if tail <= head {
            return (first..=last).collect();
        }
        (first..=head).chain(tail..=last).collect()
    }

    pub(super) fn block_holding(&self, k: usize) -> Holding {
        let mut holders = Vec::new();
        for coordinate in self.candidates(k, k + 1) {
            let spans = self.spans(self.held_interval(coordinate)).into_iter();
            let lifts = spans.filter(|span| (span.from..span.to).contains(&k)).map(|s| s.lift);
            holders.extend(lifts.map(|lift| Holder { coordinate, lift }));
        }
        holders.sort_unstable();
        let owning = self.cuts().part_of(self.base, self.parts, self.view.base(k));
        let owner = owner_among(&holders, owning);
        Holding { holders, owner }
    }

    pub(super) fn split_block(
        &self,
        piece: &IndexSet,
        only: Option<usize>,
    ) -> Vec<(Holding, IndexSet)> {
        let Some((mut from, mut to)) = piece.hull() else { return Vec::new() };
        if let Some(coordinate) = only {
            let spans = self.spans(self.held_interval(coordinate));
            let Some(low) = spans.iter().map(|span| span.from).min() else { return Vec::new() };
            let high = spans.iter().map(|span| span.to).max().unwrap_or(low);
            (from, to) = (from.max(low), to.min(high));
            if from >= to {
                return Vec::new();
            }
        }
        let mut groups: Vec<(Holding, IndexSet)> = Vec::new();
        for (low, high, holding) in self.sweep(from, to) {
            let holds = |wanted: usize| holding.holders.iter().any(|h| h.coordinate == wanted);
            if only.is_none_or(holds) {
                let part = piece.clip(low, high);
                if !part.is_empty() {
                    groups.push((holding, part));
                }
            }
        }
        grouped(groups)
    }

    /// `from..to` cut where holders or owner change.
    fn sweep(&self, from: usize, to: usize) -> Vec<(usize, usize, Holding)> {
        // Owned parts tile the axis: walk them from `from` on (backwards if the view is).
        let mut owners: Vec<(usize, usize)> = Vec::new();
        let mut at = from;
        while at < to {
            let owning = self.cuts().part_of(self.base, self.parts, self.view.base(at));
            owners.push((at, owning));
            let (low, high) = self.owned_interval(owning);
            at = self.view.range(low, high).1;
        }
        if self.held == Extent::Owned {
            let ends = owners.iter().skip(1).map(|(at, _)| *at).chain([to]);
            let piece = |((low, owning), high): (&(usize, usize), usize)| {
                (*low, high.min(to), Holding::of(vec![*owning]))
            };
            return owners.iter().zip(ends).map(piece).collect();
        }
        // (index, starts?, holder): who begins and who ends to hold at an index.
        let mut events: Vec<(usize, bool, Holder)> = Vec::new();
        for coordinate in self.candidates(from, to) {
            for span in self.spans(self.held_interval(coordinate)) {
                let (low, high) = (span.from.max(from), span.to.min(to));
                if low < high {
                    let holder = Holder { coordinate, lift: span.lift };
                    events.extend([(low, true, holder), (high, false, holder)]);
                }
            }
        }
        events.sort_unstable();
        walk((from, to), &events, &owners)
    }

    pub(super) fn locate_block(
        &self,
        coordinate: usize,
        lift: i64,
        set: &IndexSet,
    ) -> Option<Indices> {
        let mut before = 0;
        for span in self.spans(self.room_interval(coordinate)) {
            if span.lift != lift {
                before += span.length();
                continue;
            }
            let (low, high) = set.hull().unwrap_or((span.from, span.from));
            if low < span.from || high > span.to {
                return None;
            }
            let place = |k: usize| k - span.from + before;
            let shift = |s: &Segment| {
                Segment::strided(place(s.start()), s.length(), s.step(), s.count())
                    .expect("a shifted segment is not empty")
            };
            return Some(match set.indices() {
                Indices::Segments(segments) => {
                    Indices::Segments(segments.iter().map(shift).collect())
                }
                Indices::List(list) => Indices::List(list.iter().map(|k| place(*k)).collect()),
            });
        }
        set.is_empty().then(|| Indices::Segments(Segments::new()))
    }

    /// True if held covers the axis by its form alone.
    pub(super) fn is_surely_covered(&self) -> bool {
        match (&self.cut, &self.held) {
            (Cut::Cyclic { .. }, _) | (Cut::Block(_), Extent::Owned) => true,
            (Cut::Block(_), Extent::Halo { before, after }) => *before >= 0 && *after >= 0,
            (Cut::Block(_), Extent::Each(_)) => false,
            (Cut::Indexed(labels), _) => self.sees_all() && labels.is_one_to_one(self.base),
        }
    }

    /// True if the form of held alone says that some index has two holders.
    pub(super) fn surely_overlaps(&self) -> bool {
        let Extent::Halo { before, after } = self.held else { return false };
        if before < 0 || after < 0 || before + after == 0 || !self.sees_all() || self.base == 0 {
            return false;
        }
        self.periodic || {
            // Two coordinates own something iff the first part is not the whole axis.
            let first = self.cuts().part_of(self.base, self.parts, 0);
            self.owned_interval(first).1 < self.turn()
        }
    }
}

/// The pieces between all events and changes of owner, with their holders.
fn walk(
    (from, to): (usize, usize),
    events: &[(usize, bool, Holder)],
    owners: &[(usize, usize)],
) -> Vec<(usize, usize, Holding)> {
    let mut cuts: Vec<usize> = vec![from, to];
    cuts.extend(events.iter().map(|event| event.0));
    cuts.extend(owners.iter().map(|owner| owner.0));
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces = Vec::with_capacity(cuts.len());
    let mut active: BTreeSet<Holder> = BTreeSet::new();
    let (mut next, mut owner_at) = (0, 0);
    for pair in cuts.windows(2) {
        while next < events.len() && events[next].0 <= pair[0] {
            let (_, starts, holder) = events[next];
            if starts {
                active.insert(holder)
            } else {
                active.remove(&holder)
            };
            next += 1;
        }
        while owner_at + 1 < owners.len() && owners[owner_at + 1].0 <= pair[0] {
            owner_at += 1;
        }
        let holders: Vec<Holder> = active.iter().copied().collect();
        let owner = owner_among(&holders, owners[owner_at].1);
        pieces.push((pair[0], pair[1], Holding { holders, owner }));
    }
    pieces
}

/// Pieces with the same holders as one, by holders.
fn grouped(mut pieces: Vec<(Holding, IndexSet)>) -> Vec<(Holding, IndexSet)> {
    pieces.sort_by(|a, b| a.0.cmp(&b.0));
    let mut groups: Vec<(Holding, IndexSet)> = Vec::with_capacity(pieces.len());
    let mut rest = pieces.into_iter().peekable();
    while let Some((holding, first)) = rest.next() {
        let mut sets = vec![first];
        while let Some((_, set)) = rest.next_if(|(next, _)| *next == holding) {
            sets.push(set);
        }
        groups.push((holding, IndexSet::union(&sets)));
    }
    groups
}

/// The owned coordinate if it holds, else the lowest that does; of its lifts the nearest.
fn owner_among(holders: &[Holder], owning: usize) -> Option<Holder> {
    let nearest = |coordinate: usize| {
        let own = holders.iter().filter(|holder| holder.coordinate == coordinate);
        own.min_by_key(|holder| lift_order(holder.lift)).copied()
    };
    nearest(owning).or_else(|| nearest(holders.first()?.coordinate))
}
