//! Slices that leave their arrays.

use std::fmt;

use crate::Dim;
use crate::infer::shape_text;

/// Why a slice does not lie in its array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SliceFault {
    /// It has another number of axes.
    Axes {
        /// Its axes.
        got: usize,
        /// Those of the array.
        expected: usize,
    },
    /// A negative size, or step 0.
    Step {
        /// The axis.
        axis: usize,
        /// The size.
        size: i64,
        /// The step.
        step: i64,
    },
    /// Indices beyond the array.
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
    /// Its sizes are not those of the declared shape.
    Shape {
        /// Its sizes.
        sizes: Vec<usize>,
        /// The declared shape.
        declared: Vec<Dim>,
    },
}

impl fmt::Display for SliceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Axes { got, expected } => write!(f, "a slice of {got} axes, expected {expected}"),
            Self::Step { axis, size, step } => write!(
                f,
                "axis {axis}: got size {size} and step {step}, expected a size of at least 0 and a step other than 0"
            ),
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
        }
    }
}
