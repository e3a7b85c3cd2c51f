//! One rank's end of a world of processes.
//!
//! ```text
//!   rank's thread ────┐                                 ┌── Peer 1: wire, reader, writer, credit
//!                     ├── ConnectionState (one lock) ───┼── Peer 2
//!   progress thread ──┘   queues, tickets               └── …
//! ```
//!
//! A rank that waits moves all messages of its rank itself, from and to sockets that never block,
//! so that a message takes no detour over another thread. While the rank computes its progress
//! thread does.

mod clock;
mod connection_state;
mod frame_reader;
mod frame_writer;
mod matching;
mod message_buffer;
mod peer;
mod progress;
mod wait;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pantile_comm::{
    CollectiveSignature, CommError, Failure, IoVec, MemorySlice, Options, Rank, Tag, Ticket,
    Transport, Windows,
};

use crate::control_message::ControlMessage;
use crate::listener::lock;
use crate::poll::{Interest, SelfPipe};
use crate::wire::Wire;
use clock::WaitLimits;
use connection_state::ConnectionState;
use message_buffer::MessageBuffer;
use peer::{Peer, Presence};

/// How long a rank that leaves waits for its last messages to go, while none of them moves.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// Bodies of more bytes are better sent in parts: a few of them fit into a cache together, and one
/// is much more than the control messages around it.
const PART_BYTES: usize = 256 << 10;

/// Ranges of so many bytes are as well read and written one by one as copied together before.
const RUN_BYTES: usize = 4 << 10;

/// What a rank and its progress thread share.
pub(crate) struct NetShared {
    state: Mutex<ConnectionState>,
    wires: Vec<Option<Arc<Wire>>>,
    rank_wakeup: SelfPipe,
    progress_wakeup: SelfPipe,
}

impl NetShared {
    fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        lock(&self.state)
    }

    fn abort(&self, failure: Failure) {
        self.lock().abort(failure);
        self.rank_wakeup.notify();
        self.progress_wakeup.notify();
    }
}

impl ConnectionState {
    /// What the sockets of ranks that have one are watched for.
    fn interests(&self) -> Vec<(Rank, Interest)> {
        let open = |(rank, peer): (Rank, &Option<Peer>)| Some((rank, peer.as_ref()?.interest()?));
        self.peers.iter().enumerate().filter_map(open).collect()
    }

    fn has_pending_writes(&self) -> bool {
        self.peers.iter().flatten().any(Peer::has_pending_writes)
    }
}

/// A rank that talks to the others of its world over TCP.
///
/// Every rank has a connection with every other one. A message of at most 64 KiB is sent at once,
/// as long as no more than 4 MiB of them wait unexpected at the receiver; a larger one is sent by
/// rendezvous: the sender requests to send, and the body travels from its memory to the receiver's
/// when the receive is posted.
///
/// A rank that waits asks its peer now and then what it is doing: the clock of the deadline runs
/// only while the peer is in another call, or while ranks wait for each other in a cycle, never
/// while it computes. A peer whose connection ends has left; one that is silent for longer than
/// [`ListenerOptions::silence`](crate::ListenerOptions) is late.
///
/// Dropping it leaves the world: what was sent goes out first, for two seconds without progress at
/// most. Dropping it while the thread panics makes the world fail.
pub struct Net {
    rank: Rank,
    shared: Arc<NetShared>,
    limits: WaitLimits,
    progress_thread: Option<JoinHandle<()>>,
}

/// Ends a world from another thread than that of its rank.
#[derive(Clone)]
pub struct AbortHandle {
    shared: Arc<NetShared>,
}

impl AbortHandle {
    /// Ends the world for every rank, as [`Transport::abort`] does.
    pub fn abort(&self, failure: Failure) {
        self.shared.abort(failure);
    }
}

