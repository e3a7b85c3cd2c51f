//! Programs: steps over slots, prepared for one rank and run as often as one likes.
//!
//! A [`Runner`] has everything that an executable needs on this rank: compiled loops and compiled
//! movements. Preparing plans and compiles; running does neither. Memory that is large comes from
//! the rank's pool and goes back to it, so that a program that waits has none.

mod bindings;
mod contract;
mod cut;
mod fold;
mod folding;
mod loops;
mod prepare;
mod remote_read;
mod repeat;
mod run;

/// Sizes at which programs run in another way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("program::SMALL", SMALL),
    ("program::CACHE_BLOCK_BYTES", wavefront::CACHE_BLOCK_BYTES),
    ("program::LEAST_BYTES", wavefront::LEAST_BYTES),
    ("program::GRAIN", cut::GRAIN),
    ("program::UNITS_MAX", cut::UNITS_MAX),
];
mod profiler;
#[cfg(test)]
mod tests;
mod wavefront;

use std::sync::Arc;

use pantile_kernels::DType;
use pantile_lower::Executable;
use pantile_memory::OutOfMemory;

use crate::{Engine, Error, Tile};
use bindings::Binding;
pub use bindings::{Input, Output};
use loops::LoopContext;
use prepare::Prepared;
use profiler::Profiler;
pub use profiler::{Event, Overlap};

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
    inputs: Vec<Binding>,
    outputs: Vec<Binding>,
}

impl Runner {
    /// Prepares an executable for the rank of an engine. Not collective.
    ///
    /// # Errors
    /// If the executable was made for more ranks than there are, or a movement does not exist.
    pub fn new(engine: &mut Engine, executable: Arc<Executable>) -> Result<Self, Error> {
        if executable.ranks > engine.size() {
            let (made_for, size) = (executable.ranks, engine.size());
            return Err(Error::WrongWorld { made_for, size });
        }
        let rank = engine.rank();
        let steps = prepare::steps(engine, &executable, &executable.steps)?;
        let sizes = prepare::sizes(&executable, rank);
        let inputs = (0..executable.arguments.len())
            .map(|number| Binding::into(&executable, number, rank))
            .collect::<Result<_, _>>()?;
        let outputs = (executable.results.iter())
            .map(|(slot, _)| Binding::out(&executable, *slot, rank))
            .collect::<Result<_, _>>()?;
        let tiles = sizes.iter().map(|_| Tile::empty()).collect();
        Ok(Self { executable, steps, tiles, sizes, inputs, outputs })
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

    /// [`Runner::run_on`], telling `profiler` about every step when it has ended. Steps are numbered in
    /// the order of the executable's text: a loop before the steps in it.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_profiled(
        &mut self,
        engine: &mut Engine,
        arguments: &[&Tile],
        profiler: &mut dyn FnMut(&Event),
    ) -> Result<Vec<Tile>, Error> {
        self.run_copied(engine, arguments, Some(Profiler::new(profiler)))
    }

