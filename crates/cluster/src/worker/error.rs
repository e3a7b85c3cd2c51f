//! Why a worker does not do what it is ordered.

use std::fmt;

use pantile_comm::RankError;
use pantile_lower::{CompileUnitError, LowerError};

use super::quota::MemoryShortage;

/// Why a worker does not host the ranks of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JoinError {
    /// The secret does not have 32 bytes.
    Secret,
    /// The number of the world does not have 16 bytes.
    World,
    /// There are so many clients already.
    TooManyClients { limit: usize },
    /// There are so many ranks already, or would be.
    TooManyRanks { limit: usize },
    /// The worker is to host a rank that the world does not have.
    NoSuchRank,
    /// There is no memory for a rank.
    Shortage(MemoryShortage),
    /// The system has no thread for a rank.
    NoThread { reason: String },
}

impl fmt::Display for JoinError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret => out.write_str("a secret of 32 bytes"),
            Self::World => out.write_str("a world of 16 bytes"),
            Self::TooManyClients { limit } => {
                write!(out, "this worker has {limit} clients already")
            }
            Self::TooManyRanks { limit } => {
                write!(out, "this worker can have {limit} ranks at a time")
            }
            Self::NoSuchRank => out.write_str("a rank that the world does not have"),
            Self::Shortage(shortage) => write!(out, "a new session {shortage}"),
            Self::NoThread { reason } => write!(out, "no thread for a rank: {reason}"),
        }
    }
}

/// Why a worker does not take a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgramError {
    /// Its text has too many bytes.
    TooLong { bytes: usize, limit: usize },
    /// Its text has another hash.
    WrongHash,
    /// It was made for another number of ranks.
    WrongRanks { made_for: usize, ranks: usize },
    /// A rank would need more memory than it can have.
    Memory { needed: u64, memory: u64 },
    /// Its text is no program.
    Text(CompileUnitError),
    /// It cannot be lowered.
    Lower(LowerError),
    /// It becomes too many steps.
    TooManySteps { limit: usize },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, limit } => {
                write!(out, "a program of {bytes} bytes, expected at most {limit}")
            }
            Self::WrongHash => out.write_str("a program that is not the one of its hash"),
            Self::WrongRanks { made_for, ranks } => {
                write!(out, "a program for {made_for} ranks, expected one for {ranks}")
            }
            Self::Memory { needed, memory } => write!(
                out,
                "the program needs {needed} bytes of memory on a rank, but each can have {memory}"
            ),
            Self::Text(error) => error.fmt(out),
            Self::Lower(error) => error.fmt(out),
            Self::TooManySteps { limit } => write!(out, "a program of more than {limit} steps"),
        }
    }
}

/// Why a worker does not run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobError {
    /// It was not sent, or forgotten.
    UnknownProgram,
    /// It was refused, or lowering it panicked.
    Program(RankError<ProgramError>),
    /// It takes and makes other numbers of arrays.
    Counts { got: usize, takes: usize, named: usize, made: usize },
    /// A scalar has an unknown type, or too few bytes.
    Number,
}

impl fmt::Display for JobError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProgram => out.write_str("a program that was not sent"),
            Self::Program(error) => error.fmt(out),
            Self::Counts { got, takes, named, made } => {
                write!(out, "got {got} arguments and {named} results, expected {takes} and {made}")
            }
            Self::Number => out.write_str("a number that is none"),
        }
    }
}

/// Why a rank does not keep an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PutError {
    /// It has so many arrays already.
    TooManyArrays { limit: usize },
    /// The executor refuses it.
    Engine(pantile_engine::Error),
}

impl fmt::Display for PutError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyArrays { limit } => write!(out, "the rank keeps {limit} arrays already"),
            Self::Engine(error) => error.fmt(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_what_was_got_and_what_was_expected() {
        let check = |error: &dyn fmt::Display, text: &str| assert_eq!(error.to_string(), text);
        check(&JoinError::Secret, "a secret of 32 bytes");
        check(&JoinError::TooManyClients { limit: 3 }, "this worker has 3 clients already");
        let error = ProgramError::WrongRanks { made_for: 2, ranks: 3 };
        check(&error, "a program for 2 ranks, expected one for 3");
        check(
            &JobError::Program(RankError::Returned(ProgramError::WrongHash)),
            "a program that is not the one of its hash",
        );
        let error = JobError::Counts { got: 1, takes: 2, named: 3, made: 4 };
        check(&error, "got 1 arguments and 3 results, expected 2 and 4");
        check(&PutError::TooManyArrays { limit: 9 }, "the rank keeps 9 arrays already");
    }
}
