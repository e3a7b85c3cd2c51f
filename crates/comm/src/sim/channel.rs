//! Messages of one sender, receiver and tag.
#![allow(unsafe_code, reason = "copies bodies out of the memory of messages")]

use std::collections::VecDeque;

use crate::head::HEAD_BYTES;
use crate::{Piece, Ticket};

/// A message on its way.
pub(super) struct Parcel {
    pub(super) head: [u8; HEAD_BYTES],
    pub(super) body: Body,
}

/// The bytes of a message.
pub(super) enum Body {
    /// Copied when it was posted.
    Copied(Vec<u8>),
    /// Still where its sender has it, who waits with this ticket until it is copied.
    There(Piece, Ticket),
}

impl Body {
    pub(super) fn copied_from(piece: &Piece) -> Self {
        // SAFETY: law 6 of Transport: from posting on nobody writes the body.
        Self::Copied(unsafe { piece.as_slice() }.to_vec())
    }

    /// The bytes, and the ticket of the sender that is done now.
    pub(super) fn take(self) -> (Vec<u8>, Option<Ticket>) {
        match self {
            Self::Copied(body) => (body, None),
            Self::There(piece, ticket) => {
                // SAFETY: law 6 of Transport: until its wait is over nobody writes the body.
                (unsafe { piece.as_slice() }.to_vec(), Some(ticket))
            }
        }
    }
}

/// Fills a room with the body of its message, which has the same length.
pub(super) fn fill(room: &Piece, body: &[u8]) {
    // SAFETY: law 6 of Transport: until the wait is over nobody else touches a room.
    unsafe { room.as_mut_slice() }.copy_from_slice(body);
}

/// Messages of one sender, receiver and tag, in order.
#[derive(Default)]
pub(super) struct Channel {
    /// Not yet there.
    pub(super) flying: VecDeque<Parcel>,
    /// There, but nobody has room for them.
    pub(super) arrived: VecDeque<Parcel>,
    /// Receives that wait for messages.
    pub(super) rooms: VecDeque<Ticket>,
    /// When the last message arrives.
    pub(super) last: u64,
}

impl Channel {
    /// The next message that has come and has room.
    pub(super) fn pair(&mut self) -> Option<(Ticket, Parcel)> {
        if self.arrived.is_empty() {
            return None;
        }
        let room = self.rooms.pop_front()?;
        self.arrived.pop_front().map(|parcel| (room, parcel))
    }
}
