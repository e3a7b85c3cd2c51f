//! Sends and receives under way, kept to be used again.

use std::time::Instant;

use pantile_comm::{MemoryBlock, MemorySlice, Rank, Ticket};

use crate::raw::MpiRequest;
use crate::slot::SLOT_BYTES;

/// What a record is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordUse {
    /// Nothing.
    Free,
    /// A send, also one of this rank to itself.
    Send,
    /// A receive into a room.
    Receive,
    /// A receive of a message whose length only its envelope tells.
    Any,
}

/// A part of a large body.
pub(crate) struct BodyPart {
    pub(crate) request: MpiRequest,
    pub(crate) bytes: usize,
}

/// One send or receive.
///
/// Invariants:
/// 1. While `envelope` is under way it uses `slot`, and `parts` use `body`: no other code touches
///    them, and the record is neither freed nor dropped.
/// 2. A free record has no request.
pub(crate) struct RequestRecord {
    generation: u32,
    pub(crate) used: RecordUse,
    pub(crate) peer: Rank,
    /// Number of the tag queue of a receive.
    pub(crate) queue: usize,
    pub(crate) slot: MemorySlice,
    pub(crate) envelope: MpiRequest,
    /// True if the envelope has left, or has come and was found right.
    pub(crate) envelope_done: bool,
    /// Length of the body, once the envelope is done.
    pub(crate) bytes: usize,
    /// Where the body begins in the slot, if it is small.
    pub(crate) body_at: usize,
    pub(crate) body: Option<MemorySlice>,
    pub(crate) parts: Vec<BodyPart>,
    /// How many of the parts are done; they end in order.
    pub(crate) parts_done: usize,
    /// Since when it has been waited for although the peer has left.
    pub(crate) grace_since: Option<Instant>,
}

/// All records.
#[derive(Default)]
pub(crate) struct Records {
    records: Vec<RequestRecord>,
    free: Vec<usize>,
}

impl Records {
    /// A record for a new send or receive; nothing is allocated if one is free.
    pub(crate) fn take(&mut self, used: RecordUse, peer: Rank, queue: usize) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            self.records.push(RequestRecord {
                generation: 0,
                used,
                peer,
                queue,
                slot: MemoryBlock::zeroed(SLOT_BYTES).whole(),
                envelope: MpiRequest::none(),
                envelope_done: false,
                bytes: 0,
                body_at: 0,
                body: None,
                parts: Vec::new(),
                parts_done: 0,
                grace_since: None,
            });
            self.records.len() - 1
        });
        let record = &mut self.records[at];
        (record.used, record.peer, record.queue, record.envelope_done) = (used, peer, queue, false);
        at
    }

    pub(crate) fn at(&mut self, at: usize) -> &mut RequestRecord {
        &mut self.records[at]
    }

    /// The ticket of a record.
    pub(crate) fn ticket(&self, at: usize) -> Ticket {
        Ticket(u64::from(self.records[at].generation) << 32 | at as u64)
    }

    /// The record of a ticket that is not used up.
    pub(crate) fn find(&self, ticket: Ticket) -> Option<usize> {
        let at = usize::try_from(ticket.0 & u64::from(u32::MAX)).ok()?;
        let record = self.records.get(at)?;
        let valid =
            record.used != RecordUse::Free && u64::from(record.generation) == ticket.0 >> 32;
        valid.then_some(at)
    }

    /// Uses a ticket up; every request of its record is done.
    pub(crate) fn free(&mut self, at: usize) {
        let record = &mut self.records[at];
        let done = record.envelope_done && record.parts_done == record.parts.len();
        debug_assert!(done, "invariant 2 of a record");
        record.parts.clear();
        record.parts_done = 0;
        record.used = RecordUse::Free;
        record.generation = record.generation.wrapping_add(1);
        (record.body, record.grace_since) = (None, None);
        self.free.push(at);
    }

    /// Every record that is in use.
    pub(crate) fn in_use(&mut self) -> impl Iterator<Item = &mut RequestRecord> {
        self.records.iter_mut().filter(|record| record.used != RecordUse::Free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_used_again_and_old_tickets_are_not() {
        let mut records = Records::default();
        let at = records.take(RecordUse::Send, 1, 0);
        let old = records.ticket(at);
        assert_eq!(records.find(old), Some(at));
        records.at(at).envelope_done = true;
        records.free(at);
        assert_eq!(records.find(old), None);
        assert_eq!(records.take(RecordUse::Receive, 2, 5), at);
        assert_eq!(records.find(old), None);
        assert_ne!(records.ticket(at), old);
        assert_eq!(records.find(Ticket(99)), None);
        assert_eq!((records.at(at).peer, records.at(at).queue), (2, 5));
        assert_ne!(records.take(RecordUse::Any, 0, 0), at);
        assert_eq!(records.in_use().count(), 2);
    }
}
