//! What the ranks of a world say to each other, as heads of frames.
//!
//! | kind | head | body |
//! |---|---|---|
//! | message | tag, head of the message | the message |
//! | announce | tag, number, head of the message | none: it is large, and waits to be asked for |
//! | grant | number | none: there is room for it |
//! | data | number | the next bytes of an announced message |
//! | credit | messages, bytes | none: so much that was unexpected has been taken |
//! | ask | none | none: what are you doing? |
//! | tell | what a rank is doing | none |
//! | probe | a rank that waits, and a digest of all that wait for each other from there | none |
//! | abort | a failure | none |
//! | leave, bye | none | none: nothing more will come; and the answer to it |

use pantile_comm::{Call, Failure, HEAD_BYTES, Head, Rank, Tag};

use crate::frame::{FRONT_BYTES, FrameError, Front};

/// An encoded head of a message.
pub(crate) type HeadBytes = [u8; HEAD_BYTES];

/// Longest reason of a failure that travels.
const REASON_MAX: usize = 8 << 10;

/// What a rank is doing, for others who wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doing {
    /// The head of a message that it would send now; none while it computes.
    pub call: Option<[u8; HEAD_BYTES]>,
    /// Grows with every call that it enters or leaves, and with everything that moves.
    pub turn: u64,
}

/// What one rank says to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A small message; its body follows.
    Message {
        /// Its channel.
        tag: Tag,
        /// Its head.
        head: [u8; HEAD_BYTES],
    },
    /// A message that waits until there is room for it.
    Announce {
        /// Its channel.
        tag: Tag,
        /// Its number among those of its sender.
        number: u64,
        /// Its head.
        head: [u8; HEAD_BYTES],
    },
    /// There is room for an announced message.
    Grant {
        /// Which.
        number: u64,
    },
    /// The next bytes of an announced message follow.
    Data {
        /// Which.
        number: u64,
    },
    /// What was unexpected has been taken.
    Credit {
        /// Number of messages.
        messages: u64,
        /// Bytes of small messages among them.
        bytes: u64,
    },
    /// What are you doing?
    Ask,
    /// What a rank is doing.
    Tell(Doing),
    /// Follows ranks that wait for each other, to find out whether they do in a circle.
    Probe {
        /// Who started it.
        origin: Rank,
        /// The turn of who started it.
        turn: u64,
        /// All turns on the way.
        digest: u64,
        /// How many more ranks it may visit.
        hops: u64,
    },
    /// The world has failed.
    Abort(Failure),
    /// Nothing more will come.
    Leave,
    /// Nor in the other direction.
    Bye,
}

impl Notice {
    fn kind(&self) -> u16 {
        match self {
            Self::Message { .. } => 1,
            Self::Announce { .. } => 2,
            Self::Grant { .. } => 3,
            Self::Data { .. } => 4,
            Self::Credit { .. } => 5,
            Self::Ask => 6,
            Self::Tell(_) => 7,
            Self::Probe { .. } => 8,
            Self::Abort(_) => 9,
            Self::Leave => 10,
            Self::Bye => 11,
        }
    }

    /// The frame, up to its body of `body` bytes.
    #[must_use]
    pub fn encode(&self, body: usize) -> Vec<u8> {
        let mut bytes = vec![0; FRONT_BYTES];
        let numbers: &[u64] = match self {
            Self::Message { tag, head } => {
                bytes.extend_from_slice(&tag.0.to_le_bytes());
                bytes.extend_from_slice(head);
                &[]
            }
            Self::Announce { tag, number, head } => {
                bytes.extend_from_slice(&tag.0.to_le_bytes());
                bytes.extend_from_slice(&number.to_le_bytes());
                bytes.extend_from_slice(head);
                &[]
            }
            Self::Grant { number } | Self::Data { number } => &[*number],
            Self::Credit { messages, bytes } => &[*messages, *bytes],
            Self::Tell(doing) => {
                bytes.extend_from_slice(&doing.turn.to_le_bytes());
                bytes.extend_from_slice(doing.call.as_ref().map_or(&[], |head| &head[..]));
                &[]
            }
            Self::Probe { origin, turn, digest, hops } => &[*origin as u64, *turn, *digest, *hops],
            Self::Abort(failure) => {
                encode_failure(failure, &mut bytes);
                &[]
            }
            Self::Ask | Self::Leave | Self::Bye => &[],
        };
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        let front = Front { kind: self.kind(), head: bytes.len() - FRONT_BYTES, body };
        bytes[..FRONT_BYTES].copy_from_slice(&front.encode());
        bytes
    }

