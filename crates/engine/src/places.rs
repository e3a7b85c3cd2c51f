//! Where elements lie in the memory of the ranks.

use pantile_comm::Rank;
use pantile_geometry::{Distribution, Indices, Region, Segment, Slab};
use pantile_kernels::Layout;
use pantile_plan::{Lifts, Transfer};

use crate::Error;

/// Where the elements of transfers lie in the memory of the ranks.
pub(crate) trait Places {
    /// Where `rank`, the sender, has them.
    fn source(&self, rank: Rank, transfer: &Transfer) -> Result<Layout, Error>;
    /// Where `rank`, the receiver, puts them.
    fn target(&self, rank: Rank, transfer: &Transfer) -> Result<Layout, Error>;
    /// All cells that `rank` will hold.
    fn held(&self, rank: Rank) -> Result<Vec<Layout>, Error>;
    /// Elements in the memory of `rank` before and after.
    fn lengths(&self, rank: Rank) -> (usize, usize);
}

/// Two distributions of one array, each with its frame.
pub(crate) struct Arrays<'a> {
    pub(crate) source: (&'a Distribution, &'a Frame),
    pub(crate) target: (&'a Distribution, &'a Frame),
}

impl Places for Arrays<'_> {
    fn source(&self, rank: Rank, transfer: &Transfer) -> Result<Layout, Error> {
        layout(self.source, rank, &all(&transfer.source_lifts, transfer), &transfer.region)
    }

    fn target(&self, rank: Rank, transfer: &Transfer) -> Result<Layout, Error> {
        layout(self.target, rank, &all(&transfer.target_lifts, transfer), &transfer.region)
    }

    fn held(&self, rank: Rank) -> Result<Vec<Layout>, Error> {
        let held = self.target.0.held(rank);
        held.iter().map(|(lifts, region)| layout(self.target, rank, lifts, region)).collect()
    }

    fn lengths(&self, rank: Rank) -> (usize, usize) {
        let len = |(distribution, frame): (&Distribution, &Frame)| {
            frame.local_shape(distribution, rank).map_or(0, |shape| shape.iter().product())
        };
        (len(self.source), len(self.target))
    }
}

/// Cells around the tiles of a distribution that do not belong to the array, such as padding: along
/// each axis, by coordinate, how many before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Per axis and coordinate, cells before and after; no axes mean no frame.
    pub axes: Vec<Vec<(usize, usize)>>,
}

impl Frame {
    fn sides(&self, distribution: &Distribution, rank: Rank, axis: usize) -> (usize, usize) {
        let Some(sides) = self.axes.get(axis) else { return (0, 0) };
        let coordinate = distribution.coordinate(rank, axis).unwrap_or(0);
        sides.get(coordinate).copied().unwrap_or_default()
    }

    /// The shape of a rank's memory with its frame; `None` if it is idle.
    #[must_use]
    pub fn local_shape(&self, distribution: &Distribution, rank: Rank) -> Option<Vec<usize>> {
        let mut shape = distribution.local_shape(rank)?;
        for (axis, extent) in shape.iter_mut().enumerate() {
            let (before, after) = self.sides(distribution, rank, axis);
            *extent += before + after;
        }
        Some(shape)
    }

    /// A slab of the tile as one of the memory with its frame.
    fn shift(&self, distribution: &Distribution, rank: Rank, slab: Slab) -> Slab {
        let axes = slab.axes.into_iter().enumerate();
        let axes = axes.map(|(axis, places)| {
            let (before, _) = self.sides(distribution, rank, axis);
            if before == 0 { places } else { shifted(&places, before) }
        });
        Slab { axes: axes.collect() }
    }
}

fn shifted(places: &Indices, by: usize) -> Indices {
    match places {
        Indices::List(list) => Indices::List(list.iter().map(|place| place + by).collect()),
        Indices::Segments(segments) => {
            let shift = |s: &Segment| {
                Segment::strided(s.start() + by, s.length(), s.step(), s.count())
                    .expect("a segment is not empty")
            };
            Indices::Segments(segments.iter().map(shift).collect())
        }
    }
}

/// Elements in a rank's memory, halo and room included.
pub(crate) fn local_len(distribution: &Distribution, rank: Rank) -> usize {
    distribution.local_shape(rank).map_or(0, |shape| shape.iter().product())
}

/// Lifts along all axes; a plan leaves out zeros.
fn all(lifts: &Lifts, transfer: &Transfer) -> Vec<i64> {
    (0..transfer.region.axes().len()).map(|axis| lifts.along(axis)).collect()
}

fn layout(
    (distribution, frame): (&Distribution, &Frame),
    rank: Rank,
    lifts: &[i64],
    region: &Region,
) -> Result<Layout, Error> {
    let shape = frame.local_shape(distribution, rank).expect("a rank in a plan is not idle");
    let slab = distribution.slab(rank, lifts, region).expect("planned cells have a place");
    Ok(Layout::of(&frame.shift(distribution, rank, slab), &shape)?)
}

/// Single cells of a memory of `len` elements.
pub(crate) fn listed(cells: Vec<usize>, len: usize) -> Result<Layout, Error> {
    let axes = vec![Indices::List(cells.into())];
    Ok(Layout::of(&Slab { axes }, &[len])?)
}
