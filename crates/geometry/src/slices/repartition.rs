//! How a requested range divides into halos and a view of what is owned.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{check, check_length};

/// A requested range as left halo, view of the owned range, right halo.
///
/// Law: `left + view.len() + right` is the size of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repartition {
    /// Cells before the view.
    pub left: usize,
    /// The owned cells that were requested, relative to the owned range.
    pub view: Range<usize>,
    /// Cells after the view.
    pub right: usize,
}

/// A requested box: halos on the first axis, cropped on the others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepartitionNd {
    /// The first axis.
    pub rows: Repartition,
    /// The other axes, relative to the owned box.
    pub trailing: Vec<Range<usize>>,
}

impl RepartitionNd {
    /// The shapes of left halo, owned view and right halo; all have the trailing extents asked for.
    #[must_use]
    pub fn part_shapes(&self) -> [Vec<usize>; 3] {
        [self.rows.left, self.rows.view.len(), self.rows.right].map(|rows| {
            let trailing = self.trailing.iter().map(Range::len);
            std::iter::once(rows).chain(trailing).collect()
        })
    }
}

/// Divides `request` around `owned`; ownership does not change.
///
/// A request without owned cells is divided where the owned range starts.
///
/// # Errors
/// A range that ends before it starts or reaches beyond the limit.
pub fn repartition(
    owned: &Range<usize>,
    request: &Range<usize>,
) -> Result<Repartition, SliceError> {
    check(owned)?;
    check(request)?;
    let start = owned.start.max(request.start);
    let end = owned.end.min(request.end).max(start);
    // Past the end of the owned range the view is empty at its end, never beyond.
    let local = |index: usize| (index - owned.start).min(owned.len());
    Ok(Repartition {
        left: start.min(request.end) - request.start,
        view: local(start)..local(end),
        right: request.end.saturating_sub(end),
    })
}

/// The halo rows (left, right) of an array of one element, which a repartition gives to everybody:
/// the owner needs none; another member gets it on the left if its own offset is above 0.
#[must_use]
pub fn repartition_unit(owned: &Range<usize>) -> (usize, usize) {
    match (owned.is_empty(), owned.start) {
        (false, _) => (0, 0),
        (true, 0) => (0, 1),
        (true, _) => (1, 0),
    }
}

/// Divides a requested box of which only the first axis is cut.
///
/// # Errors
/// No axes, different numbers of axes, a wrong range, or a trailing request that reaches out of
/// what is owned there (it could not be served by halos of rows).
pub fn repartition_nd(
    owned: &[Range<usize>],
    request: &[Range<usize>],
) -> Result<RepartitionNd, SliceError> {
    check_length(request.len(), owned.len())?;
    let (Some(owned_rows), Some(request_rows)) = (owned.first(), request.first()) else {
        return Err(SliceError::WrongLength { got: 0, expected: 1 });
    };
    let rows = repartition(owned_rows, request_rows)?;
    let mut trailing = Vec::new();
    for (owned, request) in owned.iter().zip(request).skip(1) {
        check(owned)?;
        check(request)?;
        if request.start < owned.start || request.end > owned.end {
            return Err(SliceError::NotInside { range: request.clone(), outer: owned.clone() });
        }
        trailing.push(request.start - owned.start..request.end - owned.start);
    }
    Ok(RepartitionNd { rows, trailing })
}
