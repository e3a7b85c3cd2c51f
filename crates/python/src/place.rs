//! The line of the user's program that calls.

use std::sync::{Arc, Mutex, PoisonError};

use pantile::array::{Place, written_at};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};

/// Calls `f`; what it records was written at the user's line.
pub(crate) fn at_user<T>(py: Python<'_>, f: impl FnOnce() -> T) -> T {
    written_at(user_place(py).unwrap_or_default(), f)
}

/// The innermost line that is not of this package.
pub(crate) fn user_place(py: Python<'_>) -> Option<Place> {
    static FRAME: PyOnceLock<(Py<PyAny>, Py<PyTuple>)> = PyOnceLock::new();
    let get = FRAME.get_or_try_init(py, || -> PyResult<_> {
        let get = py.import("sys")?.getattr("_getframe")?;
        Ok((get.unbind(), PyTuple::new(py, [1])?.unbind()))
    });
    let (get, caller) = get.ok()?;
    // The innermost frame is that of the package's function which calls this: Python makes an object
    // of every frame that is asked for, so that one is not.
    let get = get.bind(py);
    let mut frame = get.call1(caller.bind(py)).or_else(|_| get.call0()).ok()?;
    loop {
        let code = frame.getattr(intern!(py, "f_code")).ok()?;
        let at: i32 = frame.getattr(intern!(py, "f_lasti")).ok()?.extract().ok()?;
        let place = match known(&code, at) {
            Some(place) => place,
            None => {
                let place = place_of(&frame, &code).ok()?;
                remember(KnownInstruction { code: code.unbind(), at, place: place.clone() });
                place
            }
        };
        if place.is_some() {
            return place;
        }
        let back = frame.getattr(intern!(py, "f_back")).ok()?;
        if back.is_none() {
            return None;
        }
        frame = back;
    }
}

/// The line of an instruction of some code, which lives as long as it is listed here; nothing for
/// code of this package.
struct KnownInstruction {
    code: Py<PyAny>,
    at: i32,
    place: Option<Place>,
}

/// More lines than most programs call from.
const MOST: usize = 1 << 12;

/// Lines that were asked for, each at a place that its code and instruction give: Python counts
/// lines from the beginning of a function, every time.
static KNOWN: Mutex<Vec<Option<KnownInstruction>>> = Mutex::new(Vec::new());

fn slot(code: usize, at: i32) -> usize {
    ((code >> 4) ^ (at.unsigned_abs() as usize).wrapping_mul(97)) % MOST
}

fn known(code: &Bound<'_, PyAny>, at: i32) -> Option<Option<Place>> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let one = known.get(slot(code.as_ptr() as usize, at))?.as_ref()?;
    (one.code.as_ptr() == code.as_ptr() && one.at == at).then(|| one.place.clone())
}

fn remember(one: KnownInstruction) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.is_empty() {
        known.resize_with(MOST, || None);
    }
    let place = slot(one.code.as_ptr() as usize, one.at);
    let before = known[place].replace(one);
    drop(known);
    // The last reference to this code ends here, which may run Python.
    drop(before);
}

/// The line of a frame if its code is not of this package.
fn place_of(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<Option<Place>> {
    let py = frame.py();
    let name = code.getattr(intern!(py, "co_filename"))?;
    let file = name.cast::<PyString>()?.to_str()?;
    if package(py).is_some_and(|folder| file.starts_with(folder)) {
        return Ok(None);
    }
    let line: u32 = frame.getattr(intern!(py, "f_lineno"))?.extract()?;
    Ok(Some(Place { file: Arc::from(file), line, column: 1 }))
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
