//! What a rank still has to send to one peer.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};

use pantile_comm::Ticket;

use super::message_buffer::MessageBuffer;
use crate::control_message::ControlMessage;
use crate::wire::Wire;

/// Bytes of a large message that travel in one frame: control messages get in between.
const PART_BYTES: usize = 4 << 20;

/// A large message that is sent from its memory.
pub(crate) struct LargeSend {
    pub(crate) ticket: Ticket,
    pub(crate) number: u64,
    pub(crate) body: MessageBuffer,
    /// Bytes that are sent already.
    at: usize,
}

impl LargeSend {
    pub(crate) fn new(ticket: Ticket, number: u64, body: MessageBuffer) -> Self {
        Self { ticket, number, body, at: 0 }
    }
}

/// A frame with a part of a large message, on its way.
struct DataFrame {
    preamble: Vec<u8>,
    preamble_at: usize,
    /// Where in the body this part ends.
    stop: usize,
    /// Nothing of this message follows, though it may not be all.
    is_last: bool,
    sending: LargeSend,
}

/// What has to be sent, in order: the frame that was begun, small frames, large messages.
#[derive(Default)]
pub(crate) struct FrameWriter {
    /// Control messages and small messages, and how much of them is sent.
    small: Vec<u8>,
    small_at: usize,
    part: Option<DataFrame>,
    large: VecDeque<LargeSend>,
}

impl FrameWriter {
    /// True if nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.small_at == self.small.len() && self.part.is_none() && self.large.is_empty()
    }

    /// Queues a control message.
    pub(crate) fn push(&mut self, control_message: &ControlMessage) {
        self.small.extend_from_slice(&control_message.encode(0));
    }

    /// Sends a small message at once as far as there is space, and queues the rest of it.
    pub(crate) fn send(
        &mut self,
        wire: &Wire,
        preamble: &[u8],
        body: &MessageBuffer,
    ) -> io::Result<()> {
        let mut sent = 0;
        if self.is_empty() {
            match body.write(wire, preamble, 0..body.len()) {
                Ok(count) => sent = count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        self.small.extend_from_slice(preamble.get(sent..).unwrap_or_default());
        body.append_to(sent.saturating_sub(preamble.len())..body.len(), &mut self.small);
        Ok(())
    }

    /// Queues a large message.
    pub(crate) fn push_large(&mut self, sending: LargeSend) {
        self.large.push_back(sending);
    }

    /// Gives up everything but the frame that was begun, which the peer expects to its end.
    pub(crate) fn stop(&mut self) {
        self.large.clear();
        if let Some(part) = &mut self.part {
            part.is_last = true;
        }
    }

    /// Sends as far as there is space; the tickets of finished messages are added to `done`.
    /// Returns how many bytes of large messages went.
    pub(crate) fn flush(&mut self, wire: &Wire, done: &mut Vec<Ticket>) -> io::Result<usize> {
        let mut moved = 0;
        loop {
            let step = match (&mut self.part, self.small_at < self.small.len()) {
                (Some(part), _) => part.write(wire),
                (None, true) => wire.try_write(&[IoSlice::new(&self.small[self.small_at..])]),
                (None, false) => {
                    if !self.next_part() {
                        wire.try_flush()?;
                        return Ok(moved);
                    }
                    continue;
                }
            };
            let count = match step {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(moved),
                Err(error) => return Err(error),
            };
            match self.part.take() {
                Some(part) => {
                    moved += count;
                    self.keep(part, done);
                }
                None => self.small_sent(count),
            }
        }
    }

    fn small_sent(&mut self, count: usize) {
        self.small_at += count;
        if self.small_at == self.small.len() {
            self.small.clear();
            self.small_at = 0;
        }
    }

    /// Begins the next part of the next large message: false if there is none.
    fn next_part(&mut self) -> bool {
        let Some(sending) = self.large.pop_front() else { return false };
        let stop = sending.body.len().min(sending.at + PART_BYTES);
        let preamble = ControlMessage::Data { number: sending.number }.encode(stop - sending.at);
        self.part = Some(DataFrame { preamble, preamble_at: 0, stop, is_last: false, sending });
        true
    }

    /// What becomes of a part after some of it was sent.
    fn keep(&mut self, part: DataFrame, done: &mut Vec<Ticket>) {
        let sending = &part.sending;
        if part.preamble_at < part.preamble.len() || sending.at < part.stop {
            self.part = Some(part);
        } else if sending.at < sending.body.len() {
            if !part.is_last {
                self.large.push_front(part.sending);
            }
        } else {
            done.push(sending.ticket);
        }
    }
}

impl DataFrame {
    fn write(&mut self, wire: &Wire) -> io::Result<usize> {
        let preamble = &self.preamble[self.preamble_at..];
        let count = self.sending.body.write(wire, preamble, self.sending.at..self.stop)?;
        let of_preamble = count.min(preamble.len());
        self.preamble_at += of_preamble;
        self.sending.at += count - of_preamble;
        Ok(count)
    }
}
