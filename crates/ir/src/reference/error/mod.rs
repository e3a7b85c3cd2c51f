//! Why a program has no results.

mod operands;
mod slice;
mod structure;

use std::fmt;
use std::num::TryFromIntError;

pub use operands::OperandError;
pub use slice::SliceFault;
pub use structure::StructureError;

use crate::infer::{ShapeError, TypeError};

/// Why a program has no results.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The program is not sound: [`verify`](crate::verify::verify) would have said so.
    Structure(StructureError),
    /// An operation has no meaning for its operands.
    Operands(OperandError),
    /// An operation is not defined for the elements of its operands.
    Type(TypeError),
    /// The shapes of operands do not fit.
    Shape(ShapeError),
    /// A function of elements cannot be evaluated.
    Function(pantile_lanes::Error),
    /// A number does not fit its type.
    Range(TryFromIntError),
    /// The arguments or operations compute more elements than they may.
    Budget,
    /// Functions call each other too deep.
    CallDepth {
        /// The last one.
        function: String,
        /// How deep they may.
        limit: usize,
    },
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Structure(error) => error.fmt(f),
            Self::Operands(error) => error.fmt(f),
            Self::Type(error) => error.fmt(f),
            Self::Shape(error) => error.fmt(f),
            Self::Function(error) => error.fmt(f),
            Self::Range(error) => error.fmt(f),
            Self::Budget => f.write_str("the program computes more elements than it may"),
            Self::CallDepth { function, limit } => {
                write!(f, "@{function} is called more than {limit} deep")
            }
        }
    }
}

impl std::error::Error for EvaluationError {}

macro_rules! from {
    ($($variant:ident($error:ty);)*) => {$(
        impl From<$error> for EvaluationError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from! {
    Structure(StructureError);
    Operands(OperandError);
    Type(TypeError);
    Shape(ShapeError);
    Function(pantile_lanes::Error);
    Range(TryFromIntError);
}
