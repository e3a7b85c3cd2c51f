//! Looking at messages that have come.

use pantile_comm::{CommError, Envelope, MemoryBlock};

use super::MpiWorld;
use crate::raw;
use crate::records::RecordUse;
use crate::slot::{self, EAGER_MAX, Origin, SLOT_BYTES};

impl MpiWorld {
    /// Checks the envelopes of a queue in order, up to that of a record: true if that has come.
    pub(super) fn take_envelopes(&mut self, at: usize) -> Result<bool, CommError> {
        let queue = self.records.at(at).queue;
        while let Some(first) = self.queues.queue(queue).waiting.front().copied() {
            let taken = match self.records.at(first).peer == self.rank {
                true => self.take_own(first),
                false => self.take_envelope(first),
            };
            if !taken.map_err(|error| self.spoil(error))? {
                return Ok(false);
            }
            let record = self.records.at(first);
            record.envelope_done = true;
            self.peers[record.peer].taken += 1;
            self.queues.queue(queue).waiting.pop_front();
            if first == at {
                return Ok(true);
            }
        }
        unreachable!("a receive whose envelope has not come waits in its queue")
    }

    /// Takes the envelope of a receive, and its body if that is small.
    fn take_envelope(&mut self, at: usize) -> Result<bool, CommError> {
        let (rank, call) = (self.rank, self.calls.current().1);
        let record = self.records.at(at);
        let (peer, queue) = (record.peer, self.queues.queue(record.queue));
        let got = match record.envelope.received() {
            Ok(Some(got)) => got,
            Ok(None) => return Ok(false),
            Err(fault) => return Err(self.backend("receiving from", peer, fault)),
        };
        let wrong = |expected, got| {
            let call = Box::new(call.clone());
            CommError::Length { rank, call, peer, expected, got }
        };
        let decoded = slot::open(raw::bytes(&record.slot, 0..got));
        let decoded = decoded.ok_or_else(|| wrong(SLOT_BYTES, got))?;
        let envelope = match decoded.origin {
            Origin::Envelope(envelope) => {
                queue.record_received(envelope);
                envelope
            }
            Origin::Cached(place) => queue.received(place).ok_or_else(|| wrong(SLOT_BYTES, got))?,
        };
        Envelope::check(envelope, rank, peer, call)?;
        if let Some(room) = &record.body {
            if room.len() != decoded.bytes {
                return Err(wrong(room.len(), decoded.bytes));
            }
            if room.len() <= EAGER_MAX {
                raw::write(room, 0, decoded.body);
            }
        }
        (record.bytes, record.body_at) = (decoded.bytes, got - decoded.body.len());
        Ok(true)
    }

    /// The same for a message of this rank to itself.
    fn take_own(&mut self, at: usize) -> Result<bool, CommError> {
        let (rank, call) = (self.rank, self.calls.current().1);
        let record = self.records.at(at);
        let Some(message) = self.queues.queue(record.queue).self_messages.pop_front() else {
            return Ok(false);
        };
        let got = Envelope::check(&message.envelope, rank, rank, call)?;
        record.bytes = got;
        match &record.body {
            Some(room) if room.len() != got => {
                let (call, expected) = (Box::new(call.clone()), room.len());
                return Err(CommError::Length { rank, call, peer: rank, expected, got });
            }
            Some(room) => raw::write(room, 0, &message.body),
            None => record.body = Some(MemoryBlock::from_vec(message.body).whole()),
        }
        Ok(true)
    }

    /// True if no part of a body is under way any more.
    pub(super) fn parts_done(&mut self, at: usize) -> Result<bool, CommError> {
        let record = self.records.at(at);
        let outgoing = record.used == RecordUse::Send;
        while let Some(part) = record.parts.get_mut(record.parts_done) {
            let done = match outgoing {
                true => part.request.is_sent().map(|done| done.then_some(part.bytes)),
                false => part.request.received(),
            };
            let peer = record.peer;
            match done {
                Ok(None) => return Ok(false),
                Ok(Some(got)) if got == part.bytes => record.parts_done += 1,
                Ok(Some(got)) => {
                    let (expected, call) = (part.bytes, self.boxed_call());
                    let error = CommError::Length { rank: self.rank, call, peer, expected, got };
                    return Err(self.spoil(error));
                }
                Err(fault) => return Err(self.refused("the body of", peer, fault)),
            }
        }
        Ok(true)
    }
}
