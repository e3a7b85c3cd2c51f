//! Elements as a buffer that NumPy reads without copying.
#![allow(unsafe_code, reason = "Python's buffers are pointers")]

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use pantile::array::Opening;
use pantile_engine::{DType, Element, ExternalBuffer, Tile};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Elements in a row. They do not change any more, unless their array is open to others.
#[pyclass(frozen)]
pub(crate) struct Buffer {
    tile: Arc<Tile>,
    /// Keeps the array open as long as others have this.
    opening: Option<Arc<Opening>>,
    #[pyo3(get)]
    dtype: &'static str,
}

impl Buffer {
    pub(crate) fn of_tile(tile: Arc<Tile>) -> Self {
        let dtype = numpy_name(tile.dtype());
        Self { tile, opening: None, dtype }
    }

    /// Memory of an array that is open: it can be written.
    pub(crate) fn open(tile: Arc<Tile>, opening: Arc<Opening>) -> Self {
        let dtype = numpy_name(tile.dtype());
        Self { tile, opening: Some(opening), dtype }
    }

    fn bytes(&self) -> &[u8] {
        self.tile.as_bytes()
    }
}

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
        let read_only = slf.opening.is_none();
        if read_only && flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("elements of an array are read-only here"));
        }
        let (start, length) = (slf.bytes().as_ptr(), slf.bytes().len());
        let py = slf.py();
        let owner: Py<Self> = slf.into();
        // SAFETY: the view is Python's to fill in; the bytes live as long as the owner, which the
        // view holds; no thread writes them, unless the array is open to other libraries.
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
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    }

    fn __len__(&self) -> usize {
        self.bytes().len()
    }
}

/// What shows memory of another object as its own: subclasses say which, by `_memory`.
#[pyclass(frozen, subclass)]
pub(crate) struct Memory;

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (*_words, **_names))]
    fn new(_words: &Bound<'_, PyTuple>, _names: Option<&Bound<'_, PyDict>>) -> Self {
        Self
    }

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
        // SAFETY: the view is Python's to fill in, and the object is one of its own.
        match unsafe { ffi::PyObject_GetBuffer(memory.as_ptr(), view, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}

/// The elements of an array of NumPy's, which `owner` keeps.
pub(crate) fn foreign(
    array: &Bound<'_, PyAny>,
    dtype: DType,
    owner: Arc<dyn Any + Send + Sync>,
) -> PyResult<ExternalBuffer> {
    let interface = array.getattr("__array_interface__")?;
    let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
    let (shape, strides): (Vec<usize>, Vec<isize>) =
        (array.getattr("shape")?.extract()?, array.getattr("strides")?.extract()?);
    let native: bool = array.getattr("dtype")?.getattr("isnative")?.extract()?;
    let name: String = array.getattr("dtype")?.getattr("name")?.extract()?;
    if !native || name != numpy_name(dtype) {
        let words = format!("got elements of {name}, expected native {}", numpy_name(dtype));
        return Err(PyBufferError::new_err(words));
    }
    let start = std::ptr::with_exposed_provenance_mut::<u8>(address);
    let start = NonNull::new(start).unwrap_or_else(NonNull::dangling);
    // SAFETY: NumPy says that the elements are there; the owner keeps the array, which keeps them;
    // arrays that can only be read are never written, because nothing assigns to them.
    Ok(unsafe { ExternalBuffer::new(start, dtype, (shape, strides), owner) })
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

    /// Its bytes. The caller does not touch the memory meanwhile.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the buffer is contiguous, writable and held; the package hands in memory that it
        // has just made, so there is no other reference.
        unsafe {
            std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.buffer.len_bytes())
        }
    }

    /// Takes these elements, which fill it.
    pub(crate) fn write<T: Element>(&mut self, elements: &[T]) -> PyResult<()> {
        let bytes = size_of_val(elements);
        if self.bytes().len() != bytes {
            let words = format!("got memory of {} bytes for {bytes}", self.bytes().len());
            return Err(PyBufferError::new_err(words));
        }
        // SAFETY: both have so many bytes, and the elements are not memory of Python's.
        unsafe {
            let from = elements.as_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(from, self.bytes().as_mut_ptr(), bytes);
        }
        Ok(())
    }
}

/// A copy of the elements whose bytes these are, contiguous and in the machine's order.
pub(crate) fn elements_of<T: Element>(given: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let buffer = PyBuffer::<u8>::get(given)?;
    let count = buffer.len_bytes() / size_of::<T>();
    let refused = |words: &str| Err(PyBufferError::new_err(words.to_owned()));
    if !buffer.is_c_contiguous() || count * size_of::<T>() != buffer.len_bytes() {
        return refused("expected contiguous memory of whole elements");
    }
    let mut elements = vec![T::default(); count];
    if count == 0 {
        return Ok(elements);
    }
    // SAFETY: the buffer is contiguous and held, and no thread writes it while the lock is held.
    let bytes =
        unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) };
    if T::DTYPE == DType::Bool && bytes.iter().any(|byte| *byte > 1) {
        return refused("expected truth values of one byte, 0 or 1");
    }
    // SAFETY: so many bytes are there on both sides, and any are valid elements; truth values were
    // looked at.
    unsafe {
        let room = elements.as_mut_ptr().cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), room, bytes.len());
    }
    Ok(elements)
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
