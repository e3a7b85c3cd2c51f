//! What comes from one peer: frames, whose bodies go straight to where they belong.

use std::io;

use pantile_comm::{EnvelopeBytes, Tag, Ticket};

use super::message_buffer::MessageBuffer;
use crate::control_message::ControlMessage;
use crate::frame::{BODY_MAX, FrameError, FramePrefix, PREFIX_BYTES};
use crate::wire::Wire;

/// Room for the longest header, and for many small messages.
const BUFFER_BYTES: usize = 64 << 10;

/// From this length on bodies are read into their place, past the buffer; and so much is read at
/// once where a frame begins, because what it has beyond that is better not copied.
const DIRECT_BYTES: usize = 8 << 10;

/// Where the body of the current frame goes.
pub(crate) enum BodyTarget {
    /// Into a room; with a number if it is a part of a large message.
    Room { ticket: Ticket, buffer: MessageBuffer, at: usize, number: Option<u64> },
    /// Into the queue of unexpected messages.
    Unexpected { tag: Tag, envelope: EnvelopeBytes, body: Vec<u8>, at: usize },
    /// Nowhere.
    Skip,
}

/// The frames of one peer.
#[derive(Default)]
pub(crate) struct FrameReader {
    buffer: Box<[u8]>,
    start: usize,
    stop: usize,
    /// The frame whose body is being read, and how much of it is missing.
    target: Option<BodyTarget>,
    missing: usize,
}

/// What was found in what has been read.
pub(crate) enum ReadEvent {
    /// The header of a frame, and the length of its body, which goes where
    /// [`FrameReader::set_target`] says.
    ControlMessage(ControlMessage, usize),
    /// The body of a frame is complete.
    Body(BodyTarget),
    /// Nothing more for now.
    Nothing,
}

impl FrameReader {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES].into_boxed_slice(), ..Self::default() }
    }

    /// Says where the body of the frame goes whose message was found.
    pub(crate) fn set_target(&mut self, target: BodyTarget, bytes: usize) {
        self.target = Some(target);
        self.missing = bytes;
    }

    /// True in the middle of a body.
    pub(crate) fn is_in_body(&self) -> bool {
        self.target.is_some()
    }

    /// Looks at what has been read.
    pub(crate) fn next(&mut self) -> Result<ReadEvent, FrameError> {
        if self.target.is_some() {
            let count = self.missing.min(self.stop - self.start);
            if count > 0 {
                let from = self.start..self.start + count;
                if let Some(target) = &mut self.target {
                    target.put(&self.buffer[from]);
                }
                self.start += count;
                self.missing -= count;
            }
            return Ok(match self.target.take_if(|_| self.missing == 0) {
                Some(target) => ReadEvent::Body(target),
                None => ReadEvent::Nothing,
            });
        }
        let read = &self.buffer[self.start..self.stop];
        let Some(prefix) = FramePrefix::decode(read, BODY_MAX)? else {
            return Ok(ReadEvent::Nothing);
        };
        let most = BUFFER_BYTES - PREFIX_BYTES;
        if prefix.header > most {
            let (got, most) = (prefix.header as u64, most as u64);
            return Err(FrameError::TooLong { part: "header", got, most });
        }
        let Some(header) = read.get(PREFIX_BYTES..PREFIX_BYTES + prefix.header) else {
            return Ok(ReadEvent::Nothing);
        };
        let message = ControlMessage::decode(&prefix, header)?;
        self.start += PREFIX_BYTES + prefix.header;
        Ok(ReadEvent::ControlMessage(message, prefix.body))
    }

    /// Reads more: how much, and whether there may be still more. Zero bytes at the end,
    /// `WouldBlock` if nothing has come.
    pub(crate) fn read(&mut self, wire: &Wire) -> io::Result<(usize, bool)> {
        if self.start == self.stop {
            (self.start, self.stop) = (0, 0);
            if self.missing >= DIRECT_BYTES
                && let Some(target) = &mut self.target
                && let Some(read) = target.read(wire, self.missing)
            {
                let (count, full) = read?;
                self.missing -= count;
                return Ok((count, full || wire.reads_ahead()));
            }
        }
        if self.stop == self.buffer.len() {
            self.buffer.copy_within(self.start..self.stop, 0);
            (self.start, self.stop) = (0, self.stop - self.start);
        }
        let most = self.buffer.len().min(self.stop + DIRECT_BYTES);
        let count = wire.try_read(&mut self.buffer[self.stop..most])?;
        self.stop += count;
        Ok((count, self.stop == most || wire.reads_ahead()))
    }
}

impl BodyTarget {
    /// Reads up to so many of the next bytes: how many, and whether that is all there was place
    /// for. Nothing if they go nowhere.
    fn read(&mut self, wire: &Wire, most: usize) -> Option<io::Result<(usize, bool)>> {
        let (read, at) = match self {
            Self::Room { buffer, at, .. } => (buffer.read(wire, *at..*at + most), at),
            Self::Unexpected { body, at, .. } => {
                let read = wire.try_read(&mut body[*at..*at + most]);
                (read.map(|count| (count, count == most)), at)
            }
            Self::Skip => return None,
        };
        if let Ok((count, _)) = read {
            *at += count;
        }
        Some(read)
    }

    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]) {
        match self {
            Self::Room { buffer, at, .. } => {
                buffer.put(*at, bytes);
                *at += bytes.len();
            }
            Self::Unexpected { body, at, .. } => {
                body[*at..*at + bytes.len()].copy_from_slice(bytes);
                *at += bytes.len();
            }
            Self::Skip => {}
        }
    }
}
