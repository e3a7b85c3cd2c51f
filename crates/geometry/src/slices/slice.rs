//! A strided slice of one axis, and where it meets a block.

use std::ops::Range;

use super::error::SliceError;

/// The largest index, extent or stride: sums and products of checked numbers never overflow.
pub const MAX_INDEX: usize = crate::number::LENGTH_LIMIT;

/// The most members: lists have an entry for each.
pub const MAX_MEMBERS: usize = 1 << 26;

/// The indices `offset + k * stride` for `k` in `0..size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    offset: usize,
    size: usize,
    stride: usize,
}

/// Where a slice meets a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The first index of the slice (continued past its end) that is not before the block.
    pub first: usize,
    /// Slice elements in the block.
    pub count: usize,
    /// Slice elements before the block.
    pub skip: usize,
}

impl Overlap {
    /// The positions in the slice that lie in the block.
    #[must_use]
    pub fn positions(&self) -> Range<usize> {
        self.skip..self.skip + self.count
    }
}

impl Slice {
    /// A slice of `size` elements from `offset`, `stride` apart.
    ///
    /// # Errors
    /// A stride of 0, or numbers that reach beyond the limit.
    pub fn new(offset: usize, size: usize, stride: usize) -> Result<Self, SliceError> {
        if stride == 0 {
            return Err(SliceError::ZeroStride);
        }
        // Strides count as they stand: a slice of one element may have any up to the limit.
        let reach = size.saturating_mul(stride);
        for got in [offset, size, stride, offset.saturating_add(reach.saturating_sub(stride))] {
            if got > MAX_INDEX {
                return Err(SliceError::TooLarge { got, limit: MAX_INDEX });
            }
        }
        Ok(Self { offset, size, stride })
    }

    /// Index of the first element.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Distance of consecutive elements.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The smallest range with the elements at `positions`; empty where that element would be if
    /// there are none.
    pub(super) fn hull(&self, positions: &Range<usize>) -> Range<usize> {
        let start = self.offset + positions.start.saturating_mul(self.stride).min(4 * MAX_INDEX);
        let end = positions.end.min(self.size);
        if positions.start >= end {
            return start..start;
        }
        start..self.offset + (end - 1) * self.stride + 1
    }

    /// The slice of the elements at `positions`, which may reach past the end.
    pub(super) fn part(&self, positions: &Range<usize>) -> Result<Self, SliceError> {
        let offset = positions.start.saturating_mul(self.stride).saturating_add(self.offset);
        Self::new(offset, positions.len(), self.stride)
    }
}

/// Where `slice` meets `block`.
///
/// Exact for all inputs, empty blocks and slices included.
///
/// # Errors
/// A block that ends before it starts or reaches beyond the limit.
pub fn overlap(block: &Range<usize>, slice: &Slice) -> Result<Overlap, SliceError> {
    check(block)?;
    Ok(overlap_checked(block, slice))
}

pub(super) fn overlap_checked(block: &Range<usize>, slice: &Slice) -> Overlap {
    let &Slice { offset, size, stride } = slice;
    let before = block.start.saturating_sub(offset).div_ceil(stride);
    let first = offset + before * stride;
    let end = (offset + size * stride).min(block.end);
    Overlap { first, count: end.saturating_sub(first).div_ceil(stride), skip: before.min(size) }
}

/// Refuses reversed ranges and indices above the limit.
pub(super) fn check(range: &Range<usize>) -> Result<(), SliceError> {
    if range.start > range.end {
        return Err(SliceError::Reversed { range: range.clone() });
    }
    if range.end > MAX_INDEX {
        return Err(SliceError::TooLarge { got: range.end, limit: MAX_INDEX });
    }
    Ok(())
}

/// Refuses lists of unequal length.
pub(super) fn check_length(got: usize, expected: usize) -> Result<(), SliceError> {
    if got == expected { Ok(()) } else { Err(SliceError::WrongLength { got, expected }) }
}
