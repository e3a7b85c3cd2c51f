//! What all ranks of a process share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::inbox::{Activity, Inbox};
use super::wakeup::Spin;
use super::window::SharedWindow;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};
use crate::{CollectiveSignature, CommError, Failure, Options, Rank};

/// How long a rank sleeps before it looks at the clock again. Many ranks look less often: those
/// that wake up only for that are in the way of those that work.
const WAIT_INTERVAL: Duration = Duration::from_millis(20);
const WAIT_INTERVAL_RANKS: usize = 128;

/// So many timeouts in a row an unchanged cycle of waiting ranks (a deadlock) is seen before it is
/// believed: then it is not worth waiting for the deadline. About five seconds; timeouts are
/// counted, and not time, so that a process that was stopped for a while is not taken for one that
/// is stuck. Sleep that a wakeup ends is no timeout: others may wake the rank often before the peer
/// gets a core.
const CYCLE_TIMEOUTS: u32 = 250;
const CYCLE_TIMEOUTS_MIN: u32 = 4;

/// What a rank that waits knows of its peer's standstill.
struct Stall {
    activity: Activity,
    since: Instant,
    timeouts: u32,
}

/// The ranks of one process.
pub(super) struct ThreadWorld {
    inboxes: Vec<Inbox>,
    windows: Mutex<BTreeMap<(Rank, Rank), Arc<SharedWindow>>>,
    /// Ranks that sleep for others, or are about to.
    ///
    /// Invariant: a rank is counted *before* it looks whether its peer is gone, and a rank that
    /// leaves reads the count *after* it has said so. So either the sleeper sees that, or it is
    /// woken.
    waiting: AtomicUsize,
    failed: AtomicBool,
    failure: Mutex<Option<Arc<Failure>>>,
    deadline: Duration,
    wait_interval: Duration,
    cycle_timeouts: u32,
    /// How a rank spins before it parks.
    spin: Spin,
}

