//! Why a movement cannot be made or run.

use std::fmt;

use pantile_comm::{CommError, Rank};
use pantile_kernels::DType;
use pantile_memory::{OutOfMemory, limit};

/// Why a movement cannot be made or run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// There is no such movement.
    Plan(pantile_plan::Error),
    /// The elements cannot be combined, or loops do not fit.
    Kernel(pantile_kernels::Error),
    /// The ranks could not work together.
    Comm(CommError),
    /// A tile has the wrong type or size for the movement.
    WrongTile {
        /// On which rank.
        rank: Rank,
        /// `source` or `target`.
        side: &'static str,
        /// What the movement needs.
        expected: (DType, usize),
        /// What was given.
        got: (DType, usize),
    },
    /// The movement reads cells that it also writes, so source and target cannot be one tile.
    NotInPlace {
        /// On which rank.
        rank: Rank,
    },
    /// A program was made for another number of ranks.
    WrongWorld {
        /// Ranks that it was made for.
        made_for: usize,
        /// Ranks of the world.
        size: usize,
    },
    /// A program got another number of arguments.
    Arguments {
        /// On which rank.
        rank: Rank,
        /// What was given.
        got: usize,
        /// What it takes.
        expected: usize,
    },
    /// The counter of a loop does not grow.
    Step {
        /// On which rank.
        rank: Rank,
        /// The step.
        got: i64,
    },
    /// A program names an array that this rank does not have.
    UnknownArray {
        /// On which rank.
        rank: Rank,
        /// The number of the array.
        id: u64,
    },
    /// The caller did not want to wait any longer; the ranks go on to the end of the program.
    Interrupted,
    /// This process was forked from the one that has the ranks.
    Forked,
    /// The results are not wanted any more.
    Stopped {
        /// Which rank noticed.
        rank: Rank,
    },
    /// A worker of a cluster that had ranks is gone, or does not answer any more.
    WorkerLost {
        /// Its name.
        worker: String,
        /// How that was noticed.
        reason: String,
    },
    /// Ranks that are elsewhere could not do what was asked of them.
    Elsewhere {
        /// What they, or those between, have to say.
        reason: String,
    },
    /// The host of the ranks refuses what was asked; nothing was done, and the world goes on.
    Refused {
        /// Why.
        reason: String,
    },
    /// There is not enough memory.
    OutOfMemory {
        /// For which rank.
        rank: Rank,
        /// What is needed, what is left, and which limit leaves least.
        reason: String,
        /// False if nothing was computed, and the world goes on; true if the world has ended,
        /// because memory was missing in the middle of a program.
        ended: bool,
    },
    /// A rank panicked; that is a fault of this library.
    Panicked {
        /// Which rank.
        rank: Rank,
        /// What it said.
        message: String,
    },
    /// A rank has work, and the system has no thread for it; nothing was done.
    NoThread {
        /// Which rank.
        rank: Rank,
        /// What the system has to say.
        reason: String,
    },
    /// A distribution names a rank that the world does not have.
    NoSuchRank {
        /// The largest rank named.
        rank: Rank,
        /// Number of ranks in the world.
        size: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(out),
            Self::Stopped { rank } => {
                write!(out, "rank {rank}: stopped, because nobody wants the results any more")
            }
            Self::WorkerLost { worker, reason } => {
                write!(out, "worker `{worker}` is lost: {reason}")
            }
            Self::Elsewhere { reason } | Self::Refused { reason } => out.write_str(reason),
            Self::Kernel(error) => error.fmt(out),
            Self::Comm(error) => error.fmt(out),
            Self::WrongTile { rank, side, expected, got } => write!(
                out,
                "rank {rank}: the {side} of the movement has {} elements of {}, got {} of {}",
                expected.1, expected.0, got.1, got.0
            ),
            Self::NotInPlace { rank } => write!(
                out,
                "rank {rank}: the movement reads cells that it also writes, so it needs a source \
                 and a target of its own"
            ),
            Self::WrongWorld { made_for, size } => {
                write!(out, "the program was made for {made_for} ranks, the world has {size}")
            }
            Self::Arguments { rank, got, expected } => {
                write!(out, "rank {rank}: the program takes {expected} arguments, got {got}")
            }
            Self::Step { rank, got } => {
                write!(out, "rank {rank}: the counter of a loop grows by {got}, expected 1 or more")
            }
            Self::UnknownArray { rank, id } => {
                write!(out, "rank {rank}: got array {id}, which it does not have")
            }
            Self::Interrupted => {
                write!(out, "the caller stopped waiting; the ranks go on to the end of the program")
            }
            Self::Forked => write!(
                out,
                "this process was forked: the ranks of its arrays stayed with the parent process; \
                 start a new world here (in Python: pt.init())"
            ),
            Self::OutOfMemory { rank, reason, ended: false } => {
                write!(out, "rank {rank}: {reason}")
            }
            Self::OutOfMemory { rank, reason, ended: true } => {
                write!(out, "rank {rank}: {reason}; this happened in a program, so the ranks ended")
            }
            Self::Panicked { rank, message } => write!(out, "rank {rank} panicked: {message}"),
            Self::NoThread { rank, reason } => {
                write!(out, "rank {rank} has work, but there is no thread for it: {reason}")
            }
            Self::NoSuchRank { rank, size } => {
                write!(out, "the distribution names rank {rank}, but the world has {size} ranks")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Plan(error) => Some(error),
            Self::Kernel(error) => Some(error),
            Self::Comm(error) => Some(error),
            _ => None,
        }
    }
}

impl Error {
    /// What it means for a rank that the system gave no memory.
    pub(crate) fn out_of_memory(rank: Rank, error: OutOfMemory, ended: bool) -> Self {
        let narrowest = limit::narrowest(limit::limits(), &limit::Shares::default());
        let left = narrowest.map_or_else(String::new, |limit| {
            format!(": {} bytes are left of the {} of {}", limit.left, limit.total, limit.kind)
        });
        Self::OutOfMemory { rank, reason: format!("{error}{left}"), ended }
    }
}

impl From<pantile_plan::Error> for Error {
    fn from(error: pantile_plan::Error) -> Self {
        Self::Plan(error)
    }
}

impl From<pantile_kernels::Error> for Error {
    fn from(error: pantile_kernels::Error) -> Self {
        Self::Kernel(error)
    }
}

impl From<CommError> for Error {
    fn from(error: CommError) -> Self {
        Self::Comm(error)
    }
}
