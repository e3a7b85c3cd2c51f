//! One rank of a program that runs once per rank.

use std::sync::{Arc, Mutex, PoisonError};

use pantile::array::{self, Place};
use pantile::launch::{Choice, Environment};
use pantile::{Backend, Failure, Launch, LaunchError, Options, spmd};
use pantile_comm::threads::{MAX_RANKS, Threads};
use pantile_comm::{CollectiveSignature, Communicator, MemoryBlock, Transport};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::end::{Inner, SharedEnd, UserLine, held};
use super::team::Team;
use crate::place::user_place;
use crate::world::{PantileError, launch};

/// What a rank and its teams share.
pub(crate) struct Seat {
    pub(crate) world: spmd::RankContext,
    inner: Inner,
    line: UserLine,
}

impl Seat {
    fn new(inner: &Inner, (rank, size): (usize, usize)) -> PyResult<Arc<Self>> {
        let line = UserLine::default();
        let end = SharedEnd::new(inner, &line, (rank, size));
        let world = spmd::RankContext::new(Communicator::new(Box::new(end)));
        let threads = Environment::of_process().threads().map_err(|error| launch(&error))?;
        let set = world.engine().set_threads(threads);
        set.map_err(|error| PantileError::new_err(error.to_string()))?;
        Ok(Arc::new(Self { world, inner: Arc::clone(inner), line }))
    }

    /// From now on the user's program is here, or where it says.
    pub(crate) fn at_user(&self, py: Python<'_>, place: Option<(String, u32)>) {
        let said = place.map(|(file, line)| Place { file: file.into(), line, column: 1 });
        let place = said.or_else(|| user_place(py));
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }
}

/// One rank, seen from itself.
#[pyclass(frozen)]
pub(crate) struct Rank {
    seat: Arc<Seat>,
}

/// Ends a world of threads from outside.
#[pyclass(frozen)]
pub(crate) struct Ender {
    end: Mutex<Threads>,
}

fn options() -> PyResult<Options> {
    Environment::of_process().options().map_err(|error| launch(&error))
}

#[pymethods]
impl Rank {
    /// So many ranks for as many threads, and a handle that ends them.
    #[staticmethod]
    fn threads(ranks: usize) -> PyResult<(Vec<Self>, Ender)> {
        if ranks == 0 || ranks > MAX_RANKS {
            let words = format!("got {ranks} ranks, expected 1 to {MAX_RANKS} threads");
            return Err(PyValueError::new_err(words));
        }
        // One end more than ranks: it takes part in nothing, and can end the world at any time.
        let mut ends = Threads::world(ranks + 1, &options()?);
        let spare = ends.pop().expect("there is one more");
        let seat = |(rank, end): (usize, Threads)| {
            let inner: Inner = Arc::new(Mutex::new(Some(Box::new(end) as Box<dyn Transport>)));
            Ok(Self { seat: Seat::new(&inner, (rank, ranks))? })
        };
        let ranks = ends.into_iter().enumerate().map(seat).collect::<PyResult<_>>()?;
        Ok((ranks, Ender { end: Mutex::new(spare) }))
    }

    /// The rank that this process is.
    #[staticmethod]
    fn process(py: Python<'_>) -> PyResult<Self> {
        let inner = py.detach(process).map_err(|error| PantileError::new_err(error.to_string()))?;
        let place = place_of(&inner);
        Ok(Self { seat: Seat::new(&inner, place)? })
    }

    /// Its number.
    #[getter]
    fn rank(&self) -> usize {
        self.seat.world.rank()
    }

    /// How many there are.
    #[getter]
    fn size(&self) -> usize {
        self.seat.world.size()
    }

    /// All ranks.
    fn team(&self) -> Team {
        Team::new(Some(Arc::clone(&self.seat)), self.seat.world.partition())
    }

    /// The rank that made the world fail, if it has failed.
    fn culprit(&self) -> Option<usize> {
        Some(held(&self.seat.inner).as_ref()?.failure()?.culprit)
    }

    /// Ends the world, because this rank cannot go on.
    fn fail(&self, py: Python<'_>, reason: &str) {
        py.detach(|| self.seat.world.engine().fail(None, &reason));
    }

    /// Waits until every rank has come here. Each says so to each other directly: a rank that waits for
    /// this rank elsewhere hears where it is.
    #[pyo3(signature = (place=None))]
    fn meet(&self, py: Python<'_>, place: Option<(String, u32)>) -> PyResult<()> {
        self.seat.at_user(py, place);
        let call = CollectiveSignature::here("the end of pt.spmd", 0);
        let (me, size) = (self.rank(), self.size());
        let met = py.detach(|| {
            let nothing = MemoryBlock::zeroed(0).whole();
            self.seat.world.engine().communicator().operation(&call, |operation| {
                let mut tickets = Vec::with_capacity(size);
                for peer in (0..size).filter(|peer| *peer != me) {
                    tickets.push(operation.receive(peer, &nothing)?);
                    operation.send(peer, &nothing)?;
                }
                tickets.into_iter().try_for_each(|ticket| operation.wait(ticket))
            })
        });
        met.map_err(|error| PantileError::new_err(error.to_string()))
    }

    /// Leaves the world; ranks that wait for this one are told.
    fn leave(&self, py: Python<'_>) {
        py.detach(|| drop(held(&self.seat.inner).take()));
    }
}

/// How many ranks the environment says, if they are threads.
#[pyfunction]
pub(crate) fn thread_ranks() -> PyResult<usize> {
    let choice = Choice { backend: Some(Backend::Threads), ..Choice::default() };
    let launched = Launch::choose(choice).map_err(|error| launch(&error))?;
    Ok(launched.ranks().unwrap_or(1))
}

#[pymethods]
impl Ender {
    /// Ends the world: ranks that wait get an error.
    fn end(&self, py: Python<'_>, reason: &str) {
        let failure = Failure { culprit: 0, call: None, reason: reason.to_owned() };
        py.detach(|| self.end.lock().unwrap_or_else(PoisonError::into_inner).abort(failure));
    }
}

/// The rank of a transport, and the number of ranks.
fn place_of(inner: &Inner) -> (usize, usize) {
    held(inner).as_ref().map_or((0, 1), |inner| (inner.rank(), inner.size()))
}

/// The session on the processes of a job.
pub(crate) fn process_session(launch: &Launch) -> Result<array::Session, LaunchError> {
    let inner = process()?;
    let end = SharedEnd::new(&inner, &UserLine::default(), place_of(&inner));
    launch.session_on(Communicator::new(Box::new(end)))
}

/// The one MPI of this process, which arrays and partitions share. It is left when it is not needed
/// any more.
#[cfg(feature = "mpi")]
fn process() -> Result<Inner, LaunchError> {
    use std::sync::Weak;
    type Kept = Weak<Mutex<Option<Box<dyn Transport>>>>;
    static MPI: Mutex<Kept> = Mutex::new(Weak::new());
    let mut kept = MPI.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(inner) = kept.upgrade() {
        return Ok(inner);
    }
    let options = Environment::of_process().options()?;
    let transport = pantile_comm_mpi::Mpi::init(&options).map_err(LaunchError::Mpi)?;
    let inner: Inner = Arc::new(Mutex::new(Some(Box::new(transport) as Box<dyn Transport>)));
    *kept = Arc::downgrade(&inner);
    Ok(inner)
}

#[cfg(not(feature = "mpi"))]
fn process() -> Result<Inner, LaunchError> {
    Err(LaunchError::WithoutMpi)
}
