//! The connections of a rank: everything that its own thread and its progress thread share.

use std::collections::BTreeMap;
use std::sync::Arc;

use pantile_comm::{
    CollectiveSignature, CommError, Envelope, EnvelopeBytes, Failure, Rank, Tag, Ticket,
};

use super::frame_writer::LargeSend;
use super::matching::{ArrivedBody, MatchQueue, PostedReceive, UnexpectedMessage};
use super::message_buffer::{self, MessageBuffer};
use super::peer::{
    CREDIT_BYTES, CREDIT_MESSAGES, DeferredSend, FlowCredit, PartialReceive, Peer, Presence,
};
use crate::control_message::ControlMessage;
use crate::wire::Wire;

/// Longest message that is sent eagerly; larger ones wait for clear to send (rendezvous).
pub(crate) const EAGER_MAX: usize = 64 << 10;

/// What became of a ticket.
pub(crate) enum TicketState {
    Waiting,
    Done,
    Failed(CommError),
}

/// What a ticket stands for.
pub(crate) struct PendingTicket {
    pub(crate) peer: Rank,
    pub(crate) state: TicketState,
    /// The body of a message of any length.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) any_length: bool,
}

/// What a rank and its progress thread share, behind one lock.
///
/// Invariants:
/// 1. While `driven` is set the rank's own thread moves messages, and the progress thread does not.
/// 2. Every ticket that was given away and not waited for has a task.
pub(crate) struct ConnectionState {
    pub(crate) rank: Rank,
    /// None for the rank itself.
    pub(crate) peers: Vec<Option<Peer>>,
    queues: Vec<BTreeMap<Tag, MatchQueue>>,
    pub(crate) tasks: BTreeMap<Ticket, PendingTicket>,
    next_ticket: u64,
    /// The call this rank is in.
    pub(crate) call: Option<Arc<CollectiveSignature>>,
    /// Grows with every call and with everything that moves.
    pub(crate) turn: u64,
    pub(crate) waits_for: Option<Rank>,
    /// The digest of the cycle of waiting ranks that was found last.
    pub(crate) cycle: Option<u64>,
    pub(crate) failure: Option<Arc<Failure>>,
    pub(crate) driven: bool,
    pub(crate) closed: bool,
    /// Tickets that flushing has finished; kept to be used again.
    finished: Vec<Ticket>,
}

