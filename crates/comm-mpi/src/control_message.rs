//! What ranks tell each other beside their messages: that they failed, or that they leave.
//!
//! ```text
//!   kind 1 | sent 8 | failure? 1 | culprit 8 | reason 2+n | call? 1 | fingerprint 8 | line 4 | name 2+n | file 2+n
//! ```

use pantile_comm::{CollectiveSignature, Failure};

/// Longest control message.
pub(crate) const CONTROL_BYTES: usize = 1024;

/// Longest texts; together with the numbers they fit into a control message.
const REASON_MAX: usize = 600;
const NAME_MAX: usize = 100;
const FILE_MAX: usize = 250;

const ABORT: u8 = 1;
const FAREWELL: u8 = 2;

/// What one rank tells another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MpiControlMessage {
    /// Set if the sender leaves: how many messages it has ever sent to this peer.
    pub(crate) farewell: Option<u64>,
    /// Why the world ended, if the sender knows that it did.
    pub(crate) failure: Option<Failure>,
}

impl MpiControlMessage {
    /// Ready to be sent; texts that are too long are cut.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        bytes.push(if self.farewell.is_some() { FAREWELL } else { ABORT });
        bytes.extend(self.farewell.unwrap_or(0).to_le_bytes());
        bytes.push(u8::from(self.failure.is_some()));
        let Some(failure) = &self.failure else { return bytes };
        bytes.extend((failure.culprit as u64).to_le_bytes());
        put(&mut bytes, front(&failure.reason, REASON_MAX));
        bytes.push(u8::from(failure.call.is_some()));
        let Some(call) = &failure.call else { return bytes };
        bytes.extend(call.fingerprint.to_le_bytes());
        bytes.extend(call.line.to_le_bytes());
        put(&mut bytes, back(&call.name, NAME_MAX));
        put(&mut bytes, back(&call.file, FILE_MAX));
        bytes
    }

    /// Reads a control message; nothing if that is none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let [kind] = take(&mut rest)?;
        let sent = u64::from_le_bytes(take(&mut rest)?);
        let farewell = match kind {
            ABORT => None,
            FAREWELL => Some(sent),
            _ => return None,
        };
        let [failed] = take(&mut rest)?;
        let failure = if failed == 1 { Some(failure(&mut rest)?) } else { None };
        Some(Self { farewell, failure })
    }
}

fn failure(rest: &mut &[u8]) -> Option<Failure> {
    let culprit = usize::try_from(u64::from_le_bytes(take(rest)?)).ok()?;
    let reason = get(rest)?;
    let [called] = take(rest)?;
    let call = if called == 1 { Some(call(rest)?) } else { None };
    Some(Failure { culprit, call, reason })
}

fn call(rest: &mut &[u8]) -> Option<CollectiveSignature> {
    let fingerprint = u64::from_le_bytes(take(rest)?);
    let line = u32::from_le_bytes(take(rest)?);
    let (name, file) = (get(rest)?.into(), get(rest)?.into());
    Some(CollectiveSignature { name, fingerprint, file, line })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (envelope, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*envelope)
}

fn get(rest: &mut &[u8]) -> Option<String> {
    let length = usize::from(u16::from_le_bytes(take(rest)?));
    let (text, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    std::str::from_utf8(text).ok().map(str::to_owned)
}

fn put(bytes: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).unwrap_or(0);
    bytes.extend(length.to_le_bytes());
    bytes.extend(&text.as_bytes()[..usize::from(length)]);
}

/// The first at most `length` bytes of a text, cut between characters.
fn front(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

/// The last at most `length` bytes of a text: the end of a path tells more.
fn back(text: &str, length: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(length))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(reason: &str, call: Option<CollectiveSignature>) -> MpiControlMessage {
        let failure = Failure { culprit: 3, call, reason: reason.to_owned() };
        MpiControlMessage { farewell: None, failure: Some(failure) }
    }

    #[test]
    fn a_notice_comes_back_as_it_was() {
        let messages = [
            MpiControlMessage { farewell: Some(1 << 40), failure: None },
            MpiControlMessage { farewell: Some(0), failure: message("lost", None).failure },
            message("it gave up", Some(CollectiveSignature::here("halo exchange", u64::MAX))),
            message("", None),
        ];
        for message in messages {
            assert_eq!(MpiControlMessage::decode(&message.encode()), Some(message));
        }
    }

    #[test]
    fn long_texts_are_cut_and_fit() {
        let long = "é".repeat(70_000);
        let mut call = CollectiveSignature::here("x", 1);
        (call.name, call.file) = (long.clone().into(), format!("{long}/main.rs").into());
        let bytes = message(&long, Some(call)).encode();
        assert!(bytes.len() <= CONTROL_BYTES, "{}", bytes.len());
        let failure = MpiControlMessage::decode(&bytes).and_then(|n| n.failure).expect("a failure");
        assert_eq!(failure.reason.len(), REASON_MAX);
        let call = failure.call.expect("a call");
        assert!(call.file.ends_with("é/main.rs") && call.name.len() == NAME_MAX);
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = message("it gave up", Some(CollectiveSignature::here("barrier", 7))).encode();
        for length in 0..bytes.len() {
            assert_eq!(MpiControlMessage::decode(&bytes[..length]), None, "{length} bytes");
        }
        let mut other = bytes.clone();
        other[0] = 9;
        assert_eq!(MpiControlMessage::decode(&other), None);
        let mut other = bytes;
        other[20] = 0xff;
        assert_eq!(MpiControlMessage::decode(&other), None);
    }
}
