//! Every unsafe line of this crate: the bytes of messages that are under way.
//!
//! Invariants, which every unsafe block here names; both are law 6 of
//! [`Transport`](pantile_comm::Transport) seen from here:
//!
//! - **R1** From posting to the end of its wait no thread writes the body of a message.
//! - **R2** From posting to the end of its wait only the connection state touches a room, and it has each
//!   room in one place only, behind its lock.

#![allow(unsafe_code, reason = "this is the crate's folder for it")]

use std::ops::Range;

use pantile_comm::{IoVec, MemorySlice};

/// Bytes of a body.
pub(crate) fn body(piece: &MemorySlice, range: Range<usize>) -> &[u8] {
    // SAFETY: R1; checked by the conformance suite, and the range is an index of the slice.
    let bytes = unsafe { piece.as_slice() };
    &bytes[range]
}

/// Bytes of a body that lies in several places, slice by slice.
pub(crate) fn body_slices(scattered: &IoVec, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
    // SAFETY: R1; checked by the conformance suite, and `slices` refuses bytes beyond the body.
    unsafe { scattered.slices(range) }
}

/// Bytes of a room, to be written.
pub(crate) fn room(piece: &mut MemorySlice, range: Range<usize>) -> &mut [u8] {
    // SAFETY: R2; checked by the borrow of the connection state's only slice of the room.
    let bytes = unsafe { piece.as_mut_slice() };
    &mut bytes[range]
}

/// Bytes of a room that lies in several places, slice by slice, to be written.
pub(crate) fn room_slices(
    scattered: &mut IoVec,
    range: Range<usize>,
) -> impl Iterator<Item = &mut [u8]> {
    // SAFETY: R2; checked by the borrow of the connection state's only list of the room's places.
    unsafe { scattered.slices_mut(range) }
}
