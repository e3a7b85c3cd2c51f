//! The memory of messages, as bytes.
//!
//! Invariants, all of them law 6 of [`Transport`](pantile_comm::Transport) seen from here:
//! 1. From posting to the end of its wait nobody writes the body of a message.
//! 2. From posting to the end of its wait nobody but the desk touches a room, and the desk has each
//!    room in one place only, behind its lock.
#![allow(unsafe_code, reason = "reads bodies from and into the memory of messages")]

use std::ops::Range;
use std::ptr::NonNull;

use pantile_comm::{Memory, Piece};

/// Bytes of a body that was posted and whose wait is not over.
pub(crate) fn body(piece: &Piece, range: Range<usize>) -> &[u8] {
    // SAFETY: invariant 1.
    let bytes = unsafe { piece.as_slice() };
    &bytes[range]
}

/// Bytes of a room that was posted and whose wait is not over.
pub(crate) fn room(piece: &mut Piece, range: Range<usize>) -> &mut [u8] {
    // SAFETY: invariant 2; the borrow of the desk's only piece of it excludes a second slice.
    let bytes = unsafe { piece.as_mut_slice() };
    &mut bytes[range]
}

/// Room for a message of any length, which becomes a vector; nothing if there is not so much memory.
pub(crate) fn vector_room(bytes: usize) -> Option<Piece> {
    let mut vector: Vec<u8> = Vec::new();
    vector.try_reserve_exact(bytes).ok()?;
    vector.resize(bytes, 0);
    let start = NonNull::new(vector.as_mut_ptr())?;
    // SAFETY: the vector is the owner, its bytes do not move with it, and nobody else knows it.
    let memory = unsafe { Memory::given(start, bytes, Box::new(vector)) };
    Some(memory.whole())
}

/// The vector that [`vector_room`] made room of.
pub(crate) fn into_vector(piece: Piece) -> Vec<u8> {
    let memory = piece.memory().clone();
    drop(piece);
    let owner = memory.into_owner().ok().and_then(|owner| owner.downcast::<Vec<u8>>().ok());
    *owner.expect("the room of one message was made of a vector, and is referred to once")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_written_as_a_room_and_comes_back() {
        let mut piece = vector_room(5).unwrap();
        room(&mut piece, 1..3).fill(7);
        assert_eq!(body(&piece, 0..5), [0, 7, 7, 0, 0]);
        assert_eq!(into_vector(piece), [0, 7, 7, 0, 0]);
        assert!(into_vector(vector_room(0).unwrap()).is_empty());
        assert!(vector_room(usize::MAX).is_none());
    }
}
