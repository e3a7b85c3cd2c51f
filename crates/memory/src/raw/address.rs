//! Places in memory that threads may tell each other.

use std::ptr::NonNull;

/// The address of a byte. It says nothing about who may read or write there, so that any thread may
/// have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAddress(NonNull<u8>);

// SAFETY: R3; reads and writes are unsafe blocks of those who make them.
unsafe impl Send for MemoryAddress {}
// SAFETY: R3; reads and writes are unsafe blocks of those who make them.
unsafe impl Sync for MemoryAddress {}

impl MemoryAddress {
    /// The address as a pointer.
    #[must_use]
    #[inline]
    pub fn pointer(self) -> NonNull<u8> {
        self.0
    }

    /// So many bytes further.
    ///
    /// # Panics
    /// If there are no such addresses.
    #[must_use]
    #[inline]
    pub fn further(self, bytes: usize) -> Self {
        Self(self.0.map_addr(|address| address.checked_add(bytes).expect("an address")))
    }
}

impl From<NonNull<u8>> for MemoryAddress {
    fn from(pointer: NonNull<u8>) -> Self {
        Self(pointer)
    }
}
