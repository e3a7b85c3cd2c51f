//! The groups in which a broadcast or a sum-reduction between two partitions takes place.
//!
//! One side is *small*: its workers are the roots (source of a broadcast, target of a reduction).
//! The other is *large*: every small extent equals the large one it is aligned with, or is 1.
//!
//! ```text
//!   small 1x3          large 2x3              groups, one per small worker
//!   +---+---+---+      +---+---+---+
//!   | a | b | c |      | a | b | c |          a: root a, both workers of column 0
//!   +---+---+---+      +---+---+---+          b: root b, both workers of column 1
//!                      | a | b | c |          c: ...
//!                      +---+---+---+
//! ```

use super::error::TeamError;
use super::index::{chosen_extents, flatten_chosen, line};
use super::partition::Partition;
use super::sub::AxisChoice;
use crate::mesh::unflatten;

/// Which of the two whole-tensor movements groups are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Roots are the source; each sends to its group.
    Broadcast,
    /// Roots are the target; each receives the sum of its group.
    SumReduce,
}

/// Which sides have their shape reversed before the axes are matched.
///
/// Only the shape is reversed. Workers are still paired by row-major position over the matched
/// axes in their partition's own axis order, so with two matched axes nothing is transposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transpose {
    /// Reverse the shape of the source partition.
    pub source: bool,
    /// Reverse the shape of the target partition.
    pub target: bool,
}

/// One root with the workers it sends to or receives from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// World rank of the root, a worker of the small side.
    pub root: usize,
    /// World ranks: the root, then the large side's workers of the group (the root not repeated)
    /// by their place in source joined with target.
    pub members: Vec<usize>,
}

/// The groups of one broadcast or reduction: group c belongs to the small side's rank c.
///
/// Laws: the number of groups is the size of the small side; every large worker is in exactly one
/// group as a large worker; groups of a reduction are, as sets, those of the broadcast back.
#[derive(Clone, Debug)]
pub struct Groups {
    movement: Movement,
    small: Partition,
    large: Partition,
    /// Per axis of the large side (own order), whether the small side has the same extent there.
    matched: Vec<bool>,
}

/// How the array of cells (one cell per group) lies on the large side of a movement.
///
/// The cell array has one axis of length `count`. On the small side cell c is on rank c. On the
/// large side it is cut over `matched_axes` taken together row-major in this (own) order, one cell
/// per combination of coordinates, and spread over `spread_axes`: copies of it if the side
/// receives from a root, terms of it if it is summed. Without matched axes there is one cell.
/// The transpose flags have done their work once the matched axes are known.
///
/// An all-reduction has one cell per combination of kept coordinates and only this one side:
/// terms over `spread_axes` before, copies after.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cells {
    /// Number of cells = number of groups = product of the extents of `matched_axes`.
    pub count: usize,
    /// Axes of the large side that cut the cell array, ascending.
    pub matched_axes: Vec<usize>,
    /// The other axes of the large side, ascending.
    pub spread_axes: Vec<usize>,
}

impl Groups {
    /// The groups in which `source` broadcasts to `target`.
    ///
    /// # Errors
    /// See [`Groups::reduction`]; here the source is the small side.
    pub fn broadcast(
        source: &Partition,
        target: &Partition,
        transpose: Transpose,
    ) -> Result<Self, TeamError> {
        source.check_same_root(target)?;
        let matched = matched_axes((source, transpose.source), (target, transpose.target))?;
        let (small, large) = (source.clone(), target.clone());
        Ok(Self { movement: Movement::Broadcast, small, large, matched })
    }

    /// The groups in which `source` is sum-reduced to `target`.
    ///
    /// # Errors
    /// Null partitions and different roots; a large side (here the source) that is not Cartesian; a
    /// small side (the target) that is not Cartesian although its transpose flag is set; a small
    /// side with more axes, or with an extent that is neither 1 nor that of the large side.
    pub fn reduction(
        source: &Partition,
        target: &Partition,
        transpose: Transpose,
    ) -> Result<Self, TeamError> {
        source.check_same_root(target)?;
        let matched = matched_axes((target, transpose.target), (source, transpose.source))?;
        let (small, large) = (target.clone(), source.clone());
        Ok(Self { movement: Movement::SumReduce, small, large, matched })
    }

    /// Which movement the groups are for.
    #[must_use]
    pub fn movement(&self) -> Movement {
        self.movement
    }

    /// The number of groups.
    #[must_use]
    pub fn count(&self) -> usize {
        self.small.size()
    }

