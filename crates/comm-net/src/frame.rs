//! Frames: what every connection carries after the greetings.
//!
//! ```text
//!   0      2      4          8                 16
//!   | mark | kind | head u32 | body u64        | head bytes … | body bytes …
//! ```
//!
//! Numbers are little-endian. Lengths are checked against the limits of the connection before
//! anything is allocated for them.

use std::fmt;

/// Bytes before the head.
pub(crate) const FRONT_BYTES: usize = 16;

/// Longest head.
pub const HEAD_MAX: usize = 64 << 10;

/// Longest body, unless a connection is told otherwise.
pub const BODY_MAX: usize = 8 << 20;

/// The first two bytes of every frame, so that a stream that lost its step is noticed.
const MARK: u16 = 0x5450;

/// What a frame says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// What it means, to those who talk.
    pub kind: u16,
    /// Length of its head in bytes.
    pub head: usize,
    /// Length of its body in bytes.
    pub body: usize,
}

impl Front {
    /// The first bytes of the frame. Lengths beyond what any connection allows are cut to what no
    /// connection allows.
    #[must_use]
    pub fn encode(&self) -> [u8; FRONT_BYTES] {
        let mut front = [0; FRONT_BYTES];
        front[0..2].copy_from_slice(&MARK.to_le_bytes());
        front[2..4].copy_from_slice(&self.kind.to_le_bytes());
        front[4..8].copy_from_slice(&u32::try_from(self.head).unwrap_or(u32::MAX).to_le_bytes());
        front[8..16].copy_from_slice(&(self.body as u64).to_le_bytes());
        front
    }

    /// Reads the first bytes of a frame; nothing if there are not enough yet.
    ///
    /// # Errors
    /// If they are not those of a frame, or a length is beyond what is allowed.
    pub fn decode(bytes: &[u8], body_max: usize) -> Result<Option<Self>, FrameError> {
        let Some(front) = bytes.first_chunk::<FRONT_BYTES>() else { return Ok(None) };
        let mark = u16::from_le_bytes([front[0], front[1]]);
        if mark != MARK {
            return Err(FrameError::Mark { got: mark });
        }
        let kind = u16::from_le_bytes([front[2], front[3]]);
        let head = u64::from(u32::from_le_bytes([front[4], front[5], front[6], front[7]]));
        let mut body = [0; 8];
        body.copy_from_slice(&front[8..]);
        let body = u64::from_le_bytes(body);
        if head > HEAD_MAX as u64 {
            return Err(FrameError::TooLong { part: "head", got: head, most: HEAD_MAX as u64 });
        }
        if body > body_max as u64 {
            return Err(FrameError::TooLong { part: "body", got: body, most: body_max as u64 });
        }
        let length = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(Some(Self { kind, head: length(head), body: length(body) }))
    }
}

/// What is wrong with a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// It does not begin like one.
    Mark {
        /// What it begins with.
        got: u16,
    },
    /// A part is longer than this connection allows.
    TooLong {
        /// `head` or `body`.
        part: &'static str,
        /// How long it would be.
        got: u64,
        /// How long it may be.
        most: u64,
    },
    /// The connection ended in the middle.
    Cut {
        /// How many bytes were missing.
        missing: usize,
    },
    /// Its kind or its head mean nothing here.
    Meaning {
        /// Its kind.
        kind: u16,
        /// What is wrong.
        reason: &'static str,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark { got } => {
                write!(out, "no frame: it begins with {got:#06x}, expected {MARK:#06x}")
            }
            Self::TooLong { part, got, most } => {
                write!(out, "a frame with a {part} of {got} bytes, expected at most {most}")
            }
            Self::Cut { missing } => {
                write!(out, "an end of the connection where {missing} more bytes were expected")
            }
            Self::Meaning { kind, reason } => write!(out, "a frame of kind {kind}: {reason}"),
        }
    }
}

impl std::error::Error for FrameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_comes_back_as_it_was() {
        for front in [
            Front { kind: 0, head: 0, body: 0 },
            Front { kind: u16::MAX, head: HEAD_MAX, body: BODY_MAX },
        ] {
            assert_eq!(Front::decode(&front.encode(), BODY_MAX), Ok(Some(front)));
            assert_eq!(Front::decode(&front.encode()[..15], BODY_MAX), Ok(None));
        }
    }

    #[test]
    fn lengths_beyond_32_bits_are_lengths() {
        for body in [(1 << 32) - 1, 1 << 32, (1 << 32) + 7, 5 << 40] {
            let front = Front { kind: 1, head: 2, body };
            assert_eq!(Front::decode(&front.encode(), body), Ok(Some(front)));
            let (got, most) = (body as u64, BODY_MAX as u64);
            let long = Err(FrameError::TooLong { part: "body", got, most });
            assert_eq!(Front::decode(&front.encode(), BODY_MAX), long);
        }
    }

    #[test]
    fn what_is_too_long_or_no_frame_is_refused() {
        let long = Front { kind: 1, head: HEAD_MAX + 1, body: 0 }.encode();
        let error = Front::decode(&long, BODY_MAX).unwrap_err();
        assert_eq!(error.to_string(), "a frame with a head of 65537 bytes, expected at most 65536");
        let long = Front { kind: 1, head: 0, body: 101 }.encode();
        let error = Front::decode(&long, 100).unwrap_err();
        assert_eq!(error, FrameError::TooLong { part: "body", got: 101, most: 100 });
        let error = Front::decode(b"GET / HTTP/1.1\r\n", BODY_MAX).unwrap_err();
        assert_eq!(error, FrameError::Mark { got: 0x4547 });
    }
}
