//! Pictures of distributions, movements, teams and halos, as SVG.
//!
//! Every function here is pure and answers with an [`Svg`] whose text is the same on every
//! machine. A picture suits light and dark pages, carries its own style, needs no fonts or other
//! files, and says in words what it shows. Nothing is said by colour alone. What would be too
//! large to look at is refused with a [`DrawError`], or summed up where a table can do that.
//!
//! Must never contain what plans and distributions mean, files or I/O.
//!
//! Read [`plan()`] and [`distribution()`] first.
//!
//! ```
//! use pantile_geometry::Distribution;
//! use pantile_plan::Plan;
//!
//! let rows: Distribution = "4x4 on r=2: block(r), whole".parse()?;
//! let columns: Distribution = "4x4 on r=2: whole, block(r)".parse()?;
//! let plan = Plan::between(&rows, &columns)?;
//! let picture = pantile_draw::plan(&plan).expect("two ranks fit into a picture");
//! assert!(picture.as_str().contains("<title>rank 0 to rank 1: 4 elements</title>"));
//! # Ok::<(), pantile_plan::Error>(())
//! ```

mod boxes;
mod canvas;
mod cube;
mod distribution;
mod error;
mod exchange;
mod flow;
mod groups;
mod halo;
mod holders;
mod lane;
mod legend;
mod matrix;
mod palette;
mod plan;
mod strip;
mod svg;
mod tiles;
mod words;

pub use error::DrawError;
pub use svg::Svg;

use pantile_geometry::Distribution;
use pantile_geometry::halo::AxisHalo;
use pantile_geometry::teams::{AxisChoice, Groups, Partition};
use pantile_plan::Plan;

/// Tiles with the numbers of their workers: owned solid, halo hatched, room dashed. Axes that
/// are dealt or listed are cells in the colour of their owner.
///
/// # Errors
/// The array has more than three axes (boxes: two), or there are too many tiles.
pub fn distribution(distribution: &Distribution) -> Result<Svg, DrawError> {
    distribution::picture(distribution)
}

/// A movement, one panel per step: source on the left, target on the right, arrows between their
/// workers with element counts. A halo exchange is tiles in their grid with arrows between
/// neighbours; very many arrows are a table. What stays on its rank is counted, not drawn.
///
/// # Errors
/// As [`distribution`]; also if there are no steps, or too many.
pub fn plan(plan: &Plan) -> Result<Svg, DrawError> {
    plan::picture(plan)
}

/// Who gives whom how many elements over all steps, as a table in which more is darker. Of very
/// many ranks several share a row or column.
///
/// # Errors
/// There are no steps, or too many.
pub fn matrix(plan: &Plan) -> Result<Svg, DrawError> {
    plan::table(plan)
}

/// A broadcast or a sum-reduction between two partitions: both before, the groups with their
/// roots, and the target after. `x3` is what worker 3 has, `ΣP1` the sum over group 1.
///
/// # Errors
/// A partition has more than three axes, or there are too many workers or groups.
pub fn groups(groups: &Groups) -> Result<Svg, DrawError> {
    groups::movement(groups)
}

/// An all-sum-reduction: the partition before, its teams, the partition after.
///
/// # Errors
/// The partition is not Cartesian or has more than three axes, an axis is wrong, or there are
/// too many workers or teams.
pub fn allreduction(partition: &Partition, axes: &AxisChoice) -> Result<Svg, DrawError> {
    groups::allreduction(partition, axes)
}

/// The halo table of one axis: each worker's input, what it receives from whom, what it needs
/// and which outputs it computes from that.
///
/// # Errors
/// There are too many workers.
pub fn halo(halo: &AxisHalo, title: &str) -> Result<Svg, DrawError> {
    halo::pictures(&[(title, halo)])
}

/// Several halo tables with their titles, one below the other.
///
/// # Errors
/// There are too many workers.
pub fn halos(tables: &[(&str, &AxisHalo)]) -> Result<Svg, DrawError> {
    halo::pictures(tables)
}
