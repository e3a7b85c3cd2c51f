//! Starting the ranks.

use anyhow::{Result, anyhow, bail};
use pantile_comm::sim::Sim;
use pantile_comm::{Options as World, RankError, threads};
use pantile_comm_mpi::launched;
use pantile_engine::{Scheme, SchemeError, threads_from_text};

use super::Backend;
use super::job::{Done, Job};
use crate::program::Options;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// True in the process whose words are everybody's: of a job the one with rank 0.
pub(crate) fn is_first_process() -> bool {
    launched(variable).and_then(|launched| launched.rank).unwrap_or(0) == 0
}

/// Where to run, and on how many ranks.
pub(super) fn place(asked: Option<Backend>, options: &Options) -> Result<(Backend, usize)> {
    let job = launched(variable);
    let backend = match (asked, job) {
        (Some(backend), _) => backend,
        (None, Some(_)) => Backend::Mpi,
        (None, None) => Backend::Threads,
    };
    if backend != Backend::Mpi {
        let ranks = options.ranks()?;
        if ranks > threads::MAX_RANKS {
            bail!(
                "got {ranks} ranks, expected at most {} in one process; `pantile explain` takes \
                 any number",
                threads::MAX_RANKS
            );
        }
        return Ok((backend, ranks));
    }
    if cfg!(not(feature = "mpi")) {
        bail!(
            "ranks shall be processes of an MPI job (mpirun, srun or --backend mpi), but this was \
             built without MPI: build it with the feature `mpi` (the Python package: `pip install .` \
             with mpicc in PATH), or use --backend threads"
        );
    }
    let Some(job) = job else {
        bail!(
            "--backend mpi: start it with mpirun or srun, for example mpirun -n 4 pantile run ..."
        );
    };
    match (job.ranks, options.ranks) {
        (Some(size), Some(asked)) if u32::try_from(size) != Ok(asked) => {
            bail!("-n {asked}: there are {size} processes, expected the same number")
        }
        (Some(size), _) => Ok((backend, size)),
        (None, Some(_)) => Ok((backend, options.ranks()?)),
        (None, None) => bail!("the launcher does not say how many processes there are: say -n"),
    }
}

/// Threads of each rank: as asked for, else as the environment says, else one.
///
/// # Errors
/// `PANTILE_THREADS` is no number of threads that a rank can have.
pub(super) fn threads(asked: Option<u32>) -> Result<usize> {
    match asked {
        Some(threads) => Ok(usize::try_from(threads).unwrap_or(usize::MAX)),
        None => Ok(threads_from_text(variable("PANTILE_THREADS").as_deref())?),
    }
}

/// How the threads of a rank cut loops: as asked for, else as the environment says.
///
/// # Errors
/// `PANTILE_SCHEME` names no scheme.
pub(crate) fn scheme(asked: Option<Scheme>) -> Result<Scheme, SchemeError> {
    asked.map_or_else(|| Scheme::from_variable(variable("PANTILE_SCHEME").as_deref()), Ok)
}

/// Runs a job on every rank; gives what rank 0 has to say, if it is here.
///
/// # Errors
/// What every rank that failed has to say.
pub(super) fn launch(backend: Backend, ranks: usize, job: &Job) -> Result<Option<Done>> {
    let world = World::from_text(variable("PANTILE_DEADLINE").as_deref())?;
    match backend {
        Backend::Threads => {
            first(threads::run(ranks, &world, |communicator| job.run(communicator)))
        }
        Backend::Sim => {
            let sim = Sim { options: world, ..Sim::default() };
            first(sim.run(ranks, |communicator| job.run(communicator)).results)
        }
        Backend::Mpi => processes(&world, job),
    }
}

#[cfg(feature = "mpi")]
fn processes(world: &World, job: &Job) -> Result<Option<Done>> {
    Ok(pantile_comm_mpi::run(world, |communicator| job.run(communicator))?)
}

#[cfg(not(feature = "mpi"))]
fn processes(_: &World, _: &Job) -> Result<Option<Done>> {
    bail!("this was built without MPI")
}

/// What the first rank has to say that says something.
///
/// # Errors
/// What every rank that failed has to say.
pub(super) fn first<T>(
    results: Vec<Result<Option<T>, RankError<anyhow::Error>>>,
) -> Result<Option<T>> {
    let (mut done, mut faults) = (None, Vec::new());
    for (rank, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => done = done.or(value),
            Err(error) => faults.push(named(rank, &error.to_string())),
        }
    }
    // The one that began says why; the others only that they cannot go on.
    let began = |fault: &String| !fault.contains("cannot go on, because rank");
    if faults.iter().any(began) {
        faults.retain(began);
    }
    if faults.is_empty() { Ok(done) } else { Err(anyhow!(faults.join("\n"))) }
}

/// What a rank has to say, with its name once.
fn named(rank: usize, words: &str) -> String {
    let name = format!("rank {rank}: ");
    if words.starts_with(&name) { words.to_owned() } else { name + words }
}
