//! Why operands have no common shape.

use std::fmt;

use super::shape_text;
use crate::Dim;

/// Why the shapes of operands and the attributes of an operation do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// Two lengths of one axis are unequal, and none is 1.
    Lengths {
        /// The axis of the result.
        axis: usize,
        /// One length.
        one: usize,
        /// The other.
        other: usize,
    },
    /// An operand of a matrix product has no axis.
    MatMulAxes {
        /// Axes of the left operand.
        left: usize,
        /// Axes of the right one.
        right: usize,
    },
    /// The contracted axes of a matrix product have unequal lengths.
    Contracted {
        /// The shape of the left operand.
        left: Vec<Dim>,
        /// The shape of the right one.
        right: Vec<Dim>,
        /// The contracted axes.
        axes: [usize; 2],
        /// Their lengths.
        lengths: [usize; 2],
    },
    /// There is not one halo width per axis.
    HaloWidths {
        /// Widths before and behind the owned elements.
        got: [usize; 2],
        /// Axes of the array.
        ndim: usize,
    },
    /// What is inserted does not broadcast to the slice.
    Inserted {
        /// The shape of what is inserted.
        source: Vec<Dim>,
        /// The shape of the slice.
        slice: Vec<Dim>,
    },
    /// The axes are no permutation of those of the array.
    Permutation {
        /// The axes.
        axes: Vec<usize>,
        /// Axes of the array.
        ndim: usize,
    },
    /// The operand of a broadcast has more axes than the result.
    BroadcastAxes {
        /// Axes of the operand.
        got: usize,
        /// Axes of the result.
        expected: usize,
    },
    /// A reduced axis does not exist, or is named twice.
    ReducedAxis {
        /// The axis.
        axis: usize,
        /// Axes of the array.
        ndim: usize,
    },
    /// A stencil has not one weight per point.
    Weights {
        /// The points.
        points: usize,
        /// The weights.
        weights: usize,
    },
    /// A point of a stencil has not one offset per axis.
    Point {
        /// The point.
        point: Vec<i64>,
        /// Axes of the array.
        ndim: usize,
    },
    /// A reshaped array has another number of elements.
    Elements {
        /// Elements of the result.
        got: usize,
        /// Elements of the operand.
        expected: usize,
    },
    /// A cast of a type changes more than what is known of the lengths.
    Cast {
        /// The shape of the operand.
        from: Vec<Dim>,
        /// The shape of the result.
        to: Vec<Dim>,
    },
    /// Blocks have not one length of at least 1 per axis.
    Blocks {
        /// The lengths.
        block: Vec<usize>,
        /// Axes of the array.
        ndim: usize,
    },
    /// A slice has not one entry per axis.
    SliceEntries {
        /// Entries.
        got: usize,
        /// Axes of the array.
        ndim: usize,
    },
    /// A slice of a negative size, or with stride 0.
    SliceStride {
        /// The axis.
        axis: usize,
        /// The size.
        size: i64,
        /// The stride.
        stride: i64,
    },
    /// A slice leaves the array.
    SliceBounds {
        /// The axis.
        axis: usize,
        /// Its first index.
        first: i64,
        /// Its last index.
        last: i128,
        /// The length of the axis.
        length: usize,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths { axis, one, other } => write!(
                f,
                "lengths {one} and {other} of axis {axis} do not go together, expected equal ones or 1"
            ),
            Self::MatMulAxes { left, right } => {
                write!(f, "got operands of {left} and {right} axes, expected at least 1 each")
            }
            Self::Contracted { left, right, axes: [one, other], lengths: [terms, got] } => write!(
                f,
                "got shapes {} and {}: axis {one} of the left has {terms} elements, axis {other} of the right {got}, expected equally many",
                shape_text(left),
                shape_text(right)
            ),
            Self::HaloWidths { got: [low, high], ndim } => {
                write!(f, "got {low} and {high} halo widths, expected one per axis: {ndim}")
            }
            Self::Inserted { source, slice } => write!(
                f,
                "got a source of shape {}, expected one that broadcasts to the slice's {}",
                shape_text(source),
                shape_text(slice)
            ),
            Self::Permutation { axes, ndim } => {
                write!(f, "got axes {axes:?}, expected a permutation of the {ndim} axes")
            }
            Self::BroadcastAxes { got, expected } => {
                write!(f, "got {got} axes, expected at most the {expected} of the result")
            }
            Self::ReducedAxis { axis, ndim } => {
                write!(f, "got axis {axis}, expected different axes below {ndim}")
            }
            Self::Weights { points, weights } => {
                write!(f, "got {points} points and {weights} weights")
            }
            Self::Point { point, ndim } => {
                write!(f, "got point {point:?}, expected one offset per axis: {ndim}")
            }
            Self::Elements { got, expected } => {
                write!(f, "got a shape of {got} elements, expected {expected}")
            }
            Self::Cast { from, to } => write!(
                f,
                "cast from {} to {}, expected compatible shapes and the same elements",
                shape_text(from),
                shape_text(to)
            ),
            Self::Blocks { block, ndim } => {
                write!(f, "got blocks of shape {block:?}, expected {ndim} lengths of at least 1")
            }
            Self::SliceEntries { got, ndim } => {
                write!(f, "got {got} offsets, sizes or strides, expected one per axis: {ndim}")
            }
            Self::SliceStride { axis, size, stride } => write!(
                f,
                "axis {axis}: got size {size} and stride {stride}, expected a size of at least 0 and a stride other than 0"
            ),
            Self::SliceBounds { axis, first, last, length } => {
                write!(f, "axis {axis}: indices {first} to {last} leave the {length} of the array")
            }
        }
    }
}

impl std::error::Error for ShapeError {}
