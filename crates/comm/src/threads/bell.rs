//! How a rank waits: it looks again and again for a while, then sleeps until it is rung.

use std::time::{Duration, Instant};

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, fence, lock};

/// How long a rank looks before it sleeps: waking up costs about five microseconds, so this is
/// about what a short exchange takes.
const SPIN: Duration = Duration::from_micros(20);

/// With more ranks than cores a rank that looks gives its core away in between, so it may look
/// longer: it costs the others next to nothing, and being woken costs as much as before.
const SPIN_CROWDED: Duration = Duration::from_micros(500);

/// Looks between two glances at the clock.
const LOOKS: u32 = 64;
const LOOKS_CROWDED: u32 = 8;

/// Wakes one sleeping thread: a rank that waits for others, or whoever else waits for one thing.
///
/// Invariant: a rank that sleeps has set `asleep` *before* it looked for the last time, and whoever
/// changes what it looks at reads `asleep` *after* the change. So either the sleeper sees the
/// change, or the ringer sees the sleeper.
#[derive(Default)]
pub struct Bell {
    asleep: AtomicBool,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Bell {
    /// Wakes the sleeper if there is one. Called after every change that it may be waiting for.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) {
            // The lock makes sure that the sleeper is not between its last look and its sleep.
            drop(lock(&self.lock));
            self.condvar.notify_all();
        }
    }

    /// Looks until `ready` gives something, for a short while; `crowded` if there are more threads
    /// than cores.
    pub fn spin<T>(crowded: bool, ready: impl FnMut() -> Option<T>) -> Option<T> {
        Self::spin_for(if crowded { SPIN_CROWDED } else { SPIN }, crowded, ready)
    }

    /// The same, at least once and then for so long.
    pub fn spin_for<T>(
        longest: Duration,
        crowded: bool,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = ready() {
            return Some(found);
        }
        if cfg!(feature = "explore") {
            return None;
        }
        let looks = if crowded { LOOKS_CROWDED } else { LOOKS };
        let started = Instant::now();
        loop {
            for _ in 0..looks {
                if let Some(found) = ready() {
                    return Some(found);
                }
                std::hint::spin_loop();
            }
            // With more ranks than cores the one waited for may need this very core.
            if crowded {
                std::thread::yield_now();
            }
            if started.elapsed() >= longest {
                return None;
            }
        }
    }

    /// Sleeps until rung, or for `longest`; looks once more first. Returns what was found then, and
    /// nothing if it slept, whatever there is now.
    pub fn sleep<T>(&self, longest: Duration, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        let guard = lock(&self.lock);
        self.asleep.store(true, Ordering::Relaxed);
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
        self.asleep.store(false, Ordering::Relaxed);
        found
    }
}
