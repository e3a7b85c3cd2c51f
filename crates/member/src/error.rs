//! Why the program of a member does not run.

use std::fmt;

use pantile_comm::Rank;
use pantile_engine::Error as EngineError;
use pantile_geometry::Error as GeometryError;
use pantile_geometry::slices::SliceError;
use pantile_ir::{DType, Dim, Place};
use pantile_lower::LowerError;

use crate::make::PassError;

/// Why the program of a member does not run.
#[derive(Debug)]
#[non_exhaustive]
pub enum MemberRunError {
    /// The ranks cannot work together any more; what another rank says is in it.
    Engine(EngineError),
    /// The passes refuse the program.
    Pass(PassError),
    /// An operation cannot be executed.
    Operation {
        /// The rank that says so.
        rank: Rank,
        /// The operation.
        op: &'static str,
        /// Where it was written.
        place: Place,
        /// What is wrong.
        fault: Box<OperationFault>,
    },
    /// The arguments are not those that the program takes.
    Arguments {
        /// How many there are.
        got: usize,
        /// How many it takes.
        expected: usize,
    },
    /// The program has no function.
    NoFunction,
    /// A rank cannot be given a program: what the first such rank says.
    Refused {
        /// The rank.
        rank: Rank,
        /// What its passes say.
        sentence: String,
    },
    /// An argument or result has no place that can be told.
    Lower(LowerError),
    /// An argument or result has no place.
    Home(Box<GeometryError>),
}

/// What is wrong with one operation and its operands.
#[derive(Debug)]
#[non_exhaustive]
pub enum OperationFault {
    /// The ranks cannot work together any more.
    Engine(EngineError),
    /// The operation cannot be compiled for these operands.
    Lower(LowerError),
    /// Numbers that are no slice, target or box.
    Slice(SliceError),
    /// An operand is something else.
    Operand {
        /// Its place among the operands.
        at: usize,
        /// What it is.
        got: &'static str,
        /// What is expected.
        expected: &'static str,
    },
    /// A value is read before an operation gave it.
    Unset,
    /// An array is not what its type says.
    WrongType {
        /// Its lengths.
        shape: Vec<usize>,
        /// Its elements.
        dtype: DType,
        /// The lengths that its type says.
        declared: Vec<Dim>,
        /// The elements that its type says.
        expected: Option<DType>,
    },
    /// The parts of an array lie elsewhere than its type says.
    WrongParts {
        /// The first stored row, and the rows of the three parts.
        got: (usize, [usize; 3]),
        /// What the type says.
        declared: (Option<i64>, Vec<Dim>),
    },
    /// A length, offset or index that is out of range.
    Number {
        /// The number.
        got: i64,
        /// What it should be.
        expected: &'static str,
    },
    /// A slice leaves the array.
    Bounds {
        /// The axis.
        axis: usize,
        /// The first index.
        offset: i64,
        /// The number of indices.
        size: i64,
        /// Their distance.
        step: i64,
        /// The length of the axis.
        length: usize,
    },
    /// Shapes that should be equal.
    Shapes {
        /// What there is.
        got: Vec<usize>,
        /// What is expected.
        expected: Vec<usize>,
    },
    /// Operands that have other rows on a member.
    Misaligned {
        /// First row and number of rows of the one.
        one: (usize, usize),
        /// And of the other.
        other: (usize, usize),
    },
    /// Rows that no member owns are asked for.
    NotOwned {
        /// The member that asks.
        member: usize,
        /// The rows of its request.
        rows: (usize, usize),
        /// How many of them members own, each counted as often as it is owned.
        owned: usize,
    },
    /// Columns that the owner of the rows has not stored.
    Columns {
        /// The member that asks.
        member: usize,
        /// The member that owns the rows.
        owner: usize,
        /// The axis.
        axis: usize,
    },
    /// The rows of all members are not the array.
    NotCovered {
        /// The number of rows of the array.
        rows: usize,
    },
    /// Something is written into an array whose parts include halos.
    Halos,
    /// An all-reduce of sums that must not be rounded twice, of memory that holds no reduction.
    NotReduced {
        /// The reduction.
        reduction: &'static str,
    },
    /// Members ask for different things in one collective operation.
    Unlike {
        /// The member that asks for something else than the first.
        member: usize,
    },
    /// The rank is not of the team.
    NotInTeam {
        /// The team.
        team: String,
    },
    /// The executor has no rule for the operation here.
    NoRule,
}

