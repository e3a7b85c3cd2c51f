//! Whole tensors as an array of cells: one cell per worker of the small side.
//!
//! A cell is a worker's whole local tensor. The two sides of a broadcast, a sum-reduce or an
//! all-sum-reduce are two distributions of the cell array, and the movement is the plan between
//! them, as ever: groups, roots and adjoints follow.

use super::{AxisChoice, Cells, Groups, Movement, Partition, TeamError};
use crate::{Axis, Direction, Distribution, Error, Mesh, Operator};

impl Groups {
    /// The cell array before and after the movement.
    ///
    /// # Errors
    /// A team is too large to be a mesh.
    pub fn cell_distributions(&self) -> Result<(Distribution, Distribution), Error> {
        let cells = self.cells();
        let small = on_small_side(self.small(), cells.count)?;
        Ok(match self.movement() {
            Movement::Broadcast => (small, on_large_side(self.large(), &cells)?),
            Movement::SumReduce => (as_terms(self.large(), &cells)?, small),
        })
    }
}

impl Partition {
    /// The cell array of an all-sum-reduce before (Terms) and after (Copies).
    ///
    /// # Errors
    /// An axis does not exist or is named twice, or the partition is not Cartesian.
    pub fn allreduction_distributions(
        &self,
        axes: &AxisChoice,
    ) -> Result<(Distribution, Distribution), CellError> {
        let cells = self.allreduction_cells(axes)?;
        Ok((as_terms(self, &cells)?, on_large_side(self, &cells)?))
    }
}

/// Why a team has no cell array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellError {
    /// The team arithmetic refuses.
    Team(TeamError),
    /// The distribution refuses.
    Geometry(Error),
}

impl std::fmt::Display for CellError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Team(error) => error.fmt(f),
            Self::Geometry(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CellError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Team(error) => Some(error),
            Self::Geometry(error) => Some(error),
        }
    }
}

impl From<TeamError> for CellError {
    fn from(error: TeamError) -> Self {
        Self::Team(error)
    }
}

impl From<Error> for CellError {
    fn from(error: Error) -> Self {
        Self::Geometry(error)
    }
}

/// Cell c on the c-th worker.
fn on_small_side(small: &Partition, cells: usize) -> Result<Distribution, Error> {
    let mesh = Mesh::line(small.size())?.with_team(small.world_ranks().collect())?;
    Distribution::new(&[cells], mesh, vec![Axis::block(&["r"])])
}

fn names(large: &Partition) -> Vec<String> {
    (0..large.dim()).map(|axis| format!("p{axis}")).collect()
}

/// Cells over the matched axes taken together in their own order, Copies over the others.
fn on_large_side(large: &Partition, cells: &Cells) -> Result<Distribution, Error> {
    let names = names(large);
    let axes: Vec<(&str, usize)> = names.iter().map(String::as_str).zip(large.shape()).collect();
    let mesh = Mesh::new(&axes)?.with_team(large.world_ranks().collect())?;
    let matched: Vec<&str> = cells.matched_axes.iter().map(|axis| names[*axis].as_str()).collect();
    Distribution::new(&[cells.count], mesh, vec![Axis::block(&matched)])
}

/// The same with Terms over the axes that do not match.
fn as_terms(large: &Partition, cells: &Cells) -> Result<Distribution, Error> {
    let names = names(large);
    let spread: Vec<Direction<'_>> =
        cells.spread_axes.iter().map(|axis| Direction::Mesh(&names[*axis])).collect();
    on_large_side(large, cells)?.with_terms(&spread, Operator::Sum)
}
