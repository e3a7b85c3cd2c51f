//! The desk of a rank: everything that its own thread and its attendant share.

use std::collections::BTreeMap;
use std::sync::Arc;

use pantile_comm::{Call, CommError, Failure, Head, Rank, Tag, Ticket};

use super::lanes::{Arrived, Body, Lane, Posted};
use super::output::Sending;
use super::peer::{CREDIT_BYTES, CREDIT_MESSAGES, Credit, Filling, Held, Peer, Presence};
use super::room::{self, Place};
use crate::notice::{HeadBytes, Notice};
use crate::wire::Wire;

/// Longest message that is sent without being asked for.
pub(crate) const SMALL_MAX: usize = 64 << 10;

/// What became of a ticket.
pub(crate) enum State {
    Waiting,
    Done,
    Failed(CommError),
}

/// What a ticket stands for.
pub(crate) struct Task {
    pub(crate) peer: Rank,
    pub(crate) state: State,
    /// The body of a message of any length.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) any_length: bool,
}

/// What a rank and its attendant share, behind one lock.
///
/// Invariants:
/// 1. While `driven` is set the rank's own thread moves messages, and the attendant does not.
/// 2. Every ticket that was given away and not waited for has a task.
pub(crate) struct Desk {
    pub(crate) rank: Rank,
    /// None for the rank itself.
    pub(crate) peers: Vec<Option<Peer>>,
    lanes: Vec<BTreeMap<Tag, Lane>>,
    pub(crate) tasks: BTreeMap<Ticket, Task>,
    next_ticket: u64,
    /// The call this rank is in.
    pub(crate) call: Option<Arc<Call>>,
    /// Grows with every call and with everything that moves.
    pub(crate) turn: u64,
    pub(crate) waits_for: Option<Rank>,
    /// The digest of the circle of waiting ranks that was found last.
    pub(crate) circle: Option<u64>,
    pub(crate) failure: Option<Arc<Failure>>,
    pub(crate) driven: bool,
    pub(crate) closed: bool,
    /// Tickets that flushing has finished; kept to be used again.
    finished: Vec<Ticket>,
}

impl Desk {
    pub(crate) fn new(rank: Rank, wires: &[Option<Arc<Wire>>]) -> Self {
        let peer = |wire: &Option<Arc<Wire>>| wire.as_ref().map(|wire| Peer::new(Arc::clone(wire)));
        Self {
            rank,
            peers: wires.iter().map(peer).collect(),
            lanes: wires.iter().map(|_| BTreeMap::new()).collect(),
            tasks: BTreeMap::new(),
            next_ticket: 0,
            call: None,
            turn: 0,
            waits_for: None,
            circle: None,
            failure: None,
            driven: false,
            closed: false,
            finished: Vec::new(),
        }
    }

    /// An error if the world has failed.
    pub(crate) fn check(&self) -> Result<(), CommError> {
        match &self.failure {
            Some(failure) => {
                Err(CommError::Failed { rank: self.rank, failure: Arc::clone(failure) })
            }
            None => Ok(()),
        }
    }

    /// An error if there is no such rank, or the world has failed.
    pub(crate) fn check_rank(&self, peer: Rank) -> Result<(), CommError> {
        let (rank, size) = (self.rank, self.peers.len());
        if peer >= size {
            return Err(CommError::NoSuchRank { rank, peer, size });
        }
        self.check()
    }

    /// The call this rank is in.
    pub(crate) fn current(&self) -> Arc<Call> {
        match &self.call {
            Some(call) => Arc::clone(call),
            None => Arc::new(Call::here("no call", 0)),
        }
    }

    /// From now on the rank is in this call, or in none.
    pub(crate) fn set_call(&mut self, call: Option<&Call>) {
        self.call = call.map(|call| Arc::new(call.clone()));
        self.turn += 1;
    }

    fn task(&mut self, peer: Rank, any_length: bool) -> Ticket {
        self.next_ticket += 1;
        let ticket = Ticket(self.next_ticket);
        let task = Task { peer, state: State::Waiting, body: None, any_length };
        self.tasks.insert(ticket, task);
        ticket
    }

    /// A ticket is done; one that nobody waits for any more is forgotten.
    fn complete(&mut self, ticket: Ticket) {
        self.turn += 1;
        if let Some(task) = self.tasks.get_mut(&ticket) {
            task.state = State::Done;
        }
    }

    /// A room is full.
    pub(crate) fn fill(&mut self, ticket: Ticket, place: Place) {
        self.complete(ticket);
        if let Some(task) = self.tasks.get_mut(&ticket)
            && task.any_length
        {
            task.body = Some(room::into_vector(place));
        }
    }