impl fmt::Display for MemberRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Pass(error) => error.fmt(f),
            Self::Operation { rank, op, place, fault } => {
                write!(f, "rank {rank}: {place}: `{op}`: {fault}")
            }
            Self::Arguments { got, expected } => {
                write!(f, "got {got} arguments, expected {expected}")
            }
            Self::NoFunction => f.write_str("the program has no function"),
            Self::Refused { rank, sentence } => write!(f, "rank {rank}: {sentence}"),
            Self::Lower(error) => error.fmt(f),
            Self::Home(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for OperationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Lower(error) => error.fmt(f),
            Self::Slice(error) => error.fmt(f),
            Self::Operand { at, got, expected } => {
                write!(f, "operand {at} is {got}, expected {expected}")
            }
            Self::Unset => f.write_str("a value is read before it is there"),
            Self::WrongType { shape, dtype, declared, expected } => {
                let expected = expected.map_or("no elements".to_owned(), |one| one.to_string());
                let declared = pantile_ir::infer::shape_text(declared);
                write!(f, "got {shape:?} of {dtype}, but the type says {declared} of {expected}")
            }
            Self::WrongParts { got: (offset, rows), declared: (first, parts) } => {
                let first = first.map_or("?".to_owned(), |first| first.to_string());
                let parts: Vec<String> = parts
                    .iter()
                    .map(|rows| rows.map_or("?".to_owned(), |rows| rows.to_string()))
                    .collect();
                write!(
                    f,
                    "got parts of {rows:?} rows from row {offset} on, but the type says {} rows \
                     from row {first} on",
                    parts.join(", ")
                )
            }
            other => other.about_rows(f),
        }
    }
}

impl OperationFault {
    fn about_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { got, expected } => write!(f, "got {got}, expected {expected}"),
            Self::Bounds { axis, offset, size, step, length } => write!(
                f,
                "axis {axis}: {size} indices from {offset} in steps of {step} leave its length {length}"
            ),
            Self::Shapes { got, expected } => {
                write!(f, "got the shape {got:?}, expected {expected:?}")
            }
            Self::Misaligned { one, other } => write!(
                f,
                "the operands have other rows: {} from {} on, and {} from {} on",
                one.1, one.0, other.1, other.0
            ),
            Self::NotOwned { member, rows: (start, end), owned } => write!(
                f,
                "member {member} asks for the rows {start}..{end}, of which members own {owned}, \
                 expected each of them once"
            ),
            Self::Columns { member, owner, axis } => write!(
                f,
                "member {member} asks member {owner} for columns of axis {axis} that it has not stored"
            ),
            Self::NotCovered { rows } => write!(
                f,
                "the rows of all members are not the {rows} rows of the array, each of them once"
            ),
            Self::Halos => f.write_str("the array has halos, which must not be written"),
            Self::NotReduced { reduction } => write!(
                f,
                "{reduction} over members needs memory that holds a reduction of rows on every member"
            ),
            Self::Unlike { member } => {
                write!(f, "member {member} and member 0 ask for different things")
            }
            Self::NotInTeam { team } => write!(f, "this rank is not of team {team}"),
            _ => f.write_str("there is no rule to execute it"),
        }
    }
}

impl std::error::Error for MemberRunError {}

impl std::error::Error for OperationFault {}

macro_rules! from {
    ($($of:ident: $variant:ident($error:ty);)*) => {$(
        impl From<$error> for $of {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from! {
    MemberRunError: Engine(EngineError);
    MemberRunError: Pass(PassError);
    MemberRunError: Lower(LowerError);
    OperationFault: Engine(EngineError);
    OperationFault: Lower(LowerError);
    OperationFault: Slice(SliceError);
}
