//! What all ranks of a process share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bell::Bell;
use super::lane::Lane;
use super::post::{Doing, Post};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};
use crate::{Call, CommError, Failure, Options, Rank};

/// How long a rank sleeps before it looks at the clock again. Many ranks look less often: those that
/// wake up only for that are in the way of those that work.
const NAP: Duration = Duration::from_millis(20);
const NAP_RANKS: usize = 128;

/// So many naps in a row an unchanged circle of sleeping ranks is seen before it is believed: then
/// it is not worth waiting for the deadline. About five seconds; naps are counted, and not time,
/// so that a process that was stopped for a while is not taken for one that is stuck. Sleep that a
/// bell ends is no nap: others may ring often before the peer gets a core.
const CIRCLE_NAPS: u32 = 250;
const CIRCLE_NAPS_MIN: u32 = 4;

/// What a rank that waits knows of its peer's standstill.
struct Standstill {
    doing: Doing,
    since: Instant,
    naps: u32,
}

/// The ranks of one process.
pub(super) struct World {
    posts: Vec<Post>,
    lanes: Mutex<BTreeMap<(Rank, Rank), Arc<Lane>>>,
    /// Ranks that sleep for others, or are about to.
    ///
    /// Invariant: a rank is counted *before* it looks whether its peer is gone, and a rank that leaves
    /// reads the count *after* it has said so. So either the sleeper sees that, or it is rung for.
    waiting: AtomicUsize,
    failed: AtomicBool,
    failure: Mutex<Option<Arc<Failure>>>,
    deadline: Duration,
    nap: Duration,
    circle_naps: u32,
    /// More ranks than cores.
    crowded: bool,
}

