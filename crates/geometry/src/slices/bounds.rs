//! The rows of a base array that a target of a view reads.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{Slice, check, check_length};

/// The smallest range of the base that holds `previous` and every index that the elements at
/// `target` of `view` read; elements past the end of the view read nothing.
///
/// A previous box that is empty counts as none. If nothing is read the previous box stays as it is,
/// and without one the result is empty where the target starts.
///
/// # Errors
/// A range that ends before it starts or reaches beyond the limit.
pub fn bounding_box(
    view: &Slice,
    target: &Range<usize>,
    previous: Option<&Range<usize>>,
) -> Result<Range<usize>, SliceError> {
    let needed = needed(view, target, previous)?;
    Ok(match previous.filter(|previous| !previous.is_empty()) {
        None => needed,
        Some(previous) if needed.is_empty() => previous.clone(),
        Some(previous) => needed.start.min(previous.start)..needed.end.max(previous.end),
    })
}

/// [`bounding_box`] on every axis.
///
/// # Errors
/// Different numbers of axes, or a wrong range.
pub fn bounding_box_nd(
    views: &[Slice],
    targets: &[Range<usize>],
    previous: Option<&[Range<usize>]>,
) -> Result<Vec<Range<usize>>, SliceError> {
    check_length(targets.len(), views.len())?;
    previous.map_or(Ok(()), |previous| check_length(previous.len(), views.len()))?;
    let axes = views.iter().zip(targets).enumerate();
    axes.map(|(axis, (view, target))| bounding_box(view, target, previous.map(|p| &p[axis])))
        .collect()
}

/// The range of the base that lies in `previous` and in what the target reads: the rows that
/// every view so far reads.
///
/// A member whose target is empty leaves the box as it is. Unlike for [`bounding_box`], an empty
/// previous box stays empty: nothing is common to all views.
///
/// # Errors
/// A range that ends before it starts or reaches beyond the limit.
pub fn inner_box(
    view: &Slice,
    target: &Range<usize>,
    previous: Option<&Range<usize>>,
) -> Result<Range<usize>, SliceError> {
    let needed = needed(view, target, previous)?;
    Ok(match previous {
        None => needed,
        Some(previous) if target.is_empty() => previous.clone(),
        Some(previous) => {
            let start = needed.start.max(previous.start);
            start..needed.end.min(previous.end).max(start)
        }
    })
}

fn needed(
    view: &Slice,
    target: &Range<usize>,
    previous: Option<&Range<usize>>,
) -> Result<Range<usize>, SliceError> {
    check(target)?;
    previous.map_or(Ok(()), check)?;
    let needed = view.hull(target);
    check(&needed)?;
    Ok(needed)
}
