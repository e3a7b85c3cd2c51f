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
        self.distributions(None)
    }

    /// The same for cells of `elements` elements each: an array of cells times elements, whose
    /// second axis a path may cut.
    ///
    /// # Errors
    /// A team is too large to be a mesh.
    pub fn tensor_distributions(
        &self,
        elements: usize,
    ) -> Result<(Distribution, Distribution), Error> {
        self.distributions(Some(elements))
    }

    fn distributions(
        &self,
        elements: Option<usize>,
    ) -> Result<(Distribution, Distribution), Error> {
        let cells = self.cells();
        let small = on_small_side(self.small(), cells.count, elements)?;
        Ok(match self.movement() {
            Movement::Broadcast => (small, on_large_side(self.large(), &cells, elements)?),
            Movement::SumReduce => (as_terms(self.large(), &cells, elements)?, small),
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
        Ok((as_terms(self, &cells, None)?, on_large_side(self, &cells, None)?))
    }

    /// The same for cells of `elements` elements each.
    ///
    /// # Errors
    /// As [`Partition::allreduction_distributions`].
    pub fn allreduction_tensors(
        &self,
        axes: &AxisChoice,
        elements: usize,
    ) -> Result<(Distribution, Distribution), CellError> {
        let (cells, elements) = (self.allreduction_cells(axes)?, Some(elements));
        Ok((as_terms(self, &cells, elements)?, on_large_side(self, &cells, elements)?))
    }
}

/// Why a team has no cell array.
#[derive(Clone, Debug, PartialEq, Eq)]
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
fn on_small_side(
    small: &Partition,
    cells: usize,
    elements: Option<usize>,
) -> Result<Distribution, Error> {
    let mesh = Mesh::line(small.size())?.with_team(small.world_ranks().collect())?;
    array(cells, elements, mesh, Axis::block(&["r"]))
}

/// The array of cells, or of cells times elements.
fn array(
    cells: usize,
    elements: Option<usize>,
    mesh: Mesh,
    cut: Axis,
) -> Result<Distribution, Error> {
    match elements {
        None => Distribution::new(&[cells], mesh, vec![cut]),
        Some(elements) => Distribution::new(&[cells, elements], mesh, vec![cut, Axis::whole()]),
    }
}

fn names(large: &Partition) -> Vec<String> {
    (0..large.dim()).map(|axis| format!("p{axis}")).collect()
}

/// Cells over the matched axes taken together in their own order, Copies over the others.
fn on_large_side(
    large: &Partition,
    cells: &Cells,
    elements: Option<usize>,
) -> Result<Distribution, Error> {
    let names = names(large);
    let axes: Vec<(&str, usize)> = names.iter().map(String::as_str).zip(large.shape()).collect();
    let mesh = Mesh::new(&axes)?.with_team(large.world_ranks().collect())?;
    let matched: Vec<&str> = cells.matched_axes.iter().map(|axis| names[*axis].as_str()).collect();
    array(cells.count, elements, mesh, Axis::block(&matched))
}

/// The same with Terms over the axes that do not match.
fn as_terms(
    large: &Partition,
    cells: &Cells,
    elements: Option<usize>,
) -> Result<Distribution, Error> {
    let names = names(large);
    let spread: Vec<Direction<'_>> =
        cells.spread_axes.iter().map(|axis| Direction::Mesh(&names[*axis])).collect();
    on_large_side(large, cells, elements)?.with_terms(&spread, Operator::Sum)
}
