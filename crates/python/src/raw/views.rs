//! Views that Python asks for, by the buffer protocol.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::buffer::{Buffer, Memory};

#[pymethods]
impl Buffer {
    /// Exposes the bytes; the reader keeps this object alive.
    ///
    /// # Safety
    /// Python calls it with a view to fill in.
    unsafe fn __getbuffer__(
        slf: PyRef<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let read_only = slf.is_read_only();
        if read_only && flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("elements of an array are read-only here"));
        }
        let (start, length) = (slf.bytes().as_ptr(), slf.bytes().len());
        let py = slf.py();
        let owner: Py<Self> = slf.into();
        // SAFETY: R1; start and length are those of the owner's slice, and what must not be written is
        // shown as read-only.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                owner.as_ptr(),
                start.cast_mut().cast::<c_void>(),
                isize::try_from(length).unwrap_or(isize::MAX),
                c_int::from(read_only),
                flags,
            )
        };
        answer(py, filled)
    }
}

#[pymethods]
impl Memory {
    /// Exposes what `_memory` gives; the reader keeps that alive.
    ///
    /// # Safety
    /// Python calls it with a view to fill in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let memory = slf.call_method0("_memory")?;
        // SAFETY: R1; the object is one of Python's, which fills in the view of its own memory.
        let filled = unsafe { ffi::PyObject_GetBuffer(memory.as_ptr(), view, flags) };
        answer(slf.py(), filled)
    }
}

/// What a call of Python's says.
fn answer(py: Python<'_>, code: c_int) -> PyResult<()> {
    match code {
        0 => Ok(()),
        _ => Err(PyErr::fetch(py)),
    }
}
