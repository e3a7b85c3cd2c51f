//! Why there is no plan between two distributions.

use std::fmt;

use pantile_geometry::Operator;
use pantile_text::Fault;

/// There is no such plan, or its description is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The text or JSON does not parse.
    Text(Fault),
    /// A description of a distribution is wrong.
    Geometry(pantile_geometry::Error),
    /// The arrays have different shapes.
    Shapes {
        /// Shape of the source.
        source: Vec<usize>,
        /// Shape of the target.
        target: Vec<usize>,
    },
    /// Terms of one operator cannot become terms of another in one plan.
    Operators {
        /// Operator of the source's terms.
        source: Operator,
        /// Operator of the target's terms.
        target: Operator,
    },
    /// The target wants an element of which the source has no copy.
    SourceGap {
        /// The array axis with the gap.
        axis: usize,
        /// The first index on it that nobody holds.
        index: usize,
    },
    /// The source has an element for which the target, of terms, has no place.
    TargetGap {
        /// The array axis with the gap.
        axis: usize,
        /// The first index on it that nobody holds.
        index: usize,
    },
    /// Two indexed axes show different labels.
    Labels {
        /// The array axis.
        axis: usize,
    },
    /// Boxes of copies as a source, or of terms as a target, cut the array too finely.
    Boxes {
        /// Cells into which all their ends cut the array.
        cells: u128,
        /// The most that are looked at.
        limit: usize,
    },
    /// The movement has too many transfers to be listed.
    TooMany {
        /// How many pairs of holders there are, at least.
        pairs: u128,
        /// The most that are listed.
        limit: usize,
    },
    /// Faces exist only where both sides cut each axis over the same mesh axes.
    NoSides,
    /// A path needs at least two distributions.
    ShortPath {
        /// How many there were.
        got: usize,
    },
    /// A movement in rounds needs room for at least one element per message.
    Bound {
        /// The bound in bytes.
        bytes: usize,
        /// The smallest bound that works.
        smallest: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(fault) => fault.fmt(f),
            Self::Geometry(error) => error.fmt(f),
            Self::Shapes { source, target } => write!(
                f,
                "source has shape {source:?} and target {target:?}: a movement keeps the shape"
            ),
            Self::Operators { source, target } => write!(
                f,
                "source has terms of {source} and target terms of {target}: \
                 go through copies in between"
            ),
            Self::SourceGap { axis, index } => write!(
                f,
                "nobody holds index {index} of axis {axis} in the source, but the target wants it"
            ),
            Self::TargetGap { axis, index } => write!(
                f,
                "nobody holds index {index} of axis {axis} in the target, which has terms: \
                 the source's value would be lost"
            ),
            Self::Labels { axis } => {
                write!(f, "the indexed axes {axis} of source and target show different labels")
            }
            Self::Boxes { cells, limit } => write!(
                f,
                "the boxes cut the array into {cells} cells, expected at most {limit}: \
                 boxes are meant as a target of copies or a source of terms"
            ),
            Self::TooMany { pairs, limit } => write!(
                f,
                "the movement has {pairs} pairs of holders, expected at most {limit} to list: \
                 ask for one rank's schedule or for totals"
            ),
            Self::NoSides => f.write_str(
                "source and target do not cut each axis over the same mesh axes: \
                 their tiles have no common sides",
            ),
            Self::ShortPath { got } => {
                write!(f, "a path of {got} distributions, expected at least 2")
            }
            Self::Bound { bytes, smallest } => write!(
                f,
                "rounds of at most {bytes} bytes hold no element: expected at least {smallest}"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Text(fault) => Some(fault),
            Self::Geometry(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Text(fault)
    }
}

impl From<pantile_geometry::Error> for Error {
    fn from(error: pantile_geometry::Error) -> Self {
        match error {
            pantile_geometry::Error::Text(fault) => Self::Text(fault),
            other => Self::Geometry(other),
        }
    }
}
