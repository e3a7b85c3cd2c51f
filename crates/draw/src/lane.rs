//! One axis of a picture: what is drawn along it, and where.
//!
//! Tiles of block axes are drawn each on its own stretch of paper, so that what they hold beyond
//! their owned part is seen:
//!
//! ```text
//!   position   0        4 5      3 4        8
//!              |########|/|      |/|########|        # owned and held    / halo
//! ```
//!
//! Axes that are dealt or listed are drawn as *runs*: stretches of the axis with equal holders.

use pantile_geometry::{AxisMap, Cut, Holding, IndexSet, Indices, Segment};

use crate::words::{real_at, signed, width_of};

/// Half-open positions on an axis; empty unless the first is below the second.
pub(crate) type Interval = (i64, i64);

/// The most runs of an axis that are drawn; of more only the first are.
const RUNS_SHOWN: usize = 20;

/// One stretch of a lane: the part of a coordinate, or a run of indices with equal holders.
#[derive(Clone, Debug)]
pub(crate) struct LaneItem {
    /// Coordinates along the direction that have it; one if it is a tile.
    pub(crate) holders: Vec<usize>,
    /// The owner among them.
    pub(crate) owner: usize,
    pub(crate) owned: Interval,
    pub(crate) held: Interval,
    pub(crate) room: Interval,
    /// True for the dots that stand for the rest of a long axis.
    pub(crate) omitted: bool,
    /// Positions and where they are on paper, ascending.
    marks: Vec<(i64, f64)>,
}

/// Everything along one axis.
#[derive(Clone, Debug)]
pub(crate) struct AxisLane {
    pub(crate) items: Vec<LaneItem>,
    pub(crate) length: i64,
    /// True if the items are drawn apart from each other.
    pub(crate) apart: bool,
    /// False for the lane that an array of fewer axes does not have.
    pub(crate) real: bool,
}

/// How a lane is put on paper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spacing {
    /// Width of one index.
    pub(crate) unit: f64,
    /// Space between items that are drawn apart.
    pub(crate) gap: f64,
    /// Least width of a tile.
    pub(crate) least: f64,
    /// True if tick labels need room along the lane.
    pub(crate) level: bool,
    /// True if each item has a label of its own, and not the cuts between items.
    pub(crate) apart: bool,
}

impl LaneItem {
    fn new(holders: Vec<usize>, owned: Interval, held: Interval, room: Interval) -> Self {
        let owner = holders.first().copied().unwrap_or(0);
        Self { holders, owner, owned, held, room, omitted: false, marks: Vec::new() }
    }

    /// True if there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        [self.owned, self.held, self.room].into_iter().all(is_empty)
    }

    /// What the item is about: its owned part, or else what it holds.
    pub(crate) fn core(&self) -> Interval {
        let named = [self.owned, self.held, self.room];
        named.into_iter().find(|interval| !is_empty(*interval)).unwrap_or(self.owned)
    }

    /// The core as text.
    pub(crate) fn label(&self) -> String {
        let (from, to) = self.core();
        format!("{from}:{to}")
    }

    /// The smallest interval with everything there is to draw.
    pub(crate) fn hull(&self) -> Interval {
        let parts = [self.owned, self.held, self.room].into_iter();
        let hull =
            parts.filter(|part| !is_empty(*part)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        hull.unwrap_or(self.owned)
    }

    /// Where a position is on paper.
    fn paper(&self, position: i64) -> f64 {
        if self.marks.is_empty() {
            return 0.0;
        }
        let after = self.marks.partition_point(|mark| mark.0 <= position);
        let low = self.marks[after.saturating_sub(1).min(self.marks.len() - 1)];
        let high = self.marks[after.min(self.marks.len() - 1)];
        if high.0 <= low.0 {
            return low.1;
        }
        low.1 + (high.1 - low.1) * real_at(position - low.0) / real_at(high.0 - low.0)
    }

    /// Where an interval begins and ends on paper.
    pub(crate) fn stretch(&self, (from, to): Interval) -> (f64, f64) {
        (self.paper(from), self.paper(to.max(from)))
    }

    /// Lays the item out from `start` on; returns where it ends.
    fn lay(&mut self, start: f64, length: i64, spacing: &Spacing) -> f64 {
        let tick = if spacing.apart { self.label() } else { self.core().1.to_string() };
        let least = if spacing.level {
            spacing.least.max(width_of(&tick, 11.0) + 6.0)
        } else {
            spacing.least
        };
        let (low, high) = self.hull();
        let ends = [self.owned, self.held, self.room].into_iter().filter(|part| !is_empty(*part));
        let mut stops: Vec<i64> = ends.flat_map(|(from, to)| [from, to]).collect();
        stops.extend([0, length].into_iter().filter(|edge| low < *edge && *edge < high));
        stops.sort_unstable();
        stops.dedup();
        self.marks = vec![(low, start)];
        let mut place = start;
        for pair in stops.windows(2) {
            let inside = |interval: Interval| interval.0 <= pair[0] && pair[1] <= interval.1;
            let width = spacing.unit * real_at(pair[1] - pair[0]);
            let nobody_owns = is_empty(self.owned);
            place += match (inside(self.owned), inside(self.held)) {
                (true, true) => width.max(least),
                (false, true) if nobody_owns => width.max(least),
                (true, false) => width.max(if is_empty(self.held) { least } else { 12.0 }),
                (false, true) => width.max(9.0),
                (false, false) if inside(self.room) => width.max(9.0),
                (false, false) => 12.0,
            };
            self.marks.push((pair[1], place));
        }
        if self.omitted {
            place =
                start + 26.0 + if spacing.level { width_of(&high.to_string(), 11.0) } else { 0.0 };
            self.marks = vec![(low, start), (high, place)];
        }
        place
    }
}

