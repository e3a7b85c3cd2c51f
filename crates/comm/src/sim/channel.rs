//! Messages of one sender, receiver and tag.

use std::collections::VecDeque;

use crate::envelope::EnvelopeBytes;
use crate::{MemorySlice, Ticket, raw};

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
        Self::Copied(raw::copied(piece))
    }

    /// The bytes, and the ticket of the sender that is done now.
    pub(super) fn take(self) -> (Vec<u8>, Option<Ticket>) {
        match self {
            Self::Copied(body) => (body, None),
            Self::There(piece, ticket) => (raw::copied(&piece), Some(ticket)),
        }
    }
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
