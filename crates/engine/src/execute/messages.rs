//! A hop by messages, where ranks do not see each other's memory.
//!
//! ```text
//!   pack 4 ─► buffers ─► wire        wire ─► buffers ─► unpack 0
//!             0 1 2 3                        0 1 2 3
//! ```
//!
//! A long message travels in parts. What is not in one piece in memory is packed into a few places
//! of the buffers that take turns: while one part is packed or unpacked, others travel. There is no
//! cycle of waiting ranks: in round r all parts up to r are on their way, and there is room
//! for all parts up to r, on every rank that has come so far. So the rank behind all others can go
//! on.
//!
//! What lies in memory in one piece, or in long runs where the transport takes them, is neither
//! packed nor unpacked: all of its parts are on their way at once. What a rank gives itself it copies
//! share by share meanwhile, and moves messages in between.

use std::ops::Range;

use pantile_comm::{ActiveOperation, CommError, MemoryBlock, MemorySlice, Ticket};
use pantile_kernels::pack::NestPart;

use super::HopRunner;
use crate::movement::{Incoming, MessageBody, MessageParts};
use crate::raw::MemorySpan;

/// Bytes that a rank gives itself before it looks at its messages again: so many that looking costs
/// little, so few that no socket runs empty for long.
pub(super) const SHARE_BYTES: usize = 1 << 20;

