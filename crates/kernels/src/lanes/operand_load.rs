//! Operand loads: the inputs of a program, checked, and brought to its slots block by block.

use pantile_lanes::DType;

use super::program::LoopProgram;
use super::scratch::BlockFrame;
use super::walk::DomainWalk;
use crate::Error;
use crate::pack::worth_streaming;
use crate::raw::lanes::RawSource;

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
            frame.fill_scalar(program, index, value);
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
pub(crate) fn is_row(sources: &[RawSource<'_>], walk: &DomainWalk, source: usize) -> bool {
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

/// Where an element at a place lies.
#[inline]
pub(crate) fn element(start: *const u8, place: isize, dtype: DType) -> *mut u8 {
    start.wrapping_offset(place * dtype.bytes().cast_signed()).cast_mut()
}
