//! Whole tensors as cells: a movement of tensors of unequal sizes.

use pantile_comm::Rank;
use pantile_geometry::Distribution;
use pantile_kernels::Layout;
use pantile_plan::Transfer;

use crate::Error;
use crate::places::Places;

/// An array of cells before and after a movement. A cell is the whole local tensor of a rank; each
/// rank has at most one on either side, and all holders of a cell have tensors of one size.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Where the cells are before: a distribution of a 1-d array.
    pub source: Distribution,
    /// Where they are to be.
    pub target: Distribution,
    /// Number of elements of each cell.
    pub counts: Vec<usize>,
}

impl Cells {
    /// The cell that a rank has, if any.
    fn of(distribution: &Distribution, rank: Rank) -> Option<usize> {
        let held = distribution.held(rank);
        held.iter().find_map(|(_, region)| region.axes()[0].iter().next())
    }

    fn layout(&self, transfer: &Transfer) -> Layout {
        let cell = transfer.region.axes()[0].iter().next();
        Layout::dense(0, cell.map_or(0, |cell| self.counts[cell]))
    }

    fn len(&self, distribution: &Distribution, rank: Rank) -> usize {
        Self::of(distribution, rank).map_or(0, |cell| self.counts[cell])
    }
}

impl Places for Cells {
    fn source(&self, _: Rank, transfer: &Transfer) -> Result<Layout, Error> {
        Ok(self.layout(transfer))
    }

    fn target(&self, _: Rank, transfer: &Transfer) -> Result<Layout, Error> {
        Ok(self.layout(transfer))
    }

    fn held(&self, rank: Rank) -> Result<Vec<Layout>, Error> {
        let cell = Self::of(&self.target, rank);
        Ok(cell.map(|cell| Layout::dense(0, self.counts[cell])).into_iter().collect())
    }

    fn lengths(&self, rank: Rank) -> (usize, usize) {
        (self.len(&self.source, rank), self.len(&self.target, rank))
    }
}
