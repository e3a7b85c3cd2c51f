//! The envelope of a message: which call it belongs to, and how long its body is.

use std::borrow::Cow;

use crate::{CollectiveSignature, CommError, Rank};

/// Length of an encoded envelope.
pub const ENVELOPE_BYTES: usize = 128;

/// An encoded envelope.
pub type EnvelopeBytes = [u8; ENVELOPE_BYTES];

/// Bytes before the two texts: fingerprint, body length, line, two lengths of text.
const FIXED: usize = 22;
const NAME_MAX: usize = 34;
const FILE_MAX: usize = ENVELOPE_BYTES - FIXED - NAME_MAX;

/// What travels before every body. Texts that are too long lose their front, because the end of a
/// path tells more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender's call.
    pub call: CollectiveSignature,
    /// Length of the body in bytes.
    pub bytes: usize,
}

impl Envelope {
    /// The envelope of a body of `bytes` bytes, ready for the wire.
    #[must_use]
    pub fn encode(call: &CollectiveSignature, bytes: usize) -> EnvelopeBytes {
        let mut envelope = [0; ENVELOPE_BYTES];
        envelope[0..8].copy_from_slice(&call.fingerprint.to_le_bytes());
        envelope[8..16].copy_from_slice(&(bytes as u64).to_le_bytes());
        envelope[16..20].copy_from_slice(&call.line.to_le_bytes());
        envelope[20] = put(&mut envelope[FIXED..FIXED + NAME_MAX], &call.name);
        envelope[21] = put(&mut envelope[FIXED + NAME_MAX..], &call.file);
        envelope
    }

    /// Reads an envelope from the front of `bytes`; nothing if that is not an envelope.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let envelope: &EnvelopeBytes = bytes.first_chunk()?;
        let number = |at: usize| -> Option<u64> {
            Some(u64::from_le_bytes(*envelope[at..].first_chunk::<8>()?))
        };
        let name = get(&envelope[FIXED..FIXED + NAME_MAX], envelope[20])?;
        let file = get(&envelope[FIXED + NAME_MAX..], envelope[21])?;
        let line = u32::from_le_bytes(*envelope[16..].first_chunk::<4>()?);
        let call = CollectiveSignature { name, fingerprint: number(0)?, file, line };
        Some(Self { call, bytes: usize::try_from(number(8)?).ok()? })
    }

    /// Compares an encoded envelope with the call that waits for it: the length of its body.
    ///
    /// # Errors
    /// If the sender is in another call, or if `bytes` is not an envelope.
    pub fn check(
        bytes: &[u8],
        rank: Rank,
        peer: Rank,
        call: &CollectiveSignature,
    ) -> Result<usize, CommError> {
        // The ordinary case is decided without building an envelope.
        if bytes.len() >= ENVELOPE_BYTES
            && bytes[0..8] == call.fingerprint.to_le_bytes()
            && bytes[20] == name_length(&call.name)
            && bytes[FIXED..FIXED + usize::from(bytes[20])] == *tail(&call.name, NAME_MAX)
            && let Some(length) = bytes[8..].first_chunk::<8>()
            && let Ok(length) = usize::try_from(u64::from_le_bytes(*length))
        {
            return Ok(length);
        }
        match Self::decode(bytes) {
            Some(envelope) => Err(CommError::Disagreement {
                rank,
                here: Box::new(call.clone()),
                peer,
                there: Box::new(envelope.call),
            }),
            None => Err(CommError::Length {
                rank,
                call: Box::new(call.clone()),
                peer,
                expected: ENVELOPE_BYTES,
                got: bytes.len(),
            }),
        }
    }
}

fn name_length(name: &str) -> u8 {
    u8::try_from(tail(name, NAME_MAX).len()).unwrap_or(u8::MAX)
}

/// The last at most `length` bytes of a text, cut between characters.
fn tail(text: &str, length: usize) -> &[u8] {
    let mut from = text.len().saturating_sub(length);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text.as_bytes()[from..]
}

fn put(place: &mut [u8], text: &str) -> u8 {
    let text = tail(text, place.len());
    place[..text.len()].copy_from_slice(text);
    u8::try_from(text.len()).unwrap_or(u8::MAX)
}

fn get(place: &[u8], length: u8) -> Option<Cow<'static, str>> {
    let text = std::str::from_utf8(place.get(..usize::from(length))?).ok()?;
    Some(Cow::Owned(text.to_owned()))
}

const _: () = assert!(FILE_MAX == 72 && NAME_MAX < 256);

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &'static str, file: &'static str) -> CollectiveSignature {
        CollectiveSignature {
            name: name.into(),
            fingerprint: 0x1234_5678_9abc_def0,
            file: file.into(),
            line: 77,
        }
    }

    #[test]
    fn a_head_comes_back_as_it_was() {
        let call = call("halo exchange", "src/main.rs");
        let encoded = Envelope::encode(&call, 1 << 40);
        assert_eq!(
            Envelope::decode(&encoded),
            Some(Envelope { call: call.clone(), bytes: 1 << 40 })
        );
        assert_eq!(Envelope::check(&encoded, 0, 1, &call), Ok(1 << 40));
    }

    #[test]
    fn long_texts_keep_their_end() {
        let file =
            "/a/very/long/way/to/somewhere/deep/in/the/tree/of/folders/where/é/lives/main.rs";
        let call = call("an operation with a name that is far too long", file);
        let encoded = Envelope::encode(&call, 3);
        let envelope = Envelope::decode(&encoded).expect("an envelope");
        assert!(file.ends_with(&*envelope.call.file) && envelope.call.file.len() >= 70);
        assert_eq!(Envelope::check(&encoded, 0, 1, &call), Ok(3), "the cut name is compared cut");
    }

    #[test]
    fn another_call_is_named() {
        let encoded = Envelope::encode(&call("broadcast", "b.rs"), 8);
        let error = Envelope::check(&encoded, 2, 5, &call("barrier", "a.rs")).expect_err("differs");
        assert_eq!(
            error.to_string(),
            "ranks disagree: rank 2 called barrier (a.rs:77), but rank 5 called broadcast (b.rs:77)"
        );
        assert!(Envelope::check(&encoded[..100], 2, 5, &call("broadcast", "b.rs")).is_err());
        let mut damaged = encoded;
        damaged[20] = 255;
        assert_eq!(Envelope::decode(&damaged), None);
    }
}
