//! The core of the Python package: worlds and arrays as Python objects, and nothing else.
//!
//! Everything that users see (names, signatures, docstrings) is Python, in `python/pantile`; this
//! crate only records operations, runs them without the interpreter lock, and hands elements over as
//! buffers. Functions go by the names that program texts have.

mod array;
mod buffer;
mod command;
mod create;
mod place;
mod world;

use pyo3::prelude::*;

/// Worlds and arrays of the package `pantile`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add("has_mpi", cfg!(feature = "mpi"))?;
    command::register(module)?;
    module.add_class::<world::World>()?;
    module.add_class::<array::Array>()?;
    module.add_class::<buffer::Buffer>()?;
    module.add("Fault", module.py().get_type::<world::PantileError>())?;
    Ok(())
}
