//! Loops over tiles.

use std::ops::Range;

use pantile_kernels::lanes::{LoopProgram, Scratch};
use pantile_kernels::{DType, Error as KernelError};
use pantile_lanes::LoopBody;
use pantile_lower::{LocalCopy, LocalLoop, LocalRead, LocalWrite, Part, Places, SlotId};
use smallvec::SmallVec;

use super::cut::CutBox;
use crate::raw::LoopOperands;
use crate::thread_pool::ThreadPool;
use crate::{Error, Tile};

/// The memories of a program by their numbers; the number after the last one is an external operand.
#[derive(Clone, Copy)]
pub(crate) struct ProgramMemories<'a> {
    own: &'a [Tile],
    external: Option<&'a Tile>,
}

impl<'a> ProgramMemories<'a> {
    /// Memories with an external operand.
    pub(crate) fn with(own: &'a [Tile], external: &'a Tile) -> Self {
        Self { own, external: Some(external) }
    }

    pub(crate) fn at(self, number: usize) -> &'a Tile {
        self.own.get(number).or(self.external).expect("a prepared loop knows its memories")
    }
}

impl<'a> From<&'a [Tile]> for ProgramMemories<'a> {
    fn from(own: &'a [Tile]) -> Self {
        Self { own, external: None }
    }
}

/// What loops run with: memory of the rank's own, and threads that help.
pub(crate) struct LoopContext<'a> {
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) thread_pool: &'a ThreadPool,
}

/// A box of local memory, ready for the kernels.
pub(crate) struct BoxLoop {
    pub(crate) shape: Vec<usize>,
    reads: Vec<BoxRead>,
    pub(crate) writes: Vec<LanePlaces>,
    /// What an element costs, about as much as so many bytes of memory.
    pub(crate) cost: usize,
}

/// Where lanes lie in a tile: the number of the tile, and places counted in lanes.
pub(crate) struct LanePlaces {
    pub(crate) tile: usize,
    pub(crate) offset: isize,
    pub(crate) strides: Vec<isize>,
}

/// Where rows lie, the first axis being that of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowPlaces {
    /// The first and the last lane of the first row.
    pub(crate) lowest: isize,
    pub(crate) highest: isize,
    /// Lanes from one row to the next.
    pub(crate) step: isize,
}

/// A part of a box: all of it, or what lies in a range along one axis.
pub(crate) struct BoxPart {
    pub(crate) shape: SmallVec<[usize; 8]>,
    /// The axis, and the index where it begins.
    from: (usize, usize),
}

impl BoxPart {
    /// All of a box.
    pub(crate) fn all(shape: &[usize]) -> Self {
        Self { shape: shape.into(), from: (0, 0) }
    }

    /// One of the pieces of a box that is cut.
    pub(crate) fn of(shape: &[usize], cut: &CutBox, number: usize) -> Self {
        let mut piece = Self::all(shape);
        let range = cut.range(number);
        piece.shape[cut.axis] = range.len();
        piece.from = (cut.axis, range.start);
        piece
    }

    /// Some rows of a box.
    fn rows(shape: &[usize], rows: Range<usize>) -> Self {
        let mut piece = Self::all(shape);
        piece.shape[0] = rows.len();
        piece.from = (0, rows.start);
        piece
    }

    /// How much further it begins than the box.
    pub(crate) fn shift(&self, strides: &[isize]) -> isize {
        strides.get(self.from.0).map_or(0, |stride| stride * self.from.1.cast_signed())
    }
}

enum BoxRead {
    Tile(LanePlaces),
    Index(i64, Vec<i64>),
}

impl LanePlaces {
    /// A complex element is two lanes.
    fn new(tile: usize, part: Part, places: &Places) -> Self {
        let (step, shift) = match part {
            Part::Whole => (1, 0),
            Part::Real => (2, 0),
            Part::Imaginary => (2, 1),
        };
        let strides = places.strides.iter().map(|stride| stride * step).collect();
        Self { tile, offset: places.offset * step + shift, strides }
    }

    /// Where the rows of a box of this shape lie.
    pub(crate) fn rows(&self, shape: &[usize]) -> RowPlaces {
        let (mut lowest, mut highest) = (self.offset, self.offset);
        for (stride, length) in self.strides.iter().zip(shape).skip(1) {
            let reach = stride * length.saturating_sub(1).cast_signed();
            (lowest, highest) = (lowest + reach.min(0), highest + reach.max(0));
        }
        RowPlaces { lowest, highest, step: self.strides.first().copied().unwrap_or(0) }
    }

    /// Where the first lane of a piece lies.
    fn first(&self, piece: &BoxPart) -> isize {
        self.offset + piece.shift(&self.strides)
    }
}

impl BoxLoop {
    /// A box whose slots live in these tiles; an element costs as much as so many bytes of memory.
    pub(crate) fn new(one: &LocalLoop, buffer: &dyn Fn(SlotId) -> usize, cost: usize) -> Self {
        let read = |read: &LocalRead| match read {
            LocalRead::Slot(slot, part, places) => {
                BoxRead::Tile(LanePlaces::new(buffer(*slot), *part, places))
            }
            LocalRead::Index(start, strides) => BoxRead::Index(*start, strides.clone()),
        };
        let write = |LocalWrite::Slot(slot, part, places): &LocalWrite| {
            LanePlaces::new(buffer(*slot), *part, places)
        };
        Self {
            shape: one.shape.clone(),
            reads: one.reads.iter().map(read).collect(),
            writes: one.writes.iter().map(write).collect(),
            cost,
        }
    }

