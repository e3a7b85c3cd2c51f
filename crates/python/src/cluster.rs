//! Worlds whose ranks are on the workers of a cluster.
#![allow(clippy::too_many_arguments, reason = "signatures are those that Python calls")]

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use pantile::array::{self, Fault, FaultKind};
use pantile::cluster::{
    Cluster, ClusterError, ClusterOptions, Coordinator, CoordinatorOptions, Guard, Secret, Worker,
    WorkerOptions,
};
use pantile::launch::Environment;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::place::user_place;
use crate::world::{World, fault, launch, listen, signal, signalled};

/// How long a caller waits before signals are checked.
const LISTEN: Duration = Duration::from_millis(50);

/// How long the workers of a cluster in this process may take to come.
const COME: Duration = Duration::from_secs(30);

#[pymethods]
impl World {
    /// The ranks of a cluster: as many as are said, or as its workers like to host; each with so many
    /// threads, or as the environment says. Certificates and a token come from a folder of keys;
    /// `token` is another one.
    #[staticmethod]
    #[pyo3(signature = (address, ranks=None, threads=None, keys=None, token=None, insecure=false))]
    fn cluster(
        py: Python<'_>,
        address: String,
        ranks: Option<usize>,
        threads: Option<usize>,
        keys: Option<PathBuf>,
        token: Option<&str>,
        insecure: bool,
    ) -> PyResult<Self> {
        let environment = Environment::of_process();
        let threads = threads.map_or_else(|| environment.threads(), Ok);
        let threads = threads.map_err(|error| launch(&error))?;
        let ranks = ranks.map_or_else(|| environment.ranks(), |ranks| Ok(Some(ranks)));
        let ranks = ranks.map_err(|error| launch(&error))?;
        let keys = keys.or_else(|| environment.cluster_keys());
        let guard = guard(keys, token, insecure).map_err(|error| refused(py, &address, error))?;
        let mut options = ClusterOptions::default();
        (options.ranks, options.guard) = (ranks.unwrap_or(0), guard);
        let (tell, told) = channel();
        let there = address.clone();
        // A caller that waits for a network wants to be able to stop; what comes then is dropped.
        let connect = move || drop(tell.send(pantile::cluster_session(&there, options)));
        Builder::new().name("connecting".to_owned()).spawn(connect)?;
        match py.detach(move || heard(&told)) {
            Some(Ok(inner)) => {
                inner.threads_per_rank(threads).map_err(|error| fault(&error))?;
                listen(&inner);
                Ok(Self { inner })
            }
            Some(Err(error)) => Err(refused(py, &address, error)),
            None => Err(signal().unwrap_or_else(|| lost_thread(&address))),
        }
    }

    /// True if this process has the memory of the ranks.
    #[getter]
    fn near(&self) -> bool {
        self.inner.is_near()
    }
}

fn lost_thread(address: &str) -> PyErr {
    let reason = "connecting ended without an answer".to_owned();
    let kind = FaultKind::Cluster { address: address.to_owned(), reason, error: None };
    fault(&Fault::new(kind, array::Place::default()))
}

