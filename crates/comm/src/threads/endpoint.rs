//! One rank's end of a world of threads.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::inbox::Packet;
use super::window::{ExposedMemory, SharedWindow};
use super::world::ThreadWorld;
use crate::{
    CollectiveSignature, CommError, Envelope, Failure, MemoryBlock, MemorySlice, Options, Rank,
    Tag, Ticket, Transport, Windows, raw,
};

/// A rank that is a thread of this process.
pub struct Threads {
    rank: Rank,
    world: Arc<ThreadWorld>,
    call: Option<CollectiveSignature>,
    next: u64,
    /// Receives that were posted and not yet filled, per sender and tag in order.
    rooms: BTreeMap<(Rank, Tag), VecDeque<(Ticket, MemorySlice)>>,
    /// Where an unfilled receive waits.
    waiting: BTreeMap<Ticket, (Rank, Tag)>,
    /// Windows of this rank by viewer, and of others by owner, as far as they were ever needed.
    exposed: BTreeMap<Rank, Arc<SharedWindow>>,
    viewed: BTreeMap<Rank, Arc<SharedWindow>>,
    leaves_on_drop: bool,
}

impl Threads {
    /// The ends of a world of `size` ranks, to be given to as many threads. Each end leaves the
    /// world when it is dropped.
    #[must_use]
    pub fn world(size: usize, options: &Options) -> Vec<Self> {
        let world = ThreadWorld::new(size, options);
        (0..size).map(|rank| Self::new(rank, &world, true)).collect()
    }

    pub(super) fn new(rank: Rank, world: &Arc<ThreadWorld>, leaves_on_drop: bool) -> Self {
        Self {
            rank,
            world: Arc::clone(world),
            call: None,
            next: 0,
            rooms: BTreeMap::new(),
            waiting: BTreeMap::new(),
            exposed: BTreeMap::new(),
            viewed: BTreeMap::new(),
            leaves_on_drop,
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.next += 1;
        Ticket(self.next)
    }

    fn check(&self, peer: Rank) -> Result<(), CommError> {
        let (rank, size) = (self.rank, self.world.size());
        if peer >= size {
            return Err(CommError::NoSuchRank { rank, peer, size });
        }
        self.world.check(rank)
    }

    fn call(&self) -> CollectiveSignature {
        self.call.clone().unwrap_or_else(|| CollectiveSignature::here("no call", 0))
    }

    /// Waits for the next packet of a sender and tag, and checks its envelope.
    fn next_packet(&self, from: Rank, tag: Tag) -> Result<Packet, CommError> {
        let (call, inbox) = (self.call(), self.world.inbox(self.rank));
        let packet = self.world.wait((self.rank, from), &call, || inbox.take_packet(from, tag))?;
        Envelope::check(&packet.envelope, self.rank, from, &call)?;
        Ok(packet)
    }

    /// Fills the oldest room of a sender and tag.
    fn fill_next(&mut self, from: Rank, tag: Tag) -> Result<(), CommError> {
        let packet = self.next_packet(from, tag)?;
        let Some((ticket, room)) = self.rooms.get_mut(&(from, tag)).and_then(VecDeque::pop_front)
        else {
            unreachable!("a ticket that waits has a room");
        };
        self.waiting.remove(&ticket);
        if packet.body.len() != room.len() {
            let (rank, call) = (self.rank, Box::new(self.call()));
            let (expected, got) = (room.len(), packet.body.len());
            return Err(CommError::Length { rank, call, peer: from, expected, got });
        }
        raw::fill(&room, &packet.body);
        Ok(())
    }
}

impl Transport for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.world.size()
    }

    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        self.world.check(self.rank)?;
        self.world.inbox(self.rank).set_activity(Some(call));
        self.call = Some(call.clone());
        Ok(())
    }

    fn leave(&mut self) {
        self.world.inbox(self.rank).set_activity(None);
        self.call = None;
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.check(to)?;
        let envelope = Envelope::encode(&self.call(), body.len());
        let body = raw::copied(body);
        self.world.inbox(to).deliver(self.rank, tag, Packet { envelope, body });
        Ok(self.ticket())
    }

    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.check(from)?;
        let ticket = self.ticket();
        self.rooms.entry((from, tag)).or_default().push_back((ticket, room.clone()));
        self.waiting.insert(ticket, (from, tag));
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.world.check(self.rank)?;
        while let Some((from, tag)) = self.waiting.get(&ticket).copied() {
            self.fill_next(from, tag)?;
        }
        Ok(())
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.world.check(self.rank)?;
        while let Some((from, tag)) = self.waiting.get(&ticket).copied() {
            let gone = self.world.inbox(from).is_gone();
            if !self.world.inbox(self.rank).has_packet(from, tag) {
                if !gone {
                    return Ok(false);
                }
                // A rank that gave up did so before it left.
                self.world.check(self.rank)?;
                let (rank, call) = (self.rank, Box::new(self.call()));
                return Err(CommError::Gone { rank, call, peer: from });
            }
            self.fill_next(from, tag)?;
        }
        Ok(true)
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        self.check(from)?;
        while self.rooms.get(&(from, tag)).is_some_and(|rooms| !rooms.is_empty()) {
            self.fill_next(from, tag)?;
        }
        Ok(self.next_packet(from, tag)?.body)
    }

    fn windows(&mut self) -> Option<&mut dyn Windows> {
        Some(self)
    }

    fn abort(&mut self, failure: Failure) {
        self.world.abort(failure);
    }

    fn failure(&self) -> Option<Arc<Failure>> {
        self.world.failure()
    }
}

