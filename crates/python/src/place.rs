//! The line of the user's program that calls.

use std::collections::BTreeMap;
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
    let mut frame = get.ok()?.bind(py).call0().ok()?;
    loop {
        let code = frame.getattr(intern!(py, "f_code")).ok()?;
        let file = code.getattr(intern!(py, "co_filename")).ok()?;
        if let Some(file) = user_file(&file) {
            let line: u32 = frame.getattr(intern!(py, "f_lineno")).ok()?.extract().ok()?;
            return Some(Place { file, line, column: 1 });
        }
        let back = frame.getattr(intern!(py, "f_back")).ok()?;
        if back.is_none() {
            return None;
        }
        frame = back;
    }
}

/// File names by the objects that Python has for them, which live as long as they are listed here;
/// nothing for files of this package.
type Files = BTreeMap<usize, (Py<PyAny>, Option<Arc<str>>)>;

/// More files than most programs have; notebooks make one per cell.
const MOST_FILES: usize = 1000;

/// The name of a file that is not of this package.
fn user_file(name: &Bound<'_, PyAny>) -> Option<Arc<str>> {
    static FILES: Mutex<Files> = Mutex::new(BTreeMap::new());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let key = name.as_ptr() as usize;
    if let Some((_, known)) = files.get(&key) {
        return known.clone();
    }
    let text = name.cast::<PyString>().ok()?.to_str().ok()?;
    let own = package(name.py()).is_some_and(|folder| text.starts_with(folder));
    let known: Option<Arc<str>> = (!own).then(|| text.into());
    if files.len() >= MOST_FILES {
        files.clear();
    }
    files.insert(key, (name.clone().unbind(), known.clone()));
    known
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
