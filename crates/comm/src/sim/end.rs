//! One rank's end of a simulated world.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::channel::{PacketBody, SimPacket};
use super::member::{Content, PendingRequest, RunState, StallClock};
use super::state::SimState;
use super::{InjectedFault, Sim};
use crate::{
    CollectiveSignature, CommError, Envelope, Failure, MemorySlice, Rank, Tag, Ticket, Transport,
    Windows,
};

/// What the threads of a simulated world share.
pub(super) struct SimShared {
    state: Mutex<SimState>,
    /// Wakes the thread of a rank.
    wakeups: Vec<Condvar>,
}

impl SimShared {
    pub(super) fn new(sim: &Sim, size: usize) -> Arc<Self> {
        let wakeups = (0..size).map(|_| Condvar::new()).collect();
        Arc::new(Self { state: Mutex::new(SimState::new(sim, size)), wakeups })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SimState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the next rank run.
    pub(super) fn hand_over(&self, state: &mut SimState) {
        if let Some(next) = state.advance() {
            self.wakeups[next].notify_all();
        }
    }

    /// Hands over, and comes back when it is this rank's turn again.
    pub(super) fn until_running<'a>(
        &'a self,
        rank: Rank,
        mut state: MutexGuard<'a, SimState>,
    ) -> MutexGuard<'a, SimState> {
        self.hand_over(&mut state);
        while state.members[rank].status != RunState::Running {
            let woken = self.wakeups[rank].wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Comes back when it is this rank's turn, for threads that have just started.
    pub(super) fn wait_for_turn(&self, rank: Rank) {
        drop(self.until_running(rank, self.lock()));
    }

    /// A rank's program is over.
    pub(super) fn finish(&self, rank: Rank) {
        let mut state = self.lock();
        if !state.members[rank].gone {
            state.disappear(rank);
        }
        state.stop(rank, RunState::Ended);
        self.hand_over(&mut state);
    }
}

/// A rank of a simulated world.
pub struct Simulated {
    rank: Rank,
    size: usize,
    shared: Arc<SimShared>,
    /// The memory of receives.
    rooms: BTreeMap<Ticket, MemorySlice>,
    leaves_on_drop: bool,
}

impl Simulated {
    pub(super) fn world(sim: &Sim, size: usize) -> Vec<Self> {
        let shared = SimShared::new(sim, size);
        (0..size).map(|rank| Self::new(rank, size, &shared, true)).collect()
    }

    pub(super) fn new(
        rank: Rank,
        size: usize,
        shared: &Arc<SimShared>,
        leaves_on_drop: bool,
    ) -> Self {
        Self { rank, size, shared: Arc::clone(shared), rooms: BTreeMap::new(), leaves_on_drop }
    }

    /// Every call of this rank starts here: others run for a while, or something goes wrong.
    fn step(&self) -> Result<MutexGuard<'_, SimState>, CommError> {
        self.shared.lock().members[self.rank].record_poll(true);
        self.poll()
    }

