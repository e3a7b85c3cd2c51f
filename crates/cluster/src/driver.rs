//! What moves the messages of the control plane: the thread that waits for one, and a background
//! poller while no thread does.
//!
//! ```text
//!   caller              ── requests ── waits, and moves everything itself ── has its reply
//!   background poller   ──────────────── sleeps ──────────────────────────── moves, until the next call
//! ```
//!
//! So a request and its reply wake no other thread of this process, and heartbeats (HTTP/2 pings)
//! are answered however long the caller computes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use crate::ClusterError;

/// After so long without a call the background poller takes over. Heartbeats are due after seconds.
const IDLE_TIMEOUT: Duration = Duration::from_millis(50);

/// A runtime of one thread: the one that waits for what it does.
pub(crate) fn runtime() -> Result<Runtime, ClusterError> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| here(&error))
}

fn here(error: &std::io::Error) -> ClusterError {
    let (address, reason) = ("this machine".to_owned(), error.to_string());
    ClusterError::Connect { address, reason }
}

/// A runtime that callers drive while they wait, and a background poller otherwise.
pub(crate) struct Driver {
    /// None once it is dropped.
    shared: Option<Arc<DriverShared>>,
    poller: Option<JoinHandle<()>>,
}

struct DriverShared {
    runtime: Runtime,
    /// Calls that have begun, and that have ended.
    begun: AtomicU64,
    ended: AtomicU64,
    /// The background poller drives, or is about to.
    polling: AtomicBool,
    /// The background poller should let a caller drive.
    yield_to_caller: Notify,
    /// No call is expected soon: the background poller need not wait to see.
    unattended: AtomicBool,
    stopping: AtomicBool,
}

impl Driver {
    /// A runtime with its background poller, which drives until the first call.
    pub(crate) fn start() -> Result<Self, ClusterError> {
        let shared = Arc::new(DriverShared {
            runtime: runtime()?,
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            polling: AtomicBool::new(false),
            yield_to_caller: Notify::new(),
            unattended: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
        });
        let inside = Arc::clone(&shared);
        let poller = std::thread::Builder::new().name("network".to_owned());
        let poller =
            poller.spawn(move || inside.poll_in_background()).map_err(|error| here(&error))?;
        Ok(Self { shared: Some(shared), poller: Some(poller) })
    }

    /// Drives everything until this is done.
    ///
    /// # Panics
    /// On a thread that drives a runtime already.
    pub(crate) fn run<F: Future>(&self, work: F) -> F::Output {
        let shared = self.shared.as_ref().expect("it is dropped only once");
        shared.begun.fetch_add(1, Ordering::SeqCst);
        if shared.polling.load(Ordering::SeqCst) {
            shared.yield_to_caller.notify_one();
        }
        let _end = CallEnd(shared);
        shared.runtime.block_on(work)
    }

    /// Leaves everything to the background poller, at once.
    pub(crate) fn leave_to_poller(&self) {
        if let (Some(shared), Some(poller)) = (&self.shared, &self.poller) {
            shared.unattended.store(true, Ordering::SeqCst);
            poller.thread().unpark();
        }
    }
}

/// Counts the end of a call, also of one that panics.
struct CallEnd<'a>(&'a DriverShared);

impl Drop for CallEnd<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl DriverShared {
    /// Drives while no caller does.
    fn poll_in_background(&self) {
        let mut seen = 0;
        while !self.stopping.load(Ordering::SeqCst) {
            let ended = self.ended.load(Ordering::SeqCst);
            let unused = ended == seen || self.unattended.swap(false, Ordering::SeqCst);
            let quiet = unused && self.begun.load(Ordering::SeqCst) == ended;
            seen = ended;
            if !quiet {
                std::thread::park_timeout(IDLE_TIMEOUT);
                continue;
            }
            // Either a caller sees that the background poller drives, or the background poller sees
            // the call.
            self.polling.store(true, Ordering::SeqCst);
            let called = self.begun.load(Ordering::SeqCst) != ended;
            if !called && !self.stopping.load(Ordering::SeqCst) {
                self.runtime.block_on(self.yield_to_caller.notified());
            }
            self.polling.store(false, Ordering::SeqCst);
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let (Some(shared), Some(poller)) = (self.shared.take(), self.poller.take()) else { return };
        shared.stopping.store(true, Ordering::SeqCst);
        shared.yield_to_caller.notify_one();
        poller.thread().unpark();
        let _ = poller.join();
        if let Some(shared) = Arc::into_inner(shared) {
            // A name that is being looked up may take long; it is not needed any more.
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
    fn callers_and_the_background_poller_drive_in_turns() {
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
            soon("the background poller", || (turns.load(Ordering::SeqCst) == round).then_some(()));
            // The background poller drives now, and lets a caller in.
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
