//! What is known about each peer and tag: receives that wait, and heads that need not be sent
//! again.

use std::collections::{BTreeMap, VecDeque};

use pantile_comm::{HEAD_BYTES, Rank, Tag};

use crate::calls::Number;

/// An encoded head.
pub(crate) type HeadBytes = [u8; HEAD_BYTES];

/// How many heads a lane remembers.
const HEADS: usize = 8;

/// A message of this rank to itself.
pub(crate) struct Parcel {
    pub(crate) head: HeadBytes,
    pub(crate) body: Vec<u8>,
}

/// One peer and tag.
///
/// Invariant: messages of a lane are sent and taken in the same order, so `told` of the sender and
/// `heard` of the receiver change in the same way, and a place in the one means the same head as
/// in the other.
#[derive(Default)]
pub(crate) struct Lane {
    /// Records of receives whose heads have not been looked at, the oldest first.
    pub(crate) waiting: VecDeque<usize>,
    /// What this rank has sent to itself.
    pub(crate) parcels: VecDeque<Parcel>,
    /// Calls whose heads the peer remembers, and where the next one goes.
    told: [Number; HEADS],
    told_next: usize,
    /// Heads that the peer refers to, and where the next one goes.
    heard: Vec<HeadBytes>,
    heard_next: usize,
}

impl Lane {
    /// Where the peer remembers the head of a call, if it does; otherwise it will from now on.
    pub(crate) fn tell(&mut self, call: Number) -> Option<usize> {
        let known = self.told.iter().position(|told| *told == call);
        if known.is_none() {
            self.told[self.told_next] = call;
            self.told_next = (self.told_next + 1) % HEADS;
        }
        known
    }

    /// Remembers a head that was sent in full.
    pub(crate) fn hear(&mut self, head: &HeadBytes) {
        match self.heard.get_mut(self.heard_next) {
            Some(old) => *old = *head,
            None => self.heard.push(*head),
        }
        self.heard_next = (self.heard_next + 1) % HEADS;
    }

    /// The head that the peer refers to.
    pub(crate) fn heard(&self, at: usize) -> Option<&HeadBytes> {
        self.heard.get(at)
    }
}

/// All lanes. The lane of the tag that operations use has the number of its peer; others are
/// numbered as they are met.
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    numbers: BTreeMap<(Rank, Tag), usize>,
}

impl Lanes {
    pub(crate) fn new(size: usize) -> Self {
        let lanes = (0..size).map(|_| Lane::default()).collect();
        Self { lanes, numbers: BTreeMap::new() }
    }

    /// The number of a lane.
    pub(crate) fn number(&mut self, peer: Rank, tag: Tag) -> usize {
        if tag == Tag(0) {
            return peer;
        }
        let lanes = &mut self.lanes;
        *self.numbers.entry((peer, tag)).or_insert_with(|| {
            lanes.push(Lane::default());
            lanes.len() - 1
        })
    }

    /// A lane by number.
    pub(crate) fn lane(&mut self, number: usize) -> &mut Lane {
        &mut self.lanes[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Calls;
    use pantile_comm::{Call, Head};

    #[test]
    fn lanes_are_apart() {
        let mut lanes = Lanes::new(3);
        let pairs = [(0, 0), (2, 0), (0, 1), (2, 1), (2, u16::MAX)];
        let numbers = pairs.map(|(peer, tag)| lanes.number(peer, Tag(tag)));
        assert_eq!(numbers, [0, 2, 3, 4, 5]);
        assert_eq!(numbers, pairs.map(|(peer, tag)| lanes.number(peer, Tag(tag))));
        lanes.lane(3).waiting.push_back(7);
        assert!(lanes.lane(0).waiting.is_empty() && lanes.lane(3).waiting.len() == 1);
    }

    #[test]
    fn both_ends_remember_the_same_heads() {
        let (mut calls, mut sender, mut receiver) =
            (Calls::new(), Lane::default(), Lane::default());
        let (mut full, mut state) = (0, 1_u64);
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Few calls for a while, then many.
            let call = Call::here("x", (state >> 60) % if state >> 40 & 1 == 0 { 3 } else { 12 });
            calls.enter(&call);
            let head = Head::encode(&call, 0);
            match sender.tell(calls.current().0) {
                Some(at) => assert_eq!(receiver.heard(at), Some(&head)),
                None => {
                    receiver.hear(&head);
                    full += 1;
                }
            }
        }
        assert!((20..1500).contains(&full), "{full} heads were sent in full");
        assert_eq!(Lane::default().heard(0), None);
    }
}
