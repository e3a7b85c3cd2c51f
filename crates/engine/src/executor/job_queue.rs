//! The job queue between the caller and the threads of ranks, with one mailbox per rank.
//!
//! Programs come in rows, and waking a thread takes longer than a small program: a rank without work
//! spins for a while before it sleeps, and so does the caller that waits for completion. Without
//! programs all threads sleep.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pantile_comm::Rank;
use pantile_comm::threads::{Spin, Wakeup};

use super::Job;
use crate::Error;

/// How long a rank spins for the next job: about what a wakeup costs at worst.
const SPIN: Duration = Duration::from_micros(50);

/// Longest sleep of a rank without work; a job wakes it.
const SLEEP: Duration = Duration::from_secs(60);

/// Jobs from one caller to its ranks, and their completion.
///
/// Invariants:
/// 1. A rank has at most one job: the caller submits the next one when none is outstanding.
/// 2. A rank completes each job once, and does not touch the job after that.
pub(crate) struct JobQueue {
    mailboxes: Vec<Mailbox>,
    /// Completions that have not come yet.
    outstanding: AtomicUsize,
    /// Woken by the last one.
    completed: Wakeup,
    /// What went wrong, until the caller takes it.
    faults: Mutex<Vec<Error>>,
    faulty: AtomicBool,
    /// No more jobs will come.
    closed: AtomicBool,
    /// More ranks than cores: a thread that spins keeps another from working.
    oversubscribed: bool,
}

/// Where a rank gets its jobs.
#[derive(Default)]
struct Mailbox {
    /// There is a job.
    full: AtomicBool,
    job: Mutex<Option<Arc<Job>>>,
    wakeup: Wakeup,
}

impl JobQueue {
    /// For so many ranks.
    pub(crate) fn new(ranks: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            mailboxes: (0..ranks).map(|_| Mailbox::default()).collect(),
            outstanding: AtomicUsize::new(0),
            completed: Wakeup::default(),
            faults: Mutex::default(),
            faulty: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            oversubscribed: ranks > cores,
        }
    }

    /// Caller: gives these ranks a job. The caller itself completes it so many times, too.
    pub(crate) fn submit(&self, job: &Arc<Job>, ranks: &[Rank], own: usize) {
        debug_assert!(self.is_idle(), "invariant 1 of the job queue");
        self.outstanding.store(ranks.len() + own, Ordering::Relaxed);
        for rank in ranks {
            let mailbox = &self.mailboxes[*rank];
            *lock(&mailbox.job) = Some(Arc::clone(job));
            mailbox.full.store(true, Ordering::Release);
            mailbox.wakeup.wake();
        }
    }

    /// Rank: waits for the next job; none when the queue is closed.
    pub(crate) fn next(&self, rank: Rank) -> Option<Arc<Job>> {
        let mailbox = &self.mailboxes[rank];
        let poll = || {
            // A job that was submitted before the queue was closed still runs: a rank that reads
            // `closed` first, and finds it set, sees that job, too.
            let closed = self.closed.load(Ordering::Acquire);
            match mailbox.full.load(Ordering::Acquire) {
                true => Some(lock(&mailbox.job).take()),
                false => closed.then_some(None),
            }
        };
        let longest = if self.oversubscribed { Duration::ZERO } else { SPIN };
        let spin = Spin::short(self.oversubscribed).lasting(longest);
        let found = mailbox.wakeup.wait(&spin, SLEEP, poll);
        mailbox.full.store(false, Ordering::Relaxed);
        found
    }

    /// Rank: its job has run, or failed.
    pub(crate) fn complete(&self, done: Result<(), Error>) {
        if let Err(error) = done {
            lock(&self.faults).push(error);
            self.faulty.store(true, Ordering::Relaxed);
        }
        // A caller that reads that nothing is outstanding has to see all that was done.
        if self.outstanding.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.completed.wake();
        }
    }

    /// Caller: true if no job is outstanding.
    pub(crate) fn is_idle(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) == 0
    }

    /// Caller: spins a short while for the last completion, if that helps.
    pub(crate) fn spin_until_idle(&self) {
        let _ = Spin::short(self.oversubscribed).until(|| self.is_idle().then_some(()));
    }

    /// Caller: waits for the last completion, at most so long. True if it has come.
    pub(crate) fn wait_until_idle(&self, longest: Duration) -> bool {
        self.completed.park(longest, || self.is_idle().then_some(())).is_some() || self.is_idle()
    }

    /// Caller: what went wrong since the last call.
    pub(crate) fn take_faults(&self) -> Vec<Error> {
        if !self.faulty.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.faulty.store(false, Ordering::Relaxed);
        std::mem::take(&mut *lock(&self.faults))
    }

    /// True if no more jobs will come.
    #[cfg(test)]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Caller: no more jobs will come.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.mailboxes.iter().for_each(|mailbox| mailbox.wakeup.wake());
    }
}

/// What a lock guards is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use pantile_lower::{CompileUnit, Setting};

    use super::*;

    fn job(key: u128) -> Arc<Job> {
        let text = "func.func @main(%a: i64) -> i64 {\n  return %a : i64\n}\n";
        let program = pantile_ir::text::parse(text, "test").unwrap();
        let setting = Setting { ranks: 1, ..Setting::default() };
        let unit = CompileUnit::Program(Arc::new(program), Box::new(setting));
        let (arguments, results, forget) = Default::default();
        let (executable, unit) = (Arc::new(unit.compile().unwrap()), Arc::new(unit));
        let parameters = Vec::new();
        let inline = false;
        Arc::new(Job { executable, unit, key, parameters, arguments, results, forget, inline })
    }

    #[test]
    fn every_rank_gets_every_job_awake_or_asleep() {
        let queue = JobQueue::new(3);
        std::thread::scope(|scope| {
            for rank in 0..3 {
                let queue = &queue;
                scope.spawn(move || {
                    let mut heard = Vec::new();
                    while let Some(job) = queue.next(rank) {
                        heard.push(job.key);
                        queue.complete(Ok(()));
                    }
                    // The first one does not get odd jobs.
                    let all = (0..200).filter(|key| rank > 0 || key % 2 == 0);
                    assert_eq!(heard, all.collect::<Vec<u128>>(), "rank {rank}");
                });
            }
            for key in 0..200 {
                let own = key % 2 == 1;
                let ranks = [0, 1, 2];
                queue.submit(&job(key), &ranks[usize::from(own)..], usize::from(own));
                if own {
                    queue.complete(Ok(()));
                    queue.spin_until_idle();
                }
                while !queue.is_idle() {
                    queue.wait_until_idle(Duration::from_secs(1));
                }
                if key % 50 == 0 {
                    std::thread::sleep(4 * SPIN);
                }
            }
            queue.close();
        });
    }

    #[test]
    fn a_job_before_the_end_runs() {
        let queue = JobQueue::new(1);
        queue.submit(&job(7), &[0], 0);
        queue.close();
        assert_eq!(queue.next(0).map(|job| job.key), Some(7));
        assert!(!queue.is_idle(), "it has not completed yet");
        queue.complete(Ok(()));
        assert!(queue.is_idle() && queue.next(0).is_none());
    }

    #[test]
    fn faults_are_told_once() {
        let queue = JobQueue::new(2);
        assert!(queue.take_faults().is_empty());
        queue.submit(&job(1), &[], 2);
        let fault = Error::Stopped { rank: 1 };
        queue.complete(Ok(()));
        queue.complete(Err(fault.clone()));
        assert!(queue.wait_until_idle(Duration::ZERO));
        assert_eq!((queue.take_faults(), queue.take_faults()), (vec![fault], Vec::new()));
    }
}
