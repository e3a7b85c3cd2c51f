//! Why ranks could not be launched, or failed.

use std::fmt;

use pantile_comm::{CommError, OptionsError, threads};
use pantile_engine::{SchemeError, ThreadsError};

/// Why a program could not be run on its ranks.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum LaunchError {
    /// `PANTILE_DEADLINE` cannot be read.
    Deadline(OptionsError),
    /// `PANTILE_BACKEND` names no backend.
    Backend(String),
    /// `PANTILE_RANKS` is no positive number.
    Ranks(String),
    /// A rank cannot have so many threads, or `PANTILE_THREADS` is no number.
    Threads(ThreadsError),
    /// `PANTILE_SCHEME` names no scheme.
    Scheme(SchemeError),
    /// `PANTILE_CLUSTER` names a cluster that cannot be used.
    Cluster {
        /// What it says.
        address: String,
        /// Why.
        reason: String,
    },
    /// There is to be no rank.
    NoRanks,
    /// More ranks in this process than [`threads::MAX_RANKS`].
    TooMany {
        /// How many.
        ranks: usize,
    },
    /// Ranks are to be processes, but MPI was not built in.
    WithoutMpi,
    /// Ranks are to be processes, but no launcher started this one.
    NotLaunched,
    /// Simulated ranks have no caller outside: only functions of ranks run on them.
    Simulated,
    /// A launcher started another number of processes than was asked for.
    Processes {
        /// How many ranks were asked for.
        asked: usize,
        /// How many processes there are.
        started: usize,
    },
    /// MPI could not be started.
    Mpi(CommError),
    /// Ranks failed: each with what it has to say.
    Failed(Vec<(usize, String)>),
}

impl fmt::Display for LaunchError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline(error) => error.fmt(out),
            Self::Backend(text) => {
                write!(out, "PANTILE_BACKEND is `{text}`, expected `threads`, `sim` or `mpi`")
            }
            Self::Ranks(text) => {
                write!(out, "PANTILE_RANKS is `{text}`, expected a positive number of ranks")
            }
            Self::Threads(error) => error.fmt(out),
            Self::Scheme(error) => error.fmt(out),
            Self::Cluster { address, reason } => {
                write!(out, "PANTILE_CLUSTER is `{address}`: {reason}")
            }
            Self::NoRanks => write!(out, "got 0 ranks, expected at least 1"),
            Self::TooMany { ranks } => write!(
                out,
                "got {ranks} ranks, expected at most {} in one process; `pantile explain` takes any \
                 number",
                threads::MAX_RANKS
            ),
            Self::WithoutMpi => write!(
                out,
                "ranks shall be processes of an MPI job (mpirun or srun), but this was built without \
                 MPI: build it with the feature `mpi` (the Python package: `MPICC=/path/to/mpicc pip \
                 install --no-cache-dir .`), or start it plainly, with threads as ranks"
            ),
            Self::NotLaunched => write!(
                out,
                "ranks shall be processes of an MPI job, but no launcher started this process: start \
                 it with mpirun or srun, for example `mpirun -n 4 pantile run ...`"
            ),
            Self::Simulated => {
                write!(out, "simulated ranks have no session, expected threads or processes")
            }
            Self::Processes { asked, started } => {
                write!(out, "-n {asked}: there are {started} processes, expected the same number")
            }
            Self::Mpi(error) => error.fmt(out),
            Self::Failed(faults) => {
                for (number, (rank, fault)) in faults.iter().enumerate() {
                    let gap = if number == 0 { "" } else { "\n" };
                    write!(out, "{gap}rank {rank}: {fault}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for LaunchError {
    /// The sentence itself: this is what a `main` that returns it prints.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::error::Error for LaunchError {}
