//! Bodies and rooms of messages that are under way, as their transport sees them.

use crate::MemorySlice;

/// A copy of a body that was posted.
pub(crate) fn copied(body: &MemorySlice) -> Vec<u8> {
    // SAFETY: R3; checked by the conformance suite for every transport.
    unsafe { body.as_slice() }.to_vec()
}

/// Fills a room whose receive was posted.
///
/// # Panics
/// If the body has another length.
pub(crate) fn fill(room: &MemorySlice, body: &[u8]) {
    assert_eq!(room.len(), body.len(), "a body and its room");
    // SAFETY: R3; checked by the conformance suite for every transport.
    unsafe { room.as_mut_slice() }.copy_from_slice(body);
}
