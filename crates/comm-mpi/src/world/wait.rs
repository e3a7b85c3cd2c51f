//! Waiting for messages, and for how long.

use std::time::Instant;

use pantile_comm::{CommError, Ticket};

use super::MpiWorld;
use crate::backoff::{Backoff, BackoffStep};
use crate::control::{GRACE_PERIOD, PeerPresence};
use crate::records::RecordUse;

impl MpiWorld {
    pub(crate) fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.check()?;
        let Some(at) = self.records.find(ticket) else { return Ok(()) };
        self.finish(at)?;
        self.records.free(at);
        Ok(())
    }

    pub(crate) fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.poll_control_sometimes()?;
        let Some(at) = self.records.find(ticket) else { return Ok(true) };
        if self.advance(at)? {
            return Ok(true);
        }
        self.check_presence(at).map(|()| false)
    }

    /// Waits until a record is done.
    pub(super) fn finish(&mut self, at: usize) -> Result<(), CommError> {
        let mut backoff = Backoff::new(self.oversubscribed);
        while !self.advance(at)? {
            match backoff.step() {
                BackoffStep::Again => {}
                BackoffStep::PollControl => self.check_world(at)?,
                BackoffStep::Clock => {
                    self.check_world(at)?;
                    self.check_clock(at, &mut backoff)?;
                }
            }
        }
        Ok(())
    }

    /// Polls for control messages: an end of the world, or of the peer, ends the wait.
    fn check_world(&mut self, at: usize) -> Result<(), CommError> {
        self.poll_control()?;
        self.check()?;
        self.check_presence(at)
    }

    /// An error if the peer of a record has left, and nothing of it can be under way any more.
    fn check_presence(&mut self, at: usize) -> Result<(), CommError> {
        let record = self.records.at(at);
        let (peer, incoming) = (record.peer, record.used != RecordUse::Send);
        let gone = match self.peers[peer].presence() {
            PeerPresence::There => false,
            // A body whose envelope has come is on its way: the peer stays until it is here.
            _ if incoming && record.envelope_done => false,
            PeerPresence::Gone if incoming => true,
            // What it sent may be for another tag; what is sent to it may have been asked for.
            _ => record.grace_since.get_or_insert_with(Instant::now).elapsed() >= GRACE_PERIOD,
        };
        if !gone || self.advance(at)? {
            return Ok(());
        }
        Err(CommError::Gone { rank: self.rank, call: self.boxed_call(), peer })
    }

    fn check_clock(&mut self, at: usize, backoff: &mut Backoff) -> Result<(), CommError> {
        let waited = backoff.waited();
        if waited < self.deadline {
            return Ok(());
        }
        let (rank, peer, call) = (self.rank, self.records.at(at).peer, self.boxed_call());
        Err(CommError::Late { rank, call, peer, busy: None, waited })
    }

    /// Goes on as far as MPI allows: true if the record is done.
    fn advance(&mut self, at: usize) -> Result<bool, CommError> {
        let record = self.records.at(at);
        if !record.envelope_done {
            let done = match record.used {
                RecordUse::Send => self.envelope_left(at)?,
                _ => self.take_envelopes(at)?,
            };
            if !done {
                return Ok(false);
            }
        }
        self.parts_done(at)
    }

    fn envelope_left(&mut self, at: usize) -> Result<bool, CommError> {
        let record = self.records.at(at);
        match record.envelope.is_sent() {
            Ok(done) => {
                record.envelope_done = done;
                Ok(done)
            }
            Err(fault) => {
                let peer = record.peer;
                Err(self.refused("sending to", peer, fault))
            }
        }
    }
}
