//! Waiting for messages, and for how long.

use std::time::Instant;

use pantile_comm::{CommError, Ticket};

use super::World;
use crate::control::{GRACE, Presence};
use crate::patience::{Patience, Step};
use crate::records::Use;

impl World {
    pub(crate) fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.check()?;
        let Some(at) = self.records.find(ticket) else { return Ok(()) };
        self.finish(at)?;
        self.records.free(at);
        Ok(())
    }

    pub(crate) fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.listen_sometimes()?;
        let Some(at) = self.records.find(ticket) else { return Ok(true) };
        if self.advance(at)? {
            return Ok(true);
        }
        self.check_presence(at).map(|()| false)
    }

    /// Waits until a record is done.
    pub(super) fn finish(&mut self, at: usize) -> Result<(), CommError> {
        let mut patience = Patience::new(self.crowded);
        while !self.advance(at)? {
            match patience.step() {
                Step::Again => {}
                Step::Listen => self.look_up(at)?,
                Step::Clock => {
                    self.look_up(at)?;
                    self.check_clock(at, &mut patience)?;
                }
            }
        }
        Ok(())
    }

    /// Looks for notices: an end of the world, or of the peer, ends the wait.
    fn look_up(&mut self, at: usize) -> Result<(), CommError> {
        self.listen()?;
        self.check()?;
        self.check_presence(at)
    }

    /// An error if the peer of a record has left, and nothing of it can be under way any more.
    fn check_presence(&mut self, at: usize) -> Result<(), CommError> {
        let record = self.records.at(at);
        let (peer, incoming) = (record.peer, record.used != Use::Send);
        let gone = match self.peers[peer].presence() {
            Presence::There => false,
            // A body whose head has come is on its way: the peer stays until it is here.
            _ if incoming && record.head_done => false,
            Presence::Gone if incoming => true,
            // What it sent may be for another tag; what is sent to it may have been asked for.
            _ => record.doubt.get_or_insert_with(Instant::now).elapsed() >= GRACE,
        };
        if !gone || self.advance(at)? {
            return Ok(());
        }
        Err(CommError::Gone { rank: self.rank, call: self.boxed_call(), peer })
    }

    fn check_clock(&mut self, at: usize, patience: &mut Patience) -> Result<(), CommError> {
        let waited = patience.waited();
        if waited < self.deadline {
            return Ok(());
        }
        let (rank, peer, call) = (self.rank, self.records.at(at).peer, self.boxed_call());
        Err(CommError::Late { rank, call, peer, busy: None, waited })
    }

    /// Goes on as far as MPI allows: true if the record is done.
    fn advance(&mut self, at: usize) -> Result<bool, CommError> {
        let record = self.records.at(at);
        if !record.head_done {
            let done = match record.used {
                Use::Send => self.head_left(at)?,
                _ => self.take_heads(at)?,
            };
            if !done {
                return Ok(false);
            }
        }
        self.parts_done(at)
    }

    fn head_left(&mut self, at: usize) -> Result<bool, CommError> {
        let record = self.records.at(at);
        match record.head.is_sent() {
            Ok(done) => {
                record.head_done = done;
                Ok(done)
            }
            Err(fault) => {
                let peer = record.peer;
                Err(self.refused("sending to", peer, fault))
            }
        }
    }
}
