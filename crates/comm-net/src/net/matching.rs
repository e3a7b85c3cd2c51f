//! Message matching: unexpected messages and posted receives that wait for each other, in order.

use std::collections::VecDeque;
use std::sync::Arc;

use pantile_comm::{CollectiveSignature, EnvelopeBytes, Ticket};

use super::message_buffer::MessageBuffer;

/// A message that came before its room.
pub(crate) struct UnexpectedMessage {
    pub(crate) envelope: EnvelopeBytes,
    pub(crate) body: ArrivedBody,
}

/// Where its body is.
pub(crate) enum ArrivedBody {
    /// Here.
    Here(Vec<u8>),
    /// Still with the sender, which calls it by this number.
    There(u64),
}

/// A room that came before its message.
pub(crate) struct PostedReceive {
    pub(crate) ticket: Ticket,
    /// The call that made room.
    pub(crate) call: Arc<CollectiveSignature>,
    /// None for a message of any length.
    pub(crate) room: Option<MessageBuffer>,
}

/// One channel from one rank, as far as messages and rooms have not met.
///
/// Invariant: when the connection state is at rest, one of the two is empty.
#[derive(Default)]
pub(crate) struct MatchQueue {
    pub(crate) unexpected: VecDeque<UnexpectedMessage>,
    pub(crate) posted: VecDeque<PostedReceive>,
}

impl MatchQueue {
    /// The next message with the next room, if both are there.
    pub(crate) fn pair(&mut self) -> Option<(UnexpectedMessage, PostedReceive)> {
        if self.unexpected.is_empty() || self.posted.is_empty() {
            return None;
        }
        self.unexpected.pop_front().zip(self.posted.pop_front())
    }
}
