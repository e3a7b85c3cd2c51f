//! The environment: every variable that Pantile reads, in one table, and what they say.

use std::ffi::OsString;
use std::path::PathBuf;

use pantile_comm::Options;
use pantile_comm_mpi::{Launched, launched};
use pantile_engine::{Scheme, threads_from_text};

use super::{Backend, LaunchError};

/// An environment variable that Pantile reads.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it says, in a sentence.
    pub meaning: &'static str,
}

const fn variable(name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, meaning }
}

/// All of them. Those of the last group are read by the crates named there, once per process.
pub const VARIABLES: &[Variable] = &[
    variable(
        BACKEND,
        "threads or mpi: what ranks are; else processes if a launcher started this one",
    ),
    variable(RANKS, "number of ranks as threads of this process; else one per core"),
    variable(THREADS, "threads of each rank, 1 to 256; else 1"),
    variable(SCHEME, "how the threads of a rank cut the loops that they share; else EVEN"),
    variable(DEADLINE, "seconds that a rank waits for another one; else 600"),
    variable(CLUSTER, "HOST:PORT of the coordinator whose workers host the ranks"),
    variable(CLUSTER_KEYS, "folder with the keys of that cluster"),
    variable(
        "PANTILE_MPIRUN",
        "launcher of `pantile run X.py -n N`, with its options (`comm-mpi`)",
    ),
    variable("PANTILE_VECTORS", "vector instructions of loops, for measurements (`kernels`)"),
    variable("PANTILE_GUARD", "1: every buffer ends at a page without access (`memory`)"),
];

pub(crate) const BACKEND: &str = "PANTILE_BACKEND";
pub(crate) const RANKS: &str = "PANTILE_RANKS";
pub(crate) const THREADS: &str = "PANTILE_THREADS";
pub(crate) const SCHEME: &str = "PANTILE_SCHEME";
pub(crate) const DEADLINE: &str = "PANTILE_DEADLINE";
/// The variable that names a coordinator.
pub const CLUSTER: &str = "PANTILE_CLUSTER";
pub(crate) const CLUSTER_KEYS: &str = "PANTILE_CLUSTER_KEYS";

/// Where launchers say how many of their processes are on this machine.
const LOCAL_SIZES: [&str; 3] =
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"];

/// What the environment of this process says. Variables that are wrong are errors where they are
/// asked for, so that one that does not matter does no harm.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    lookup: fn(&str) -> Option<OsString>,
}

impl Environment {
    /// That of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self { lookup: |name| std::env::var_os(name) }
    }

    /// One that answers as a function does: for tests.
    #[must_use]
    pub fn with(lookup: fn(&str) -> Option<OsString>) -> Self {
        Self { lookup }
    }

    /// What a variable says; what is no text is read as text that is wrong.
    fn text(&self, name: &str) -> Option<String> {
        Some((self.lookup)(name)?.to_string_lossy().into_owned())
    }

    /// What a variable says that says nothing if it is empty.
    fn said(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    /// The job of `mpirun` or `srun` that this process is a part of, if it is.
    #[must_use]
    pub fn launched(&self) -> Option<Launched> {
        launched(|name| self.text(name))
    }

    /// True if this process speaks for the others: it is the first of a job, or in none.
    #[must_use]
    pub fn is_first_process(&self) -> bool {
        self.launched().is_none_or(|job| job.rank.is_none_or(|rank| rank == 0))
    }

    /// The processes of the job that share the memory of this machine, if the launcher says so.
    #[must_use]
    pub fn local_processes(&self) -> Option<usize> {
        let known = |name: &&str| self.text(name)?.trim().parse().ok();
        LOCAL_SIZES.iter().find_map(known).filter(|processes| *processes > 0)
    }

    /// `PANTILE_BACKEND`, if it says anything.
    ///
    /// # Errors
    /// It names no backend.
    pub fn backend(&self) -> Result<Option<Backend>, LaunchError> {
        let Some(text) = self.said(BACKEND) else { return Ok(None) };
        let named = Backend::ALL.into_iter().find(|backend| backend.name() == text.trim());
        named.map(Some).ok_or(LaunchError::Backend(text))
    }

    /// True if ranks are the processes of a job, unless a caller says otherwise.
    ///
    /// # Errors
    /// As [`Environment::backend`].
    pub fn has_processes(&self) -> Result<bool, LaunchError> {
        Ok(self.backend()?.map_or(self.launched().is_some(), |named| named == Backend::Mpi))
    }

    /// `PANTILE_RANKS`.
    ///
    /// # Errors
    /// It is no positive number.
    pub fn ranks(&self) -> Result<Option<usize>, LaunchError> {
        let Some(text) = self.text(RANKS) else { return Ok(None) };
        match text.trim().parse() {
            Ok(ranks) if ranks > 0 => Ok(Some(ranks)),
            _ => Err(LaunchError::Ranks(text)),
        }
    }

    /// `PANTILE_THREADS`, else one.
    ///
    /// # Errors
    /// It is no number of threads that a rank can have.
    pub fn threads(&self) -> Result<usize, LaunchError> {
        threads_from_text(self.text(THREADS).as_deref()).map_err(LaunchError::Threads)
    }

    /// `PANTILE_SCHEME`, else even shares.
    ///
    /// # Errors
    /// It names no scheme.
    pub fn scheme(&self) -> Result<Scheme, LaunchError> {
        Scheme::from_variable(self.text(SCHEME).as_deref()).map_err(LaunchError::Scheme)
    }

    /// `PANTILE_DEADLINE` as settings of a world, else those of any world.
    ///
    /// # Errors
    /// It is no positive number of seconds.
    pub fn options(&self) -> Result<Options, LaunchError> {
        Options::from_text(self.text(DEADLINE).as_deref()).map_err(LaunchError::Deadline)
    }

    /// The coordinator that `PANTILE_CLUSTER` names, unless a launcher has started this process or
    /// `PANTILE_BACKEND` says what ranks are.
    #[must_use]
    pub fn cluster(&self) -> Option<String> {
        let elsewhere = || self.launched().is_some() || self.said(BACKEND).is_some();
        self.said(CLUSTER).filter(|_| !elsewhere())
    }

    /// The folder that `PANTILE_CLUSTER_KEYS` names.
    #[must_use]
    pub fn cluster_keys(&self) -> Option<PathBuf> {
        (self.lookup)(CLUSTER_KEYS).filter(|path| !path.is_empty()).map(PathBuf::from)
    }
}
