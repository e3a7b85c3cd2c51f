//! Taking what has come from a peer.

use std::io::ErrorKind;
use std::sync::Arc;

use pantile_comm::{Failure, Rank};

use super::connection_state::ConnectionState;
use super::frame_reader::{BodyTarget, FrameReader, ReadEvent};
use super::matching::{ArrivedBody, UnexpectedMessage};
use super::peer::{CREDIT_BYTES, CREDIT_MESSAGES, FlowCredit, PartialReceive, Presence};
use crate::control_message::{self, ControlMessage};
use crate::frame::FrameError;

/// Reads before others get their turn.
const READS_MAX: usize = 64;

/// Why nothing more comes from a peer.
enum ReadEnd {
    /// The connection was closed, or broke.
    Closed,
    /// What came makes no sense: nothing after it can be trusted.
    Frame(FrameError),
}

impl From<FrameError> for ReadEnd {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

/// A frame that could be read, and must not be sent.
fn meaning(reason: &'static str) -> ReadEnd {
    ReadEnd::Frame(FrameError::Meaning { kind: 0, reason })
}

impl ConnectionState {
    /// Takes what has come from a peer, and sends what there is space for. True if there may be
    /// more to take.
    pub(crate) fn progress_peer(&mut self, from: Rank) -> bool {
        let Some(peer) = &mut self.peers[from] else { return false };
        if peer.presence == Presence::Lost {
            return false;
        }
        let mut reader = std::mem::take(&mut peer.reader);
        let read = self.read(from, &mut reader);
        match read {
            Ok(more) => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.reader = reader;
                }
                self.flush(from);
                more
            }
            Err(end) => {
                self.lose(from, end);
                false
            }
        }
    }

    /// Nothing more comes from a peer. One that does not make sense ends the world.
    fn lose(&mut self, from: Rank, end: ReadEnd) {
        let Some(peer) = &mut self.peers[from] else { return };
        peer.presence = Presence::Lost;
        peer.discard_unsent();
        peer.receiving.clear();
        peer.reader = FrameReader::default();
        if let ReadEnd::Frame(error) = end {
            peer.wire.cut();
            let reason = format!("from {} came {error}", peer.wire.peer());
            self.abort(Failure { culprit: from, call: None, reason });
        }
    }

    /// Makes progress with all peers.
    pub(crate) fn progress_all(&mut self) -> bool {
        let mut more = false;
        for from in 0..self.peers.len() {
            more |= self.progress_peer(from);
        }
        more
    }

    fn read(&mut self, from: Rank, reader: &mut FrameReader) -> Result<bool, ReadEnd> {
        let Some(wire) = self.peers[from].as_ref().map(|peer| Arc::clone(&peer.wire)) else {
            return Ok(false);
        };
        for _ in 0..READS_MAX {
            let moves = reader.is_in_body();
            let more = match reader.read(&wire) {
                Ok((0, _)) => return Err(ReadEnd::Closed),
                Ok((_, more)) => more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(ReadEnd::Closed),
            };
            self.reads(from, moves);
            loop {
                match reader.next()? {
                    ReadEvent::Nothing => break,
                    ReadEvent::Body(target) => self.take_body(from, target),
                    ReadEvent::ControlMessage(control_message, bytes) => {
                        if let Some(target) = self.handle_control(from, control_message, bytes)? {
                            reader.set_target(target, bytes);
                        }
                    }
                }
            }
            if !more {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Something came; what belongs to a message counts as a move.
    fn reads(&mut self, from: Rank, moves: bool) {
        if let Some(peer) = &mut self.peers[from] {
            peer.reads += 1;
        }
        self.turn += u64::from(moves);
    }

    /// Acts on a control message; where its body goes, if it has one.
    fn handle_control(
        &mut self,
        from: Rank,
        control_message: ControlMessage,
        bytes: usize,
    ) -> Result<Option<BodyTarget>, ReadEnd> {
        match control_message {
            ControlMessage::Message { tag, envelope } => {
                let credit = FlowCredit { messages: 1, bytes: bytes as u64 };
                if let Some((ticket, buffer)) = self.match_posted(from, tag, &envelope) {
                    self.taken(from, credit, false);
                    return Ok(Some(BodyTarget::Room { ticket, buffer, at: 0, number: None }));
                }
                self.charge_unexpected(from, credit)?;
                return Ok(Some(BodyTarget::Unexpected {
                    tag,
                    envelope,
                    body: vec![0; bytes],
                    at: 0,
                }));
            }
            ControlMessage::RequestToSend { tag, number, envelope } => {
                self.charge_unexpected(from, FlowCredit { messages: 1, bytes: 0 })?;
                self.deliver(
                    from,
                    tag,
                    UnexpectedMessage { envelope, body: ArrivedBody::There(number) },
                );
            }
            ControlMessage::Data { number } => {
                return self.take_part(from, number, bytes).map(Some);
            }
            ControlMessage::ClearToSend { number } => self.cleared_to_send(from, number),
            ControlMessage::Credit { messages, bytes } => {
                self.credited(from, FlowCredit { messages, bytes })
            }
            ControlMessage::StatusRequest => {
                let doing = control_message::doing(self.call.as_deref(), self.turn);
                self.send_control(from, &ControlMessage::StatusReply(doing));
            }
            ControlMessage::StatusReply(doing) => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.activity = Some(doing);
                    peer.activity_count += 1;
                }
            }
            ControlMessage::Probe { origin, turn, digest, hops } => {
                self.take_probe((origin, turn), digest, hops);
            }
            ControlMessage::Abort(failure) => {
                self.failure.get_or_insert_with(|| Arc::new(failure));
            }
            ControlMessage::Leave => self.take_leave(from),
            ControlMessage::LeaveAck => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.leave_acked = true;
                }
            }
        }
        Ok(None)
    }

    /// A message came for which there is no room yet: an error if that is more than was agreed.
    fn charge_unexpected(&mut self, from: Rank, credit: FlowCredit) -> Result<(), ReadEnd> {
        let Some(peer) = &mut self.peers[from] else { return Ok(()) };
        peer.unexpected.messages += credit.messages;
        peer.unexpected.bytes += credit.bytes;
        let FlowCredit { messages, bytes } = peer.unexpected;
        match messages > CREDIT_MESSAGES || bytes > CREDIT_BYTES {
            true => Err(meaning("more than there is credit for")),
            false => Ok(()),
        }
    }

    /// A part of a large message: goes on where the last one ended.
    fn take_part(&mut self, from: Rank, number: u64, bytes: usize) -> Result<BodyTarget, ReadEnd> {
        let receiving = self.peers[from].as_mut().and_then(|peer| peer.receiving.remove(&number));
        let Some(PartialReceive { ticket, buffer, at }) = receiving else {
            return Ok(BodyTarget::Skip);
        };
        if bytes > buffer.len() - at {
            return Err(meaning("more of a message than its envelope says"));
        }
        Ok(BodyTarget::Room { ticket, buffer, at, number: Some(number) })
    }

    fn take_body(&mut self, from: Rank, target: BodyTarget) {
        match target {
            BodyTarget::Room { ticket, buffer, at, number: Some(number) } if at < buffer.len() => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.receiving.insert(number, PartialReceive { ticket, buffer, at });
                }
            }
            BodyTarget::Room { ticket, buffer, .. } => self.fill(ticket, buffer),
            BodyTarget::Unexpected { tag, envelope, body, .. } => {
                self.deliver(
                    from,
                    tag,
                    UnexpectedMessage { envelope, body: ArrivedBody::Here(body) },
                );
            }
            BodyTarget::Skip => {}
        }
    }

    /// Follows ranks that wait for each other (deadlock detection by edge chasing).
    fn take_probe(&mut self, (origin, turn): (Rank, u64), digest: u64, hops: u64) {
        if origin == self.rank {
            if turn == self.turn {
                self.cycle = Some(digest);
            }
        } else if let Some(next) = self.waits_for
            && hops > 0
        {
            // Any step of any rank on the way gives another digest.
            let step = self.turn ^ (self.rank as u64).rotate_left(32);
            let digest = (digest ^ step).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            self.send_control(
                next,
                &ControlMessage::Probe { origin, turn, digest, hops: hops - 1 },
            );
        }
    }

    /// A peer leaves: nothing more goes to it but the answer.
    fn take_leave(&mut self, from: Rank) {
        let Some(peer) = &mut self.peers[from] else { return };
        if peer.presence == Presence::There {
            peer.discard_unsent();
            peer.writer.push(&ControlMessage::LeaveAck);
            peer.presence = Presence::Left;
            self.flush(from);
        }
    }
}
