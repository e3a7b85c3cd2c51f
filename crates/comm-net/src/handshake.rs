//! The handshake of a connection: its kind, its target, and the secret that admits it.
//!
//! ```text
//!   client    magic 8 | version u16 | kind u16 | id u128 | secret 32 | length u16 | payload …
//!   answer    magic 8 | version u16 | code u8
//! ```
//!
//! What follows the version belongs to that version alone.

use crate::error::Refusal;
use crate::secret::{SECRET_BYTES, Secret};

/// The version of everything that travels; changes with any of it.
pub const VERSION: u16 = 1;

/// Longest payload.
pub const PAYLOAD_MAX: usize = 1024;

/// The kind of connections between the ranks of a world.
pub(crate) const WORLD: u16 = 0;

/// Bytes of a handshake before its payload.
pub(crate) const HANDSHAKE_BYTES: usize = 8 + 2 + 2 + 16 + SECRET_BYTES + 2;

/// Bytes of an answer.
pub(crate) const ANSWER_BYTES: usize = 8 + 2 + 1;

const MAGIC: [u8; 8] = *b"pantile\n";

/// What the connecting side sends first.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// What the connection is for; zero is kept for the ranks of a world.
    pub kind: u16,
    /// Whom or what it is about: a world, a session.
    pub id: u128,
    /// Proves that the connecting side may.
    pub secret: Secret,
    /// Whatever else both sides agree on, at most [`PAYLOAD_MAX`] bytes.
    pub payload: Vec<u8>,
}

impl Handshake {
    /// The handshake for the wire; a payload that is too long is cut.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let payload = &self.payload[..self.payload.len().min(PAYLOAD_MAX)];
        let length = u16::try_from(payload.len()).unwrap_or(u16::MAX);
        let mut bytes = Vec::with_capacity(HANDSHAKE_BYTES + payload.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.kind.to_le_bytes());
        bytes.extend_from_slice(&self.id.to_le_bytes());
        bytes.extend_from_slice(self.secret.as_bytes());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    /// Reads the part before the payload: the handshake without it, and how long it is.
    ///
    /// # Errors
    /// If these are not the first bytes of a handshake, or of one of another version.
    pub fn decode(bytes: &[u8]) -> Result<(Self, usize), Refusal> {
        check_version(bytes)?;
        let Some(bytes) = bytes.first_chunk::<HANDSHAKE_BYTES>() else {
            return Err(Refusal::NoHandshake);
        };
        let (mut id, mut secret) = ([0; 16], [0; SECRET_BYTES]);
        id.copy_from_slice(&bytes[12..28]);
        secret.copy_from_slice(&bytes[28..28 + SECRET_BYTES]);
        let length = usize::from(u16::from_le_bytes([bytes[60], bytes[61]]));
        if length > PAYLOAD_MAX {
            return Err(Refusal::NoHandshake);
        }
        let kind = u16::from_le_bytes([bytes[10], bytes[11]]);
        let (id, secret) = (u128::from_le_bytes(id), Secret::from_bytes(secret));
        Ok((Self { kind, id, secret, payload: Vec::new() }, length))
    }
}

/// An error unless these bytes begin with our name and our version.
fn check_version(bytes: &[u8]) -> Result<(), Refusal> {
    let version = bytes.strip_prefix(&MAGIC).and_then(|rest| rest.first_chunk::<2>());
    match version.map(|version| u16::from_le_bytes(*version)) {
        Some(VERSION) => Ok(()),
        Some(theirs) => Err(Refusal::Version { ours: VERSION, theirs }),
        None => Err(Refusal::NoHandshake),
    }
}

