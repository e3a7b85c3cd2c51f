//! Why elements have no type.

use std::fmt;

use pantile_lanes::{Binary, DType, Unary};

/// Why an operation is not defined for elements of its operands' types.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// A function does not take these types.
    Function(pantile_lanes::Error),
    /// An operation does not take this type.
    NotDefined {
        /// The operation.
        what: &'static str,
        /// The type.
        of: DType,
    },
    /// A condition is not of type bool.
    Condition {
        /// Its type.
        got: DType,
    },
    /// A stencil is of neither f32 nor f64.
    Stencil {
        /// The type of its elements.
        got: DType,
    },
    /// Operands of this type may not become the declared type of the result.
    Choice {
        /// The operation.
        what: &'static str,
        /// The type of all operands together.
        natural: DType,
        /// The declared type.
        wanted: DType,
    },
    /// A function of one operand does not give the declared type.
    Unary {
        /// The function.
        function: Unary,
        /// The type of the operand.
        of: DType,
        /// What it gives.
        gives: DType,
        /// The declared type.
        wanted: DType,
    },
    /// A function of two operands does not give the declared type.
    Binary {
        /// The function.
        function: Binary,
        /// The types of the operands.
        of: (DType, DType),
        /// What it gives.
        gives: DType,
        /// The declared type.
        wanted: DType,
    },
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(error) => error.fmt(f),
            Self::NotDefined { what, of } => {
                write!(f, "{what} is not defined for elements of type {of}")
            }
            Self::Condition { got } => write!(f, "condition has type {got}, expected i1"),
            Self::Stencil { got } => {
                write!(f, "stencil of elements of type {got}, expected f32 or f64")
            }
            Self::Choice { what, natural, wanted } => {
                write!(f, "{what} of {natural} gives {natural}, got the result type {wanted}")
            }
            Self::Unary { function, of, gives, wanted } => {
                write!(f, "{function} of {of} gives {gives}, got the result type {wanted}")
            }
            Self::Binary { function, of: (one, other), gives, wanted } => write!(
                f,
                "{function} of {one} and {other} gives {gives}, got the result type {wanted}"
            ),
        }
    }
}

impl std::error::Error for TypeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Function(error) => Some(error),
            _ => None,
        }
    }
}

impl From<pantile_lanes::Error> for TypeError {
    fn from(error: pantile_lanes::Error) -> Self {
        Self::Function(error)
    }
}
