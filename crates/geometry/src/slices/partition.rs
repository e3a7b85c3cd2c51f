//! The default partition: first axis in blocks, one row more for the last members.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{MAX_MEMBERS, check};
use crate::Cuts;

/// The rows of one member: `extent` over `members`, the remainder on the last ones.
///
/// Law: over all members the rows tile `0..extent` in order, with sizes that differ by at most 1.
///
/// # Errors
/// A member that is out of range (so also: no members), or members or extent above the limit.
pub fn default_rows(
    extent: usize,
    members: usize,
    member: usize,
) -> Result<Range<usize>, SliceError> {
    check(&(0..extent))?;
    if member >= members {
        return Err(SliceError::MemberOutOfRange { member, members });
    }
    check_members(members)?;
    let (start, stop) = Cuts::RemainderLast.part(extent, members, member);
    Ok(start..stop)
}

/// Refuses no members and more than [`MAX_MEMBERS`].
pub(super) fn check_members(members: usize) -> Result<(), SliceError> {
    match members {
        0 => Err(SliceError::MemberOutOfRange { member: 0, members }),
        1..=MAX_MEMBERS => Ok(()),
        _ => Err(SliceError::TooLarge { got: members, limit: MAX_MEMBERS }),
    }
}

/// The box of one member: its rows on the first axis, everything on the others. Of no axes none.
///
/// # Errors
/// See [`default_rows`].
pub fn default_partition(
    shape: &[usize],
    members: usize,
    member: usize,
) -> Result<Vec<Range<usize>>, SliceError> {
    let mut region = Vec::with_capacity(shape.len());
    for (axis, extent) in shape.iter().enumerate() {
        if axis == 0 {
            region.push(default_rows(*extent, members, member)?);
        } else {
            check(&(0..*extent))?;
            region.push(0..*extent);
        }
    }
    Ok(region)
}

/// Where the rows of each member start, and the extent at the end: one number more than members.
///
/// # Errors
/// No members, or members or extent above the limit.
pub fn default_bounds(extent: usize, members: usize) -> Result<Vec<usize>, SliceError> {
    check_members(members)?;
    let starts = (0..members).map(|member| Ok(default_rows(extent, members, member)?.start));
    starts.chain([Ok(extent)]).collect()
}

/// What one member contributes to a gathered array, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherPiece {
    /// Elements of the member.
    pub count: usize,
    /// Elements of all members before it.
    pub displacement: usize,
}

/// The pieces of an array in default partition, in member order. A 0-d array is whole on every
/// member: each has its one element, at displacement 0.
///
/// # Errors
/// No members, or members or elements above the limit.
pub fn gather_pieces(shape: &[usize], members: usize) -> Result<Vec<GatherPiece>, SliceError> {
    check_members(members)?;
    let Some((extent, trailing)) = shape.split_first() else {
        return Ok(vec![GatherPiece { count: 1, displacement: 0 }; members]);
    };
    let per_row = trailing.iter().fold(1_usize, |product, extent| product.saturating_mul(*extent));
    check(&(0..per_row))?;
    check(&(0..extent.saturating_mul(per_row)))?;
    (0..members)
        .map(|member| {
            let rows = default_rows(*extent, members, member)?;
            Ok(GatherPiece { count: rows.len() * per_row, displacement: rows.start * per_row })
        })
        .collect()
}
