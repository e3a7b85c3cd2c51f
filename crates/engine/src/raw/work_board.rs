//! Work that a rank lends to the threads of its pool, which live longer than the work.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::thread_pool::{SPIN, lock};

/// Work as the pool's threads see it: called with the number of the thread.
pub(crate) type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// Borrowed work.
///
/// Invariant: R5 of the folder; the count is `working`.
#[derive(Clone, Copy)]
struct Borrowed(*const Work<'static>);

// SAFETY: R5; `Work` may be called by several threads at once.
unsafe impl Send for Borrowed {}

/// Where work is lent.
#[derive(Default)]
pub(crate) struct WorkBoard {
    state: Mutex<PoolState>,
    /// The number of the last work, and how many work: to be looked at without the lock.
    number: AtomicU64,
    working: AtomicUsize,
    /// Signalled to pool threads, and to the caller that waits for them.
    lent: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct PoolState {
    work: Option<Borrowed>,
    number: u64,
    working: usize,
    /// Threads that sleep.
    sleeping: usize,
    /// The first panic of a pool thread.
    panic: Option<Box<dyn Any + Send>>,
    over: bool,
}

impl WorkBoard {
    /// Works together with the pool's threads until the work is done.
    pub(crate) fn lend(&self, work: &Work<'_>) {
        // SAFETY: R5; only the lifetime changes, and `take_back` below waits for all that have the work.
        let lent =
            Borrowed(unsafe { std::mem::transmute::<&Work<'_>, *const Work<'static>>(work) });
        self.put(lent);
        let own = catch_unwind(AssertUnwindSafe(|| work(0)));
        let helped = self.take_back();
        if let Some(panic) = own.err().or(helped) {
            resume_unwind(panic);
        }
    }

    /// Sends all pool threads home.
    pub(crate) fn end(&self) {
        lock(&self.state).over = true;
        self.number.fetch_add(1, Ordering::Release);
        self.lent.notify_all();
    }

    fn put(&self, work: Borrowed) {
        let mut state = lock(&self.state);
        state.work = Some(work);
        state.number += 1;
        self.number.store(state.number, Ordering::Release);
        let asleep = state.sleeping > 0;
        drop(state);
        if asleep {
            self.lent.notify_all();
        }
    }

    /// Takes work back and waits for the threads that have it; gives the first panic of one of them.
    fn take_back(&self) -> Option<Box<dyn Any + Send>> {
        let mut state = lock(&self.state);
        state.work = None;
        if state.working > 0 {
            drop(state);
            SPIN.until(|| (self.working.load(Ordering::Acquire) == 0).then_some(()));
            state = lock(&self.state);
        }
        while state.working > 0 {
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.panic.take()
    }

    /// The main loop of a pool thread.
    pub(crate) fn help(&self, thread: usize) {
        let mut seen = 0;
        while let Some(work) = self.next(&mut seen) {
            // SAFETY: R5; `next` has counted the thread, and `take_back` waits until it is not.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*work.0)(thread) }));
            let mut state = lock(&self.state);
            if let Err(panic) = done {
                state.panic.get_or_insert(panic);
            }
            state.working -= 1;
            self.working.store(state.working, Ordering::Release);
            let last = state.working == 0;
            drop(state);
            if last {
                self.done.notify_one();
            }
        }
    }

    /// The next work that is lent; none when all is over.
    fn next(&self, seen: &mut u64) -> Option<Borrowed> {
        SPIN.until(|| (self.number.load(Ordering::Acquire) != *seen).then_some(()));
        let mut state = lock(&self.state);
        loop {
            if state.over {
                return None;
            }
            if state.number != *seen {
                *seen = state.number;
                if let Some(work) = state.work {
                    state.working += 1;
                    self.working.store(state.working, Ordering::Release);
                    return Some(work);
                }
            }
            state.sleeping += 1;
            state = self.lent.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.sleeping -= 1;
        }
    }
}
