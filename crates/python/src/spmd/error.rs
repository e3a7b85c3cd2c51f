//! What Python is told when something is wrong with partitions and movements.

use pantile::Error;
use pantile_engine::Error as EngineError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::world::PantileError;

/// The exception for an error: wrong arguments are errors of values, or of types where elements of
/// a type cannot be summed; what goes wrong between ranks is the package's own.
pub(crate) fn exception(error: &Error) -> PyErr {
    let words = error.to_string();
    match error {
        Error::Engine(EngineError::Kernel(_)) => PyTypeError::new_err(words),
        Error::Engine(EngineError::Plan(_)) => PyValueError::new_err(words),
        Error::Engine(_) | Error::Inactive { .. } | Error::NoForward { .. } => {
            PantileError::new_err(words)
        }
        _ => PyValueError::new_err(words),
    }
}