impl World {
    pub(super) fn new(size: usize, options: &Options) -> Arc<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let longer = u32::try_from(size / NAP_RANKS).unwrap_or(u32::MAX).max(1);
        Arc::new(Self {
            posts: (0..size).map(|_| Post::default()).collect(),
            lanes: Mutex::default(),
            waiting: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
            deadline: options.deadline,
            nap: NAP.saturating_mul(longer).min(options.deadline),
            circle_naps: (CIRCLE_NAPS / longer).max(CIRCLE_NAPS_MIN),
            crowded: size > cores,
        })
    }

    pub(super) fn size(&self) -> usize {
        self.posts.len()
    }

    pub(super) fn post(&self, rank: Rank) -> &Post {
        &self.posts[rank]
    }

    /// The window from one rank to another; made when they first meet.
    pub(super) fn lane(&self, from: Rank, to: Rank) -> Arc<Lane> {
        Arc::clone(lock(&self.lanes).entry((from, to)).or_default())
    }

    /// Ends the world; the first failure stays.
    pub(super) fn abort(&self, failure: Failure) {
        lock(&self.failure).get_or_insert_with(|| Arc::new(failure));
        self.failed.store(true, Ordering::SeqCst);
        self.ring_all();
    }

    /// A rank leaves for good; those who wait for it are told.
    pub(super) fn leave(&self, rank: Rank) {
        self.post(rank).leave();
        // Looking at every bell takes its time where all of many ranks leave.
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.ring_all();
        }
    }

    fn ring_all(&self) {
        for post in &self.posts {
            post.bell.ring();
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
    /// ranks wait for each other in a circle: a peer that computes may take its time.
    pub(super) fn wait<T>(
        &self,
        (rank, peer): (Rank, Rank),
        call: &Call,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Result<T, CommError> {
        if let Some(found) = Bell::spin(self.crowded, &mut ready) {
            return self.check(rank).map(|()| found);
        }
        self.post(rank).set_waiting(Some(peer));
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let found = self.wait_asleep((rank, peer), call, &mut ready);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.post(rank).set_waiting(None);
        found
    }

    fn wait_asleep<T>(
        &self,
        (rank, peer): (Rank, Rank),
        call: &Call,
        ready: &mut impl FnMut() -> Option<T>,
    ) -> Result<T, CommError> {
        let mut stuck: Option<Standstill> = None;
        loop {
            let (gone, asleep_since) = (self.post(peer).is_gone(), Instant::now());
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
            let napped = asleep_since.elapsed() >= self.nap;
            self.check_clock((rank, peer), call, (napped, &mut stuck))?;
        }
    }

    /// Sleeps until something may have changed, or the clock wants to be looked at.
    fn sleep<T>(
        &self,
        (rank, peer): (Rank, Rank),
        ready: &mut impl FnMut() -> Option<T>,
    ) -> Option<T> {
        // A rank that is about to sleep must not oversleep the end of the world, or of its peer.
        let over = || self.failed.load(Ordering::SeqCst) || self.post(peer).is_gone();
        let look = || match ready() {
            Some(found) => Some(Some(found)),
            None => over().then_some(None),
        };
        self.post(rank).bell.sleep(self.nap, look).flatten()
    }

    fn check_clock(
        &self,
        (rank, peer): (Rank, Rank),
        call: &Call,
        (napped, stuck): (bool, &mut Option<Standstill>),
    ) -> Result<(), CommError> {
        let doing = self.post(peer).doing();
        let elsewhere = doing.call.as_ref().is_some_and(|busy| !busy.agrees_with(call));
        let circle = self.is_circle(rank, peer);
        if !elsewhere && !circle {
            *stuck = None;
            return Ok(());
        }
        match stuck {
            Some(still) if still.doing == doing => {
                let waited = still.since.elapsed();
                still.naps = if circle { still.naps + u32::from(napped) } else { 0 };
                if waited < self.deadline && still.naps < self.circle_naps {
                    return Ok(());
                }
                let (call, busy) = (Box::new(call.clone()), doing.call.map(Box::new));
                Err(CommError::Late { rank, call, peer, busy, waited })
            }
            _ => {
                *stuck = Some(Standstill { doing, since: Instant::now(), naps: 0 });
                Ok(())
            }
        }
    }

    /// True if `peer` sleeps for a rank that sleeps for another one ... that sleeps for `rank`.
    fn is_circle(&self, rank: Rank, peer: Rank) -> bool {
        let next = |at: &Rank| self.post(*at).doing().waits_for;
        std::iter::successors(Some(peer), next).take(self.size()).any(|at| at == rank)
    }

    /// Waits until no peer looks through a lane any more; needs nothing but that peer's next step.
    pub(super) fn wait_quietly(&self, rank: Rank, mut ready: impl FnMut() -> bool) {
        let mut ready = || ready().then_some(());
        if Bell::spin(self.crowded, &mut ready).is_some() {
            return;
        }
        while self.post(rank).bell.sleep(self.nap, &mut ready).is_none() {}
    }
}

#[cfg(all(test, not(feature = "explore")))]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn a_bell_that_rings_often_makes_no_circle() {
        let world = World::new(2, &Options::default());
        let (looks, answered) = (AtomicU32::new(0), AtomicBool::new(false));
        // Rank 0 waits for rank 1, and has what rank 1 waits for, but does not get a core.
        world.post(0).set_waiting(Some(1));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let call = Call::here("test", 0);
                world.wait((1, 0), &call, || {
                    looks.fetch_add(1, Ordering::SeqCst);
                    answered.load(Ordering::SeqCst).then_some(())
                })
            });
            for _ in 0..CIRCLE_NAPS + 50 {
                let before = looks.load(Ordering::SeqCst);
                while looks.load(Ordering::SeqCst) == before && !waiter.is_finished() {
                    world.post(1).bell.ring();
                }
            }
            answered.store(true, Ordering::SeqCst);
            world.post(1).bell.ring();
            assert_eq!(waiter.join().expect("it does not panic"), Ok(()));
        });
    }

    #[test]
    fn many_ranks_look_at_the_clock_less_often() {
        for (ranks, naps) in [(1, 250), (128, 250), (4096, 7)] {
            let world = World::new(ranks, &Options::default());
            assert_eq!(world.circle_naps, naps, "{ranks} ranks");
            let seconds = world.nap.as_secs_f64() * f64::from(world.circle_naps);
            assert!((4.0..6.0).contains(&seconds), "{ranks} ranks: {seconds} s");
        }
    }
}
