//! Programs that run once per rank: ranks, teams of ranks, movements between teams, halos.

mod end;
mod error;
mod halos;
mod movement;
mod rank;
mod team;

use pyo3::prelude::*;

pub(crate) use rank::process_session;

/// Adds the classes and functions of this folder to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<rank::Rank>()?;
    module.add_class::<rank::Ender>()?;
    module.add_class::<team::Team>()?;
    module.add_class::<movement::Movement>()?;
    module.add_function(wrap_pyfunction!(rank::thread_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(halos::halos, module)?)
}
