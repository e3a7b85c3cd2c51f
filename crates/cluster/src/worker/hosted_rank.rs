//! What a rank does at a worker, within the memory that it has.

use std::collections::BTreeSet;
use std::sync::Arc;

use pantile_comm::{CollectiveSignature, CommError, Rank};
use pantile_engine::{ArrayId, Counters, Error, ExecutorHandle, Job, Tile};

use super::error::PutError;
use super::quota::{MemoryQuota, ReadLease, Reservation};
use crate::wire::{FaultCause, WireFault};

/// The part of its memory that a rank sets aside for small programs, and the most of it.
const RESERVE_PART: u64 = 64;
const RESERVE_MAX: u64 = 64 << 20;

/// Most arrays of a rank: also empty ones have names.
const ARRAYS_MAX: usize = 1 << 20;

/// Bytes that every rank of a session sets aside for small programs.
pub(crate) fn reserve_bytes(memory: u64) -> u64 {
    (memory / RESERVE_PART).min(RESERVE_MAX)
}

/// What a rank may use, and what its worker is called.
pub(crate) struct RankResources {
    pub(crate) quota: Arc<MemoryQuota>,
    /// Set aside for small programs.
    pub(crate) reserve: Reservation,
    pub(crate) worker: Arc<str>,
}

/// What a client is told of an error of a rank.
fn rank_fault(error: &Error) -> WireFault {
    let cause = match error {
        Error::Comm(CommError::Failed { .. }) => FaultCause::Other,
        _ => FaultCause::Own,
    };
    WireFault::execution("", error.to_string()).caused(cause)
}

/// A rank with its arrays.
///
/// Either all ranks run a program or none does, or some would wait for others for ever. But what
/// clients bring is known to one rank only. So small programs take their memory out of a reserve,
/// of which every rank has as much left as any other; for a large one, and when the reserve is used
/// up, the ranks ask each other. Loops of small programs therefore ask once in many turns.
pub(crate) struct HostedRank {
    executor: ExecutorHandle,
    number: Rank,
    resources: RankResources,
    /// Bytes of a reserve of which nothing is used.
    whole: u64,
    /// The arrays that there may be.
    names: BTreeSet<ArrayId>,
}

impl HostedRank {
    pub(crate) fn new(executor: ExecutorHandle, resources: RankResources) -> Self {
        let number = executor.hosted().first().copied().unwrap_or(0);
        let whole = resources.reserve.bytes();
        Self { executor, number, resources, whole, names: BTreeSet::new() }
    }

    /// Runs a program that needs at most so many bytes on any rank; says why not.
    pub(crate) fn run(&mut self, job: &Arc<Job>, most: u64) -> Option<WireFault> {
        self.drop_arrays(&job.forget);
        let reservation = match most <= self.resources.reserve.bytes() {
            true => self.resources.reserve.split(most),
            false => match self.agree(job) {
                Ok(reservation) => reservation,
                Err(fault) => return Some(fault),
            },
        };
        let fault = match self.executor.run(job) {
            Ok(()) => None,
            Err(error @ Error::OutOfMemory { ended: false, .. }) => {
                // All ranks say so, and nothing was done.
                self.settle(Some(reservation));
                return Some(WireFault::refused(error.to_string()));
            }
            Err(error) => Some(rank_fault(&error)),
        };
        for (number, id) in (job.parameters.len()..).zip(&job.arguments) {
            if job.executable.spends(number) {
                self.names.remove(id);
            }
        }
        self.names.extend(&job.results);
        self.settle(Some(reservation));
        fault
    }

    /// Memory for a large program, if all ranks have enough; fills up the reserve where they can.
    fn agree(&mut self, job: &Job) -> Result<Reservation, WireFault> {
        // What was just let go is free.
        self.settle(None);
        let needed = self.needed(job);
        let own = self.resources.quota.reserve(needed).or_else(|_| {
            // Arrays with two names were counted twice.
            let stored = self.distinct_bytes();
            self.resources.quota.settle(stored, None);
            self.resources.quota.reserve(needed)
        });
        let used = self.whole - self.resources.reserve.bytes();
        let more = own.as_ref().ok().and_then(|_| self.resources.quota.reserve(used).ok());
        let record = [u8::from(own.is_ok()), u8::from(more.is_some())];
        let heard = self.gather_from_all(job, &record);
        let heard = heard.map_err(|error| rank_fault(&error))?;
        let all = |at: usize| heard.iter().all(|record| record.get(at) == Some(&1));
        let own = own.map_err(|shortage| {
            let (worker, rank) = (&self.resources.worker, self.number);
            WireFault::refused(format!("worker `{worker}`, rank {rank}: the program {shortage}"))
        })?;
        if !all(0) {
            // The rank that has not enough says more.
            let text = "the program cannot go on, because another rank has not enough memory";
            return Err(WireFault::execution("", text).caused(FaultCause::Other));
        }
        if let Some(more) = more.filter(|_| all(1)) {
            self.resources.reserve.join(more);
        }
        Ok(own)
    }

