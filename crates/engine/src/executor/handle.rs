//! What one caller holds of an executor: failures are remembered, forks are noticed, waiting can be
//! given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pantile_comm::{CollectiveSignature, CommError, Communicator, Options, Rank};

use super::{
    ArrayId, Executor, Job, RankRuntime, RankTiles, RemoteTraffic, SingleRank, Started,
    ThreadExecutor,
};
use crate::{Counters, Error, Pool, Scheme, ThreadsError, Tile};

/// How long a caller waits before it is asked whether it still wants to.
const INTERRUPT_CHECK: Duration = Duration::from_millis(50);

/// The caller's handle of an executor.
pub struct ExecutorHandle {
    size: usize,
    executor: Box<dyn Executor>,
    /// What ended the executor.
    failure: Option<Error>,
    /// The process that has the ranks: a fork of it has their memory, but neither their threads nor
    /// the right to use their connections.
    process: u64,
    /// Asked now and then while the caller waits: true if it wants to wait no longer.
    stop: Option<Box<dyn Fn() -> bool + Send>>,
}

impl ExecutorHandle {
    /// A handle of any executor: this is how ranks that are elsewhere become usable.
    #[must_use]
    pub fn new(executor: Box<dyn Executor>) -> Self {
        let process = pantile_memory::process();
        Self { size: executor.size(), executor, failure: None, process, stop: None }
    }

    /// So many ranks of this process, each a thread from its first work on.
    #[must_use]
    pub fn threads(ranks: usize, options: &Options) -> Self {
        Self::new(Box::new(ThreadExecutor::new(ranks, options)))
    }

    /// The rank that this process is.
    #[must_use]
    pub fn single(communicator: Communicator) -> Self {
        Self::new(Box::new(SingleRank::new(communicator)))
    }

