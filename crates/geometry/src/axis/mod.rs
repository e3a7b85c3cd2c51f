//! One axis of a distribution: how it is cut, who holds which index, and where.

mod block;
mod build;
mod cyclic;
mod extent;
mod labels;
mod normal;
mod spans;
mod view;

pub use block::Cuts;
pub use build::Axis;
pub use extent::Extent;
pub use labels::{LABEL_LIMIT, Labels};
pub use view::View;

pub(crate) use spans::Span;

use crate::index::{IndexSet, Indices, Segment};
use crate::number::position;
use cyclic::Pattern;

/// How one axis is cut along its direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cut {
    /// Contiguous parts; over no mesh axis this is the whole axis everywhere.
    Block(Cuts),
    /// Blocks of `block` indices dealt round-robin.
    Cyclic {
        /// Indices per block.
        block: usize,
    },
    /// A list of labels per coordinate.
    Indexed(Labels),
}

/// A coordinate of a direction that has an index, and the lift under which it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// Coordinate along the direction.
    pub coordinate: usize,
    /// How many turns of a periodic axis the position is away; 0 elsewhere.
    pub lift: i64,
}

/// Who holds an index along a direction, ascending, and which of them is its owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holding {
    /// All holders by ascending (coordinate, lift); empty where nobody has the index.
    pub holders: Vec<Holder>,
    /// The owner; `None` only if there is no holder.
    pub owner: Option<Holder>,
}

/// One array axis of a distribution.
///
/// Invariants, checked where it is made:
/// 1. `parts` is the product of the mesh extents in `over` (1 if there are none).
/// 2. held lies in room for every coordinate; both lie in `0..base` unless periodic.
/// 3. Only `Block` has held and room of its own, or is periodic.
/// 4. The view stays on the base axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AxisMap {
    base: usize,
    over: Vec<usize>,
    parts: usize,
    cut: Cut,
    held: Extent,
    room: Option<Extent>,
    periodic: bool,
    view: View,
}

impl AxisMap {
    /// Length of the axis as it is seen.
    #[must_use]
    pub fn length(&self) -> usize {
        self.view.length()
    }

    /// Length of the axis below the view.
    #[must_use]
    pub fn base_length(&self) -> usize {
        self.base
    }

    /// Mesh axes that cut this axis, in the order in which they are taken together.
    #[must_use]
    pub fn over(&self) -> &[usize] {
        &self.over
    }

    /// Number of coordinates along the direction.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// How the axis is cut.
    #[must_use]
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// What each coordinate holds.
    #[must_use]
    pub fn held_extent(&self) -> &Extent {
        &self.held
    }

    /// What each coordinate has room for, where that is more than it holds.
    #[must_use]
    pub fn room_extent(&self) -> Option<&Extent> {
        self.room.as_ref()
    }

    /// True if positions beyond the ends wrap around.
    #[must_use]
    pub fn is_periodic(&self) -> bool {
        self.periodic
    }

    /// The slice through which the base axis is seen, if it is not the whole axis.
    #[must_use]
    pub fn view(&self) -> Option<View> {
        (!self.sees_all()).then_some(self.view)
    }

    fn sees_all(&self) -> bool {
        self.view.is_whole(self.base)
    }

    fn pattern(&self, block: usize) -> Pattern {
        Pattern::new(block, self.parts, self.view)
    }

    /// The holders and the owner of the visible index `k`.
    #[must_use]
    pub fn holding(&self, k: usize) -> Holding {
        match &self.cut {
            Cut::Block(_) => self.block_holding(k),
            Cut::Cyclic { block } => Holding::of(vec![self.pattern(*block).coordinate(k)]),
            Cut::Indexed(labels) => Holding::of(labels.coordinates(self.view.base(k))),
        }
    }

    /// The indices of `piece` grouped by who holds them; with `only`, just those that this
    /// coordinate holds. Groups are disjoint and cover `piece` (or that part of it).
    #[must_use]
    pub fn split(&self, piece: &IndexSet, only: Option<usize>) -> Vec<(Holding, IndexSet)> {
        match &self.cut {
            Cut::Block(_) => self.split_block(piece, only),
            Cut::Cyclic { block } => {
                let parts = self.pattern(*block).split(piece, only).into_iter();
                parts.map(|(coordinate, set)| (Holding::of(vec![coordinate]), set)).collect()
            }
            Cut::Indexed(labels) => {
                let parts = labels.split(&self.view, piece, only).into_iter();
                parts.map(|(coordinates, set)| (Holding::of(coordinates), set)).collect()
            }
        }
    }

    /// What `coordinate` holds, by lift, in local order.
    #[must_use]
    pub fn held(&self, coordinate: usize) -> Vec<(i64, IndexSet)> {
        match &self.cut {
            Cut::Block(_) => {
                let spans = self.spans(self.held_interval(coordinate)).into_iter();
                spans.map(|span| (span.lift, IndexSet::range(span.from, span.to))).collect()
            }
            _ => {
                let whole = IndexSet::range(0, self.length());
                let parts = self.split(&whole, Some(coordinate)).into_iter();
                let sets: Vec<IndexSet> = parts.map(|(_, set)| set).collect();
                if sets.is_empty() { Vec::new() } else { vec![(0, IndexSet::union(&sets))] }
            }
        }
    }

