//! From a plan to loops over this rank's memory.

use pantile_comm::{Ranges, Rank};
use pantile_geometry::{Distribution, Operator};
use pantile_kernels::pack::Twin;
use pantile_kernels::{DType, Layout, Nest, supports};
use pantile_plan::{Hop as PlanHop, Message, Schedule};

use crate::Error;
use crate::cover::{Cover, overlap};
use crate::movement::{
    ArrivalPart, Fill, Hop, HopPlace, Incoming, LINE, MessageBody, MessageParts, Movement, Outgoing,
};
use crate::places::{Arrays, Frame, Places, listed, local_len};

/// From here on a hop uses non-temporal (streaming) stores.
pub(super) const STREAM_BYTES: usize = 4 << 20;

/// A message in more runs is packed: the list of them is kept with the movement.
const RUNS_MAX: usize = 1 << 16;

/// Compiles the hops of one movement.
pub(crate) struct MovementCompiler {
    pub(crate) rank: Rank,
    pub(crate) dtype: DType,
    /// Peers read each other's memory, so nothing is packed.
    pub(crate) windows: bool,
    parts: MessageParts,
    /// Nothing is computed while messages travel, so they may be packed while they do.
    by_turns: bool,
    /// What lies in runs of at least so many bytes is not packed.
    run_bytes: Option<usize>,
    scratch: usize,
}

impl MovementCompiler {
    /// A compiler for messages that are cut into parts of so many bytes.
    pub(crate) fn new(rank: Rank, dtype: DType, windows: bool, part_bytes: usize) -> Self {
        let parts = MessageParts { elements: (part_bytes / dtype.bytes()).max(1) };
        Self { rank, dtype, windows, parts, by_turns: false, run_bytes: None, scratch: 0 }
    }

    /// The same for a transport that takes bodies in runs of at least so many bytes as they lie.
    pub(crate) fn leaving_runs_of(self, run_bytes: Option<usize>) -> Self {
        Self { run_bytes, ..self }
    }

    /// One movement along a path of distributions.
    pub(crate) fn path(mut self, path: &[Distribution]) -> Result<Movement, Error> {
        let none = Frame::default();
        let staging = &path[1..path.len() - 1];
        let staging: Vec<usize> = staging.iter().map(|d| local_len(d, self.rank)).collect();
        let (source, target) = (&path[0], &path[path.len() - 1]);
        let lengths = (local_len(source, self.rank), local_len(target, self.rank));
        let mut in_place = staging.iter().all(|len| *len == lengths.0) && lengths.0 == lengths.1;
        let mut schedules = Vec::with_capacity(path.len() - 1);
        for pair in path.windows(2) {
            let schedule = Schedule::between(&pair[0], &pair[1], self.rank)?;
            let combines = pair[0].has_terms();
            in_place =
                in_place && !combines && self.is_in_place(&schedule, &arrays(pair, &none))?;
            schedules.push(schedule);
        }
        // Halos travel while something is computed: all of them are on their way before that.
        self.by_turns = !in_place;
        let mut hops = Vec::new();
        for (step, (pair, schedule)) in path.windows(2).zip(&schedules).enumerate() {
            let (combines, ends) = (pair[0].has_terms(), ends(step, path.len() - 1));
            hops.extend(self.hops(schedule, &arrays(pair, &none), combines, ends)?);
        }
        Ok(self.movement(lengths, staging, hops, in_place))
    }

    /// One straight movement.
    pub(crate) fn straight(
        mut self,
        schedule: &Schedule,
        places: &dyn Places,
        combines: bool,
    ) -> Result<Movement, Error> {
        self.by_turns = true;
        let hops = self.hops(schedule, places, combines, (HopPlace::Source, HopPlace::Target))?;
        let lengths = places.lengths(self.rank);
        Ok(self.movement(lengths, Vec::new(), hops, false))
    }

    pub(crate) fn movement(
        self,
        lengths: (usize, usize),
        staging: Vec<usize>,
        hops: Vec<Hop>,
        in_place: bool,
    ) -> Movement {
        let (rank, dtype, scratch) = (self.rank, self.dtype, self.scratch);
        let (name, fingerprint, parts) = ("movement", 0, self.parts);
        Movement {
            name,
            fingerprint,
            rank,
            dtype,
            lengths,
            staging,
            scratch,
            parts,
            hops,
            in_place,
        }
    }