impl AxisLane {
    /// The lane of an axis that is not there.
    pub(crate) fn unit() -> Self {
        let item = LaneItem::new(vec![0], (0, 1), (0, 1), (0, 1));
        Self { items: vec![item], length: 1, apart: false, real: false }
    }

    /// One item per coordinate of a block axis.
    pub(crate) fn of_tiles(map: &AxisMap) -> Self {
        let items: Vec<LaneItem> =
            (0..map.parts()).map(|coordinate| tile(map, coordinate)).collect();
        let plain = |item: &LaneItem| item.owned == item.hull();
        let apart = !items.iter().filter(|item| !item.is_empty()).all(plain);
        Self { items, length: signed(map.length()), apart, real: true }
    }

    /// One item per run of indices with equal holders, with dots behind the first ones.
    pub(crate) fn of_runs(map: &AxisMap) -> Self {
        let whole = IndexSet::range(0, map.length());
        let mut runs: Vec<(usize, usize, Holding)> = Vec::new();
        for (holding, set) in map.split(&whole, None) {
            let first = first_runs(&set, RUNS_SHOWN + 1);
            runs.extend(first.into_iter().map(|(from, to)| (from, to, holding.clone())));
        }
        runs.sort_unstable_by_key(|run| run.0);
        runs.dedup_by(|next, last| {
            let joined = last.1 == next.0 && last.2 == next.2;
            if joined {
                last.1 = next.1;
            }
            joined
        });
        let rest = (runs.len() > RUNS_SHOWN).then(|| runs[RUNS_SHOWN].0);
        runs.truncate(RUNS_SHOWN);
        let mut items: Vec<LaneItem> = runs.into_iter().map(run).collect();
        if let Some(from) = rest {
            let part = (signed(from), signed(map.length()));
            items.push(LaneItem { omitted: true, ..LaneItem::new(Vec::new(), part, part, part) });
        }
        Self { items, length: signed(map.length()), apart: false, real: true }
    }

    /// The items that are not empty.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &LaneItem> {
        self.items.iter().filter(|item| !item.is_empty())
    }

    /// Puts all items on paper, from 0 on.
    pub(crate) fn lay(&mut self, spacing: &Spacing) {
        let (length, apart) = (self.length, self.apart);
        let spacing = &Spacing { apart, ..*spacing };
        let mut place = 0.0;
        let mut first = true;
        for item in self.items.iter_mut().filter(|item| !item.is_empty()) {
            place += if apart && !first { spacing.gap } else { 0.0 };
            place = item.lay(place, length, spacing);
            first = false;
        }
    }
}

pub(crate) fn is_empty(interval: Interval) -> bool {
    interval.0 >= interval.1
}

/// The part of one coordinate of a block axis, in positions as they are seen.
fn tile(map: &AxisMap, coordinate: usize) -> LaneItem {
    let length = signed(map.length());
    // Seen backwards, later turns lie before earlier ones.
    let turn = if map.view().is_some_and(|view| view.step() < 0) { -length } else { length };
    let place = |lift: i64, index: usize| lift.saturating_mul(turn).saturating_add(signed(index));
    let (from, to) = map.owned(coordinate);
    let parts = map.held(coordinate).into_iter();
    let spans = parts.filter_map(|(lift, set)| {
        set.hull().map(|(from, to)| (place(lift, from), place(lift, to)))
    });
    let held = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0));
    let ends = match map.local_length(coordinate) {
        0 => None,
        count => map.global(coordinate, 0).zip(map.global(coordinate, count - 1)),
    };
    let room = ends.map_or((0, 0), |(first, last)| {
        let (a, b) = (place(first.1, first.0), place(last.1, last.0));
        (a.min(b), a.max(b) + 1)
    });
    LaneItem::new(vec![coordinate], (signed(from), signed(to)), held, room)
}

fn run((from, to, holding): (usize, usize, Holding)) -> LaneItem {
    let part = (signed(from), signed(to));
    let mut holders: Vec<usize> = holding.holders.iter().map(|holder| holder.coordinate).collect();
    holders.dedup();
    let owner = holding.owner.map_or(0, |owner| owner.coordinate);
    let held = if holders.is_empty() { (0, 0) } else { part };
    LaneItem { owner, ..LaneItem::new(holders, part, held, held) }
}

/// The first `most` runs of consecutive indices in a set.
fn first_runs(set: &IndexSet, most: usize) -> Vec<(usize, usize)> {
    match set.indices() {
        Indices::List(list) => {
            let mut runs: Vec<(usize, usize)> = Vec::new();
            for index in list.iter().copied() {
                let full = runs.len() == most;
                match runs.last_mut() {
                    Some(last) if last.1 == index => last.1 += 1,
                    _ if full => break,
                    _ => runs.push((index, index + 1)),
                }
            }
            runs
        }
        Indices::Segments(segments) => {
            let run = |s: &Segment, at: usize| {
                let start = s.start() + at * s.step();
                (start, start + s.length())
            };
            let of =
                |s: &Segment| (0..s.count().min(most)).map(|at| run(s, at)).collect::<Vec<_>>();
            let mut runs: Vec<(usize, usize)> = segments.iter().flat_map(of).collect();
            runs.sort_unstable();
            runs.truncate(most);
            runs
        }
    }
}

/// True if all axes are cut in blocks, so that a tile per rank can be drawn.
pub(crate) fn all_blocks(maps: &[AxisMap]) -> bool {
    maps.iter().all(|map| matches!(map.cut(), Cut::Block(_)))
}
