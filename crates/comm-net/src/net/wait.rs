//! How a rank waits: it spins for a while, then sleeps in `poll` until something comes.

use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use pantile_comm::threads::Spin;
use pantile_comm::{CollectiveSignature, CommError, Rank, Ticket};

use super::NetShared;
use super::clock::{WAIT_INTERVAL, WaitClock, WaitLimits};
use super::connection_state::{ConnectionState, PendingTicket, TicketState};
use super::peer::Presence;
use crate::poll::{self, Interest, SelfPipe};

/// How long a rank spins before it sleeps: waking up costs about five microseconds, so this is
/// about what a short exchange takes.
const SPIN: Spin = Spin::yielding(Duration::from_micros(20));

impl ConnectionState {
    /// What became of a ticket, if that is known; its task stays.
    pub(crate) fn outcome(&mut self, ticket: Ticket) -> Option<Result<(), CommError>> {
        if let Err(error) = self.check() {
            return Some(Err(error));
        }
        let Some(task) = self.tasks.get(&ticket) else { return Some(Ok(())) };
        match &task.state {
            TicketState::Done => Some(Ok(())),
            TicketState::Failed(error) => Some(Err(error.clone())),
            TicketState::Waiting if self.is_there(task.peer) => None,
            TicketState::Waiting => self.outcome_of_gone(ticket),
        }
    }

    fn is_there(&self, peer: Rank) -> bool {
        self.peers[peer].as_ref().is_none_or(|peer| peer.presence == Presence::There)
    }

    /// The peer has left. Others may know why: a rank that gave up says so before it leaves.
    fn outcome_of_gone(&mut self, ticket: Ticket) -> Option<Result<(), CommError>> {
        self.progress_all();
        if let Err(error) = self.check() {
            return Some(Err(error));
        }
        let task = self.tasks.get(&ticket)?;
        Some(match &task.state {
            TicketState::Done => Ok(()),
            TicketState::Failed(error) => Err(error.clone()),
            TicketState::Waiting => {
                let call = Box::new(CollectiveSignature::clone(&self.current()));
                Err(CommError::Gone { rank: self.rank, call, peer: task.peer })
            }
        })
    }
}

impl NetShared {
    /// Waits for a ticket, and takes its task if it is done.
    pub(crate) fn wait(
        &self,
        ticket: Ticket,
        limits: &WaitLimits,
    ) -> Result<Option<PendingTicket>, CommError> {
        let mut state = self.lock();
        state.check()?;
        let Some(peer) = state.tasks.get(&ticket).map(|task| task.peer) else { return Ok(None) };
        let found = match state.outcome(ticket) {
            Some(found) => found,
            None => {
                state.driven = true;
                let (again, found) = self.wait_driven(state, (ticket, peer), limits);
                state = again;
                state.driven = false;
                state.waits_for = None;
                found
            }
        };
        if state.has_pending_writes() {
            self.progress_wakeup.notify();
        }
        match found {
            Ok(()) => Ok(state.tasks.remove(&ticket)),
            Err(error) => {
                if let Some(PendingTicket { state: TicketState::Failed(_), .. }) =
                    state.tasks.get(&ticket)
                {
                    state.tasks.remove(&ticket);
                }
                Err(error)
            }
        }
    }

    /// Moves messages until the ticket is done; takes and gives back the lock.
    fn wait_driven<'a>(
        &'a self,
        state: MutexGuard<'a, ConnectionState>,
        (ticket, peer): (Ticket, Rank),
        limits: &WaitLimits,
    ) -> (MutexGuard<'a, ConnectionState>, Result<(), CommError>) {
        // Without the lock while it yields: the progress thread and other callers may need it.
        let mut held = Some(state);
        let found = SPIN.until(|| {
            let mut state = held.take().unwrap_or_else(|| self.lock());
            state.progress_peer(peer);
            let found = state.outcome(ticket)?;
            held = Some(state);
            Some(found)
        });
        let mut state = held.take().unwrap_or_else(|| self.lock());
        if let Some(found) = found {
            return (state, found);
        }
        state.waits_for = Some(peer);
        let mut clock = WaitClock::new(&mut state, peer);
        let mut ready: Vec<Rank> = (0..state.peers.len()).collect();
        loop {
            ready.retain(|from| state.progress_peer(*from));
            if let Some(found) = state.outcome(ticket) {
                return (state, found);
            }
            if let Err(error) = clock.look(&mut state, limits) {
                return (state, Err(error));
            }
            if ready.is_empty() {
                state = self.sleep(state, &mut ready);
            }
        }
    }

    /// Sleeps without the lock until something comes; adds the ranks for whom something is to do.
    pub(crate) fn sleep<'a>(
        &'a self,
        state: MutexGuard<'a, ConnectionState>,
        ready: &mut Vec<Rank>,
    ) -> MutexGuard<'a, ConnectionState> {
        let interests = state.interests();
        drop(state);
        self.watch(&self.rank_wakeup, &interests, WAIT_INTERVAL, ready);
        self.lock()
    }

    /// Sleeps until the pipe is notified or something happens on the sockets of these ranks.
    fn watch(
        &self,
        pipe: &SelfPipe,
        interests: &[(Rank, Interest)],
        longest: Duration,
        ready: &mut Vec<Rank>,
    ) {
        let mut watched = vec![poll::watch_pipe(pipe)];
        let wire = |(rank, _): &(Rank, Interest)| self.wires[*rank].as_ref();
        let sockets = interests.iter().filter_map(|pair| Some((wire(pair)?, pair.1)));
        watched.extend(sockets.map(|(wire, interest)| poll::watch(wire.socket(), interest)));
        poll::poll(&mut watched, longest);
        pipe.drain();
        let happened = watched[1..].iter().map(|socket| !socket.revents().is_empty());
        let ranks = interests.iter().zip(happened).filter(|(_, happened)| *happened);
        ready.extend(ranks.map(|((rank, _), _)| *rank));
    }
}

/// The thread that moves messages while the rank computes.
pub(crate) fn progress_loop(shared: &Arc<NetShared>) {
    /// A pause while the rank moves its messages itself: so often at most this thread gets in the
    /// way of it.
    const PAUSE: Duration = Duration::from_millis(1);
    /// Longest sleep; a notification ends it earlier.
    const SLEEP: Duration = Duration::from_secs(1);
    let mut ready: Vec<Rank> = Vec::new();
    let mut state = shared.lock();
    while !state.closed {
        let pause = state.driven;
        if !pause {
            ready.retain(|from| state.progress_peer(*from));
        }
        let interests = state.interests();
        drop(state);
        // The rank's thread serves the peers whose sockets tell; what was read ahead of others
        // waits here.
        let longest = match (pause, ready.is_empty()) {
            (_, true) => SLEEP,
            (true, false) => 10 * PAUSE,
            (false, false) => Duration::ZERO,
        };
        if pause {
            std::thread::sleep(PAUSE);
        }
        shared.watch(&shared.progress_wakeup, &interests, longest, &mut ready);
        ready.sort_unstable();
        ready.dedup();
        state = shared.lock();
    }
}
