//! How a thread waits: it spins for a while, then parks until another thread wakes it (as a futex
//! does). Every wait of this kind in the workspace is made of these two: [`Spin`] says how long a
//! thread spins, and how; [`Wakeup`] is where it parks.

use std::time::{Duration, Instant};

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, fence, lock};

/// How a thread spins before it parks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spin {
    /// It polls at least once, and then for so long.
    pub longest: Duration,
    /// Polls between two looks at the clock.
    pub polls: u32,
    /// Pause instructions before each poll but the first.
    pub pauses: u32,
    /// It yields its core before it looks at the clock: with more threads than cores, the thread
    /// waited for may need this very core.
    pub yields: bool,
}

impl Spin {
    /// Waking up costs about five microseconds, so this is about what a short exchange takes.
    const SHORT: Self =
        Self { longest: Duration::from_micros(20), polls: 64, pauses: 1, yields: false };

    /// With more ranks than cores a thread that spins yields its core in between, so it may spin
    /// longer: it costs the others next to nothing, and being woken costs as much as before.
    const OVERSUBSCRIBED: Self =
        Self { longest: Duration::from_micros(500), polls: 8, pauses: 1, yields: true };

    /// A short while, for polls that read memory; `oversubscribed` if there are more threads than
    /// cores.
    #[must_use]
    pub const fn short(oversubscribed: bool) -> Self {
        if oversubscribed { Self::OVERSUBSCRIBED } else { Self::SHORT }
    }

    /// One poll at a time, and a yield of the core after each: for polls that are calls of the
    /// system, or take a lock.
    #[must_use]
    pub const fn yielding(longest: Duration) -> Self {
        Self { longest, polls: 1, pauses: 0, yields: true }
    }

    /// The same for so long.
    #[must_use]
    pub const fn lasting(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }

    /// Polls until `ready` gives something, or the time is over.
    pub fn until<T>(&self, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        if let Some(found) = ready() {
            return Some(found);
        }
        if cfg!(feature = "explore") {
            return None;
        }
        let started = Instant::now();
        // The first poll was one of the first round.
        let mut polls = self.polls.saturating_sub(1);
        loop {
            for _ in 0..polls {
                (0..self.pauses).for_each(|_| std::hint::spin_loop());
                if let Some(found) = ready() {
                    return Some(found);
                }
            }
            if self.yields {
                std::thread::yield_now();
            }
            if started.elapsed() >= self.longest {
                // A yield may have lasted long: what came meanwhile need not be slept for.
                return ready();
            }
            polls = self.polls;
        }
    }
}

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

    /// Spins, then parks until `ready` gives something. It polls at least once in `interval`, woken
    /// or not.
    pub fn wait<T>(
        &self,
        spin: &Spin,
        interval: Duration,
        mut ready: impl FnMut() -> Option<T>,
    ) -> T {
        let mut found = spin.until(&mut ready);
        loop {
            match found {
                Some(found) => return found,
                None => found = self.park(interval, &mut ready),
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