impl fmt::Debug for AbortHandle {
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
        let state = Mutex::new(ConnectionState::new(rank, &wires));
        let (rank_wakeup, progress_wakeup) = (SelfPipe::new()?, SelfPipe::new()?);
        let shared = Arc::new(NetShared { state, wires, rank_wakeup, progress_wakeup });
        let limits = WaitLimits { deadline: options.deadline, silence };
        let progress_thread = if shared.wires.len() > 1 {
            let (inside, name) = (Arc::clone(&shared), format!("pantile progress {rank}"));
            let thread = std::thread::Builder::new().name(name);
            Some(thread.spawn(move || wait::progress_loop(&inside))?)
        } else {
            None
        };
        Ok(Self { rank, shared, limits, progress_thread })
    }

    /// Something with which another thread can end the world.
    #[must_use]
    pub fn handle(&self) -> AbortHandle {
        AbortHandle { shared: Arc::clone(&self.shared) }
    }

    fn send(&self, to: Rank, tag: Tag, body: MessageBuffer) -> Result<Ticket, CommError> {
        let mut state = self.shared.lock();
        state.check_rank(to)?;
        let ticket = state.post_send(to, tag, body);
        self.posted(&state, to);
        Ok(ticket)
    }

    fn receive(&self, from: Rank, tag: Tag, room: MessageBuffer) -> Result<Ticket, CommError> {
        let mut state = self.shared.lock();
        state.check_rank(from)?;
        let ticket = state.post_receive(from, tag, Some(room));
        self.posted(&state, from);
        Ok(ticket)
    }

    /// After posting: what has no space now goes as soon as there is some.
    fn posted(&self, state: &ConnectionState, peer: Rank) {
        if state.peers[peer].as_ref().is_some_and(Peer::has_pending_writes) {
            self.shared.progress_wakeup.notify();
        }
    }

    /// Moves messages until `done`, as long as anything moves.
    fn drain(&self, done: impl Fn(&ConnectionState) -> bool) {
        let mut state = self.shared.lock();
        let moves = |state: &ConnectionState| {
            state.turn + state.peers.iter().flatten().map(|p| p.reads).sum::<u64>()
        };
        let (mut seen, mut since) = (moves(&state), Instant::now());
        while !done(&state) {
            if seen != moves(&state) {
                (seen, since) = (moves(&state), Instant::now());
            } else if since.elapsed() >= GRACE_PERIOD {
                return;
            }
            if !state.progress_all() && !done(&state) {
                state = self.shared.sleep(state, &mut Vec::new());
            }
        }
    }

    /// Says farewell, so that nothing that was sent is lost.
    fn leave_world(&self) {
        self.shared.lock().driven = true;
        self.drain(|state| {
            state.failure.is_some() || !state.peers.iter().flatten().any(Peer::has_unsent)
        });
        let mut state = self.shared.lock();
        if let Some(failure) = state.failure.clone() {
            // A peer may hear of it only from here: the rank that told this one may not have told
            // all.
            state.peers.iter_mut().flatten().for_each(Peer::discard_unsent);
            state.send_control_to_all(&ControlMessage::Abort((*failure).clone()));
        }
        state.send_control_to_all(&ControlMessage::Leave);
        drop(state);
        let through = |peer: &Peer| {
            let ended = peer.leave_acked || peer.write_closed || peer.presence == Presence::Lost;
            ended && !peer.has_pending_writes()
        };
        // A peer that left first does not answer a farewell: it has had its answer.
        self.drain(|state| {
            let mut peers = state.peers.iter().flatten();
            peers.all(|peer| {
                through(peer) || (peer.presence == Presence::Left && !peer.has_pending_writes())
            })
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

    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        let mut state = self.shared.lock();
        state.check()?;
        state.set_call(Some(call));
        Ok(())
    }

    fn leave(&mut self) {
        self.shared.lock().set_call(None);
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.send(to, tag, MessageBuffer::Contiguous(body.clone()))
    }

    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.receive(from, tag, MessageBuffer::Contiguous(room.clone()))
    }

    fn post_send_vectored(
        &mut self,
        to: Rank,
        tag: Tag,
        body: &IoVec,
    ) -> Result<Ticket, CommError> {
        self.send(to, tag, MessageBuffer::Vectored(body.clone()))
    }

    fn post_receive_vectored(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &IoVec,
    ) -> Result<Ticket, CommError> {
        self.receive(from, tag, MessageBuffer::Vectored(room.clone()))
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.shared.wait(ticket, &self.limits).map(drop)
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        let mut state = self.shared.lock();
        if let Some(peer) = state.tasks.get(&ticket).map(|task| task.peer)
            && state.progress_peer(peer)
        {
            // There may be more, and the socket may not tell.
            self.shared.progress_wakeup.notify();
        }
        state.outcome(ticket).map_or(Ok(false), |found| found.map(|()| true))
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        let mut state = self.shared.lock();
        state.check_rank(from)?;
        let ticket = state.post_receive(from, tag, None);
        drop(state);
        match self.shared.wait(ticket, &self.limits) {
            Ok(task) => Ok(task.and_then(|task| task.body).unwrap_or_default()),
            Err(error) => {
                self.shared.lock().cancel_receive(from, tag, ticket);
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
        self.shared.progress_wakeup.notify();
        if let Some(progress_thread) = self.progress_thread.take() {
            let _ = progress_thread.join();
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
