//! Worlds.

use std::sync::{Mutex, PoisonError};

use pantile::array::{Fault, FaultKind};
use pantile::geometry::grid::auto_grid;
use pantile::launch::Choice;
use pantile::{Backend, Launch, LaunchError, array};
use pantile_engine::{Error, Scheme, SchemeError};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyDict, PyType};

use crate::place::user_place;
use crate::spmd::process_session;

pyo3::create_exception!(
    _core,
    PantileError,
    pyo3::exceptions::PyRuntimeError,
    "What went wrong with an array or between ranks, with the line that asked for it."
);

pyo3::create_exception!(
    _core,
    WorkerLost,
    PantileError,
    "A worker of a cluster that had ranks is gone, or does not answer any more: `worker` is its name."
);

/// The class of errors for want of memory: it is also Python's own `MemoryError`.
pub(crate) fn out_of_memory(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || -> PyResult<Py<PyType>> {
        let bases = (py.get_type::<PantileError>(), py.get_type::<PyMemoryError>());
        let words = "There is not enough memory; nothing was computed, and everything goes on.";
        let members = [("__module__", "_core"), ("__doc__", words)].into_py_dict(py)?;
        let class = py.get_type::<PyType>().call1(("OutOfMemory", bases, members))?;
        Ok(class.cast_into::<PyType>()?.unbind())
    });
    Ok(class?.bind(py))
}

fn short(words: String) -> PyErr {
    Python::attach(|py| match out_of_memory(py) {
        Ok(class) => PyErr::from_type(class.clone(), words),
        Err(error) => error,
    })
}

/// All ranks.
#[pyclass(frozen)]
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) inner: array::Session,
}

/// The error of a signal that came while a caller waited.
static SIGNAL: Mutex<Option<PyErr>> = Mutex::new(None);

/// True if a signal handler raised something, such as `KeyboardInterrupt`.
pub(crate) fn signalled() -> bool {
    Python::attach(|py| match py.check_signals() {
        Ok(()) => false,
        Err(error) => {
            *SIGNAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            true
        }
    })
}

/// While a caller of this world waits, signals are heard, and it is told if it waits for a program
/// that was interrupted.
pub(crate) fn listen(world: &array::Session) {
    world.stop_waiting_if(signalled);
    world.report_waiting(|words| {
        // A closed stream is no reason to stop.
        let _ = Python::attach(|py| {
            let stream = py.import("sys")?.getattr("stderr")?;
            stream.call_method1("write", (format!("pantile: {words}\n"),))?;
            stream.call_method0("flush").map(drop)
        });
    });
}

