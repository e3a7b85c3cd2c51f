//! How a rank waits: it tries again and again, looks up now and then, and lets others run.

use std::time::{Duration, Instant};

/// Tries between two looks for notices.
const TRIES_PER_LISTEN: u64 = 64;

/// Tries between two looks at the clock, while nothing but trying happens.
const TRIES_PER_CLOCK: u64 = 1024;

/// Tries before the core is offered to others: about as long as a short exchange takes.
const TRIES_ALONE: u64 = 4096;

/// Offers of the core before a rank that leaves sleeps between its looks.
const OFFERS: u32 = 1000;

/// A nap of a rank that leaves.
const NAP: Duration = Duration::from_micros(500);

/// What to do before the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing.
    Again,
    /// Look for notices.
    Listen,
    /// Look for notices and at the clock.
    Clock,
}

/// The patience of one wait.
pub(crate) struct Patience {
    tries: u64,
    /// From which try on the core is offered to others.
    alone: u64,
    since: Option<Instant>,
}

impl Patience {
    /// A new wait; in a crowd the core is offered from the beginning, because the rank waited for
    /// may need this very core.
    pub(crate) fn new(crowded: bool) -> Self {
        Self { tries: 0, alone: if crowded { 0 } else { TRIES_ALONE }, since: None }
    }

    /// One more try was in vain.
    pub(crate) fn step(&mut self) -> Step {
        self.tries += 1;
        let offers = self.tries > self.alone;
        if offers {
            std::thread::yield_now();
        }
        match self.tries {
            tries if !tries.is_multiple_of(TRIES_PER_LISTEN) => Step::Again,
            // An offer may take as long as others like, so the clock is looked at more often.
            tries if offers || tries.is_multiple_of(TRIES_PER_CLOCK) => Step::Clock,
            _ => Step::Listen,
        }
    }

    /// How long this wait has lasted, to a few microseconds.
    pub(crate) fn waited(&mut self) -> Duration {
        self.since.get_or_insert_with(Instant::now).elapsed()
    }
}

/// The pauses of a rank that leaves and has nothing else to do.
#[derive(Default)]
pub(crate) struct Pauses {
    taken: u32,
}

impl Pauses {
    /// Lets others run.
    pub(crate) fn pause(&mut self) {
        if self.taken < OFFERS {
            self.taken += 1;
            std::thread::yield_now();
        } else {
            std::thread::sleep(NAP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(crowded: bool, tries: u64) -> [usize; 3] {
        let mut patience = Patience::new(crowded);
        let steps: Vec<Step> = (0..tries).map(|_| patience.step()).collect();
        let count = |wanted| steps.iter().filter(|step| **step == wanted).count();
        [count(Step::Again), count(Step::Listen), count(Step::Clock)]
    }

    #[test]
    fn notices_and_the_clock_are_looked_at() {
        assert_eq!(steps(false, 1024), [1008, 15, 1]);
        assert_eq!(steps(false, 4096 + 1024), [5040, 60, 20]);
        assert_eq!(steps(true, 1024), [1008, 0, 16]);
    }

    #[test]
    fn a_wait_gets_longer() {
        let mut patience = Patience::new(false);
        let first = patience.waited();
        std::thread::sleep(Duration::from_millis(2));
        assert!(patience.waited() >= first + Duration::from_millis(2));
    }
}
