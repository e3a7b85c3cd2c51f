//! Operand loads: the inputs of a program, checked, and brought to its slots block by block.

#![allow(unsafe_code, reason = "works through pointers; see the promises of the parent module")]

use pantile_lanes::{DType, Scalar};

use super::kernel::{EACH, LaneSlot};
use super::load::{Strided, ramp, transfer};
use super::program::LoopProgram;
use super::scratch::BlockFrame;
use super::walk::DomainWalk;
use crate::Error;
use crate::pack::worth_streaming;

/// Where an input of a program comes from, through a pointer; see [`Source`](super::Source).
#[derive(Clone, Copy, Debug)]
pub enum RawSource<'a> {
    /// Elements in memory.
    Memory {
        /// The first byte.
        start: *const u8,
        /// How many bytes there are.
        bytes: usize,
        /// The element at position 0, counted in lanes.
        offset: isize,
        /// Lanes from one position to the next, per axis of the domain.
        strides: &'a [isize],
    },
    /// A number that grows along the axes, wrapping; an `I64` lane.
    Index {
        /// Its value at position 0.
        start: i64,
        /// How much it grows from one position to the next, per axis.
        strides: &'a [i64],
    },
    /// The same value everywhere.
    Scalar(Scalar),
}

/// Adds the sources to the loops, as their first operands.
pub(crate) fn add_sources(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[RawSource<'_>],
    walk: &mut DomainWalk,
) -> Result<(), Error> {
    counted("sources", sources.len(), program.inputs().len())?;
    walk.over(shape);
    for (source, dtype) in sources.iter().zip(program.inputs()) {
        match source {
            RawSource::Memory { offset, strides, .. } => {
                walk.operand(*offset as i64, strides.iter().map(|step| *step as i64), true)?;
            }
            RawSource::Index { start, strides } => {
                typed(DType::I64, *dtype)?;
                walk.operand(*start, strides.iter().copied(), false)?;
            }
            RawSource::Scalar(value) => {
                typed(value.dtype(), *dtype)?;
                walk.operand(0, shape.iter().map(|_| 0), false)?;
            }
        }
    }
    Ok(())
}

/// Refuses sources that reach beyond their bytes; the domain is not empty.
pub(crate) fn check_sources(
    program: &LoopProgram,
    sources: &[RawSource<'_>],
    walk: &DomainWalk,
) -> Result<(), Error> {
    for (index, (source, dtype)) in sources.iter().zip(program.inputs()).enumerate() {
        if let RawSource::Memory { bytes, .. } = source {
            inside(walk.reach(index), *bytes, *dtype)?;
        }
    }
    Ok(())
}

/// Refuses another number of things than expected.
pub(crate) fn counted(what: &'static str, got: usize, expected: usize) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(Error::Counts { what, got, expected }) }
}

fn typed(got: DType, expected: DType) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(Error::DTypes { got, expected }) }
}

/// Refuses elements outside of the bytes.
pub(crate) fn inside(
    (lowest, highest): (i128, i128),
    bytes: usize,
    dtype: DType,
) -> Result<(), Error> {
    let elements = bytes / dtype.bytes();
    if lowest >= 0 && highest < elements as i128 {
        return Ok(());
    }
    Err(Error::Reach { lowest, highest, elements })
}