impl HopRunner<'_> {
    /// Runs the hop. `tickets` is borrowed to be used again.
    pub(super) fn by_messages(
        &self,
        operation: &mut ActiveOperation<'_>,
        tickets: &mut Vec<Ticket>,
        between: &mut dyn FnMut(),
    ) -> Result<(), CommError> {
        tickets.clear();
        for incoming in &self.hop.receives {
            let Some(body) = &incoming.body else { continue };
            for part in 0..self.at_once(body, incoming.elements) {
                tickets.push(self.make_room(operation, incoming, part)?);
            }
        }
        let rooms = tickets.len();
        for (number, outgoing) in self.hop.sends.iter().enumerate() {
            let body = outgoing.body.as_ref().expect("messages have bodies");
            self.pack_whole(body);
            for part in 0..self.at_once(body, outgoing.elements) {
                match body {
                    MessageBody::TripCount { .. } => {
                        tickets.push(self.send_turn(operation, number, part)?)
                    }
                    MessageBody::Scattered(parts) => {
                        let bytes = self.from.io_vec(&parts[part]);
                        operation.send_vectored(outgoing.peer, &bytes)?;
                    }
                    _ => {
                        let piece = self.part(self.from, body, (part, outgoing.elements));
                        operation.send(outgoing.peer, &piece)?;
                    }
                }
            }
        }
        between();
        let rounds = self.rounds();
        for round in 0..rounds {
            let (rooms, sends) = tickets.split_at_mut(rooms);
            self.send_round(operation, round, sends)?;
            self.receive_round(operation, round, rooms)?;
            self.take_own_share(NestPart { part: round, of: rounds });
        }
        if rounds == 0 {
            self.take_own_meanwhile(operation, &tickets[..rooms])?;
        }
        self.take_rest(operation, tickets)?;
        // What was sent straight out of memory may be written in the next hop.
        operation.sent()
    }

    /// As many rounds as the longest message by turns has parts.
    fn rounds(&self) -> usize {
        let incoming = self.hop.receives.iter().filter_map(|incoming| incoming.body.as_ref());
        let outgoing = self.hop.sends.iter().filter_map(|outgoing| outgoing.body.as_ref());
        let parts = |body: &MessageBody| match body {
            MessageBody::TripCount { parts, .. } => parts.len(),
            _ => 0,
        };
        incoming.chain(outgoing).map(parts).max().unwrap_or(0)
    }

    /// When a part has gone, the next one takes its place.
    fn send_round(
        &self,
        operation: &mut ActiveOperation<'_>,
        round: usize,
        mut tickets: &mut [Ticket],
    ) -> Result<(), CommError> {
        for (number, outgoing) in self.hop.sends.iter().enumerate() {
            let Some(MessageBody::TripCount { parts, .. }) = &outgoing.body else { continue };
            let (own, rest) = tickets.split_at_mut(MessageParts::TURNS.min(parts.len()));
            tickets = rest;
            if round < parts.len() {
                let ticket = &mut own[round % MessageParts::TURNS];
                operation.wait(*ticket)?;
                if round + MessageParts::TURNS < parts.len() {
                    *ticket = self.send_turn(operation, number, round + MessageParts::TURNS)?;
                }
            }
        }
        Ok(())
    }

    /// When a part has come, it is put where it belongs, and there is room for the next one.
    fn receive_round(
        &self,
        operation: &mut ActiveOperation<'_>,
        round: usize,
        mut tickets: &mut [Ticket],
    ) -> Result<(), CommError> {
        for incoming in &self.hop.receives {
            let Some(body) = &incoming.body else { continue };
            let (own, rest) = tickets.split_at_mut(self.at_once(body, incoming.elements));
            tickets = rest;
            let MessageBody::TripCount { parts, .. } = body else { continue };
            let Some(nests) = parts.get(round) else { continue };
            let ticket = &mut own[round % MessageParts::TURNS];
            operation.wait(*ticket)?;
            let room = self.part(self.to, body, (round, incoming.elements));
            for nest in nests {
                self.copy(nest, MemorySpan::of_piece(&room), self.to.into(), self.hop.streaming);
            }
            let next = round + MessageParts::TURNS;
            if next < parts.len() {
                *ticket = self.make_room(operation, incoming, next)?;
            }
        }
        Ok(())
    }

    /// What did not come by turns, in order.
    fn take_rest(
        &self,
        operation: &mut ActiveOperation<'_>,
        mut tickets: &[Ticket],
    ) -> Result<(), CommError> {
        for incoming in &self.hop.receives {
            let Some(body) = &incoming.body else {
                if !self.hop.any_order {
                    self.take(incoming, self.from.into());
                }
                continue;
            };
            let (own, rest) = tickets.split_at(self.at_once(body, incoming.elements));
            tickets = rest;
            if matches!(body, MessageBody::TripCount { .. }) {
                continue;
            }
            own.iter().try_for_each(|ticket| operation.wait(*ticket))?;
            if let MessageBody::Packed { at, .. } = body {
                self.take(incoming, MemorySpan::from(self.scratch).skip(*at));
            }
        }
        Ok(())
    }

    /// Room for a part of what arrives.
    fn make_room(
        &self,
        operation: &mut ActiveOperation<'_>,
        incoming: &Incoming,
        part: usize,
    ) -> Result<Ticket, CommError> {
        let body = incoming.body.as_ref().expect("messages have bodies");
        match body {
            MessageBody::Scattered(parts) => {
                operation.receive_vectored(incoming.peer, &self.to.io_vec(&parts[part]))
            }
            _ => {
                let room = self.part(self.to, body, (part, incoming.elements));
                operation.receive(incoming.peer, &room)
            }
        }
    }

    /// What this rank gives itself, if the order does not matter, while messages come.
    fn take_own_meanwhile(
        &self,
        operation: &mut ActiveOperation<'_>,
        tickets: &[Ticket],
    ) -> Result<(), CommError> {
        let own = self.hop.receives.iter().filter(|incoming| incoming.body.is_none());
        let bytes = own.map(|incoming| incoming.elements).sum::<usize>() * self.element;
        let of = bytes.div_ceil(SHARE_BYTES).max(1);
        for part in 0..of {
            self.take_own_share(NestPart { part, of });
            // After the last share the rank waits for its messages.
            if part + 1 < of
                && let Some(ticket) = self.ticket_of_peer(tickets, part)
            {
                operation.is_done(ticket)?;
            }
        }
        Ok(())
    }

    /// The first ticket of one of those that something comes from, all of them in turn.
    fn ticket_of_peer(&self, tickets: &[Ticket], turn: usize) -> Option<Ticket> {
        let bodies = || self.hop.receives.iter().filter(|incoming| incoming.body.is_some());
        let before = bodies().take(turn % bodies().count().max(1));
        let parts = |incoming: &Incoming| {
            incoming.body.as_ref().map_or(0, |body| self.at_once(body, incoming.elements))
        };
        tickets.get(before.map(parts).sum::<usize>()).copied()
    }

    /// A share of what this rank gives itself, if the order does not matter.
    fn take_own_share(&self, share: NestPart) {
        if !self.hop.any_order {
            return;
        }
        let (source, target) = (self.from.into(), self.to.into());
        for incoming in self.hop.receives.iter().filter(|incoming| incoming.body.is_none()) {
            for part in &incoming.parts {
                if !(self.from.is(self.to) && part.nest.is_identity()) {
                    self.copy_share(&part.nest, share, (source, target), self.hop.streaming);
                }
            }
        }
    }

    /// Packs a part into its place and sends it.
    fn send_turn(
        &self,
        operation: &mut ActiveOperation<'_>,
        number: usize,
        part: usize,
    ) -> Result<Ticket, CommError> {
        let outgoing = &self.hop.sends[number];
        let body = outgoing.body.as_ref().expect("messages have bodies");
        let piece = self.part(self.from, body, (part, outgoing.elements));
        if let MessageBody::TripCount { parts, .. } = body {
            for nest in &parts[part] {
                self.copy(nest, self.from.into(), MemorySpan::of_piece(&piece), false);
            }
        }
        operation.begin_send(outgoing.peer, &piece)
    }

    /// Packs a message that does not take turns.
    fn pack_whole(&self, body: &MessageBody) {
        if let MessageBody::Packed { at, nests } = body {
            let start = MemorySpan::from(self.scratch).skip(*at);
            for nest in nests {
                self.copy(nest, self.from.into(), start, false);
            }
        }
    }

    /// How many parts of a message are on their way before anything is waited for.
    fn at_once(&self, body: &MessageBody, elements: usize) -> usize {
        let parts = self.movement.parts.count(elements);
        match body {
            MessageBody::TripCount { .. } => parts.min(MessageParts::TURNS),
            _ => parts,
        }
    }

    /// The bytes of a part of a message, in memory or in the buffers.
    fn part(
        &self,
        memory: &MemoryBlock,
        body: &MessageBody,
        (part, elements): (usize, usize),
    ) -> MemorySlice {
        let Range { start, end } = self.movement.parts.range(part, elements);
        let bytes = (end - start) * self.element;
        match body {
            MessageBody::InPlace(first) => memory.slice((first + start) * self.element, bytes),
            MessageBody::Packed { at, .. } => self.scratch.slice(at + start * self.element, bytes),
            MessageBody::Scattered(_) => unreachable!("what is scattered is not in one piece"),
            MessageBody::TripCount { at, .. } => {
                let place = part % MessageParts::TURNS * self.movement.place_bytes();
                self.scratch.slice(at + place, bytes)
            }
        }
    }
}