    /// Reads the head of a frame.
    ///
    /// # Errors
    /// [`FrameError::Meaning`] if it means nothing between ranks.
    pub fn decode(front: &Front, head: &[u8]) -> Result<Self, FrameError> {
        let kind = front.kind;
        let wrong = |reason| FrameError::Meaning { kind, reason };
        if front.body > 0 && kind != 1 && kind != 4 {
            return Err(wrong("a body where none is expected"));
        }
        let mut cursor = Cursor(head);
        let read = match kind {
            1 => cursor.tag().zip(cursor.head()).map(|(tag, head)| Self::Message { tag, head }),
            2 => cursor.announce(),
            3 => cursor.number().map(|number| Self::Grant { number }),
            4 => cursor.number().map(|number| Self::Data { number }),
            5 => cursor.credit(),
            6 => Some(Self::Ask),
            7 => cursor.doing().map(Self::Tell),
            8 => cursor.probe(),
            9 => cursor.failure().map(Self::Abort),
            10 => Some(Self::Leave),
            11 => Some(Self::Bye),
            _ => return Err(wrong("ranks say no such thing")),
        };
        let notice = read.ok_or_else(|| wrong("a head that cannot be read"))?;
        if !cursor.0.is_empty() {
            return Err(wrong("a head that is too long"));
        }
        if let Self::Message { head, .. } = &notice
            && Head::decode(head).is_none_or(|head| head.bytes != front.body)
        {
            return Err(wrong("a message of another length than its head says"));
        }
        Ok(notice)
    }
}

/// The bytes of a head that were not read yet.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn tag(&mut self) -> Option<Tag> {
        self.take().map(|bytes| Tag(u16::from_le_bytes(bytes)))
    }

    /// A head that can be read.
    fn head(&mut self) -> Option<HeadBytes> {
        self.take::<HEAD_BYTES>().filter(|head| Head::decode(head).is_some())
    }

    fn announce(&mut self) -> Option<Notice> {
        let (tag, number, head) = (self.tag()?, self.number()?, self.head()?);
        Some(Notice::Announce { tag, number, head })
    }

    fn credit(&mut self) -> Option<Notice> {
        let (messages, bytes) = (self.number()?, self.number()?);
        Some(Notice::Credit { messages, bytes })
    }

    fn doing(&mut self) -> Option<Doing> {
        let turn = self.number()?;
        let call = if self.0.is_empty() { None } else { Some(self.head()?) };
        Some(Doing { call, turn })
    }

    fn probe(&mut self) -> Option<Notice> {
        let origin = usize::try_from(self.number()?).ok()?;
        let (turn, digest, hops) = (self.number()?, self.number()?, self.number()?);
        Some(Notice::Probe { origin, turn, digest, hops })
    }

    fn failure(&mut self) -> Option<Failure> {
        let culprit = usize::try_from(self.number()?).ok()?;
        let known = self.take::<1>()?[0];
        let call = match known {
            0 => None,
            1 => Some(Head::decode(&self.head()?)?.call),
            _ => return None,
        };
        let reason = std::str::from_utf8(std::mem::take(&mut self.0)).ok()?.to_owned();
        Some(Failure { culprit, call, reason })
    }
}

