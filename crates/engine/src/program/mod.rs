//! Programs: steps over slots, prepared for one rank and run as often as one likes.
//!
//! A [`Runner`] has everything that an executable needs on this rank: compiled loops and compiled
//! movements. Preparing plans and compiles; running does neither. Memory that is large comes from
//! the rank's pool and goes back to it, so that a program that waits has none.

mod contract;
mod cut;
mod doors;
mod fold;
mod folding;
mod look;
mod loops;
mod prepare;
mod repeat;
mod run;

/// Sizes at which programs run in another way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("program::SMALL", SMALL),
    ("program::BAND_BYTES", trail::BAND_BYTES),
    ("program::LEAST_BYTES", trail::LEAST_BYTES),
    ("program::GRAIN", cut::GRAIN),
    ("program::UNITS_MAX", cut::UNITS_MAX),
];
#[cfg(test)]
mod tests;
mod trail;
mod watch;

use std::sync::Arc;

use pantile_ir::lower::Executable;
use pantile_kernels::DType;
use pantile_memory::OutOfMemory;

use crate::{Engine, Error, Tile};
use doors::Door;
pub use doors::{Given, Made};
use loops::Means;
use prepare::Prepared;
use watch::Watch;
pub use watch::{Event, Overlap};

/// Memories up to so many bytes stay with a program; larger ones go back when it has run.
pub(super) const SMALL: usize = 32 << 10;

/// A program prepared for one rank.
pub struct Runner {
    executable: Arc<Executable>,
    steps: Vec<Prepared>,
    /// The memories that slots live in, all of them while it runs.
    tiles: Vec<Tile>,
    /// Their types and lengths.
    sizes: Vec<(DType, usize)>,
    takes: Vec<Door>,
    gives: Vec<Door>,
}

impl Runner {
    /// Prepares an executable for the rank of an engine. Not collective.
    ///
    /// # Errors
    /// If the executable was made for another number of ranks, or a movement does not exist.
    pub fn new(engine: &mut Engine, executable: Arc<Executable>) -> Result<Self, Error> {
        if executable.ranks != engine.size() {
            let (made_for, size) = (executable.ranks, engine.size());
            return Err(Error::WrongWorld { made_for, size });
        }
        let rank = engine.rank();
        let steps = prepare::steps(engine, &executable, &executable.steps)?;
        let sizes = prepare::sizes(&executable, rank);
        let takes = (0..executable.arguments.len())
            .map(|number| Door::into(&executable, number, rank))
            .collect::<Result<_, _>>()?;
        let gives = (executable.results.iter())
            .map(|(slot, _)| Door::out(&executable, *slot, rank))
            .collect::<Result<_, _>>()?;
        let tiles = sizes.iter().map(|_| Tile::empty()).collect();
        Ok(Self { executable, steps, tiles, sizes, takes, gives })
    }

    /// The executable.
    #[must_use]
    pub fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    /// Runs the program. Arguments and results are the elements that this rank owns, row-major; of
    /// a program that was lowered for arguments that callers lend, with the room around them.
    /// Collective.
    ///
    /// # Errors
    /// An argument has another type or number of elements, or the ranks cannot work together; then
    /// the world has ended.
    pub fn run(&mut self, engine: &mut Engine, arguments: &[Tile]) -> Result<Vec<Tile>, Error> {
        self.run_on(engine, &arguments.iter().collect::<Vec<_>>())
    }

