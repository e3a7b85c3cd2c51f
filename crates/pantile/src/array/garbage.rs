//! Arrays that nobody refers to any more: forgotten with the next program, or soon if there is none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError, Weak};
use std::time::Duration;

use pantile_engine::ArrayId;

use super::node::lock;
use super::world::Inner;

/// So long what was thrown away waits for more of it, and for a program that takes it along.
const SOON: Duration = Duration::from_millis(20);

/// Longest sleep of who sweeps; it is woken up.
const SLEEP: Duration = Duration::from_secs(60);

/// What was thrown away.
#[derive(Default)]
pub(crate) struct Garbage {
    ids: Mutex<Vec<ArrayId>>,
    thrown: Condvar,
    /// Somebody sleeps until something is thrown away. Where nobody does, dropping an array wakes
    /// nobody up: that would be a call of the system for every small array. Changed under the lock.
    asleep: AtomicBool,
    closed: AtomicBool,
}

impl Garbage {
    /// Nobody refers to an array any more.
    pub(crate) fn throw(&self, id: ArrayId) {
        let mut ids = lock(&self.ids);
        ids.push(id);
        // Under the lock, so that nobody falls asleep in between.
        let wakes = self.asleep.load(Ordering::Relaxed);
        self.asleep.store(false, Ordering::Relaxed);
        drop(ids);
        if wakes {
            self.thrown.notify_one();
        }
    }

    /// What is to be forgotten; whoever takes it sees to that.
    pub(crate) fn take(&self) -> Vec<ArrayId> {
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

    /// Waits until something was thrown away. It may be gone by then, with a program.
    fn wait(&self) {
        let mut ids = lock(&self.ids);
        self.asleep.store(ids.is_empty(), Ordering::Relaxed);
        while self.asleep.load(Ordering::Relaxed) && !self.is_closed() {
            let waited = self.thrown.wait_timeout(ids, SLEEP);
            ids = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Starts a thread that forgets what was thrown away, for ranks that are elsewhere: their memory is
/// not this process's, and others may need it. It ends with the world.
pub(crate) fn sweep(world: Weak<Inner>, garbage: Arc<Garbage>) {
    let work = move || {
        loop {
            garbage.wait();
            if garbage.is_closed() {
                return;
            }
            std::thread::sleep(SOON);
            let Some(inner) = world.upgrade() else { return };
            // While a program runs the caller has the crew; it is asked again soon.
            let mut crew = match inner.crew.try_lock() {
                Ok(crew) => crew,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => continue,
            };
            let ids = garbage.take();
            if !ids.is_empty() {
                crew.forget(&ids);
            }
        }
    };
    // Without it garbage is forgotten with the next program.
    let _ = std::thread::Builder::new().name("sweeper".to_owned()).spawn(work);
}
