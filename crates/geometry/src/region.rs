//! Sets of elements of an array, and where they lie in local memory.

use crate::index::{IndexSet, Indices};

/// A product of index sets: the elements whose index lies in each axis' set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    axes: Vec<IndexSet>,
}

impl Region {
    /// The product of one index set per axis; no axes give the one element of a 0-d array.
    #[must_use]
    pub fn new(axes: Vec<IndexSet>) -> Self {
        Self { axes }
    }

    /// A box of half-open ranges.
    #[must_use]
    pub fn from_ranges(ranges: &[(usize, usize)]) -> Self {
        Self { axes: ranges.iter().map(|(from, to)| IndexSet::range(*from, *to)).collect() }
    }

    /// The index set of each axis.
    #[must_use]
    pub fn axes(&self) -> &[IndexSet] {
        &self.axes
    }

    /// Number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.axes.iter().map(IndexSet::size).product()
    }

    /// True if there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(IndexSet::is_empty)
    }

    /// All elements in message order: row-major over the axes, each axis in its set's order.
    #[must_use]
    pub fn cells(&self) -> Vec<Vec<usize>> {
        let mut cells = vec![Vec::new()];
        for axis in &self.axes {
            let longer = cells.iter().flat_map(|cell| {
                axis.iter().map(move |at| {
                    let mut longer: Vec<usize> = cell.clone();
                    longer.push(at);
                    longer
                })
            });
            cells = longer.collect();
        }
        cells
    }
}

/// Where a region lies in a rank's memory: local places per axis, in message order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slab {
    /// Local places per axis.
    pub axes: Vec<Indices>,
}

impl Slab {
    /// The row-major offsets of all places in a buffer of shape `shape`, in message order.
    #[must_use]
    pub fn offsets(&self, shape: &[usize]) -> Vec<usize> {
        let mut offsets = vec![0];
        for (axis, places) in self.axes.iter().enumerate() {
            let list: Vec<usize> = match places {
                Indices::Segments(segments) => segments.iter().flat_map(|s| s.iter()).collect(),
                Indices::List(list) => list.to_vec(),
            };
            let longer =
                offsets.iter().flat_map(|at| list.iter().map(move |p| at * shape[axis] + p));
            offsets = longer.collect();
        }
        offsets
    }
}
