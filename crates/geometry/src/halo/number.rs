//! Conversions between sizes and signed positions, within bounds where neither can overflow.

use super::error::HaloError;

/// The largest extent, kernel, stride, padding or dilation: all arithmetic stays far below 2^63.
pub const MAX_EXTENT: usize = crate::number::LENGTH_LIMIT;

/// The most workers on one axis: tables have a row for each.
pub const MAX_WORKERS: usize = 1 << 26;

/// Positions beyond this are as good as infinite (extents plus padding stay below it).
const FAR: i64 = 1 << 52;

/// Refuses a number above [`MAX_EXTENT`].
pub(super) fn check_size(what: &'static str, got: usize) -> Result<(), HaloError> {
    if got > MAX_EXTENT {
        return Err(HaloError::TooLarge { what, got, limit: MAX_EXTENT });
    }
    Ok(())
}

/// Refuses no workers and more than [`MAX_WORKERS`].
pub(super) fn check_workers(got: usize) -> Result<(), HaloError> {
    let what = "number of workers";
    match got {
        0 => Err(HaloError::Zero { what }),
        1..=MAX_WORKERS => Ok(()),
        _ => Err(HaloError::TooLarge { what, got, limit: MAX_WORKERS }),
    }
}

/// A size as a position.
pub(super) fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(FAR).min(FAR)
}

/// A position as a size; negative positions give 0.
pub(super) fn unsigned(position: i64) -> usize {
    usize::try_from(position).unwrap_or(0)
}

/// Keeps what a custom index function returns within the range of safe arithmetic.
pub(super) fn tame(position: i64) -> i64 {
    position.clamp(-FAR, FAR)
}
