//! Bodies with a pattern, and what is found in rooms.
#![allow(unsafe_code, reason = "looks into rooms and fills bodies")]

use pantile_comm::{MemoryBlock, MemorySlice};

/// A body of which every word tells its place and the message that it belongs to.
pub(super) fn body(message: u64, bytes: usize) -> MemorySlice {
    let piece = MemoryBlock::zeroed(bytes).whole();
    // SAFETY: no other code knows this memory yet.
    let room = unsafe { piece.as_mut_slice() };
    for (at, chunk) in room.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&word(message, at).to_le_bytes()[..chunk.len()]);
    }
    piece
}

/// The first place where a room does not have the body of a message.
pub(super) fn differs(room: &MemorySlice, message: u64) -> Option<usize> {
    // SAFETY: the wait for this room is over.
    differs_in(unsafe { room.as_slice() }, message)
}

/// The same for bytes.
pub(super) fn differs_in(bytes: &[u8], message: u64) -> Option<usize> {
    let wrong =
        |(at, chunk): (usize, &[u8])| chunk != &word(message, at).to_le_bytes()[..chunk.len()];
    bytes.chunks(8).enumerate().position(wrong)
}

fn word(message: u64, at: usize) -> u64 {
    (at as u64 ^ message << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
