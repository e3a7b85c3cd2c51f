//! Launching ranks: which backend, how many, with how many threads; everything that the environment
//! says about it.
//!
//! [`Launch`] is the one place that decides: programs, the command and the Python package ask it.

mod error;
mod session;
mod variables;

use std::fmt;

use pantile_comm::sim::Sim;
use pantile_comm::{Communicator, Options, RankError, threads};
use pantile_engine::{Scheme, check_threads};
use pantile_spmd::RankContext;

pub use error::LaunchError;
#[cfg(feature = "cluster")]
pub use session::cluster_session;
pub use session::session;
pub use variables::{CLUSTER, Environment, VARIABLES, Variable};

/// What ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Threads of this process.
    Threads,
    /// Simulated: one after the other, with messages delayed at random.
    Sim,
    /// Processes of an MPI job, this one among them.
    Mpi,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Threads, Self::Sim, Self::Mpi];

    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Sim => "sim",
            Self::Mpi => "mpi",
        }
    }

    /// True if ranks see each other's memory.
    #[must_use]
    pub fn has_windows(self) -> bool {
        self == Self::Threads
    }
}

/// What a caller asks for; the environment says the rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// What ranks are; else as `PANTILE_BACKEND` says, else processes if a launcher started this one,
    /// else threads.
    pub backend: Option<Backend>,
    /// How many; else as many as processes were started, `PANTILE_RANKS`, or one per core.
    pub ranks: Option<usize>,
    /// Threads of each rank; else `PANTILE_THREADS`, else one.
    pub threads: Option<usize>,
    /// How they cut the loops that they share; else `PANTILE_SCHEME`.
    pub scheme: Option<Scheme>,
}

/// How the ranks of a program are started.
#[derive(Clone, Debug)]
#[must_use]
pub struct Launch {
    pub(crate) backend: Backend,
    /// How many; nothing if only MPI knows.
    ranks: Option<usize>,
    pub(crate) options: Options,
    /// Threads of each rank.
    pub(crate) threads: usize,
    /// How they cut the loops that they share.
    pub(crate) scheme: Scheme,
}

impl Launch {
    /// So many ranks, each a thread of this process.
    pub fn threads(ranks: usize) -> Self {
        let (options, scheme) = (Options::default(), Scheme::default());
        Self { backend: Backend::Threads, ranks: Some(ranks), options, threads: 1, scheme }
    }

    /// What the environment says: one of the processes of `mpirun` or `srun`, else `PANTILE_RANKS`
    /// threads, else as many as there are cores. `PANTILE_DEADLINE` is the deadline in seconds,
    /// `PANTILE_THREADS` the number of threads of each rank, `PANTILE_SCHEME` how they cut the loops
    /// that they share.
    ///
    /// # Errors
    /// As [`Launch::choose`].
    pub fn from_environment() -> Result<Self, LaunchError> {
        Self::choose(Choice::default())
    }

    /// What a caller asks for, and of the rest what the environment says.
    ///
    /// # Errors
    /// A variable that matters cannot be read, there are more than [`threads::MAX_RANKS`] ranks in
    /// this process, or ranks are to be processes but MPI was not built in, no launcher started them,
    /// or it started another number.
    pub fn choose(choice: Choice) -> Result<Self, LaunchError> {
        Self::chosen(choice, &Environment::of_process())
    }

    fn chosen(choice: Choice, environment: &Environment) -> Result<Self, LaunchError> {
        let job = environment.launched();
        let named =
            choice.backend.map_or_else(|| environment.backend(), |named| Ok(Some(named)))?;
        let usual = if job.is_some() { Backend::Mpi } else { Backend::Threads };
        let backend = named.unwrap_or(usual);
        let ranks = match (backend, job) {
            (Backend::Mpi, _) if cfg!(not(feature = "mpi")) => return Err(LaunchError::WithoutMpi),
            (Backend::Mpi, None) => return Err(LaunchError::NotLaunched),
            (Backend::Mpi, Some(job)) => processes(choice.ranks, job.ranks)?,
            (Backend::Threads | Backend::Sim, _) => Some(hosted(choice.ranks, environment)?),
        };
        let threads = match choice.threads {
            Some(threads) => check_threads(threads).map_err(LaunchError::Threads)?,
            None => environment.threads()?,
        };
        let scheme = choice.scheme.map_or_else(|| environment.scheme(), Ok)?;
        Ok(Self { backend, ranks, options: environment.options()?, threads, scheme })
    }

