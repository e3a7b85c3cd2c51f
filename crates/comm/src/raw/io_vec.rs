//! Bodies that lie in several places of one memory.

use std::ops::Range;

use super::MemoryBlock;
use crate::Ranges;

/// Several ranges of bytes of a [`MemoryBlock`]: the body of a message, or room for one (an iovec).
///
/// Invariant: R2 of the folder.
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
            // SAFETY: R1, R2; `io_vec` compares the ranges with the block, and the caller excludes writers.
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
            // SAFETY: R1, R2; `io_vec` compares the ranges with the block, `Ranges::ascending` refuses
            // overlaps, and the caller excludes readers and writers.
            unsafe { std::slice::from_raw_parts_mut(from, place.len()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
