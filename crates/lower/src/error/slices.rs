//! Slices that are none of their arrays.

use std::fmt;

use pantile_ir::Dim;
use pantile_ir::infer::shape_text;

/// Why a slice, or an index, is not one of its array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StridedRangeError {
    /// An entry that is an operand has none.
    MissingOperand,
    /// Another number of axes.
    Axes {
        /// Axes of the slice.
        got: usize,
        /// Axes of the array.
        expected: usize,
    },
    /// A negative size.
    Size {
        /// The axis.
        axis: usize,
        /// The size.
        size: i64,
    },
    /// Indices beyond the array, or step 0.
    Bounds {
        /// The axis.
        axis: usize,
        /// How many indices.
        size: i64,
        /// The first.
        offset: i64,
        /// The distance between two.
        step: i64,
        /// The length of the axis.
        length: usize,
    },
    /// The sizes are not those of the declared shape.
    Shape {
        /// The sizes.
        sizes: Vec<usize>,
        /// The declared shape.
        declared: Vec<Dim>,
    },
    /// A single index beyond the array.
    Index {
        /// The axis.
        axis: usize,
        /// The index.
        index: i64,
        /// The length of the axis.
        length: usize,
    },
    /// An index depends on values that are computed.
    UnknownIndex,
}

impl fmt::Display for StridedRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingOperand => f.write_str("a slice lacks an operand"),
            Self::Axes { got, expected } => {
                write!(f, "a slice has {got} axes, expected {expected}")
            }
            Self::Size { axis, size } => {
                write!(f, "axis {axis}: got size {size}, expected 0 or more")
            }
            Self::Bounds { axis, size, offset, step, length } => write!(
                f,
                "axis {axis}: {size} indices from {offset} by {step} leave the {length} of the array"
            ),
            Self::Shape { sizes, declared } => {
                write!(
                    f,
                    "a slice of sizes {sizes:?} is no array of shape {}",
                    shape_text(declared)
                )
            }
            Self::Index { axis, index, length } => {
                write!(f, "axis {axis}: index {index} is not among the {length} of the array")
            }
            Self::UnknownIndex => f.write_str("an index is not known before the program runs"),
        }
    }
}

impl std::error::Error for StridedRangeError {}
