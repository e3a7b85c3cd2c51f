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

/// Wakes one sleeping rank.
///
/// Invariant: a rank that sleeps has set `asleep` *before* it looked for the last time, and whoever
/// changes what it looks at reads `asleep` *after* the change. So either the sleeper sees the
/// change, or the ringer sees the sleeper.
#[derive(Default)]
pub(super) struct Bell {
    asleep: AtomicBool,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Bell {
    /// Wakes the rank if it sleeps. Called after every change that it may be waiting for.
    pub(super) fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) {
            // The lock makes sure that the sleeper is not between its last look and its sleep.
            drop(lock(&self.lock));
            self.condvar.notify_all();
        }
    }

    /// Looks until `ready` gives something, for a short while.
    pub(super) fn spin<T>(crowded: bool, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        if let Some(found) = ready() {
            return Some(found);
        }
        if cfg!(feature = "explore") {
            return None;
        }
        let (looks, longest) = if crowded { (LOOKS_CROWDED, SPIN_CROWDED) } else { (LOOKS, SPIN) };
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

    /// Sleeps until rung, or for `longest`; looks once more first. Returns what was found then.
    pub(super) fn sleep<T>(
        &self,
        longest: Duration,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
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
