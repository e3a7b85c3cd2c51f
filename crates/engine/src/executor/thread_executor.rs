//! Ranks that are threads of this process: a thread starts when its rank first has work.
//!
//! The caller's thread is no rank. It submits a program to those ranks that have something to do in it,
//! and waits for completion. Other ranks are not woken: the caller notes their empty results. Small
//! programs that need no communication run inline, on the caller's thread, rank after rank: waking
//! threads would take longer. Of other small programs the caller's thread runs the share of the first
//! rank, beside the threads of the others: it would only wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pantile_comm::threads::{MAX_RANKS, Threads};
use pantile_comm::{Communicator, Options, Rank, Transport};
use pantile_kernels::lanes::Scratch;

use super::handle::root_cause;
use super::job_queue::JobQueue;
use super::{ArrayId, Executor, Job, RankRuntime, RankTiles, Started};
use crate::Error;
use crate::loop_cache::LoopCache;

/// Bytes of the stack of a rank; the system gives memory to what is used of them.
const STACK_BYTES: usize = 2 << 20;

/// The ranks of a process, each with a thread from its first work on.
pub struct ThreadExecutor {
    /// Each runs at most one job; only its thread touches it then.
    ranks: Vec<Arc<Mutex<RankRuntime>>>,
    pub(super) queue: Arc<JobQueue>,
    /// The thread of each rank that has had work.
    threads: Vec<Option<JoinHandle<()>>>,
    stack_bytes: usize,
    options: Options,
    /// Loops that ranks compile once.
    loop_cache: LoopCache,
    /// Held in turn while programs are prepared.
    turns: Vec<Arc<Mutex<()>>>,
    /// Scratch memory of loops that run inline.
    scratch: Option<Box<Scratch>>,
}

