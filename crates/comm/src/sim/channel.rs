//! Messages of one sender, receiver and tag.
#![allow(unsafe_code, reason = "copies bodies out of the memory of messages")]

use std::collections::VecDeque;

use crate::envelope::EnvelopeBytes;
use crate::{MemorySlice, Ticket};

/// A message on its way.
pub(super) struct SimPacket {
    pub(super) envelope: EnvelopeBytes,
    pub(super) body: PacketBody,
}

/// The bytes of a message.
pub(super) enum PacketBody {
    /// Copied when it was posted.
    Copied(Vec<u8>),
    /// Still in the memory of its sender, which waits with this ticket until it is copied.
    There(MemorySlice, Ticket),
}

impl PacketBody {
    pub(super) fn copied_from(piece: &MemorySlice) -> Self {
        // SAFETY: law 6 of Transport: from posting on no thread writes the body.
        Self::Copied(unsafe { piece.as_slice() }.to_vec())
    }

    /// The bytes, and the ticket of the sender that is done now.
    pub(super) fn take(self) -> (Vec<u8>, Option<Ticket>) {
        match self {
            Self::Copied(body) => (body, None),
            Self::There(piece, ticket) => {
                // SAFETY: law 6 of Transport: until its wait is over no thread writes the body.
                (unsafe { piece.as_slice() }.to_vec(), Some(ticket))
            }
        }
    }
}

/// Fills a room with the body of its message, which has the same length.
pub(super) fn fill(room: &MemorySlice, body: &[u8]) {
    // SAFETY: law 6 of Transport: until the wait is over no other thread touches a room.
    unsafe { room.as_mut_slice() }.copy_from_slice(body);
}

/// Messages of one sender, receiver and tag, in order.
#[derive(Default)]
pub(super) struct Channel {
    /// Not yet there.
    pub(super) in_flight: VecDeque<SimPacket>,
    /// There, but without a posted receive.
    pub(super) arrived: VecDeque<SimPacket>,
    /// Receives that wait for messages.
    pub(super) rooms: VecDeque<Ticket>,
    /// When the last message arrives.
    pub(super) last: u64,
}

impl Channel {
    /// The next message that has come and has room.
    pub(super) fn pair(&mut self) -> Option<(Ticket, SimPacket)> {
        if self.arrived.is_empty() {
            return None;
        }
        let room = self.rooms.pop_front()?;
        self.arrived.pop_front().map(|packet| (room, packet))
    }
}