    /// What ranks are.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// How many ranks there will be; nothing if neither the caller nor the launcher says so, and only
    /// MPI knows.
    #[must_use]
    pub fn ranks(&self) -> Option<usize> {
        self.ranks
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
        self.threads = check_threads(threads).map_err(LaunchError::Threads)?;
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
        body: impl Fn(&RankContext) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, LaunchError> {
        collect(self.run_ranks(body)?)
    }

    /// The same; what became of each rank.
    ///
    /// # Errors
    /// If ranks could not be started.
    pub fn run_ranks<T: Send, E: fmt::Display + Send>(
        &self,
        body: impl Fn(&RankContext) -> Result<T, E> + Sync,
    ) -> Result<Vec<Result<T, RankError<E>>>, LaunchError> {
        let on_rank = |communicator: Communicator| body(&self.context(communicator));
        match (self.backend, self.ranks) {
            (Backend::Threads, ranks) => {
                let ranks = check_ranks(ranks.unwrap_or(1))?;
                Ok(threads::run(ranks, &self.options, on_rank))
            }
            (Backend::Sim, ranks) => {
                let sim = Sim { options: self.options.clone(), ..Sim::default() };
                Ok(sim.run(check_ranks(ranks.unwrap_or(1))?, on_rank).results)
            }
            (Backend::Mpi, _) => run_process(&self.options, on_rank).map(|value| vec![Ok(value)]),
        }
    }

    /// A rank with its threads.
    fn context(&self, communicator: Communicator) -> RankContext {
        let rank = RankContext::new(communicator);
        rank.engine().set_threads(self.threads).expect("the number was checked");
        rank.engine().set_scheme(self.scheme);
        rank
    }
}

#[cfg(feature = "mpi")]
fn run_process<T, E: fmt::Display>(
    options: &Options,
    body: impl Fn(Communicator) -> Result<T, E>,
) -> Result<T, LaunchError> {
    pantile_comm_mpi::run(options, body).map_err(LaunchError::Mpi)
}

#[cfg(not(feature = "mpi"))]
fn run_process<T, E>(
    _: &Options,
    _: impl Fn(Communicator) -> Result<T, E>,
) -> Result<T, LaunchError> {
    Err(LaunchError::WithoutMpi)
}

/// The number of processes, if a caller asks for one number and a launcher started another.
fn processes(asked: Option<usize>, started: Option<usize>) -> Result<Option<usize>, LaunchError> {
    match (asked, started) {
        (Some(asked), Some(started)) if asked != started => {
            Err(LaunchError::Processes { asked, started })
        }
        (asked, started) => Ok(started.or(asked)),
    }
}

/// The number of ranks in this process.
fn hosted(asked: Option<usize>, environment: &Environment) -> Result<usize, LaunchError> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let said = asked.map_or_else(|| environment.ranks(), |ranks| Ok(Some(ranks)))?;
    check_ranks(said.unwrap_or_else(cores))
}

