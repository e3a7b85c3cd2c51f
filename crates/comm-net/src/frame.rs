//! Frames: what every connection carries after the handshakes.
//!
//! ```text
//!   0      2      4          8                 16
//!   | magic | kind | header u32 | body u64        | header bytes … | body bytes …
//! ```
//!
//! Numbers are little-endian. Lengths are checked against the limits of the connection before
//! anything is allocated for them.

use std::fmt;

/// Bytes before the header.
pub(crate) const PREFIX_BYTES: usize = 16;

/// Longest header.
pub const HEADER_MAX: usize = 64 << 10;

/// Longest body, unless a connection is told otherwise.
pub const BODY_MAX: usize = 8 << 20;

/// The first two bytes of every frame, so that a stream that lost its step is noticed.
const MAGIC: u16 = 0x5450;

/// What a frame says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramePrefix {
    /// What it means to the two sides.
    pub kind: u16,
    /// Length of its header in bytes.
    pub header: usize,
    /// Length of its body in bytes.
    pub body: usize,
}

impl FramePrefix {
    /// The first bytes of the frame. Lengths beyond what any connection allows are cut to what no
    /// connection allows.
    #[must_use]
    pub fn encode(&self) -> [u8; PREFIX_BYTES] {
        let mut prefix = [0; PREFIX_BYTES];
        prefix[0..2].copy_from_slice(&MAGIC.to_le_bytes());
        prefix[2..4].copy_from_slice(&self.kind.to_le_bytes());
        prefix[4..8].copy_from_slice(&u32::try_from(self.header).unwrap_or(u32::MAX).to_le_bytes());
        prefix[8..16].copy_from_slice(&(self.body as u64).to_le_bytes());
        prefix
    }

    /// Reads the first bytes of a frame; nothing if there are not enough yet.
    ///
    /// # Errors
    /// If they are not those of a frame, or a length is beyond what is allowed.
    pub fn decode(bytes: &[u8], body_max: usize) -> Result<Option<Self>, FrameError> {
        let Some(prefix) = bytes.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
        let magic = u16::from_le_bytes([prefix[0], prefix[1]]);
        if magic != MAGIC {
            return Err(FrameError::Magic { got: magic });
        }
        let kind = u16::from_le_bytes([prefix[2], prefix[3]]);
        let header = u64::from(u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]));
        let mut body = [0; 8];
        body.copy_from_slice(&prefix[8..]);
        let body = u64::from_le_bytes(body);
        if header > HEADER_MAX as u64 {
            return Err(FrameError::TooLong {
                part: "header",
                got: header,
                most: HEADER_MAX as u64,
            });
        }
        if body > body_max as u64 {
            return Err(FrameError::TooLong { part: "body", got: body, most: body_max as u64 });
        }
        let length = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(Some(Self { kind, header: length(header), body: length(body) }))
    }
}

/// What is wrong with a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// It does not begin like one.
    Magic {
        /// What it begins with.
        got: u16,
    },
    /// A part is longer than this connection allows.
    TooLong {
        /// `header` or `body`.
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
    /// Its kind or its header mean nothing here.
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
            Self::Magic { got } => {
                write!(out, "no frame: it begins with {got:#06x}, expected {MAGIC:#06x}")
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
        for prefix in [
            FramePrefix { kind: 0, header: 0, body: 0 },
            FramePrefix { kind: u16::MAX, header: HEADER_MAX, body: BODY_MAX },
        ] {
            assert_eq!(FramePrefix::decode(&prefix.encode(), BODY_MAX), Ok(Some(prefix)));
            assert_eq!(FramePrefix::decode(&prefix.encode()[..15], BODY_MAX), Ok(None));
        }
    }

    #[test]
    fn lengths_beyond_32_bits_are_lengths() {
        for body in [(1 << 32) - 1, 1 << 32, (1 << 32) + 7, 5 << 40] {
            let prefix = FramePrefix { kind: 1, header: 2, body };
            assert_eq!(FramePrefix::decode(&prefix.encode(), body), Ok(Some(prefix)));
            let (got, most) = (body as u64, BODY_MAX as u64);
            let long = Err(FrameError::TooLong { part: "body", got, most });
            assert_eq!(FramePrefix::decode(&prefix.encode(), BODY_MAX), long);
        }
    }

    #[test]
    fn what_is_too_long_or_no_frame_is_refused() {
        let long = FramePrefix { kind: 1, header: HEADER_MAX + 1, body: 0 }.encode();
        let error = FramePrefix::decode(&long, BODY_MAX).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a frame with a header of 65537 bytes, expected at most 65536"
        );
        let long = FramePrefix { kind: 1, header: 0, body: 101 }.encode();
        let error = FramePrefix::decode(&long, 100).unwrap_err();
        assert_eq!(error, FrameError::TooLong { part: "body", got: 101, most: 100 });
        let error = FramePrefix::decode(b"GET / HTTP/1.1\r\n", BODY_MAX).unwrap_err();
        assert_eq!(error, FrameError::Magic { got: 0x4547 });
    }
}
