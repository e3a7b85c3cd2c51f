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
    /// No element type has this name.
    UnknownDType {
        /// What was written.
        name: String,
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
    /// Bytes do not fill whole aligned elements.
    Misfit {
        /// The element type.
        dtype: DType,
        /// The number of bytes.
        bytes: usize,
    },
    /// A value has another element type than the loop.
    DTypes {
        /// The type of the value.
        got: DType,
        /// The type of the loop.
        expected: DType,
    },
    /// A byte is no truth value.
    NotBool {
        /// The byte.
        got: u8,
        /// Its offset in the buffer.
        offset: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { operator, dtype } => {
                write!(f, "operator {operator} is not defined for elements of type {dtype}")
            }
            Self::UnknownDType { name } => {
                write!(f, "got element type {name:?}, expected one of bool, i8 ... u64, ")?;
                write!(f, "f32, f64, c64, c128")
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
            Self::Misfit { dtype, bytes } => {
                write!(f, "{bytes} bytes are not whole and aligned elements of type {dtype}")
            }
            Self::DTypes { got, expected } => {
                write!(f, "got a value of type {got}, expected {expected}")
            }
            Self::NotBool { got, offset } => {
                write!(f, "byte {offset} is {got}, expected 0 or 1 as a truth value")
            }
        }
    }
}

impl std::error::Error for Error {}
