//! The same on slices, with everything checked.

use std::ops::Range;

use pantile_lanes::Scalar;

use super::{RawSource, RawTarget, map_raw};
use crate::Error;
use crate::lanes::{LoopProgram, Scratch};

/// Where an input of a program comes from.
///
/// Offsets and strides count lanes: elements of the input's type. A complex array is two inputs
/// with the same strides, multiples of two, and neighbouring offsets. A stride of 0 repeats an
/// element.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Elements in memory.
    Memory {
        /// The memory.
        bytes: &'a [u8],
        /// The element at position 0 of the domain.
        offset: isize,
        /// Lanes from one position to the next, per axis of the domain.
        strides: &'a [isize],
    },
    /// Elements in a buffer of the targets, read before they are written.
    Buffer {
        /// The number of the buffer.
        buffer: usize,
        /// The element at position 0 of the domain.
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

impl<'a> Source<'a> {
    /// The same through a pointer; `find` knows where a buffer is and how many bytes it has.
    pub(crate) fn raw(
        &self,
        find: impl Fn(usize) -> Result<(*const u8, usize), Error>,
    ) -> Result<RawSource<'a>, Error> {
        Ok(match *self {
            Source::Memory { bytes, offset, strides } => {
                let (start, bytes) = (bytes.as_ptr(), bytes.len());
                RawSource::Memory { start, bytes, offset, strides }
            }
            Source::Buffer { buffer, offset, strides } => {
                let (start, bytes) = find(buffer)?;
                RawSource::Memory { start, bytes, offset, strides }
            }
            Source::Index { start, strides } => RawSource::Index { start, strides },
            Source::Scalar(value) => RawSource::Scalar(value),
        })
    }
}

/// Where an output of a program goes; offsets and strides as of [`Source`].
#[derive(Clone, Copy, Debug)]
pub struct OutputTarget<'a> {
    /// The number of the buffer.
    pub buffer: usize,
    /// The element at position 0 of the domain.
    pub offset: isize,
    /// Lanes from one position to the next, per axis of the domain.
    pub strides: &'a [isize],
}

/// Where the outputs of a program go: several may share a buffer.
#[derive(Debug)]
pub struct OutputTargets<'a, 'b> {
    /// The buffers.
    pub buffers: &'a mut [&'b mut [u8]],
    /// One place for each output.
    pub places: &'a [OutputTarget<'a>],
}

/// Runs a program for every element of a domain of this shape; see [`map_raw`].
///
/// # Errors
/// If sources or targets are not as many as inputs and outputs, have other types or numbers of
/// axes, name buffers that are not there, or reach beyond their bytes; or if a target may share
/// elements with another target, or with a source other than itself. Whether they do is judged by
/// strides and offsets, and in doubt they do. Nothing was written then.
pub fn map(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[Source<'_>],
    targets: &mut OutputTargets<'_, '_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let OutputTargets { buffers, places } = targets;
    let memory: Vec<(*mut u8, usize)> =
        buffers.iter_mut().map(|buffer| (buffer.as_mut_ptr(), buffer.len())).collect();
    let find = |buffer: usize| {
        let error = Error::Counts { what: "buffers", got: memory.len(), expected: buffer + 1 };
        memory.get(buffer).copied().ok_or(error)
    };
    let axes = |strides: &[isize]| strides.len() == shape.len();
    if !shape.contains(&0) && places.iter().all(|place| axes(place.strides)) {
        refuse_overlaps(program, shape, sources, places)?;
    }
    let sources: Result<Vec<RawSource<'_>>, Error> = (sources.iter())
        .map(|source| {
            source.raw(|buffer| find(buffer).map(|(start, bytes)| (start.cast_const(), bytes)))
        })
        .collect();
    let targets: Result<Vec<RawTarget<'_>>, Error> = (places.iter())
        .map(|&OutputTarget { buffer, offset, strides }| {
            let (start, bytes) = find(buffer)?;
            Ok(RawTarget { start, bytes, offset, strides })
        })
        .collect();
    // SAFETY: R1, R3; buffers are references, `refuse_overlaps` has compared them with each other.
    unsafe { map_raw(program, shape, &sources?, &targets?, scratch) }
}

/// Elements in a buffer, in bytes.
#[derive(Clone, Copy)]
struct StridedSpan<'a> {
    buffer: usize,
    width: i128,
    offset: isize,
    strides: &'a [isize],
}

/// Refuses a target that may share elements with itself, another one, or a source.
fn refuse_overlaps(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[Source<'_>],
    targets: &[OutputTarget<'_>],
) -> Result<(), Error> {
    let spans: Vec<StridedSpan<'_>> = (targets.iter().zip(program.outputs()))
        .map(|(&OutputTarget { buffer, offset, strides }, dtype)| StridedSpan {
            buffer,
            width: dtype.bytes() as i128,
            offset,
            strides,
        })
        .collect();
    for (index, target) in spans.iter().enumerate() {
        let repeats =
            shape.iter().zip(target.strides).any(|(extent, step)| *extent > 1 && *step == 0);
        let others = spans[..index].iter().any(|other| !target.apart(other, shape));
        let read = sources.iter().zip(program.inputs()).any(|(source, dtype)| {
            let Source::Buffer { buffer, offset, strides } = *source else { return false };
            let source = StridedSpan { buffer, width: dtype.bytes() as i128, offset, strides };
            !target.same(&source, shape) && !target.apart(&source, shape)
        });
        if repeats || others || read {
            return Err(Error::Overlap { target: index });
        }
    }
    Ok(())
}

impl StridedSpan<'_> {
    /// True if both have the same element at every position.
    fn same(&self, other: &Self, shape: &[usize]) -> bool {
        let steps = self.strides.iter().zip(other.strides).zip(shape);
        self.buffer == other.buffer
            && (self.width, self.offset) == (other.width, other.offset)
            && steps.into_iter().all(|((one, other), extent)| one == other || *extent == 1)
    }

    /// True if no byte is in both: for sure, not only by chance.
    fn apart(&self, other: &Self, shape: &[usize]) -> bool {
        let (one, two) = (self.range(shape), other.range(shape));
        if self.buffer != other.buffer || one.end <= two.start || two.end <= one.start {
            return true;
        }
        // All elements lie at multiples of one distance from the first.
        let step = self.distances(shape).chain(other.distances(shape)).fold(0, gcd);
        let offset = other.offset as i128 * other.width - self.offset as i128 * self.width;
        let between = if step == 0 { return false } else { offset.rem_euclid(step) };
        between >= self.width && between + other.width <= step
    }

    /// Bytes between neighbours along the axes.
    fn distances(&self, shape: &[usize]) -> impl Iterator<Item = i128> {
        let axes = self.strides.iter().zip(shape).filter(|(_, extent)| **extent > 1);
        axes.map(|(step, _)| *step as i128 * self.width)
    }

    fn range(&self, shape: &[usize]) -> Range<i128> {
        let start = self.offset as i128 * self.width;
        let mut range = start..start + self.width;
        for (step, extent) in self.strides.iter().zip(shape) {
            let last = *step as i128 * (*extent as i128 - 1) * self.width;
            range = range.start + last.min(0)..range.end + last.max(0);
        }
        range
    }
}

fn gcd(one: i128, other: i128) -> i128 {
    if other == 0 { one.abs() } else { gcd(other, one % other) }
}
