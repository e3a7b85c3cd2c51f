//! The core of the Python package: worlds and arrays as Python objects, and nothing else.
//!
//! Everything that users see (names, signatures, docstrings) is Python, in `python/pantile`; this
//! crate only records operations, runs them without the interpreter lock, and hands elements over as
//! buffers. Functions go by the names that program texts have.
//!
//! Must never contain what a Rust user would want, too: that belongs to `array` or `pantile`.

mod array;
mod buffer;
mod cluster;
mod command;
mod create;
mod describe;
mod distribution;
mod key;
mod open;
mod pipeline;
mod place;
mod plan;
mod protocol;
mod spmd;
mod translate;
mod world;

use pyo3::prelude::*;

/// Worlds and arrays of the package `pantile`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add("has_mpi", cfg!(feature = "mpi"))?;
    command::register(module)?;
    cluster::register(module)?;
    spmd::register(module)?;
    distribution::register(module)?;
    plan::register(module)?;
    translate::register(module)?;
    protocol::register(module)?;
    open::register(module)?;
    module.add_class::<world::World>()?;
    module.add_class::<array::Array>()?;
    module.add_class::<buffer::Buffer>()?;
    module.add_class::<buffer::Memory>()?;
    module.add("Fault", module.py().get_type::<world::PantileError>())?;
    module.add("OutOfMemory", world::out_of_memory(module.py())?)?;
    let lost = module.py().get_type::<world::WorkerLost>();
    // Every one has its own; the class has one so that all know of it.
    lost.setattr("worker", "")?;
    module.add("WorkerLost", lost)
}
