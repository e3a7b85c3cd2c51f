//! Control messages between the ranks of a world, as headers of frames.
//!
//! | kind | header | body |
//! |---|---|---|
//! | message | tag, envelope of the message | the message |
//! | request to send | tag, number, envelope of the message | none: it is large, and waits for clear to send (rendezvous) |
//! | clear to send | number | none: a receive was posted for it |
//! | data | number | the next bytes of a rendezvous message |
//! | credit | messages, bytes | none: so much that was unexpected has been taken |
//! | status request | none | none: what are you doing? |
//! | status reply | what a rank is doing | none |
//! | probe | a rank that waits, and a digest of all that wait for each other from there (deadlock detection) | none |
//! | abort | a failure | none |
//! | leave, leave acknowledged | none | none: nothing more will come; and the answer to it |

use pantile_comm::{CollectiveSignature, Envelope, EnvelopeBytes, Failure, Rank, Tag};

use crate::frame::{FrameError, FramePrefix, PREFIX_BYTES};

/// Longest reason of a failure that travels.
const REASON_MAX: usize = 8 << 10;

/// What a rank is doing, for the ranks that wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerActivity {
    /// The envelope of a message that it would send now; none while it computes.
    pub call: Option<EnvelopeBytes>,
    /// Grows with every call that it enters or leaves, and with everything that moves.
    pub turn: u64,
}

/// What one rank sends another beside messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlMessage {
    /// A small message; its body follows.
    Message {
        /// Its channel.
        tag: Tag,
        /// Its envelope.
        envelope: EnvelopeBytes,
    },
    /// A message that waits until there is room for it.
    RequestToSend {
        /// Its channel.
        tag: Tag,
        /// Its number among those of its sender.
        number: u64,
        /// Its envelope.
        envelope: EnvelopeBytes,
    },
    /// A receive was posted for a message that requested to be sent.
    ClearToSend {
        /// Which.
        number: u64,
    },
    /// The next bytes of a large message follow.
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
    StatusRequest,
    /// What a rank is doing.
    StatusReply(PeerActivity),
    /// Follows ranks that wait for each other, to find out whether they do in a cycle.
    Probe {
        /// The rank that started it.
        origin: Rank,
        /// The turn of that rank.
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
    LeaveAck,
}

impl ControlMessage {
    fn kind(&self) -> u16 {
        match self {
            Self::Message { .. } => 1,
            Self::RequestToSend { .. } => 2,
            Self::ClearToSend { .. } => 3,
            Self::Data { .. } => 4,
            Self::Credit { .. } => 5,
            Self::StatusRequest => 6,
            Self::StatusReply(_) => 7,
            Self::Probe { .. } => 8,
            Self::Abort(_) => 9,
            Self::Leave => 10,
            Self::LeaveAck => 11,
        }
    }

    /// The frame, up to its body of `body` bytes.
    #[must_use]
    pub fn encode(&self, body: usize) -> Vec<u8> {
        let mut bytes = vec![0; PREFIX_BYTES];
        let numbers: &[u64] = match self {
            Self::Message { tag, envelope } => {
                bytes.extend_from_slice(&tag.0.to_le_bytes());
                bytes.extend_from_slice(envelope);
                &[]
            }
            Self::RequestToSend { tag, number, envelope } => {
                bytes.extend_from_slice(&tag.0.to_le_bytes());
                bytes.extend_from_slice(&number.to_le_bytes());
                bytes.extend_from_slice(envelope);
                &[]
            }
            Self::ClearToSend { number } | Self::Data { number } => &[*number],
            Self::Credit { messages, bytes } => &[*messages, *bytes],
            Self::StatusReply(doing) => {
                bytes.extend_from_slice(&doing.turn.to_le_bytes());
                bytes.extend_from_slice(doing.call.as_ref().map_or(&[], |envelope| &envelope[..]));
                &[]
            }
            Self::Probe { origin, turn, digest, hops } => &[*origin as u64, *turn, *digest, *hops],
            Self::Abort(failure) => {
                encode_failure(failure, &mut bytes);
                &[]
            }
            Self::StatusRequest | Self::Leave | Self::LeaveAck => &[],
        };
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        let prefix = FramePrefix { kind: self.kind(), header: bytes.len() - PREFIX_BYTES, body };
        bytes[..PREFIX_BYTES].copy_from_slice(&prefix.encode());
        bytes
    }

