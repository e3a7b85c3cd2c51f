//! What comes from one peer: frames, whose bodies go straight to where they belong.

use std::io;

use pantile_comm::{Tag, Ticket};

use super::room::Place;
use crate::frame::{BODY_MAX, FRONT_BYTES, FrameError, Front};
use crate::notice::{HeadBytes, Notice};
use crate::wire::Wire;

/// Room for the longest head, and for many small messages.
const BUFFER_BYTES: usize = 64 << 10;

/// From this length on bodies are read into their place, past the buffer; and so much is read at
/// once where a frame begins, because what it has beyond that is better not copied.
const DIRECT_BYTES: usize = 8 << 10;

/// Where the body of the current frame goes.
pub(crate) enum Target {
    /// Into a room; with a number if it is a part of a large message.
    Room { ticket: Ticket, place: Place, at: usize, number: Option<u64> },
    /// Into the mail.
    Mail { tag: Tag, head: HeadBytes, body: Vec<u8>, at: usize },
    /// Nowhere.
    Skip,
}

/// The frames of one peer.
#[derive(Default)]
pub(crate) struct Input {
    buffer: Box<[u8]>,
    start: usize,
    stop: usize,
    /// The frame whose body is being read, and how much of it is missing.
    target: Option<Target>,
    missing: usize,
}

/// What was found in what has been read.
pub(crate) enum Found {
    /// The head of a frame, and the length of its body, which goes where [`Input::aim`] says.
    Notice(Notice, usize),
    /// The body of a frame is complete.
    Body(Target),
    /// Nothing more for now.
    Nothing,
}

impl Input {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES].into_boxed_slice(), ..Self::default() }
    }

    /// Says where the body of the frame goes whose notice was found.
    pub(crate) fn aim(&mut self, target: Target, bytes: usize) {
        self.target = Some(target);
        self.missing = bytes;
    }

    /// True in the middle of a body.
    pub(crate) fn is_in_body(&self) -> bool {
        self.target.is_some()
    }

    /// Looks at what has been read.
    pub(crate) fn next(&mut self) -> Result<Found, FrameError> {
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
                Some(target) => Found::Body(target),
                None => Found::Nothing,
            });
        }
        let read = &self.buffer[self.start..self.stop];
        let Some(front) = Front::decode(read, BODY_MAX)? else { return Ok(Found::Nothing) };
        let most = BUFFER_BYTES - FRONT_BYTES;
        if front.head > most {
            let (got, most) = (front.head as u64, most as u64);
            return Err(FrameError::TooLong { part: "head", got, most });
        }
        let Some(head) = read.get(FRONT_BYTES..FRONT_BYTES + front.head) else {
            return Ok(Found::Nothing);
        };
        let notice = Notice::decode(&front, head)?;
        self.start += FRONT_BYTES + front.head;
        Ok(Found::Notice(notice, front.body))
    }

    /// Reads more: how much, and whether there may be still more. Zero bytes at the end, `WouldBlock`
    /// if nothing has come.
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

impl Target {
    /// Reads up to so many of the next bytes: how many, and whether that is all there was place
    /// for. Nothing if they go nowhere.
    fn read(&mut self, wire: &Wire, most: usize) -> Option<io::Result<(usize, bool)>> {
        let (read, at) = match self {
            Self::Room { place, at, .. } => (place.read(wire, *at..*at + most), at),
            Self::Mail { body, at, .. } => {
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
            Self::Room { place, at, .. } => {
                place.put(*at, bytes);
                *at += bytes.len();
            }
            Self::Mail { body, at, .. } => {
                body[*at..*at + bytes.len()].copy_from_slice(bytes);
                *at += bytes.len();
            }
            Self::Skip => {}
        }
    }
}
