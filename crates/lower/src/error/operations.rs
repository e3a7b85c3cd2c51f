//! Operations that cannot be lowered.

use std::fmt;

use pantile_lanes::DType;

use pantile_ir::{Op, Reduction};

/// Why an operation cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// There is no way to lower it.
    NotLowered(Box<Op>),
    /// It makes no array from nothing.
    NotCreation(Box<Op>),
    /// It changes an array in place.
    InPlace,
    /// It is what one member does.
    OfMember,
    /// A value of one member is used for all.
    ValueOfMember,
    /// An operand is missing.
    MissingOperand {
        /// The operand.
        number: usize,
    },
    /// A choice between bounds has no operands.
    ClipOperands,
    /// A result that has to have elements has none.
    NoElements,
    /// A result of a function on blocks has no elements.
    BlockNoElements,
    /// A type without a zero.
    NoZero {
        /// The type.
        dtype: DType,
    },
    /// A length of the result is not known.
    UnknownLength,
    /// A negative length.
    Length {
        /// The length.
        got: i64,
    },
    /// A negative number of elements.
    Count {
        /// The number.
        got: i64,
    },
    /// An identity matrix with another number of axes than 2.
    EyeAxes {
        /// Its axes.
        got: usize,
    },
    /// Random numbers of a type that has none.
    RandomType {
        /// The type.
        dtype: DType,
    },
    /// An axis that the array does not have.
    Axis {
        /// The axis.
        axis: i64,
        /// Axes of the array.
        ndim: usize,
    },
    /// An array has more axes than the shape that it is repeated to.
    BroadcastAxes,
    /// Another number of elements in a new shape.
    Elements {
        /// Elements of the shape.
        got: usize,
        /// Elements of the array.
        expected: usize,
    },
    /// Reduced axes that the array does not have.
    ReducedAxes {
        /// The axes.
        axes: Vec<usize>,
        /// Axes of the array.
        ndim: usize,
    },
    /// A reduction of no elements.
    Empty {
        /// The reduction.
        reduction: Reduction,
    },
    /// A sum of no terms.
    NoTerms,
    /// A matrix product of no panels.
    NoPanels,
    /// A factor of a matrix product is not in memory.
    FactorNotStored {
        /// What it is instead.
        kind: String,
    },
    /// No distribution for a matrix product.
    NoProductPlace,
    /// A function that the program does not have.
    UnknownFunction {
        /// Its name.
        name: String,
    },
    /// Arrays and blocks of different shapes.
    BlockShapes,
    /// Too many blocks, or calls too deep.
    TooManyBlocks {
        /// The blocks.
        got: usize,
        /// The most that there may be.
        limit: usize,
    },
    /// An array that is padded is not in memory.
    PaddedNotStored,
    /// An array that a function is applied to is not in memory.
    MappedNotStored,
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLowered(op) => write!(f, "{op:?} cannot be lowered"),
            Self::NotCreation(op) => write!(f, "{op:?} makes nothing"),
            Self::InPlace => f.write_str(
                "insert_slice changes an array in place: turn the program into one of values \
                 first (pass `values`)",
            ),
            Self::OfMember => f.write_str(
                "this operation is what one member does; a program for all members is needed to \
                 run it",
            ),
            Self::ValueOfMember => {
                f.write_str("a value differs from member to member and is used for all")
            }
            Self::MissingOperand { number } => write!(f, "operand {number} is missing"),
            Self::ClipOperands => f.write_str("clip takes three operands"),
            Self::NoElements => f.write_str("the result has no elements"),
            Self::BlockNoElements => f.write_str("a result has no elements"),
            Self::NoZero { .. } => f.write_str("no zero"),
            Self::UnknownLength => f.write_str("a length is not known"),
            Self::Length { got } => write!(f, "got the length {got}, expected 0 or more"),
            Self::Count { got } => write!(f, "got {got} elements, expected 0 or more"),
            Self::EyeAxes { got } => write!(f, "eye has {got} axes, expected 2"),
            Self::RandomType { dtype } => {
                write!(f, "random numbers of type {dtype}, expected f32 or f64")
            }
            Self::Axis { axis, ndim } => write!(f, "got axis {axis}, expected one of {ndim}"),
            Self::BroadcastAxes => f.write_str("more axes than the result has"),
            Self::Elements { got, expected } => {
                write!(f, "got a shape of {got} elements, expected {expected}")
            }
            Self::ReducedAxes { axes, ndim } => {
                write!(f, "got axes {axes:?}, expected axes below {ndim}")
            }
            Self::Empty { reduction } => {
                write!(f, "{} of no elements is not defined", reduction.name())
            }
            Self::NoTerms => f.write_str("no terms"),
            Self::NoPanels => f.write_str("got no panels, expected at least 2"),
            Self::FactorNotStored { kind } => {
                write!(f, "a factor is {kind}, expected an array in memory")
            }
            Self::NoProductPlace => f.write_str("no place for a product"),
            Self::UnknownFunction { name } => write!(f, "there is no function @{name}"),
            Self::BlockShapes => {
                f.write_str("arrays and blocks of map_blocks have different shapes")
            }
            Self::TooManyBlocks { got, limit } => {
                write!(f, "got {got} blocks, expected at most {limit}, and calls at most 8 deep")
            }
            Self::PaddedNotStored => f.write_str("a padded array is in memory"),
            Self::MappedNotStored => f.write_str("a mapped array is in memory"),
        }
    }
}

impl std::error::Error for OperationError {}
