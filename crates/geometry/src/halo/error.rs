//! What can be wrong with a layer or a cut.

use std::fmt;

use super::axis::Side;

/// Why halos cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HaloError {
    /// Kernel, stride or dilation is zero, or an axis has no workers.
    Zero {
        /// Which quantity.
        what: &'static str,
    },
    /// A number is above the limit up to which the arithmetic is exact.
    TooLarge {
        /// Which quantity.
        what: &'static str,
        /// What was given.
        got: usize,
        /// The largest that is accepted.
        limit: usize,
    },
    /// The kernel reaches over more cells than the padded input has.
    KernelTooWide {
        /// Cells from the first to the last that one output looks at.
        span: usize,
        /// Extent of the input with padding on both sides.
        padded: usize,
    },
    /// A list has more entries than there are axes.
    TooManyEntries {
        /// Which list.
        what: &'static str,
        /// The number of entries given.
        got: usize,
        /// The number of axes.
        ndim: usize,
    },
    /// Two lists that go axis by axis have different lengths.
    WrongLength {
        /// Which list.
        what: &'static str,
        /// The number of entries given.
        got: usize,
        /// The number of axes.
        ndim: usize,
    },
    /// A layer made for one input extent was put on another.
    WrongExtent {
        /// The extent of the input.
        got: usize,
        /// The extent the layer was made for.
        expected: usize,
    },
    /// A worker's coordinate is not below the number of workers on the axis.
    WorkerOutOfRange {
        /// What was given.
        worker: usize,
        /// The number of workers.
        workers: usize,
    },
    /// A scale factor is not a positive number of reasonable size.
    BadScale,
    /// An exchange with direct neighbours cannot fill the halo.
    HaloSpansNeighbour {
        /// The axis.
        axis: usize,
        /// The side of the sender on which the slab lies.
        side: Side,
        /// Cells to send.
        width: usize,
        /// Cells the sender owns.
        available: usize,
    },
}

impl fmt::Display for HaloError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { what } => write!(f, "got {what} 0, expected at least 1"),
            Self::TooLarge { what, got, limit } => {
                write!(f, "got {what} {got}, expected at most {limit}")
            }
            Self::KernelTooWide { span, padded } => {
                write!(
                    f,
                    "got a kernel that spans {span} cells, expected at most the padded input's {padded}"
                )
            }
            Self::TooManyEntries { what, got, ndim } => {
                write!(f, "got {got} entries of {what}, expected at most {ndim}, one per axis")
            }
            Self::WrongLength { what, got, ndim } => {
                write!(f, "got {got} entries of {what}, expected {ndim}, one per axis")
            }
            Self::WrongExtent { got, expected } => {
                write!(
                    f,
                    "got an input of extent {got}, expected {expected}, for which the layer was made"
                )
            }
            Self::WorkerOutOfRange { worker, workers } => {
                write!(f, "got worker {worker}, expected one below {workers}")
            }
            Self::BadScale => {
                write!(f, "got a scale that is not a number from 2^-20 to 2^20 or yields no output")
            }
            Self::HaloSpansNeighbour { axis, side, width, available } => write!(
                f,
                "got a slab of {width} cells to send {side} on axis {axis}, expected at most the \
                 {available} cells the sender owns: the halo spans more than the direct neighbour"
            ),
        }
    }
}

impl std::error::Error for HaloError {}
