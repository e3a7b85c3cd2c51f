//! The command `pantile`, and what launching Python on MPI needs to know.

use std::collections::BTreeMap;
use std::ffi::OsString;

use pantile::launch::Environment;
use pyo3::prelude::*;

use crate::world::launch;

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(mpi_library, module)?)?;
    module.add_function(wrap_pyfunction!(thresholds, module)?)?;
    module.add_function(wrap_pyfunction!(launched, module)?)?;
    module.add_function(wrap_pyfunction!(named_cluster, module)?)?;
    module.add_function(wrap_pyfunction!(has_processes, module)?)
}

/// Runs the command with these words, its name first, and gives the exit code.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| pantile_cli::main(words))
}

/// The sizes at which loops, movements and lowering change their way, by name: the fuzzer draws
/// sizes around them.
#[pyfunction]
fn thresholds() -> BTreeMap<&'static str, usize> {
    pantile_engine::thresholds().collect()
}

/// The MPI that was built in, if one was: `Open MPI v4.1.4`.
#[pyfunction]
fn mpi_library() -> Option<String> {
    pantile_comm_mpi::library()
}

/// How many processes a launcher started together with this one: 0 if it does not say, none if no
/// launcher did.
#[pyfunction]
fn launched() -> Option<usize> {
    let found = Environment::of_process().launched();
    found.map(|launched| launched.ranks.unwrap_or(0))
}

/// The cluster that the environment names, if nothing else in it says where ranks are.
#[pyfunction]
fn named_cluster() -> Option<String> {
    Environment::of_process().cluster()
}

/// True if the environment says that ranks are the processes of a job.
#[pyfunction]
fn has_processes() -> PyResult<bool> {
    Environment::of_process().has_processes().map_err(|error| launch(&error))
}
