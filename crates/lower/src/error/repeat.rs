//! Loops that cannot be lowered.

use std::fmt;

/// Why a loop cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopError {
    /// The counter does not grow.
    Step {
        /// The step.
        got: i64,
    },
    /// Slices depend on a counter whose bounds are not known.
    UnknownBounds,
    /// A loop that has to be written out has too many turns.
    TooManyTurns {
        /// Its turns.
        turns: u64,
        /// The most that there may be.
        limit: u64,
    },
    /// There is no condition.
    NoCondition,
    /// A bound or a condition has axes.
    NotScalar,
    /// A turn hands on another number of values.
    Values {
        /// Values handed on.
        got: usize,
        /// Values that the loop carries.
        expected: usize,
    },
    /// A carried value changes its shape or type.
    Shape {
        /// Its shape.
        before: Vec<usize>,
        /// Its shape in the next turn.
        after: Vec<usize>,
    },
}

impl fmt::Display for LoopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step { got } => write!(f, "got the step {got}, expected at least 1"),
            Self::UnknownBounds => f.write_str(
                "slices depend on the counter of a loop whose bounds are not known before the \
                 program runs",
            ),
            Self::TooManyTurns { turns, limit } => write!(
                f,
                "slices depend on the counter of a loop of {turns} turns, expected at most {limit}"
            ),
            Self::NoCondition => f.write_str("the loop has no condition"),
            Self::NotScalar => f.write_str("got an array, expected a scalar"),
            Self::Values { got, expected } => {
                write!(f, "got {got} values for the next turn, expected {expected}")
            }
            Self::Shape { before, after } => write!(
                f,
                "a carried value of shape {before:?} has shape {after:?} for the next turn"
            ),
        }
    }
}

impl std::error::Error for LoopError {}
