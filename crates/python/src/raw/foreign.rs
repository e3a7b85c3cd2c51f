//! Elements of other libraries.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use pantile_engine::{DType, ExternalBuffer};

/// Elements at an address that NumPy gave for an array, which `owner` keeps.
pub(crate) fn external_buffer(
    address: usize,
    dtype: DType,
    lie: (Vec<usize>, Vec<isize>),
    owner: Arc<dyn Any + Send + Sync>,
) -> ExternalBuffer {
    let start = std::ptr::with_exposed_provenance_mut::<u8>(address);
    let start = NonNull::new(start).unwrap_or_else(NonNull::dangling);
    // SAFETY: R2; NumPy says that the elements are there, and nothing assigns to read-only arrays.
    unsafe { ExternalBuffer::new(start, dtype, lie, owner) }
}
