//! Why the results of an operation have no types.

use std::fmt;

use super::{ShapeError, TypeError};

/// Why the results of an operation have no types.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InferError {
    /// It is not defined for the elements of its operands.
    Type(TypeError),
    /// The shapes of its operands do not fit.
    Shape(ShapeError),
    /// An operand is missing.
    Operands {
        /// How many there are.
        got: usize,
        /// The one that is missing.
        number: usize,
    },
    /// An operand has no axes.
    NotArray {
        /// The operand.
        number: usize,
    },
    /// An operand has no elements.
    Handle {
        /// The operand.
        number: usize,
    },
    /// The result is not declared as an array.
    NoArrayResult {
        /// The operation.
        op: &'static str,
    },
    /// A function that the program does not have.
    UnknownFunction {
        /// Its name.
        name: String,
    },
    /// A function takes another number of arguments.
    Arguments {
        /// The function.
        function: String,
        /// Arguments given.
        got: usize,
        /// Arguments that it takes.
        expected: usize,
    },
    /// A function that is applied to blocks has a result without elements.
    HandleResult {
        /// The function.
        function: String,
    },
}

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(error) => error.fmt(f),
            Self::Shape(error) => error.fmt(f),
            Self::Operands { got, number } => {
                write!(f, "got {got} operands, expected more than {number}")
            }
            Self::NotArray { number } => write!(f, "operand {number} is no array"),
            Self::Handle { number } => {
                write!(f, "operand {number} is a handle, expected elements")
            }
            Self::NoArrayResult { op } => write!(f, "{op} has no array as result"),
            Self::UnknownFunction { name } => {
                write!(f, "there is no function @{name} in this program")
            }
            Self::Arguments { function, got, expected } => {
                write!(f, "@{function} takes {expected} arguments, got {got}")
            }
            Self::HandleResult { function } => write!(f, "@{function} gives a handle"),
        }
    }
}

impl std::error::Error for InferError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Type(error) => Some(error),
            Self::Shape(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TypeError> for InferError {
    fn from(error: TypeError) -> Self {
        Self::Type(error)
    }
}

impl From<ShapeError> for InferError {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}
