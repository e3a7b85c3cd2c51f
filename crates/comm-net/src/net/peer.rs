//! One peer, as a rank sees it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use pantile_comm::{EnvelopeBytes, Tag, Ticket};

use super::frame_reader::FrameReader;
use super::frame_writer::{FrameWriter, LargeSend};
use super::message_buffer::MessageBuffer;
use crate::control_message::PeerActivity;
use crate::poll::Interest;
use crate::wire::Wire;

/// Bytes of small messages that a peer may send before there is room for them. Beyond that it
/// requests to send small messages, too, so that this bounds the memory of what is not expected.
pub(crate) const CREDIT_BYTES: u64 = 4 << 20;

/// Messages that a peer may send, or request to send, before there is room for them; more wait with
/// it.
pub(crate) const CREDIT_MESSAGES: u64 = 1 << 16;

/// Whether a peer can still be talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    There,
    /// It said that nothing more will come.
    Left,
    /// The connection has ended.
    Lost,
}

/// A message for which not even a request to send may go yet.
pub(crate) struct DeferredSend {
    pub(crate) ticket: Ticket,
    pub(crate) tag: Tag,
    pub(crate) envelope: EnvelopeBytes,
    pub(crate) body: MessageBuffer,
}

/// Room for a large message, and how much of it is filled.
pub(crate) struct PartialReceive {
    pub(crate) ticket: Ticket,
    pub(crate) buffer: MessageBuffer,
    pub(crate) at: usize,
}

/// Messages and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowCredit {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// One peer.
pub(crate) struct Peer {
    pub(crate) wire: Arc<Wire>,
    pub(crate) reader: FrameReader,
    pub(crate) writer: FrameWriter,
    pub(crate) presence: Presence,
    /// It has said that nothing comes after our own farewell.
    pub(crate) leave_acked: bool,
    /// Nothing can be written any more; what was sent to us may still be read.
    pub(crate) write_closed: bool,
    /// What may be sent before the peer has taken something.
    pub(crate) send_credit: FlowCredit,
    /// What was taken here, and the peer does not know it yet.
    pub(crate) taken: FlowCredit,
    /// What waits here for room.
    pub(crate) unexpected: FlowCredit,
    pub(crate) deferred: VecDeque<DeferredSend>,
    /// Messages that wait for clear to send.
    pub(crate) awaiting_clear: BTreeMap<u64, LargeSend>,
    /// Buffers of messages that were cleared to send.
    pub(crate) receiving: BTreeMap<u64, PartialReceive>,
    pub(crate) next_number: u64,
    /// How often something was heard from it.
    pub(crate) reads: u64,
    /// What it said it is doing, and how often it said so.
    pub(crate) activity: Option<PeerActivity>,
    pub(crate) activity_count: u64,
}

impl Peer {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self {
            wire,
            reader: FrameReader::new(),
            writer: FrameWriter::default(),
            presence: Presence::There,
            leave_acked: false,
            write_closed: false,
            send_credit: FlowCredit { messages: CREDIT_MESSAGES, bytes: CREDIT_BYTES },
            taken: FlowCredit::default(),
            unexpected: FlowCredit::default(),
            deferred: VecDeque::new(),
            awaiting_clear: BTreeMap::new(),
            receiving: BTreeMap::new(),
            next_number: 0,
            reads: 0,
            activity: None,
            activity_count: 0,
        }
    }

    /// What its socket is watched for, while the connection stands.
    pub(crate) fn interest(&self) -> Option<Interest> {
        let stands = self.presence != Presence::Lost;
        stands.then(|| Interest { read: true, write: self.has_pending_writes() })
    }

    /// True if something waits to be written.
    pub(crate) fn has_pending_writes(&self) -> bool {
        !self.write_closed && (!self.writer.is_empty() || self.wire.has_pending_writes())
    }

    /// True if something that was posted has not gone.
    pub(crate) fn has_unsent(&self) -> bool {
        let posted = !self.deferred.is_empty() || !self.awaiting_clear.is_empty();
        self.presence == Presence::There
            && !self.write_closed
            && (posted || self.has_pending_writes())
    }

    /// Nothing goes to this peer any more, but the end of the frame that was begun.
    pub(crate) fn discard_unsent(&mut self) {
        self.deferred.clear();
        self.awaiting_clear.clear();
        self.writer.stop();
    }
}
