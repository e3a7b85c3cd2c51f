//! A set of indices of one axis.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Segment;

/// Disjoint segments, mostly one: kept in place.
pub type Segments = SmallVec<[Segment; 1]>;

/// A set of indices of one axis: disjoint segments, or a list where no formula is known.
///
/// Invariants:
/// 1. Segments are disjoint, sorted by start, and no two single runs touch.
/// 2. A list is ascending and without repeats.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexSet(Indices);

/// How an [`IndexSet`] is written down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Indices {
    /// Disjoint segments, sorted by start.
    Segments(Segments),
    /// An ascending list.
    List(Arc<[usize]>),
}

impl IndexSet {
    /// The indices `start..stop`.
    #[must_use]
    pub fn range(start: usize, stop: usize) -> Self {
        Self(Indices::Segments(Segment::run(start, stop).into_iter().collect()))
    }

    /// The union of disjoint segments in any order.
    #[must_use]
    pub fn from_segments(segments: impl Into<Segments>) -> Self {
        let mut segments: Segments = segments.into();
        if segments.len() < 2 {
            return Self(Indices::Segments(segments));
        }
        segments.sort_unstable();
        let mut merged = Segments::new();
        for segment in segments {
            match merged.last_mut() {
                Some(last)
                    if last.count() == 1
                        && segment.count() == 1
                        && last.stop() == segment.start() =>
                {
                    *last = last.joined(&segment);
                }
                _ => merged.push(segment),
            }
        }
        Self(Indices::Segments(merged))
    }

    /// The set of an ascending list without repeats.
    #[must_use]
    pub fn from_list(list: Vec<usize>) -> Self {
        debug_assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "invariant 2 of IndexSet");
        Self(Indices::List(list.into()))
    }

    /// How the set is written down.
    #[must_use]
    pub fn indices(&self) -> &Indices {
        &self.0
    }

    /// Number of indices.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.0 {
            Indices::Segments(segments) => segments.iter().map(Segment::size).sum(),
            Indices::List(list) => list.len(),
        }
    }

    /// True if there is no index.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Indices::Segments(segments) => segments.is_empty(),
            Indices::List(list) => list.is_empty(),
        }
    }

    /// The smallest index and one past the largest; `None` if empty.
    #[must_use]
    pub fn hull(&self) -> Option<(usize, usize)> {
        match &self.0 {
            Indices::Segments(segments) => {
                let stop = segments.iter().map(Segment::stop).max()?;
                Some((segments.first()?.start(), stop))
            }
            Indices::List(list) => Some((*list.first()?, list.last()? + 1)),
        }
    }

    /// True if `index` is in the set.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        match &self.0 {
            Indices::Segments(segments) => segments.iter().any(|s| s.contains(index)),
            Indices::List(list) => list.binary_search(&index).is_ok(),
        }
    }

    /// The indices in the order in which messages carry them: segment by segment.
    pub fn iter(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        match &self.0 {
            Indices::Segments(segments) => Box::new(segments.iter().flat_map(Segment::iter)),
            Indices::List(list) => Box::new(list.iter().copied()),
        }
    }

    /// The part inside `low..high`.
    #[must_use]
    pub fn clip(&self, low: usize, high: usize) -> Self {
        if self.hull().is_some_and(|(from, to)| low <= from && to <= high) {
            return self.clone();
        }
        match &self.0 {
            Indices::Segments(segments) => {
                let parts = segments.iter().flat_map(|s| s.clip(low, high));
                Self::from_segments(parts.collect::<Segments>())
            }
            Indices::List(list) => {
                let from = list.partition_point(|i| *i < low);
                let to = list.partition_point(|i| *i < high).max(from);
                Self(Indices::List(list[from..to].into()))
            }
        }
    }

    /// The union of disjoint sets: a list if any of them is one.
    #[must_use]
    pub fn union(sets: &[IndexSet]) -> Self {
        if let [only] = sets {
            return only.clone();
        }
        let segments = sets.iter().map(|set| match &set.0 {
            Indices::Segments(segments) => Some(segments.clone()),
            Indices::List(_) => None,
        });
        match segments.collect::<Option<Vec<_>>>() {
            Some(parts) => Self::from_segments(parts.into_iter().flatten().collect::<Segments>()),
            None => {
                let mut list: Vec<usize> = sets.iter().flat_map(IndexSet::iter).collect();
                list.sort_unstable();
                Self::from_list(list)
            }
        }
    }

    /// The first `size` indices in message order, and the others.
    #[must_use]
    pub fn split_at(&self, size: usize) -> (Self, Self) {
        match &self.0 {
            Indices::List(list) => {
                let (head, tail) = list.split_at(size.min(list.len()));
                (Self(Indices::List(head.into())), Self(Indices::List(tail.into())))
            }
            Indices::Segments(segments) => {
                let (mut head, mut tail, mut room) = (Segments::new(), Segments::new(), size);
                for segment in segments {
                    let taken = room.min(segment.size());
                    let (runs, rest) = (taken / segment.length(), taken % segment.length());
                    let cut = segment.start() + runs * segment.step() + rest;
                    if taken == segment.size() {
                        head.push(*segment);
                    } else {
                        head.extend(segment.clip(0, cut));
                        tail.extend(segment.clip(cut, usize::MAX));
                    }
                    room -= taken;
                }
                (Self::from_segments(head), Self::from_segments(tail))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_merge_touching_runs() {
        let set = IndexSet::union(&[IndexSet::range(4, 6), IndexSet::range(0, 4)]);
        assert_eq!(set, IndexSet::range(0, 6));
        assert_eq!(set.hull(), Some((0, 6)));
        let list = IndexSet::union(&[IndexSet::from_list(vec![1, 9]), IndexSet::range(3, 5)]);
        assert_eq!(list.iter().collect::<Vec<_>>(), [1, 3, 4, 9]);
    }

    #[test]
    fn split_keeps_message_order() {
        let segments = [Segment::strided(1, 2, 4, 3), Segment::run(3, 4)].into_iter().flatten();
        let sets = [
            IndexSet::from_segments(segments.collect::<Segments>()),
            IndexSet::from_list(vec![2, 3, 8]),
        ];
        for set in sets {
            let all: Vec<usize> = set.iter().collect();
            for size in 0..=all.len() {
                let (head, tail) = set.split_at(size);
                assert_eq!(head.size(), size);
                let mut both: Vec<usize> = head.iter().collect();
                both.extend(tail.iter());
                both.sort_unstable();
                let mut sorted = all.clone();
                sorted.sort_unstable();
                assert_eq!(both, sorted);
            }
        }
    }
}