impl ThreadWorld {
    pub(super) fn new(size: usize, options: &Options) -> Arc<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let longer = u32::try_from(size / WAIT_INTERVAL_RANKS).unwrap_or(u32::MAX).max(1);
        Arc::new(Self {
            inboxes: (0..size).map(|_| Inbox::default()).collect(),
            windows: Mutex::default(),
            waiting: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
            deadline: options.deadline,
            wait_interval: WAIT_INTERVAL.saturating_mul(longer).min(options.deadline),
            cycle_timeouts: (CYCLE_TIMEOUTS / longer).max(CYCLE_TIMEOUTS_MIN),
            spin: Spin::short(size > cores),
        })
    }

    pub(super) fn size(&self) -> usize {
        self.inboxes.len()
    }

    pub(super) fn inbox(&self, rank: Rank) -> &Inbox {
        &self.inboxes[rank]
    }

    /// The window from one rank to another; made when they first meet.
    pub(super) fn window(&self, from: Rank, to: Rank) -> Arc<SharedWindow> {
        Arc::clone(lock(&self.windows).entry((from, to)).or_default())
    }

    /// Ends the world; the first failure stays.
    pub(super) fn abort(&self, failure: Failure) {
        lock(&self.failure).get_or_insert_with(|| Arc::new(failure));
        self.failed.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    /// A rank leaves for good; the ranks that wait for it are told.
    pub(super) fn leave(&self, rank: Rank) {
        self.inbox(rank).leave();
        // Checking every wakeup takes its time where all of many ranks leave.
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.wake_all();
        }
    }

    fn wake_all(&self) {
        for inbox in &self.inboxes {
            inbox.wakeup.wake();
        }
    }

    pub(super) fn failure(&self) -> Option<Arc<Failure>> {
        self.failed.load(Ordering::SeqCst).then(|| lock(&self.failure).clone()).flatten()
    }

    /// An error if the world has failed.
    pub(super) fn check(&self, rank: Rank) -> Result<(), CommError> {
        match self.failure() {
            Some(failure) => Err(CommError::Failed { rank, failure }),
            None => Ok(()),
        }
    }

    /// Waits until `ready` gives something that `peer` has to do.
    ///
    /// The clock runs only while the peer is busy with *another* call and does not move, or while
    /// ranks wait for each other in a cycle: a peer that computes may take its time.
    pub(super) fn wait<T>(
        &self,
        (rank, peer): (Rank, Rank),
        call: &CollectiveSignature,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Result<T, CommError> {
        if let Some(found) = self.spin.until(&mut ready) {
            return self.check(rank).map(|()| found);
        }
        self.inbox(rank).set_waiting(Some(peer));
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let found = self.wait_parked((rank, peer), call, &mut ready);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.inbox(rank).set_waiting(None);
        found
    }

    fn wait_parked<T>(
        &self,
        (rank, peer): (Rank, Rank),
        call: &CollectiveSignature,
        ready: &mut impl FnMut() -> Option<T>,
    ) -> Result<T, CommError> {
        let mut stuck: Option<Stall> = None;
        loop {
            let (gone, parked_since) = (self.inbox(peer).is_gone(), Instant::now());
            let found = match gone {
                true => ready(),
                false => self.sleep((rank, peer), ready),
            };
            // Also what was found does not count after a failure: the peer may have let go of it
            // only because it gave up.
            self.check(rank)?;
            if let Some(found) = found {
                return Ok(found);
            }
            if gone {
                return Err(CommError::Gone { rank, call: Box::new(call.clone()), peer });
            }
            let timed_out = parked_since.elapsed() >= self.wait_interval;
            self.check_clock((rank, peer), call, (timed_out, &mut stuck))?;
        }
    }

    /// Sleeps until something may have changed, or it is time to look at the clock.
    fn sleep<T>(
        &self,
        (rank, peer): (Rank, Rank),
        ready: &mut impl FnMut() -> Option<T>,
    ) -> Option<T> {
        // A rank that is about to sleep must not oversleep the end of the world, or of its peer.
        let over = || self.failed.load(Ordering::SeqCst) || self.inbox(peer).is_gone();
        let look = || match ready() {
            Some(found) => Some(Some(found)),
            None => over().then_some(None),
        };
        self.inbox(rank).wakeup.park(self.wait_interval, look).flatten()
    }

    fn check_clock(
        &self,
        (rank, peer): (Rank, Rank),
        call: &CollectiveSignature,
        (timed_out, stuck): (bool, &mut Option<Stall>),
    ) -> Result<(), CommError> {
        let activity = self.inbox(peer).activity();
        let elsewhere = activity.call.as_ref().is_some_and(|busy| !busy.agrees_with(call));
        let cycle = self.is_wait_cycle(rank, peer);
        if !elsewhere && !cycle {
            *stuck = None;
            return Ok(());
        }
        match stuck {
            Some(still) if still.activity == activity => {
                let waited = still.since.elapsed();
                still.timeouts = if cycle { still.timeouts + u32::from(timed_out) } else { 0 };
                if waited < self.deadline && still.timeouts < self.cycle_timeouts {
                    return Ok(());
                }
                let (call, busy) = (Box::new(call.clone()), activity.call.map(Box::new));
                Err(CommError::Late { rank, call, peer, busy, waited })
            }
            _ => {
                *stuck = Some(Stall { activity, since: Instant::now(), timeouts: 0 });
                Ok(())
            }
        }
    }

    /// True if `peer` sleeps for a rank that sleeps for another one ... that sleeps for `rank`.
    fn is_wait_cycle(&self, rank: Rank, peer: Rank) -> bool {
        let next = |at: &Rank| self.inbox(*at).activity().waits_for;
        std::iter::successors(Some(peer), next).take(self.size()).any(|at| at == rank)
    }

    /// Waits until no peer reads through a window any more; needs nothing but that peer's next
    /// step.
    pub(super) fn wait_for_release(&self, rank: Rank, mut ready: impl FnMut() -> bool) {
        self.inbox(rank).wakeup.wait(&self.spin, self.wait_interval, || ready().then_some(()));
    }
}

#[cfg(all(test, not(feature = "explore")))]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn frequent_wakeups_make_no_cycle() {
        let world = ThreadWorld::new(2, &Options::default());
        let (looks, answered) = (AtomicU32::new(0), AtomicBool::new(false));
        // Rank 0 waits for rank 1, and has what rank 1 waits for, but does not get a core.
        world.inbox(0).set_waiting(Some(1));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let call = CollectiveSignature::here("test", 0);
                world.wait((1, 0), &call, || {
                    looks.fetch_add(1, Ordering::SeqCst);
                    answered.load(Ordering::SeqCst).then_some(())
                })
            });
            for _ in 0..CYCLE_TIMEOUTS + 50 {
                let before = looks.load(Ordering::SeqCst);
                while looks.load(Ordering::SeqCst) == before && !waiter.is_finished() {
                    world.inbox(1).wakeup.wake();
                }
            }
            answered.store(true, Ordering::SeqCst);
            world.inbox(1).wakeup.wake();
            assert_eq!(waiter.join().expect("it does not panic"), Ok(()));
        });
    }

    #[test]
    fn many_ranks_look_at_the_clock_less_often() {
        for (ranks, timeouts) in [(1, 250), (128, 250), (4096, 7)] {
            let world = ThreadWorld::new(ranks, &Options::default());
            assert_eq!(world.cycle_timeouts, timeouts, "{ranks} ranks");
            let seconds = world.wait_interval.as_secs_f64() * f64::from(world.cycle_timeouts);
            assert!((4.0..6.0).contains(&seconds), "{ranks} ranks: {seconds} s");
        }
    }
}
