//! Ranks that are threads of this process: a thread starts when its rank first has work.
//!
//! The caller is no rank. It gives a program to those ranks that have something to do in it, and waits
//! for their answers. Other ranks are not woken: the caller notes their empty results. What is small
//! and needs no other rank it does itself, in the place of one rank after the other: waking threads
//! up takes longer. What is soon done it does in the place of the first rank, beside the others: it
//! would only wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use pantile_comm::threads::Threads;
use pantile_comm::{Communicator, Options, Rank, Transport};
use pantile_kernels::lanes::Scratch;

use crate::crew::weightiest;
use crate::hand::Hand;
use crate::loop_cache::LoopCache;
use crate::orders::Orders;
use crate::{Error, Job};

/// Bytes of the stack of a rank; the system gives memory to what is used of them.
const STACK_BYTES: usize = 2 << 20;

/// The ranks of a process.
pub(crate) struct RankThreads {
    /// Each is busy with at most one order; nobody else touches it then.
    hands: Vec<Arc<Mutex<Hand>>>,
    /// How each gets its orders.
    orders: Arc<Orders>,
    /// The thread of each rank that has had work.
    threads: Vec<Option<JoinHandle<()>>>,
    stack_bytes: usize,
    /// Memory of loops that the caller runs in the place of ranks.
    scratch: Option<Box<Scratch>>,
}

impl RankThreads {
    /// So many ranks, and no thread yet.
    pub(crate) fn new(ranks: usize, options: &Options) -> Self {
        let loop_cache = LoopCache::default();
        // Preparing takes memory that is soon free again: as many ranks do it at a time as have cores.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let turns: Vec<Arc<Mutex<()>>> = (0..cores).map(|_| Arc::default()).collect();
        let hand = |transport: Threads| {
            let turn = &turns[transport.rank() % cores];
            let mut hand = Hand::new(Communicator::new(Box::new(transport)));
            hand.engine.set_loop_cache(&loop_cache);
            hand.prepare_in_turn(turn);
            hand
        };
        let world = Threads::world(ranks, options).into_iter();
        Self {
            hands: world.map(|transport| Arc::new(Mutex::new(hand(transport)))).collect(),
            orders: Arc::new(Orders::new(ranks)),
            threads: (0..ranks).map(|_| None).collect(),
            stack_bytes: STACK_BYTES,
            scratch: None,
        }
    }

    /// How orders are given, and answered.
    pub(crate) fn orders(&self) -> &Arc<Orders> {
        &self.orders
    }

    /// How many ranks have a thread.
    pub(crate) fn started(&self) -> usize {
        self.threads.iter().flatten().count()
    }

    /// Number of ranks.
    pub(crate) fn len(&self) -> usize {
        self.hands.len()
    }

    /// Calls `f` with every rank; they must do nothing else.
    pub(crate) fn each(&self, mut f: impl FnMut(&mut Hand)) {
        self.hands.iter().for_each(|hand| f(&mut lock(hand)));
    }

    /// Runs a program in the place of all ranks, one after the other. Gives what went wrong.
    pub(crate) fn run_inline(&mut self, job: &Job) -> Option<Error> {
        let busy = self.busy(job);
        let fault = weightiest(busy.iter().filter_map(|rank| self.run_as(*rank, job).err()));
        self.skip_idle(job, busy);
        fault
    }

    /// Gives the ranks a program.
    ///
    /// # Errors
    /// A rank has work and gets no thread; then nothing was done, and ranks still wait for programs.
    pub(crate) fn give(&mut self, job: &Arc<Job>) -> Result<(), Error> {
        let busy = self.busy(job);
        let brief = busy.first().is_some_and(|first| lock(&self.hands[*first]).is_brief(job));
        let (own, others) = busy.split_at(usize::from(brief));
        for rank in others {
            self.start(*rank)?;
        }
        self.orders.give(job, others, own.len());
        for rank in own {
            let done = self.run_as(*rank, job);
            self.orders.answer(done);
        }
        self.skip_idle(job, busy);
        if brief {
            self.orders.look_for_answers();
        }
        Ok(())
    }

