//! Passes that are taken out of their order.

use std::fmt;

use super::LowerError;

/// What a pass works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassNeeds {
    /// A program.
    Program,
    /// The steps that a program has become.
    Steps,
}

/// Why a pass of the lowering cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PassFault {
    /// The program cannot be lowered.
    Lower(LowerError),
    /// It works on something else than there is.
    Stage {
        /// The pass.
        pass: &'static str,
        /// What it works on.
        needs: PassNeeds,
    },
    /// The program is lowered already.
    LoweredTwice,
}

impl From<LowerError> for PassFault {
    fn from(error: LowerError) -> Self {
        Self::Lower(error)
    }
}

impl fmt::Display for PassFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lower(error) => error.fmt(f),
            Self::Stage { pass, needs: PassNeeds::Steps } => {
                write!(f, "{pass} works on steps: `lower` has to come before it")
            }
            Self::Stage { pass, needs: PassNeeds::Program } => {
                write!(f, "{pass} works on programs: it has to come before `lower`")
            }
            Self::LoweredTwice => f.write_str("these are steps already"),
        }
    }
}

impl std::error::Error for PassFault {}
