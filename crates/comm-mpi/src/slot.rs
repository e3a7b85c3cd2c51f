//! The first MPI message of every message: how long the body is, in which call the sender is, and
//! the body itself if it is small.
//!
//! ```text
//!   word 8: bits 0..56 length of the body, 56..63 place of the head, 63 a head follows
//!   head 128, if it is new to the receiver
//!   body, if it has at most 896 bytes
//! ```

use pantile_comm::HEAD_BYTES;

use crate::lanes::HeadBytes;

/// Largest body that travels with its head.
pub(crate) const SMALL_MAX: usize = 1024 - HEAD_BYTES;

/// Size of a slot: the word, the head and the largest small body.
pub(crate) const SLOT_BYTES: usize = WORD_BYTES + 1024;

const WORD_BYTES: usize = 8;
const FULL: u64 = 1 << 63;
const PLACE_SHIFT: u32 = 56;
const LENGTH_MASK: u64 = (1 << PLACE_SHIFT) - 1;

/// The beginning of a slot, ready to be sent.
pub(crate) struct Front {
    bytes: [u8; WORD_BYTES + HEAD_BYTES],
    length: usize,
}

impl Front {
    /// For a body of `bytes` bytes whose head the receiver remembers at a place.
    pub(crate) fn short(bytes: usize, place: usize) -> Self {
        let mut front = Self { bytes: [0; WORD_BYTES + HEAD_BYTES], length: WORD_BYTES };
        let word = bytes as u64 & LENGTH_MASK | (place as u64) << PLACE_SHIFT & !FULL;
        front.bytes[..WORD_BYTES].copy_from_slice(&word.to_le_bytes());
        front
    }

    /// For a body of `bytes` bytes with its head.
    pub(crate) fn full(bytes: usize, head: &HeadBytes) -> Self {
        let mut front =
            Self { bytes: [0; WORD_BYTES + HEAD_BYTES], length: WORD_BYTES + HEAD_BYTES };
        let word = bytes as u64 & LENGTH_MASK | FULL;
        front.bytes[..WORD_BYTES].copy_from_slice(&word.to_le_bytes());
        front.bytes[WORD_BYTES..].copy_from_slice(head);
        front
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Which call a message belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Origin<'a> {
    /// The call of this head.
    Head(&'a HeadBytes),
    /// That of a head that came before.
    Place(usize),
}

/// A slot that has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opened<'a> {
    pub(crate) origin: Origin<'a>,
    /// Length of the body.
    pub(crate) bytes: usize,
    /// What came of it.
    pub(crate) body: &'a [u8],
}

/// Reads a slot; nothing if that is none.
pub(crate) fn open(message: &[u8]) -> Option<Opened<'_>> {
    let (word, rest) = message.split_first_chunk::<WORD_BYTES>()?;
    let word = u64::from_le_bytes(*word);
    let bytes = usize::try_from(word & LENGTH_MASK).ok()?;
    let (origin, body) = if word & FULL == 0 {
        (Origin::Place(usize::try_from(word >> PLACE_SHIFT).ok()?), rest)
    } else {
        let (head, body) = rest.split_first_chunk::<HEAD_BYTES>()?;
        (Origin::Head(head), body)
    };
    let expected = if bytes <= SMALL_MAX { bytes } else { 0 };
    (body.len() == expected).then_some(Opened { origin, bytes, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(front: &Front, body: &[u8], expected: Option<(Origin<'_>, usize)>) {
        let message = [front.as_bytes(), body].concat();
        let expected = expected.map(|(origin, bytes)| Opened { origin, bytes, body });
        assert_eq!(open(&message), expected);
    }

    #[test]
    fn a_slot_comes_back_as_it_was() {
        let head = [7; HEAD_BYTES];
        let body = [9; SMALL_MAX];
        for bytes in [0, 8, SMALL_MAX] {
            check(&Front::short(bytes, 5), &body[..bytes], Some((Origin::Place(5), bytes)));
            check(&Front::full(bytes, &head), &body[..bytes], Some((Origin::Head(&head), bytes)));
        }
        for bytes in [SMALL_MAX + 1, 1 << 50] {
            check(&Front::short(bytes, 127), &[], Some((Origin::Place(127), bytes)));
            check(&Front::full(bytes, &head), &[], Some((Origin::Head(&head), bytes)));
        }
        assert_eq!(Front::full(0, &head).as_bytes().len() + SMALL_MAX, SLOT_BYTES);
    }

    #[test]
    fn other_bytes_are_no_slot() {
        check(&Front::short(8, 0), &[0; 7], None);
        check(&Front::short(1000, 0), &[0; 8], None);
        assert_eq!(open(&[0; 5]), None);
        assert_eq!(open(&Front::full(0, &[7; HEAD_BYTES]).as_bytes()[..100]), None);
    }
}
