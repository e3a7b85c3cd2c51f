//! Why a picture cannot be drawn.

use std::fmt;

use pantile_geometry::teams::TeamError;

/// Why a picture cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrawError {
    /// There are more things to draw than a reader could look at.
    TooMany {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        got: u128,
        /// The most that are drawn.
        limit: usize,
    },
    /// Paper has two dimensions, and a row of sheets makes three.
    TooManyAxes {
        /// What has the axes.
        what: &'static str,
        /// How many it has.
        ndim: usize,
        /// The most that are drawn.
        limit: usize,
    },
    /// A plan without steps has nothing to show.
    NoSteps,
    /// The partition or the choice of axes is wrong.
    Team(TeamError),
}

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { what, got, limit } => {
                write!(f, "got {got} {what}, expected at most {limit} in a picture")
            }
            Self::TooManyAxes { what, ndim, limit } => {
                write!(f, "got {what} of {ndim} axes, expected at most {limit} in a picture")
            }
            Self::NoSteps => f.write_str("got a plan without steps, expected at least one"),
            Self::Team(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DrawError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Team(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TeamError> for DrawError {
    fn from(error: TeamError) -> Self {
        Self::Team(error)
    }
}

/// Refuses more than `limit` of something.
pub(crate) fn check_count(what: &'static str, got: u128, limit: usize) -> Result<(), DrawError> {
    if got <= limit as u128 { Ok(()) } else { Err(DrawError::TooMany { what, got, limit }) }
}
