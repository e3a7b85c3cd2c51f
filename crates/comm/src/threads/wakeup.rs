//! How a thread waits: it spins for a while, then parks until another thread wakes it (as a futex
//! does).

use std::time::{Duration, Instant};

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, fence, lock};

/// How long a thread spins before it parks: waking up costs about five microseconds, so this is
/// about what a short exchange takes.
const SPIN: Duration = Duration::from_micros(20);

/// With more ranks than cores a thread that spins yields its core in between, so it may spin
/// longer: it costs the others next to nothing, and being woken costs as much as before.
const SPIN_OVERSUBSCRIBED: Duration = Duration::from_micros(500);

/// Polls between two looks at the clock.
const POLLS: u32 = 64;
const POLLS_OVERSUBSCRIBED: u32 = 8;

/// Wakes one parked thread: a rank that waits for others, or another thread that waits for one
/// thing.
///
/// Invariant: a thread that parks has set `parked` *before* it polled for the last time, and a
/// thread that changes what it polls reads `parked` *after* the change. So either the waiter sees
/// the change, or the waker sees the waiter.
#[derive(Default)]
pub struct Wakeup {
    parked: AtomicBool,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Wakeup {
    /// Wakes the parked thread if there is one. Called after every change that it may be waiting
    /// for.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.parked.load(Ordering::Relaxed) {
            // The lock makes sure that the waiter is not between its last poll and its sleep.
            drop(lock(&self.lock));
            self.condvar.notify_all();
        }
    }

    /// Polls until `ready` gives something, for a short while; `oversubscribed` if there are more
    /// threads than cores.
    pub fn spin<T>(oversubscribed: bool, ready: impl FnMut() -> Option<T>) -> Option<T> {
        Self::spin_for(
            if oversubscribed { SPIN_OVERSUBSCRIBED } else { SPIN },
            oversubscribed,
            ready,
        )
    }

    /// The same, at least once and then for so long.
    pub fn spin_for<T>(
        longest: Duration,
        oversubscribed: bool,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = ready() {
            return Some(found);
        }
        if cfg!(feature = "explore") {
            return None;
        }
        let looks = if oversubscribed { POLLS_OVERSUBSCRIBED } else { POLLS };
        let started = Instant::now();
        loop {
            for _ in 0..looks {
                if let Some(found) = ready() {
                    return Some(found);
                }
                std::hint::spin_loop();
            }
            // With more ranks than cores the one waited for may need this very core.
            if oversubscribed {
                std::thread::yield_now();
            }
            if started.elapsed() >= longest {
                return None;
            }
        }
    }

    /// Parks until woken, or for `longest`; polls once more first. Returns what was found then, and
    /// nothing if it slept, whatever there is now.
    pub fn park<T>(&self, longest: Duration, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        let guard = lock(&self.lock);
        self.parked.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let found = ready();
        if found.is_none() {
            #[cfg(not(feature = "explore"))]
            drop(self.condvar.wait_timeout(guard, longest));
            #[cfg(feature = "explore")]
            {
                let _ = longest;
                drop(self.condvar.wait(guard));
            }
        }
        self.parked.store(false, Ordering::Relaxed);
        found
    }
}
