//! What a slice shows of each stored part.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{Slice, check, check_length, overlap_checked};
use super::target::Parts;

/// The cells of one stored part that a view shows: `count` of them from local index `offset`, a
/// stride of the slice apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartView {
    /// Local index of the first cell; at most the part's size.
    pub offset: usize,
    /// Number of cells.
    pub count: usize,
}

/// A view of the three stored parts on one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subview {
    /// Position in the slice of the first stored element: the view's own local offset.
    pub offset: usize,
    /// Left halo, owned part, right halo.
    pub parts: [PartView; 3],
}

/// A view of a stored box: three parts on the first axis, one on each other axis.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubviewNd {
    /// The view's own local offset on every axis.
    pub offset: Vec<usize>,
    /// The first axis.
    pub rows: [PartView; 3],
    /// The other axes, the same for all three parts.
    pub trailing: Vec<PartView>,
}

/// The view of `slice` on stored rows, cropped to the positions `target` if given.
///
/// The global shape of the view stays the slice's, whether cropped or not. The target is taken as
/// it stands: positions past the end continue the slice.
///
/// # Errors
/// Rows beyond the limit, or a target that ends before it starts.
pub fn subview(
    parts: &Parts,
    slice: &Slice,
    target: Option<&Range<usize>>,
) -> Result<Subview, SliceError> {
    let ranges = parts.ranges()?;
    let (slice, shift) = cropped(slice, target)?;
    let views = ranges.clone().map(|range| part_view(&range, &slice));
    Ok(Subview { offset: overlap_checked(&ranges[0], &slice).skip + shift, parts: views })
}

/// [`subview`] of a stored box whose first axis has three parts; `trailing` are the stored global
/// indices of the other axes.
///
/// # Errors
/// Not one slice (and target) per axis, or a wrong range.
pub fn subview_nd(
    rows: &Parts,
    trailing: &[Range<usize>],
    slices: &[Slice],
    targets: Option<&[Range<usize>]>,
) -> Result<SubviewNd, SliceError> {
    let ndim = trailing.len() + 1;
    check_length(slices.len(), ndim)?;
    if let Some(targets) = targets {
        check_length(targets.len(), ndim)?;
    }
    let first = subview(rows, &slices[0], targets.map(|targets| &targets[0]))?;
    let (mut offset, mut views) = (vec![first.offset], Vec::new());
    for (axis, stored) in trailing.iter().enumerate() {
        check(stored)?;
        let (slice, shift) = cropped(&slices[axis + 1], targets.map(|targets| &targets[axis + 1]))?;
        offset.push(overlap_checked(stored, &slice).skip + shift);
        views.push(part_view(stored, &slice));
    }
    Ok(SubviewNd { offset, rows: first.parts, trailing: views })
}

/// The slice of the target's elements, and how far into the slice it starts.
fn cropped(slice: &Slice, target: Option<&Range<usize>>) -> Result<(Slice, usize), SliceError> {
    match target {
        None => Ok((*slice, 0)),
        Some(target) => {
            check(target)?;
            Ok((slice.part(target)?, target.start))
        }
    }
}

fn part_view(part: &Range<usize>, slice: &Slice) -> PartView {
    let overlap = overlap_checked(part, slice);
    PartView { offset: (overlap.first - part.start).min(part.len()), count: overlap.count }
}
