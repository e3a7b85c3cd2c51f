//! Running a compiled movement.

mod messages;

use pantile_comm::{ActiveOperation, CommError, MemoryBlock, Ticket, Windows};
use pantile_kernels::pack::{self, NestPart, Twin};
use pantile_kernels::{Combination, Nest, Scalar, identity, start};

use crate::movement::{ArrivalPart, Hop, HopPlace, Incoming, MessageBody, Movement};
use crate::raw::{self, MemorySpan};
use crate::thread_pool::ThreadPool;

/// Sizes at which programs run in another way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[("execute::SHARE_BYTES", messages::SHARE_BYTES)];

/// The memory that one run of a movement works on.
///
/// Invariants: R3 of [`raw`]. That memories are as large as loops reach is checked for every loop, by a
/// [`MemorySpan`].
pub(crate) struct Buffers<'a> {
    pub(crate) source: &'a MemoryBlock,
    pub(crate) target: &'a MemoryBlock,
    pub(crate) staging: &'a [MemoryBlock],
    pub(crate) scratch: &'a MemoryBlock,
    /// Threads that share large copies.
    pub(crate) thread_pool: &'a ThreadPool,
}

impl Buffers<'_> {
    fn at(&self, place: HopPlace) -> &MemoryBlock {
        match place {
            HopPlace::Source => self.source,
            HopPlace::Target => self.target,
            // In place all staging buffers are the one tile.
            HopPlace::Staging(_) if self.source.is(self.target) => self.target,
            HopPlace::Staging(number) => &self.staging[number],
        }
    }
}

/// Runs all hops of a movement inside one operation. `tickets` is borrowed to be used again;
/// `between` is called once per hop, when all that peers need is on its way.
pub(crate) fn run(
    operation: &mut ActiveOperation<'_>,
    movement: &Movement,
    buffers: &Buffers<'_>,
    tickets: &mut Vec<Ticket>,
    between: &mut dyn FnMut(),
) -> Result<(), CommError> {
    for hop in &movement.hops {
        let runner = HopRunner::new(movement, hop, buffers);
        runner.before();
        match operation.windows() {
            Some(windows) => runner.through_windows(windows, between)?,
            None => runner.by_messages(operation, tickets, between)?,
        }
        runner.after();
    }
    Ok(())
}

/// One hop of a movement on its memory.
pub(crate) struct HopRunner<'a> {
    movement: &'a Movement,
    hop: &'a Hop,
    from: &'a MemoryBlock,
    to: &'a MemoryBlock,
    scratch: &'a MemoryBlock,
    thread_pool: Option<&'a ThreadPool>,
    element: usize,
}

impl<'a> HopRunner<'a> {
    fn new(movement: &'a Movement, hop: &'a Hop, buffers: &'a Buffers<'_>) -> Self {
        let (from, to) = (buffers.at(hop.from), buffers.at(hop.to));
        let element = movement.dtype.bytes();
        let thread_pool = Some(buffers.thread_pool);
        Self { movement, hop, from, to, scratch: buffers.scratch, thread_pool, element }
    }

    /// A hop within one memory that needs no buffers of its own.
    pub(crate) fn in_place(movement: &'a Movement, hop: &'a Hop, memory: &'a MemoryBlock) -> Self {
        let element = movement.dtype.bytes();
        Self {
            movement,
            hop,
            from: memory,
            to: memory,
            scratch: memory,
            thread_pool: None,
            element,
        }
    }

    /// Packs what one peer gets.
    pub(crate) fn pack(&self, number: usize, to: MemorySpan) {
        let outgoing = &self.hop.sends[number];
        match outgoing.body.as_ref().expect("messages have bodies") {
            MessageBody::Packed { nests, .. } => {
                for nest in nests {
                    self.copy(nest, self.from.into(), to, false);
                }
            }
            MessageBody::InPlace(at) => {
                let from = MemorySpan::from(self.from).skip(at * self.element);
                raw::copy_run(from, to, outgoing.elements, self.element);
            }
            MessageBody::Scattered(_) | MessageBody::TripCount { .. } => {
                unreachable!("movements in place have neither runs nor turns")
            }
        }
    }

    /// Puts what one peer sent, packed, where it belongs.
    pub(crate) fn unpack(&self, number: usize, from: MemorySpan) {
        let incoming = &self.hop.receives[number];
        match incoming.body.as_ref().expect("messages have bodies") {
            MessageBody::Packed { .. } => self.take(incoming, from),
            MessageBody::InPlace(at) => {
                let to = MemorySpan::from(self.to).skip(at * self.element);
                raw::copy_run(from, to, incoming.elements, self.element);
            }
            MessageBody::Scattered(_) | MessageBody::TripCount { .. } => {
                unreachable!("movements in place have neither runs nor turns")
            }
        }
    }

    /// Puts what this rank gives itself where it belongs.
    pub(crate) fn take_own(&self) {
        for incoming in self.hop.receives.iter().filter(|incoming| incoming.body.is_none()) {
            self.take(incoming, self.from.into());
        }
    }

