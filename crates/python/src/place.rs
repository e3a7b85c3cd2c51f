//! The line of the user's program that calls.

use std::sync::{Arc, Mutex, PoisonError};

use pantile::array::{Place, written_at};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// Calls `f`; what it records was written at the user's line.
pub(crate) fn at_user<T>(py: Python<'_>, f: impl FnOnce() -> T) -> T {
    written_at(user_place(py).unwrap_or_default(), f)
}

/// The innermost line that is not of this package.
pub(crate) fn user_place(py: Python<'_>) -> Option<Place> {
    static FRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let get = FRAME.get_or_try_init(py, || -> PyResult<_> {
        Ok(py.import("sys")?.getattr("_getframe")?.unbind())
    });
    let package = package(py)?;
    let mut frame = get.ok()?.bind(py).call0().ok()?;
    loop {
        let code = frame.getattr(intern!(py, "f_code")).ok()?;
        let file = code.getattr(intern!(py, "co_filename")).ok()?.cast_into::<PyString>().ok()?;
        let text = file.to_str().ok()?;
        if !text.starts_with(package) {
            let line: u32 = frame.getattr(intern!(py, "f_lineno")).ok()?.extract().ok()?;
            return Some(Place { file: shared(text), line, column: 1 });
        }
        let back = frame.getattr(intern!(py, "f_back")).ok()?;
        if back.is_none() {
            return None;
        }
        frame = back;
    }
}

/// The name of a file; the last one is kept, because it is nearly always the next one, too.
fn shared(name: &str) -> Arc<str> {
    static LAST: Mutex<Option<Arc<str>>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some(known) if **known == *name => Arc::clone(known),
        _ => Arc::clone(last.insert(name.into())),
    }
}

/// The folder of the package.
fn package(py: Python<'_>) -> Option<&str> {
    static FOLDER: PyOnceLock<String> = PyOnceLock::new();
    let folder = FOLDER.get_or_try_init(py, || -> PyResult<String> {
        let path = py.import("pantile")?.getattr("__path__")?;
        path.get_item(0)?.extract()
    });
    folder.ok().map(String::as_str)
}
