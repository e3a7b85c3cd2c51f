//! What can be wrong with a layout, a loop or its buffers.

use std::fmt;

use pantile_geometry::Operator;

use crate::DType;

/// Why a layout, a loop or a call was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The element type has no such combination.
    Unsupported {
        /// The operator.
        operator: Operator,
        /// The element type.
        dtype: DType,
    },
    /// The element type has no products of matrices.
    Product {
        /// The element type.
        dtype: DType,
    },
    /// A slab and a shape have different numbers of axes.
    Axes {
        /// Axes of the slab.
        slab: usize,
        /// Axes of the shape.
        shape: usize,
    },
    /// A place lies outside of the local shape.
    Outside {
        /// The axis.
        axis: usize,
        /// One past the last place that is used.
        stop: usize,
        /// The length of the axis.
        length: usize,
    },
    /// More elements than offsets can count.
    TooLarge,
    /// Two sides of a loop have different numbers of elements.
    Lengths {
        /// Elements of the source.
        source: usize,
        /// Elements of the target.
        target: usize,
    },
    /// No element has this many bytes.
    ElementBytes {
        /// The number of bytes.
        got: usize,
    },
    /// A buffer ends before the last element that a loop uses.
    Short {
        /// Bytes of the buffer.
        got: usize,
        /// Bytes that the loop reaches.
        expected: usize,
    },
    /// Bytes are not elements.
    Elements(pantile_lanes::Error),
    /// A value has another element type than the loop.
    DTypes {
        /// The type of the value.
        got: DType,
        /// The type of the loop.
        expected: DType,
    },
    /// Sources, targets, strides or the like are not as many as they should be.
    Counts {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A source or target reaches beyond its memory.
    Reach {
        /// The lowest place that is used, in elements.
        lowest: i128,
        /// The highest place that is used.
        highest: i128,
        /// Elements of the memory.
        elements: usize,
    },
    /// A target may share elements with itself, with another one, or with a source that is not
    /// the same.
    Overlap {
        /// The number of the target.
        target: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { operator, dtype } => {
                write!(f, "operator {operator} is not defined for elements of type {dtype}")
            }
            Self::Product { dtype } => {
                write!(f, "products of matrices of type {dtype} are not defined, expected numbers")
            }
            Self::Axes { slab, shape } => {
                write!(f, "slab has {slab} axes, expected {shape} as in the local shape")
            }
            Self::Outside { axis, stop, length } => {
                write!(f, "places of axis {axis} reach up to {stop}, expected at most {length}")
            }
            Self::TooLarge => write!(f, "got more elements than offsets can count"),
            Self::Lengths { source, target } => {
                write!(
                    f,
                    "source has {source} elements, target has {target}; expected equally many"
                )
            }
            Self::ElementBytes { got } => {
                write!(f, "got elements of {got} bytes, expected 1, 2, 4, 8 or 16")
            }
            Self::Short { got, expected } => {
                write!(f, "buffer has {got} bytes, expected at least {expected}")
            }
            Self::Elements(error) => error.fmt(f),
            Self::DTypes { got, expected } => {
                write!(f, "got a value of type {got}, expected {expected}")
            }
            Self::Counts { what, got, expected } => {
                write!(f, "got {got} {what}, expected {expected}")
            }
            Self::Reach { lowest, highest, elements } => {
                write!(f, "places {lowest} to {highest} are used, expected them in 0..{elements}")
            }
            Self::Overlap { target } => {
                write!(f, "target {target} may share elements with others, expected them apart")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<pantile_lanes::Error> for Error {
    fn from(error: pantile_lanes::Error) -> Self {
        Self::Elements(error)
    }
}
