//! Starting the ranks of a program.

use std::fmt;

use pantile_comm::{CommError, Communicator, Options, OptionsError, RankError, threads};
use pantile_comm_mpi::launched;
use pantile_engine::{Scheme, SchemeError, ThreadsError, threads_from_text};
use pantile_spmd::World;

/// How the ranks of a program are started.
#[derive(Clone, Debug)]
#[must_use]
pub struct Launch {
    pub(crate) ranks: Ranks,
    pub(crate) options: Options,
    /// Threads of each rank.
    pub(crate) threads: usize,
    /// How they cut the loops that they share.
    pub(crate) scheme: Scheme,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Ranks {
    /// So many threads of this process.
    Threads(usize),
    /// This process is one rank of a job.
    Mpi,
}

impl Launch {
    /// So many ranks, each a thread of this process.
    pub fn threads(ranks: usize) -> Self {
        let (options, scheme) = (Options::default(), Scheme::default());
        Self { ranks: Ranks::Threads(ranks), options, threads: 1, scheme }
    }

    /// What the environment says: one of the processes of `mpirun` or `srun`, else
    /// `PANTILE_RANKS` threads, else as many as there are cores. `PANTILE_DEADLINE` is the deadline
    /// in seconds, `PANTILE_THREADS` the number of threads of each rank, `PANTILE_SCHEME` how they
    /// cut the loops that they share.
    ///
    /// # Errors
    /// A variable cannot be read, it asks for more than [`threads::MAX_RANKS`] threads, or this is
    /// one of several processes but MPI was not built in.
    pub fn from_environment() -> Result<Self, LaunchError> {
        let variable = |name: &str| std::env::var(name).ok();
        let options = Options::from_text(variable("PANTILE_DEADLINE").as_deref())
            .map_err(LaunchError::Deadline)?;
        let (threads, scheme) = (rank_threads()?, rank_scheme()?);
        if launched(variable).is_some() {
            return match cfg!(feature = "mpi") {
                true => Ok(Self { ranks: Ranks::Mpi, options, threads, scheme }),
                false => Err(LaunchError::WithoutMpi),
            };
        }
        Ok(Self { ranks: Ranks::Threads(thread_ranks()?), options, threads, scheme })
    }

    /// With these options.
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// With so many threads of each rank: they share its large loops. The results are the same.
    ///
    /// # Errors
    /// If a rank cannot have so many.
    pub fn with_threads(mut self, threads: usize) -> Result<Self, LaunchError> {
        self.threads = pantile_engine::check_threads(threads).map_err(LaunchError::Threads)?;
        Ok(self)
    }

