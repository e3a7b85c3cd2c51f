//! Adding halos to where they came from, in place: only the cells at the edges are touched.
//!
//! ```text
//!    rank 0             rank 1
//!   [ bulk | halo ]    [ halo | bulk | halo ]
//!             └───────────────►┘
//! ```
//!
//! A cell at the edge of rank 1 gets its terms in ascending rank: first what rank 0 has in its halo,
//! then its own, which was kept, then those of higher ranks. Halos are zero in the end.

use pantile_comm::Rank;
use pantile_geometry::{Distribution, Operator};
use pantile_kernels::{DType, Layout, Nest, supports};
use pantile_plan::{Message, Schedule, Transfer};

use crate::Error;
use crate::compile::{MovementCompiler, split};
use crate::movement::{ArrivalPart, Hop, HopPlace, Incoming, MessageBody, Movement};
use crate::places::{Arrays, Frame, Places, listed};

/// What is known of the cells of this rank while arrivals are compiled in order.
struct ArrivedCells {
    /// Cells that have got a term from another rank before their own.
    early: Vec<bool>,
    /// The own part has been passed.
    own_passed: bool,
}

impl MovementCompiler {
    /// The movement from halos as terms of a sum to blocks, within one tile; the two distributions
    /// have the same owners and the same room.
    pub(crate) fn accumulate(
        mut self,
        source: &Distribution,
        target: &Distribution,
    ) -> Result<Movement, Error> {
        let none = Frame::default();
        let places = Arrays { source: (source, &none), target: (target, &none) };
        let lengths = places.lengths(self.rank);
        let schedule = Schedule::between(source, target, self.rank)?;
        if lengths.0 != lengths.1 {
            return Err(Error::NotInPlace { rank: self.rank });
        }
        require_sum(self.dtype)?;
        let mut hops = Vec::new();
        for hop in &schedule.hops {
            let mut sends = Vec::new();
            for message in &hop.sends {
                if message.peer != self.rank {
                    sends.push(self.outgoing(message, &places)?);
                }
            }
            let mut cells = ArrivedCells { early: vec![false; lengths.1], own_passed: false };
            let mut receives = Vec::new();
            for message in &hop.receives {
                receives.push(self.arrival(message, &places, &mut cells)?);
            }
            let save = self.save(&cells, &mut receives)?;
            hops.push(Hop {
                from: HopPlace::Source,
                to: HopPlace::Target,
                operator: Operator::Sum,
                save,
                before: None,
                sends,
                receives,
                any_order: false,
                twin: None,
                after: halo(&places, self.rank)?,
                streaming: false,
            });
        }
        Ok(self.movement(lengths, Vec::new(), hops, true))
    }

    fn arrival(
        &mut self,
        message: &Message,
        places: &dyn Places,
        cells: &mut ArrivedCells,
    ) -> Result<Incoming, Error> {
        let (peer, looks) = (message.peer, self.windows || message.peer == self.rank);
        let (mut parts, mut elements) = (Vec::new(), 0);
        for transfer in &message.parts {
            let target = places.target(self.rank, transfer)?;
            let at = elements;
            elements += target.len();
            if peer == self.rank && is_own(transfer, places)? {
                cells.own_passed = true;
                // Filled in when all cells that need it are known.
                let nest = Nest::over(&Layout::dense(0, 0));
                parts.push(ArrivalPart { nest, sets: false, saved: true });
                continue;
            }
            let source = match looks {
                true => places.source(peer, transfer)?,
                false => Layout::dense(at, target.len()),
            };
            parts.extend(cells.parts(&source, &target)?);
        }
        let body = match parts.as_slice() {
            _ if looks => None,
            [ArrivalPart { nest, sets: true, .. }] if nest.target_contiguous().is_some() => {
                nest.target_contiguous().map(MessageBody::InPlace)
            }
            _ => Some(MessageBody::Packed { at: self.buffer(elements), nests: Vec::new() }),
        };
        Ok(Incoming { peer, elements, parts, body })
    }

    /// Keeps the own cells that others come before, and puts them in their turn.
    fn save(
        &mut self,
        cells: &ArrivedCells,
        receives: &mut [Incoming],
    ) -> Result<Option<(usize, Nest)>, Error> {
        let early: Vec<usize> = (0..cells.early.len()).filter(|at| cells.early[*at]).collect();
        let count = early.len();
        if count == 0 {
            return Ok(None);
        }
        let (edge, kept) = (listed(early, cells.early.len())?, Layout::dense(0, count));
        let parts = receives.iter_mut().flat_map(|incoming| &mut incoming.parts);
        for part in parts.filter(|part| part.saved) {
            part.nest = Nest::joint(&kept, &edge)?;
        }
        Ok(Some((self.buffer(count), Nest::joint(&edge, &kept)?)))
    }
}

impl ArrivedCells {
    /// The loops of what arrives next.
    fn parts(&mut self, source: &Layout, target: &Layout) -> Result<Vec<ArrivalPart>, Error> {
        let plain = |sets: bool| -> Result<Vec<ArrivalPart>, Error> {
            Ok(vec![ArrivalPart { nest: Nest::joint(source, target)?, sets, saved: false }])
        };
        if self.own_passed {
            return plain(false);
        }
        let mut first = |cell: usize| !std::mem::replace(&mut self.early[cell], true);
        let firsts: Vec<bool> = target.offsets().map(&mut first).collect();
        if firsts.iter().all(|first| *first) {
            return plain(true);
        }
        if firsts.iter().all(|first| !first) {
            return plain(false);
        }
        split(source, target, &firsts)
    }
}

/// True for the part of a rank that stays where it is.
fn is_own(transfer: &Transfer, places: &dyn Places) -> Result<bool, Error> {
    let (source, target) =
        (places.source(transfer.from, transfer)?, places.target(transfer.to, transfer)?);
    Ok(transfer.from == transfer.to && Nest::joint(&source, &target)?.is_identity())
}

/// The cells that are held before and not after: they are zero in the end.
fn halo(places: &Arrays<'_>, rank: Rank) -> Result<Option<Nest>, Error> {
    let (_, len) = places.lengths(rank);
    let mut halo = vec![false; len];
    let before = Arrays { source: places.source, target: places.source };
    before.held(rank)?.iter().flat_map(Layout::offsets).for_each(|at| halo[at] = true);
    places.held(rank)?.iter().flat_map(Layout::offsets).for_each(|at| halo[at] = false);
    let cells: Vec<usize> = (0..len).filter(|at| halo[*at]).collect();
    if cells.is_empty() { Ok(None) } else { Ok(Some(Nest::over(&listed(cells, len)?))) }
}

fn require_sum(dtype: DType) -> Result<(), Error> {
    let operator = Operator::Sum;
    match supports(dtype, operator) {
        true => Ok(()),
        false => Err(pantile_kernels::Error::Unsupported { operator, dtype }.into()),
    }
}
