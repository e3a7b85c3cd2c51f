//! How a rank waits: it looks again and again for a while, then sleeps until something comes.

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use pantile_comm::{Call, CommError, Rank, Ticket};

use super::Shared;
use super::clock::{Clock, NAP, Patience};
use super::desk::{Desk, State, Task};
use super::peer::Presence;
use crate::poll::{self, Bell, Interest};

/// How long a rank looks before it sleeps: waking up costs about five microseconds, so this is
/// about what a short exchange takes.
const SPIN: Duration = Duration::from_micros(20);

impl Desk {
    /// What became of a ticket, if that is known; its task stays.
    pub(crate) fn outcome(&mut self, ticket: Ticket) -> Option<Result<(), CommError>> {
        if let Err(error) = self.check() {
            return Some(Err(error));
        }
        let Some(task) = self.tasks.get(&ticket) else { return Some(Ok(())) };
        match &task.state {
            State::Done => Some(Ok(())),
            State::Failed(error) => Some(Err(error.clone())),
            State::Waiting if self.is_there(task.peer) => None,
            State::Waiting => self.outcome_of_gone(ticket),
        }
    }

    fn is_there(&self, peer: Rank) -> bool {
        self.peers[peer].as_ref().is_none_or(|peer| peer.presence == Presence::There)
    }

    /// The peer has left. Others may know why: whoever gave up says so before it leaves.
    fn outcome_of_gone(&mut self, ticket: Ticket) -> Option<Result<(), CommError>> {
        self.serve_all();
        if let Err(error) = self.check() {
            return Some(Err(error));
        }
        let task = self.tasks.get(&ticket)?;
        Some(match &task.state {
            State::Done => Ok(()),
            State::Failed(error) => Err(error.clone()),
            State::Waiting => {
                let call = Box::new(Call::clone(&self.current()));
                Err(CommError::Gone { rank: self.rank, call, peer: task.peer })
            }
        })
    }
}

impl Shared {
    /// Waits for a ticket, and takes its task if it is done.
    pub(crate) fn wait(
        &self,
        ticket: Ticket,
        patience: &Patience,
    ) -> Result<Option<Task>, CommError> {
        let mut desk = self.lock();
        desk.check()?;
        let Some(peer) = desk.tasks.get(&ticket).map(|task| task.peer) else { return Ok(None) };
        let found = match desk.outcome(ticket) {
            Some(found) => found,
            None => {
                desk.driven = true;
                let (again, found) = self.wait_driven(desk, (ticket, peer), patience);
                desk = again;
                desk.driven = false;
                desk.waits_for = None;
                found
            }
        };
        if desk.is_behind() {
            self.attendant_bell.ring();
        }
        match found {
            Ok(()) => Ok(desk.tasks.remove(&ticket)),
            Err(error) => {
                if let Some(Task { state: State::Failed(_), .. }) = desk.tasks.get(&ticket) {
                    desk.tasks.remove(&ticket);
                }
                Err(error)
            }
        }
    }

    /// Moves messages until the ticket is done; takes and gives back the lock.
    fn wait_driven<'a>(
        &'a self,
        mut desk: MutexGuard<'a, Desk>,
        (ticket, peer): (Ticket, Rank),
        patience: &Patience,
    ) -> (MutexGuard<'a, Desk>, Result<(), CommError>) {
        let started = Instant::now();
        loop {
            desk.serve(peer);
            if let Some(found) = desk.outcome(ticket) {
                return (desk, found);
            }
            if started.elapsed() >= SPIN {
                break;
            }
            drop(desk);
            // With more ranks than cores the one waited for may need this very core.
            std::thread::yield_now();
            desk = self.lock();
        }
        desk.waits_for = Some(peer);
        let mut clock = Clock::new(&mut desk, peer);
        let mut ready: Vec<Rank> = (0..desk.peers.len()).collect();
        loop {
            ready.retain(|from| desk.serve(*from));
            if let Some(found) = desk.outcome(ticket) {
                return (desk, found);
            }
            if let Err(error) = clock.look(&mut desk, patience) {
                return (desk, Err(error));
            }
            if ready.is_empty() {
                desk = self.sleep(desk, &mut ready);
            }
        }
    }

    /// Sleeps without the lock until something comes; adds the ranks for whom something is to do.
    pub(crate) fn sleep<'a>(
        &'a self,
        desk: MutexGuard<'a, Desk>,
        ready: &mut Vec<Rank>,
    ) -> MutexGuard<'a, Desk> {
        let interests = desk.interests();
        drop(desk);
        self.watch(&self.rank_bell, &interests, NAP, ready);
        self.lock()
    }

    /// Sleeps until a bell rings or something happens on the sockets of these ranks.
    fn watch(
        &self,
        bell: &Bell,
        interests: &[(Rank, Interest)],
        longest: Duration,
        ready: &mut Vec<Rank>,
    ) {
        let mut watched = vec![poll::watch_bell(bell)];
        let wire = |(rank, _): &(Rank, Interest)| self.wires[*rank].as_ref();
        let sockets = interests.iter().filter_map(|pair| Some((wire(pair)?, pair.1)));
        watched.extend(sockets.map(|(wire, interest)| poll::watch(wire.socket(), interest)));
        poll::poll(&mut watched, longest);
        bell.hush();
        let happened = watched[1..].iter().map(|socket| !socket.revents().is_empty());
        let ranks = interests.iter().zip(happened).filter(|(_, happened)| *happened);
        ready.extend(ranks.map(|((rank, _), _)| *rank));
    }
}

/// The thread that moves messages while the rank computes.
pub(crate) fn attend(shared: &Arc<Shared>) {
    /// A pause while the rank moves its messages itself: so often at most this thread gets in the
    /// way of it.
    const PAUSE: Duration = Duration::from_millis(1);
    /// Longest sleep; it is rung for.
    const SLEEP: Duration = Duration::from_secs(1);
    let mut ready: Vec<Rank> = Vec::new();
    let mut desk = shared.lock();
    while !desk.closed {
        let pause = desk.driven;
        if !pause {
            ready.retain(|from| desk.serve(*from));
        }
        let interests = desk.interests();
        drop(desk);
        // Who drives serves those whose sockets tell; what was read ahead of others waits here.
        let longest = match (pause, ready.is_empty()) {
            (_, true) => SLEEP,
            (true, false) => 10 * PAUSE,
            (false, false) => Duration::ZERO,
        };
        if pause {
            std::thread::sleep(PAUSE);
        }
        shared.watch(&shared.attendant_bell, &interests, longest, &mut ready);
        ready.sort_unstable();
        ready.dedup();
        desk = shared.lock();
    }
}
