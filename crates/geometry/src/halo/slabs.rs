//! The slabs of an exchange axis by axis, in which corners arrive without diagonal messages.
//!
//! ```text
//!   step 0 (rows)            step 1 (columns)
//!   . r r r .                c r r r c      r: received in step 0
//!   . b b b .                c b b b c      c: received in step 1, corners included, because
//!   . b b b .                c b b b c         the slabs sent in step 1 span the rows
//!   . r r r .                c r r r c         received in step 0
//! ```
//!
//! On its own axis a slab has the width of the halo; on axes of earlier steps it spans the whole
//! padded extent, on axes of later steps the bulk only. The adjoint takes the steps backwards.

use std::ops::Range;

use super::axis::{Side, WorkerHalo};
use super::error::HaloError;
use super::number::check_size;

/// A box in the padded local array: one half-open range per axis.
pub type LocalBox = Vec<Range<usize>>;

/// What the slabs of one worker depend on, for one axis; widths come as (left, right).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlabAxis {
    /// Extent of the local array with its ghost cells.
    pub extent: usize,
    /// Ghost cells, which are received.
    pub receive: (usize, usize),
    /// Bulk cells sent.
    pub send: (usize, usize),
}

/// The four slabs of one step; `None` where the width is 0 and nothing is posted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AxisStep {
    /// Bulk sent to the left neighbour.
    pub send_left: Option<LocalBox>,
    /// Ghost cells received from the left neighbour.
    pub receive_left: Option<LocalBox>,
    /// Bulk sent to the right neighbour.
    pub send_right: Option<LocalBox>,
    /// Ghost cells received from the right neighbour.
    pub receive_right: Option<LocalBox>,
}

impl From<&WorkerHalo> for SlabAxis {
    fn from(row: &WorkerHalo) -> Self {
        Self { extent: row.exchange_length, receive: row.receive, send: row.send }
    }
}

/// The slabs of one worker, one step per axis in axis order.
///
/// # Errors
/// Ghost cells that do not fit the extent, or a slab to send that is wider than the bulk: the
/// halo then spans more than the direct neighbour and this exchange would be wrong.
pub fn exchange_slabs(axes: &[SlabAxis]) -> Result<Vec<AxisStep>, HaloError> {
    let bulks = axes.iter().map(bulk).collect::<Result<Vec<_>, _>>()?;
    let mut steps = Vec::with_capacity(axes.len());
    for (step, axis) in axes.iter().enumerate() {
        let own = &bulks[step];
        for (side, width) in [(Side::Left, axis.send.0), (Side::Right, axis.send.1)] {
            let available = own.len();
            if width > available {
                return Err(HaloError::HaloSpansNeighbour { axis: step, side, width, available });
            }
        }
        let slab = |range: Range<usize>| -> Option<LocalBox> {
            if range.is_empty() {
                return None;
            }
            let earlier = axes[..step].iter().map(|axis| 0..axis.extent);
            let later = bulks[step + 1..].iter().cloned();
            Some(earlier.chain([range]).chain(later).collect())
        };
        steps.push(AxisStep {
            send_left: slab(own.start..own.start + axis.send.0),
            receive_left: slab(0..own.start),
            send_right: slab(own.end - axis.send.1..own.end),
            receive_right: slab(own.end..axis.extent),
        });
    }
    Ok(steps)
}

/// The cells that are not ghosts.
fn bulk(axis: &SlabAxis) -> Result<Range<usize>, HaloError> {
    check_size("extent", axis.extent)?;
    let ghosts = axis.receive.0.saturating_add(axis.receive.1);
    if ghosts > axis.extent {
        return Err(HaloError::TooLarge { what: "halo", got: ghosts, limit: axis.extent });
    }
    Ok(axis.receive.0..axis.extent - axis.receive.1)
}
