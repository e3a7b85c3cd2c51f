//! Why a partition cannot be made or a movement cannot be run.

use std::fmt;

use pantile_geometry::halo::HaloError;
use pantile_geometry::teams::{CellError, TeamError};

/// Why a partition cannot be made or a movement cannot be run. Errors about arguments are the same
/// on every rank that takes part, and leave everything as it was.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The team does not exist.
    Team(TeamError),
    /// The distribution does not exist.
    Geometry(pantile_geometry::Error),
    /// The halos do not exist.
    Halo(HaloError),
    /// The movement does not exist, or the ranks could not work together.
    Engine(pantile_engine::Error),
    /// A worker outside of a partition asked what only members can.
    Inactive {
        /// What was asked.
        asked: &'static str,
    },
    /// A tensor has as many elements as its shape says, or does not exist.
    Elements {
        /// The shape.
        shape: Vec<usize>,
        /// Number of elements given.
        got: usize,
    },
    /// Two workers that should have tensors of one type and shape do not.
    Unequal {
        /// In which movement.
        name: &'static str,
        /// World rank and tensor of one of them.
        one: (usize, String),
        /// World rank and tensor of the other.
        other: (usize, String),
    },
    /// A worker's tensor has the wrong number of axes, or an axis of the wrong length.
    WrongShape {
        /// In which movement.
        name: &'static str,
        /// World rank of the worker.
        rank: usize,
        /// Its tensor.
        got: Vec<usize>,
        /// What was expected, in words.
        expected: String,
    },
    /// Two partitions that should have the same number of axes do not.
    Dimensions {
        /// In which movement.
        name: &'static str,
        /// Axes of the source partition.
        source: usize,
        /// Axes of the target partition.
        target: usize,
    },
    /// The adjoint needs to know what the last `forward` saw, and there was none.
    NoForward {
        /// In which movement.
        name: &'static str,
    },
    /// An axis of length 1 cannot be spread over several workers.
    ShortAxis {
        /// The axis.
        axis: usize,
        /// Number of workers along it.
        workers: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Team(error) => error.fmt(out),
            Self::Geometry(error) => error.fmt(out),
            Self::Halo(error) => error.fmt(out),
            Self::Engine(error) => error.fmt(out),
            Self::Inactive { asked } => {
                write!(out, "{asked} was asked by a worker that is not in the partition")
            }
            Self::Elements { shape, got } => {
                write!(out, "a tensor of shape {shape:?} does not have {got} elements")
            }
            Self::Unequal { name, one, other } => write!(
                out,
                "{name}: rank {} has {}, but rank {} has {}, expected equal tensors",
                one.0, one.1, other.0, other.1
            ),
            Self::WrongShape { name, rank, got, expected } => {
                write!(
                    out,
                    "{name}: rank {rank} has a tensor of shape {got:?}, expected {expected}"
                )
            }
            Self::Dimensions { name, source, target } => write!(
                out,
                "{name}: the source partition has {source} axes, the target partition {target}, \
                 expected the same number"
            ),
            Self::NoForward { name } => {
                write!(out, "{name}: the adjoint was asked for before any forward")
            }
            Self::ShortAxis { axis, workers } => write!(
                out,
                "axis {axis} has length 1, but the target partition has {workers} workers along it"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Team(error) => Some(error),
            Self::Geometry(error) => Some(error),
            Self::Halo(error) => Some(error),
            Self::Engine(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TeamError> for Error {
    fn from(error: TeamError) -> Self {
        Self::Team(error)
    }
}

impl From<pantile_geometry::Error> for Error {
    fn from(error: pantile_geometry::Error) -> Self {
        Self::Geometry(error)
    }
}

impl From<CellError> for Error {
    fn from(error: CellError) -> Self {
        match error {
            CellError::Geometry(error) => Self::Geometry(error),
            CellError::Team(error) => Self::Team(error),
        }
    }
}

impl From<HaloError> for Error {
    fn from(error: HaloError) -> Self {
        Self::Halo(error)
    }
}

impl From<pantile_engine::Error> for Error {
    fn from(error: pantile_engine::Error) -> Self {
        Self::Engine(error)
    }
}
