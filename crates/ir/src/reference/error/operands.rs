//! Operands for which an operation has no meaning.

use std::fmt;

use pantile_lanes::{Binary, DType};

use super::SliceFault;
use crate::infer::shape_text;
use crate::{Arith, Dim};

/// Why an operation has no meaning for its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperandError {
    /// A shape of more elements than can be counted.
    TooManyElements {
        /// The shape.
        shape: Vec<usize>,
    },
    /// An array cannot be repeated to a shape.
    Broadcast {
        /// Its shape.
        own: Vec<usize>,
        /// The shape asked for.
        shape: Vec<usize>,
    },
    /// Arrays cannot be repeated to a common shape.
    Together {
        /// Their shapes.
        shapes: Vec<Vec<usize>>,
    },
    /// A negative number of elements.
    Count {
        /// The number.
        got: i64,
    },
    /// A negative length.
    Length {
        /// The length.
        got: i64,
    },
    /// Lengths of a result that nothing says.
    UnknownLengths {
        /// Its declared shape.
        declared: Vec<Dim>,
    },
    /// The step of a loop.
    Step {
        /// The step.
        got: i64,
    },
    /// An array is made with another number of axes.
    Axes {
        /// The operation.
        op: &'static str,
        /// Axes of the result.
        got: usize,
        /// Axes that it has to have.
        expected: usize,
    },
    /// An axis that the array does not have.
    Axis {
        /// The axis.
        axis: usize,
        /// Axes of the array.
        ndim: usize,
    },
    /// Reduced axes that the array does not have, or that are named twice.
    ReducedAxes {
        /// The axes.
        axes: Vec<usize>,
        /// Axes of the array.
        ndim: usize,
    },
    /// Axes that are no permutation of those of the array.
    Permutation {
        /// The axes.
        axes: Vec<usize>,
        /// Axes of the array.
        ndim: usize,
    },
    /// Another number of elements in a new shape.
    Elements {
        /// Elements of the shape.
        got: usize,
        /// Elements of the array.
        expected: usize,
    },
    /// An index beyond the array, or beyond its axes.
    Index {
        /// The index.
        at: Vec<i64>,
        /// The shape of the array.
        shape: Vec<usize>,
    },
    /// An operand that has to be an index has another type.
    NotIndex {
        /// The operand.
        at: usize,
        /// The type of its elements.
        dtype: DType,
    },
    /// Random numbers of a type that has none.
    RandomType {
        /// The type.
        dtype: DType,
    },
    /// Random numbers without a seed.
    NoSeed,
    /// A condition that is not of type bool.
    Condition {
        /// Its type.
        got: DType,
    },
    /// The condition of a loop is no bool.
    LoopCondition,
    /// Operands missing in arithmetic of scalars.
    Arith {
        /// The operation.
        arith: Arith,
        /// Operands given.
        got: usize,
    },
    /// A stencil that does not fit its array.
    Stencil {
        /// Its points.
        points: usize,
        /// Its weights.
        weights: usize,
        /// Axes of the array.
        ndim: usize,
        /// The type of elements.
        dtype: DType,
    },
    /// A quotient of other numbers than integers.
    NotIntegers {
        /// The types.
        got: [DType; 2],
    },
    /// A quotient of arrays.
    NotScalars,
    /// A function of two types that do not go together.
    Mixed {
        /// The function.
        function: Binary,
        /// The types.
        of: [DType; 2],
    },
    /// A function without a result.
    NoValue,
    /// A reduction of no elements.
    Empty {
        /// The function.
        function: Binary,
    },
    /// No element is equal to the extreme of all.
    NoExtreme,
    /// A norm of elements that have no magnitude.
    Magnitude,
    /// A slice that does not lie in its array.
    Slice(SliceFault),
    /// A function applied to blocks of no array.
    NoBlocks,
    /// Blocks that do not fit their arrays.
    Blocks {
        /// The shape of the blocks.
        block: Vec<usize>,
        /// The shape of the first array.
        shape: Vec<usize>,
    },
}

impl fmt::Display for OperandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyElements { shape } => {
                write!(f, "an array of shape {shape:?} has too many elements")
            }
            Self::Broadcast { own, shape } => {
                write!(f, "an array of shape {own:?} does not spread to shape {shape:?}")
            }
            Self::Together { shapes } => {
                write!(f, "arrays of shapes {shapes:?} do not go together")
            }
            Self::Count { got } => write!(f, "got {got} elements, expected 0 or more"),
            Self::Length { got } => write!(f, "got the length {got}, expected 0 or more"),
            Self::UnknownLengths { declared } => {
                write!(f, "got shape {}, expected known lengths", shape_text(declared))
            }
            Self::Step { got } => write!(f, "got the step {got}, expected at least 1"),
            Self::Axes { op, got, expected } => {
                write!(f, "{op} has {got} axes, expected {expected}")
            }
            Self::Axis { axis, ndim } => write!(f, "got axis {axis}, expected one of {ndim}"),
            Self::ReducedAxes { axes, ndim } => {
                write!(f, "got axes {axes:?}, expected different ones below {ndim}")
            }
            Self::Permutation { axes, ndim } => {
                write!(f, "got axes {axes:?}, expected each of {ndim} once")
            }
            Self::Elements { got, expected } => {
                write!(f, "got a shape of {got} elements, expected {expected}")
            }
            Self::Index { at, shape } => write!(f, "got {at:?} for an array of shape {shape:?}"),
            Self::NotIndex { at, dtype } => {
                write!(f, "operand {at} has type {dtype}, expected an index")
            }
            Self::RandomType { dtype } => {
                write!(f, "random numbers of type {dtype}, expected f32 or f64")
            }
            Self::NoSeed => f.write_str("random numbers without a seed"),
            Self::Condition { got } => write!(f, "a condition has type {got}, expected bool"),
            Self::LoopCondition => f.write_str("the condition of the loop is no truth value"),
            Self::Arith { arith, got } => write!(f, "{arith:?} got {got} operands"),
            Self::Stencil { points, weights, ndim, dtype } => {
                write!(
                    f,
                    "a stencil of {points} points and {weights} weights on {ndim} axes of {dtype}"
                )
            }
            Self::NotIntegers { got: [one, other] } => {
                write!(f, "got {one} and {other}, expected integers")
            }
            Self::NotScalars => f.write_str("got arrays, expected scalars"),
            Self::Mixed { function, of: [one, other] } => {
                write!(f, "{function} of {one} and {other}")
            }
            Self::NoValue => f.write_str("a function gives nothing"),
            Self::Empty { function } => write!(f, "{function} of no elements is not defined"),
            Self::NoExtreme => f.write_str("no element is the extreme one"),
            Self::Magnitude => f.write_str("a magnitude is no real number"),
            Self::Slice(fault) => fault.fmt(f),
            Self::NoBlocks => f.write_str("map_blocks of no array"),
            Self::Blocks { block, shape } => write!(
                f,
                "blocks of shape {block:?} of arrays of shape {shape:?}, expected arrays of one shape and lengths of at least 1"
            ),
        }
    }
}

impl std::error::Error for OperandError {}
