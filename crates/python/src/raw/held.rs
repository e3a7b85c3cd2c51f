//! Contiguous memory of Python's, as bytes.

use pantile_engine::{DType, Element};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

/// Memory of a Python object: held so long, it can neither move nor go away.
///
/// Invariant: R2 of the folder; it is contiguous.
pub(crate) struct HeldBytes {
    buffer: PyBuffer<u8>,
}

impl HeldBytes {
    /// Takes hold of contiguous memory.
    ///
    /// # Errors
    /// If it is not contiguous, in the given words.
    pub(crate) fn new(given: &Bound<'_, PyAny>, words: &'static str) -> PyResult<Self> {
        let buffer = PyBuffer::<u8>::get(given)?;
        match buffer.is_c_contiguous() {
            true => Ok(Self { buffer }),
            false => Err(PyBufferError::new_err(words)),
        }
    }

    /// True if it must not be written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.buffer.readonly()
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.buffer.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: R2, R3; `new` refuses memory that is not contiguous, and the length is the buffer's.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), self.buffer.len_bytes()) }
    }

    /// Its bytes, to be written.
    ///
    /// # Panics
    /// If it must not be written.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        assert!(!self.is_read_only(), "memory that can be written");
        if self.buffer.len_bytes() == 0 {
            return &mut [];
        }
        let (start, length) = (self.buffer.buf_ptr().cast(), self.buffer.len_bytes());
        // SAFETY: R2, R3; `new` refuses memory that is not contiguous, and read-only memory is refused
        // above.
        unsafe { std::slice::from_raw_parts_mut(start, length) }
    }

    /// A copy of its elements, in the machine's order.
    ///
    /// # Errors
    /// If they are not whole, or not truth values where those are asked for.
    pub(crate) fn elements<T: Element>(&self) -> PyResult<Vec<T>> {
        let bytes = self.bytes();
        let refused = |words: &str| Err(PyBufferError::new_err(words.to_owned()));
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return refused("expected contiguous memory of whole elements");
        }
        if T::DTYPE == DType::Bool && bytes.iter().any(|byte| *byte > 1) {
            return refused("expected truth values of one byte, 0 or 1");
        }
        let mut elements = vec![T::default(); bytes.len() / size_of::<T>()];
        // SAFETY: R3; the lengths are equal, truth values were looked at, and any other bytes are elements.
        unsafe {
            let room = elements.as_mut_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), room, bytes.len());
        }
        Ok(elements)
    }
}