    /// Reads the header of a frame.
    ///
    /// # Errors
    /// [`FrameError::Meaning`] if it means nothing between ranks.
    pub fn decode(prefix: &FramePrefix, header: &[u8]) -> Result<Self, FrameError> {
        let kind = prefix.kind;
        let wrong = |reason| FrameError::Meaning { kind, reason };
        if prefix.body > 0 && kind != 1 && kind != 4 {
            return Err(wrong("a body where none is expected"));
        }
        let mut cursor = FieldReader(header);
        let read = match kind {
            1 => cursor
                .tag()
                .zip(cursor.envelope())
                .map(|(tag, envelope)| Self::Message { tag, envelope }),
            2 => cursor.request_to_send(),
            3 => cursor.number().map(|number| Self::ClearToSend { number }),
            4 => cursor.number().map(|number| Self::Data { number }),
            5 => cursor.credit(),
            6 => Some(Self::StatusRequest),
            7 => cursor.doing().map(Self::StatusReply),
            8 => cursor.probe(),
            9 => cursor.failure().map(Self::Abort),
            10 => Some(Self::Leave),
            11 => Some(Self::LeaveAck),
            _ => return Err(wrong("ranks say no such thing")),
        };
        let control_message = read.ok_or_else(|| wrong("a header that cannot be read"))?;
        if !cursor.0.is_empty() {
            return Err(wrong("a header that is too long"));
        }
        if let Self::Message { envelope, .. } = &control_message
            && Envelope::decode(envelope).is_none_or(|envelope| envelope.bytes != prefix.body)
        {
            return Err(wrong("a message of another length than its envelope says"));
        }
        Ok(control_message)
    }
}

/// The bytes of a header that were not read yet.
struct FieldReader<'a>(&'a [u8]);

impl FieldReader<'_> {
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

    /// An envelope that can be read.
    fn envelope(&mut self) -> Option<EnvelopeBytes> {
        self.take().filter(|envelope| Envelope::decode(envelope).is_some())
    }

    fn request_to_send(&mut self) -> Option<ControlMessage> {
        let (tag, number, envelope) = (self.tag()?, self.number()?, self.envelope()?);
        Some(ControlMessage::RequestToSend { tag, number, envelope })
    }

    fn credit(&mut self) -> Option<ControlMessage> {
        let (messages, bytes) = (self.number()?, self.number()?);
        Some(ControlMessage::Credit { messages, bytes })
    }

    fn doing(&mut self) -> Option<PeerActivity> {
        let turn = self.number()?;
        let call = if self.0.is_empty() { None } else { Some(self.envelope()?) };
        Some(PeerActivity { call, turn })
    }

    fn probe(&mut self) -> Option<ControlMessage> {
        let origin = usize::try_from(self.number()?).ok()?;
        let (turn, digest, hops) = (self.number()?, self.number()?, self.number()?);
        Some(ControlMessage::Probe { origin, turn, digest, hops })
    }

    fn failure(&mut self) -> Option<Failure> {
        let culprit = usize::try_from(self.number()?).ok()?;
        let known = self.take::<1>()?[0];
        let call = match known {
            0 => None,
            1 => Some(Envelope::decode(&self.envelope()?)?.call),
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
        bytes.extend_from_slice(&Envelope::encode(call, 0));
    }
    let mut length = failure.reason.len().min(REASON_MAX);
    while !failure.reason.is_char_boundary(length) {
        length -= 1;
    }
    bytes.extend_from_slice(&failure.reason.as_bytes()[..length]);
}

