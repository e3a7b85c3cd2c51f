//! Bodies that lie in several places of one memory: scatter/gather lists.

use std::ops::Range;
use std::sync::Arc;

/// Ranges of bytes, ascending: where a body lies that is not contiguous. Made once, they fit every
/// memory that is long enough; clones refer to the same list.
///
/// Invariant: no range is empty, and each ends before the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    list: Arc<[RangeEnd]>,
}

/// One range, and the bytes of the body up to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RangeEnd {
    start: usize,
    upto: usize,
}

impl Ranges {
    /// These ranges; those that touch become one, and empty ones count for nothing. Nothing if one
    /// begins before the end of another.
    pub fn ascending(ranges: impl IntoIterator<Item = Range<usize>>) -> Option<Self> {
        let (mut list, mut upto, mut stop) = (Vec::new(), 0_usize, 0);
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            if range.start < stop {
                return None;
            }
            // Ranges do not overlap, so no sum of their lengths is more than the last stop.
            upto += range.len();
            match list.last_mut() {
                Some(RangeEnd { upto: last, .. }) if range.start == stop => *last = upto,
                _ => list.push(RangeEnd { start: range.start, upto }),
            }
            stop = range.end;
        }
        Some(Self { list: list.into() })
    }

    /// Number of ranges that do not touch.
    #[must_use]
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Number of bytes in all of them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.list.last().map_or(0, |last| last.upto)
    }

    /// One past the last byte; 0 if there is none.
    #[must_use]
    pub fn span(&self) -> usize {
        self.list.len().checked_sub(1).map_or(0, |last| self.range(last).end)
    }

    fn range(&self, number: usize) -> Range<usize> {
        let before = number.checked_sub(1).map_or(0, |before| self.list[before].upto);
        let RangeEnd { start, upto } = self.list[number];
        start..start + (upto - before)
    }

    /// Where the bytes `part` of the body lie, in order.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn places(&self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'_> {
        let inside = part.start <= part.end && part.end <= self.bytes();
        assert!(inside, "bytes {part:?} of a body of {}", self.bytes());
        let first = self.list.partition_point(|range| range.upto <= part.start);
        (first..self.list.len()).map_while(move |number| {
            let (range, upto) = (self.range(number), self.list[number].upto);
            let before = upto - range.len();
            let from = part.start.max(before) - before;
            let to = part.end.min(upto).checked_sub(before).filter(|to| *to > from)?;
            Some(range.start + from..range.start + to)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::single_range_in_vec_init, reason = "a list of ranges that has one")]
    #[test]
    fn touching_ranges_become_one_and_overlaps_are_refused() {
        let ranges = |list: &[Range<usize>]| Ranges::ascending(list.iter().cloned());
        let whole = |ranges: &Ranges| ranges.places(0..ranges.bytes()).collect::<Vec<_>>();
        let three = ranges(&[2..4, 4..5, 7..7, 8..11]).unwrap();
        assert_eq!((three.count(), three.bytes(), three.span()), (2, 6, 11));
        assert_eq!(whole(&three), [2..5, 8..11]);
        assert_eq!(whole(&ranges(&[0..3]).unwrap()), [0..3]);
        let none = ranges(&[5..5]).unwrap();
        assert_eq!((none.count(), none.bytes(), none.span()), (0, 0, 0));
        assert_eq!(whole(&none), []);
        assert!(ranges(&[2..4, 3..5]).is_none() && ranges(&[4..5, 1..2]).is_none());
    }

    #[test]
    fn every_part_of_a_body_lies_where_its_bytes_are() {
        let ranges = Ranges::ascending([1..2, 3..7, 9..11, 14..15]).unwrap();
        let all: Vec<usize> = ranges.places(0..8).flatten().collect();
        assert_eq!(all, [1, 3, 4, 5, 6, 9, 10, 14]);
        for start in 0..=8 {
            for stop in start..=8 {
                let places: Vec<Range<usize>> = ranges.places(start..stop).collect();
                assert!(places.iter().all(|place| !place.is_empty()), "{places:?}");
                assert_eq!(places.into_iter().flatten().collect::<Vec<_>>(), all[start..stop]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "bytes 1..4 of a body of 3")]
    fn a_part_lies_inside() {
        let _ = Ranges::ascending([0..2, 8..9]).unwrap().places(1..4).count();
    }
}