    /// How many ranks have a thread of this process: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn started_threads(&self) -> usize {
        self.executor.started_threads()
    }

    /// Ends programs of the ranks whose memory is here once `stop` is true; see
    /// [`Engine::stop_if`](crate::Engine::stop_if).
    pub fn stop_if(&mut self, stop: &Arc<AtomicBool>) {
        self.each_rank(|rank| rank.engine.stop_if(Arc::clone(stop)));
    }

    /// From now on the memory of new arrays comes from this pool, for the rank that this process is.
    pub fn set_pool(&mut self, pool: &Pool) {
        self.each_rank(|rank| rank.engine.set_pool(pool));
    }

    /// True if this process has the memory of the ranks that it hosts.
    #[must_use]
    pub fn is_in_process(&self) -> bool {
        self.executor.is_in_process()
    }

    /// Asks `stop` about every 50 ms while a program runs on other threads: if it says true, the
    /// caller gets [`Error::Interrupted`]. The ranks go on to the end of the program; the next caller
    /// waits for that first, so nothing is lost.
    pub fn stop_waiting_if(&mut self, stop: impl Fn() -> bool + Send + 'static) {
        self.stop = Some(Box::new(stop));
    }

    /// True if this process was forked from the one that has the ranks.
    #[must_use]
    pub fn is_forked(&self) -> bool {
        pantile_memory::process() != self.process
    }

    /// True if the ranks run nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.executor.is_idle()
    }

    /// Number of ranks of the world.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The ranks that this process hosts, or speaks for.
    #[must_use]
    pub fn hosted(&self) -> Vec<Rank> {
        self.executor.hosted()
    }

    /// True if ranks see each other's memory.
    #[must_use]
    pub fn has_windows(&self) -> bool {
        self.executor.has_windows()
    }

    /// How many ranks there can be: more than there are where ranks are threads of this process.
    #[must_use]
    pub fn max_ranks(&self) -> usize {
        self.executor.max_ranks()
    }

    /// Makes ranks until there are so many, at most [`ExecutorHandle::max_ranks`]; those that are there
    /// keep their arrays and prepared programs.
    ///
    /// # Errors
    /// As [`ExecutorHandle::settle`].
    pub fn grow(&mut self, ranks: usize) -> Result<(), Error> {
        self.settle_if(false)?;
        self.executor.grow(ranks);
        self.size = self.executor.size();
        Ok(())
    }

    /// Runs a program on all ranks. Collective among processes.
    ///
    /// # Errors
    /// The error of the first rank that failed; the executor does not work any more then. A caller
    /// that stops waiting gets [`Error::Interrupted`]: the program still comes to its end.
    pub fn run(&mut self, job: &Arc<Job>) -> Result<(), Error> {
        self.settle()?;
        match self.executor.start(job) {
            Ok(Started::Done) => Ok(()),
            Ok(Started::Running) => self.settle(),
            Err(error) => Err(self.noted(error)),
        }
    }

    /// Remembers an error if it ended the executor.
    fn noted(&mut self, error: Error) -> Error {
        if !is_refusal(&error) {
            self.failure = Some(error.clone());
        }
        error
    }

    /// Waits for a program that still runs because its caller stopped waiting.
    ///
    /// # Errors
    /// As [`ExecutorHandle::run`].
    pub fn settle(&mut self) -> Result<(), Error> {
        self.settle_if(true)
    }

    /// Waits for the program that runs; what went wrong in it is an error from then on.
    fn settle_if(&mut self, may_stop: bool) -> Result<(), Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let mut faults = Vec::new();
        let waited = self.wait(may_stop, &mut faults);
        if let Some(refused) = faults.iter().find(|fault| is_refusal(fault)) {
            return Err(refused.clone());
        }
        if self.failure.is_none() {
            self.failure = root_cause(faults.into_iter());
        }
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => waited,
        }
    }

    /// Waits until no program runs.
    fn wait(&mut self, may_stop: bool, faults: &mut Vec<Error>) -> Result<(), Error> {
        while !self.executor.wait(INTERRUPT_CHECK, faults) {
            if may_stop && self.stop.as_ref().is_some_and(|stop| stop()) {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// Brings the callers of all processes together before a program: an error that names ranks and
    /// lines if they are about to run different ones. What one of them flags is then flagged for all.
    /// Collective among processes; a single caller agrees with itself.
    ///
    /// # Errors
    /// The callers disagree, or one of them has left; the executor does not work any more then.
    pub fn agree(&mut self, call: &CollectiveSignature, flags: &mut [bool]) -> Result<(), Error> {
        if !self.has_other_callers() {
            return Ok(());
        }
        let record: Vec<u8> = flags.iter().map(|flag| u8::from(*flag)).collect();
        for record in self.gather(call, &record)? {
            for (flag, other) in flags.iter_mut().zip(record) {
                *flag |= other != 0;
            }
        }
        Ok(())
    }

    /// True if this process is one of several that run the same programs.
    fn has_other_callers(&self) -> bool {
        self.executor.has_other_callers()
    }

    /// The records of the callers of all processes, by rank. Collective among processes; a single
    /// caller hears itself.
    ///
    /// # Errors
    /// As [`ExecutorHandle::agree`].
    pub fn gather(
        &mut self,
        call: &CollectiveSignature,
        record: &[u8],
    ) -> Result<Vec<Vec<u8>>, Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        if !self.has_other_callers() {
            return Ok(vec![record.to_vec()]);
        }
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let heard = self.executor.gather(call, record);
        heard.inspect_err(|error| self.failure = Some(error.clone()))
    }

    /// Gives every hosted rank its elements of an array.
    ///
    /// # Errors
    /// If ranks are elsewhere and do not get them; the executor does not work any more then.
    pub fn put(&mut self, id: ArrayId, mut tile: impl FnMut(Rank) -> Tile) -> Result<(), Error> {
        self.transfer(|executor| executor.put(id, &mut tile))
    }

    /// The elements that hosted ranks have of an array, by rank. They never change: a program makes
    /// new arrays. Only the halo around them may, with every program that needs it. Of ranks that are
    /// elsewhere it takes only those that are `wanted`.
    ///
    /// # Errors
    /// If ranks are elsewhere and elements do not arrive.
    pub fn get(&mut self, id: ArrayId, wanted: &[Rank]) -> Result<RankTiles, Error> {
        self.transfer(|executor| executor.get(id, wanted))
    }

    /// Moves elements to or from ranks, once they run nothing. What failed earlier is an error only
    /// where ranks are elsewhere: what is in this process can still be looked at.
    fn transfer<T>(
        &mut self,
        f: impl FnOnce(&mut dyn Executor) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let settled = self.settle_if(false);
        if settled == Err(Error::Forked) || (settled.is_err() && !self.is_in_process()) {
            settled?;
        }
        f(&mut *self.executor).map_err(|error| self.noted(error))
    }

    /// Gives hosted ranks other elements of an array that they have.
    pub fn replace(&mut self, id: ArrayId, tiles: &[(Rank, Arc<Tile>)]) {
        let tiles: BTreeMap<Rank, &Arc<Tile>> =
            tiles.iter().map(|(rank, tile)| (*rank, tile)).collect();
        self.each_rank(|rank| {
            if let Some(tile) = tiles.get(&rank.engine.rank()) {
                rank.store.insert(id, Arc::clone(tile));
            }
        });
    }

    /// Forgets arrays at once.
    pub fn forget(&mut self, ids: &[ArrayId]) {
        if self.is_forked() {
            return;
        }
        if self.is_in_process() {
            // What went wrong in a program is told to the caller of the next one.
            let _ = self.settle_if(false);
        }
        self.executor.forget(ids);
    }

    /// True if some hosted rank has the elements of an array under another name, too.
    pub fn is_shared(&mut self, id: ArrayId) -> bool {
        let mut shared = false;
        self.each_rank(|rank| shared |= rank.shares(id));
        shared
    }

    /// What the hosted ranks have done so far, together.
    pub fn counters(&mut self) -> Counters {
        // What went wrong in a program is told to the caller of the next one.
        if self.settle_if(false) == Err(Error::Forked) {
            return Counters::default();
        }
        self.executor.counters()
    }

    /// What went to remote ranks and came from them so far; nothing if ranks are in this process.
    #[must_use]
    pub fn traffic(&self) -> Option<RemoteTraffic> {
        self.executor.traffic()
    }

    /// From now on every hosted rank has so many threads; see
    /// [`Engine::set_threads`](crate::Engine::set_threads). Gives how many it had before.
    ///
    /// # Errors
    /// As [`Engine::set_threads`](crate::Engine::set_threads); then nothing has changed.
    pub fn set_threads(&mut self, threads: usize) -> Result<usize, ThreadsError> {
        if self.settle_if(false) == Err(Error::Forked) {
            return Ok(1);
        }
        self.executor.set_threads(threads)
    }

    /// From now on loops that several threads of a hosted rank share are cut in this way; see
    /// [`Engine::set_scheme`](crate::Engine::set_scheme). Gives how it was before; nothing if the
    /// ranks are elsewhere: how they do it is said where they are.
    pub fn set_scheme(&mut self, scheme: Scheme) -> Option<Scheme> {
        if self.settle_if(false) == Err(Error::Forked) {
            return None;
        }
        self.executor.set_scheme(scheme)
    }

    /// Bytes of the arrays that the hosted ranks keep.
    pub fn stored_bytes(&mut self) -> usize {
        let mut sum = 0;
        self.each_rank(|rank| {
            sum += rank.store.values().map(|tile| tile.as_bytes().len()).sum::<usize>()
        });
        sum
    }

    /// Bytes that the hosted ranks keep for what they send and receive.
    pub fn staging_bytes(&mut self) -> usize {
        let mut sum = 0;
        self.each_rank(|rank| sum += rank.engine.staging_bytes());
        sum
    }

    /// While memory is scarce, the hosted ranks hold no more than they have now where they can.
    pub fn set_scarce(&mut self, scarce: bool) {
        self.each_rank(|rank| rank.engine.pool().set_scarce(scarce));
    }

    /// Bytes that the hosted ranks keep for arrays to come.
    pub fn spare_bytes(&mut self) -> usize {
        let mut sum = 0;
        self.each_rank(|rank| sum += rank.engine.pool().free_bytes());
        sum
    }

    /// Calls `visit` with every rank whose memory is here, once it runs nothing.
    fn each_rank(&mut self, mut visit: impl FnMut(&mut RankRuntime)) {
        // What went wrong in a program is told to the caller of the next one.
        if self.settle_if(false) != Err(Error::Forked) {
            self.executor.each_rank(&mut visit);
        }
    }
}

/// True for what was refused before anything was done: the executor works on.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused { .. } | Error::NoThread { .. } | Error::OutOfMemory { ended: false, .. }
    )
}