impl ConnectionState {
    pub(crate) fn new(rank: Rank, wires: &[Option<Arc<Wire>>]) -> Self {
        let peer = |wire: &Option<Arc<Wire>>| wire.as_ref().map(|wire| Peer::new(Arc::clone(wire)));
        Self {
            rank,
            peers: wires.iter().map(peer).collect(),
            queues: wires.iter().map(|_| BTreeMap::new()).collect(),
            tasks: BTreeMap::new(),
            next_ticket: 0,
            call: None,
            turn: 0,
            waits_for: None,
            cycle: None,
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
    pub(crate) fn current(&self) -> Arc<CollectiveSignature> {
        match &self.call {
            Some(call) => Arc::clone(call),
            None => Arc::new(CollectiveSignature::here("no call", 0)),
        }
    }

    /// From now on the rank is in this call, or in none.
    pub(crate) fn set_call(&mut self, call: Option<&CollectiveSignature>) {
        self.call = call.map(|call| Arc::new(call.clone()));
        self.turn += 1;
    }

    fn task(&mut self, peer: Rank, any_length: bool) -> Ticket {
        self.next_ticket += 1;
        let ticket = Ticket(self.next_ticket);
        let task = PendingTicket { peer, state: TicketState::Waiting, body: None, any_length };
        self.tasks.insert(ticket, task);
        ticket
    }

    /// A ticket is done; one that is not waited for any more is forgotten.
    fn complete(&mut self, ticket: Ticket) {
        self.turn += 1;
        if let Some(task) = self.tasks.get_mut(&ticket) {
            task.state = TicketState::Done;
        }
    }

    /// A room is full.
    pub(crate) fn fill(&mut self, ticket: Ticket, buffer: MessageBuffer) {
        self.complete(ticket);
        if let Some(task) = self.tasks.get_mut(&ticket)
            && task.any_length
        {
            task.body = Some(message_buffer::into_vector(buffer));
        }
    }

    fn fail(&mut self, ticket: Ticket, error: CommError) {
        if let Some(task) = self.tasks.get_mut(&ticket) {
            task.state = TicketState::Failed(error);
        }
    }

    /// Sends a message.
    pub(crate) fn post_send(&mut self, to: Rank, tag: Tag, body: MessageBuffer) -> Ticket {
        let envelope = Envelope::encode(&self.current(), body.len());
        let ticket = self.task(to, false);
        let Some(peer) = &mut self.peers[to] else {
            let mut copy = Vec::with_capacity(body.len());
            body.append_to(0..body.len(), &mut copy);
            self.complete(ticket);
            self.deliver(to, tag, UnexpectedMessage { envelope, body: ArrivedBody::Here(copy) });
            return ticket;
        };
        if peer.presence != Presence::There || peer.write_closed {
            // A small message would have been gone by now; for a large one no receive is posted.
            if body.len() <= EAGER_MAX {
                self.complete(ticket);
            }
        } else if peer.send_credit.messages == 0 || !peer.deferred.is_empty() {
            peer.deferred.push_back(DeferredSend { ticket, tag, envelope, body });
        } else {
            self.dispatch(to, DeferredSend { ticket, tag, envelope, body });
        }
        ticket
    }

    /// Sends a message eagerly, or requests to send it.
    fn dispatch(&mut self, to: Rank, deferred: DeferredSend) {
        let Some(peer) = &mut self.peers[to] else { return };
        let (tag, envelope, bytes) = (deferred.tag, deferred.envelope, deferred.body.len());
        peer.send_credit.messages -= 1;
        if bytes <= EAGER_MAX && bytes as u64 <= peer.send_credit.bytes {
            peer.send_credit.bytes -= bytes as u64;
            let preamble = ControlMessage::Message { tag, envelope }.encode(bytes);
            let sent = peer.writer.send(&peer.wire, &preamble, &deferred.body);
            if sent.is_err() {
                self.close_writes(to);
            }
            return self.complete(deferred.ticket);
        }
        peer.next_number += 1;
        let number = peer.next_number;
        peer.awaiting_clear.insert(number, LargeSend::new(deferred.ticket, number, deferred.body));
        peer.writer.push(&ControlMessage::RequestToSend { tag, number, envelope });
        self.flush(to);
    }

    /// Makes room for a message; without a room, of any length.
    pub(crate) fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: Option<MessageBuffer>,
    ) -> Ticket {
        let (ticket, call) = (self.task(from, room.is_none()), self.current());
        let queue = self.queues[from].entry(tag).or_default();
        queue.posted.push_back(PostedReceive { ticket, call, room });
        self.match_queues(from, tag);
        ticket
    }

    /// Cancels a receive of any length that is not waited for any more.
    pub(crate) fn cancel_receive(&mut self, from: Rank, tag: Tag, ticket: Ticket) {
        self.tasks.remove(&ticket);
        if let Some(queue) = self.queues[from].get_mut(&tag) {
            queue.posted.retain(|posted| posted.ticket != ticket);
        }
    }

    /// A message is here, or its request to send.
    pub(crate) fn deliver(&mut self, from: Rank, tag: Tag, arrived: UnexpectedMessage) {
        self.queues[from].entry(tag).or_default().unexpected.push_back(arrived);
        self.match_queues(from, tag);
    }

    /// The room for a small message that is about to be read, if its body fits.
    pub(crate) fn match_posted(
        &mut self,
        from: Rank,
        tag: Tag,
        envelope: &EnvelopeBytes,
    ) -> Option<(Ticket, MessageBuffer)> {
        let queue = self.queues[from].get_mut(&tag)?;
        if !queue.unexpected.is_empty() {
            return None;
        }
        let posted = queue.posted.front()?;
        let bytes = Envelope::check(envelope, self.rank, from, &posted.call).ok()?;
        if posted.room.as_ref()?.len() != bytes {
            return None;
        }
        let posted = queue.posted.pop_front()?;
        Some((posted.ticket, posted.room?))
    }

    /// Brings messages and rooms together.
    fn match_queues(&mut self, from: Rank, tag: Tag) {
        while let Some((arrived, posted)) =
            self.queues[from].get_mut(&tag).and_then(MatchQueue::pair)
        {
            let ticket = posted.ticket;
            if let Err(error) = self.pair(from, arrived, posted) {
                self.fail(ticket, error);
            }
        }
    }

    fn pair(
        &mut self,
        from: Rank,
        arrived: UnexpectedMessage,
        posted: PostedReceive,
    ) -> Result<(), CommError> {
        let waited = match &arrived.body {
            ArrivedBody::Here(body) => body.len() as u64,
            ArrivedBody::There(_) => 0,
        };
        self.taken(from, FlowCredit { messages: 1, bytes: waited }, true);
        let bytes = Envelope::check(&arrived.envelope, self.rank, from, &posted.call)?;
        if let Some(room) = &posted.room
            && room.len() != bytes
        {
            let (rank, call) = (self.rank, Box::new(CollectiveSignature::clone(&posted.call)));
            let (expected, got) = (room.len(), bytes);
            return Err(CommError::Length { rank, call, peer: from, expected, got });
        }
        match (arrived.body, posted.room) {
            (ArrivedBody::Here(body), Some(mut buffer)) => {
                buffer.put(0, &body);
                self.complete(posted.ticket);
            }
            (ArrivedBody::Here(body), None) => {
                self.complete(posted.ticket);
                if let Some(task) = self.tasks.get_mut(&posted.ticket) {
                    task.body = Some(body);
                }
            }
            (ArrivedBody::There(number), room) => {
                let buffer = room.or_else(|| message_buffer::vector_buffer(bytes));
                let buffer = buffer.ok_or_else(|| CommError::Backend {
                    rank: self.rank,
                    call: format!("room for {bytes} bytes from rank {from} in {}", posted.call),
                    reason: "there is not so much memory".to_owned(),
                })?;
                self.clear_to_send(
                    from,
                    number,
                    PartialReceive { ticket: posted.ticket, buffer, at: 0 },
                );
            }
        }
        Ok(())
    }

    /// Clears a message to be sent.
    fn clear_to_send(&mut self, from: Rank, number: u64, receiving: PartialReceive) {
        let Some(peer) = &mut self.peers[from] else { return };
        peer.writer.push(&ControlMessage::ClearToSend { number });
        if receiving.buffer.is_empty() {
            self.fill(receiving.ticket, receiving.buffer);
        } else {
            peer.receiving.insert(number, receiving);
        }
        self.flush(from);
    }

    /// Something that a peer sent has been taken; the peer gets credit for it, in batches.
    pub(crate) fn taken(&mut self, from: Rank, credit: FlowCredit, was_waiting: bool) {
        let Some(peer) = &mut self.peers[from] else { return };
        if was_waiting {
            peer.unexpected.messages = peer.unexpected.messages.saturating_sub(credit.messages);
            peer.unexpected.bytes = peer.unexpected.bytes.saturating_sub(credit.bytes);
        }
        peer.taken.messages += credit.messages;
        peer.taken.bytes += credit.bytes;
        let FlowCredit { messages, bytes } = peer.taken;
        if messages >= CREDIT_MESSAGES / 2 || bytes >= CREDIT_BYTES / 2 {
            peer.taken = FlowCredit::default();
            self.send_control(from, &ControlMessage::Credit { messages, bytes });
        }
    }

    /// A peer has taken something: what was held back for it may go.
    pub(crate) fn credited(&mut self, to: Rank, credit: FlowCredit) {
        let Some(peer) = &mut self.peers[to] else { return };
        let most = |have: u64, more: u64, most: u64| have.saturating_add(more).min(most);
        let send_credit = &mut peer.send_credit;
        send_credit.messages = most(send_credit.messages, credit.messages, CREDIT_MESSAGES);
        send_credit.bytes = most(send_credit.bytes, credit.bytes, CREDIT_BYTES);
        while let Some(peer) = &mut self.peers[to]
            && peer.send_credit.messages > 0
            && let Some(deferred) = peer.deferred.pop_front()
        {
            self.dispatch(to, deferred);
        }
    }

    /// The peer is clear to take a message that this rank requested to send.
    pub(crate) fn cleared_to_send(&mut self, to: Rank, number: u64) {
        let Some(peer) = &mut self.peers[to] else { return };
        let Some(sending) = peer.awaiting_clear.remove(&number) else { return };
        match sending.body.is_empty() {
            true => self.complete(sending.ticket),
            false => peer.writer.push_large(sending),
        }
    }

    /// Sends a control message to a peer that is there.
    pub(crate) fn send_control(&mut self, to: Rank, control_message: &ControlMessage) {
        if let Some(peer) = &mut self.peers[to]
            && peer.presence == Presence::There
            && !peer.write_closed
        {
            peer.writer.push(control_message);
            self.flush(to);
        }
    }

    /// Sends a control message to all peers.
    pub(crate) fn send_control_to_all(&mut self, control_message: &ControlMessage) {
        (0..self.peers.len()).for_each(|to| self.send_control(to, control_message));
    }

    /// Writes what there is space for.
    pub(crate) fn flush(&mut self, to: Rank) {
        let Some(peer) = &mut self.peers[to] else { return };
        if peer.write_closed || peer.presence == Presence::Lost {
            return;
        }
        let mut finished = std::mem::take(&mut self.finished);
        match peer.writer.flush(&peer.wire, &mut finished) {
            Ok(moved) => self.turn += moved as u64,
            Err(_) => self.close_writes(to),
        }
        finished.drain(..).for_each(|ticket| self.complete(ticket));
        self.finished = finished;
    }

    /// Nothing can be written to a peer any more. What it sent before may still be read, so it is
    /// not lost yet.
    fn close_writes(&mut self, to: Rank) {
        if let Some(peer) = &mut self.peers[to] {
            peer.discard_unsent();
            peer.write_closed = true;
        }
    }

    /// Ends the world; the first failure stays.
    pub(crate) fn abort(&mut self, failure: Failure) {
        if self.failure.is_none() {
            self.send_control_to_all(&ControlMessage::Abort(failure.clone()));
            self.failure = Some(Arc::new(failure));
        }
    }
}
