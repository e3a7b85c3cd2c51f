//! What comes from one peer: frames, whose bodies go straight to where they belong.

use std::io;

use pantile_comm::{Piece, Tag, Ticket};

use super::room;
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
    Room { ticket: Ticket, piece: Piece, at: usize, number: Option<u64> },
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
                if let Some(target) = &mut self.target
                    && let Some(place) = target.place(count)
                {
                    place.copy_from_slice(&self.buffer[from]);
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
                && let Some(place) = target.open(self.missing)
            {
                let count = wire.try_read(place)?;
                target.advance(count);
                self.missing -= count;
                return Ok((count, self.missing == 0 || wire.reads_ahead()));
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
    /// The place of the next bytes, without taking it.
    fn open(&mut self, count: usize) -> Option<&mut [u8]> {
        match self {
            Self::Room { piece, at, .. } => Some(room::room(piece, *at..*at + count)),
            Self::Mail { body, at, .. } => Some(&mut body[*at..*at + count]),
            Self::Skip => None,
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Room { at, .. } | Self::Mail { at, .. } => *at += count,
            Self::Skip => {}
        }
    }

    /// The place of the next bytes, which are taken.
    fn place(&mut self, count: usize) -> Option<&mut [u8]> {
        self.advance(count);
        match self {
            Self::Room { piece, at, .. } => Some(room::room(piece, *at - count..*at)),
            Self::Mail { body, at, .. } => Some(&mut body[*at - count..*at]),
            Self::Skip => None,
        }
    }
}
