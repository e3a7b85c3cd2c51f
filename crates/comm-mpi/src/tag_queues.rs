//! What is known about each peer and tag: receives that wait, and envelopes that need not be sent
//! again.

use std::collections::{BTreeMap, VecDeque};

use pantile_comm::{EnvelopeBytes, Rank, Tag};

use crate::signature_cache::SignatureId;

/// How many envelopes a queue remembers.
const ENVELOPES_MAX: usize = 8;

/// A message of this rank to itself.
pub(crate) struct SelfMessage {
    pub(crate) envelope: EnvelopeBytes,
    pub(crate) body: Vec<u8>,
}

/// One peer and tag.
///
/// Invariant: messages of a queue are sent and taken in the same order, so `sent_envelopes` of the
/// sender and `received_envelopes` of the receiver change in the same way, and a place in the one
/// means the same envelope as in the other.
#[derive(Default)]
pub(crate) struct TagQueue {
    /// Records of receives whose envelopes have not been looked at, the oldest first.
    pub(crate) waiting: VecDeque<usize>,
    /// What this rank has sent to itself.
    pub(crate) self_messages: VecDeque<SelfMessage>,
    /// Calls whose envelopes the peer remembers, and where the next one goes.
    sent_envelopes: [SignatureId; ENVELOPES_MAX],
    sent_next: usize,
    /// Envelopes that the peer refers to, and where the next one goes.
    received_envelopes: Vec<EnvelopeBytes>,
    received_next: usize,
}

impl TagQueue {
    /// Where the peer remembers the envelope of a call, if it does; otherwise it will from now on.
    pub(crate) fn record_sent(&mut self, call: SignatureId) -> Option<usize> {
        let known = self.sent_envelopes.iter().position(|sent| *sent == call);
        if known.is_none() {
            self.sent_envelopes[self.sent_next] = call;
            self.sent_next = (self.sent_next + 1) % ENVELOPES_MAX;
        }
        known
    }

    /// Remembers an envelope that was sent in full.
    pub(crate) fn record_received(&mut self, envelope: &EnvelopeBytes) {
        match self.received_envelopes.get_mut(self.received_next) {
            Some(old) => *old = *envelope,
            None => self.received_envelopes.push(*envelope),
        }
        self.received_next = (self.received_next + 1) % ENVELOPES_MAX;
    }

    /// The envelope that the peer refers to.
    pub(crate) fn received(&self, at: usize) -> Option<&EnvelopeBytes> {
        self.received_envelopes.get(at)
    }
}

/// All queues. The queue of the tag that operations use has the number of its peer; others are
/// numbered as they are met.
pub(crate) struct TagQueues {
    queues: Vec<TagQueue>,
    numbers: BTreeMap<(Rank, Tag), usize>,
}

impl TagQueues {
    pub(crate) fn new(size: usize) -> Self {
        let queues = (0..size).map(|_| TagQueue::default()).collect();
        Self { queues, numbers: BTreeMap::new() }
    }

    /// The number of a queue.
    pub(crate) fn number(&mut self, peer: Rank, tag: Tag) -> usize {
        if tag == Tag(0) {
            return peer;
        }
        let queues = &mut self.queues;
        *self.numbers.entry((peer, tag)).or_insert_with(|| {
            queues.push(TagQueue::default());
            queues.len() - 1
        })
    }

    /// A queue by number.
    pub(crate) fn queue(&mut self, number: usize) -> &mut TagQueue {
        &mut self.queues[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature_cache::SignatureCache;
    use pantile_comm::{CollectiveSignature, Envelope};

    #[test]
    fn lanes_are_apart() {
        let mut queues = TagQueues::new(3);
        let pairs = [(0, 0), (2, 0), (0, 1), (2, 1), (2, u16::MAX)];
        let numbers = pairs.map(|(peer, tag)| queues.number(peer, Tag(tag)));
        assert_eq!(numbers, [0, 2, 3, 4, 5]);
        assert_eq!(numbers, pairs.map(|(peer, tag)| queues.number(peer, Tag(tag))));
        queues.queue(3).waiting.push_back(7);
        assert!(queues.queue(0).waiting.is_empty() && queues.queue(3).waiting.len() == 1);
    }

    #[test]
    fn both_ends_remember_the_same_heads() {
        let (mut calls, mut sender, mut receiver) =
            (SignatureCache::new(), TagQueue::default(), TagQueue::default());
        let (mut full, mut state) = (0, 1_u64);
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Few calls for a while, then many.
            let call = CollectiveSignature::here(
                "x",
                (state >> 60) % if state >> 40 & 1 == 0 { 3 } else { 12 },
            );
            calls.enter(&call);
            let envelope = Envelope::encode(&call, 0);
            match sender.record_sent(calls.current().0) {
                Some(at) => assert_eq!(receiver.received(at), Some(&envelope)),
                None => {
                    receiver.record_received(&envelope);
                    full += 1;
                }
            }
        }
        assert!((20..1500).contains(&full), "{full} envelopes were sent in full");
        assert_eq!(TagQueue::default().received(0), None);
    }
}
