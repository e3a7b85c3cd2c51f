//! The partition: a team of workers with or without a Cartesian shape.

use std::fmt;

use super::error::{Extents, TeamError};
use super::members::Members;
use crate::mesh::{flatten, unflatten};

/// The largest root team: its arithmetic never overflows and no list of members gets out of hand.
pub const MAX_SIZE: usize = 1 << 26;

/// The left and right neighbour of a worker on one axis; `None` beyond an edge (never wraps).
pub type Neighbours = (Option<usize>, Option<usize>);

/// A team of ranks, with or without a Cartesian shape.
///
/// Partitions are equal if they have the same root, the same members in the same order and the
/// same shape (or both none). As with floating-point NaN, the null partition is unequal to
/// everything, itself included, so there is no `Eq`.
///
/// Invariants:
/// 1. the null partition has no root, no members and no shape; every other one has at least one;
/// 2. members are world ranks below the root's size, without repeats;
/// 3. a shape has positive extents whose product is the number of members.
///
/// ```
/// use pantile_geometry::teams::Partition;
///
/// let grid = Partition::world(12)?.cartesian(&[2, 3, 2])?;
/// assert_eq!(grid.cartesian_index(7)?, [1, 0, 1]);
/// assert_eq!(grid.rank_of_index(&[1, 0, 1])?, 7);
/// let few = Partition::world(12)?.inclusive(&[3, 1])?;
/// assert_eq!(few.rank_of(3), Some(0));
/// assert_eq!(few.rank_of(0), None);
/// # Ok::<(), pantile_geometry::teams::TeamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Partition {
    root: Option<Root>,
    members: Members,
    shape: Option<Vec<usize>>,
}

/// The first ancestor of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Root {
    id: u64,
    size: usize,
}

/// What one worker knows of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Worker {
    /// The worker's position in the team, `None` outside it.
    pub rank: Option<usize>,
    /// The size of the team; `None` on a worker outside it.
    pub size: Option<usize>,
    /// The shape. A worker outside the team knows it only if the partition is Cartesian.
    pub shape: Option<Vec<usize>>,
    /// The worker's coordinates (one, its rank, without a Cartesian shape); `None` outside.
    pub index: Option<Vec<usize>>,
}

impl PartialEq for Partition {
    fn eq(&self, other: &Self) -> bool {
        self.root.is_some()
            && self.root == other.root
            && self.shape == other.shape
            && self.members == other.members
    }
}

impl Partition {
    /// All workers of the default root, `0..size` in order.
    ///
    /// # Errors
    /// [`TeamError::Empty`] or [`TeamError::TooLarge`].
    pub fn world(size: usize) -> Result<Self, TeamError> {
        Self::root(0, size)
    }

    /// All workers of a root team of its own; partitions of different roots do not mix.
    ///
    /// Roots are the same if identifier and size are.
    ///
    /// # Errors
    /// [`TeamError::Empty`] or [`TeamError::TooLarge`].
    pub fn root(id: u64, size: usize) -> Result<Self, TeamError> {
        if size == 0 {
            return Err(TeamError::Empty);
        }
        if size > MAX_SIZE {
            return Err(TeamError::TooLarge { got: size, limit: MAX_SIZE });
        }
        Ok(Self { root: Some(Root { id, size }), members: Members::Range(0..size), shape: None })
    }

    /// The partition without team and root.
    #[must_use]
    pub fn null() -> Self {
        Self { root: None, members: Members::Range(0..0), shape: None }
    }

    /// The team of the members with the given `ranks` (of this partition), in the given order.
    ///
    /// # Errors
    /// Null partition, no ranks, a rank out of range, a repeated rank.
    pub fn inclusive(&self, ranks: &[usize]) -> Result<Self, TeamError> {
        self.check_not_null()?;
        if ranks.is_empty() {
            return Err(TeamError::Empty);
        }
        let members = ranks
            .iter()
            .map(|&rank| {
                self.world_rank(rank).ok_or(TeamError::RankOutOfRange { rank, size: self.size() })
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.with_members(members, None).map_err(|error| match error {
            // The caller speaks of ranks of this partition, so the message does too.
            TeamError::RepeatedRank { rank: world_rank } => {
                TeamError::RepeatedRank { rank: self.rank_of(world_rank).unwrap_or(world_rank) }
            }
            other => other,
        })
    }

    /// The members of this partition, then those of `other` that are new, in `other`'s order.
    ///
    /// # Errors
    /// Null partitions and different roots.
    pub fn union(&self, other: &Self) -> Result<Self, TeamError> {
        self.check_same_root(other)?;
        let new = other.world_ranks().filter(|world_rank| self.rank_of(*world_rank).is_none());
        self.with_members(self.world_ranks().chain(new).collect(), None)
    }

    /// The same team arranged row-major as a grid of `shape`.
    ///
    /// # Errors
    /// Null partition; a zero extent or a product that is not the team's size.
    pub fn cartesian(&self, shape: &[usize]) -> Result<Self, TeamError> {
        self.check_not_null()?;
        let product =
            shape.iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent));
        if product != Some(self.size()) {
            return Err(TeamError::ShapeDoesNotFill { shape: shape.to_vec(), size: self.size() });
        }
        let members = self.members.clone();
        Ok(Self { root: self.root, members, shape: Some(shape.to_vec()) })
    }

