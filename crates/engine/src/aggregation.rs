//! Message aggregation: several halo exchanges at once, one message per neighbour carries all of them.

use std::panic::Location;
use std::sync::Arc;

use pantile_comm::{ActiveOperation, CollectiveSignature, CommError, MemoryBlock, Rank, Ticket};

use crate::execute::{self, Buffers, HopRunner};
use crate::movement::{Hop, Movement};
use crate::raw::MemorySpan;
use crate::{Engine, Error, Tile};

/// Exchanges that run together; every one of them within a tile of its own.
pub(crate) struct AggregatedExchange {
    movements: Vec<Arc<Movement>>,
    fingerprint: u64,
    /// Messages of each step; none if the exchanges run one after the other.
    hops: Vec<AggregatedHop>,
    scratch: MemoryBlock,
    tickets: Vec<Ticket>,
}

/// The messages of one step.
struct AggregatedHop {
    sends: Vec<Message>,
    receives: Vec<Message>,
}

/// All that goes to one peer, or comes from it.
struct Message {
    peer: Rank,
    /// Where it lies in the buffers, and its size in bytes.
    at: usize,
    bytes: usize,
    /// Which exchange, which of its messages, and where it starts in this one.
    parts: Vec<(usize, usize, usize)>,
}

impl AggregatedExchange {
    /// Exchanges that run together.
    pub(crate) fn new(movements: Vec<Arc<Movement>>, windows: bool) -> Self {
        let fingerprint = movements.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, movement| {
            (hash ^ movement.fingerprint).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
        });
        let steps = movements.first().map_or(0, |movement| movement.hops.len());
        let together = !windows
            && movements.len() > 1
            && movements.iter().all(|movement| movement.hops.len() == steps && is_plain(movement));
        let mut size = 0;
        let hops = match together {
            true => (0..steps).map(|step| aggregated_hop(&movements, step, &mut size)).collect(),
            false => Vec::new(),
        };
        Self {
            movements,
            fingerprint,
            hops,
            scratch: MemoryBlock::zeroed(size),
            tickets: Vec::new(),
        }
    }

    /// Messages that this rank sends, and their bytes.
    fn sends(&self) -> (usize, usize) {
        if self.hops.is_empty() {
            let each = self.movements.iter().map(|movement| movement.sends());
            return each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        }
        let sends = || self.hops.iter().flat_map(|hop| &hop.sends);
        (sends().count(), sends().map(|message| message.bytes).sum())
    }
}

/// True if nothing is combined, filled or kept: cells are copied, nothing else.
fn is_plain(movement: &Movement) -> bool {
    let plain = |hop: &Hop| {
        hop.any_order && hop.before.is_none() && hop.after.is_none() && hop.save.is_none()
    };
    movement.in_place && movement.hops.iter().all(plain)
}

fn aggregated_hop(movements: &[Arc<Movement>], step: usize, size: &mut usize) -> AggregatedHop {
    let mut hop = AggregatedHop { sends: Vec::new(), receives: Vec::new() };
    for (number, movement) in movements.iter().enumerate() {
        let (own, element) = (&movement.hops[step], movement.dtype.bytes());
        for (at, send) in own.sends.iter().enumerate() {
            add(&mut hop.sends, send.peer, (number, at), send.elements * element);
        }
        for (at, receive) in own.receives.iter().enumerate() {
            if receive.body.is_some() {
                add(&mut hop.receives, receive.peer, (number, at), receive.elements * element);
            }
        }
    }
    for message in hop.sends.iter_mut().chain(&mut hop.receives) {
        message.at = *size;
        *size += message.bytes.next_multiple_of(64);
    }
    hop
}

fn add(messages: &mut Vec<Message>, peer: Rank, (number, at): (usize, usize), bytes: usize) {
    let place = messages.iter().position(|message| message.peer == peer).unwrap_or_else(|| {
        messages.push(Message { peer, at: 0, bytes: 0, parts: Vec::new() });
        messages.len() - 1
    });
    let message = &mut messages[place];
    // Every part starts aligned for any element.
    let start = message.bytes.next_multiple_of(16);
    message.parts.push((number, at, start));
    message.bytes = start + bytes;
}