    /// [`Runner::run`] on tiles that lie anywhere.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_on(&mut self, engine: &mut Engine, arguments: &[&Tile]) -> Result<Vec<Tile>, Error> {
        self.run_copied(engine, arguments, None)
    }

    /// [`Runner::run_on`], telling `watch` about every step when it has ended. Steps are numbered in
    /// the order of the executable's text: a loop before the steps in it.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_watched(
        &mut self,
        engine: &mut Engine,
        arguments: &[&Tile],
        watch: &mut dyn FnMut(&Event),
    ) -> Result<Vec<Tile>, Error> {
        self.run_copied(engine, arguments, Some(Watch::new(watch)))
    }

    /// [`Runner::run`] without copies at the doors: results may be arguments or other results.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_lent<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Given<'a>>,
        results: &mut Vec<Made>,
    ) -> Result<(), Error> {
        self.run_with(engine, arguments, None, results)
    }

    fn run_copied(
        &mut self,
        engine: &mut Engine,
        arguments: &[&Tile],
        watch: Option<Watch<'_>>,
    ) -> Result<Vec<Tile>, Error> {
        let given: Vec<Given<'_>> = (arguments.iter().enumerate())
            .map(|(number, tile)| match self.executable.spends(number) {
                true => Given::Spent(Tile::clone(tile)),
                false => Given::Lent(tile),
            })
            .collect();
        let mut made = Vec::new();
        self.run_with(engine, given.into_iter(), watch, &mut made)?;
        let mut results: Vec<Tile> = Vec::with_capacity(made.len());
        for one in made {
            results.push(match one {
                Made::New(tile) => tile,
                Made::Argument(number) => arguments[number].clone(),
                Made::Result(number) => results[number].clone(),
            });
        }
        Ok(results)
    }

    fn run_with<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Given<'a>>,
        watch: Option<Watch<'_>>,
        results: &mut Vec<Made>,
    ) -> Result<(), Error> {
        engine.count_program();
        let helpers = &*engine.helpers();
        let mut scratch = engine.loop_scratch().take().unwrap_or_default();
        let mut means = Means { scratch: &mut scratch, helpers };
        let given = self.run_by(engine, arguments, (&mut means, watch), results);
        self.let_go();
        *engine.loop_scratch() = Some(scratch);
        given
    }

    fn run_by<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Given<'a>>,
        (means, watch): (&mut Means<'_>, Option<Watch<'_>>),
        results: &mut Vec<Made>,
    ) -> Result<(), Error> {
        self.take(engine, arguments, means)?;
        let lent = Means { scratch: means.scratch, helpers: means.helpers };
        let tiles = &mut self.tiles;
        run::Running { engine, tiles, means: lent, watch, overlap: None }.steps(&self.steps)?;
        self.give(engine, results, means)
    }

    /// Bytes of memory that this rank needs for it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.sizes.iter().map(|(dtype, len)| len * dtype.bytes()).sum()
    }

    /// Takes the memory that the program needs, if there is so much; all of it or none.
    pub(crate) fn reserve(&mut self, engine: &Engine) -> Result<(), OutOfMemory> {
        let open =
            |buffer: usize| self.takes.iter().any(|door| door.buffer == buffer && door.is_open());
        for (buffer, (tile, (dtype, len))) in self.tiles.iter_mut().zip(&self.sizes).enumerate() {
            if (tile.dtype(), tile.len()) != (*dtype, *len) && !open(buffer) {
                match engine.pool().try_tile(*dtype, *len) {
                    Ok(new) => *tile = new,
                    Err(error) => {
                        self.let_go();
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Memory for everything, and the arguments in it.
    fn take<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Given<'a>>,
        means: &mut Means<'_>,
    ) -> Result<(), Error> {
        let rank = engine.rank();
        if arguments.len() != self.takes.len() {
            let (got, expected) = (arguments.len(), self.takes.len());
            let error = Error::Arguments { rank, got, expected };
            engine.fail(None, &error);
            return Err(error);
        }
        if let Err(error) = self.reserve(engine) {
            let error = Error::out_of_memory(rank, error, true);
            engine.fail(None, &error);
            return Err(error);
        }
        for (given, door) in arguments.zip(&self.takes) {
            let tile = match &given {
                Given::Lent(tile) => *tile,
                Given::Spent(tile) => tile,
            };
            let got = (tile.dtype(), tile.len());
            if got != door.size {
                let expected = door.size;
                let error = Error::WrongTile { rank, side: "argument", expected, got };
                engine.fail(None, &error);
                return Err(error);
            }
            door.enter(given, &mut self.tiles, means)?;
        }
        Ok(())
    }

    fn give(
        &mut self,
        engine: &mut Engine,
        results: &mut Vec<Made>,
        means: &mut Means<'_>,
    ) -> Result<(), Error> {
        let spends = |number: &usize| self.executable.spends(*number);
        for (number, door) in self.gives.iter().enumerate() {
            let same = |other: &Door| other.is_open() && other.buffer == door.buffer;
            let argument = self.takes.iter().position(same).filter(|number| !spends(number));
            let earlier = self.gives[..number].iter().position(same);
            results.push(match (argument, earlier) {
                (Some(argument), _) if door.is_open() => Made::Argument(argument),
                (_, Some(earlier)) if door.is_open() => Made::Result(earlier),
                _ => Made::New(door.leave(&mut self.tiles, engine.pool(), means)?),
            });
        }
        Ok(())
    }

    /// Memory goes back: what was lent, and what is large.
    pub(crate) fn let_go(&mut self) {
        for door in self.takes.iter().filter(|door| door.is_open()) {
            self.tiles[door.buffer] = Tile::empty();
        }
        for tile in &mut self.tiles {
            if tile.len() * tile.dtype().bytes() > SMALL {
                *tile = Tile::empty();
            }
        }
    }
}
