//! Sub-partitions of a Cartesian partition: sub-topologies and the teams of an all-reduction.

use super::error::TeamError;
use super::index::{chosen_extents, flatten_chosen, line};
use super::partition::Partition;
use crate::mesh::unflatten;

/// Which axes an all-reduction sums over: said by those it reduces or by those it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisChoice {
    /// Reduce exactly these axes.
    Reduce(Vec<isize>),
    /// Reduce all axes but these.
    Keep(Vec<isize>),
}

impl AxisChoice {
    /// Per axis, whether it is kept.
    ///
    /// Axes count from 0; negative ones from the end, -1 being the last.
    ///
    /// # Errors
    /// An axis that is not in `-ndim..ndim`, or listed twice (also once from either end).
    pub fn kept(&self, ndim: usize) -> Result<Vec<bool>, TeamError> {
        let (axes, listed_is_kept) = match self {
            Self::Reduce(axes) => (axes, false),
            Self::Keep(axes) => (axes, true),
        };
        let mut kept = vec![!listed_is_kept; ndim];
        for &axis in axes {
            let from_start = if axis < 0 { axis.checked_add_unsigned(ndim) } else { Some(axis) };
            let from_start = from_start.and_then(|axis| usize::try_from(axis).ok());
            let entry = from_start.and_then(|axis| kept.get_mut(axis));
            let entry = entry.ok_or(TeamError::AxisOutOfRange { axis, ndim })?;
            if *entry == listed_is_kept {
                return Err(TeamError::RepeatedAxis { axis });
            }
            *entry = listed_is_kept;
        }
        Ok(kept)
    }
}

impl Partition {
    /// The sub-topologies that keep the axes where `keep` is set, one per combination of the other
    /// coordinates, in row-major order of those.
    ///
    /// Each has the kept extents as its shape, its workers row-major over them. They are made when
    /// asked for, so taking a few of very many is cheap.
    ///
    /// # Errors
    /// No Cartesian shape, or a mask without one entry per axis.
    pub fn subtopologies(
        &self,
        keep: &[bool],
    ) -> Result<impl Iterator<Item = Self> + use<'_>, TeamError> {
        let shape = self.masked_grid(keep)?;
        let sub_shape = chosen_extents(shape, keep);
        let fixed: Vec<bool> = keep.iter().map(|kept| !kept).collect();
        Ok(self.lines(fixed, sub_shape))
    }

    /// The sub-topology a worker is in; the null partition for a worker outside the team.
    ///
    /// # Errors
    /// No Cartesian shape, or a mask without one entry per axis.
    pub fn subtopology_of(&self, world_rank: usize, keep: &[bool]) -> Result<Self, TeamError> {
        let shape = self.masked_grid(keep)?;
        let fixed: Vec<bool> = keep.iter().map(|kept| !kept).collect();
        Ok(self.line_of(world_rank, &fixed, chosen_extents(shape, keep)))
    }

    /// The teams of an all-reduction: the workers that agree on every kept axis, one team per
    /// combination of kept coordinates, in row-major order of those.
    ///
    /// Each team is Cartesian with the same number of axes; kept axes have extent 1 in it. Every
    /// worker is in exactly one.
    ///
    /// # Errors
    /// No Cartesian shape, or a wrong axis (see [`AxisChoice::kept`]).
    pub fn allreductions(
        &self,
        axes: &AxisChoice,
    ) -> Result<impl Iterator<Item = Self> + use<'_>, TeamError> {
        let shape = self.grid()?;
        let kept = axes.kept(shape.len())?;
        let sub_shape = reduced_shape(shape, &kept);
        Ok(self.lines(kept, sub_shape))
    }

    /// The all-reduction team of a worker; the null partition for a worker outside the team.
    ///
    /// # Errors
    /// No Cartesian shape, or a wrong axis (see [`AxisChoice::kept`]).
    pub fn allreduction_of(&self, world_rank: usize, axes: &AxisChoice) -> Result<Self, TeamError> {
        let shape = self.grid()?;
        let kept = axes.kept(shape.len())?;
        Ok(self.line_of(world_rank, &kept, reduced_shape(shape, &kept)))
    }

    fn masked_grid(&self, mask: &[bool]) -> Result<&[usize], TeamError> {
        let shape = self.grid()?;
        if mask.len() == shape.len() {
            Ok(shape)
        } else {
            Err(TeamError::WrongLength { got: mask.len(), ndim: shape.len() })
        }
    }

    /// One sub-partition per combination of the coordinates on the `fixed` axes.
    fn lines(
        &self,
        fixed: Vec<bool>,
        sub_shape: Vec<usize>,
    ) -> impl Iterator<Item = Self> + use<'_> {
        let count: usize = chosen_extents(&self.shape(), &fixed).iter().product();
        (0..count).map(move |position| self.line(position, &fixed, sub_shape.clone()))
    }

    fn line_of(&self, world_rank: usize, fixed: &[bool], sub_shape: Vec<usize>) -> Self {
        let Some(rank) = self.rank_of(world_rank) else { return Self::null() };
        let shape = self.shape();
        let position = flatten_chosen(&shape, &unflatten(rank, &shape), fixed);
        self.line(position, fixed, sub_shape)
    }

    fn line(&self, position: usize, fixed: &[bool], sub_shape: Vec<usize>) -> Self {
        let ranks = line(&self.shape(), fixed, position).into_iter();
        let world_ranks = ranks.filter_map(|rank| self.world_rank(rank)).collect();
        self.with_members(world_ranks, Some(sub_shape))
            .expect("ranks of distinct grid points are distinct")
    }
}

/// The shape of an all-reduction team.
fn reduced_shape(shape: &[usize], kept: &[bool]) -> Vec<usize> {
    shape.iter().zip(kept).map(|(extent, kept)| if *kept { 1 } else { *extent }).collect()
}