    fn hops(
        &mut self,
        schedule: &Schedule,
        places: &dyn Places,
        combines: bool,
        (from, to): (HopPlace, HopPlace),
    ) -> Result<Vec<Hop>, Error> {
        let operator = schedule.hops.first().map(|hop| hop.operator);
        let by_cell = combines && operator.is_some_and(|operator| !has_start(self.dtype, operator));
        let (_, len) = places.lengths(self.rank);
        let mut cover = Cover::new(combines, by_cell.then_some(len));
        let last = schedule.hops.len().saturating_sub(1);
        let mut hops = Vec::with_capacity(schedule.hops.len());
        for hop in &schedule.hops {
            hops.push(self.hop(hop, places, &mut cover, (from, to))?);
        }
        // Gaps are known when all rounds are; they are filled around them.
        let (before, after) = self.gaps(cover, places)?;
        if let Some(hop) = hops.first_mut() {
            hop.before = before;
        }
        if let Some(hop) = hops.get_mut(last) {
            hop.after = after;
        }
        Ok(hops)
    }

    fn hop(
        &mut self,
        hop: &PlanHop,
        places: &dyn Places,
        cover: &mut Cover,
        (from, to): (HopPlace, HopPlace),
    ) -> Result<Hop, Error> {
        if cover.combines() && !supports(self.dtype, hop.operator) {
            let (operator, dtype) = (hop.operator, self.dtype);
            return Err(pantile_kernels::Error::Unsupported { operator, dtype }.into());
        }
        let mut sends = Vec::new();
        let me = self.rank;
        for message in hop.sends.iter().filter(|message| message.peer != me) {
            sends.push(self.outgoing(message, places)?);
        }
        let mut receives = Vec::new();
        for message in &hop.receives {
            receives.push(self.incoming(message, places, cover)?);
        }
        let written: usize = receives.iter().map(|incoming| incoming.elements).sum();
        let any_order = !cover.combines();
        let streaming = any_order && written * self.dtype.bytes() >= STREAM_BYTES;
        let twin = if self.windows { twin(&receives) } else { None };
        Ok(Hop {
            from,
            to,
            operator: hop.operator,
            save: None,
            before: None,
            sends,
            receives,
            any_order,
            twin,
            after: None,
            streaming,
        })
    }

    pub(crate) fn outgoing(
        &mut self,
        message: &Message,
        places: &dyn Places,
    ) -> Result<Outgoing, Error> {
        let (mut layouts, mut elements) = (Vec::with_capacity(message.parts.len()), 0);
        for part in &message.parts {
            let layout = places.source(self.rank, part)?;
            elements += layout.len();
            layouts.push(layout);
        }
        let body = match layouts.as_slice() {
            _ if self.windows => None,
            [one] if one.contiguous().is_some() => one.contiguous().map(MessageBody::InPlace),
            _ => match self.scattered(&layouts, elements) {
                Some(body) => Some(body),
                None if self.takes_turns(elements) => {
                    let nest = |one: &Layout, dense: &Layout| Nest::joint(one, dense);
                    Some(self.turns(&layouts, elements, nest)?)
                }
                None => {
                    Some(MessageBody::Packed { at: self.buffer(elements), nests: pack(&layouts)? })
                }
            },
        };
        Ok(Outgoing { peer: message.peer, elements, body })
    }

