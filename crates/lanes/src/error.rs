//! What can be wrong with elements and loop bodies.

use std::fmt;

use crate::DType;

/// Why bytes, a name or a node of a body was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No element type has this name.
    UnknownDType {
        /// What was written.
        name: String,
    },
    /// Bytes do not fill whole aligned elements.
    Misfit {
        /// The element type.
        dtype: DType,
        /// The number of bytes.
        bytes: usize,
    },
    /// A byte is no bool.
    NotBool {
        /// The byte.
        got: u8,
        /// Its offset in the buffer.
        offset: usize,
    },
    /// A complex type as a lane: its parts are.
    NotALane {
        /// The type.
        dtype: DType,
    },
    /// An operation does not take lanes of this type, or not together.
    WrongLane {
        /// The operation.
        op: String,
        /// The type that it got.
        dtype: DType,
    },
    /// A node names one that does not come before it.
    UnknownNode {
        /// The node that it names.
        node: usize,
        /// How many there are.
        nodes: usize,
    },
    /// A node names an input that is not there.
    UnknownInput {
        /// The input that it names.
        input: u32,
        /// How many there are.
        inputs: usize,
    },
    /// A body is run with inputs of another number or of other types.
    WrongInputs {
        /// The types of the inputs given.
        got: Vec<DType>,
        /// Those that the body asks for.
        expected: Vec<DType>,
    },
    /// A function has no meaning for elements of these types.
    WrongTypes {
        /// The name of the function.
        function: &'static str,
        /// The types of its operands.
        dtypes: Vec<DType>,
    },
}

/// Types with commas between them.
fn list(dtypes: &[DType]) -> String {
    dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownDType { name } => {
                write!(f, "got element type {name:?}, expected one of bool, i8 ... u64, ")?;
                write!(f, "f32, f64, c64, c128")
            }
            Self::Misfit { dtype, bytes } => {
                write!(f, "{bytes} bytes are not whole and aligned elements of type {dtype}")
            }
            Self::NotBool { got, offset } => {
                write!(f, "byte {offset} is {got}, expected 0 or 1 as a bool")
            }
            Self::NotALane { dtype } => {
                write!(f, "got a lane of type {dtype}, expected the parts of complex numbers")
            }
            Self::WrongLane { op, dtype } => {
                write!(f, "operation {op} got a lane of type {dtype}, which it does not take")
            }
            Self::UnknownNode { node, nodes } => {
                write!(f, "got node {node}, expected one of the {nodes} before it")
            }
            Self::UnknownInput { input, inputs } => {
                write!(f, "got input {input}, expected one of {inputs}")
            }
            Self::WrongInputs { got, expected } => {
                write!(f, "got inputs ({}), expected ({})", list(got), list(expected))
            }
            Self::WrongTypes { function, dtypes } => {
                write!(f, "function {function} does not take ({})", list(dtypes))
            }
        }
    }
}

impl std::error::Error for Error {}
