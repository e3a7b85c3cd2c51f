//! How a rank waits: it polls, checks for control messages now and then, and yields its core
//! (backoff).

use std::time::{Duration, Instant};

/// Tries between two polls for control messages.
const TRIES_PER_CONTROL_POLL: u64 = 64;

/// Tries between two looks at the clock, while nothing but trying happens.
const TRIES_PER_CLOCK: u64 = 1024;

/// Tries before the thread yields its core: about as long as a short exchange takes.
const TRIES_BEFORE_YIELD: u64 = 4096;

/// Yields of the core before a rank that leaves sleeps between its polls.
const YIELDS_MAX: u32 = 1000;

/// Sleep of a rank that leaves, between two polls.
const SLEEP: Duration = Duration::from_micros(500);

/// What to do before the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackoffStep {
    /// Nothing.
    Again,
    /// Poll for control messages.
    PollControl,
    /// Poll for control messages and look at the clock.
    Clock,
}

/// The backoff of one wait.
pub(crate) struct Backoff {
    tries: u64,
    /// From which try on the thread yields its core.
    yields_after: u64,
    since: Option<Instant>,
}

impl Backoff {
    /// A new wait; with more ranks than cores it yields from the beginning, because the rank waited
    /// for may need this very core.
    pub(crate) fn new(oversubscribed: bool) -> Self {
        Self {
            tries: 0,
            yields_after: if oversubscribed { 0 } else { TRIES_BEFORE_YIELD },
            since: None,
        }
    }

    /// One more try was in vain.
    pub(crate) fn step(&mut self) -> BackoffStep {
        self.tries += 1;
        let yields = self.tries > self.yields_after;
        if yields {
            std::thread::yield_now();
        }
        match self.tries {
            tries if !tries.is_multiple_of(TRIES_PER_CONTROL_POLL) => BackoffStep::Again,
            // A yield may take as long as other threads run, so the clock is looked at more often.
            tries if yields || tries.is_multiple_of(TRIES_PER_CLOCK) => BackoffStep::Clock,
            _ => BackoffStep::PollControl,
        }
    }

    /// How long this wait has lasted, to a few microseconds.
    pub(crate) fn waited(&mut self) -> Duration {
        self.since.get_or_insert_with(Instant::now).elapsed()
    }
}

/// The backoff of a rank that leaves and has nothing else to do.
#[derive(Default)]
pub(crate) struct ExitBackoff {
    taken: u32,
}

impl ExitBackoff {
    /// Lets others run.
    pub(crate) fn pause(&mut self) {
        if self.taken < YIELDS_MAX {
            self.taken += 1;
            std::thread::yield_now();
        } else {
            std::thread::sleep(SLEEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(oversubscribed: bool, tries: u64) -> [usize; 3] {
        let mut backoff = Backoff::new(oversubscribed);
        let steps: Vec<BackoffStep> = (0..tries).map(|_| backoff.step()).collect();
        let count = |wanted| steps.iter().filter(|step| **step == wanted).count();
        [count(BackoffStep::Again), count(BackoffStep::PollControl), count(BackoffStep::Clock)]
    }

    #[test]
    fn notices_and_the_clock_are_looked_at() {
        assert_eq!(steps(false, 1024), [1008, 15, 1]);
        assert_eq!(steps(false, 4096 + 1024), [5040, 60, 20]);
        assert_eq!(steps(true, 1024), [1008, 0, 16]);
    }

    #[test]
    fn a_wait_gets_longer() {
        let mut backoff = Backoff::new(false);
        let first = backoff.waited();
        std::thread::sleep(Duration::from_millis(2));
        assert!(backoff.waited() >= first + Duration::from_millis(2));
    }
}