/// What the other side answers.
#[must_use]
pub fn encode_answer(answer: Result<(), &Refusal>) -> [u8; ANSWER_BYTES] {
    let code = match answer {
        Ok(()) => 0,
        Err(Refusal::NoHandshake) => 1,
        Err(Refusal::Version { .. }) => 2,
        Err(Refusal::Kind) => 3,
        Err(Refusal::Unknown) => 4,
        Err(Refusal::Secret) => 5,
        Err(Refusal::Taken) => 6,
        Err(Refusal::Protection { .. }) => 7,
        Err(Refusal::Slow) => 8,
    };
    let mut bytes = [code; ANSWER_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

/// Reads an answer.
///
/// # Errors
/// Why the connection was refused; [`Refusal::NoHandshake`] if this is no answer.
pub fn decode_answer(bytes: &[u8]) -> Result<(), Refusal> {
    check_version(bytes)?;
    match bytes.get(10) {
        Some(0) => Ok(()),
        Some(3) => Err(Refusal::Kind),
        Some(4) => Err(Refusal::Unknown),
        Some(5) => Err(Refusal::Secret),
        Some(6) => Err(Refusal::Taken),
        Some(7) => Err(Refusal::Protection { reason: "as the other side sees it".to_owned() }),
        Some(8) => Err(Refusal::Slow),
        _ => Err(Refusal::NoHandshake),
    }
}

/// The payload of a rank that connects to another one of its world.
#[must_use]
pub fn encode_ranks(from: usize, to: usize, size: usize) -> Vec<u8> {
    let number = |rank: usize| (rank as u64).to_le_bytes();
    [number(from), number(to), number(size)].concat()
}

/// Reads such a payload: from, to, size, with `to < from < size`; nothing if it is something else.
#[must_use]
pub fn decode_ranks(payload: &[u8]) -> Option<(usize, usize, usize)> {
    let payload: &[u8; 24] = payload.try_into().ok()?;
    let number = |at: usize| -> Option<usize> {
        usize::try_from(u64::from_le_bytes(*payload[at..].first_chunk::<8>()?)).ok()
    };
    let (from, to, size) = (number(0)?, number(8)?, number(16)?);
    (to < from && from < size).then_some((from, to, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handshake() -> Handshake {
        let secret = Secret::from_bytes([9; SECRET_BYTES]);
        Handshake { kind: 7, id: 1 << 100, secret, payload: b"hello".to_vec() }
    }

    #[test]
    fn a_handshake_comes_back_as_it_was() {
        let bytes = handshake().encode();
        let (got, length) = Handshake::decode(&bytes).unwrap();
        assert_eq!((got.kind, got.id, length), (7, 1 << 100, 5));
        assert!(got.secret.matches(&handshake().secret));
        assert_eq!(&bytes[HANDSHAKE_BYTES..], b"hello");
    }

    #[test]
    fn other_beginnings_are_refused() {
        let check = |bytes: &[u8], refusal: Refusal| {
            assert_eq!(Handshake::decode(bytes).map(|_| ()), Err(refusal));
        };
        let bytes = handshake().encode();
        check(&bytes[..HANDSHAKE_BYTES - 1], Refusal::NoHandshake);
        check(b"GET / HTTP/1.1\r\n\r\n", Refusal::NoHandshake);
        let mut other = bytes.clone();
        other[8] = 9;
        check(&other, Refusal::Version { ours: VERSION, theirs: 9 });
        let mut long = bytes;
        long[61] = 0xff;
        check(&long, Refusal::NoHandshake);
    }

    #[test]
    fn answers_come_back_as_they_were() {
        assert_eq!(decode_answer(&encode_answer(Ok(()))), Ok(()));
        let protection = Refusal::Protection { reason: "as the other side sees it".to_owned() };
        for refusal in [
            Refusal::NoHandshake,
            Refusal::Kind,
            Refusal::Unknown,
            Refusal::Secret,
            Refusal::Taken,
            protection,
            Refusal::Slow,
        ] {
            assert_eq!(decode_answer(&encode_answer(Err(&refusal))), Err(refusal));
        }
        let mut other = encode_answer(Err(&Refusal::Version { ours: 1, theirs: 2 }));
        assert_eq!(decode_answer(&other), Err(Refusal::NoHandshake));
        other[8] = 3;
        assert_eq!(decode_answer(&other), Err(Refusal::Version { ours: VERSION, theirs: 3 }));
    }

    #[test]
    fn ranks_come_back_as_they_were() {
        assert_eq!(decode_ranks(&encode_ranks(5, 2, 7)), Some((5, 2, 7)));
        for (from, to, size) in [(2, 2, 7), (1, 2, 7), (7, 2, 7)] {
            assert_eq!(decode_ranks(&encode_ranks(from, to, size)), None);
        }
        assert_eq!(decode_ranks(b"short"), None);
    }
}