    fn gather_from_all(&mut self, job: &Job, record: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        if self.executor.size() == 1 {
            return Ok(vec![record.to_vec()]);
        }
        let [low, high] = [job.key, job.key >> 64].map(|half| half & u128::from(u64::MAX));
        let fingerprint = u64::try_from(low ^ high).unwrap_or(0);
        self.executor
            .gather(&CollectiveSignature::here("memory for a program", fingerprint), record)
    }

    /// Bytes that a program needs here, with copies of what it spends and another reader still has.
    fn needed(&mut self, job: &Job) -> u64 {
        let mut needed = job.executable.needed_bytes(self.number) as u64;
        for (number, id) in (job.parameters.len()..).zip(&job.arguments) {
            if job.executable.spends(number)
                && let Some(tile) = self.find(*id)
                && Arc::strong_count(&tile) > 2
            {
                needed = needed.saturating_add(tile.as_bytes().len() as u64);
            }
        }
        needed
    }

    fn find(&mut self, id: ArrayId) -> Option<Arc<Tile>> {
        let hosted = self.executor.hosted();
        let tiles = self.executor.get(id, &hosted).unwrap_or_default();
        tiles.into_iter().next().map(|(_, tile)| tile)
    }

    /// Bytes of all arrays, those with several names once.
    fn distinct_bytes(&mut self) -> u64 {
        let (mut seen, mut bytes) = (BTreeSet::new(), 0);
        for id in self.names.clone() {
            match self.find(id) {
                Some(tile) if seen.insert(Arc::as_ptr(&tile).addr()) => {
                    bytes += tile.as_bytes().len() as u64;
                }
                Some(_) => {}
                None => {
                    self.names.remove(&id);
                }
            }
        }
        bytes
    }

    /// Keeps an array for which memory was reserved.
    pub(crate) fn put(
        &mut self,
        id: ArrayId,
        tile: Tile,
        reservation: Reservation,
    ) -> Result<(), PutError> {
        if self.names.len() >= ARRAYS_MAX {
            return Err(PutError::TooManyArrays { limit: ARRAYS_MAX });
        }
        let mut tile = Some(tile);
        let nothing = || Tile::zeroed(pantile_engine::DType::U8, 0);
        let put = self.executor.put(id, |_| tile.take().unwrap_or_else(nothing));
        self.names.insert(id);
        self.settle(Some(reservation));
        put.map_err(PutError::Engine)
    }

    /// Leases an array to a reader.
    pub(crate) fn get(&mut self, id: ArrayId) -> Option<ReadLease> {
        self.find(id).map(|tile| self.resources.quota.lease(tile))
    }

    pub(crate) fn forget(&mut self, ids: &[ArrayId]) {
        self.drop_arrays(ids);
        self.settle(None);
    }

    fn drop_arrays(&mut self, ids: &[ArrayId]) {
        if !ids.is_empty() {
            self.executor.forget(ids);
            ids.iter().for_each(|id| _ = self.names.remove(id));
        }
    }

    pub(crate) fn set_threads(&mut self, threads: usize) {
        // The number was checked before it was sent; what is wrong changes nothing.
        let _ = self.executor.set_threads(threads);
    }

    /// What it has done so far, and the bytes that it keeps.
    pub(crate) fn counts(&mut self) -> (Counters, u64) {
        (self.executor.counters(), self.executor.stored_bytes() as u64)
    }

    /// Takes note of what is kept now, before a client is told that something is done.
    fn settle(&mut self, reservation: Option<Reservation>) {
        let stored = self.executor.stored_bytes() as u64;
        self.resources.quota.note_staging(self.executor.staging_bytes() as u64);
        self.resources.quota.settle(stored, reservation);
    }
}
