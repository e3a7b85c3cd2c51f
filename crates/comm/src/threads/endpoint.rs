//! One rank's end of a world of threads.
#![allow(unsafe_code, reason = "copies bodies out of and into the memory of messages")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::lane::{Lane, Shown};
use super::post::Parcel;
use super::world::World;
use crate::{
    Call, CommError, Failure, Head, Memory, Options, Piece, Rank, Tag, Ticket, Transport, Windows,
};

/// A rank that is a thread of this process.
pub struct Threads {
    rank: Rank,
    world: Arc<World>,
    call: Option<Call>,
    next: u64,
    /// Receives that were posted and not yet filled, per sender and tag in order.
    rooms: BTreeMap<(Rank, Tag), VecDeque<(Ticket, Piece)>>,
    /// Where an unfilled receive waits.
    waiting: BTreeMap<Ticket, (Rank, Tag)>,
    /// Windows of this rank by viewer, and of others by shower, as far as they were ever needed.
    shown: BTreeMap<Rank, Arc<Lane>>,
    seen: BTreeMap<Rank, Arc<Lane>>,
    leaves_on_drop: bool,
}

impl Threads {
    /// The ends of a world of `size` ranks, to be given to as many threads. Each end leaves the
    /// world when it is dropped.
    #[must_use]
    pub fn world(size: usize, options: &Options) -> Vec<Self> {
        let world = World::new(size, options);
        (0..size).map(|rank| Self::new(rank, &world, true)).collect()
    }

    pub(super) fn new(rank: Rank, world: &Arc<World>, leaves_on_drop: bool) -> Self {
        Self {
            rank,
            world: Arc::clone(world),
            call: None,
            next: 0,
            rooms: BTreeMap::new(),
            waiting: BTreeMap::new(),
            shown: BTreeMap::new(),
            seen: BTreeMap::new(),
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

    fn call(&self) -> Call {
        self.call.clone().unwrap_or_else(|| Call::here("no call", 0))
    }

    /// Waits for the next parcel of a sender and tag, and checks its head.
    fn next_parcel(&self, from: Rank, tag: Tag) -> Result<Parcel, CommError> {
        let (call, post) = (self.call(), self.world.post(self.rank));
        let parcel = self.world.wait((self.rank, from), &call, || post.fetch(from, tag))?;
        Head::check(&parcel.head, self.rank, from, &call)?;
        Ok(parcel)
    }

    /// Fills the oldest room of a sender and tag.
    fn fill_next(&mut self, from: Rank, tag: Tag) -> Result<(), CommError> {
        let parcel = self.next_parcel(from, tag)?;
        let Some((ticket, room)) = self.rooms.get_mut(&(from, tag)).and_then(VecDeque::pop_front)
        else {
            unreachable!("a ticket that waits has a room");
        };
        self.waiting.remove(&ticket);
        if parcel.body.len() != room.len() {
            let (rank, call) = (self.rank, Box::new(self.call()));
            let (expected, got) = (room.len(), parcel.body.len());
            return Err(CommError::Length { rank, call, peer: from, expected, got });
        }
        // SAFETY: law 6 of Transport: until the wait is over nobody else touches a room.
        unsafe { room.as_mut_slice() }.copy_from_slice(&parcel.body);
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

    fn enter(&mut self, call: &Call) -> Result<(), CommError> {
        self.world.check(self.rank)?;
        self.world.post(self.rank).set_doing(Some(call));
        self.call = Some(call.clone());
        Ok(())
    }

    fn leave(&mut self) {
        self.world.post(self.rank).set_doing(None);
        self.call = None;
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &Piece) -> Result<Ticket, CommError> {
        self.check(to)?;
        let head = Head::encode(&self.call(), body.len());
        // SAFETY: law 6 of Transport: from posting on nobody writes the body.
        let body = unsafe { body.as_slice() }.to_vec();
        self.world.post(to).deliver(self.rank, tag, Parcel { head, body });
        Ok(self.ticket())
    }

    fn post_receive(&mut self, from: Rank, tag: Tag, room: &Piece) -> Result<Ticket, CommError> {
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
            let gone = self.world.post(from).is_gone();
            if !self.world.post(self.rank).has_mail(from, tag) {
                if !gone {
                    return Ok(false);
                }
                // Whoever gave up did so before it left.
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
        Ok(self.next_parcel(from, tag)?.body)
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
    /// The lane on which this rank shows memory to `to`.
    fn lane_to(&mut self, to: Rank) -> Arc<Lane> {
        let lane = self.shown.entry(to).or_insert_with(|| self.world.lane(self.rank, to));
        Arc::clone(lane)
    }

    /// The lane on which `from` shows memory to this rank.
    fn lane_from(&mut self, from: Rank) -> Arc<Lane> {
        let lane = self.seen.entry(from).or_insert_with(|| self.world.lane(from, self.rank));
        Arc::clone(lane)
    }
}

impl Windows for Threads {
    fn open(&mut self, to: Rank, memory: &Memory) -> Result<(), CommError> {
        self.check(to)?;
        let shown = Shown { call: self.call(), memory: memory.clone() };
        let fresh = self.lane_to(to).open(shown);
        assert!(fresh, "invariant 1 of a lane: a window to rank {to} is open already");
        self.world.post(to).bell.ring();
        Ok(())
    }

    fn is_open(&mut self, from: Rank) -> bool {
        from < self.world.size() && self.lane_from(from).is_open()
    }

    fn look(&mut self, from: Rank) -> Result<Memory, CommError> {
        self.check(from)?;
        let (lane, call) = (self.lane_from(from), self.call());
        let shown = self.world.wait((self.rank, from), &call, || lane.look())?;
        if shown.call.agrees_with(&call) {
            return Ok(shown.memory);
        }
        let (here, there) = (Box::new(call), Box::new(shown.call));
        Err(CommError::Disagreement { rank: self.rank, here, peer: from, there })
    }

    fn done(&mut self, from: Rank) {
        self.lane_from(from).done();
        self.world.post(from).bell.ring();
    }

    fn close(&mut self, to: Rank) -> Result<(), CommError> {
        let (lane, call) = (self.lane_to(to), self.call());
        let closed = self.world.wait((self.rank, to), &call, || lane.close().then_some(()));
        if closed.is_err() {
            self.world.wait_quietly(self.rank, || lane.take_back());
        }
        closed
    }

    fn withdraw(&mut self) {
        // First let go of what others show: they may be waiting for it, too.
        for (from, lane) in &self.seen {
            lane.done();
            self.world.post(*from).bell.ring();
        }
        for lane in self.shown.values() {
            self.world.wait_quietly(self.rank, || lane.take_back());
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
