//! One step after the other.

use std::panic::Location;
use std::time::Instant;

use smallvec::SmallVec;

use super::loops::{LoopContext, ProgramMemories};
use super::prepare::{Prepared, PreparedExchange, PreparedLoop};
use super::profiler::{Event, Overlap, Profiler};
use super::wavefront::{self, Wavefront};
use crate::{Engine, Error, Tile};

/// A program while it runs.
pub(crate) struct Running<'a, 'w> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) tiles: &'a mut Vec<Tile>,
    pub(crate) context: LoopContext<'a>,
    /// The profiler hook, if there is one.
    pub(crate) profiler: Option<Profiler<'w>>,
    /// The times of the last exchange with a loop in it, if there is a profiler.
    pub(crate) overlap: Option<Overlap>,
}

impl Running<'_, '_> {
    pub(crate) fn steps(&mut self, steps: &[Prepared]) -> Result<(), Error> {
        match self.profiler {
            None => self.unprofiled(steps),
            Some(_) => steps.iter().try_for_each(|step| self.profiled(step)),
        }
    }

    /// Steps of which loops may go right behind the step before them.
    fn unprofiled(&mut self, mut steps: &[Prepared]) -> Result<(), Error> {
        while let [step, rest @ ..] = steps {
            steps = match rest {
                [Prepared::Compute(second), rest @ ..]
                    if second
                        .wavefront
                        .as_ref()
                        .is_some_and(|wavefront| wavefront.is_single_threaded(&self.context)) =>
                {
                    self.together(step, second)?;
                    rest
                }
                _ => {
                    self.step(step)?;
                    rest
                }
            };
        }
        Ok(())
    }

    /// A step, and a loop right behind it.
    fn together(&mut self, step: &Prepared, second: &PreparedLoop) -> Result<(), Error> {
        match (step, &second.wavefront) {
            (Prepared::Compute(first), Some(wavefront)) => {
                wavefront.run([first, second], 0, self.tiles.as_slice().into(), &mut self.context)
            }
            (Prepared::Exchange(exchange), Some(wavefront)) => {
                self.exchange(exchange, Some((second, wavefront)), Location::caller())
            }
            _ => unreachable!("only loops have wavefronts"),
        }
    }

    /// A step, and the profiler is told about it.
    fn profiled(&mut self, step: &Prepared) -> Result<(), Error> {
        let number = self.profiler.as_mut().map_or(0, Profiler::next);
        let (before, start) = (self.engine.counters(), Instant::now());
        self.step(step)?;
        let (after, end) = (self.engine.counters(), Instant::now());
        let (messages, bytes) = (after.messages - before.messages, after.bytes - before.bytes);
        let overlap = self.overlap.take();
        if let Some(profiler) = &mut self.profiler {
            profiler.tell(&Event { step: number, start, end, messages, bytes, overlap });
        }
        Ok(())
    }

    fn step(&mut self, step: &Prepared) -> Result<(), Error> {
        let place = Location::caller();
        match step {
            Prepared::Compute(one) => self.compute(one),
            Prepared::Move { movement, from, to } => {
                let [from, to] = self.tiles.get_disjoint_mut([*from, *to]).expect("two memories");
                self.engine.run_at(movement, from, to, place)
            }
            Prepared::Exchange(exchange) => self.exchange(exchange, None, place),
            Prepared::RemoteRead(look) => self.look(look, place),
            Prepared::Finish(finish) => {
                finish.run(self.tiles);
                Ok(())
            }
            Prepared::Product(product) => {
                product.run(self.tiles);
                Ok(())
            }
            Prepared::Contract(contract) => {
                contract.run(self.tiles.as_slice().into(), &mut self.context)
            }
            Prepared::Copies(copies) => copies
                .iter()
                .try_for_each(|copy| copy.run(self.tiles.as_slice().into(), &mut self.context)),
            Prepared::Repeat(repeat) => self.repeat(repeat),
        }
    }

    fn compute(&mut self, one: &PreparedLoop) -> Result<(), Error> {
        if one.folds.is_empty() {
            return one.store(self.tiles.as_slice().into(), &mut self.context);
        }
        let folds = one.folds.iter().zip(one.program.outputs()).zip(&one.reduced);
        for (number, ((fold, dtype), tile)) in folds.enumerate() {
            // Several folds may have cells of one array.
            if number == 0 || one.reduced[number - 1] != *tile {
                fold.start(*dtype, self.tiles[*tile].bytes_mut())?;
            }
        }
        let tiles = self.tiles.as_slice().into();
        one.loops
            .iter()
            .try_for_each(|boxed| boxed.fold(&one.program, &one.folds, tiles, &mut self.context))
    }

    /// Halos travel; what needs none of them is computed meanwhile, the rest afterwards. Where a loop
    /// goes right behind, only the first rows are computed meanwhile: no loop may change what others
    /// still read.
    fn exchange(
        &mut self,
        exchange: &PreparedExchange,
        then: Option<(&PreparedLoop, &Wavefront)>,
        place: &'static Location<'static>,
    ) -> Result<(), Error> {
        let (tiles, context) = (&*self.tiles, &mut self.context);
        let moving: SmallVec<[&Tile; 16]> = exchange.tiles.iter().map(|at| &tiles[*at]).collect();
        let mut aggregated = exchange.aggregated.borrow_mut();
        let (profiled, mut times) = (self.profiler.is_some(), None);
        let mut core = || {
            let Some((one, _)) = &exchange.during else { return Ok(()) };
            let posted = profiled.then(Instant::now);
            match then {
                None => one.store(tiles.as_slice().into(), context)?,
                Some((_, wavefront)) => {
                    wavefront::rows(one, 0..wavefront.ahead(), tiles.as_slice().into(), context)?;
                }
            }
            times = posted.map(|posted| (posted, Instant::now()));
            Ok(())
        };
        self.engine.exchange(&mut aggregated, &moving, place, &mut core)?;
        let Some((one, edges)) = &exchange.during else { return Ok(()) };
        self.overlap =
            times.map(|(posted, interior)| Overlap { posted, interior, arrived: Instant::now() });
        let tiles = self.tiles.as_slice().into();
        edges.iter().try_for_each(|boxed| boxed.map(&one.program, tiles, &mut self.context))?;
        match then {
            None => Ok(()),
            Some((second, wavefront)) => {
                wavefront.run([one, second], wavefront.ahead(), tiles, &mut self.context)
            }
        }
    }
}

impl PreparedLoop {
    /// Copies what the loop does not touch, and runs its boxes.
    pub(crate) fn store(
        &self,
        tiles: ProgramMemories<'_>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        self.copies.iter().try_for_each(|copy| copy.run(tiles, context))?;
        self.loops.iter().try_for_each(|boxed| boxed.map(&self.program, tiles, context))
    }
}