fn encode_failure(failure: &Failure, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(failure.culprit as u64).to_le_bytes());
    bytes.push(u8::from(failure.call.is_some()));
    if let Some(call) = &failure.call {
        bytes.extend_from_slice(&Head::encode(call, 0));
    }
    let mut length = failure.reason.len().min(REASON_MAX);
    while !failure.reason.is_char_boundary(length) {
        length -= 1;
    }
    bytes.extend_from_slice(&failure.reason.as_bytes()[..length]);
}

/// What a rank that is in `call` tells.
pub(crate) fn doing(call: Option<&Call>, turn: u64) -> Doing {
    Doing { call: call.map(|call| Head::encode(call, 0)), turn }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<(Notice, usize)> {
        let call = Call::here("gather", 3);
        let (tag, head) = (Tag(513), Head::encode(&call, 77));
        let failure = |call| Failure { culprit: 5, call, reason: "größer".to_owned() };
        // A call that came over the wire knows its texts, not where they stand.
        let told = Head::decode(&head).unwrap().call;
        vec![
            (Notice::Message { tag, head }, 77),
            (Notice::Announce { tag, number: 1 << 40, head }, 0),
            (Notice::Grant { number: 7 }, 0),
            (Notice::Data { number: 8 }, 1000),
            (Notice::Credit { messages: 3, bytes: 1 << 33 }, 0),
            (Notice::Ask, 0),
            (Notice::Tell(doing(Some(&call), 9)), 0),
            (Notice::Tell(doing(None, 10)), 0),
            (Notice::Probe { origin: 3, turn: 4, digest: u64::MAX, hops: 2 }, 0),
            (Notice::Abort(failure(Some(told))), 0),
            (Notice::Abort(failure(None)), 0),
            (Notice::Leave, 0),
            (Notice::Bye, 0),
        ]
    }

    fn decode(bytes: &[u8]) -> Result<Notice, FrameError> {
        let front = Front::decode(bytes, 1 << 20)?.ok_or(FrameError::Cut { missing: 1 })?;
        let head = bytes.get(FRONT_BYTES..FRONT_BYTES + front.head);
        Notice::decode(&front, head.ok_or(FrameError::Cut { missing: 1 })?)
    }

    #[test]
    fn notices_come_back_as_they_were() {
        for (notice, body) in all() {
            assert_eq!(decode(&notice.encode(body)), Ok(notice));
        }
    }

    #[test]
    fn other_frames_mean_nothing() {
        for (notice, body) in all() {
            let mut bytes = notice.encode(body);
            bytes[2] = 99;
            let error = decode(&bytes).unwrap_err();
            assert!(matches!(error, FrameError::Meaning { kind: 99, .. }), "{error}");
        }
        let body = decode(&Notice::Ask.encode(1)).unwrap_err();
        assert_eq!(body.to_string(), "a frame of kind 6: a body where none is expected");
        let head = Head::encode(&Call::here("gather", 3), 77);
        let length = decode(&Notice::Message { tag: Tag(0), head }.encode(78)).unwrap_err();
        assert!(length.to_string().contains("another length"), "{length}");
    }

    #[test]
    fn long_reasons_are_cut_between_characters() {
        let failure = Failure { culprit: 0, call: None, reason: "ä".repeat(REASON_MAX) };
        let Ok(Notice::Abort(told)) = decode(&Notice::Abort(failure).encode(0)) else {
            panic!("no failure")
        };
        assert_eq!(told.reason, "ä".repeat(REASON_MAX / 2));
    }

    #[test]
    fn damaged_notices_are_read_or_refused() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut below = |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % n as u64).unwrap()
        };
        for _ in 0..20_000 {
            let (notice, body) = all().swap_remove(below(all().len()));
            let mut bytes = notice.encode(body);
            for _ in 0..1 + below(4) {
                let at = below(bytes.len());
                bytes[at] = u8::try_from(below(256)).unwrap();
            }
            bytes.truncate(1 + below(bytes.len()));
            let _ = decode(&bytes);
        }
    }
}
