//! Which elements of a slice a member answers for.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{MAX_INDEX, Slice, check, check_length, overlap};

/// The rows a member stores: left halo, owned rows, right halo, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Global index of the first stored row, which is the left halo's if there is one.
    pub offset: usize,
    /// Rows of the left halo.
    pub left: usize,
    /// Owned rows.
    pub owned: usize,
    /// Rows of the right halo.
    pub right: usize,
}

impl Parts {
    /// The global rows of left halo, owned part and right halo.
    ///
    /// # Errors
    /// Rows beyond the limit.
    pub fn ranges(&self) -> Result<[Range<usize>; 3], SliceError> {
        let mut start = self.offset;
        let mut ranges = [0..0, 0..0, 0..0];
        for (range, rows) in ranges.iter_mut().zip([self.left, self.owned, self.right]) {
            *range = start..start.saturating_add(rows);
            check(range)?;
            start = range.end;
        }
        Ok(ranges)
    }
}

/// The positions in `slice` of the elements that a member with these `owned` indices answers for.
///
/// Law: where the owned ranges of the members tile the array, the targets tile `0..slice.size()`
/// in order; an empty target lies where the member's elements would be.
///
/// # Errors
/// A range that ends before it starts or reaches beyond the limit.
pub fn local_target(owned: &Range<usize>, slice: &Slice) -> Result<Range<usize>, SliceError> {
    Ok(overlap(owned, slice)?.positions())
}

/// [`local_target`] on every axis.
///
/// # Errors
/// Different numbers of axes, or a wrong range.
pub fn local_target_nd(
    owned: &[Range<usize>],
    slices: &[Slice],
) -> Result<Vec<Range<usize>>, SliceError> {
    check_length(slices.len(), owned.len())?;
    owned.iter().zip(slices).map(|(owned, slice)| local_target(owned, slice)).collect()
}

/// The positions in `slice` that a member stores, halos included.
///
/// Neighbours with halos share such positions, so this must not decide who writes; it is what the
/// dialect's first implementation computed, and equals [`local_target`] without halos.
///
/// # Errors
/// Rows beyond the limit.
pub fn local_target_of_all_parts(parts: &Parts, slice: &Slice) -> Result<Range<usize>, SliceError> {
    let [left, _, right] = parts.ranges()?;
    local_target(&(left.start..right.end), slice)
}

/// Where each member's share of a slice starts, and the slice's size at the end: one number more
/// than members. `bounds` are the starts of the members' blocks and the extent at the end.
///
/// Law: entry r is the sum of the sizes of [`local_target`] over the members before r, where the
/// slice lies inside the array.
///
/// # Errors
/// Bounds that descend, are fewer than two, or reach beyond the limit.
pub fn sharded_offsets(bounds: &[usize], slice: &Slice) -> Result<Vec<usize>, SliceError> {
    if bounds.len() < 2 {
        return Err(SliceError::WrongLength { got: bounds.len(), expected: 2 });
    }
    for pair in bounds.windows(2) {
        check(&(pair[0]..pair[1]))?;
    }
    let mut offsets = vec![0];
    for pair in bounds.windows(2) {
        let before = offsets[offsets.len() - 1];
        let count = overlap(&(pair[0]..pair[1]), slice)?.count;
        debug_assert!(before + count <= MAX_INDEX);
        offsets.push(before + count);
    }
    Ok(offsets)
}
