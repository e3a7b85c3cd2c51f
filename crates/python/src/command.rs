//! The command `pantile`, and what launching Python on MPI needs to know.

use std::collections::BTreeMap;
use std::ffi::OsString;

use pyo3::prelude::*;

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(mpi_library, module)?)?;
    module.add_function(wrap_pyfunction!(thresholds, module)?)?;
    module.add_function(wrap_pyfunction!(launched, module)?)
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
    let found = pantile::launch::Environment::of_process().launched();
    found.map(|launched| launched.ranks.unwrap_or(0))
}
