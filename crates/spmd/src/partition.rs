//! Teams of workers, seen from one of them.

use std::fmt;
use std::ops::Deref;

use pantile_geometry::Mesh;
use pantile_geometry::teams::{self, AxisChoice, Groups, TeamError, Transpose};

use crate::{Error, RankContext};

/// A team of workers, seen from this rank, which may be in it (*active*) or not.
///
/// Everything about a team is arithmetic: making one sends no message, and every rank of the world
/// may do it, in it or not. Dropping it releases it; there is nothing else to release.
///
/// Two partitions are equal if they come from the same world and have the same members in the same
/// order and the same shape. Null partitions are equal to nothing, not even to each other.
#[derive(Clone)]
pub struct Partition {
    world: Option<RankContext>,
    team: teams::Partition,
}

impl Partition {
    pub(crate) fn new(world: RankContext, team: teams::Partition) -> Self {
        Self { world: Some(world), team }
    }

    /// The partition without a team: inactive everywhere, and of no world.
    #[must_use]
    pub fn null() -> Self {
        Self { world: None, team: teams::Partition::null() }
    }

    /// True if this rank is a member.
    #[must_use]
    pub fn active(&self) -> bool {
        self.rank().is_some()
    }

    /// This rank's place in the team; `None` outside.
    #[must_use]
    pub fn rank(&self) -> Option<usize> {
        self.team.rank_of(self.world.as_ref()?.rank())
    }

    /// Number of members; `None` outside.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        self.active().then(|| self.team.size())
    }

    /// The shape: `[size]` without a Cartesian one. Outside only a Cartesian shape is known.
    #[must_use]
    pub fn shape(&self) -> Option<Vec<usize>> {
        (self.active() || self.team.is_cartesian()).then(|| self.team.shape())
    }

    /// Number of axes, as far as the shape is known.
    #[must_use]
    pub fn dim(&self) -> Option<usize> {
        Some(self.shape()?.len())
    }

    /// This rank's coordinates (one, its rank, without a Cartesian shape); `None` outside.
    #[must_use]
    pub fn index(&self) -> Option<Vec<usize>> {
        self.team.worker(self.world.as_ref()?.rank()).index
    }

    /// True for a partition without a team.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.team.is_null()
    }

    /// The members as ranks of the world, in order. Known to every rank, in the team or not.
    #[must_use]
    pub fn members(&self) -> Vec<usize> {
        self.team.world_ranks().collect()
    }

    /// The team itself: its arithmetic without a world.
    #[must_use]
    pub fn team(&self) -> &teams::Partition {
        &self.team
    }

    /// The world.
    ///
    /// # Errors
    /// A null partition has none.
    pub fn world(&self) -> Result<&RankContext, Error> {
        self.world.as_ref().ok_or(Error::Inactive { asked: "the world of a null partition" })
    }

    /// The members with these ranks *of this partition*, in the order given.
    ///
    /// # Errors
    /// A rank does not exist or is named twice.
    pub fn create_partition_inclusive(&self, ranks: &[usize]) -> Result<Self, Error> {
        Ok(self.with(self.team.inclusive(ranks)?))
    }

    /// The members of this partition in their order, then those of the other that are not yet
    /// there.
    ///
    /// # Errors
    /// The two come from different worlds, or one is null.
    pub fn create_partition_union(&self, other: &Self) -> Result<Self, Error> {
        self.same_world(other)?;
        Ok(self.with(self.team.union(&other.team)?))
    }

    /// The same members as a grid, row-major.
    ///
    /// # Errors
    /// The shape does not have as many places as there are members.
    pub fn create_cartesian_topology_partition(
        &self,
        shape: &[usize],
    ) -> Result<CartesianPartition, Error> {
        Ok(CartesianPartition(self.with(self.team.cartesian(shape)?)))
    }

    /// The groups in which this partition sends copies to `target`: the one this rank is the root
    /// of, and the one in which it receives. Null where it does not take part. If both are the same
    /// group, both are equal.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn create_broadcast_partition_to(
        &self,
        target: &Self,
        transpose: Transpose,
    ) -> Result<(Self, Self), Error> {
        self.same_world(target)?;
        self.groups(&Groups::broadcast(&self.team, &target.team, transpose)?)
    }

    /// The groups in which this partition sends terms to `target`: the one in which this rank
    /// sends, and the one it is the root of. Null where it does not take part.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn create_reduction_partition_to(
        &self,
        target: &Self,
        transpose: Transpose,
    ) -> Result<(Self, Self), Error> {
        self.same_world(target)?;
        self.groups(&Groups::reduction(&self.team, &target.team, transpose)?)
    }

    /// The group in which this rank sends, and the one in which it receives.
    fn groups(&self, groups: &Groups) -> Result<(Self, Self), Error> {
        let world = self.world()?;
        let team = |cell: Option<usize>| -> Result<Self, Error> {
            let Some(group) = cell.and_then(|cell| groups.group(cell)) else {
                return Ok(Self::null());
            };
            let all = teams::Partition::world(world.size())?;
            Ok(self.with(all.inclusive(&group.members)?))
        };
        Ok((team(groups.send_of(world.rank()))?, team(groups.receive_of(world.rank()))?))
    }

    pub(crate) fn with(&self, team: teams::Partition) -> Self {
        Self { world: self.world.clone(), team }
    }

    pub(crate) fn same_world(&self, other: &Self) -> Result<(), Error> {
        match (&self.world, &other.world) {
            (Some(one), Some(two)) if one.is(two) => Ok(()),
            _ => Err(TeamError::DifferentRoots.into()),
        }
    }

    /// The members as a mesh with one axis per axis of the partition, named `p0`, `p1` ...
    pub(crate) fn mesh(&self) -> Result<Mesh, Error> {
        let names: Vec<String> = (0..self.team.dim()).map(|axis| format!("p{axis}")).collect();
        let axes = names.iter().map(String::as_str).zip(self.team.shape());
        let mesh = Mesh::new(&axes.collect::<Vec<_>>())?;
        Ok(mesh.with_team(self.members())?)
    }
}