impl Threads {
    /// The window through which this rank shows memory to `to`.
    fn window_to(&mut self, to: Rank) -> Arc<SharedWindow> {
        let window = self.exposed.entry(to).or_insert_with(|| self.world.window(self.rank, to));
        Arc::clone(window)
    }

    /// The window through which `from` shows memory to this rank.
    fn window_from(&mut self, from: Rank) -> Arc<SharedWindow> {
        let window = self.viewed.entry(from).or_insert_with(|| self.world.window(from, self.rank));
        Arc::clone(window)
    }
}

impl Windows for Threads {
    fn expose(&mut self, to: Rank, memory: &MemoryBlock) -> Result<(), CommError> {
        self.check(to)?;
        let exposed = ExposedMemory { call: self.call(), memory: memory.clone() };
        let fresh = self.window_to(to).expose(exposed);
        assert!(fresh, "invariant 1 of a window: a window to rank {to} is open already");
        self.world.inbox(to).wakeup.wake();
        Ok(())
    }

    fn is_exposed(&mut self, from: Rank) -> bool {
        from < self.world.size() && self.window_from(from).is_exposed()
    }

    fn acquire(&mut self, from: Rank) -> Result<MemoryBlock, CommError> {
        self.check(from)?;
        let (window, call) = (self.window_from(from), self.call());
        let exposed = self.world.wait((self.rank, from), &call, || window.acquire())?;
        if exposed.call.agrees_with(&call) {
            return Ok(exposed.memory);
        }
        let (here, there) = (Box::new(call), Box::new(exposed.call));
        Err(CommError::Disagreement { rank: self.rank, here, peer: from, there })
    }

    fn release(&mut self, from: Rank) {
        self.window_from(from).release();
        self.world.inbox(from).wakeup.wake();
    }

    fn close(&mut self, to: Rank) -> Result<(), CommError> {
        let (window, call) = (self.window_to(to), self.call());
        let closed = self.world.wait((self.rank, to), &call, || window.close().then_some(()));
        if closed.is_err() {
            self.world.wait_for_release(self.rank, || window.revoke());
        }
        closed
    }

    fn withdraw(&mut self) {
        // First release what others show: they may be waiting for it, too.
        for (from, window) in &self.viewed {
            window.release();
            self.world.inbox(*from).wakeup.wake();
        }
        for window in self.exposed.values() {
            self.world.wait_for_release(self.rank, || window.revoke());
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.withdraw();
        if self.leaves_on_drop {
            self.world.leave(self.rank);
        }
    }
}
