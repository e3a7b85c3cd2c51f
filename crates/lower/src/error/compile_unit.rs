//! Texts that are no compile units.

use std::fmt;

use pantile_geometry::Distribution;
use pantile_text::Fault;

use pantile_ir::verify::Finding;

/// Why a text is no compile unit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileUnitError {
    /// The first line says neither `program` nor `move`.
    Head {
        /// The line, or its first letters.
        got: String,
    },
    /// A line that no compile unit has.
    Line {
        /// The line, or its first letters.
        got: String,
    },
    /// A number is none.
    Number {
        /// What stands there.
        got: String,
    },
    /// No element type has this name.
    ElementType {
        /// The name.
        got: String,
    },
    /// A team without a name in quotes.
    Team {
        /// What stands there.
        got: String,
    },
    /// A movement does not say from where or to where.
    Side {
        /// The line.
        got: String,
        /// The word that it has to begin with.
        expected: &'static str,
    },
    /// A movement between arrays of different shapes.
    Shapes(Box<[Distribution; 2]>),
    /// A distribution is none.
    Distribution(Box<pantile_geometry::Error>),
    /// A distribution names a rank that the world does not have.
    NoSuchRank {
        /// The distribution.
        text: String,
        /// The rank.
        rank: usize,
        /// Ranks of the world.
        ranks: usize,
    },
    /// Arrays are cut over more ranks than there are, or over none.
    Cut {
        /// The number of ranks.
        got: usize,
        /// Ranks of the world.
        ranks: usize,
    },
    /// The type of an argument does not parse.
    Type(Fault),
    /// The program does not parse.
    Program(Vec<Fault>),
    /// The program is not sound.
    Verify(Vec<Finding>),
}

/// What several errors say, one per line.
fn lines(f: &mut fmt::Formatter<'_>, errors: &[impl fmt::Display]) -> fmt::Result {
    for (number, error) in errors.iter().enumerate() {
        let before = if number == 0 { "" } else { "\n" };
        write!(f, "{before}{error}")?;
    }
    Ok(())
}

impl fmt::Display for CompileUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head { got } => {
                write!(f, "got `{got}`, expected `program on N ranks` or `move TYPE on N ranks`")
            }
            Self::Line { got } => write!(f, "got a line `{got}`"),
            Self::Number { got } => write!(f, "got `{got}`, expected a number"),
            Self::ElementType { got } => write!(f, "got a type `{got}`"),
            Self::Team { got } => write!(f, "got a team `{got}`"),
            Self::Side { got, expected } => write!(f, "got `{got}`, expected `{expected}`"),
            Self::Shapes(sides) => {
                write!(f, "`{}` and `{}` have different shapes", sides[0], sides[1])
            }
            Self::Distribution(error) => error.fmt(f),
            Self::NoSuchRank { text, rank, ranks } => {
                write!(f, "`{text}`: got rank {rank} of {ranks}")
            }
            Self::Cut { got, ranks } => write!(f, "got {got} ranks, expected 1 to {ranks}"),
            Self::Type(fault) => fault.fmt(f),
            Self::Program(faults) => lines(f, faults),
            Self::Verify(findings) => lines(f, findings),
        }
    }
}

impl std::error::Error for CompileUnitError {}
