//! Programs: steps over slots, prepared for one rank and run as often as one likes.
//!
//! A [`Runner`] has everything that an executable needs on this rank: compiled loops, compiled
//! movements and memory. Preparing plans and compiles; running does neither, and allocates
//! nothing but the results.

mod fold;
mod loops;
mod prepare;
mod repeat;
mod run;
mod watch;

use std::sync::Arc;

use pantile_ir::lower::{Executable, SlotId};

use pantile_comm::Rank;
use pantile_kernels::DType;
use pantile_kernels::lanes::Scratch;

use crate::{Engine, Error, Tile};
use loops::{BoxCopy, Tiles};
use prepare::Prepared;
pub use watch::Event;
use watch::Watch;

/// A program prepared for one rank.
pub struct Runner {
    executable: Arc<Executable>,
    steps: Vec<Prepared>,
    /// The memories that slots live in.
    tiles: Vec<Tile>,
    takes: Vec<Door>,
    gives: Vec<Door>,
    scratch: Scratch,
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
        let tiles = prepare::memories(&executable, rank);
        let doors =
            |slots: &[(SlotId, pantile_ir::Type)], enters: bool| -> Result<Vec<Door>, Error> {
                slots.iter().map(|(slot, _)| Door::new(&executable, *slot, rank, enters)).collect()
            };
        let takes = doors(&executable.arguments, true)?;
        let gives = doors(&executable.results, false)?;
        Ok(Self { executable, steps, tiles, takes, gives, scratch: Scratch::new() })
    }

    /// The executable.
    #[must_use]
    pub fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    /// Runs the program. Arguments and results are the elements that this rank owns, row-major.
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
        self.run_with(engine, arguments, None)
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
        self.run_with(engine, arguments, Some(Watch::new(watch)))
    }

    fn run_with(
        &mut self,
        engine: &mut Engine,
        arguments: &[&Tile],
        watch: Option<Watch<'_>>,
    ) -> Result<Vec<Tile>, Error> {
        self.take(engine, arguments)?;
        let Self { steps, tiles, scratch, .. } = self;
        run::Running { engine, tiles, scratch, watch }.steps(steps)?;
        self.give()
    }

    /// Bytes of memory that this rank needs for it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.len() * tile.dtype().bytes()).sum()
    }

    fn take(&mut self, engine: &mut Engine, arguments: &[&Tile]) -> Result<(), Error> {
        let rank = engine.rank();
        if arguments.len() != self.takes.len() {
            let (got, expected) = (arguments.len(), self.takes.len());
            let error = Error::Arguments { rank, got, expected };
            engine.fail(None, &error);
            return Err(error);
        }
        for (given, door) in arguments.iter().zip(&self.takes) {
            let got = (given.dtype(), given.len());
            if got != (door.dtype, door.len) {
                let expected = (door.dtype, door.len);
                let error = Error::WrongTile { rank, side: "argument", expected, got };
                engine.fail(None, &error);
                return Err(error);
            }
            if let Some(copy) = &door.copy {
                copy.run(Tiles::with(&self.tiles, given), &mut self.scratch)?;
            }
        }
        Ok(())
    }

    fn give(&mut self) -> Result<Vec<Tile>, Error> {
        let mut results = Vec::with_capacity(self.gives.len());
        for door in &self.gives {
            let result = Tile::zeroed(door.dtype, door.len);
            if let Some(copy) = &door.copy {
                copy.run(Tiles::with(&self.tiles, &result), &mut self.scratch)?;
            }
            results.push(result);
        }
        Ok(results)
    }
}

/// Where elements enter or leave: those that the rank owns of a slot, as a dense row.
struct Door {
    dtype: DType,
    len: usize,
    /// None if there are no elements.
    copy: Option<BoxCopy>,
}

impl Door {
    fn new(executable: &Executable, slot: SlotId, rank: Rank, enters: bool) -> Result<Self, Error> {
        let dtype = executable.slots[slot.index()].dtype;
        let Some((shape, places)) = executable.local_owned(slot, rank) else {
            return Ok(Self { dtype, len: 0, copy: None });
        };
        let inside = (executable.slots[slot.index()].buffer, &places);
        let row = loops::dense(&shape);
        // The memory of others comes after all of ours.
        let outside = (executable.buffers, &row);
        let (from, to) = if enters { (outside, inside) } else { (inside, outside) };
        let copy = BoxCopy::new(dtype, &shape, from, to)?;
        Ok(Self { dtype, len: shape.iter().product(), copy: Some(copy) })
    }
}
