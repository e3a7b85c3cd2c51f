//! One axis cut into consecutive blocks, balanced by formula or of given extents.

use std::ops::Range;

use super::error::HaloError;
use super::number::{check_size, check_workers};
use crate::Cuts;

/// An axis cut into one block per worker, in worker order; blocks may be empty.
///
/// Balanced means that the first `extent mod workers` blocks have one cell more. Balanced blocks
/// are a formula, not a list. Law: the ranges tile `0..extent`.
#[derive(Clone, Debug)]
pub struct Blocks {
    extent: usize,
    workers: usize,
    cuts: Cuts,
}

/// Where a source block and a target block share cells, in the local indices of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOverlap {
    /// Worker of the source block.
    pub source: usize,
    /// Worker of the target block.
    pub target: usize,
    /// The shared cells, relative to the source block.
    pub source_range: Range<usize>,
    /// The shared cells, relative to the target block.
    pub target_range: Range<usize>,
}

impl PartialEq for Blocks {
    /// Equal if all ranges are, however they were given.
    fn eq(&self, other: &Self) -> bool {
        self.extent == other.extent
            && self.workers() == other.workers()
            && (0..self.workers()).all(|worker| self.range(worker) == other.range(worker))
    }
}

impl Eq for Blocks {}

impl Blocks {
    /// Cuts an axis into balanced blocks.
    ///
    /// # Errors
    /// No workers, or a number above the limit.
    pub fn balanced(extent: usize, workers: usize) -> Result<Self, HaloError> {
        check_size("extent", extent)?;
        check_workers(workers)?;
        Ok(Self { extent, workers, cuts: Cuts::Balanced })
    }

    /// Cuts an axis into blocks of these extents.
    ///
    /// # Errors
    /// No workers, or a total above the limit.
    pub fn from_extents(extents: &[usize]) -> Result<Self, HaloError> {
        check_workers(extents.len())?;
        let mut starts = Vec::with_capacity(extents.len() + 1);
        let mut extent = 0_usize;
        for block in extents {
            starts.push(extent);
            extent = extent.saturating_add(*block);
        }
        check_size("extent", extent)?;
        starts.push(extent);
        Ok(Self { extent, workers: extents.len(), cuts: Cuts::At(starts.into()) })
    }

    /// The extent of the whole axis.
    #[must_use]
    pub fn extent(&self) -> usize {
        self.extent
    }

    /// The number of blocks.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The block of a worker; past the last worker the empty range at the end of the axis.
    #[must_use]
    pub fn range(&self, worker: usize) -> Range<usize> {
        if worker >= self.workers() {
            return self.extent..self.extent;
        }
        let (start, stop) = self.cuts.part(self.extent, self.workers, worker);
        start..stop
    }

    /// The blocks that share cells with `range`, each with what it shares, in worker order.
    pub fn covering(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let end = range.end.min(self.extent);
        let first = self.worker_of(range.start);
        (first..self.workers())
            .map(|worker| (worker, self.range(worker)))
            .take_while(move |(_, block)| block.start < end)
            .map(move |(worker, block)| (worker, block.start.max(range.start)..block.end.min(end)))
            .filter(|(_, shared)| !shared.is_empty())
    }

    /// Every pair of blocks of the two cuts that shares cells, by source, then by target.
    ///
    /// # Errors
    /// The cuts are of axes with different extents.
    pub fn overlaps(&self, target: &Self) -> Result<Vec<BlockOverlap>, HaloError> {
        if self.extent != target.extent {
            return Err(HaloError::WrongExtent { got: target.extent, expected: self.extent });
        }
        let local = |range: &Range<usize>, start: usize| range.start - start..range.end - start;
        let mut overlaps = Vec::new();
        for source in 0..self.workers() {
            let block = self.range(source);
            overlaps.extend(target.covering(block.clone()).map(|(worker, shared)| BlockOverlap {
                source,
                target: worker,
                source_range: local(&shared, block.start),
                target_range: local(&shared, target.range(worker).start),
            }));
        }
        Ok(overlaps)
    }

    /// The same blocks with `padding` cells more on the first block's left and the last's right.
    pub(super) fn padded(&self, padding: usize) -> Result<Self, HaloError> {
        let mut extents: Vec<usize> =
            (0..self.workers()).map(|worker| self.range(worker).len()).collect();
        extents[0] += padding;
        let last = extents.len() - 1;
        extents[last] += padding;
        Self::from_extents(&extents)
    }

    /// The worker whose block has `index`; past the axis, one past the last worker.
    fn worker_of(&self, index: usize) -> usize {
        if index >= self.extent {
            return self.workers;
        }
        self.cuts.part_of(self.extent, self.workers, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covering_finds_every_block_that_shares_cells() {
        let cuts = [
            Blocks::balanced(7, 3).unwrap(),
            Blocks::balanced(2, 4).unwrap(),
            Blocks::from_extents(&[0, 3, 0, 0, 4, 0]).unwrap(),
        ];
        for blocks in &cuts {
            for start in 0..9 {
                for end in start..10 {
                    let expected: Vec<_> = (0..blocks.workers())
                        .map(|worker| (worker, blocks.range(worker)))
                        .map(|(worker, block)| (worker, block.start.max(start)..block.end.min(end)))
                        .filter(|(_, shared)| shared.start < shared.end)
                        .collect();
                    assert_eq!(blocks.covering(start..end).collect::<Vec<_>>(), expected);
                }
            }
        }
    }

    #[test]
    fn the_first_covering_block_is_found_without_a_search() {
        let blocks = Blocks::balanced(10, 4).unwrap();
        let found: Vec<usize> = (0..11).map(|index| blocks.worker_of(index)).collect();
        assert_eq!(found, [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4]);
    }
}