/// The next message; nothing if a signal came first, or the sender is gone.
fn heard<T>(told: &Receiver<T>) -> Option<T> {
    loop {
        match told.recv_timeout(LISTEN) {
            Ok(said) => return Some(said),
            Err(RecvTimeoutError::Timeout) if signalled() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn guard(
    keys: Option<PathBuf>,
    token: Option<&str>,
    insecure: bool,
) -> Result<Guard, ClusterError> {
    let mut guard = keys.map_or_else(|| Ok(Guard::default()), |path| Guard::from_folder(&path))?;
    if let Some(token) = token {
        guard = guard.with_token(Secret::from_hex(token)?);
    }
    Ok(if insecure { guard.insecure() } else { guard })
}

/// Why there is no world: at the user's line, and in the words of Python's arguments.
fn refused(py: Python<'_>, address: &str, error: ClusterError) -> PyErr {
    let words = |reason: &str| format!("cluster {address}: {reason}");
    let (reason, error) = match error {
        ClusterError::Keys { .. } | ClusterError::Net(_) => {
            return PyValueError::new_err(words(&error.to_string()));
        }
        ClusterError::Unprotected { address: place } => {
            let reason = format!(
                "{place} is not of this machine: give keys=FOLDER (`pantile cluster keys` makes \
                 one), or say insecure=True"
            );
            (reason, None)
        }
        ClusterError::Connect { reason, .. } => {
            (format!("no coordinator is there: {reason}"), None)
        }
        ClusterError::Engine(error) => (error.to_string(), Some(error)),
        other => (other.to_string(), None),
    };
    let kind = FaultKind::Cluster { address: address.to_owned(), reason, error };
    fault(&Fault::new(kind, user_place(py).unwrap_or_default()))
}

/// A coordinator with workers that are threads of this process, on loopback: for tests.
#[pyclass(frozen)]
struct LocalCluster {
    coordinator: Coordinator,
    guard: Guard,
    /// Bytes of each worker; what is free if zero.
    memory: u64,
}

#[pymethods]
impl LocalCluster {
    #[new]
    #[pyo3(signature = (workers, token=None, memory=0))]
    fn new(py: Python<'_>, workers: usize, token: Option<&str>, memory: u64) -> PyResult<Self> {
        let wrong = |error| refused(py, "in this process", error);
        let guard = guard(None, token, false).map_err(wrong)?;
        let mut options = CoordinatorOptions::default();
        options.address = "127.0.0.1:0".to_owned();
        options.guard = guard.clone();
        let started = py.detach(|| Coordinator::start(&options));
        let site = Self { coordinator: started.map_err(wrong)?, guard, memory };
        for number in 0..workers {
            let (address, worker) = (site.address(), site.worker(&format!("w{number}")));
            let worker = worker.map_err(wrong)?;
            // Ends with the coordinator; there is no listener then.
            Builder::new().name("worker".to_owned()).spawn(move || worker.serve(&address))?;
        }
        py.detach(|| site.wait_for(workers)).map_err(wrong)?;
        Ok(site)
    }

    /// `HOST:PORT` of the coordinator.
    #[getter]
    fn address(&self) -> String {
        self.coordinator.address().to_string()
    }

    /// Of every worker its name, bytes of arrays, clients, and programs that it has lowered.
    fn status(&self, py: Python<'_>) -> PyResult<Vec<(String, u64, u64, u64)>> {
        let status = py.detach(|| Cluster::status(&self.address(), &self.guard));
        let workers = status.map_err(|error| refused(py, &self.address(), error))?;
        let one = |one: pantile::cluster::wire::WorkerStatus| {
            (one.name, one.stored, one.sessions, one.lowered)
        };
        Ok(workers.into_iter().map(one).collect())
    }
}

impl LocalCluster {
    fn worker(&self, name: &str) -> Result<Worker, ClusterError> {
        let mut options = WorkerOptions::default();
        (options.name, options.guard) = (name.to_owned(), self.guard.clone());
        options.memory = self.memory;
        Worker::new(&options)
    }

    fn wait_for(&self, workers: usize) -> Result<(), ClusterError> {
        let until = Instant::now() + COME;
        while Cluster::status(&self.address(), &self.guard)?.len() < workers {
            if Instant::now() > until {
                let reason = format!("got fewer than {workers} workers in {} s", COME.as_secs());
                return Err(ClusterError::Refused { reason });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

/// Serves the coordinator at an address as a worker, until that is gone: for tests.
#[pyfunction]
fn local_worker(py: Python<'_>, address: &str, name: String) -> PyResult<()> {
    let mut options = WorkerOptions::default();
    options.name = name;
    let served = py.detach(|| Worker::new(&options)?.serve(address));
    served.map_err(|error| refused(py, address, error))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LocalCluster>()?;
    module.add_function(wrap_pyfunction!(local_worker, module)?)
}