/// Refuses no rank, and more than a process bears.
pub(crate) fn check_ranks(ranks: usize) -> Result<usize, LaunchError> {
    match ranks {
        0 => Err(LaunchError::NoRanks),
        1..=threads::MAX_RANKS => Ok(ranks),
        _ => Err(LaunchError::TooMany { ranks }),
    }
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
    body: impl Fn(&RankContext) -> Result<T, E> + Sync,
) -> Result<Vec<T>, LaunchError> {
    Launch::from_environment()?.run(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(backend: Backend, ranks: usize) -> Choice {
        Choice { backend: Some(backend), ranks: Some(ranks), ..Choice::default() }
    }

    fn chosen(choice: Choice, environment: &Environment) -> Result<Launch, LaunchError> {
        Launch::chosen(choice, environment)
    }

    #[test]
    fn processes_are_as_many_as_were_launched() {
        let plain = Environment::with(|_| None);
        let job = Environment::with(|name| match name {
            "OMPI_COMM_WORLD_SIZE" => Some("3".into()),
            "OMPI_COMM_WORLD_RANK" => Some("1".into()),
            _ => None,
        });
        let (none, other) =
            (chosen(on(Backend::Mpi, 2), &plain), chosen(on(Backend::Mpi, 2), &job));
        if cfg!(feature = "mpi") {
            assert_eq!(none.unwrap_err(), LaunchError::NotLaunched);
            let expected = LaunchError::Processes { asked: 2, started: 3 };
            assert_eq!(other.unwrap_err(), expected);
            let usual = chosen(Choice::default(), &job).expect("processes of a job");
            assert_eq!((usual.backend(), usual.ranks()), (Backend::Mpi, Some(3)));
        } else {
            assert_eq!(none.unwrap_err(), LaunchError::WithoutMpi);
            assert_eq!(other.unwrap_err(), LaunchError::WithoutMpi);
        }
        assert!(!job.is_first_process() && plain.is_first_process());
    }

    #[test]
    fn ranks_of_this_process_are_one_or_more() {
        let plain = Environment::with(|_| None);
        let (none, many) = (on(Backend::Threads, 0), on(Backend::Sim, threads::MAX_RANKS + 1));
        assert_eq!(chosen(none, &plain).unwrap_err(), LaunchError::NoRanks);
        let expected = LaunchError::TooMany { ranks: threads::MAX_RANKS + 1 };
        assert_eq!(chosen(many, &plain).unwrap_err(), expected);
        let most = chosen(on(Backend::Sim, threads::MAX_RANKS), &plain).expect("so many may be");
        let refused = most.session().map(|_| ()).unwrap_err();
        assert_eq!(refused, LaunchError::Simulated);
    }

    #[test]
    fn what_is_asked_for_weighs_more_than_the_environment() {
        let said = Environment::with(|name| match name {
            "PANTILE_RANKS" => Some("5".into()),
            "PANTILE_THREADS" => Some("2".into()),
            "PANTILE_SCHEME" => Some("GSS".into()),
            _ => None,
        });
        let usual = chosen(Choice::default(), &said).expect("it is said");
        assert_eq!((usual.ranks(), usual.threads), (Some(5), 2));
        let asked = Choice { ranks: Some(3), threads: Some(1), ..Choice::default() };
        let asked = chosen(asked, &said).expect("it is asked for");
        assert_eq!((asked.ranks(), asked.threads), (Some(3), 1));
        assert_eq!(usual.scheme.name(), "GSS");
    }

    #[test]
    fn a_backend_that_is_named_hides_launchers_and_clusters() {
        let on = |lookup| Environment::with(lookup);
        let plain = on(|name| (name == "PANTILE_CLUSTER").then(|| "there:1".into()));
        assert_eq!((plain.cluster(), plain.has_processes()), (Some("there:1".into()), Ok(false)));
        let threads = on(|name| match name {
            "PANTILE_BACKEND" => Some("threads".into()),
            "PANTILE_CLUSTER" => Some("there:1".into()),
            "OMPI_COMM_WORLD_SIZE" => Some("3".into()),
            _ => None,
        });
        assert_eq!((threads.cluster(), threads.has_processes()), (None, Ok(false)));
        let launch = chosen(Choice::default(), &threads).expect("threads in a job");
        assert_eq!(launch.backend(), Backend::Threads);
        let wrong = on(|name| (name == "PANTILE_BACKEND").then(|| "gpu".into()));
        let error = chosen(Choice::default(), &wrong).unwrap_err();
        assert_eq!(error, LaunchError::Backend("gpu".into()));
        let sentence = "PANTILE_BACKEND is `gpu`, expected `threads`, `sim` or `mpi`";
        assert_eq!(error.to_string(), sentence);
        let empty = on(|name| name.starts_with("PANTILE_").then(|| " ".into()));
        assert_eq!((empty.backend(), empty.cluster()), (Ok(None), None));
    }
}