    /// What `coordinate` owns; empty for cuts that own nothing.
    #[must_use]
    pub fn owned(&self, coordinate: usize) -> (usize, usize) {
        match &self.cut {
            Cut::Block(_) => {
                let (low, high) = self.owned_interval(coordinate);
                self.view.range(low, high)
            }
            _ => (0, 0),
        }
    }

    /// Number of local places of `coordinate`: the extent of its room.
    #[must_use]
    pub fn local_length(&self, coordinate: usize) -> usize {
        match &self.cut {
            Cut::Block(_) => {
                self.spans(self.room_interval(coordinate)).iter().map(Span::length).sum()
            }
            Cut::Cyclic { block } => self.pattern(*block).count_below(coordinate, self.length()),
            Cut::Indexed(labels) if self.sees_all() => labels.list(coordinate).len(),
            Cut::Indexed(labels) => labels.kept(&self.view, coordinate).len(),
        }
    }

    /// The local place of the visible index `k` under `lift`, if `coordinate` has room for it.
    #[must_use]
    pub fn local(&self, coordinate: usize, lift: i64, k: usize) -> Option<usize> {
        if k >= self.length() {
            return None;
        }
        let one = IndexSet::range(k, k + 1);
        match self.locate(coordinate, lift, &one)? {
            Indices::Segments(segments) => segments.first().map(Segment::start),
            Indices::List(list) => list.first().copied(),
        }
    }

    /// The visible index and lift at a local place of `coordinate`; `None` beyond its room.
    #[must_use]
    pub fn global(&self, coordinate: usize, local: usize) -> Option<(usize, i64)> {
        match &self.cut {
            Cut::Block(_) => {
                let mut rest = local;
                for span in self.spans(self.room_interval(coordinate)) {
                    if rest < span.length() {
                        return Some((span.from + rest, span.lift));
                    }
                    rest -= span.length();
                }
                None
            }
            Cut::Cyclic { block } => {
                let k = self.pattern(*block).index_of(coordinate, local)?;
                (k < self.length()).then_some((k, 0))
            }
            Cut::Indexed(labels) if self.sees_all() => {
                Some((*labels.list(coordinate).get(local)?, 0))
            }
            Cut::Indexed(labels) => Some((*labels.kept(&self.view, coordinate).get(local)?, 0)),
        }
    }

    /// Local places of `set` under `lift` at `coordinate`, in the set's message order;
    /// `None` if the coordinate has no room for some of them.
    #[must_use]
    pub fn locate(&self, coordinate: usize, lift: i64, set: &IndexSet) -> Option<Indices> {
        match &self.cut {
            Cut::Block(_) => self.locate_block(coordinate, lift, set),
            Cut::Cyclic { block } => {
                let pattern = self.pattern(*block);
                let outside = |k: usize| pattern.coordinate(k) != coordinate;
                match set.indices() {
                    Indices::Segments(segments) => {
                        if lift != 0 || segments.iter().any(|s| outside(s.start())) {
                            return None;
                        }
                        let places = segments.iter().flat_map(|s| pattern.locate(coordinate, s));
                        Some(Indices::Segments(places.collect()))
                    }
                    Indices::List(list) => {
                        if lift != 0 || list.iter().any(|k| outside(*k)) {
                            return None;
                        }
                        let place = |k: &usize| pattern.count_below(coordinate, *k);
                        Some(Indices::List(list.iter().map(place).collect()))
                    }
                }
            }
            Cut::Indexed(labels) => {
                let whole = self.sees_all();
                let places = labels.locate(&self.view, whole, coordinate, &mut set.iter());
                if lift == 0 { Some(Indices::List(places?.into())) } else { None }
            }
        }
    }

    /// The visible indices that nobody holds.
    #[must_use]
    pub fn uncovered(&self) -> IndexSet {
        if self.is_surely_covered() {
            return IndexSet::range(0, 0);
        }
        let parts = self.split(&IndexSet::range(0, self.length()), None).into_iter();
        let gaps = parts.filter(|(holding, _)| holding.holders.is_empty());
        IndexSet::union(&gaps.map(|(_, set)| set).collect::<Vec<_>>())
    }

    /// True if every index has exactly one holder.
    #[must_use]
    pub fn is_single(&self) -> bool {
        match &self.cut {
            Cut::Cyclic { .. } => true,
            Cut::Indexed(labels) if self.sees_all() => labels.is_one_to_one(self.base),
            Cut::Block(_) if self.held == Extent::Owned => true,
            Cut::Block(_) if self.surely_overlaps() => false,
            _ => {
                let parts = self.split(&IndexSet::range(0, self.length()), None);
                parts.iter().all(|(holding, _)| holding.holders.len() == 1)
            }
        }
    }

    /// Mesh-axis numbers replaced, for a mesh with axes removed or renumbered.
    pub(crate) fn renumbered(&self, number: impl Fn(usize) -> usize) -> Self {
        Self { over: self.over.iter().map(|axis| number(*axis)).collect(), ..self.clone() }
    }

    /// The length of the base axis as a position.
    fn turn(&self) -> i64 {
        position(self.base)
    }
}

impl Holding {
    /// Holders with lift 0; where nobody owns, the lowest coordinate is the owner.
    pub(crate) fn of(coordinates: Vec<usize>) -> Self {
        let holders: Vec<Holder> =
            coordinates.into_iter().map(|coordinate| Holder { coordinate, lift: 0 }).collect();
        let owner = holders.first().copied();
        Self { holders, owner }
    }
}
