//! Looking at messages that have come.

use pantile_comm::{CommError, Head};

use super::World;
use crate::ffi;
use crate::records::Use;
use crate::slot::{self, Origin, SLOT_BYTES, SMALL_MAX};

impl World {
    /// Checks the heads of a lane in order, up to that of a record: true if that has come.
    pub(super) fn take_heads(&mut self, at: usize) -> Result<bool, CommError> {
        let lane = self.records.at(at).lane;
        while let Some(first) = self.lanes.lane(lane).waiting.front().copied() {
            let taken = match self.records.at(first).peer == self.rank {
                true => self.take_own(first),
                false => self.take_head(first),
            };
            if !taken.map_err(|error| self.spoil(error))? {
                return Ok(false);
            }
            let record = self.records.at(first);
            record.head_done = true;
            self.peers[record.peer].taken += 1;
            self.lanes.lane(lane).waiting.pop_front();
            if first == at {
                return Ok(true);
            }
        }
        unreachable!("a receive whose head has not come waits in its lane")
    }

    /// Takes the head of a receive, and its body if that is small.
    fn take_head(&mut self, at: usize) -> Result<bool, CommError> {
        let (rank, call) = (self.rank, self.calls.current().1);
        let record = self.records.at(at);
        let (peer, lane) = (record.peer, self.lanes.lane(record.lane));
        let got = match record.head.received() {
            Ok(Some(got)) => got,
            Ok(None) => return Ok(false),
            Err(fault) => return Err(self.backend("receiving from", peer, fault)),
        };
        let wrong = |expected, got| {
            let call = Box::new(call.clone());
            CommError::Length { rank, call, peer, expected, got }
        };
        let opened = slot::open(ffi::bytes(&record.slot, 0..got));
        let opened = opened.ok_or_else(|| wrong(SLOT_BYTES, got))?;
        let head = match opened.origin {
            Origin::Head(head) => {
                lane.hear(head);
                head
            }
            Origin::Place(place) => lane.heard(place).ok_or_else(|| wrong(SLOT_BYTES, got))?,
        };
        Head::check(head, rank, peer, call)?;
        if let Some(room) = &record.body {
            if room.len() != opened.bytes {
                return Err(wrong(room.len(), opened.bytes));
            }
            if room.len() <= SMALL_MAX {
                ffi::write(room, 0, opened.body);
            }
        }
        (record.bytes, record.body_at) = (opened.bytes, got - opened.body.len());
        Ok(true)
    }

    /// The same for a message of this rank to itself.
    fn take_own(&mut self, at: usize) -> Result<bool, CommError> {
        let (rank, call) = (self.rank, self.calls.current().1);
        let record = self.records.at(at);
        let Some(parcel) = self.lanes.lane(record.lane).parcels.pop_front() else {
            return Ok(false);
        };
        let got = Head::check(&parcel.head, rank, rank, call)?;
        record.bytes = got;
        match &record.body {
            Some(room) if room.len() != got => {
                let (call, expected) = (Box::new(call.clone()), room.len());
                return Err(CommError::Length { rank, call, peer: rank, expected, got });
            }
            Some(room) => ffi::write(room, 0, &parcel.body),
            None => record.body = Some(ffi::room_in(parcel.body).whole()),
        }
        Ok(true)
    }

    /// True if no part of a body is under way any more.
    pub(super) fn parts_done(&mut self, at: usize) -> Result<bool, CommError> {
        let record = self.records.at(at);
        let outgoing = record.used == Use::Send;
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
