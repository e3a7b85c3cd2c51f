//! Bindings of arguments and results: borrowed memory is read where it is, results leave in the
//! memory that they were made in.

use pantile_comm::Rank;
use pantile_kernels::DType;
use pantile_lower::{Executable, Places, SlotId, owned_places};

use super::loops::{self, BoxCopy, LoopContext, ProgramMemories};
use crate::pool::Pool;
use crate::{Error, Tile};

/// Where the elements of one rank enter or leave the program.
pub(crate) struct Binding {
    /// Type and number of the elements outside.
    pub(crate) size: (DType, usize),
    /// The memory inside.
    pub(crate) buffer: usize,
    way: ArgumentWay,
}

enum ArgumentWay {
    /// There are no elements.
    Shut,
    /// The memory outside is the memory inside.
    Open,
    /// Elements are copied.
    Copy(Box<BoxCopy>),
}

/// An argument as it comes.
pub enum Input<'a> {
    /// To be read; it stays with the caller.
    Borrowed(&'a Tile),
    /// The program may do with it what it likes.
    Donated(Tile),
}

/// A result as it goes.
pub enum Output {
    /// New elements.
    New(Tile),
    /// Those of a borrowed argument.
    Argument(usize),
    /// Those of an earlier result.
    Result(usize),
}

impl Binding {
    /// Where an argument enters.
    pub(crate) fn into(executable: &Executable, number: usize, rank: Rank) -> Result<Self, Error> {
        let slot = executable.arguments[number].0;
        match executable.lent(number) {
            None => Self::dense(executable, slot, rank, true),
            Some(_) if executable.takes_directly(number, rank) => {
                Ok(Self::open(executable, slot, rank))
            }
            Some(lent) => {
                let outside = owned_places(&lent.home, rank).map(|(_, places)| places);
                let len = lent.home.local_shape(rank).map_or(0, |shape| shape.iter().product());
                Self::copied(executable, slot, rank, (outside, len), true)
            }
        }
    }

    /// Where a result leaves.
    pub(crate) fn out(executable: &Executable, slot: SlotId, rank: Rank) -> Result<Self, Error> {
        let owned = executable.local_owned(slot, rank);
        let plain = owned.is_some_and(|(shape, places)| {
            places == loops::dense(&shape) && executable.local_shape(slot, rank) == Some(shape)
        });
        match executable.lent.is_some() || plain {
            true => Ok(Self::open(executable, slot, rank)),
            false => Self::dense(executable, slot, rank, false),
        }
    }

    fn open(executable: &Executable, slot: SlotId, rank: Rank) -> Self {
        let inside = &executable.slots[slot.index()];
        let shape = executable.local_shape(slot, rank);
        let len = shape.map_or(0, |shape| shape.iter().product());
        let way = if len == 0 { ArgumentWay::Shut } else { ArgumentWay::Open };
        Self { size: (inside.dtype, len), buffer: inside.buffer, way }
    }

    /// Outside are the owned elements and nothing else.
    fn dense(
        executable: &Executable,
        slot: SlotId,
        rank: Rank,
        enters: bool,
    ) -> Result<Self, Error> {
        let shape = executable.local_owned(slot, rank).map(|(shape, _)| shape);
        let outside = shape.as_deref().map(loops::dense);
        let len = shape.map_or(0, |shape| shape.iter().product());
        Self::copied(executable, slot, rank, (outside, len), enters)
    }

    fn copied(
        executable: &Executable,
        slot: SlotId,
        rank: Rank,
        (outside, len): (Option<Places>, usize),
        enters: bool,
    ) -> Result<Self, Error> {
        let slot_of = &executable.slots[slot.index()];
        let size = (slot_of.dtype, len);
        let (Some((shape, inside)), Some(outside)) = (executable.local_owned(slot, rank), outside)
        else {
            return Ok(Self { size, buffer: slot_of.buffer, way: ArgumentWay::Shut });
        };
        let inside = (slot_of.buffer, &inside);
        // The memory of others comes after all of ours.
        let outside = (executable.buffers, &outside);
        let (from, to) = if enters { (outside, inside) } else { (inside, outside) };
        let copy = BoxCopy::new(slot_of.dtype, &shape, from, to)?;
        Ok(Self { size, buffer: slot_of.buffer, way: ArgumentWay::Copy(Box::new(copy)) })
    }

    /// Lets an argument in.
    pub(crate) fn enter(
        &self,
        given: Input<'_>,
        tiles: &mut [Tile],
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        match (&self.way, given) {
            (ArgumentWay::Shut, _) => Ok(()),
            (ArgumentWay::Open, Input::Borrowed(tile)) => {
                tiles[self.buffer] = tile.alias();
                Ok(())
            }
            (ArgumentWay::Open, Input::Donated(tile)) => {
                tiles[self.buffer] = tile;
                Ok(())
            }
            (ArgumentWay::Copy(copy), Input::Borrowed(tile)) => {
                copy.run(ProgramMemories::with(tiles, tile), context)
            }
            (ArgumentWay::Copy(copy), Input::Donated(tile)) => {
                copy.run(ProgramMemories::with(tiles, &tile), context)
            }
        }
    }

    /// Lets a result out: its own memory, or a copy.
    pub(crate) fn leave(
        &self,
        tiles: &mut [Tile],
        pool: &Pool,
        context: &mut LoopContext<'_>,
    ) -> Result<Tile, Error> {
        let (dtype, len) = self.size;
        match &self.way {
            ArgumentWay::Shut => Ok(Tile::zeroed(dtype, len)),
            ArgumentWay::Open => Ok(std::mem::replace(&mut tiles[self.buffer], Tile::empty())),
            ArgumentWay::Copy(copy) => {
                let result = pool.tile(dtype, len);
                copy.run(ProgramMemories::with(tiles, &result), context)?;
                Ok(result)
            }
        }
    }

    /// True if what is outside is what is inside.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.way, ArgumentWay::Open)
    }
}