    /// True for the partition without a team.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.root.is_none()
    }

    /// True if the team has a Cartesian shape.
    #[must_use]
    pub fn is_cartesian(&self) -> bool {
        self.shape.is_some()
    }

    /// The number of workers, 0 for the null partition.
    #[must_use]
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// The shape; without a Cartesian one a single axis of the team's size.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.shape.clone().unwrap_or_else(|| vec![self.size()])
    }

    /// The number of axes of [`shape`](Self::shape).
    #[must_use]
    pub fn dim(&self) -> usize {
        self.shape.as_ref().map_or(1, Vec::len)
    }

    /// The world rank of the member with this rank.
    #[must_use]
    pub fn world_rank(&self, rank: usize) -> Option<usize> {
        self.members.get(rank)
    }

    /// All world ranks in team order.
    pub fn world_ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter()
    }

    /// The rank of a worker, `None` if it is not a member.
    #[must_use]
    pub fn rank_of(&self, world_rank: usize) -> Option<usize> {
        self.members.position(world_rank)
    }

    /// True if the worker is a member.
    #[must_use]
    pub fn is_active(&self, world_rank: usize) -> bool {
        self.rank_of(world_rank).is_some()
    }

    /// What the worker with this world rank knows of the partition.
    #[must_use]
    pub fn worker(&self, world_rank: usize) -> Worker {
        match self.rank_of(world_rank) {
            None => Worker { rank: None, size: None, shape: self.shape.clone(), index: None },
            Some(rank) => Worker {
                rank: Some(rank),
                size: Some(self.size()),
                shape: Some(self.shape()),
                index: Some(unflatten(rank, &self.shape())),
            },
        }
    }

    /// The coordinates of the member with this rank.
    ///
    /// # Errors
    /// No Cartesian shape, or a rank out of range.
    pub fn cartesian_index(&self, rank: usize) -> Result<Vec<usize>, TeamError> {
        let shape = self.grid()?;
        self.check_rank(rank)?;
        Ok(unflatten(rank, shape))
    }

    /// The rank of the member at these coordinates.
    ///
    /// # Errors
    /// No Cartesian shape, a wrong number of coordinates, or one that is not below its extent.
    pub fn rank_of_index(&self, index: &[usize]) -> Result<usize, TeamError> {
        let shape = self.grid()?;
        if index.len() != shape.len() {
            return Err(TeamError::WrongLength { got: index.len(), ndim: shape.len() });
        }
        for (&coordinate, &extent) in index.iter().zip(shape) {
            if coordinate >= extent {
                return Err(TeamError::RankOutOfRange { rank: coordinate, size: extent });
            }
        }
        Ok(flatten(index, shape))
    }

    /// Per axis the ranks of the left and right neighbour.
    ///
    /// # Errors
    /// No Cartesian shape, or a rank out of range.
    pub fn neighbour_ranks(&self, rank: usize) -> Result<Vec<Neighbours>, TeamError> {
        let index = self.cartesian_index(rank)?;
        let shape = self.grid()?;
        let mut step = self.size();
        let mut neighbours = Vec::with_capacity(shape.len());
        for (coordinate, extent) in index.into_iter().zip(shape) {
            step /= extent;
            let left = (coordinate > 0).then(|| rank - step);
            let right = (coordinate + 1 < *extent).then(|| rank + step);
            neighbours.push((left, right));
        }
        Ok(neighbours)
    }

    /// The Cartesian shape.
    pub(super) fn grid(&self) -> Result<&[usize], TeamError> {
        self.check_not_null()?;
        self.shape.as_deref().ok_or(TeamError::NotCartesian)
    }

    /// A partition of the same root from members of this one.
    pub(super) fn with_members(
        &self,
        world_ranks: Vec<usize>,
        shape: Option<Vec<usize>>,
    ) -> Result<Self, TeamError> {
        let members = Members::new(world_ranks).map_err(|rank| TeamError::RepeatedRank { rank })?;
        Ok(Self { root: self.root, members, shape })
    }

    /// Refuses the null partition and partitions of another root.
    pub(super) fn check_same_root(&self, other: &Self) -> Result<(), TeamError> {
        self.check_not_null()?;
        other.check_not_null()?;
        if self.root == other.root { Ok(()) } else { Err(TeamError::DifferentRoots) }
    }

    fn check_not_null(&self) -> Result<(), TeamError> {
        if self.is_null() { Err(TeamError::Null) } else { Ok(()) }
    }

    fn check_rank(&self, rank: usize) -> Result<(), TeamError> {
        let size = self.size();
        if rank < size { Ok(()) } else { Err(TeamError::RankOutOfRange { rank, size }) }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.members {
            _ if self.is_null() => return write!(f, "null"),
            Members::Range(range) => write!(f, "ranks {}..{}", range.start, range.end)?,
            Members::List { ranks, .. } => write!(f, "ranks {ranks:?}")?,
        }
        match &self.shape {
            Some(shape) => write!(f, " as {}", Extents(shape)),
            None => Ok(()),
        }
    }
}