impl PartialEq for Partition {
    fn eq(&self, other: &Self) -> bool {
        self.same_world(other).is_ok() && self.team == other.team
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_null() {
            return write!(out, "Partition(null)");
        }
        write!(out, "Partition({:?}, shape {:?}, ", self.members(), self.team.shape())?;
        match self.rank() {
            Some(rank) => write!(out, "rank {rank})"),
            None => write!(out, "inactive)"),
        }
    }
}

/// A [`Partition`] whose members form a grid.
#[derive(Clone, PartialEq)]
pub struct CartesianPartition(Partition);

impl CartesianPartition {
    /// The coordinates of a member.
    ///
    /// # Errors
    /// This rank is not in the partition, or there is no such member.
    pub fn cartesian_index(&self, rank: usize) -> Result<Vec<usize>, Error> {
        self.expect_active("cartesian_index")?;
        Ok(self.0.team.cartesian_index(rank)?)
    }

    /// The neighbours of a member along each axis, left and right; `None` beyond an edge.
    ///
    /// # Errors
    /// This rank is not in the partition, or there is no such member.
    pub fn neighbor_ranks(&self, rank: usize) -> Result<Vec<teams::Neighbours>, Error> {
        self.expect_active("neighbor_ranks")?;
        Ok(self.0.team.neighbour_ranks(rank)?)
    }

    /// The members that share this rank's coordinates on the axes that are not kept, with the kept
    /// extents as shape; null if this rank is outside.
    ///
    /// # Errors
    /// The mask does not have one entry per axis.
    pub fn create_cartesian_subtopology_partition(
        &self,
        keep: &[bool],
    ) -> Result<Partition, Error> {
        if !self.active() {
            // A mask that does not fit is an error on every rank.
            let _ = self.0.team.subtopologies(keep)?;
            return Ok(Partition::null());
        }
        let me = self.0.world()?.rank();
        Ok(self.0.with(self.0.team.subtopology_of(me, keep)?))
    }

    /// The members with which this rank sums over the chosen axes, as a grid of as many axes; null
    /// if this rank is outside.
    ///
    /// # Errors
    /// An axis does not exist or is named twice.
    pub fn create_allreduction_partition(&self, axes: &AxisChoice) -> Result<Partition, Error> {
        if !self.active() {
            axes.kept(self.0.team.dim())?;
            return Ok(Partition::null());
        }
        let me = self.0.world()?.rank();
        Ok(self.0.with(self.0.team.allreduction_of(me, axes)?))
    }

    fn expect_active(&self, asked: &'static str) -> Result<(), Error> {
        if self.active() { Ok(()) } else { Err(Error::Inactive { asked }) }
    }
}

impl Deref for CartesianPartition {
    type Target = Partition;

    fn deref(&self) -> &Partition {
        &self.0
    }
}

impl fmt::Debug for CartesianPartition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Cartesian{:?}", self.0)
    }
}
