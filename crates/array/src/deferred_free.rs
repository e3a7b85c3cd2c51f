//! Deferred frees: dropped arrays are freed with the next program, or soon if there is none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError, Weak};
use std::time::Duration;

use pantile_engine::{ArrayId, ArrayIds};

use super::node::lock;
use super::session::Inner;

/// So long a dropped array waits for more of them, and for a program that takes it along.
const SOON: Duration = Duration::from_millis(20);

/// Longest sleep of the thread that frees; it is woken up.
const SLEEP: Duration = Duration::from_secs(60);

/// Dropped arrays.
pub(crate) struct DeferredFrees {
    /// The process that has the thread.
    process: u64,
    ids: Mutex<ArrayIds>,
    thrown: Condvar,
    /// A thread sleeps until an array is dropped. Where there is none, dropping an array makes no
    /// system call for every small array. Changed under the lock.
    asleep: AtomicBool,
    closed: AtomicBool,
}

impl Default for DeferredFrees {
    fn default() -> Self {
        Self {
            process: pantile_engine::process(),
            ids: Mutex::default(),
            thrown: Condvar::default(),
            asleep: AtomicBool::default(),
            closed: AtomicBool::default(),
        }
    }
}

impl DeferredFrees {
    /// An array was dropped. A forked process has nothing to free, and the thread may have held the lock
    /// when it was forked.
    pub(crate) fn defer(&self, id: ArrayId) {
        if pantile_engine::process() != self.process {
            return;
        }
        let mut ids = lock(&self.ids);
        ids.push(id);
        // Under the lock, so that the thread does not fall asleep in between.
        let wakes = self.asleep.load(Ordering::Relaxed);
        self.asleep.store(false, Ordering::Relaxed);
        drop(ids);
        if wakes {
            self.thrown.notify_one();
        }
    }

    /// What is to be freed; the caller that takes it frees it.
    pub(crate) fn take(&self) -> ArrayIds {
        std::mem::take(&mut *lock(&self.ids))
    }

    /// The world is gone, and everything with it.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        drop(lock(&self.ids));
        self.thrown.notify_one();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Waits until an array was dropped. It may be gone by then, with a program.
    fn wait(&self) {
        let mut ids = lock(&self.ids);
        self.asleep.store(ids.is_empty(), Ordering::Relaxed);
        while self.asleep.load(Ordering::Relaxed) && !self.is_closed() {
            let waited = self.thrown.wait_timeout(ids, SLEEP);
            ids = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Starts a thread that frees dropped arrays, for ranks that are elsewhere: their memory is
/// not this process's, and others may need it. It ends with the world.
pub(crate) fn start_sweeper(world: Weak<Inner>, deferred_frees: Arc<DeferredFrees>) {
    let work = move || {
        loop {
            deferred_frees.wait();
            if deferred_frees.is_closed() {
                return;
            }
            std::thread::sleep(SOON);
            let Some(inner) = world.upgrade() else { return };
            // While a program runs the caller has the executor; it is asked again soon.
            let mut executor = match inner.executor.try_lock() {
                Ok(executor) => executor,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => continue,
            };
            let ids = deferred_frees.take();
            if !ids.is_empty() {
                executor.forget(&ids);
            }
        }
    };
    // Without it garbage is forgotten with the next program.
    let _ = std::thread::Builder::new().name("sweeper".to_owned()).spawn(work);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;

    #[test]
    fn a_forked_process_defers_nothing() {
        for forks in [0, 1] {
            let own = DeferredFrees::default();
            let process = own.process.wrapping_add(forks);
            let deferred_frees = DeferredFrees { process, ..own };
            deferred_frees.defer(ArrayId(3));
            assert_eq!(deferred_frees.take().is_empty(), forks == 1);
        }
    }

    #[test]
    fn a_forked_process_closes_nothing() {
        for forks in [0, 1] {
            let mut session = Session::threads(2).unwrap_or_else(|fault| panic!("{fault}"));
            let deferred_frees = Arc::clone(&session.inner.deferred_frees);
            // As a child sees it: another process started the ranks.
            let inner = Arc::get_mut(&mut session.inner).expect("the only session");
            inner.process = inner.process.wrapping_add(forks);
            drop(session);
            assert_eq!(deferred_frees.is_closed(), forks == 0);
        }
    }
}