/// Fills the slots of scalars, once for all blocks.
pub(crate) fn fill_scalars(
    program: &LoopProgram,
    sources: &[RawSource<'_>],
    frame: &mut BlockFrame,
) {
    for (index, source) in sources.iter().enumerate() {
        if let RawSource::Scalar(value) = source {
            // SAFETY: the bytes of a scalar are an element of its type.
            unsafe { frame.fill(program, index, value.dtype(), value.as_bytes().as_ptr()) };
        }
    }
}

/// Brings the elements of a block to the slots of the inputs, or the slots to the elements.
///
/// # Safety
/// Promises 1 and 2 of the parent module; the sources were checked.
pub(crate) unsafe fn load(
    program: &LoopProgram,
    sources: &[RawSource<'_>],
    walk: &DomainWalk,
    frame: &mut BlockFrame,
    (first, count): (usize, usize),
) {
    for (index, (source, dtype)) in sources.iter().zip(program.inputs()).enumerate() {
        match source {
            RawSource::Scalar(_) => {}
            _ if frame.repeats[index] => {}
            RawSource::Index { .. } => {
                let (place, block) = (walk.place(index, first), frame.block_of(index, count));
                // SAFETY: the block has room for so many numbers, and they are as wide as these.
                unsafe { ramp(place, walk.stride(index), block, count) };
            }
            RawSource::Memory { start, .. } => {
                let (place, stride) = walk.offsets(index, first);
                let from = Strided { start: element(*start, place, *dtype), stride };
                if stride == 0 {
                    if frame.taken[index] != Some(place) {
                        frame.taken[index] = Some(place);
                        // SAFETY: the element lies inside of the source.
                        unsafe { frame.fill(program, index, *dtype, from.start) };
                    }
                } else if stride == 1 && *dtype != DType::Bool {
                    frame.slots[index] =
                        LaneSlot { start: from.start, step: EACH, non_temporal: false };
                } else {
                    let to = Strided { start: frame.block_of(index, count), stride: 1 };
                    // SAFETY: the elements lie inside of the source, the block is our own.
                    unsafe { transfer(*dtype, [from, to], count, program.vectors()) };
                }
            }
        }
    }
}

/// Prefetches the rows of large sources, all of them: what is computed from a block is looked at
/// before the next one is read, and memory would wait meanwhile.
pub(crate) fn prefetch_rows(
    program: &LoopProgram,
    sources: &[RawSource<'_>],
    walk: &DomainWalk,
    frame: &mut BlockFrame,
) {
    let widest = program.inputs().iter().map(|dtype| dtype.bytes()).max().unwrap_or(0);
    if worth_streaming(walk.row() * widest) {
        frame
            .prefetch_streams
            .extend((0..sources.len()).filter(|source| is_row(sources, walk, *source)));
    }
}

/// True if the elements of a source lie side by side along the rows of a walk.
pub(super) fn is_row(sources: &[RawSource<'_>], walk: &DomainWalk, source: usize) -> bool {
    matches!(sources[source], RawSource::Memory { .. }) && walk.stride(source) == 1
}

/// Whether a block may be as long as a row: every output is an input that is read where it lies. What
/// is copied to a block of our own, also a constant, has room for [`LoopProgram::block`] elements only.
pub(crate) fn reads_in_place(
    program: &LoopProgram,
    sources: &[RawSource<'_>],
    walk: &DomainWalk,
) -> bool {
    let in_place = |(index, (source, dtype)): (usize, (&RawSource<'_>, &DType))| match source {
        RawSource::Memory { start, .. } => {
            let aligned = start.addr().is_multiple_of(dtype.align());
            walk.stride(index) == 1 && *dtype != DType::Bool && aligned
        }
        _ => false,
    };
    program.returns_inputs() && sources.iter().zip(program.inputs()).enumerate().all(in_place)
}

/// Whether rows that follow each other along the innermost loop of rows can be taken as one: every
/// source goes on, or is the same in each row, or in each element of a row. Records those that do
/// not go on.
pub(crate) fn joins_rows(
    sources: &[RawSource<'_>],
    walk: &DomainWalk,
    frame: &mut BlockFrame,
) -> bool {
    let row = i64::try_from(walk.row()).unwrap_or(i64::MAX);
    let joins = (sources.iter().enumerate()).all(|(index, source)| {
        let (along, step) = (walk.stride(index), walk.row_step(index));
        let goes_on = along.checked_mul(row) == Some(step);
        let scalar = matches!(source, RawSource::Scalar(_));
        frame.repeats[index] = !goes_on && !scalar;
        goes_on || scalar || step == 0 || along == 0
    });
    if !joins {
        frame.repeats.fill(false);
    }
    joins
}

/// Fills the slots of sources that do not go on from row to row: once for all blocks of so many
/// rows if each is the same.
///
/// # Safety
/// Promises 1 and 2 of the parent module; the sources were checked, and the rows are a block at
/// most.
pub(crate) unsafe fn repeat_rows(
    program: &LoopProgram,
    sources: &[RawSource<'_>],
    walk: &DomainWalk,
    frame: &mut BlockFrame,
    rows: usize,
) {
    for (index, (source, dtype)) in sources.iter().zip(program.inputs()).enumerate() {
        if !frame.repeats[index] {
            continue;
        }
        let ((place, stride), step) = (walk.offsets(index, 0), walk.row_step(index));
        if step == 0 && frame.taken[index] == Some(place) {
            continue;
        }
        frame.taken[index] = Some(place);
        // Rows beyond the last one are filled only where they are the same.
        let rows = if step == 0 { rows } else { walk.rows_left().min(rows) };
        let mut start = frame.block_of(index, rows * walk.row());
        for row in 0..rows as i64 {
            match source {
                RawSource::Scalar(_) => {}
                RawSource::Index { .. } => {
                    let first = walk.place(index, 0).wrapping_add(step.wrapping_mul(row));
                    // SAFETY: the slot has a block of its own, of numbers as wide as these.
                    unsafe { ramp(first, walk.stride(index), start, walk.row()) };
                }
                RawSource::Memory { start: memory, .. } => {
                    #[allow(clippy::cast_possible_truncation, reason = "checked to be inside")]
                    let place = place + (step * row) as isize;
                    let from = Strided { start: element(*memory, place, *dtype), stride };
                    let to = Strided { start, stride: 1 };
                    // SAFETY: the elements lie inside of the source, the block is our own.
                    unsafe { transfer(*dtype, [from, to], walk.row(), program.vectors) };
                }
            }
            start = start.wrapping_add(walk.row() * dtype.bytes());
        }
    }
}

/// Where an element at a place lies.
#[inline]
pub(super) fn element(start: *const u8, place: isize, dtype: DType) -> *mut u8 {
    start.wrapping_offset(place * dtype.bytes().cast_signed()).cast_mut()
}
