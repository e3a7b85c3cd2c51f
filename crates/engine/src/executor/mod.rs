//! Executors: ranks that keep arrays and run programs on them for one caller.
//!
//! [`Executor`] is the one way to run: threads of this process ([`ThreadExecutor`]), one rank per
//! process ([`SingleRank`]), or a remote executor that another crate brings (the client of a cluster).
//! The caller holds an [`ExecutorHandle`], which remembers failures, notices forks and lets the caller
//! stop waiting.

mod handle;
mod job_queue;
mod rank_runtime;
mod single_rank;
mod thread_executor;

use std::sync::Arc;
use std::time::Duration;

use pantile_comm::{CollectiveSignature, Rank};
use pantile_ir::Scalar;
use pantile_lower::{CompileUnit, Executable};
use smallvec::SmallVec;

use crate::{Counters, Error, Scheme, ThreadsError, Tile};

pub use handle::ExecutorHandle;
pub(crate) use rank_runtime::INLINE_WORK;
pub use rank_runtime::RankRuntime;
pub use single_rank::SingleRank;
pub use thread_executor::ThreadExecutor;

/// The name of an array that the ranks keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u64);

/// Names of arrays in a list that is short as a rule.
pub type ArrayIds = SmallVec<[ArrayId; 4]>;

/// A program to run on arrays that the ranks keep.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program, lowered for borrowed arguments.
    pub executable: Arc<Executable>,
    /// What it was lowered from, for ranks that have to do that themselves.
    pub unit: Arc<CompileUnit>,
    /// Equal keys mean equal programs: they are prepared once.
    pub key: u128,
    /// Its first arguments: scalar parameters, the same for all ranks.
    pub parameters: Vec<Scalar>,
    /// Its other arguments; donated ones are gone when it has run.
    pub arguments: ArrayIds,
    /// The names of its results.
    pub results: ArrayIds,
    /// Arrays that are not needed any more, forgotten before it runs.
    pub forget: ArrayIds,
    /// True if ranks need nothing of each other for it and it is small: the caller's thread runs it.
    pub inline: bool,
}

/// What became of a program that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// It has run.
    Done,
    /// It runs; [`Executor::wait`] tells when it is done.
    Running,
}

/// What went to remote ranks and came from them so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteTraffic {
    /// Bytes of elements to ranks.
    pub bytes_up: u64,
    /// Bytes of elements from ranks.
    pub bytes_down: u64,
    /// Programs that were sent; others were only named.
    pub programs: u64,
    /// Programs that were run.
    pub runs: u64,
}

/// Elements of an array, by rank.
pub type RankTiles = Vec<(Rank, Arc<Tile>)>;

/// Ranks that keep arrays and run programs on them.
///
/// [`ExecutorHandle`] is the only caller. It waits for the end of a program before it calls anything
/// but [`wait`](Executor::wait) and [`is_idle`](Executor::is_idle).
pub trait Executor: Send {
    /// Number of ranks of the world.
    fn size(&self) -> usize;

    /// The ranks that this process hosts, or speaks for.
    fn hosted(&self) -> Vec<Rank>;

    /// True if this process has the memory of the ranks that it hosts.
    fn is_in_process(&self) -> bool;

    /// True if ranks see each other's memory.
    fn has_windows(&self) -> bool;

    /// True if the callers of several processes run the same programs, one rank each.
    fn has_other_callers(&self) -> bool {
        false
    }

    /// True if no program runs.
    fn is_idle(&self) -> bool;

    /// How many ranks have a thread of this process: for tests.
    #[doc(hidden)]
    fn started_threads(&self) -> usize {
        0
    }

    /// Starts a program on all ranks; arrays that are to be forgotten are, first.
    ///
    /// # Errors
    /// If it could not be started, or has run and failed.
    fn start(&mut self, job: &Arc<Job>) -> Result<Started, Error>;

    /// Waits for the end of the program that runs, at most so long; true if none runs any more. What
    /// went wrong on ranks is added to `faults`.
    fn wait(&mut self, longest: Duration, faults: &mut Vec<Error>) -> bool;

    /// Gives every hosted rank its elements of an array.
    ///
    /// # Errors
    /// If they do not arrive.
    fn put(&mut self, id: ArrayId, tile: &mut dyn FnMut(Rank) -> Tile) -> Result<(), Error> {
        self.each_rank(&mut |rank| rank.put(id, tile));
        Ok(())
    }

    /// The elements that `wanted` ranks have of an array; an executor that has few ranks may give those of
    /// all of them.
    ///
    /// # Errors
    /// If they do not arrive.
    fn get(&mut self, id: ArrayId, wanted: &[Rank]) -> Result<RankTiles, Error> {
        let (mut tiles, _) = (Vec::new(), wanted);
        self.each_rank(&mut |rank| tiles.extend(rank.get(id)));
        Ok(tiles)
    }

    /// Forgets arrays, soon; no array is put or made under their names again.
    fn forget(&mut self, ids: &[ArrayId]) {
        self.each_rank(&mut |rank| rank.forget(ids));
    }

    /// The records of the callers of all processes, by rank. Collective among processes; a single
    /// caller hears itself.
    ///
    /// # Errors
    /// The callers disagree about the call, or one of them has left.
    fn gather(&mut self, call: &CollectiveSignature, record: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let _ = call;
        Ok(vec![record.to_vec()])
    }

    /// What the hosted ranks have done so far, together.
    fn counters(&mut self) -> Counters {
        let mut sum = Counters::default();
        self.each_rank(&mut |rank| sum.add_rank(&rank.engine.counters()));
        sum
    }

    /// What went to remote ranks and came from them; nothing if ranks are in this process.
    fn traffic(&self) -> Option<RemoteTraffic> {
        None
    }

    /// From now on every hosted rank has so many threads; gives how many it had before.
    ///
    /// # Errors
    /// If ranks cannot have so many; then nothing has changed.
    fn set_threads(&mut self, threads: usize) -> Result<usize, ThreadsError> {
        let mut before = Ok(1);
        self.each_rank(&mut |rank| {
            let had = rank.engine.threads();
            before = rank.engine.set_threads(threads).map(|()| had);
        });
        before
    }

    /// From now on the threads of a rank cut shared loops in this way; gives how they did before.
    /// Nothing if ranks do not take it from here.
    fn set_scheme(&mut self, scheme: Scheme) -> Option<Scheme> {
        let mut before = None;
        self.each_rank(&mut |rank| {
            before = Some(rank.engine.scheme());
            rank.engine.set_scheme(scheme);
        });
        before
    }

    /// Calls `visit` with every rank whose memory is in this process. What the methods above do for
    /// such ranks is written with it.
    fn each_rank(&mut self, visit: &mut dyn FnMut(&mut RankRuntime));

    /// How many ranks there can be; more than there are where ranks are made in this process.
    fn max_ranks(&self) -> usize {
        self.size()
    }

    /// Makes ranks until there are so many, at most [`Executor::max_ranks`]; they keep nothing yet.
    fn grow(&mut self, _ranks: usize) {}

    /// Ends the threads of ranks, if there are any; no call follows.
    fn end(&mut self) {}
}