    /// Runs a program in the place of a rank, with the caller's memory for loops.
    #[inline(always)]
    fn run_as(&mut self, rank: Rank, job: &Job) -> Result<(), Error> {
        let mut hand = lock(&self.hands[rank]);
        if self.hands.len() == 1 {
            // There is no other rank to share memory with.
            return hand.run(job);
        }
        std::mem::swap(hand.engine.loop_scratch(), &mut self.scratch);
        let done = hand.run(job);
        std::mem::swap(hand.engine.loop_scratch(), &mut self.scratch);
        done
    }

    /// Starts the thread of a rank unless it is there.
    fn start(&mut self, rank: Rank) -> Result<(), Error> {
        if self.threads[rank].is_some() {
            return Ok(());
        }
        let (orders, hand) = (Arc::clone(&self.orders), Arc::clone(&self.hands[rank]));
        let work = move || {
            while let Some(job) = orders.next(rank) {
                let done = lock(&hand).run(&job);
                drop(job);
                orders.answer(done);
            }
        };
        let builder = Builder::new().name(format!("rank {rank}")).stack_size(self.stack_bytes);
        let thread = builder.spawn(work);
        let refused = |error: std::io::Error| Error::NoThread { rank, reason: error.to_string() };
        self.threads[rank] = Some(thread.map_err(refused)?);
        Ok(())
    }

    /// The ranks that have something to do. A program for more ranks than there are is refused by
    /// those that are there.
    fn busy<'a>(&self, job: &'a Job) -> &'a [Rank] {
        let busy = job.executable.busy_ranks();
        &busy[..busy.partition_point(|rank| *rank < self.hands.len())]
    }

    /// Notes for every rank that has nothing to do what becomes of its arrays.
    fn skip_idle(&self, job: &Job, busy: &[Rank]) {
        if busy.len() == self.hands.len() {
            return;
        }
        let empty = Hand::empty_results(job);
        let mut busy = busy.iter().peekable();
        for (rank, hand) in self.hands.iter().enumerate() {
            if busy.next_if(|next| **next == rank).is_none() {
                lock(hand).skip(job, &empty);
            }
        }
    }

    /// Ends all threads.
    pub(crate) fn end(&mut self) {
        self.orders.end();
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            // A rank that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// A rank that panicked has ended the world; what it has can still be looked at.
fn lock(hand: &Mutex<Hand>) -> MutexGuard<'_, Hand> {
    hand.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use pantile_ir::lower::{Recipe, Setting};

    use super::*;

    fn job(ranks: usize) -> Arc<Job> {
        let text =
            "func.func @main() -> i64 {\n  %a = arith.constant 7 : i64\n  return %a : i64\n}\n";
        let program = pantile_ir::text::parse(text, "test").unwrap();
        let setting = Setting { ranks, ..Setting::default() };
        let recipe = Recipe::Program(Arc::new(program), Box::new(setting));
        let (executable, recipe) = (Arc::new(recipe.compile().unwrap()), Arc::new(recipe));
        let (numbers, arguments, forget) = (Vec::new(), Vec::new(), Vec::new());
        let results = vec![crate::ArrayId(1)];
        let light = false;
        Arc::new(Job { executable, recipe, key: 1, numbers, arguments, results, forget, light })
    }

    #[test]
    fn a_rank_without_a_thread_refuses_a_program_and_takes_the_next() {
        let mut ranks = RankThreads::new(2, &Options::default());
        ranks.stack_bytes = usize::MAX / 4;
        let error = ranks.give(&job(2)).unwrap_err();
        assert!(matches!(error, Error::NoThread { rank: 0, .. }), "{error}");
        assert!(error.to_string().starts_with("rank 0 has work, but there is no thread for it: "));
        assert!(ranks.started() == 0 && ranks.orders().all_answered());
        ranks.stack_bytes = STACK_BYTES;
        ranks.give(&job(2)).unwrap();
        ranks.end();
        assert!(ranks.orders().all_answered() && ranks.orders().take_faults().is_empty());
    }

    #[test]
    fn a_program_for_another_number_of_ranks_is_refused() {
        for made_for in [1, 3] {
            let mut ranks = RankThreads::new(2, &Options::default());
            ranks.give(&job(made_for)).unwrap();
            ranks.end();
            let faults = ranks.orders().take_faults();
            assert!(faults.contains(&Error::WrongWorld { made_for, size: 2 }), "{faults:?}");
        }
    }
}
