//! Locks, atomics and threads: the standard ones, or those of an explorer of interleavings.

#[cfg(not(feature = "explore"))]
pub(crate) use std::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence},
    sync::{Condvar, Mutex, MutexGuard},
};

#[cfg(feature = "explore")]
pub(crate) use shuttle::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence},
};

/// Locks, whatever happened to the last holder: everything behind our locks is whole between any
/// two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