impl ThreadExecutor {
    /// So many ranks, and no thread yet.
    #[must_use]
    pub fn new(ranks: usize, options: &Options) -> Self {
        // Preparing takes memory that is soon free again: at most one rank per core does it at a time.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut executor = Self {
            ranks: Vec::new(),
            queue: Arc::new(JobQueue::new(0)),
            threads: Vec::new(),
            stack_bytes: STACK_BYTES,
            options: options.clone(),
            loop_cache: LoopCache::default(),
            turns: (0..cores).map(|_| Arc::default()).collect(),
            scratch: None,
        };
        executor.make_ranks(ranks);
        executor
    }

    /// Brings all ranks into a world of so many, and makes those that are missing. No thread of a rank
    /// runs.
    fn make_ranks(&mut self, ranks: usize) {
        for transport in Threads::world(ranks, &self.options) {
            let rank = transport.rank();
            let communicator = Communicator::new(Box::new(transport));
            match self.ranks.get(rank) {
                Some(runtime) => lock(runtime).engine.join(communicator),
                None => {
                    let made = self.made_rank(rank, communicator);
                    self.ranks.push(Arc::new(Mutex::new(made)));
                }
            }
        }
        self.queue = Arc::new(JobQueue::new(ranks));
        self.threads = (0..ranks).map(|_| None).collect();
    }

    /// A new rank, set up as the first one is.
    fn made_rank(&self, rank: Rank, communicator: Communicator) -> RankRuntime {
        let mut made = match self.ranks.first() {
            None => RankRuntime::new(communicator),
            Some(first) => RankRuntime::with(lock(first).engine.sibling(communicator)),
        };
        made.engine.set_loop_cache(&self.loop_cache);
        made.prepare_in_turn(&self.turns[rank % self.turns.len()]);
        made
    }

    /// Runs a program on the caller's thread, rank after rank.
    fn run_inline(&mut self, job: &Job) -> Result<(), Error> {
        let busy = self.busy(job);
        let fault = root_cause(busy.iter().filter_map(|rank| self.run_rank(*rank, job).err()));
        self.skip_idle(job, busy);
        fault.map_or(Ok(()), Err)
    }

    /// Submits a program to the threads of the ranks.
    ///
    /// # Errors
    /// A rank has work and gets no thread; then nothing was done, and ranks still wait for programs.
    fn submit(&mut self, job: &Arc<Job>) -> Result<(), Error> {
        let busy = self.busy(job);
        let inline = busy.first().is_some_and(|first| lock(&self.ranks[*first]).runs_inline(job));
        let (own, others) = busy.split_at(usize::from(inline));
        for rank in others {
            self.start_thread(*rank)?;
        }
        self.queue.submit(job, others, own.len());
        for rank in own {
            let done = self.run_rank(*rank, job);
            self.queue.complete(done);
        }
        self.skip_idle(job, busy);
        if inline {
            self.queue.spin_until_idle();
        }
        Ok(())
    }

    /// Runs one rank's share of a program on the caller's thread, with the caller's scratch memory.
    #[inline(always)]
    fn run_rank(&mut self, rank: Rank, job: &Job) -> Result<(), Error> {
        let mut runtime = lock(&self.ranks[rank]);
        if self.ranks.len() == 1 {
            // There is no other rank to share scratch memory with.
            return runtime.run(job);
        }
        std::mem::swap(runtime.engine.loop_scratch(), &mut self.scratch);
        let done = runtime.run(job);
        std::mem::swap(runtime.engine.loop_scratch(), &mut self.scratch);
        done
    }

    /// Starts the thread of a rank unless it is there.
    fn start_thread(&mut self, rank: Rank) -> Result<(), Error> {
        if self.threads[rank].is_some() {
            return Ok(());
        }
        let (queue, runtime) = (Arc::clone(&self.queue), Arc::clone(&self.ranks[rank]));
        let work = move || {
            while let Some(job) = queue.next(rank) {
                let done = lock(&runtime).run(&job);
                drop(job);
                queue.complete(done);
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
        &busy[..busy.partition_point(|rank| *rank < self.ranks.len())]
    }

    /// Notes for every rank that has nothing to do what becomes of its arrays.
    fn skip_idle(&self, job: &Job, busy: &[Rank]) {
        if busy.len() == self.ranks.len() {
            return;
        }
        let (named, beyond) = self.ranks.split_at(job.executable.ranks.min(self.ranks.len()));
        if busy.len() < named.len() {
            let empty = RankRuntime::empty_results(job);
            let mut busy = busy.iter().peekable();
            for (rank, runtime) in named.iter().enumerate() {
                if busy.next_if(|next| **next == rank).is_none() {
                    lock(runtime).skip(job, &empty);
                }
            }
        }
        if !job.forget.is_empty() {
            beyond.iter().for_each(|runtime| lock(runtime).forget(&job.forget));
        }
    }
}

impl Executor for ThreadExecutor {
    fn size(&self) -> usize {
        self.ranks.len()
    }

    fn hosted(&self) -> Vec<Rank> {
        (0..self.ranks.len()).collect()
    }

    fn is_in_process(&self) -> bool {
        true
    }

    fn has_windows(&self) -> bool {
        true
    }

    fn is_idle(&self) -> bool {
        self.queue.is_idle()
    }

    fn started_threads(&self) -> usize {
        self.threads.iter().flatten().count()
    }

    fn start(&mut self, job: &Arc<Job>) -> Result<Started, Error> {
        match job.inline {
            true => self.run_inline(job).map(|()| Started::Done),
            false => self.submit(job).map(|()| Started::Running),
        }
    }

    fn wait(&mut self, longest: Duration, faults: &mut Vec<Error>) -> bool {
        let idle = self.queue.is_idle() || self.queue.wait_until_idle(longest);
        if idle {
            faults.extend(self.queue.take_faults());
        }
        idle
    }

    fn get(&mut self, id: ArrayId, wanted: &[Rank]) -> Result<RankTiles, Error> {
        let ranks = wanted.iter().filter_map(|rank| self.ranks.get(*rank));
        Ok(ranks.filter_map(|runtime| lock(runtime).get(id)).collect())
    }

    fn each_rank(&mut self, visit: &mut dyn FnMut(&mut RankRuntime)) {
        self.ranks.iter().for_each(|rank| visit(&mut lock(rank)));
    }

    fn max_ranks(&self) -> usize {
        MAX_RANKS
    }

    fn grow(&mut self, ranks: usize) {
        if ranks > self.ranks.len() {
            self.end();
            self.make_ranks(ranks);
        }
    }

    fn end(&mut self) {
        self.queue.close();
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            // A rank that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// A rank that panicked has ended the world; what it has can still be looked at.
fn lock(rank: &Mutex<RankRuntime>) -> MutexGuard<'_, RankRuntime> {
    rank.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use pantile_lower::{CompileUnit, Setting};

    use super::*;

    fn job(ranks: usize) -> Arc<Job> {
        let text =
            "func.func @main() -> i64 {\n  %a = arith.constant 7 : i64\n  return %a : i64\n}\n";
        let program = pantile_ir::text::parse(text, "test").unwrap();
        let setting = Setting { ranks, ..Setting::default() };
        let unit = CompileUnit::Program(Arc::new(program), Box::new(setting));
        let (executable, unit) = (Arc::new(unit.compile().unwrap()), Arc::new(unit));
        let (parameters, arguments, forget) = Default::default();
        let results = [super::super::ArrayId(1)].into_iter().collect();
        let inline = false;
        Arc::new(Job { executable, unit, key: 1, parameters, arguments, results, forget, inline })
    }

    #[test]
    fn a_rank_without_a_thread_refuses_a_program_and_takes_the_next() {
        let mut ranks = ThreadExecutor::new(2, &Options::default());
        ranks.stack_bytes = usize::MAX / 4;
        let error = ranks.submit(&job(2)).unwrap_err();
        assert!(matches!(error, Error::NoThread { rank: 0, .. }), "{error}");
        assert!(error.to_string().starts_with("rank 0 has work, but there is no thread for it: "));
        assert!(ranks.started_threads() == 0 && ranks.is_idle());
        ranks.stack_bytes = STACK_BYTES;
        ranks.submit(&job(2)).unwrap();
        ranks.end();
        assert!(ranks.is_idle() && ranks.queue.take_faults().is_empty());
    }

    #[test]
    fn a_program_for_more_ranks_is_refused_and_one_for_fewer_runs() {
        for made_for in [1, 2, 3] {
            let mut ranks = ThreadExecutor::new(2, &Options::default());
            ranks.submit(&job(made_for)).unwrap();
            ranks.end();
            let faults = ranks.queue.take_faults();
            let refused = faults.contains(&Error::WrongWorld { made_for, size: 2 });
            assert_eq!(refused, made_for > 2, "{faults:?}");
        }
    }

    #[test]
    fn ranks_that_are_made_later_leave_the_others_as_they_are() {
        let mut ranks = ThreadExecutor::new(2, &Options::default());
        ranks.submit(&job(2)).unwrap();
        ranks.wait(Duration::from_secs(60), &mut Vec::new());
        ranks.grow(1);
        assert_eq!(ranks.size(), 2, "there are more already");
        ranks.grow(5);
        assert_eq!((ranks.size(), ranks.hosted()), (5, vec![0, 1, 2, 3, 4]));
        let kept = ranks.get(ArrayId(1), &[0, 1, 2]).unwrap();
        assert_eq!(kept.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [0, 1]);
        for made_for in [5, 2] {
            ranks.submit(&job(made_for)).unwrap();
            let mut faults = Vec::new();
            while !ranks.wait(Duration::from_secs(60), &mut faults) {}
            assert!(faults.is_empty(), "{faults:?}");
        }
        assert_eq!(ranks.get(ArrayId(1), &[0, 1, 2, 3, 4]).unwrap().len(), 5);
        ranks.end();
    }
}
