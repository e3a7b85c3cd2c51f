//! Which terms are the first of their cells, and which cells get nothing.

use pantile_geometry::{IndexSet, Region};
use pantile_kernels::Layout;
use pantile_plan::Transfer;

/// What has arrived so far, in the order of combining.
pub(crate) struct Cover {
    combines: bool,
    /// Transfers whose cells had not arrived before: pairwise disjoint.
    first: Vec<Transfer>,
    /// Transfers that share some cells, but not all, with earlier ones.
    mixed: Vec<Transfer>,
    cells: usize,
    /// Cell by cell, whether it has got something; only where that has to be known.
    marks: Option<Vec<bool>>,
}

impl Cover {
    /// Nothing has arrived; `combines` if a cell may get several terms. With the number of cells
    /// it is kept cell by cell.
    pub(crate) fn new(combines: bool, by_cell: Option<usize>) -> Self {
        let marks = by_cell.map(|cells| vec![false; cells]);
        Self { combines, first: Vec::new(), mixed: Vec::new(), cells: 0, marks }
    }

    /// Adds what arrives next cell by cell, if that is kept: for each cell, whether it is its first.
    pub(crate) fn mark(&mut self, target: &Layout) -> Option<Vec<bool>> {
        let marks = self.marks.as_mut()?;
        let mut first = |cell: usize| !std::mem::replace(&mut marks[cell], true);
        let firsts: Vec<bool> = target.offsets().map(&mut first).collect();
        self.cells += firsts.iter().filter(|first| **first).count();
        Some(firsts)
    }

    pub(crate) fn combines(&self) -> bool {
        self.combines
    }

    /// Adds what arrives next: true if it is the first for all its cells, so that it is set and not
    /// combined.
    pub(crate) fn add(&mut self, transfer: &Transfer) -> bool {
        if !self.combines {
            self.cells += transfer.size();
            return true;
        }
        let same = |earlier: &Transfer| {
            earlier.target_lifts == transfer.target_lifts && earlier.region == transfer.region
        };
        if self.first.iter().any(same) {
            return false;
        }
        let apart = |earlier: &Transfer| {
            earlier.target_lifts != transfer.target_lifts
                || are_disjoint(&earlier.region, &transfer.region)
        };
        if self.first.iter().all(apart) && self.mixed.iter().all(apart) {
            self.cells += transfer.size();
            self.first.push(transfer.clone());
            return true;
        }
        self.mixed.push(transfer.clone());
        false
    }

    /// True if every transfer is either the first of all its cells or of none.
    pub(crate) fn is_simple(&self) -> bool {
        self.mixed.is_empty()
    }

    /// Number of cells that get something, if the cover is simple.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    /// Transfers that together reach every cell that gets something; of a cover that combines.
    pub(crate) fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.first.iter().chain(&self.mixed)
    }
}

fn are_disjoint(one: &Region, other: &Region) -> bool {
    one.axes().iter().zip(other.axes()).any(|(one, other)| sets_are_disjoint(one, other))
}

fn sets_are_disjoint(one: &IndexSet, other: &IndexSet) -> bool {
    let (Some((low, high)), Some((from, to))) = (one.hull(), other.hull()) else { return true };
    if high <= from || to <= low {
        return true;
    }
    let (fewer, more) = if one.size() <= other.size() { (one, other) } else { (other, one) };
    !fewer.iter().any(|index| more.contains(index))
}

/// True if a cell of a memory of `len` elements lies in a layout of both lists.
pub(crate) fn overlap(ones: &[Layout], others: &[Layout], len: usize) -> bool {
    if ones.is_empty() || others.is_empty() {
        return false;
    }
    let mut seen = vec![false; len];
    ones.iter().flat_map(Layout::offsets).for_each(|at| seen[at] = true);
    others.iter().flat_map(Layout::offsets).any(|at| seen[at])
}
