//! Sessions: all ranks for one caller, wherever the environment says that they are.

use pantile_array::Session;
#[cfg(feature = "cluster")]
use pantile_cluster::{Cluster, ClusterError, ClusterOptions};
use pantile_comm::Communicator;
use pantile_engine::ExecutorHandle;

use super::{Backend, Environment, Launch, LaunchError};

impl Launch {
    /// All ranks as one caller sees them that writes array code as if for one machine. Under MPI all
    /// processes make it, and run the same program.
    ///
    /// # Errors
    /// If ranks cannot be started, or are simulated: these have no caller outside.
    pub fn session(&self) -> Result<Session, LaunchError> {
        let executor = match self.backend {
            Backend::Threads => ExecutorHandle::threads(self.ranks.unwrap_or(1), &self.options),
            Backend::Mpi => self.process()?,
            Backend::Sim => return Err(LaunchError::Simulated),
        };
        self.session_of(executor)
    }

    /// The session of an executor, with the threads of ranks that were asked for.
    pub(crate) fn session_of(&self, mut executor: ExecutorHandle) -> Result<Session, LaunchError> {
        executor.set_threads(self.threads).map_err(LaunchError::Threads)?;
        executor.set_scheme(self.scheme);
        Ok(Session::with_executor(executor))
    }

    /// This process as the one rank that it hosts, over another communicator than MPI's own.
    ///
    /// # Errors
    /// If it cannot have so many threads.
    pub fn session_on(&self, communicator: Communicator) -> Result<Session, LaunchError> {
        self.session_of(ExecutorHandle::single(communicator))
    }

    #[cfg(feature = "mpi")]
    fn process(&self) -> Result<ExecutorHandle, LaunchError> {
        let transport = pantile_comm_mpi::Mpi::init(&self.options).map_err(LaunchError::Mpi)?;
        Ok(ExecutorHandle::single(Communicator::new(Box::new(transport))))
    }

    #[cfg(not(feature = "mpi"))]
    fn process(&self) -> Result<ExecutorHandle, LaunchError> {
        Err(LaunchError::WithoutMpi)
    }
}

/// All ranks that the environment names: the processes of `mpirun` or `srun`, else those on the workers
/// of the cluster at `PANTILE_CLUSTER` (with the keys of `PANTILE_CLUSTER_KEYS`, and `PANTILE_RANKS`
/// ranks or as many as they like to host), else `PANTILE_RANKS` threads, else one per core; each with
/// `PANTILE_THREADS` threads, else one, which cut loops as `PANTILE_SCHEME` says.
///
/// # Errors
/// As [`Launch::from_environment`], or the cluster cannot be used.
pub fn session() -> Result<Session, LaunchError> {
    let environment = Environment::of_process();
    match environment.cluster() {
        Some(address) => named_cluster(&address, &environment),
        None => Launch::from_environment()?.session(),
    }
}

/// The ranks of a cluster: a session at the coordinator at `HOST:PORT`, which ends with the last
/// handle of it.
///
/// # Errors
/// As [`Cluster::connect`].
#[cfg(feature = "cluster")]
pub fn cluster_session(address: &str, options: ClusterOptions) -> Result<Session, ClusterError> {
    Ok(Session::with_executor(Cluster::connect(address, options)?.into_executor()))
}

/// The cluster that the environment names.
#[cfg(feature = "cluster")]
fn named_cluster(address: &str, environment: &Environment) -> Result<Session, LaunchError> {
    let wrong = |error: ClusterError| {
        let (address, reason) = (address.to_owned(), error.to_string());
        LaunchError::Cluster { address, reason }
    };
    let threads = environment.threads()?;
    let mut options = ClusterOptions::default();
    if let Some(ranks) = environment.ranks()? {
        options.ranks = super::check_ranks(ranks)?;
    }
    if let Some(folder) = environment.cluster_keys() {
        options.guard = pantile_cluster::Guard::from_folder(&folder).map_err(wrong)?;
    }
    let mut executor = Cluster::connect(address, options).map_err(wrong)?.into_executor();
    executor.set_threads(threads).map_err(LaunchError::Threads)?;
    Ok(Session::with_executor(executor))
}

#[cfg(not(feature = "cluster"))]
fn named_cluster(address: &str, _: &Environment) -> Result<Session, LaunchError> {
    let reason = "this program was built without clusters: build it with the feature `cluster`";
    Err(LaunchError::Cluster { address: address.to_owned(), reason: reason.to_owned() })
}
