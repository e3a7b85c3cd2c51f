//! Orders of a caller to ranks that wait for them, and what becomes of them.
//!
//! Programs come in rows, and being woken up takes longer than a small one: a rank that has nothing
//! to do looks for the next order for a while before it sleeps, and a caller for its ranks. Without
//! programs everybody sleeps.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pantile_comm::Rank;
use pantile_comm::threads::Bell;

use crate::{Error, Job};

/// How long a rank looks for the next order: about what being woken costs at worst.
const LOOK: Duration = Duration::from_micros(50);

/// Longest sleep of a rank that nobody has an order for; it is woken up.
const SLEEP: Duration = Duration::from_secs(60);

/// What lies between one caller and its ranks.
///
/// Invariants:
/// 1. A rank has at most one order: the caller gives the next one when nobody owes an answer.
/// 2. Whoever got an order answers once, and that is the last it does with it.
pub(crate) struct Orders {
    seats: Vec<Seat>,
    /// Answers that have not come yet.
    owed: AtomicUsize,
    /// Rung when the last one has.
    answered: Bell,
    /// What went wrong, until somebody asks.
    faults: Mutex<Vec<Error>>,
    faulty: AtomicBool,
    /// No more orders will come.
    over: AtomicBool,
    /// More ranks than cores: who looks is in the way of who works.
    crowded: bool,
}

/// Where a rank gets its orders.
#[derive(Default)]
struct Seat {
    /// There is an order.
    ordered: AtomicBool,
    order: Mutex<Option<Arc<Job>>>,
    bell: Bell,
}

impl Orders {
    /// For so many ranks.
    pub(crate) fn new(ranks: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            seats: (0..ranks).map(|_| Seat::default()).collect(),
            owed: AtomicUsize::new(0),
            answered: Bell::default(),
            faults: Mutex::default(),
            faulty: AtomicBool::new(false),
            over: AtomicBool::new(false),
            crowded: ranks > cores,
        }
    }

    /// Caller: gives these ranks an order. It gives so many answers itself, too.
    pub(crate) fn give(&self, job: &Arc<Job>, ranks: &[Rank], own: usize) {
        debug_assert!(self.all_answered(), "invariant 1 of orders");
        self.owed.store(ranks.len() + own, Ordering::Relaxed);
        for rank in ranks {
            let seat = &self.seats[*rank];
            *lock(&seat.order) = Some(Arc::clone(job));
            seat.ordered.store(true, Ordering::Release);
            seat.bell.ring();
        }
    }

    /// Rank: waits for the next order; none when all is over.
    pub(crate) fn next(&self, rank: Rank) -> Option<Arc<Job>> {
        let seat = &self.seats[rank];
        let look = || {
            // An order that was given before the end is still carried out: whoever sees the end
            // sees it, too, if it looks for the end first.
            let over = self.over.load(Ordering::Acquire);
            match seat.ordered.load(Ordering::Acquire) {
                true => Some(lock(&seat.order).take()),
                false => over.then_some(None),
            }
        };
        let look_for = if self.crowded { Duration::ZERO } else { LOOK };
        let mut found = Bell::spin_for(look_for, self.crowded, look);
        while found.is_none() {
            found = seat.bell.sleep(SLEEP, look);
        }
        seat.ordered.store(false, Ordering::Relaxed);
        found.flatten()
    }

    /// Rank: what has become of its order.
    pub(crate) fn answer(&self, done: Result<(), Error>) {
        if let Err(error) = done {
            lock(&self.faults).push(error);
            self.faulty.store(true, Ordering::Relaxed);
        }
        // Whoever reads that nobody owes anything has to see all that was done.
        if self.owed.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.answered.ring();
        }
    }

    /// Caller: true if nobody owes an answer.
    pub(crate) fn all_answered(&self) -> bool {
        self.owed.load(Ordering::Acquire) == 0
    }

    /// Caller: looks a short while whether all have answered, if that helps.
    pub(crate) fn look_for_answers(&self) {
        let _ = Bell::spin(self.crowded, || self.all_answered().then_some(()));
    }

    /// Caller: waits for all answers, at most so long. True if they are there.
    pub(crate) fn sleep_for_answers(&self, longest: Duration) -> bool {
        self.answered.sleep(longest, || self.all_answered().then_some(())).is_some()
            || self.all_answered()
    }

    /// Caller: what went wrong since it was last asked.
    pub(crate) fn take_faults(&self) -> Vec<Error> {
        if !self.faulty.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.faulty.store(false, Ordering::Relaxed);
        std::mem::take(&mut *lock(&self.faults))
    }

    /// True if no more orders will come.
    #[cfg(test)]
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Caller: no more orders will come.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.seats.iter().for_each(|seat| seat.bell.ring());
    }
}

/// What a lock guards is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use pantile_ir::lower::{Recipe, Setting};

    use super::*;

    fn job(key: u128) -> Arc<Job> {
        let text = "func.func @main(%a: i64) -> i64 {\n  return %a : i64\n}\n";
        let program = pantile_ir::text::parse(text, "test").unwrap();
        let setting = Setting { ranks: 1, ..Setting::default() };
        let recipe = Recipe::Program(Arc::new(program), Box::new(setting));
        let (arguments, results, forget) = (Vec::new(), Vec::new(), Vec::new());
        let (executable, recipe) = (Arc::new(recipe.compile().unwrap()), Arc::new(recipe));
        let numbers = Vec::new();
        let light = false;
        Arc::new(Job { executable, recipe, key, numbers, arguments, results, forget, light })
    }

    #[test]
    fn every_rank_gets_every_order_awake_or_asleep() {
        let orders = Orders::new(3);
        std::thread::scope(|scope| {
            for rank in 0..3 {
                let orders = &orders;
                scope.spawn(move || {
                    let mut heard = Vec::new();
                    while let Some(job) = orders.next(rank) {
                        heard.push(job.key);
                        orders.answer(Ok(()));
                    }
                    // The first one does not hear of odd orders.
                    let all = (0..200).filter(|key| rank > 0 || key % 2 == 0);
                    assert_eq!(heard, all.collect::<Vec<u128>>(), "rank {rank}");
                });
            }
            for key in 0..200 {
                let own = key % 2 == 1;
                let ranks = [0, 1, 2];
                orders.give(&job(key), &ranks[usize::from(own)..], usize::from(own));
                if own {
                    orders.answer(Ok(()));
                    orders.look_for_answers();
                }
                while !orders.all_answered() {
                    orders.sleep_for_answers(Duration::from_secs(1));
                }
                if key % 50 == 0 {
                    std::thread::sleep(4 * LOOK);
                }
            }
            orders.end();
        });
    }

    #[test]
    fn an_order_before_the_end_is_carried_out() {
        let orders = Orders::new(1);
        orders.give(&job(7), &[0], 0);
        orders.end();
        assert_eq!(orders.next(0).map(|job| job.key), Some(7));
        assert!(!orders.all_answered(), "it has not answered yet");
        orders.answer(Ok(()));
        assert!(orders.all_answered() && orders.next(0).is_none());
    }

    #[test]
    fn faults_are_told_once() {
        let orders = Orders::new(2);
        assert!(orders.take_faults().is_empty());
        orders.give(&job(1), &[], 2);
        let fault = Error::Stopped { rank: 1 };
        orders.answer(Ok(()));
        orders.answer(Err(fault.clone()));
        assert!(orders.sleep_for_answers(Duration::ZERO));
        assert_eq!((orders.take_faults(), orders.take_faults()), (vec![fault], Vec::new()));
    }
}