    /// Receivers pull: one copy per byte, and terms are combined by one thread in order.
    fn through_windows(
        &self,
        windows: &mut dyn Windows,
        between: &mut dyn FnMut(),
    ) -> Result<(), CommError> {
        for outgoing in &self.hop.sends {
            windows.expose(outgoing.peer, self.from)?;
        }
        between();
        if self.hop.any_order {
            let mut turns = self.hop.by_turns(self.movement.rank);
            turns.try_for_each(|incoming| self.pull(windows, incoming))?;
        } else {
            self.pull_in_order(windows)?;
        }
        for outgoing in &self.hop.sends {
            windows.close(outgoing.peer)?;
        }
        Ok(())
    }

    /// Terms of one rank after the other; the first two in one pass over memory.
    fn pull_in_order(&self, windows: &mut dyn Windows) -> Result<(), CommError> {
        let mut rest = self.hop.receives.as_slice();
        if let (Some(twin), [first, second, later @ ..]) = (&self.hop.twin, rest) {
            let sources = [self.look(windows, first)?, self.look(windows, second)?];
            self.combine_two(twin, &sources);
            self.done(windows, first);
            self.done(windows, second);
            rest = later;
        }
        for incoming in rest {
            self.pull(windows, incoming)?;
        }
        Ok(())
    }

    fn pull(&self, windows: &mut dyn Windows, incoming: &Incoming) -> Result<(), CommError> {
        let shown = self.look(windows, incoming)?;
        self.take(incoming, MemorySpan::from(&shown));
        self.done(windows, incoming);
        Ok(())
    }

    /// The memory that something comes from: a peer's, or one's own.
    fn look(
        &self,
        windows: &mut dyn Windows,
        incoming: &Incoming,
    ) -> Result<MemoryBlock, CommError> {
        if incoming.peer == self.movement.rank {
            return Ok(self.from.clone());
        }
        windows.acquire(incoming.peer)
    }

    fn done(&self, windows: &mut dyn Windows, incoming: &Incoming) {
        if incoming.peer != self.movement.rank {
            windows.release(incoming.peer);
        }
    }

    /// Puts what arrived where it belongs.
    fn take(&self, incoming: &Incoming, source: MemorySpan) {
        let target = MemorySpan::from(self.to);
        let here = incoming.peer == self.movement.rank && self.from.is(self.to);
        for part in &incoming.parts {
            if part.saved {
                let kept = self.hop.save.as_ref().map_or(0, |(at, _)| *at);
                self.combine(part, MemorySpan::from(self.scratch).skip(kept), target);
            } else if part.sets && here && part.nest.is_identity() {
                // In place it already is where it belongs.
            } else if part.sets {
                self.copy(&part.nest, source, target, self.hop.streaming);
            } else {
                self.combine(part, source, target);
            }
        }
    }

    fn copy(&self, nest: &Nest, source: MemorySpan, target: MemorySpan, streaming: bool) {
        self.copy_share(nest, NestPart::ALL, (source, target), streaming);
    }

    /// A share of a copy, which the thread pool cuts again.
    fn copy_share(
        &self,
        nest: &Nest,
        share: NestPart,
        ends: (MemorySpan, MemorySpan),
        streaming: bool,
    ) {
        let bytes = 2 * nest.len() * self.element / share.of;
        let pieces = self.thread_pool.map_or(1, |team| team.pieces(bytes));
        let (Some(thread_pool), 2..) = (self.thread_pool, pieces) else {
            return raw::copy_part(nest, share, self.element, ends, streaming);
        };
        let done = thread_pool.run(pieces, &|part, _| {
            let share = NestPart { part: share.part * pieces + part, of: share.of * pieces };
            raw::copy_part(nest, share, self.element, ends, streaming);
            Ok(())
        });
        debug_assert_eq!(done, Ok(()), "copies do not fail");
    }

    fn combine(&self, part: &ArrivalPart, source: MemorySpan, target: MemorySpan) {
        raw::combine(&part.nest, self.combination(), source, target);
    }

    fn combine_two(&self, twin: &Twin, sources: &[MemoryBlock; 2]) {
        let streaming = pack::worth_streaming(twin.nests()[0].len() * self.element);
        let sources = sources.each_ref().map(MemorySpan::from);
        raw::combine_two(twin, self.combination(), sources, self.to.into(), streaming);
    }

    fn combination(&self) -> Combination {
        Combination::new(self.movement.dtype, self.hop.operator)
            .expect("compiling refuses operators that the type does not have")
    }

    fn before(&self) {
        if let Some((at, nest)) = &self.hop.save {
            let kept = MemorySpan::from(self.scratch).skip(*at);
            self.copy(nest, self.from.into(), kept, false);
        }
        let Some(fill) = &self.hop.before else { return };
        let value = if fill.start { start } else { identity };
        let value = value(self.movement.dtype, self.hop.operator)
            .or_else(|_| identity(self.movement.dtype, pantile_geometry::Operator::Sum))
            .expect("every type has a sum");
        for nest in &fill.nests {
            self.fill(nest, &value);
        }
    }

    fn after(&self) {
        let Some(nest) = &self.hop.after else { return };
        let value = identity(self.movement.dtype, self.hop.operator)
            .expect("compiling refuses operators that the type does not have");
        self.fill(nest, &value);
    }

    fn fill(&self, nest: &Nest, value: &Scalar) {
        raw::fill(nest, value, self.to.into());
    }
}