/// What a signal raised while a caller waited; only once.
pub(crate) fn signal() -> Option<PyErr> {
    SIGNAL.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Before ranks are asked for something that is no program: waits for one that was interrupted.
pub(crate) fn wait_for_ranks(py: Python<'_>, world: &World) -> PyResult<()> {
    finish(py.detach(|| world.inner.wait_for_ranks()))
}

/// What came of some work: its value, what a signal raised meanwhile, or what went wrong.
pub(crate) fn finish<T>(result: Result<T, Fault>) -> PyResult<T> {
    result.map_err(|error| signal().unwrap_or_else(|| fault(&error)))
}

pub(crate) fn fault(fault: &Fault) -> PyErr {
    if let FaultKind::Array(_) = *fault.kind {
        // What the caller gave is wrong, as when an array is recorded.
        return PyValueError::new_err(fault.to_string());
    }
    match fault.rank() {
        Some(Error::WorkerLost { worker, .. }) => lost(&at_line(fault), worker),
        Some(Error::OutOfMemory { .. }) => short(at_line(fault)),
        Some(Error::Elsewhere { .. } | Error::Refused { .. } | Error::Forked) => {
            PantileError::new_err(at_line(fault))
        }
        _ => PantileError::new_err(fault.to_string()),
    }
}

/// What is wrong, at the line that the program is at if it says none itself: what workers say does
/// not name one.
fn at_line(fault: &Fault) -> String {
    let place = match fault.place.line {
        0 => Python::attach(user_place).unwrap_or_default(),
        _ => fault.place.clone(),
    };
    fault.clone().at(place).to_string()
}

fn lost(words: &str, worker: &str) -> PyErr {
    let error = WorkerLost::new_err(words.to_owned());
    // An error that cannot say more still says what is wrong.
    let _ = Python::attach(|py| error.value(py).setattr("worker", worker));
    error
}

pub(crate) fn launch(error: &LaunchError) -> PyErr {
    match error {
        LaunchError::Processes { asked, started } => {
            PyValueError::new_err(format!("got ranks={asked}, but there are {started} processes"))
        }
        _ => PantileError::new_err(error.to_string()),
    }
}

#[pymethods]
impl World {
    /// Ranks of this process, or the processes of its job, as is asked for, and else as the environment
    /// says; and whether they are processes.
    #[staticmethod]
    #[pyo3(signature = (ranks=None, backend=None, threads=None))]
    fn start(
        py: Python<'_>,
        ranks: Option<usize>,
        backend: Option<&str>,
        threads: Option<usize>,
    ) -> PyResult<(Self, bool)> {
        let named = |one: &Backend| Some(one.name()) == backend;
        let backend = Backend::ALL.into_iter().find(named);
        let choice = Choice { backend, ranks, threads, scheme: None };
        let started = py.detach(|| {
            let launch = Launch::choose(choice)?;
            match launch.backend() {
                Backend::Mpi => Ok((process_session(&launch)?, true)),
                _ => Ok((launch.session()?, false)),
            }
        });
        let (inner, processes) = started.map_err(|error| launch(&error))?;
        if let Some(asked) = ranks.filter(|asked| *asked != inner.ranks()) {
            return Err(launch(&LaunchError::Processes { asked, started: inner.ranks() }));
        }
        listen(&inner);
        Ok((Self { inner }, processes))
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> usize {
        self.inner.ranks()
    }

    /// How many ranks meshes can name.
    #[getter]
    fn max_ranks(&self) -> usize {
        self.inner.max_ranks()
    }

    /// The ranks that this process hosts.
    #[getter]
    fn hosted(&self) -> Vec<usize> {
        self.inner.hosted().to_vec()
    }

    /// Programs that were lowered so far.
    #[getter]
    fn lowered(&self) -> u64 {
        self.inner.lowered()
    }

    /// Forbids (or allows) movement between ranks; gives what was so before.
    fn forbid(&self, forbidden: bool) -> bool {
        self.inner.forbid_movement(forbidden)
    }

    /// One exchange of halos serves so many steps in time; gives how many it were before.
    fn steps_per_exchange(&self, steps: usize) -> usize {
        self.inner.steps_per_exchange(steps)
    }

    /// Every rank has so many threads; gives how many it had before.
    fn threads_per_rank(&self, py: Python<'_>, threads: usize) -> PyResult<usize> {
        wait_for_ranks(py, self)?;
        let before = py.detach(|| self.inner.threads_per_rank(threads));
        before.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The threads of every rank cut loops in this way; gives the name of how they did before.
    fn scheme(&self, py: Python<'_>, name: &str) -> PyResult<&'static str> {
        let wrong = |words: String| PyValueError::new_err(words);
        let scheme = name.parse().map_err(|error: SchemeError| wrong(error.to_string()))?;
        wait_for_ranks(py, self)?;
        let before = py.detach(|| self.inner.scheme(scheme));
        before.map(Scheme::name).map_err(|error| wrong(error.to_string()))
    }

    /// Waits for all processes.
    fn barrier(&self, py: Python<'_>) -> PyResult<()> {
        let place = user_place(py).unwrap_or_default();
        finish(py.detach(|| array::written_at(place, || self.inner.barrier())))
    }

    /// A distribution of arrays of a shape, in full: `8x6 on r=4: block(r), whole`.
    #[pyo3(signature = (shape, dist=None))]
    fn home(&self, shape: Vec<usize>, dist: Option<&str>) -> PyResult<String> {
        let home = self.inner.home_of(&shape, dist.unwrap_or("auto"));
        home.map(|home| home.to_string()).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// How many ranks cut each axis of a shape, if these are cut.
    fn grid(&self, shape: Vec<usize>, cut: Vec<bool>) -> PyResult<Vec<usize>> {
        let grid = auto_grid(&shape, &cut, self.inner.ranks());
        grid.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What was done so far: messages, bytes, movements and programs.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        wait_for_ranks(py, self)?;
        let counters = py.detach(|| self.inner.counters());
        let all = PyDict::new(py);
        all.set_item("messages", counters.messages)?;
        all.set_item("bytes", counters.bytes)?;
        all.set_item("runs", counters.runs)?;
        all.set_item("compiled", counters.compiled)?;
        all.set_item("gathered", self.inner.gathered())?;
        all.set_item("lowered", self.inner.lowered())?;
        all.set_item("programs", counters.programs)?;
        let traffic = self.inner.traffic().unwrap_or_default();
        all.set_item("bytes_up", traffic.bytes_up)?;
        all.set_item("bytes_down", traffic.bytes_down)?;
        all.set_item("programs_sent", traffic.programs)?;
        Ok(all)
    }
}
