//! Why a program cannot be lowered.

mod compile_unit;
mod operations;
mod pass;
mod place;
mod repeat;
mod slices;

use std::fmt;
use std::num::TryFromIntError;

use pantile_lanes::DType;

pub use compile_unit::CompileUnitError;
pub use operations::OperationError;
pub use pass::{PassFault, PassNeeds};
pub use place::PlaceError;
pub use repeat::LoopError;
pub use slices::StridedRangeError;

use pantile_ir::infer::{ShapeError, TypeError, shape_text};
use pantile_ir::{Dim, Place};

/// Why a program cannot be lowered, and where that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerError {
    /// What is wrong.
    pub kind: Box<LowerErrorKind>,
    /// Where.
    pub place: Place,
}

/// Why a program cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LowerErrorKind {
    /// An array cannot live where it has to.
    Place(PlaceError),
    /// An operation cannot be lowered.
    Operation(OperationError),
    /// A loop cannot be lowered.
    Loop(LoopError),
    /// A slice is not one of its array.
    Slice(StridedRangeError),
    /// An operation is not defined for the elements of its operands.
    Type(TypeError),
    /// The shapes of operands do not fit.
    Shape(ShapeError),
    /// A number does not fit its type.
    Range(TryFromIntError),
    /// There is no entry function.
    NoFunction,
    /// There are no ranks.
    NoRanks,
    /// Another number of arguments is given.
    Arguments {
        /// The function.
        function: String,
        /// Arguments given.
        got: usize,
        /// Arguments that it takes.
        expected: usize,
    },
    /// Lengths of an argument are not known.
    UnknownLengths {
        /// The argument.
        number: usize,
    },
    /// An argument of another type is given.
    Argument {
        /// The argument.
        number: usize,
        /// Its shape and type.
        got: (Vec<Dim>, Option<DType>),
        /// What the function declares.
        expected: (Vec<Dim>, Option<DType>),
    },
    /// Loops that are written out become too many operations.
    TooManyOperations {
        /// The most that there may be.
        limit: usize,
    },
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl std::error::Error for LowerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.kind)
    }
}

impl std::error::Error for LowerErrorKind {}

impl LowerErrorKind {
    /// The error, with its place.
    pub(super) fn at(self, place: Place) -> LowerError {
        LowerError { kind: Box::new(self), place }
    }
}

impl fmt::Display for LowerErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(error) => error.fmt(f),
            Self::Operation(error) => error.fmt(f),
            Self::Loop(error) => error.fmt(f),
            Self::Slice(error) => error.fmt(f),
            Self::Type(error) => error.fmt(f),
            Self::Shape(error) => error.fmt(f),
            Self::Range(error) => error.fmt(f),
            Self::NoFunction => f.write_str("the program has no function"),
            Self::NoRanks => f.write_str("got 0 ranks, expected at least 1"),
            Self::Arguments { function, got, expected } => {
                write!(f, "@{function} takes {expected} arguments, got {got}")
            }
            Self::UnknownLengths { number } => {
                write!(f, "argument {number} has lengths that are not known, expected all of them")
            }
            Self::Argument { number, got, expected } => {
                let name = |dtype: Option<DType>| dtype.map_or("no elements", DType::name);
                write!(
                    f,
                    "argument {number}: got {} of {}, expected {} of {}",
                    shape_text(&got.0),
                    name(got.1),
                    shape_text(&expected.0),
                    name(expected.1)
                )
            }
            Self::TooManyOperations { limit } => write!(
                f,
                "loops that are written out turn by turn become more than {limit} operations"
            ),
        }
    }
}

macro_rules! from {
    ($($variant:ident($error:ty);)*) => {$(
        impl From<$error> for LowerErrorKind {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from! {
    Place(PlaceError);
    Operation(OperationError);
    Loop(LoopError);
    Slice(StridedRangeError);
    Type(TypeError);
    Shape(ShapeError);
    Range(TryFromIntError);
}
