//! Bytes of slices that no request is using.

use std::ffi::c_int;
use std::ops::Range;

use pantile_comm::MemorySlice;

/// Lengths and ranks are checked where they enter; whatever does not fit makes MPI refuse.
pub(crate) fn int(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(-1)
}

/// Some bytes of a slice that no request is using.
pub(crate) fn bytes(slice: &MemorySlice, part: Range<usize>) -> &[u8] {
    // SAFETY: R3; records are read and written before they are posted and after they are done.
    let whole = unsafe { slice.as_slice() };
    &whole[part]
}

/// Writes bytes into a slice that no request is using.
pub(crate) fn write(slice: &MemorySlice, at: usize, bytes: &[u8]) {
    // SAFETY: R3; records are read and written before they are posted and after they are done.
    let whole = unsafe { slice.as_mut_slice() };
    whole[at..at + bytes.len()].copy_from_slice(bytes);
}