    fn fail(&mut self, ticket: Ticket, error: CommError) {
        if let Some(task) = self.tasks.get_mut(&ticket) {
            task.state = State::Failed(error);
        }
    }

    /// Sends a message.
    pub(crate) fn post_send(&mut self, to: Rank, tag: Tag, body: Place) -> Ticket {
        let head = Head::encode(&self.current(), body.len());
        let ticket = self.task(to, false);
        let Some(peer) = &mut self.peers[to] else {
            let mut copy = Vec::with_capacity(body.len());
            body.append_to(0..body.len(), &mut copy);
            self.complete(ticket);
            self.deliver(to, tag, Arrived { head, body: Body::Here(copy) });
            return ticket;
        };
        if peer.presence != Presence::There || peer.mute {
            // A small message would have been gone by now; for a large one nobody makes room.
            if body.len() <= SMALL_MAX {
                self.complete(ticket);
            }
        } else if peer.allowance.messages == 0 || !peer.held.is_empty() {
            peer.held.push_back(Held { ticket, tag, head, body });
        } else {
            self.dispatch(to, Held { ticket, tag, head, body });
        }
        ticket
    }

    /// Sends a message, or announces it.
    fn dispatch(&mut self, to: Rank, held: Held) {
        let Some(peer) = &mut self.peers[to] else { return };
        let (tag, head, bytes) = (held.tag, held.head, held.body.len());
        peer.allowance.messages -= 1;
        if bytes <= SMALL_MAX && bytes as u64 <= peer.allowance.bytes {
            peer.allowance.bytes -= bytes as u64;
            let front = Notice::Message { tag, head }.encode(bytes);
            let sent = peer.output.send(&peer.wire, &front, &held.body);
            if sent.is_err() {
                self.mute(to);
            }
            return self.complete(held.ticket);
        }
        peer.next_number += 1;
        let number = peer.next_number;
        peer.announced.insert(number, Sending::new(held.ticket, number, held.body));
        peer.output.push(&Notice::Announce { tag, number, head });
        self.flush(to);
    }

    /// Makes room for a message; without a place, of any length.
    pub(crate) fn post_receive(&mut self, from: Rank, tag: Tag, room: Option<Place>) -> Ticket {
        let (ticket, call) = (self.task(from, room.is_none()), self.current());
        let lane = self.lanes[from].entry(tag).or_default();
        lane.rooms.push_back(Posted { ticket, call, room });
        self.settle(from, tag);
        ticket
    }

    /// Takes back a room of any length that nobody waits for any more.
    pub(crate) fn take_back(&mut self, from: Rank, tag: Tag, ticket: Ticket) {
        self.tasks.remove(&ticket);
        if let Some(lane) = self.lanes[from].get_mut(&tag) {
            lane.rooms.retain(|posted| posted.ticket != ticket);
        }
    }

    /// A message is here, or has been announced.
    pub(crate) fn deliver(&mut self, from: Rank, tag: Tag, arrived: Arrived) {
        self.lanes[from].entry(tag).or_default().mail.push_back(arrived);
        self.settle(from, tag);
    }

    /// The room for a small message that is about to be read, if its body fits.
    pub(crate) fn open_room(
        &mut self,
        from: Rank,
        tag: Tag,
        head: &HeadBytes,
    ) -> Option<(Ticket, Place)> {
        let lane = self.lanes[from].get_mut(&tag)?;
        if !lane.mail.is_empty() {
            return None;
        }
        let posted = lane.rooms.front()?;
        let bytes = Head::check(head, self.rank, from, &posted.call).ok()?;
        if posted.room.as_ref()?.len() != bytes {
            return None;
        }
        let posted = lane.rooms.pop_front()?;
        Some((posted.ticket, posted.room?))
    }

    /// Brings messages and rooms together.
    fn settle(&mut self, from: Rank, tag: Tag) {
        while let Some((arrived, posted)) = self.lanes[from].get_mut(&tag).and_then(Lane::pair) {
            let ticket = posted.ticket;
            if let Err(error) = self.pair(from, arrived, posted) {
                self.fail(ticket, error);
            }
        }
    }