impl Engine {
    /// Runs exchanges together, each in its tile; `between` is called while messages travel.
    /// Collective.
    ///
    /// # Errors
    /// As [`Engine::run_in_place`].
    pub(crate) fn exchange(
        &mut self,
        aggregated: &mut AggregatedExchange,
        tiles: &[&Tile],
        place: &'static Location<'static>,
        between: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let call = CollectiveSignature::at("halo exchange", aggregated.fingerprint, place);
        for (movement, tile) in aggregated.movements.iter().zip(tiles) {
            self.expect_in_place(&call, movement, tile)?;
        }
        let mut inner: Option<Error> = None;
        let mut once = || {
            if let Err(error) = between() {
                inner.get_or_insert(error);
            }
        };
        let (messages, bytes) = aggregated.sends();
        let result = self.exchange_inside(&call, aggregated, tiles, &mut once);
        if let Some(error) = inner {
            self.fail(Some(call), &error);
            return Err(error);
        }
        result?;
        self.count(aggregated.movements.len() as u64, messages as u64, bytes as u64);
        Ok(())
    }

    fn exchange_inside(
        &mut self,
        call: &CollectiveSignature,
        aggregated: &mut AggregatedExchange,
        tiles: &[&Tile],
        between: &mut dyn FnMut(),
    ) -> Result<(), CommError> {
        aggregated.movements.iter().for_each(|movement| self.make_room(movement, true));
        let thread_pool = self.thread_pool();
        let (communicator, staging, scratch, tickets) = self.parts();
        communicator.operation(call, |operation| {
            if !aggregated.hops.is_empty() {
                return by_aggregated_messages(operation, aggregated, tiles, between);
            }
            let mut first = true;
            for (movement, tile) in aggregated.movements.iter().zip(tiles) {
                let (source, target) = (tile.memory(), tile.memory());
                let buffers =
                    Buffers { source, target, staging, scratch, thread_pool: &thread_pool };
                let mut now = || {
                    if std::mem::take(&mut first) {
                        between();
                    }
                };
                execute::run(operation, movement, &buffers, tickets, &mut now)?;
            }
            if first {
                between();
            }
            Ok(())
        })
    }
}

fn by_aggregated_messages(
    operation: &mut ActiveOperation<'_>,
    aggregated: &mut AggregatedExchange,
    tiles: &[&Tile],
    between: &mut dyn FnMut(),
) -> Result<(), CommError> {
    let AggregatedExchange { movements, hops, scratch, tickets, .. } = aggregated;
    for (step, hop) in hops.iter().enumerate() {
        let runner = |number: usize| {
            let (movement, tile) = (&movements[number], tiles[number]);
            HopRunner::in_place(movement, &movement.hops[step], tile.memory())
        };
        tickets.clear();
        for message in &hop.receives {
            tickets
                .push(operation.receive(message.peer, &scratch.slice(message.at, message.bytes))?);
        }
        for message in &hop.sends {
            let piece = scratch.slice(message.at, message.bytes);
            for (number, at, start) in &message.parts {
                runner(*number).pack(*at, MemorySpan::of_piece(&piece).skip(*start));
            }
            operation.send(message.peer, &piece)?;
        }
        if step == 0 {
            between();
        }
        for number in 0..movements.len() {
            runner(number).take_own();
        }
        for (message, ticket) in hop.receives.iter().zip(tickets.iter()) {
            operation.wait(*ticket)?;
            let packed = MemorySpan::from(&*scratch).skip(message.at);
            for (number, at, shift) in &message.parts {
                runner(*number).unpack(*at, packed.skip(*shift));
            }
        }
        operation.sent()?;
    }
    Ok(())
}
