//! Why something could not be read, written or converted.

use crate::Finding;
use pantile_text::Fault;
use std::fmt;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A text could not be read.
    Text(Fault),
    /// The bytes of a header are not what they should be.
    Header {
        /// Which part of the header.
        what: &'static str,
        /// What is there.
        got: String,
        /// What should be there.
        expected: &'static str,
    },
    /// The description breaks rules; all of them are listed.
    Invalid(Vec<Finding>),
    /// The description is right but cannot be said in the other language.
    Inexpressible {
        /// The axis that cannot be said, if it is one axis.
        axis: Option<usize>,
        /// The language that cannot say it.
        language: &'static str,
        /// What it cannot say.
        reason: String,
    },
    /// A distribution cannot be made of it.
    Geometry(pantile_geometry::Error),
    /// Saying it would take more entries than are sensible.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there would be (saturated).
        count: u128,
        /// How many are allowed.
        limit: u128,
    },
}

impl Error {
    /// A header fault.
    pub(crate) fn header(
        what: &'static str,
        got: impl Into<String>,
        expected: &'static str,
    ) -> Self {
        Self::Header { what, got: got.into(), expected }
    }

    /// Something a language cannot say.
    pub(crate) fn inexpressible(
        language: &'static str,
        axis: impl Into<Option<usize>>,
        reason: impl Into<String>,
    ) -> Self {
        Self::Inexpressible { axis: axis.into(), language, reason: reason.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(fault) => fault.fmt(f),
            Self::Header { what, got, expected } => {
                write!(f, "{what} is {got}, expected {expected}")
            }
            Self::Invalid(findings) => {
                let count = findings.len();
                let plural = if count == 1 { "" } else { "s" };
                write!(f, "the description breaks {count} rule{plural}")?;
                findings.iter().try_for_each(|finding| write!(f, "\n{finding}"))
            }
            Self::Inexpressible { axis, language, reason } => {
                if let Some(axis) = axis {
                    write!(f, "axis {axis}: ")?;
                }
                write!(f, "{language} cannot say this: {reason}")
            }
            Self::Geometry(error) => error.fmt(f),
            Self::TooMany { what, count, limit } => {
                write!(f, "{count} {what}, at most {limit} are allowed")
            }
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
        Self::Geometry(error)
    }
}
