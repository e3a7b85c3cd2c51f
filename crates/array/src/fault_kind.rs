//! What is wrong with an array, or with asking for its elements.

use std::fmt;

use pantile_comm::threads::MAX_RANKS;
use pantile_engine::{DType, Error as EngineError, ThreadsError};
use pantile_geometry::{Distribution, Rank};
use pantile_ir::Place;
use pantile_ir::verify::Finding;
use pantile_lower::LowerErrorKind;

use super::PipelineError;
use super::error::ArrayError;

/// Elements of a tile, and their type.
pub type TileSize = (usize, DType);

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "a sentence names the fields of its variant")]
pub enum FaultKind {
    /// The array cannot be.
    Array(ArrayError),
    /// Its program cannot be lowered.
    Lower(LowerErrorKind),
    /// What a rank said.
    Engine(EngineError),
    /// What ranks disagree about may be the elements that processes gave, last at this line.
    GivenData { error: EngineError, at: Place },
    /// A program, here or on this rank, needs more memory than there is.
    ProgramMemory { error: EngineError, reason: String, on: Option<Rank> },
    /// Elements that are given or asked for need more memory than there is.
    ElementMemory { error: EngineError, reason: String },
    /// A cluster cannot be used.
    Cluster { address: String, reason: String, error: Option<EngineError> },
    /// A pipeline cannot run.
    Pipeline(PipelineError),
    /// A plan has no cost.
    Cost(pantile_plan::Error),
    /// A program moves something where nothing may move.
    Movement { what: &'static str, bytes: u128 },
    /// Looking moves something where nothing may move.
    Gather { bytes: usize },
    /// A tile of another library has not the length or type that it should have.
    SharedTile { rank: Rank, got: TileSize, expected: TileSize },
    /// A tile that is given has not the length or type that it should have.
    GivenTile { rank: Rank, got: TileSize, expected: TileSize },
    /// The ranks are on the workers of a cluster.
    NotShared,
    /// There are no elements.
    NoElements,
    /// Memory of another library can only be read.
    ReadOnly,
    /// The array was not computed.
    NotComputed,
    /// A distribution is of another shape.
    TargetShape { got: Vec<usize>, shape: Vec<usize> },
    /// A distribution has terms or boxes.
    TargetParts { target: Box<Distribution> },
    /// An axis does not exist.
    IndexAxis { axis: usize, shape: Vec<usize> },
    /// A block has no elements of its own.
    AnyBlock,
    /// Operands belong to two worlds.
    TwoWorlds,
    /// A function gives another type for some blocks.
    BlockType { got: DType, expected: DType, block: Vec<usize> },
    /// There are no blocks.
    NoBlocks,
    /// A function of blocks uses an array from outside.
    OutsideBlock,
    /// A function gives another shape than that of its blocks.
    BlockShape { got: Vec<usize>, block: Vec<usize> },
    /// A program is wrong.
    Program(Vec<Finding>),
    /// A program has no function.
    NoFunction,
    /// A program takes another number of arguments.
    Arguments { name: String, takes: usize, got: usize },
    /// An argument has no elements.
    EmptyArgument,
    /// An argument is no array.
    NoArray,
    /// Axes are no permutation.
    Permutation { axes: Vec<usize>, of: usize },
    /// A value does not fit the slice that it is assigned to.
    Assignment { got: Vec<usize>, expected: Vec<usize> },
    /// Elements are asked for as another type.
    ElementType { got: DType, expected: DType },
    /// An array has not exactly one element.
    OneElement { shape: Vec<usize> },
    /// A list has not as many elements as the shape.
    ElementCount { got: usize, shape: Vec<usize>, expected: usize },
    /// No ranks are asked for.
    NoRanks,
    /// More ranks are asked for than a process can have.
    ManyRanks { ranks: usize },
    /// Ranks cannot have so many threads.
    Threads(ThreadsError),
    /// The threads of workers are told how to cut loops where they are started.
    ClusterScheme,
}

impl FaultKind {
    /// What a rank said, if the program ran.
    pub(crate) fn rank(&self) -> Option<&EngineError> {
        match self {
            Self::Engine(error)
            | Self::GivenData { error, .. }
            | Self::ProgramMemory { error, .. }
            | Self::ElementMemory { error, .. } => Some(error),
            Self::Cluster { error, .. } => error.as_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for FaultKind {
    #[expect(clippy::too_many_lines, reason = "a sentence for each variant")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(error) => error.fmt(f),
            Self::Lower(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
            Self::GivenData { error, at } => write!(
                f,
                "{error}; if their data differ, processes gave different elements for an array, at {at} or before"
            ),
            Self::ProgramMemory { reason, on: None, .. } => write!(f, "computing this: {reason}"),
            Self::ProgramMemory { reason, on: Some(rank), .. } => {
                write!(f, "computing this on rank {rank}: {reason}")
            }
            Self::ElementMemory { reason, .. } => write!(f, "these elements: {reason}"),
            Self::Cluster { address, reason, .. } => write!(f, "cluster {address}: {reason}"),
            Self::Pipeline(error) => error.fmt(f),
            Self::Cost(error) => error.fmt(f),
            Self::Movement { what, bytes } => write!(
                f,
                "a {what} would move {bytes} bytes between ranks, and nothing may move here"
            ),
            Self::Gather { bytes } => write!(
                f,
                "looking at the whole array would gather {bytes} bytes, and nothing may move here"
            ),
            Self::SharedTile { rank, got: (count, dtype), expected: (expected, of) } => {
                write!(f, "rank {rank}: got {count} elements of {dtype}, expected {expected} of {of}")
            }
            Self::GivenTile { rank, got: (count, dtype), expected: (expected, of) } => write!(
                f,
                "rank {rank}: got a tile of {count} elements of {dtype}, expected {expected} of {of}"
            ),
            Self::NotShared => f.write_str(
                "the elements of this array are on the workers of a cluster: their memory cannot be \
                 shared here, only copied",
            ),
            Self::NoElements => f.write_str("it has no elements to look at"),
            Self::ReadOnly => f.write_str(
                "the memory of this array belongs to a library that only lets it be read",
            ),
            Self::NotComputed => f.write_str("the array was not computed"),
            Self::TargetShape { got, shape } => write!(
                f,
                "got a distribution of shape {got:?} for an array of shape {shape:?}"
            ),
            Self::TargetParts { target } => {
                write!(f, "`{target}` has terms or boxes, expected a product of axes")
            }
            Self::IndexAxis { axis, shape } => {
                write!(f, "got axis {axis}, expected one of the {} of {shape:?}", shape.len())
            }
            Self::AnyBlock => f.write_str(
                "this is any block, not one of them: it has no elements to look at, and no meaning \
                 outside of the function that got it",
            ),
            Self::TwoWorlds => f.write_str(
                "arrays of two worlds cannot be operands of one operation: an array stays with the \
                 ranks of the world in which it was made; make both in one world, or copy the \
                 elements of one through memory of the caller",
            ),
            Self::BlockType { got, expected, block } => write!(
                f,
                "the function gives {got} for blocks of shape {block:?}, expected {expected} as for others"
            ),
            Self::NoBlocks => f.write_str("there are no blocks"),
            Self::OutsideBlock => f.write_str(
                "a function of blocks uses an array from outside; give that array to \
                 `Session::map_blocks`, as one of the same shape",
            ),
            Self::BlockShape { got, block } => {
                write!(f, "the function gives shape {got:?} for blocks of shape {block:?}")
            }
            Self::Program(findings) => {
                let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
                f.write_str(&findings.join("\n"))
            }
            Self::NoFunction => f.write_str("the program has no function"),
            Self::Arguments { name, takes, got } => {
                write!(f, "@{name} takes {takes} arguments, got {got}")
            }
            Self::EmptyArgument => f.write_str("the argument has no elements"),
            Self::NoArray => f.write_str("the argument is no array"),
            Self::Permutation { axes, of } => {
                write!(f, "got axes {axes:?}, expected a permutation of the {of} axes")
            }
            Self::Assignment { got, expected } => {
                write!(f, "got a value of shape {got:?} for a slice of shape {expected:?}")
            }
            Self::ElementType { got, expected } => {
                write!(f, "got elements of type {got}, expected {expected}")
            }
            Self::OneElement { shape } => {
                write!(f, "got an array of shape {shape:?}, expected one element")
            }
            Self::ElementCount { got, shape, expected } => {
                write!(f, "got {got} elements for shape {shape:?}, expected {expected}")
            }
            Self::NoRanks => f.write_str("got 0 ranks, expected at least 1"),
            Self::ManyRanks { ranks } => {
                write!(f, "got {ranks} ranks, expected at most {MAX_RANKS} in one process")
            }
            Self::Threads(error) => error.fmt(f),
            Self::ClusterScheme => f.write_str(
                "got a scheme for ranks on the workers of a cluster: how their threads cut loops is \
                 said where they are started, by `pantile worker --scheme`",
            ),
        }
    }
}

impl From<ArrayError> for FaultKind {
    fn from(error: ArrayError) -> Self {
        Self::Array(error)
    }
}

impl From<LowerErrorKind> for FaultKind {
    fn from(error: LowerErrorKind) -> Self {
        Self::Lower(error)
    }
}

impl From<EngineError> for FaultKind {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<PipelineError> for FaultKind {
    fn from(error: PipelineError) -> Self {
        Self::Pipeline(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, Fault, Session};

    /// What is refused is told by its variant, and in a sentence.
    #[test]
    fn refusals_are_variants_with_their_sentences() {
        let world = Session::threads(2).unwrap();
        let a = world.arange(0, 6, 1);
        let check = |fault: Result<(), Fault>, kind: FaultKind, words: &str| {
            let fault = fault.unwrap_err();
            assert_eq!((*fault.kind, words), (kind.clone(), kind.to_string().as_str()));
        };
        let computed = |array: Array| array.compute();
        check(
            a.to_vec::<f64>().map(drop),
            FaultKind::ElementType { got: DType::I64, expected: DType::F64 },
            "got elements of type i64, expected f64",
        );
        check(
            a.item::<i64>().map(drop),
            FaultKind::OneElement { shape: vec![6] },
            "got an array of shape [6], expected one element",
        );
        check(
            computed(world.from_vec(&[2], &[1.0])),
            FaultKind::ElementCount { got: 1, shape: vec![2], expected: 2 },
            "got 1 elements for shape [2], expected 2",
        );
        check(
            computed(a.permute(&[0, 0])),
            FaultKind::Permutation { axes: vec![0, 0], of: 1 },
            "got axes [0, 0], expected a permutation of the 1 axes",
        );
        check(
            computed(a.vecdot(&world.arange(0, 5, 1))),
            FaultKind::Array(ArrayError::VecDot { shapes: [vec![6], vec![5]] }),
            "vecdot of shapes [6] and [5], expected last axes of equal length",
        );
        check(
            computed(world.index(&[2], 3)),
            FaultKind::IndexAxis { axis: 3, shape: vec![2] },
            "got axis 3, expected one of the 1 of [2]",
        );
        check(
            computed(a.choose(1, 2)),
            FaultKind::Array(ArrayError::Condition { got: DType::I64 }),
            "got a condition of type i64, expected bool",
        );
        let reduced =
            |reduction| ArrayError::ReducedAxes { reduction, axes: vec![2], shape: vec![6] };
        check(
            computed(a.sum_along(&[2])),
            FaultKind::Array(reduced("sum")),
            "sum along [2] of shape [6], expected different axes of it",
        );
        let other = Session::threads(1).unwrap().arange(0, 6, 1);
        let two = &a + &other;
        assert_eq!(*two.compute().unwrap_err().kind, FaultKind::TwoWorlds);
        assert_eq!(*Session::threads(0).err().unwrap().kind, FaultKind::NoRanks);
        let many = Session::threads(MAX_RANKS + 1).err().unwrap();
        assert_eq!(*many.kind, FaultKind::ManyRanks { ranks: MAX_RANKS + 1 });
        world.forbid_movement(true);
        let fault = world.dist("block(r)").arange(0, 6, 1).to_vec::<i64>().unwrap_err();
        assert_eq!(*fault.kind, FaultKind::Gather { bytes: 48 });
    }
}