/// The error of the rank that failed by itself, rather than of those that only heard of it.
pub(super) fn root_cause(faults: impl Iterator<Item = Error>) -> Option<Error> {
    faults.min_by_key(|error| matches!(error, Error::Comm(CommError::Failed { .. })))
}

impl Drop for ExecutorHandle {
    fn drop(&mut self) {
        if self.is_forked() {
            // The threads are not here, and the connections are the parent's: nothing is ended.
            let none: Box<dyn Executor> = Box::new(ThreadExecutor::new(0, &Options::default()));
            return std::mem::forget(std::mem::replace(&mut self.executor, none));
        }
        self.executor.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_process_uses_and_ends_nothing() {
        for ranks in [1, 3] {
            let executor = ThreadExecutor::new(ranks, &Options::default());
            let queue = Arc::clone(&executor.queue);
            let mut handle = ExecutorHandle::new(Box::new(executor));
            // As a child sees it: another process started the ranks.
            handle.process = pantile_memory::process().wrapping_add(1);
            let call = CollectiveSignature::here("test", 0);
            let tile = |_| Tile::zeroed(pantile_ir::DType::F64, 1);
            assert_eq!(handle.put(ArrayId(1), tile), Err(Error::Forked));
            assert!(matches!(handle.get(ArrayId(1), &[0]), Err(Error::Forked)));
            assert_eq!(handle.settle(), Err(Error::Forked));
            assert!(matches!(handle.gather(&call, &[]), Err(Error::Forked)));
            assert_eq!(handle.counters().programs, 0);
            handle.forget(&[ArrayId(1)]);
            drop(handle);
            // The ranks still wait for jobs: dropping the handle must not touch them.
            assert!(!queue.is_closed());
            queue.close();
        }
    }
}
