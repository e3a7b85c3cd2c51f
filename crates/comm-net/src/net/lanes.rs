//! Messages and rooms that wait for each other, in order.

use std::collections::VecDeque;
use std::sync::Arc;

use pantile_comm::{Call, Ticket};

use super::room::Place;
use crate::notice::HeadBytes;

/// A message that came before its room.
pub(crate) struct Arrived {
    pub(crate) head: HeadBytes,
    pub(crate) body: Body,
}

/// Where its body is.
pub(crate) enum Body {
    /// Here.
    Here(Vec<u8>),
    /// Still with the sender, who calls it by this number.
    There(u64),
}

/// A room that came before its message.
pub(crate) struct Posted {
    pub(crate) ticket: Ticket,
    /// The call that made room.
    pub(crate) call: Arc<Call>,
    /// None for a message of any length.
    pub(crate) room: Option<Place>,
}

/// One channel from one rank, as far as messages and rooms have not met.
///
/// Invariant: when the desk is at rest, one of the two is empty.
#[derive(Default)]
pub(crate) struct Lane {
    pub(crate) mail: VecDeque<Arrived>,
    pub(crate) rooms: VecDeque<Posted>,
}

impl Lane {
    /// The next message with the next room, if both are there.
    pub(crate) fn pair(&mut self) -> Option<(Arrived, Posted)> {
        if self.mail.is_empty() || self.rooms.is_empty() {
            return None;
        }
        self.mail.pop_front().zip(self.rooms.pop_front())
    }
}
