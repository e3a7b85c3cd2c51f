//! Elements as a buffer that NumPy reads without copying.

use std::any::Any;
use std::sync::Arc;

use pantile::array::Opening;
use pantile_engine::{DType, Element, ExternalBuffer, Tile, bytes_of};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::raw::{HeldBytes, external_buffer};

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

    /// The bytes of the elements.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.tile.as_bytes()
    }

    /// True if others must not write them.
    pub(crate) fn is_read_only(&self) -> bool {
        self.opening.is_none()
    }
}

#[pymethods]
impl Buffer {
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
    Ok(external_buffer(address, dtype, (shape, strides), owner))
}

/// Memory of Python's that is written.
pub(crate) struct Room {
    held: HeldBytes,
}

impl Room {
    /// Takes hold of contiguous memory that can be written.
    pub(crate) fn new(room: &Bound<'_, PyAny>) -> PyResult<Self> {
        const WORDS: &str = "expected contiguous memory that can be written";
        let held = HeldBytes::new(room, WORDS)?;
        match held.is_read_only() {
            true => Err(PyBufferError::new_err(WORDS)),
            false => Ok(Self { held }),
        }
    }

    /// Its bytes. The caller does not touch the memory meanwhile.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        self.held.bytes_mut()
    }

    /// Takes these elements, which fill it.
    pub(crate) fn write<T: Element>(&mut self, elements: &[T]) -> PyResult<()> {
        let (from, room) = (bytes_of(elements), self.bytes());
        if room.len() != from.len() {
            let words = format!("got memory of {} bytes for {}", room.len(), from.len());
            return Err(PyBufferError::new_err(words));
        }
        room.copy_from_slice(from);
        Ok(())
    }
}

/// A copy of the elements whose bytes these are, contiguous and in the machine's order.
pub(crate) fn elements_of<T: Element>(given: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    HeldBytes::new(given, "expected contiguous memory of whole elements")?.elements()
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
