//! Elements as a buffer that NumPy can look at without copying.
#![allow(unsafe_code, reason = "Python's buffers are pointers")]

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use pantile_engine::{DType, Tile};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Elements in a row that do not change any more.
#[pyclass(frozen)]
pub(crate) struct Buffer {
    tile: Arc<Tile>,
    #[pyo3(get)]
    dtype: &'static str,
}

impl Buffer {
    pub(crate) fn of_tile(tile: Arc<Tile>) -> Self {
        let dtype = numpy_name(tile.dtype());
        Self { tile, dtype }
    }

    fn bytes(&self) -> &[u8] {
        self.tile.as_bytes()
    }
}

#[pymethods]
impl Buffer {
    /// Shows the bytes; whoever looks keeps this object alive.
    ///
    /// # Safety
    /// Python calls it with a view to fill in.
    unsafe fn __getbuffer__(
        slf: PyRef<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("elements of an array are read-only here"));
        }
        let (start, length) = (slf.bytes().as_ptr(), slf.bytes().len());
        let py = slf.py();
        let owner: Py<Self> = slf.into();
        // SAFETY: the view is Python's to fill in; the bytes live as long as the owner, which the
        // view holds, and nobody writes them.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                owner.as_ptr(),
                start.cast_mut().cast::<c_void>(),
                isize::try_from(length).unwrap_or(isize::MAX),
                1,
                flags,
            )
        };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    }

    fn __len__(&self) -> usize {
        self.bytes().len()
    }
}

/// Memory of Python's that is written: held so long, it can neither move nor go away.
pub(crate) struct Room {
    buffer: PyBuffer<u8>,
}

impl Room {
    /// Takes hold of contiguous memory that can be written.
    pub(crate) fn new(room: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<u8>::get(room)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("expected contiguous memory that can be written"));
        }
        Ok(Self { buffer })
    }

    /// Its bytes. Whoever gave the memory does not touch it meanwhile.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the buffer is contiguous, writable and held; the package hands in memory that it
        // has just made and that nobody else knows.
        unsafe {
            std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.buffer.len_bytes())
        }
    }
}

/// NumPy's name of a type.
pub(crate) fn numpy_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::C64 => "complex64",
        DType::C128 => "complex128",
    }
}

/// The type that NumPy calls so.
pub(crate) fn dtype_of(name: &str) -> PyResult<DType> {
    let known = DType::ALL.into_iter().find(|dtype| numpy_name(*dtype) == name);
    known.ok_or_else(|| {
        pyo3::exceptions::PyTypeError::new_err(format!("there are no arrays of type {name:?}"))
    })
}