    /// A call that a rank may repeat until the answer is yes.
    fn poll(&self) -> Result<MutexGuard<'_, SimState>, CommError> {
        let rank = self.rank;
        let mut state = self.shared.lock();
        match state.members[rank].step() {
            Some(InjectedFault::Lose { .. }) if state.members[rank].lost.is_none() => {
                state.lose(rank, "lost by the simulator");
                state.pause(rank);
            }
            Some(InjectedFault::Stick { .. }) if state.members[rank].lost.is_none() => {
                state.stop(rank, RunState::Stuck);
                state = self.shared.until_running(rank, state);
                if state.failure.is_none() {
                    // All others have ended without it.
                    state.lose(rank, "stuck by the simulator");
                }
                state.pause(rank);
            }
            _ => state.pause(rank),
        }
        let state = self.shared.until_running(rank, state);
        let own = state.members[rank].lost.clone();
        match own.or_else(|| state.failure.clone()) {
            Some(failure) => Err(CommError::Failed { rank, failure }),
            None => Ok(state),
        }
    }

    fn check(&self, peer: Rank) -> Result<(), CommError> {
        let (rank, size) = (self.rank, self.size);
        match peer < size {
            true => Ok(()),
            false => Err(CommError::NoSuchRank { rank, peer, size }),
        }
    }

    fn call(&self, state: &SimState) -> CollectiveSignature {
        let call = state.members[self.rank].call.clone();
        call.unwrap_or_else(|| CollectiveSignature::here("no call", 0))
    }

    fn gone(&self, state: &SimState, peer: Rank) -> CommError {
        CommError::Gone { rank: self.rank, call: Box::new(self.call(state)), peer }
    }

    fn late(&self, state: &SimState, clock: StallClock) -> CommError {
        let (rank, peer, call) = (self.rank, clock.culprit, Box::new(self.call(state)));
        let busy = state.members[peer].call.clone().filter(|busy| !busy.agrees_with(&call));
        let waited = Duration::from_nanos(state.now - clock.since);
        CommError::Late { rank, call, peer, busy: busy.map(Box::new), waited }
    }

    /// Waits for a ticket, and takes what came of it.
    fn until_done<'a>(
        &'a self,
        mut state: MutexGuard<'a, SimState>,
        ticket: Ticket,
    ) -> Result<Option<(Rank, Vec<u8>)>, CommError> {
        let rank = self.rank;
        loop {
            let expired = state.members[rank].expired.take();
            if let Some(failure) = state.failure.clone() {
                return Err(CommError::Failed { rank, failure });
            }
            let Some(request) = state.members[rank].requests.get(&ticket) else { return Ok(None) };
            let peer = request.peer;
            if request.content.is_done() {
                let call = self.call(&state);
                return match state.members[rank]
                    .requests
                    .remove(&ticket)
                    .map(|request| request.content)
                {
                    Some(Content::Message { envelope, body }) => {
                        Envelope::check(&envelope, rank, peer, &call)?;
                        Ok(Some((peer, body)))
                    }
                    _ => Ok(None),
                };
            }
            if state.is_hopeless(rank, ticket) {
                return Err(self.gone(&state, peer));
            }
            if let Some(clock) = expired {
                return Err(self.late(&state, clock));
            }
            state.stop(rank, RunState::Waiting { ticket, peer });
            state = self.shared.until_running(rank, state);
        }
    }
}

impl Transport for Simulated {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        self.step()?.members[self.rank].enters(Some(call));
        Ok(())
    }

    fn leave(&mut self) {
        // A rank that is lost or has failed leaves its call, too.
        drop(self.step());
        self.shared.lock().members[self.rank].enters(None);
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.check(to)?;
        let (rank, mut state) = (self.rank, self.step()?);
        let envelope = Envelope::encode(&self.call(&state), body.len());
        let member = &mut state.members[rank];
        // A rank cannot make room for its own message while it waits for it to leave.
        let copied = to == rank || member.coin();
        let content = if copied { Content::Sent } else { Content::Sending };
        let ticket = member.ticket(PendingRequest { peer: to, tag, content });
        let body = match copied {
            true => PacketBody::copied_from(body),
            false => PacketBody::There(body.clone(), ticket),
        };
        state.send((rank, to, tag), SimPacket { envelope, body });
        Ok(ticket)
    }

    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.check(from)?;
        let ticket = self.step()?.room((from, self.rank, tag));
        self.rooms.insert(ticket, room.clone());
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        let state = self.step()?;
        let message = self.until_done(state, ticket)?;
        let (Some(room), Some((peer, body))) = (self.rooms.remove(&ticket), message) else {
            return Ok(());
        };
        if body.len() != room.len() {
            let (rank, call) = (self.rank, Box::new(self.call(&self.shared.lock())));
            let (expected, got) = (room.len(), body.len());
            return Err(CommError::Length { rank, call, peer, expected, got });
        }
        crate::raw::fill(&room, &body);
        Ok(())
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        let mut state = self.poll()?;
        let member = &mut state.members[self.rank];
        let (done, peer) = match member.requests.get(&ticket) {
            Some(request) => (request.content.is_done(), request.peer),
            None => (true, self.rank),
        };
        member.record_poll(done);
        match state.is_hopeless(self.rank, ticket) {
            true => Err(self.gone(&state, peer)),
            false => Ok(done),
        }
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        self.check(from)?;
        let mut state = self.step()?;
        let ticket = state.room((from, self.rank, tag));
        let message = self.until_done(state, ticket)?;
        Ok(message.map(|(_, body)| body).unwrap_or_default())
    }

    fn windows(&mut self) -> Option<&mut dyn Windows> {
        None
    }

    fn abort(&mut self, failure: Failure) {
        drop(self.step());
        self.shared.lock().abort(self.rank, failure);
    }

    fn failure(&self) -> Option<Arc<Failure>> {
        let failure = match self.poll() {
            Err(CommError::Failed { failure, .. }) => Some(failure),
            _ => None,
        };
        self.shared.lock().members[self.rank].record_poll(failure.is_some());
        failure
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        if self.leaves_on_drop {
            self.shared.finish(self.rank);
        }
    }
}