    fn pair(&mut self, from: Rank, arrived: Arrived, posted: Posted) -> Result<(), CommError> {
        let waited = match &arrived.body {
            Body::Here(body) => body.len() as u64,
            Body::There(_) => 0,
        };
        self.taken(from, Credit { messages: 1, bytes: waited }, true);
        let bytes = Head::check(&arrived.head, self.rank, from, &posted.call)?;
        if let Some(room) = &posted.room
            && room.len() != bytes
        {
            let (rank, call) = (self.rank, Box::new(Call::clone(&posted.call)));
            let (expected, got) = (room.len(), bytes);
            return Err(CommError::Length { rank, call, peer: from, expected, got });
        }
        match (arrived.body, posted.room) {
            (Body::Here(body), Some(mut place)) => {
                place.put(0, &body);
                self.complete(posted.ticket);
            }
            (Body::Here(body), None) => {
                self.complete(posted.ticket);
                if let Some(task) = self.tasks.get_mut(&posted.ticket) {
                    task.body = Some(body);
                }
            }
            (Body::There(number), room) => {
                let place = room.or_else(|| room::vector_room(bytes));
                let place = place.ok_or_else(|| CommError::Backend {
                    rank: self.rank,
                    call: format!("room for {bytes} bytes from rank {from} in {}", posted.call),
                    reason: "there is not so much memory".to_owned(),
                })?;
                self.grant(from, number, Filling { ticket: posted.ticket, place, at: 0 });
            }
        }
        Ok(())
    }

    /// Asks for an announced message.
    fn grant(&mut self, from: Rank, number: u64, filling: Filling) {
        let Some(peer) = &mut self.peers[from] else { return };
        peer.output.push(&Notice::Grant { number });
        if filling.place.is_empty() {
            self.fill(filling.ticket, filling.place);
        } else {
            peer.filling.insert(number, filling);
        }
        self.flush(from);
    }

    /// Something that a peer sent has been taken; it is told in time.
    pub(crate) fn taken(&mut self, from: Rank, credit: Credit, was_waiting: bool) {
        let Some(peer) = &mut self.peers[from] else { return };
        if was_waiting {
            peer.unexpected.messages = peer.unexpected.messages.saturating_sub(credit.messages);
            peer.unexpected.bytes = peer.unexpected.bytes.saturating_sub(credit.bytes);
        }
        peer.taken.messages += credit.messages;
        peer.taken.bytes += credit.bytes;
        let Credit { messages, bytes } = peer.taken;
        if messages >= CREDIT_MESSAGES / 2 || bytes >= CREDIT_BYTES / 2 {
            peer.taken = Credit::default();
            self.tell(from, &Notice::Credit { messages, bytes });
        }
    }

    /// A peer has taken something: what was held back for it may go.
    pub(crate) fn credited(&mut self, to: Rank, credit: Credit) {
        let Some(peer) = &mut self.peers[to] else { return };
        let most = |have: u64, more: u64, most: u64| have.saturating_add(more).min(most);
        let allowance = &mut peer.allowance;
        allowance.messages = most(allowance.messages, credit.messages, CREDIT_MESSAGES);
        allowance.bytes = most(allowance.bytes, credit.bytes, CREDIT_BYTES);
        while let Some(peer) = &mut self.peers[to]
            && peer.allowance.messages > 0
            && let Some(held) = peer.held.pop_front()
        {
            self.dispatch(to, held);
        }
    }

    /// There is room for a message that was announced.
    pub(crate) fn granted(&mut self, to: Rank, number: u64) {
        let Some(peer) = &mut self.peers[to] else { return };
        let Some(sending) = peer.announced.remove(&number) else { return };
        match sending.body.is_empty() {
            true => self.complete(sending.ticket),
            false => peer.output.push_large(sending),
        }
    }

    /// Says something to a peer that is there.
    pub(crate) fn tell(&mut self, to: Rank, notice: &Notice) {
        if let Some(peer) = &mut self.peers[to]
            && peer.presence == Presence::There
            && !peer.mute
        {
            peer.output.push(notice);
            self.flush(to);
        }
    }

    /// Says something to everybody.
    pub(crate) fn tell_all(&mut self, notice: &Notice) {
        (0..self.peers.len()).for_each(|to| self.tell(to, notice));
    }

    /// Writes what there is space for.
    pub(crate) fn flush(&mut self, to: Rank) {
        let Some(peer) = &mut self.peers[to] else { return };
        if peer.mute || peer.presence == Presence::Lost {
            return;
        }
        let mut finished = std::mem::take(&mut self.finished);
        match peer.output.flush(&peer.wire, &mut finished) {
            Ok(moved) => self.turn += moved as u64,
            Err(_) => self.mute(to),
        }
        finished.drain(..).for_each(|ticket| self.complete(ticket));
        self.finished = finished;
    }

    /// Nothing can be written to a peer any more. What it sent before may still be read, so it is
    /// not lost yet.
    fn mute(&mut self, to: Rank) {
        if let Some(peer) = &mut self.peers[to] {
            peer.give_up();
            peer.mute = true;
        }
    }

    /// Ends the world; the first failure stays.
    pub(crate) fn abort(&mut self, failure: Failure) {
        if self.failure.is_none() {
            self.tell_all(&Notice::Abort(failure.clone()));
            self.failure = Some(Arc::new(failure));
        }
    }
}
