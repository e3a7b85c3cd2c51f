//! One rank's end of a world of processes.
//!
//! ```text
//!   rank's thread ──┐                      ┌── Peer 1: wire, input, output, credit
//!                   ├── Desk (one lock) ───┼── Peer 2
//!   attendant ──────┘   lanes, tickets     └── …
//! ```
//!
//! Whoever waits moves all messages of its rank itself, from and to sockets that never block, so
//! that a message takes no detour over another thread. While the rank computes its attendant does.

mod clock;
mod desk;
mod input;
mod lanes;
mod output;
mod peer;
mod room;
mod serve;
mod wait;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pantile_comm::{
    Call, CommError, Failure, Options, Piece, Rank, Scattered, Tag, Ticket, Transport, Windows,
};

use crate::hub::lock;
use crate::notice::Notice;
use crate::poll::{Bell, Interest};
use crate::wire::Wire;
use clock::Patience;
use desk::Desk;
use peer::{Peer, Presence};
use room::Place;

/// How long a rank that leaves waits for its last messages to go, while none of them moves.
const GRACE: Duration = Duration::from_secs(2);

/// Bodies of more bytes are better sent in parts: a few of them fit into a cache together, and one is
/// much more than the notices that announce it.
const PART_BYTES: usize = 256 << 10;

/// Ranges of so many bytes are as well read and written one by one as copied together before.
const RUN_BYTES: usize = 4 << 10;

/// What a rank and its attendant share.
pub(crate) struct Shared {
    desk: Mutex<Desk>,
    wires: Vec<Option<Arc<Wire>>>,
    rank_bell: Bell,
    attendant_bell: Bell,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        lock(&self.desk)
    }

    fn abort(&self, failure: Failure) {
        self.lock().abort(failure);
        self.rank_bell.ring();
        self.attendant_bell.ring();
    }
}

impl Desk {
    /// What the sockets of ranks that have one are watched for.
    fn interests(&self) -> Vec<(Rank, Interest)> {
        let open = |(rank, peer): (Rank, &Option<Peer>)| Some((rank, peer.as_ref()?.interest()?));
        self.peers.iter().enumerate().filter_map(open).collect()
    }

    fn is_behind(&self) -> bool {
        self.peers.iter().flatten().any(Peer::is_behind)
    }
}

/// A rank that talks to the others of its world over TCP.
///
/// Every rank has a connection with every other one. A message of at most 64 KiB is sent at once, as
/// long as no more than 4 MiB of them wait unexpected at the receiver; a larger one is announced,
/// and travels from its memory to the receiver's when there is room for it.
///
/// A rank that waits asks its peer now and then what it is doing: the clock of the deadline runs only
/// while the peer is in another call, or while ranks wait for each other in a circle, never while it
/// computes. A peer whose connection ends has left; one that is silent for longer than
/// [`HubOptions::silence`](crate::HubOptions) is late.
///
/// Dropping it leaves the world: what was sent goes out first, for two seconds without progress at
/// most. Dropping it while the thread panics makes the world fail.
pub struct Net {
    rank: Rank,
    shared: Arc<Shared>,
    patience: Patience,
    attendant: Option<JoinHandle<()>>,
}

/// Ends a world from another thread than that of its rank.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    /// Ends the world for every rank, as [`Transport::abort`] does.
    pub fn abort(&self, failure: Failure) {
        self.shared.abort(failure);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Handle(..)")
    }
}

impl Net {
    pub(crate) fn new(
        rank: Rank,
        wires: Vec<Option<Wire>>,
        options: &Options,
        silence: Duration,
    ) -> std::io::Result<Self> {
        let wires: Vec<_> = wires.into_iter().map(|wire| wire.map(Arc::new)).collect();
        let desk = Mutex::new(Desk::new(rank, &wires));
        let (rank_bell, attendant_bell) = (Bell::new()?, Bell::new()?);
        let shared = Arc::new(Shared { desk, wires, rank_bell, attendant_bell });
        let patience = Patience { deadline: options.deadline, silence };
        let attendant = if shared.wires.len() > 1 {
            let (inside, name) = (Arc::clone(&shared), format!("pantile attendant {rank}"));
            let thread = std::thread::Builder::new().name(name);
            Some(thread.spawn(move || wait::attend(&inside))?)
        } else {
            None
        };
        Ok(Self { rank, shared, patience, attendant })
    }

