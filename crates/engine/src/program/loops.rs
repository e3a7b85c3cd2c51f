//! Loops over tiles: kernels get pointers into the memory of this rank.
#![allow(unsafe_code, reason = "loops may write the memory that they read, at the same places")]

use pantile_ir::lower::{LocalCopy, LocalLoop, LocalRead, LocalWrite, Part, Places, SlotId};
use pantile_kernels::lanes::{Program, RawSource, RawTarget, Scratch, map_raw};
use pantile_kernels::reduce::{Fold, Folds, reduce_raw};
use pantile_kernels::{DType, Error as KernelError};
use pantile_lanes::Body;
use smallvec::SmallVec;

use crate::{Error, Tile};

/// Inputs and outputs of loops on the stack; more than so many cost an allocation.
type Few<T> = SmallVec<[T; 24]>;

/// The memories of a program by their numbers; the number after the last one is a guest.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<'a> {
    own: &'a [Tile],
    guest: Option<&'a Tile>,
}

impl<'a> Tiles<'a> {
    /// Memories with a guest.
    pub(crate) fn with(own: &'a [Tile], guest: &'a Tile) -> Self {
        Self { own, guest: Some(guest) }
    }

    fn at(self, number: usize) -> &'a Tile {
        self.own.get(number).or(self.guest).expect("a prepared loop knows its memories")
    }
}

impl<'a> From<&'a [Tile]> for Tiles<'a> {
    fn from(own: &'a [Tile]) -> Self {
        Self { own, guest: None }
    }
}

/// A box of local memory, ready for the kernels.
pub(crate) struct BoxLoop {
    shape: Vec<usize>,
    reads: Vec<BoxRead>,
    writes: Vec<LanePlaces>,
}

/// Where lanes lie in a tile: the number of the tile, and places counted in lanes.
struct LanePlaces {
    tile: usize,
    offset: isize,
    strides: Vec<isize>,
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

    fn source(&self, tiles: Tiles<'_>) -> RawSource<'_> {
        let (start, bytes) = span(tiles.at(self.tile));
        RawSource::Memory { start, bytes, offset: self.offset, strides: &self.strides }
    }

    fn target(&self, tiles: Tiles<'_>) -> RawTarget<'_> {
        let (start, bytes) = span(tiles.at(self.tile));
        RawTarget { start, bytes, offset: self.offset, strides: &self.strides }
    }
}

fn span(tile: &Tile) -> (*mut u8, usize) {
    (tile.memory().start().as_ptr(), tile.len() * tile.dtype().bytes())
}

impl BoxLoop {
    /// A box whose slots live in these tiles.
    pub(crate) fn new(one: &LocalLoop, buffer: &dyn Fn(SlotId) -> usize) -> Self {
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
        }
    }

    fn sources(&self, tiles: Tiles<'_>) -> Few<RawSource<'_>> {
        let mut sources = Few::new();
        for read in &self.reads {
            sources.push(match read {
                BoxRead::Tile(places) => places.source(tiles),
                BoxRead::Index(start, strides) => RawSource::Index { start: *start, strides },
            });
        }
        sources
    }

    /// Runs a program over the box.
    pub(crate) fn map(
        &self,
        program: &Program,
        tiles: Tiles<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let sources = self.sources(tiles);
        let mut targets: Few<RawTarget<'_>> = Few::new();
        targets.extend(self.writes.iter().map(|places| places.target(tiles)));
        // SAFETY: tiles are valid for their bytes and hold valid elements; nobody else has them
        // while a program runs. A target lies in the memory of a source only if the lowering found
        // that both are reached at the same places, and two targets are never the same elements.
        let done: Result<(), KernelError> =
            unsafe { map_raw(program, &self.shape, &sources, &targets, scratch) };
        Ok(done?)
    }

    /// Folds the outputs of a program over the box into the cells of other tiles.
    pub(crate) fn fold(
        &self,
        program: &Program,
        folds: &[Fold],
        tiles: Tiles<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let Some(first) = self.writes.first() else { return Ok(()) };
        // The cells of sums have many words; places count words.
        let cell = folds[0].cell(program.outputs()[0])?.elements;
        let cell = isize::try_from(cell).unwrap_or(isize::MAX);
        let mut strides: SmallVec<[isize; 16]> = SmallVec::new();
        strides.extend(first.strides.iter().map(|stride| stride / cell));
        let sources = self.sources(tiles);
        let mut cells: Few<&mut [u8]> = Few::new();
        let alone = first.strides.iter().all(|stride| *stride == 0);
        for (places, dtype) in self.writes.iter().zip(program.outputs()) {
            let (start, bytes) = span(tiles.at(places.tile));
            let (start, bytes) = match alone {
                // Several of these may be cells of one array.
                true => {
                    let size = folds[0].cell(*dtype)?.bytes();
                    let at = usize::try_from(places.offset / cell).unwrap_or(0) * size;
                    (start.wrapping_add(at.min(bytes)), size.min(bytes.saturating_sub(at)))
                }
                false => (start, bytes),
            };
            // SAFETY: a fold has a slot of its own that lives at the same time as what it folds,
            // or one cell of it, so no two of these memories overlap; the tiles are ours.
            cells.push(unsafe { std::slice::from_raw_parts_mut(start, bytes) });
        }
        let offset = if alone { 0 } else { first.offset / cell };
        let mut into = Folds { folds, cells: &mut cells, offset, strides: &strides };
        // SAFETY: as in `map`.
        let done: Result<(), KernelError> =
            unsafe { reduce_raw(program, &self.shape, &sources, &mut into, scratch) };
        Ok(done?)
    }
}

/// Elements copied as they are from one tile to another.
pub(crate) struct BoxCopy {
    program: Program,
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
        let mut body = Body::new();
        for _ in parts {
            let node = body.input(lane).map_err(KernelError::from)?;
            body.output(node);
        }
        let read = |part: &Part| BoxRead::Tile(LanePlaces::new(from.0, *part, from.1));
        let lanes = BoxLoop {
            shape: shape.to_vec(),
            reads: parts.iter().map(read).collect(),
            writes: parts.iter().map(|part| LanePlaces::new(to.0, *part, to.1)).collect(),
        };
        Ok(Self { program: Program::compile(&body)?, lanes })
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
    pub(crate) fn run(&self, tiles: Tiles<'_>, scratch: &mut Scratch) -> Result<(), Error> {
        self.lanes.map(&self.program, tiles, scratch)
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