    fn incoming(
        &mut self,
        message: &Message,
        places: &dyn Places,
        cover: &mut Cover,
    ) -> Result<Incoming, Error> {
        let peer = message.peer;
        let looks = self.windows || peer == self.rank;
        let (mut parts, mut elements) = (Vec::with_capacity(message.parts.len()), 0);
        let mut targets = Vec::with_capacity(message.parts.len());
        for transfer in &message.parts {
            let target = places.target(self.rank, transfer)?;
            let source = match looks {
                true => places.source(peer, transfer)?,
                false => Layout::dense(elements, target.len()),
            };
            elements += target.len();
            match cover.mark(&target) {
                Some(firsts) => parts.extend(split(&source, &target, &firsts)?),
                None => {
                    let sets = cover.add(transfer);
                    let nest = Nest::joint(&source, &target)?;
                    parts.push(ArrivalPart { nest, sets, saved: false });
                }
            }
            targets.push(target);
        }
        let body = match parts.as_slice() {
            _ if looks => None,
            [ArrivalPart { nest, sets: true, .. }] if nest.target_contiguous().is_some() => {
                nest.target_contiguous().map(MessageBody::InPlace)
            }
            // Terms of one sender come before those of the next, so they are kept until then.
            _ if cover.combines() => {
                Some(MessageBody::Packed { at: self.buffer(elements), nests: Vec::new() })
            }
            _ => match self.scattered(&targets, elements) {
                Some(body) => Some(body),
                None if self.takes_turns(elements) => {
                    let nest = |one: &Layout, dense: &Layout| Nest::joint(dense, one);
                    Some(self.turns(&targets, elements, nest)?)
                }
                None => Some(MessageBody::Packed { at: self.buffer(elements), nests: Vec::new() }),
            },
        };
        Ok(Incoming { peer, elements, parts, body })
    }

    /// A message of these layouts where it lies, part by part, if its runs are long enough.
    fn scattered(&self, layouts: &[Layout], elements: usize) -> Option<MessageBody> {
        let (least, element) = (self.run_bytes?, self.dtype.bytes());
        let filled = || layouts.iter().filter(|layout| !layout.is_empty());
        let shortest = filled().map(Layout::shortest_run).min()?;
        if !self.by_turns || shortest * element < least || elements / shortest > RUNS_MAX {
            return None;
        }
        let (mut parts, mut ranges, mut room) = (Vec::new(), Vec::new(), self.parts.elements);
        for mut run in filled().flat_map(Layout::runs) {
            while !run.is_empty() {
                let stop = run.end.min(run.start.saturating_add(room));
                ranges.push(run.start * element..stop * element);
                room -= stop - run.start;
                run.start = stop;
                if room == 0 {
                    parts.push(Ranges::ascending(ranges.drain(..))?);
                    room = self.parts.elements;
                }
            }
        }
        if !ranges.is_empty() {
            parts.push(Ranges::ascending(ranges)?);
        }
        Some(MessageBody::Scattered(parts))
    }

    /// True if a message of so many elements is packed, or unpacked, part by part.
    fn takes_turns(&self, elements: usize) -> bool {
        self.by_turns && self.parts.count(elements) > MessageParts::TURNS
    }

    /// A message of these layouts, part by part.
    fn turns(
        &mut self,
        layouts: &[Layout],
        elements: usize,
        nest: impl Fn(&Layout, &Layout) -> Result<Nest, pantile_kernels::Error>,
    ) -> Result<MessageBody, Error> {
        let places = [(); MessageParts::TURNS].map(|()| self.buffer(self.parts.elements));
        let at = places[0];
        let mut parts = Vec::with_capacity(self.parts.count(elements));
        for part in 0..self.parts.count(elements) {
            let range = self.parts.range(part, elements);
            let (mut nests, mut before, mut packed) = (Vec::new(), 0, 0);
            for layout in layouts {
                let start = range.start.clamp(before, before + layout.len()) - before;
                let stop = range.end.clamp(before, before + layout.len()) - before;
                for one in layout.cut(start..stop) {
                    nests.push(nest(&one, &Layout::dense(packed, one.len()))?);
                    packed += one.len();
                }
                before += layout.len();
            }
            parts.push(nests);
        }
        Ok(MessageBody::TripCount { at, parts })
    }

    /// Room for a message in the buffers: its first byte.
    pub(crate) fn buffer(&mut self, elements: usize) -> usize {
        let at = self.scratch;
        self.scratch += (elements * self.dtype.bytes()).next_multiple_of(LINE);
        at
    }