/// What a rank that is in `call` tells.
pub(crate) fn doing(call: Option<&CollectiveSignature>, turn: u64) -> PeerActivity {
    PeerActivity { call: call.map(|call| Envelope::encode(call, 0)), turn }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<(ControlMessage, usize)> {
        let call = CollectiveSignature::here("gather", 3);
        let (tag, envelope) = (Tag(513), Envelope::encode(&call, 77));
        let failure = |call| Failure { culprit: 5, call, reason: "größer".to_owned() };
        // A call that came over the wire knows its texts, not where they stand.
        let activity = Envelope::decode(&envelope).unwrap().call;
        vec![
            (ControlMessage::Message { tag, envelope }, 77),
            (ControlMessage::RequestToSend { tag, number: 1 << 40, envelope }, 0),
            (ControlMessage::ClearToSend { number: 7 }, 0),
            (ControlMessage::Data { number: 8 }, 1000),
            (ControlMessage::Credit { messages: 3, bytes: 1 << 33 }, 0),
            (ControlMessage::StatusRequest, 0),
            (ControlMessage::StatusReply(doing(Some(&call), 9)), 0),
            (ControlMessage::StatusReply(doing(None, 10)), 0),
            (ControlMessage::Probe { origin: 3, turn: 4, digest: u64::MAX, hops: 2 }, 0),
            (ControlMessage::Abort(failure(Some(activity))), 0),
            (ControlMessage::Abort(failure(None)), 0),
            (ControlMessage::Leave, 0),
            (ControlMessage::LeaveAck, 0),
        ]
    }

    fn decode(bytes: &[u8]) -> Result<ControlMessage, FrameError> {
        let prefix = FramePrefix::decode(bytes, 1 << 20)?.ok_or(FrameError::Cut { missing: 1 })?;
        let header = bytes.get(PREFIX_BYTES..PREFIX_BYTES + prefix.header);
        ControlMessage::decode(&prefix, header.ok_or(FrameError::Cut { missing: 1 })?)
    }

    #[test]
    fn notices_come_back_as_they_were() {
        for (control_message, body) in all() {
            assert_eq!(decode(&control_message.encode(body)), Ok(control_message));
        }
    }

    #[test]
    fn other_frames_mean_nothing() {
        for (control_message, body) in all() {
            let mut bytes = control_message.encode(body);
            bytes[2] = 99;
            let error = decode(&bytes).unwrap_err();
            assert!(matches!(error, FrameError::Meaning { kind: 99, .. }), "{error}");
        }
        let body = decode(&ControlMessage::StatusRequest.encode(1)).unwrap_err();
        assert_eq!(body.to_string(), "a frame of kind 6: a body where none is expected");
        let envelope = Envelope::encode(&CollectiveSignature::here("gather", 3), 77);
        let length =
            decode(&ControlMessage::Message { tag: Tag(0), envelope }.encode(78)).unwrap_err();
        assert!(length.to_string().contains("another length"), "{length}");
    }

    #[test]
    fn long_reasons_are_cut_between_characters() {
        let failure = Failure { culprit: 0, call: None, reason: "ä".repeat(REASON_MAX) };
        let Ok(ControlMessage::Abort(activity)) = decode(&ControlMessage::Abort(failure).encode(0))
        else {
            panic!("no failure")
        };
        assert_eq!(activity.reason, "ä".repeat(REASON_MAX / 2));
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
            let (control_message, body) = all().swap_remove(below(all().len()));
            let mut bytes = control_message.encode(body);
            for _ in 0..1 + below(4) {
                let at = below(bytes.len());
                bytes[at] = u8::try_from(below(256)).unwrap();
            }
            bytes.truncate(1 + below(bytes.len()));
            let _ = decode(&bytes);
        }
    }
}
