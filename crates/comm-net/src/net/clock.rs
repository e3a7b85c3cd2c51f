//! How long a rank waits for another one, and what makes it stop.

use std::time::{Duration, Instant};

use pantile_comm::{CommError, Envelope, Rank};

use super::connection_state::ConnectionState;
use crate::control_message::{ControlMessage, PeerActivity};

/// How long a rank sleeps before it looks at the clock again.
pub(crate) const WAIT_INTERVAL: Duration = Duration::from_millis(20);

/// So long an unchanged cycle of waiting ranks is seen before it is believed.
const CYCLE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a world's ranks wait for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitLimits {
    /// While the peer is in another call, or ranks wait in a cycle.
    pub(crate) deadline: Duration,
    /// While nothing at all is heard from the peer.
    pub(crate) silence: Duration,
}

impl WaitLimits {
    /// Time between two status requests to the peer.
    fn request_interval(&self) -> Duration {
        let interval = Duration::from_secs(1).min(self.silence / 4).min(self.deadline / 8);
        interval.max(Duration::from_millis(5))
    }
}

/// The clock of one wait. It adds up short intervals instead of looking at the time of day, so that
/// a process that was stopped for a while does not take its peers for silent.
pub(crate) struct WaitClock {
    peer: Rank,
    started: Instant,
    looked: Instant,
    /// Since the peer was asked.
    since_request: Duration,
    /// Since anything was heard from it, and how often that was.
    silent_for: Duration,
    reads: u64,
    /// How long it has been doing the same, in another call.
    stalled_for: Duration,
    doing: Option<PeerActivity>,
    activity_count_before: u64,
    /// How long ranks have been waiting in the same cycle.
    in_cycle: Duration,
    cycle: Option<u64>,
}

impl WaitClock {
    pub(crate) fn new(state: &mut ConnectionState, peer: Rank) -> Self {
        let activity_count_before =
            state.peers[peer].as_ref().map_or(0, |peer| peer.activity_count);
        state.cycle = None;
        let now = Instant::now();
        Self {
            peer,
            started: now,
            looked: now,
            since_request: Duration::ZERO,
            silent_for: Duration::ZERO,
            reads: 0,
            stalled_for: Duration::ZERO,
            doing: None,
            activity_count_before,
            in_cycle: Duration::ZERO,
            cycle: None,
        }
    }

    /// Looks at the clock, and asks the peer what it is doing now and then.
    pub(crate) fn look(
        &mut self,
        state: &mut ConnectionState,
        limits: &WaitLimits,
    ) -> Result<(), CommError> {
        let now = Instant::now();
        let passed = now.duration_since(self.looked).min(2 * WAIT_INTERVAL);
        self.looked = now;
        self.since_request += passed;
        if self.peer == state.rank {
            // No other rank can send it.
            self.in_cycle += passed;
        } else {
            self.update(state, passed);
        }
        if self.since_request >= limits.request_interval() {
            self.request_status(state);
        }
        let busy = || {
            let envelope = Envelope::decode(self.doing.as_ref()?.call.as_ref()?)?;
            Some(Box::new(envelope.call))
        };
        if self.stalled_for >= limits.deadline
            || self.in_cycle >= CYCLE_TIMEOUT.min(limits.deadline)
        {
            return Err(self.late(state, busy()));
        }
        if self.silent_for >= limits.silence {
            return Err(self.late(state, None));
        }
        Ok(())
    }

    /// What has been heard from the peer since the last look.
    fn update(&mut self, state: &ConnectionState, passed: Duration) {
        let Some(peer) = &state.peers[self.peer] else { return };
        match peer.reads == self.reads {
            true => self.silent_for += passed,
            false => (self.reads, self.silent_for) = (peer.reads, Duration::ZERO),
        }
        if peer.activity_count == self.activity_count_before {
            return;
        }
        let call = state.current();
        let elsewhere = peer.activity.as_ref().is_some_and(|doing| {
            let there = doing.call.as_ref();
            there.is_some_and(|envelope| {
                Envelope::check(envelope, state.rank, self.peer, &call).is_err()
            })
        });
        match elsewhere && peer.activity == self.doing {
            true => self.stalled_for += passed,
            false => self.stalled_for = Duration::ZERO,
        }
        if self.doing != peer.activity {
            self.doing.clone_from(&peer.activity);
        }
    }

    /// Asks the peer what it is doing, and probes the ranks that wait for each other.
    fn request_status(&mut self, state: &mut ConnectionState) {
        let asked = std::mem::take(&mut self.since_request);
        let found = state.cycle.take();
        if self.peer != state.rank {
            match found.is_some() && found == self.cycle {
                true => self.in_cycle += asked,
                false => self.in_cycle = Duration::ZERO,
            }
        }
        self.cycle = found;
        let (origin, turn, hops) = (state.rank, state.turn, state.peers.len() as u64);
        state.send_control(self.peer, &ControlMessage::StatusRequest);
        state.send_control(self.peer, &ControlMessage::Probe { origin, turn, digest: turn, hops });
    }

    fn late(
        &self,
        state: &ConnectionState,
        busy: Option<Box<pantile_comm::CollectiveSignature>>,
    ) -> CommError {
        let call = Box::new(pantile_comm::CollectiveSignature::clone(&state.current()));
        let waited = self.started.elapsed();
        CommError::Late { rank: state.rank, call, peer: self.peer, busy, waited }
    }
}