    /// What to fill before and after, so that cells that get nothing have the identity.
    fn gaps(
        &self,
        cover: Cover,
        places: &dyn Places,
    ) -> Result<(Option<Fill>, Option<Nest>), Error> {
        let held = places.held(self.rank)?;
        let nests = || held.iter().map(Nest::over).collect();
        let cells: usize = held.iter().map(Layout::len).sum();
        if cover.is_simple() {
            let gaps = cover.cells() < cells;
            return Ok((gaps.then(|| Fill { nests: nests(), start: false }), None));
        }
        let (_, len) = places.lengths(self.rank);
        let mut covered = vec![false; len];
        for transfer in cover.transfers() {
            places.target(self.rank, transfer)?.offsets().for_each(|at| covered[at] = true);
        }
        let gaps: Vec<usize> =
            held.iter().flat_map(Layout::offsets).filter(|at| !covered[*at]).collect();
        let after = if gaps.is_empty() { None } else { Some(Nest::over(&listed(gaps, len)?)) };
        Ok((Some(Fill { nests: nests(), start: true }), after))
    }

    /// True if nothing that this rank reads for others or itself is also written; what stays where
    /// it is does not count.
    fn is_in_place(&self, schedule: &Schedule, places: &dyn Places) -> Result<bool, Error> {
        let (before, after) = places.lengths(self.rank);
        if before != after {
            return Ok(false);
        }
        for hop in &schedule.hops {
            let (mut read, mut written) = (Vec::new(), Vec::new());
            for part in hop.receives.iter().flat_map(|message| &message.parts) {
                let target = places.target(self.rank, part)?;
                if part.from == self.rank {
                    let source = places.source(self.rank, part)?;
                    if Nest::joint(&source, &target)?.is_identity() {
                        continue;
                    }
                    // Around a ring a rank may fill its halo with its own cells.
                    read.push(source);
                }
                written.push(target);
            }
            for part in hop.sends.iter().flat_map(|message| &message.parts) {
                if part.to != self.rank {
                    read.push(places.source(self.rank, part)?);
                }
            }
            if overlap(&read, &written, before) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The two sides of a step of a path.
fn arrays<'a>(pair: &'a [Distribution], none: &'a Frame) -> Arrays<'a> {
    Arrays { source: (&pair[0], none), target: (&pair[1], none) }
}

/// The first two arrivals as one loop, if the second is combined with all of the first.
fn twin(receives: &[Incoming]) -> Option<Twin> {
    let [first, second, ..] = receives else { return None };
    let ([one], [other]) = (first.parts.as_slice(), second.parts.as_slice()) else { return None };
    (one.sets && !other.sets).then(|| Twin::new(&one.nest, &other.nest))
}

/// Loops that put layouts one after the other.
fn pack(layouts: &[Layout]) -> Result<Vec<Nest>, Error> {
    let mut at = 0;
    let mut nests = Vec::with_capacity(layouts.len());
    for layout in layouts {
        nests.push(Nest::joint(layout, &Layout::dense(at, layout.len()))?);
        at += layout.len();
    }
    Ok(nests)
}

/// The loops from `source` to `target` in two parts: the cells that are the first, and the others.
pub(crate) fn split(
    source: &Layout,
    target: &Layout,
    firsts: &[bool],
) -> Result<Vec<ArrivalPart>, Error> {
    let mut parts = Vec::with_capacity(2);
    for sets in [true, false] {
        let chosen = |layout: &Layout| {
            let cells = layout.offsets().zip(firsts).filter(|(_, first)| **first == sets);
            listed(cells.map(|(cell, _)| cell).collect(), layout.span())
        };
        let nest = Nest::joint(&chosen(source)?, &chosen(target)?)?;
        if !nest.is_empty() {
            parts.push(ArrivalPart { nest, sets, saved: false });
        }
    }
    Ok(parts)
}

/// True if there is a value that changes no other when combined with it, bit for bit. The product
/// of complex numbers has none: multiplying by one may change the sign of a zero.
fn has_start(dtype: DType, operator: Operator) -> bool {
    operator != Operator::Prod || !matches!(dtype, DType::C64 | DType::C128)
}

/// Where step `step` of `steps` reads and writes.
fn ends(step: usize, steps: usize) -> (HopPlace, HopPlace) {
    let from = if step == 0 { HopPlace::Source } else { HopPlace::Staging(step - 1) };
    let to = if step + 1 == steps { HopPlace::Target } else { HopPlace::Staging(step) };
    (from, to)
}
