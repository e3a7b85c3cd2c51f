//! Bodies that lie in several places of one memory: scatter/gather lists.

use std::ops::Range;
use std::sync::Arc;

use super::MemoryBlock;

/// Ranges of bytes, ascending: where a body lies that is not contiguous. Made once, they fit every
/// memory that is long enough; clones refer to the same list.
///
/// Invariant 4: no range is empty, and each ends before the next one begins.
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

/// Several ranges of bytes of a [`MemoryBlock`]: the body of a message, or room for one (an iovec).
///
/// Invariant 5: the ranges lie inside the memory.
#[derive(Clone, Debug)]
pub struct IoVec {
    memory: MemoryBlock,
    ranges: Ranges,
}

impl MemoryBlock {
    /// The bytes of these ranges.
    ///
    /// # Panics
    /// If they are not inside.
    #[must_use]
    pub fn io_vec(&self, ranges: &Ranges) -> IoVec {
        let (span, bytes) = (ranges.span(), self.bytes());
        assert!(span <= bytes, "ranges up to byte {span} of a memory of {bytes}");
        IoVec { memory: self.clone(), ranges: ranges.clone() }
    }
}

impl IoVec {
    /// The memory it is a part of.
    #[must_use]
    pub fn memory(&self) -> &MemoryBlock {
        &self.memory
    }

    /// Where in the memory it lies.
    #[must_use]
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.bytes()
    }

    /// True if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes `part` of the body, slice by slice.
    ///
    /// # Panics
    /// If there are not so many.
    ///
    /// # Safety
    /// No thread writes them while the slices are in use.
    pub unsafe fn slices(&self, part: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let start = self.memory.start().as_ptr();
        self.ranges.places(part).map(move |place| {
            let from = start.wrapping_add(place.start);
            // SAFETY: invariants 1, 2 and 5; the caller excludes writers.
            unsafe { std::slice::from_raw_parts(from, place.len()) }
        })
    }

    /// The bytes `part` of the body, slice by slice, to be written.
    ///
    /// # Panics
    /// If there are not so many.
    ///
    /// # Safety
    /// No other thread reads or writes them while the slices are in use.
    pub unsafe fn slices_mut(&self, part: Range<usize>) -> impl Iterator<Item = &mut [u8]> {
        let start = self.memory.start().as_ptr();
        self.ranges.places(part).map(move |place| {
            let from = start.wrapping_add(place.start);
            // SAFETY: invariants 1, 2 and 5; no two slices overlap (invariant 4), and the caller
            // excludes readers and writers.
            unsafe { std::slice::from_raw_parts_mut(from, place.len()) }
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
    fn slices_are_views_of_the_memory() {
        let memory = MemoryBlock::zeroed(6);
        let body = memory.io_vec(&Ranges::ascending([1..3, 5..6]).unwrap());
        assert!(body.len() == 3 && !body.is_empty() && body.memory().is(&memory));
        // SAFETY: this thread has the only references.
        unsafe { body.slices_mut(1..3) }.for_each(|slice| slice.fill(7));
        // SAFETY: no thread writes any more.
        assert_eq!(unsafe { body.slices(0..3) }.collect::<Vec<_>>(), [&[0, 7][..], &[7]]);
        let whole = memory.whole();
        // SAFETY: as above.
        assert_eq!(unsafe { whole.as_slice() }, [0, 0, 7, 0, 0, 7]);
    }

    #[test]
    #[should_panic(expected = "ranges up to byte 11 of a memory of 10")]
    fn ranges_lie_inside() {
        let _ = MemoryBlock::zeroed(10).io_vec(&Ranges::ascending([0..2, 8..11]).unwrap());
    }

    #[test]
    #[should_panic(expected = "bytes 1..4 of a body of 3")]
    fn a_part_lies_inside() {
        let _ = Ranges::ascending([0..2, 8..9]).unwrap().places(1..4).count();
    }
}