    /// [`Runner::run`] without copies at the bindings: results may be arguments or other results.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_bound<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Input<'a>>,
        results: &mut Vec<Output>,
    ) -> Result<(), Error> {
        self.run_with(engine, arguments, None, results)
    }

    fn run_copied(
        &mut self,
        engine: &mut Engine,
        arguments: &[&Tile],
        profiler: Option<Profiler<'_>>,
    ) -> Result<Vec<Tile>, Error> {
        let given: Vec<Input<'_>> = (arguments.iter().enumerate())
            .map(|(number, tile)| match self.executable.spends(number) {
                true => Input::Donated(Tile::clone(tile)),
                false => Input::Borrowed(tile),
            })
            .collect();
        let mut made = Vec::new();
        self.run_with(engine, given.into_iter(), profiler, &mut made)?;
        let mut results: Vec<Tile> = Vec::with_capacity(made.len());
        for one in made {
            results.push(match one {
                Output::New(tile) => tile,
                Output::Argument(number) => arguments[number].clone(),
                Output::Result(number) => results[number].clone(),
            });
        }
        Ok(results)
    }

    fn run_with<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Input<'a>>,
        profiler: Option<Profiler<'_>>,
        results: &mut Vec<Output>,
    ) -> Result<(), Error> {
        engine.count_program();
        let thread_pool = &*engine.thread_pool();
        let mut scratch = engine.loop_scratch().take().unwrap_or_default();
        let mut context = LoopContext { scratch: &mut scratch, thread_pool };
        let given = self.run_by(engine, arguments, (&mut context, profiler), results);
        self.let_go();
        *engine.loop_scratch() = Some(scratch);
        given
    }

    fn run_by<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Input<'a>>,
        (context, profiler): (&mut LoopContext<'_>, Option<Profiler<'_>>),
        results: &mut Vec<Output>,
    ) -> Result<(), Error> {
        self.take(engine, arguments, context)?;
        let lent = LoopContext { scratch: context.scratch, thread_pool: context.thread_pool };
        let tiles = &mut self.tiles;
        run::Running { engine, tiles, context: lent, profiler, overlap: None }
            .steps(&self.steps)?;
        self.give(engine, results, context)
    }

    /// Bytes of memory that this rank needs for it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.sizes.iter().map(|(dtype, len)| len * dtype.bytes()).sum()
    }

    /// Takes the memory that the program needs, if there is so much; all of it or none.
    pub(crate) fn reserve(&mut self, engine: &Engine) -> Result<(), OutOfMemory> {
        let open = |buffer: usize| {
            self.inputs.iter().any(|binding| binding.buffer == buffer && binding.is_open())
        };
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

    /// Memory for all slots, and the arguments in it.
    fn take<'a>(
        &mut self,
        engine: &mut Engine,
        arguments: impl ExactSizeIterator<Item = Input<'a>>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        let rank = engine.rank();
        if arguments.len() != self.inputs.len() {
            let (got, expected) = (arguments.len(), self.inputs.len());
            let error = Error::Arguments { rank, got, expected };
            engine.fail(None, &error);
            return Err(error);
        }
        if let Err(error) = self.reserve(engine) {
            let error = Error::out_of_memory(rank, error, true);
            engine.fail(None, &error);
            return Err(error);
        }
        for (given, binding) in arguments.zip(&self.inputs) {
            let tile = match &given {
                Input::Borrowed(tile) => *tile,
                Input::Donated(tile) => tile,
            };
            let got = (tile.dtype(), tile.len());
            if got != binding.size {
                let expected = binding.size;
                let error = Error::WrongTile { rank, side: "argument", expected, got };
                engine.fail(None, &error);
                return Err(error);
            }
            binding.enter(given, &mut self.tiles, context)?;
        }
        Ok(())
    }

    fn give(
        &mut self,
        engine: &mut Engine,
        results: &mut Vec<Output>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        let spends = |number: &usize| self.executable.spends(*number);
        for (number, binding) in self.outputs.iter().enumerate() {
            let same = |other: &Binding| other.is_open() && other.buffer == binding.buffer;
            let argument = self.inputs.iter().position(same).filter(|number| !spends(number));
            let earlier = self.outputs[..number].iter().position(same);
            results.push(match (argument, earlier) {
                (Some(argument), _) if binding.is_open() => Output::Argument(argument),
                (_, Some(earlier)) if binding.is_open() => Output::Result(earlier),
                _ => Output::New(binding.leave(&mut self.tiles, engine.pool(), context)?),
            });
        }
        Ok(())
    }

    /// Memory goes back: what was lent, and what is large.
    pub(crate) fn let_go(&mut self) {
        for binding in self.inputs.iter().filter(|binding| binding.is_open()) {
            self.tiles[binding.buffer] = Tile::empty();
        }
        for tile in &mut self.tiles {
            if tile.len() * tile.dtype().bytes() > SMALL {
                *tile = Tile::empty();
            }
        }
    }
}
