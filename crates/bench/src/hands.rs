//! Threads that do a case by hand: asleep while ours runs, awake before the clock starts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, bail};

/// Looks at the others before a thread lets somebody else have the core.
const SPINS: usize = 4000;

/// Where threads meet within their work: nobody sleeps.
pub(crate) struct Gate {
    count: usize,
    arrived: AtomicUsize,
    turn: AtomicUsize,
    /// One of them panicked: nobody waits any more.
    broken: AtomicBool,
}

impl Gate {
    fn new(count: usize) -> Self {
        let zero = || AtomicUsize::new(0);
        Self { count, arrived: zero(), turn: zero(), broken: AtomicBool::new(false) }
    }

    /// Waits until all threads are here, or one of them never will be.
    pub(crate) fn wait(&self) {
        let turn = self.turn.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            self.arrived.store(0, Ordering::Release);
            self.turn.fetch_add(1, Ordering::AcqRel);
            return;
        }
        let mut looks = 0;
        while self.turn.load(Ordering::Acquire) == turn && !self.broken.load(Ordering::Acquire) {
            looks += 1;
            if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// Threads at work: each does its part of a way, again and again.
pub(crate) struct Hands<'a> {
    gate: &'a Gate,
    start: &'a Barrier,
    way: &'a AtomicUsize,
    calls: &'a AtomicUsize,
    work: &'a Work<'a>,
}

/// What a thread does: the way, its number, where it meets the others.
type Work<'a> = dyn Fn(usize, usize, &Gate) + Sync + 'a;

/// The way that means: no more work.
const END: usize = usize::MAX;

/// Calls `lead` with threads that do `work`; the caller is the first of them.
pub(crate) fn with<T>(
    ranks: usize,
    work: &(dyn Fn(usize, usize, &Gate) + Sync),
    lead: impl FnOnce(&Hands<'_>) -> T,
) -> T {
    let (gate, start) = (Gate::new(ranks), Barrier::new(ranks));
    let (way, calls) = (AtomicUsize::new(END), AtomicUsize::new(0));
    let hands = Hands { gate: &gate, start: &start, way: &way, calls: &calls, work };
    std::thread::scope(|scope| {
        let hands = &hands;
        for rank in 1..ranks {
            scope.spawn(move || {
                loop {
                    hands.start.wait();
                    if hands.way.load(Ordering::Acquire) == END {
                        return;
                    }
                    hands.take_part(rank);
                }
            });
        }
        let result = catch_unwind(AssertUnwindSafe(|| lead(hands)));
        way.store(END, Ordering::Release);
        start.wait();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl Hands<'_> {
    /// Seconds for each of so many calls of a way.
    ///
    /// # Errors
    /// A thread panicked.
    pub(crate) fn run(&self, way: usize, calls: usize) -> Result<f64> {
        self.way.store(way, Ordering::Release);
        self.calls.store(calls, Ordering::Release);
        self.start.wait();
        let seconds = self.take_part(0);
        if self.gate.broken.load(Ordering::Acquire) {
            bail!("a loop by hand panicked");
        }
        Ok(seconds / calls as f64)
    }

    /// One thread's share of a run, and the seconds that it took.
    fn take_part(&self, rank: usize) -> f64 {
        let (way, calls) = (self.way.load(Ordering::Acquire), self.calls.load(Ordering::Acquire));
        self.gate.wait();
        let start = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..calls {
                (self.work)(way, rank, self.gate);
                self.gate.wait();
            }
        }));
        if done.is_err() {
            self.gate.broken.store(true, Ordering::Release);
        }
        start.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_do_all_calls() {
        for ranks in [1, 2, 5] {
            let count = AtomicUsize::new(0);
            let work = |way: usize, rank: usize, gate: &Gate| {
                count.fetch_add(way * (rank + 1), Ordering::SeqCst);
                gate.wait();
                assert!(count.load(Ordering::SeqCst).is_multiple_of(7 * ranks * (ranks + 1) / 2));
                gate.wait();
            };
            let seconds = with(ranks, &work, |hands| hands.run(7, 3).and(hands.run(7, 2)));
            assert!(seconds.is_ok_and(|seconds| seconds > 0.0), "{ranks} threads");
            assert_eq!(count.into_inner(), 5 * 7 * ranks * (ranks + 1) / 2);
        }
    }

    #[test]
    fn a_thread_that_panics_stops_nobody() {
        for guilty in [0, 1, 2] {
            let work = |_: usize, rank: usize, gate: &Gate| {
                assert_ne!(rank, guilty, "on purpose");
                gate.wait();
            };
            let ran = with(3, &work, |hands| hands.run(0, 2));
            assert_eq!(
                ran.map_err(|error| error.to_string()),
                Err("a loop by hand panicked".into())
            );
        }
    }
}
