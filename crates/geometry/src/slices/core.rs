//! The rows of a target that read owned data only, so can be computed before halos arrive.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{Slice, check, check_length, overlap};

/// The rows of `target`, counted from its start, for which the element of `slice` is owned and
/// which lie in `previous` (the core of the views before; `None` is the whole target).
///
/// Always inside `0..target.len()`; an empty core keeps a place there, so that cutting rows at
/// both of its ends is harmless. Apply it once per view of an expression, chaining the results.
///
/// # Errors
/// A range that ends before it starts, reaches beyond the limit, or a previous core that does not
/// lie in the target.
pub fn local_core(
    owned: &Range<usize>,
    target: &Range<usize>,
    slice: &Slice,
    previous: Option<&Range<usize>>,
) -> Result<Range<usize>, SliceError> {
    check(target)?;
    let rows = target.len();
    let previous = previous.cloned().unwrap_or(0..rows);
    check(&previous)?;
    if previous.end > rows {
        return Err(SliceError::NotInside { range: previous, outer: 0..rows });
    }
    let positions = overlap(owned, slice)?.positions();
    // Slice positions before the target's start are owned rows that this target does not have.
    let start = positions.start.saturating_sub(target.start).max(previous.start).min(rows);
    let end = positions.end.saturating_sub(target.start).min(previous.end);
    Ok(start..end.max(start))
}

/// [`local_core`] on every axis; if it is empty on one axis there is no core.
///
/// # Errors
/// Different numbers of axes, or what [`local_core`] refuses on some axis.
pub fn local_core_nd(
    owned: &[Range<usize>],
    targets: &[Range<usize>],
    slices: &[Slice],
    previous: Option<&[Range<usize>]>,
) -> Result<Vec<Range<usize>>, SliceError> {
    check_length(targets.len(), owned.len())?;
    check_length(slices.len(), owned.len())?;
    previous.map_or(Ok(()), |previous| check_length(previous.len(), owned.len()))?;
    (0..owned.len())
        .map(|axis| {
            let previous = previous.map(|previous| &previous[axis]);
            local_core(&owned[axis], &targets[axis], &slices[axis], previous)
        })
        .collect()
}
