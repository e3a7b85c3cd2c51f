//! What can be wrong with a request for a partition or for groups.

use std::fmt;

/// Why a partition, a sub-partition or a set of groups cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TeamError {
    /// The null partition has no team to work on.
    Null,
    /// A team needs at least one worker.
    Empty,
    /// A number is above the limit up to which the arithmetic is exact.
    TooLarge {
        /// What was given.
        got: usize,
        /// The largest that is accepted.
        limit: usize,
    },
    /// A rank is not below the size of the team it refers to.
    RankOutOfRange {
        /// What was given.
        rank: usize,
        /// The size of the team.
        size: usize,
    },
    /// A rank was listed twice.
    RepeatedRank {
        /// The rank in question.
        rank: usize,
    },
    /// The two partitions descend from different root teams.
    DifferentRoots,
    /// A Cartesian shape does not fill the team.
    ShapeDoesNotFill {
        /// The shape that was given.
        shape: Vec<usize>,
        /// The size of the team.
        size: usize,
    },
    /// The operation needs a Cartesian shape and the partition has none.
    NotCartesian,
    /// A list has not one entry per axis.
    WrongLength {
        /// The number of entries given.
        got: usize,
        /// The number of axes.
        ndim: usize,
    },
    /// An axis is negative or not below the number of axes.
    AxisOutOfRange {
        /// What was given.
        axis: isize,
        /// The number of axes.
        ndim: usize,
    },
    /// An axis was listed twice.
    RepeatedAxis {
        /// The axis in question.
        axis: isize,
    },
    /// The shapes of the two sides do not fit a broadcast or reduction.
    Incompatible {
        /// Shape of the side with the roots, after reversal and before padding.
        small: Vec<usize>,
        /// Shape of the other side, after reversal.
        large: Vec<usize>,
    },
}

impl fmt::Display for TeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => write!(f, "got the null partition, expected one with a team"),
            Self::Empty => write!(f, "got no ranks, expected at least one"),
            Self::TooLarge { got, limit } => write!(f, "got {got}, expected at most {limit}"),
            Self::RankOutOfRange { rank, size } => {
                write!(f, "got rank {rank}, expected one below the team's size {size}")
            }
            Self::RepeatedRank { rank } => {
                write!(f, "got rank {rank} more than once, expected ranks without repeats")
            }
            Self::DifferentRoots => {
                write!(f, "got partitions of different root teams, expected the same root")
            }
            Self::ShapeDoesNotFill { shape, size } => write!(
                f,
                "got shape {}, expected positive extents with product {size}",
                Extents(shape)
            ),
            Self::NotCartesian => {
                write!(f, "got a partition without a shape, expected a Cartesian one")
            }
            Self::WrongLength { got, ndim } => {
                write!(f, "got {got} entries, expected one for each of {ndim} axes")
            }
            Self::AxisOutOfRange { axis, ndim } => {
                write!(f, "got axis {axis}, expected one from -{ndim} to below {ndim}")
            }
            Self::RepeatedAxis { axis } => {
                write!(f, "got axis {axis} more than once, expected axes without repeats")
            }
            Self::Incompatible { small, large } => write!(
                f,
                "got shape {} on the side of the roots against {}, expected no more axes and, \
                 aligned at the last axis, equal extents or 1",
                Extents(small),
                Extents(large)
            ),
        }
    }
}

impl std::error::Error for TeamError {}

/// Prints a shape as `2x3x2`, and the shape without axes as `()`.
pub(super) struct Extents<'a>(pub(super) &'a [usize]);

impl fmt::Display for Extents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, "()");
        }
        for (axis, extent) in self.0.iter().enumerate() {
            write!(f, "{}{extent}", if axis == 0 { "" } else { "x" })?;
        }
        Ok(())
    }
}