    /// A box from one tile to others.
    #[cfg(test)]
    pub(crate) fn between(
        shape: &[usize],
        (from, read): (usize, &Places),
        writes: &[(usize, &Places)],
    ) -> Self {
        let places =
            |(tile, places): &(usize, &Places)| LanePlaces::new(*tile, Part::Whole, places);
        Self {
            shape: shape.to_vec(),
            reads: vec![BoxRead::Tile(LanePlaces::new(from, Part::Whole, read))],
            writes: writes.iter().map(places).collect(),
            cost: 1,
        }
    }

    /// Adds what a piece reads to operands: they are large, and not moved.
    pub(crate) fn read_into<'a>(
        &'a self,
        tiles: ProgramMemories<'a>,
        piece: &BoxPart,
        operands: &mut LoopOperands<'a>,
    ) {
        let (axis, first) = piece.from;
        let shift = |strides: &[i64]| strides.get(axis).map_or(0, |step| step * first as i64);
        for read in &self.reads {
            match read {
                BoxRead::Tile(lanes) => {
                    operands.read(tiles.at(lanes.tile), lanes.first(piece), &lanes.strides);
                }
                BoxRead::Index(start, strides) => operands.index(start + shift(strides), strides),
            }
        }
    }

    /// The places in memory that it reads, and then those that it writes.
    pub(crate) fn places(&self) -> impl Iterator<Item = &LanePlaces> {
        self.read_places().chain(&self.writes)
    }

    /// The places in memory that it reads.
    pub(crate) fn read_places(&self) -> impl Iterator<Item = &LanePlaces> {
        self.reads.iter().filter_map(|read| match read {
            BoxRead::Tile(places) => Some(places),
            BoxRead::Index(..) => None,
        })
    }

    /// Runs a program over some rows of the box.
    pub(crate) fn map_rows(
        &self,
        program: &LoopProgram,
        rows: Range<usize>,
        tiles: ProgramMemories<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.map_piece(program, tiles, &BoxPart::rows(&self.shape, rows), scratch)
    }

    /// Runs a program over the box.
    pub(crate) fn map(
        &self,
        program: &LoopProgram,
        tiles: ProgramMemories<'_>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        let writes = self.writes.iter().map(|places| places.strides.as_slice());
        match CutBox::of_map(context.thread_pool, &self.shape, self.cost, writes) {
            None => self.map_piece(program, tiles, &BoxPart::all(&self.shape), context.scratch),
            Some(cut) => context.thread_pool.run(cut.pieces, &|number, thread_scratch| {
                let piece = BoxPart::of(&self.shape, &cut, number);
                self.map_piece(program, tiles, &piece, &mut thread_scratch.scratch)
            }),
        }
    }

    fn map_piece(
        &self,
        program: &LoopProgram,
        tiles: ProgramMemories<'_>,
        piece: &BoxPart,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let mut operands = LoopOperands::default();
        self.read_into(tiles, piece, &mut operands);
        for lanes in &self.writes {
            operands.write(tiles.at(lanes.tile), lanes.first(piece), &lanes.strides);
        }
        Ok(operands.map(program, &piece.shape, scratch)?)
    }
}

/// Elements copied as they are from one tile to another.
pub(crate) struct BoxCopy {
    program: LoopProgram,
    lanes: BoxLoop,
}

impl BoxCopy {
    /// A copy of a box between two tiles, given by their numbers.
    pub(crate) fn new(
        dtype: DType,
        shape: &[usize],
        from: (usize, &Places),
        to: (usize, &Places),
    ) -> Result<Self, Error> {
        let (lane, parts): (DType, &[Part]) = match dtype {
            DType::C64 => (DType::F32, &[Part::Real, Part::Imaginary]),
            DType::C128 => (DType::F64, &[Part::Real, Part::Imaginary]),
            real => (real, &[Part::Whole]),
        };
        let mut body = LoopBody::new();
        for _ in parts {
            let node = body.input(lane).map_err(KernelError::from)?;
            body.output(node);
        }
        let read = |part: &Part| BoxRead::Tile(LanePlaces::new(from.0, *part, from.1));
        let lanes = BoxLoop {
            shape: shape.to_vec(),
            reads: parts.iter().map(read).collect(),
            writes: parts.iter().map(|part| LanePlaces::new(to.0, *part, to.1)).collect(),
            cost: 2 * dtype.bytes(),
        };
        Ok(Self { program: LoopProgram::compile(&body)?, lanes })
    }

    /// The copy of what lies outside of a region.
    pub(crate) fn of(
        one: &LocalCopy,
        dtype: DType,
        buffer: &dyn Fn(SlotId) -> usize,
    ) -> Result<Self, Error> {
        let (from, to) = (buffer(one.from.0), buffer(one.to.0));
        Self::new(dtype, &one.shape, (from, &one.from.1), (to, &one.to.1))
    }

    /// Copies within `tiles`.
    pub(crate) fn run(
        &self,
        tiles: ProgramMemories<'_>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        self.lanes.map(&self.program, tiles, context)
    }
}

/// The places of a dense array.
pub(crate) fn dense(shape: &[usize]) -> Places {
    let mut strides = vec![1isize; shape.len()];
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * isize::try_from(shape[axis + 1]).unwrap_or(isize::MAX);
    }
    Places { offset: 0, strides }
}