    /// With loops cut in this way for the threads of each rank. The results are the same.
    pub fn with_scheme(mut self, scheme: Scheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// Calls `body` once per rank that this process hosts, and gives what each of them returned.
    ///
    /// # Errors
    /// If a rank failed: what every rank of this process has to say. Under MPI the process then
    /// leaves with a non-zero code instead. Also if there are more than [`threads::MAX_RANKS`]
    /// threads; then none is started.
    pub fn run<T: Send, E: fmt::Display + Send>(
        &self,
        body: impl Fn(&World) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, LaunchError> {
        match self.ranks {
            Ranks::Threads(ranks) => {
                check_threads(ranks)?;
                let results = threads::run(ranks, &self.options, |communicator| {
                    body(&self.world(communicator))
                });
                collect(results)
            }
            Ranks::Mpi => self.run_mpi(body),
        }
    }

    /// A rank with its threads.
    fn world(&self, communicator: Communicator) -> World {
        let world = World::new(communicator);
        world.engine().set_threads(self.threads).expect("the number was checked");
        world.engine().set_scheme(self.scheme);
        world
    }

    #[cfg(feature = "mpi")]
    fn run_mpi<T, E: fmt::Display>(
        &self,
        body: impl Fn(&World) -> Result<T, E>,
    ) -> Result<Vec<T>, LaunchError> {
        let result =
            pantile_comm_mpi::run(&self.options, |communicator| body(&self.world(communicator)));
        result.map(|value| vec![value]).map_err(LaunchError::Mpi)
    }

    #[cfg(not(feature = "mpi"))]
    fn run_mpi<T, E>(&self, _: impl Fn(&World) -> Result<T, E>) -> Result<Vec<T>, LaunchError> {
        Err(LaunchError::WithoutMpi)
    }
}

/// As many ranks as the environment says if they are threads: `PANTILE_RANKS`, else one per core.
///
/// # Errors
/// The variable is no positive number, or more than [`threads::MAX_RANKS`].
pub fn thread_ranks() -> Result<usize, LaunchError> {
    let ranks = match std::env::var("PANTILE_RANKS") {
        Err(_) => std::thread::available_parallelism().map_or(1, usize::from),
        Ok(text) => match text.trim().parse() {
            Ok(ranks) if ranks > 0 => ranks,
            _ => return Err(LaunchError::Ranks(text)),
        },
    };
    check_threads(ranks)?;
    Ok(ranks)
}

/// Threads of each rank as the environment says: `PANTILE_THREADS`, else one.
///
/// # Errors
/// The variable is no number of threads that a rank can have.
pub fn rank_threads() -> Result<usize, LaunchError> {
    threads_from_text(std::env::var("PANTILE_THREADS").ok().as_deref())
        .map_err(LaunchError::Threads)
}

/// How the threads of each rank cut the loops that they share, as the environment says:
/// `PANTILE_SCHEME`, else as ever.
///
/// # Errors
/// The variable names no scheme.
pub fn rank_scheme() -> Result<Scheme, LaunchError> {
    Scheme::from_variable(std::env::var("PANTILE_SCHEME").ok().as_deref())
        .map_err(LaunchError::Scheme)
}

/// The coordinator that `PANTILE_CLUSTER` names, unless a launcher has started this process.
pub(crate) fn cluster_address() -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok();
    let named = variable("PANTILE_CLUSTER").filter(|text| !text.trim().is_empty());
    named.filter(|_| launched(variable).is_none())
}

/// Refuses more threads than a machine bears; better a sentence than no answer.
pub(crate) fn check_threads(ranks: usize) -> Result<(), LaunchError> {
    if ranks > threads::MAX_RANKS { Err(LaunchError::TooMany { ranks }) } else { Ok(()) }
}

fn collect<T, E: fmt::Display>(
    results: Vec<Result<T, RankError<E>>>,
) -> Result<Vec<T>, LaunchError> {
    let (mut values, mut faults) = (Vec::new(), Vec::new());
    for (rank, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => values.push(value),
            Err(error) => faults.push((rank, error.to_string())),
        }
    }
    if faults.is_empty() { Ok(values) } else { Err(LaunchError::Failed(faults)) }
}

/// Calls `body` once per rank, as the environment says: [`Launch::from_environment`].
///
/// # Errors
/// As [`Launch::from_environment`] and [`Launch::run`].
pub fn run<T: Send, E: fmt::Display + Send>(
    body: impl Fn(&World) -> Result<T, E> + Sync,
) -> Result<Vec<T>, LaunchError> {
    Launch::from_environment()?.run(body)
}

/// Why a program could not be run on its ranks.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum LaunchError {
    /// `PANTILE_DEADLINE` cannot be read.
    Deadline(OptionsError),
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
    /// More threads than [`threads::MAX_RANKS`].
    TooMany {
        /// How many.
        ranks: usize,
    },
    /// One of several processes, but MPI was not built in.
    WithoutMpi,
    /// MPI could not be started.
    Mpi(CommError),
    /// Ranks failed: each with what it has to say.
    Failed(Vec<(usize, String)>),
}

impl fmt::Display for LaunchError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline(error) => error.fmt(out),
            Self::Ranks(text) => {
                write!(out, "PANTILE_RANKS is `{text}`, expected a positive number of ranks")
            }
            Self::Threads(error) => error.fmt(out),
            Self::Scheme(error) => error.fmt(out),
            Self::Cluster { address, reason } => {
                write!(out, "PANTILE_CLUSTER is `{address}`: {reason}")
            }
            Self::TooMany { ranks } => write!(
                out,
                "got {ranks} ranks, expected at most {} as threads of one process",
                threads::MAX_RANKS
            ),
            Self::WithoutMpi => write!(
                out,
                "this program was started as one of several processes (mpirun or srun), but it was \
                 built without MPI: build it with the feature `mpi` (the Python package: \
                 `MPICC=/path/to/mpicc pip install --no-cache-dir .`), or start it plainly"
            ),
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
