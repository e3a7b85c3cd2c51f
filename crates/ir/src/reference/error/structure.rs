//! What is wrong with a program whatever its operands are.

use std::fmt;

use pantile_lanes::DType;

use crate::Dim;
use crate::infer::shape_text;

/// What is wrong with a program, or with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructureError {
    /// There is no entry function.
    NoFunction,
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
    /// A function gives another number of results.
    Results {
        /// The function.
        function: String,
        /// Results given.
        got: usize,
        /// Results expected.
        expected: usize,
    },
    /// The elements of an argument are not those of its shape and type.
    Argument {
        /// The argument.
        number: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// The number of its elements.
        elements: usize,
        /// Its type.
        dtype: DType,
    },
    /// A value does not belong to the function.
    UnknownValue {
        /// The number of the value.
        value: usize,
        /// The function.
        function: String,
    },
    /// A value is used before it is made.
    Unset {
        /// The number of the value.
        value: usize,
    },
    /// A value is not what its type says.
    WrongValue {
        /// The type of its elements.
        got: DType,
        /// Its shape.
        shape: Vec<usize>,
        /// The declared type of elements.
        expected: Option<DType>,
        /// The declared shape.
        declared: Vec<Dim>,
    },
    /// A block hands on another number of values.
    Values {
        /// Values handed on.
        got: usize,
        /// Values expected.
        expected: usize,
    },
    /// An operation that has to have a result has none.
    NoResult,
    /// A result that has to have elements has none.
    NoElements,
    /// A result of a function on blocks has no elements.
    BlockNoElements,
    /// An operand is missing.
    MissingOperand {
        /// The operand.
        at: usize,
    },
    /// There are fewer operands than the operation takes.
    MissingOperands,
    /// A result of a function differs from member to member.
    ResultOfMember,
    /// An operand differs from member to member.
    OperandOfMember {
        /// The operand.
        at: usize,
    },
    /// An operation of one member.
    OfMember {
        /// The operation.
        op: &'static str,
    },
    /// A loop of no block.
    LoopWithoutBlock,
    /// A region of no block.
    RegionWithoutBlock,
    /// A loop of another number of blocks.
    LoopBlocks {
        /// Its blocks.
        got: usize,
    },
    /// A loop without a condition.
    NoCondition,
}

impl fmt::Display for StructureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFunction => f.write_str("the program has no function"),
            Self::UnknownFunction { name } => write!(f, "there is no function @{name}"),
            Self::Arguments { function, got, expected } => {
                write!(f, "@{function} takes {expected} arguments, got {got}")
            }
            Self::Results { function, got, expected } => {
                write!(f, "@{function} gives {got} results, expected {expected}")
            }
            Self::Argument { number, shape, elements, dtype } => write!(
                f,
                "argument {number} of shape {shape:?} has {elements} elements, or some of another type than {dtype}"
            ),
            Self::UnknownValue { value, function } => {
                write!(f, "value {value} is none of @{function}")
            }
            Self::Unset { value } => write!(f, "value {value} is used before it is made"),
            Self::WrongValue { got, shape, expected, declared } => write!(
                f,
                "got {got} of shape {shape:?}, the type says {} of shape {}",
                expected.map_or("no elements", DType::name),
                shape_text(declared)
            ),
            Self::Values { got, expected } => write!(f, "got {got} values, expected {expected}"),
            Self::NoResult => f.write_str("the operation has no result"),
            Self::NoElements => f.write_str("the result has no elements"),
            Self::BlockNoElements => f.write_str("a result has no elements"),
            Self::MissingOperand { at } => write!(f, "operand {at} is missing"),
            Self::MissingOperands => f.write_str("operands are missing"),
            Self::ResultOfMember => f.write_str("a result differs from member to member"),
            Self::OperandOfMember { at } => {
                write!(f, "operand {at} differs from member to member")
            }
            Self::OfMember { op } => {
                write!(f, "`{op}` is what one member does: it has no meaning for whole arrays")
            }
            Self::LoopWithoutBlock => f.write_str("a loop without a block"),
            Self::RegionWithoutBlock => f.write_str("a region without a block"),
            Self::LoopBlocks { got } => write!(f, "a loop of {got} blocks, expected 2"),
            Self::NoCondition => f.write_str("the loop has no condition"),
        }
    }
}

impl std::error::Error for StructureError {}
