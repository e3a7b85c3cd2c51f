//! Who moves the messages of the control plane: whoever waits for one, and a keeper while nobody does.
//!
//! ```text
//!   caller   ── asks ── waits, and moves everything itself ── has its answer
//!   keeper   ──────────────── sleeps ──────────────────────── ── moves, until somebody wants to
//! ```
//!
//! So a question and its answer wake no other thread of this process, and signs of life are answered
//! however long nobody asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use crate::ClusterError;

/// After so long without a call the keeper takes over. Signs of life are due after seconds.
const LULL: Duration = Duration::from_millis(50);

/// A runtime of one thread: the one that waits for what it does.
pub(crate) fn runtime() -> Result<Runtime, ClusterError> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| here(&error))
}

fn here(error: &std::io::Error) -> ClusterError {
    let (address, reason) = ("this machine".to_owned(), error.to_string());
    ClusterError::Connect { address, reason }
}

/// A runtime that callers drive while they wait, and a keeper otherwise.
pub(crate) struct Driver {
    /// None once it is dropped.
    shared: Option<Arc<Shared>>,
    keeper: Option<JoinHandle<()>>,
}

struct Shared {
    runtime: Runtime,
    /// Calls that have begun, and that have ended.
    begun: AtomicU64,
    ended: AtomicU64,
    /// The keeper drives, or is about to.
    keeping: AtomicBool,
    /// The keeper should let somebody else drive.
    leave: Notify,
    /// Nobody calls soon: the keeper need not wait to see.
    alone: AtomicBool,
    over: AtomicBool,
}

impl Driver {
    /// A runtime with its keeper, who drives until somebody calls.
    pub(crate) fn start() -> Result<Self, ClusterError> {
        let shared = Arc::new(Shared {
            runtime: runtime()?,
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            keeping: AtomicBool::new(false),
            leave: Notify::new(),
            alone: AtomicBool::new(false),
            over: AtomicBool::new(false),
        });
        let inside = Arc::clone(&shared);
        let keeper = std::thread::Builder::new().name("network".to_owned());
        let keeper = keeper.spawn(move || inside.keep()).map_err(|error| here(&error))?;
        Ok(Self { shared: Some(shared), keeper: Some(keeper) })
    }

    /// Drives everything until this is done.
    ///
    /// # Panics
    /// On a thread that drives a runtime already.
    pub(crate) fn run<F: Future>(&self, work: F) -> F::Output {
        let shared = self.shared.as_ref().expect("it is dropped only once");
        shared.begun.fetch_add(1, Ordering::SeqCst);
        if shared.keeping.load(Ordering::SeqCst) {
            shared.leave.notify_one();
        }
        let _end = End(shared);
        shared.runtime.block_on(work)
    }

    /// Leaves everything to the keeper, at once.
    pub(crate) fn leave(&self) {
        if let (Some(shared), Some(keeper)) = (&self.shared, &self.keeper) {
            shared.alone.store(true, Ordering::SeqCst);
            keeper.thread().unpark();
        }
    }
}

/// Counts the end of a call, also of one that panics.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Shared {
    /// Drives while nobody else does.
    fn keep(&self) {
        let mut seen = 0;
        while !self.over.load(Ordering::SeqCst) {
            let ended = self.ended.load(Ordering::SeqCst);
            let unused = ended == seen || self.alone.swap(false, Ordering::SeqCst);
            let quiet = unused && self.begun.load(Ordering::SeqCst) == ended;
            seen = ended;
            if !quiet {
                std::thread::park_timeout(LULL);
                continue;
            }
            // Either a caller sees that the keeper drives, or the keeper sees the call.
            self.keeping.store(true, Ordering::SeqCst);
            let called = self.begun.load(Ordering::SeqCst) != ended;
            if !called && !self.over.load(Ordering::SeqCst) {
                self.runtime.block_on(self.leave.notified());
            }
            self.keeping.store(false, Ordering::SeqCst);
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let (Some(shared), Some(keeper)) = (self.shared.take(), self.keeper.take()) else { return };
        shared.over.store(true, Ordering::SeqCst);
        shared.leave.notify_one();
        keeper.thread().unpark();
        let _ = keeper.join();
        if let Some(shared) = Arc::into_inner(shared) {
            // A name that is being looked up may take long; nobody wants to know it any more.
            shared.runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use pantile_testkit::timing::soon;

    use super::*;

    #[test]
    fn callers_and_the_keeper_drive_in_turns() {
        let driver = Driver::start().unwrap();
        let turns = Arc::new(AtomicU64::new(0));
        for round in 1..=3 {
            let own = Arc::clone(&turns);
            // What is left behind by a call goes on without one.
            driver.run(async move {
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    own.fetch_add(1, Ordering::SeqCst);
                });
            });
            soon("the keeper", || (turns.load(Ordering::SeqCst) == round).then_some(()));
            // The keeper drives now, and lets a caller in.
            assert_eq!(
                driver.run(async {
                    tokio::task::yield_now().await;
                    round
                }),
                round
            );
        }
    }

    #[test]
    fn many_callers_at_once_all_come_to_their_end() {
        let driver = Driver::start().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8_u64 {
                let driver = &driver;
                scope.spawn(move || {
                    for turn in 0..50 {
                        let nap = Duration::from_millis((number + turn) % 3);
                        driver.run(async { tokio::time::sleep(nap).await });
                    }
                });
            }
        });
    }

    #[test]
    fn what_still_runs_ends_with_the_driver() {
        let driver = Driver::start().unwrap();
        let (held, gone) = channel::<()>();
        driver.run(async move {
            tokio::spawn(async move {
                std::future::pending::<()>().await;
                drop(held);
            });
        });
        drop(driver);
        assert!(gone.recv().is_err());
    }
}
