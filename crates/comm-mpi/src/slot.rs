//! The first MPI message of every message (sent eagerly): how long the body is, in which call the
//! sender is, and the body itself if it is small.
//!
//! ```text
//!   word 8: bits 0..56 length of the body, 56..63 place of the envelope in the cache, 63 an envelope follows
//!   envelope 128, if it is new to the receiver
//!   body, if it has at most 896 bytes
//! ```

use pantile_comm::{ENVELOPE_BYTES, EnvelopeBytes};

/// Largest body that travels with its envelope.
pub(crate) const EAGER_MAX: usize = 1024 - ENVELOPE_BYTES;

/// Size of a slot: the word, the envelope and the largest small body.
pub(crate) const SLOT_BYTES: usize = WORD_BYTES + 1024;

const WORD_BYTES: usize = 8;
const FULL: u64 = 1 << 63;
const CACHE_SHIFT: u32 = 56;
const LENGTH_MASK: u64 = (1 << CACHE_SHIFT) - 1;

/// The beginning of a slot, ready to be sent.
pub(crate) struct SlotHeader {
    bytes: [u8; WORD_BYTES + ENVELOPE_BYTES],
    length: usize,
}

impl SlotHeader {
    /// For a body of `bytes` bytes whose envelope the receiver remembers at a place.
    pub(crate) fn short(bytes: usize, place: usize) -> Self {
        let mut header = Self { bytes: [0; WORD_BYTES + ENVELOPE_BYTES], length: WORD_BYTES };
        let word = bytes as u64 & LENGTH_MASK | (place as u64) << CACHE_SHIFT & !FULL;
        header.bytes[..WORD_BYTES].copy_from_slice(&word.to_le_bytes());
        header
    }

    /// For a body of `bytes` bytes with its envelope.
    pub(crate) fn full(bytes: usize, envelope: &EnvelopeBytes) -> Self {
        let mut header =
            Self { bytes: [0; WORD_BYTES + ENVELOPE_BYTES], length: WORD_BYTES + ENVELOPE_BYTES };
        let word = bytes as u64 & LENGTH_MASK | FULL;
        header.bytes[..WORD_BYTES].copy_from_slice(&word.to_le_bytes());
        header.bytes[WORD_BYTES..].copy_from_slice(envelope);
        header
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Which call a message belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Origin<'a> {
    /// The call of this envelope.
    Envelope(&'a EnvelopeBytes),
    /// That of an envelope that came before.
    Cached(usize),
}

/// A slot that has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecodedSlot<'a> {
    pub(crate) origin: Origin<'a>,
    /// Length of the body.
    pub(crate) bytes: usize,
    /// What came of it.
    pub(crate) body: &'a [u8],
}

/// Reads a slot; nothing if that is none.
pub(crate) fn open(message: &[u8]) -> Option<DecodedSlot<'_>> {
    let (word, rest) = message.split_first_chunk::<WORD_BYTES>()?;
    let word = u64::from_le_bytes(*word);
    let bytes = usize::try_from(word & LENGTH_MASK).ok()?;
    let (origin, body) = if word & FULL == 0 {
        (Origin::Cached(usize::try_from(word >> CACHE_SHIFT).ok()?), rest)
    } else {
        let (envelope, body) = rest.split_first_chunk::<ENVELOPE_BYTES>()?;
        (Origin::Envelope(envelope), body)
    };
    let expected = if bytes <= EAGER_MAX { bytes } else { 0 };
    (body.len() == expected).then_some(DecodedSlot { origin, bytes, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &SlotHeader, body: &[u8], expected: Option<(Origin<'_>, usize)>) {
        let message = [header.as_bytes(), body].concat();
        let expected = expected.map(|(origin, bytes)| DecodedSlot { origin, bytes, body });
        assert_eq!(open(&message), expected);
    }

    #[test]
    fn a_slot_comes_back_as_it_was() {
        let envelope = [7; ENVELOPE_BYTES];
        let body = [9; EAGER_MAX];
        for bytes in [0, 8, EAGER_MAX] {
            check(&SlotHeader::short(bytes, 5), &body[..bytes], Some((Origin::Cached(5), bytes)));
            check(
                &SlotHeader::full(bytes, &envelope),
                &body[..bytes],
                Some((Origin::Envelope(&envelope), bytes)),
            );
        }
        for bytes in [EAGER_MAX + 1, 1 << 50] {
            check(&SlotHeader::short(bytes, 127), &[], Some((Origin::Cached(127), bytes)));
            check(
                &SlotHeader::full(bytes, &envelope),
                &[],
                Some((Origin::Envelope(&envelope), bytes)),
            );
        }
        assert_eq!(SlotHeader::full(0, &envelope).as_bytes().len() + EAGER_MAX, SLOT_BYTES);
    }

    #[test]
    fn other_bytes_are_no_slot() {
        check(&SlotHeader::short(8, 0), &[0; 7], None);
        check(&SlotHeader::short(1000, 0), &[0; 8], None);
        assert_eq!(open(&[0; 5]), None);
        assert_eq!(open(&SlotHeader::full(0, &[7; ENVELOPE_BYTES]).as_bytes()[..100]), None);
    }
}