    /// The group of the small side's rank `cell`, `None` if there is no such rank.
    #[must_use]
    pub fn group(&self, cell: usize) -> Option<Group> {
        let root = self.small.world_rank(cell)?;
        let ranks = line(&self.large.shape(), &self.matched, cell).into_iter();
        let world_ranks = ranks.filter_map(|rank| self.large.world_rank(rank));
        let mut others: Vec<usize> = world_ranks.filter(|world_rank| *world_rank != root).collect();
        if self.movement == Movement::Broadcast {
            // Source joined with target lists the small side first, in its order. A reduction's
            // union starts with the large side, in which the line already ascends.
            others.sort_by_key(|world_rank| self.small.rank_of(*world_rank).unwrap_or(usize::MAX));
        }
        let mut members = vec![root];
        members.append(&mut others);
        Some(Group { root, members })
    }

    /// All groups, made when asked for.
    pub fn iter(&self) -> impl Iterator<Item = Group> + '_ {
        (0..self.count()).filter_map(|cell| self.group(cell))
    }

    /// The group a worker sends in, `None` if it is not in the source.
    #[must_use]
    pub fn send_of(&self, world_rank: usize) -> Option<usize> {
        match self.movement {
            Movement::Broadcast => self.small.rank_of(world_rank),
            Movement::SumReduce => self.cell_on_large(world_rank),
        }
    }

    /// The group a worker receives in, `None` if it is not in the target.
    #[must_use]
    pub fn receive_of(&self, world_rank: usize) -> Option<usize> {
        match self.movement {
            Movement::Broadcast => self.cell_on_large(world_rank),
            Movement::SumReduce => self.small.rank_of(world_rank),
        }
    }

    /// How the cell array lies on the large side.
    #[must_use]
    pub fn cells(&self) -> Cells {
        cells(&self.large.shape(), &self.matched)
    }

    /// The partition with the roots.
    #[must_use]
    pub fn small(&self) -> &Partition {
        &self.small
    }

    /// The other partition.
    #[must_use]
    pub fn large(&self) -> &Partition {
        &self.large
    }

    fn cell_on_large(&self, world_rank: usize) -> Option<usize> {
        let rank = self.large.rank_of(world_rank)?;
        let shape = self.large.shape();
        Some(flatten_chosen(&shape, &unflatten(rank, &shape), &self.matched))
    }
}

impl Partition {
    /// How the cell array of an all-reduction lies on this partition: `matched_axes` are the kept
    /// axes, `spread_axes` the reduced ones; cell c is that of the c-th team of
    /// [`allreductions`](Partition::allreductions).
    ///
    /// # Errors
    /// No Cartesian shape, or a wrong axis (see [`AxisChoice::kept`]).
    pub fn allreduction_cells(&self, axes: &AxisChoice) -> Result<Cells, TeamError> {
        let shape = self.grid()?;
        Ok(cells(shape, &axes.kept(shape.len())?))
    }
}

fn cells(shape: &[usize], matched: &[bool]) -> Cells {
    let (matched_axes, spread_axes) = (0..shape.len()).partition(|axis| matched[*axis]);
    Cells { count: chosen_extents(shape, matched).iter().product(), matched_axes, spread_axes }
}

/// Per axis of the large side in its own order, whether the extents match.
fn matched_axes(
    (small, reverse_small): (&Partition, bool),
    (large, reverse_large): (&Partition, bool),
) -> Result<Vec<bool>, TeamError> {
    let mut large_shape = large.grid()?.to_vec();
    let mut small_shape = if reverse_small { small.grid()?.to_vec() } else { small.shape() };
    // Reversal comes before the padding: 3x4 reversed against three axes is 1x4x3.
    if reverse_small {
        small_shape.reverse();
    }
    if reverse_large {
        large_shape.reverse();
    }
    let incompatible =
        || TeamError::Incompatible { small: small_shape.clone(), large: large_shape.clone() };
    let missing = large_shape.len().checked_sub(small_shape.len()).ok_or_else(incompatible)?;
    let padded = std::iter::repeat_n(1, missing).chain(small_shape.iter().copied());
    let mut matched = Vec::with_capacity(large_shape.len());
    for (small, &large) in padded.zip(&large_shape) {
        if small != large && small != 1 {
            return Err(incompatible());
        }
        matched.push(small == large);
    }
    if reverse_large {
        matched.reverse();
    }
    Ok(matched)
}