    /// Something with which another thread can end the world.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle { shared: Arc::clone(&self.shared) }
    }

    fn send(&self, to: Rank, tag: Tag, body: Place) -> Result<Ticket, CommError> {
        let mut desk = self.shared.lock();
        desk.check_rank(to)?;
        let ticket = desk.post_send(to, tag, body);
        self.posted(&desk, to);
        Ok(ticket)
    }

    fn receive(&self, from: Rank, tag: Tag, room: Place) -> Result<Ticket, CommError> {
        let mut desk = self.shared.lock();
        desk.check_rank(from)?;
        let ticket = desk.post_receive(from, tag, Some(room));
        self.posted(&desk, from);
        Ok(ticket)
    }

    /// After posting: what has no space now goes as soon as there is some.
    fn posted(&self, desk: &Desk, peer: Rank) {
        if desk.peers[peer].as_ref().is_some_and(Peer::is_behind) {
            self.shared.attendant_bell.ring();
        }
    }

    /// Moves messages until `done`, as long as anything moves.
    fn drain(&self, done: impl Fn(&Desk) -> bool) {
        let mut desk = self.shared.lock();
        let moves =
            |desk: &Desk| desk.turn + desk.peers.iter().flatten().map(|p| p.heard).sum::<u64>();
        let (mut seen, mut since) = (moves(&desk), Instant::now());
        while !done(&desk) {
            if seen != moves(&desk) {
                (seen, since) = (moves(&desk), Instant::now());
            } else if since.elapsed() >= GRACE {
                return;
            }
            if !desk.serve_all() && !done(&desk) {
                desk = self.shared.sleep(desk, &mut Vec::new());
            }
        }
    }

    /// Says farewell, so that nothing that was sent is lost.
    fn leave_world(&self) {
        self.shared.lock().driven = true;
        self.drain(|desk| desk.failure.is_some() || !desk.peers.iter().flatten().any(Peer::owes));
        let mut desk = self.shared.lock();
        if let Some(failure) = desk.failure.clone() {
            // A peer may hear of it only from here: who told this rank may not have told everybody.
            desk.peers.iter_mut().flatten().for_each(Peer::give_up);
            desk.tell_all(&Notice::Abort((*failure).clone()));
        }
        desk.tell_all(&Notice::Leave);
        drop(desk);
        let through = |peer: &Peer| {
            let ended = peer.bye || peer.mute || peer.presence == Presence::Lost;
            ended && !peer.is_behind()
        };
        // A peer that left first does not answer a farewell: it has had its answer.
        self.drain(|desk| {
            let mut peers = desk.peers.iter().flatten();
            peers
                .all(|peer| through(peer) || (peer.presence == Presence::Left && !peer.is_behind()))
        });
        self.shared.lock().closed = true;
    }
}

impl Transport for Net {
    fn name(&self) -> &'static str {
        "net"
    }

    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.wires.len()
    }

    fn part_bytes(&self) -> usize {
        PART_BYTES
    }

    fn run_bytes(&self) -> Option<usize> {
        Some(RUN_BYTES)
    }

    fn enter(&mut self, call: &Call) -> Result<(), CommError> {
        let mut desk = self.shared.lock();
        desk.check()?;
        desk.set_call(Some(call));
        Ok(())
    }

    fn leave(&mut self) {
        self.shared.lock().set_call(None);
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &Piece) -> Result<Ticket, CommError> {
        self.send(to, tag, Place::One(body.clone()))
    }

    fn post_receive(&mut self, from: Rank, tag: Tag, room: &Piece) -> Result<Ticket, CommError> {
        self.receive(from, tag, Place::One(room.clone()))
    }

    fn post_send_scattered(
        &mut self,
        to: Rank,
        tag: Tag,
        body: &Scattered,
    ) -> Result<Ticket, CommError> {
        self.send(to, tag, Place::Several(body.clone()))
    }

    fn post_receive_scattered(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &Scattered,
    ) -> Result<Ticket, CommError> {
        self.receive(from, tag, Place::Several(room.clone()))
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.shared.wait(ticket, &self.patience).map(drop)
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        let mut desk = self.shared.lock();
        if let Some(peer) = desk.tasks.get(&ticket).map(|task| task.peer)
            && desk.serve(peer)
        {
            // There may be more, and the socket may not tell.
            self.shared.attendant_bell.ring();
        }
        desk.outcome(ticket).map_or(Ok(false), |found| found.map(|()| true))
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        let mut desk = self.shared.lock();
        desk.check_rank(from)?;
        let ticket = desk.post_receive(from, tag, None);
        drop(desk);
        match self.shared.wait(ticket, &self.patience) {
            Ok(task) => Ok(task.and_then(|task| task.body).unwrap_or_default()),
            Err(error) => {
                self.shared.lock().take_back(from, tag, ticket);
                Err(error)
            }
        }
    }

    fn windows(&mut self) -> Option<&mut dyn Windows> {
        None
    }

    fn abort(&mut self, failure: Failure) {
        self.shared.abort(failure);
    }

    fn failure(&self) -> Option<Arc<Failure>> {
        self.shared.lock().failure.clone()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "its program panicked".to_owned();
            self.shared.abort(Failure { culprit: self.rank, call: None, reason });
        }
        self.leave_world();
        self.shared.attendant_bell.ring();
        if let Some(attendant) = self.attendant.take() {
            let _ = attendant.join();
        }
        for wire in self.shared.wires.iter().flatten() {
            wire.finish();
        }
    }
}

impl fmt::Debug for Net {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Net(rank {} of {})", self.rank, self.shared.wires.len())
    }
}
