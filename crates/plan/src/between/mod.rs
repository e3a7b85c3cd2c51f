//! The movement between two distributions: who sends what to whom.
//!
//! ```text
//! two distributions ── problem: directions, classes, factors
//!                   ── atoms:   index sets on which all holders are the same
//!                   ── rule:    pairs of holders in one class, for one atom per axis
//!                   ── factor:  pairs -> regions; factors multiply to transfers
//! ```
//!
//! The pairs of an element are the product over *classes* of directions. Classes that look at a
//! common array axis form a *factor*; factors share neither mesh axes nor array axes, so a
//! movement over a million ranks is a product of small tables.

mod atoms;
mod boxes;
mod factor;
mod problem;
mod rule;

use factor::factors;
pub(crate) use factor::{Factor, factor, merged};
use problem::Me;
pub(crate) use problem::{ClassGroup, Problem, Role, SideDirection, operator};

use crate::{Error, Transfer};
use pantile_geometry::{Distribution, Rank};

/// All transfers between two distributions, sorted.
pub(crate) fn transfers(
    source: &Distribution,
    target: &Distribution,
) -> Result<Vec<Transfer>, Error> {
    collect(source, target, None)
}

/// The transfers that `rank` takes part in as sender or receiver, sorted.
pub(crate) fn transfers_of(
    source: &Distribution,
    target: &Distribution,
    rank: Rank,
    role: Role,
) -> Result<Vec<Transfer>, Error> {
    collect(source, target, Some((rank, role)))
}

fn collect(
    source: &Distribution,
    target: &Distribution,
    me: Option<(Rank, Role)>,
) -> Result<Vec<Transfer>, Error> {
    let problem = Problem::new(source, target)?;
    let me = me.map(|(rank, role)| Me::new(&problem, rank, role));
    let mut transfers = if problem.has_boxes() {
        boxes::transfers(&problem, me.as_ref())?
    } else if me.as_ref().is_some_and(|me| problem.is_idle(me)) {
        Vec::new()
    } else {
        factor::multiply(&problem, &factors(&problem, me.as_ref())?)?
    };
    transfers.sort_unstable();
    Ok(transfers)
}
