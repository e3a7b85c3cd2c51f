//! Why a pipeline cannot run.

use std::fmt;

use pantile_engine::DType;

use super::Combine;

/// Why a function cannot be applied to chunks of arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PipelineError {
    /// No way to combine results has this name.
    UnknownCombine {
        /// The name.
        name: String,
    },
    /// No ways to combine results are given.
    NoCombines,
    /// There are no chunks.
    NoChunks,
    /// No input is split.
    NoSplit,
    /// An input belongs to another world.
    InputOfOtherWorld {
        /// The input.
        input: usize,
    },
    /// An input is split along an axis that it does not have.
    InputAxis {
        /// The input.
        input: usize,
        /// The axis.
        axis: usize,
        /// The shape of the input.
        shape: Vec<usize>,
    },
    /// Inputs are split along axes of different lengths.
    InputLength {
        /// The input and its axis.
        input: (usize, usize),
        /// The length of this axis.
        got: usize,
        /// The first input that is split, and its axis.
        first: (usize, usize),
        /// The length of that one.
        expected: usize,
    },
    /// The function gives another number of results.
    Results {
        /// The chunk.
        chunk: usize,
        /// Results given.
        got: usize,
        /// Ways to combine them.
        expected: usize,
    },
    /// A result does not fit.
    Result {
        /// The chunk.
        chunk: usize,
        /// The result.
        output: usize,
        /// What is wrong with it.
        fault: ResultFault,
    },
}

/// Why a result of the function of a pipeline does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultFault {
    /// It belongs to another world.
    OtherWorld,
    /// It has too few axes to be concatenated.
    Axes {
        /// Its shape.
        shape: Vec<usize>,
        /// The axis.
        axis: usize,
    },
    /// Its shape is not that of chunk 0.
    Shape {
        /// Its shape.
        got: Vec<usize>,
        /// The way to combine it.
        combine: Combine,
        /// The shape of chunk 0.
        expected: Vec<usize>,
    },
    /// Its type is not that of chunk 0.
    Type {
        /// Its type.
        got: DType,
        /// The type of chunk 0.
        expected: DType,
    },
}

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCombine { name } => {
                let names = Combine::NAMED.map(|(name, _)| name).join(", ");
                write!(
                    f,
                    "got combine {name:?}, expected an axis to concatenate along, or one of {names}"
                )
            }
            Self::NoCombines => f.write_str("got no combines, expected one for every output"),
            Self::NoChunks => f.write_str("got 0 chunks, expected at least 1"),
            Self::NoSplit => f.write_str("got no input that is split, expected at least one"),
            Self::InputOfOtherWorld { input } => {
                write!(f, "input {input}: got an array of another world")
            }
            Self::InputAxis { input, axis, shape } => write!(
                f,
                "input {input}: got axis {axis} of an array of shape {shape:?}, expected an axis \
                 below its number of axes"
            ),
            Self::InputLength { input: (input, axis), got, first: (first, along), expected } => {
                write!(
                    f,
                    "input {input}: got length {got} along axis {axis}, expected {expected} as of \
                     input {first} along axis {along}; what every chunk needs whole is not split"
                )
            }
            Self::Results { chunk, got, expected } => write!(
                f,
                "chunk {chunk}: the function gives {got} arrays, expected {expected}: one per combine"
            ),
            Self::Result { chunk, output, fault } => {
                write!(f, "chunk {chunk}, output {output}: {fault}")
            }
        }
    }
}

impl fmt::Display for ResultFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherWorld => f.write_str("the function gives an array of another world"),
            Self::Axes { shape, axis } => write!(
                f,
                "got shape {shape:?} to concatenate along axis {axis}, expected more than {axis} axes"
            ),
            Self::Shape { got, combine, expected } => write!(
                f,
                "the function gives shape {got:?}, expected one for {combine} with {expected:?} of \
                 chunk 0"
            ),
            Self::Type { got, expected } => {
                write!(f, "the function gives {got}, expected {expected} as for chunk 0")
            }
        }
    }
}

impl std::error::Error for PipelineError {}
