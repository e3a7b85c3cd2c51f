//! What can be wrong with a description of a distribution.

use std::fmt;

use pantile_text::Fault;

/// A description that cannot be a mesh or a distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The text does not parse.
    Text(Fault),
    /// A size is beyond what 64-bit index arithmetic can carry safely.
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The size given.
        got: u128,
        /// The largest size accepted.
        limit: u128,
    },
    /// A list has the wrong number of entries.
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A world rank stands twice in a team, or a label twice in one coordinate's list.
    Repeated {
        /// What is repeated.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// A mesh axis that does not exist, or is named where it may not be.
    MeshAxis {
        /// The name given.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An array axis that does not exist, or whose map cannot be.
    ArrayAxis {
        /// The array axis.
        axis: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An interval of a coordinate that is turned around or leaves what encloses it.
    Interval {
        /// The array axis.
        axis: usize,
        /// The coordinate along the axis' direction.
        coordinate: usize,
        /// What the interval is: cuts, held, room, box.
        what: &'static str,
        /// The interval given.
        got: (i64, i64),
        /// The interval that must enclose it.
        within: (i64, i64),
    },
    /// A label that is not in `0..length` or not in the universe.
    Label {
        /// The array axis.
        axis: usize,
        /// The coordinate whose list has it.
        coordinate: usize,
        /// The label.
        label: i64,
    },
    /// An index or a slice that leaves its axis.
    Slice {
        /// The array axis.
        axis: usize,
        /// First index taken.
        offset: i64,
        /// Distance between indices taken.
        step: i64,
        /// How many are taken.
        length: usize,
        /// Length of the axis.
        extent: usize,
    },
    /// Only copies and sum-terms have a dual.
    NoDual {
        /// The operator of the terms.
        operator: crate::Operator,
    },
    /// A part is written while its owner does not hold it.
    NotHeld {
        /// The array axis.
        axis: usize,
        /// The coordinate that owns but does not hold.
        coordinate: usize,
    },
}

impl Error {
    /// The array axis that the error is about, if it is about one.
    #[must_use]
    pub fn array_axis(&self) -> Option<usize> {
        match self {
            Self::ArrayAxis { axis, .. }
            | Self::Interval { axis, .. }
            | Self::Label { axis, .. }
            | Self::Slice { axis, .. }
            | Self::NotHeld { axis, .. } => Some(*axis),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(fault) => fault.fmt(f),
            Self::TooLarge { what, got, limit } => {
                write!(f, "{what} is {got}, expected at most {limit}")
            }
            Self::Count { what, got, expected } => {
                write!(f, "got {got} {what}, expected {expected}")
            }
            Self::Repeated { what, value } => write!(f, "{what} {value} is listed twice"),
            Self::MeshAxis { name, problem } => write!(f, "mesh axis `{name}` {problem}"),
            Self::ArrayAxis { axis, problem } => write!(f, "array axis {axis} {problem}"),
            Self::Interval { axis, coordinate, what, got, within } => write!(
                f,
                "{what} {}:{} of coordinate {coordinate} on array axis {axis} \
                 is not an interval within {}:{}",
                got.0, got.1, within.0, within.1
            ),
            Self::Label { axis, coordinate, label } => write!(
                f,
                "label {label} of coordinate {coordinate} on array axis {axis} is not on the axis"
            ),
            Self::Slice { axis, offset, step, length, extent } => write!(
                f,
                "slice of {length} from {offset} by {step} leaves array axis {axis} \
                 of length {extent}"
            ),
            Self::NoDual { operator } => write!(
                f,
                "terms of {operator} have no dual: only copies and terms of a sum have one"
            ),
            Self::NotHeld { axis, coordinate } => write!(
                f,
                "coordinate {coordinate} owns but does not hold its part of array axis {axis}: \
                 exchange before writing a part"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Text(fault) => Some(fault),
            _ => None,
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Text(fault)
    }
}
