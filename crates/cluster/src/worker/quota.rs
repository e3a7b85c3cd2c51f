//! Memory quotas: bytes that ranks have, have reserved, or still lease to readers.
//!
//! Memory is asked for before it is taken, and what was reserved counts from then on: several that
//! ask at once never get more together than there is. Memory that ranks keep unused counts, too; it
//! is given back to the system before anything is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pantile_engine::{Pool, Tile};

/// The memory of a worker, for all clients together.
pub(crate) struct MemoryBudget {
    limit: AtomicU64,
    used: Mutex<u64>,
    /// The quotas that draw from it, or did.
    quotas: Mutex<Vec<Weak<MemoryQuota>>>,
}

impl MemoryBudget {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { limit: limit.into(), used: Mutex::new(0), quotas: Mutex::default() })
    }

    /// Bytes that all together may have.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// From now on all together may have so many bytes. What was reserved stays reserved.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Gives back to the system what no rank uses.
    fn clear_pools(&self) {
        let all: Vec<Arc<MemoryQuota>> =
            lock(&self.quotas).iter().filter_map(Weak::upgrade).collect();
        for quota in all {
            quota.pool.clear();
            quota.publish(&mut lock(&quota.ledger));
        }
    }

    /// Ranks that have not ended, or that still have a reader.
    pub(crate) fn quotas(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }
}

/// The memory of one rank.
///
/// Invariants: (1) `published` is what this quota adds to the budget; (2) locks are taken in the
/// order ledger, budget.
pub(crate) struct MemoryQuota {
    budget: Arc<MemoryBudget>,
    limit: u64,
    /// The memory of its arrays, with what is kept for the next ones.
    pool: Pool,
    ledger: Mutex<QuotaLedger>,
}

#[derive(Default)]
struct QuotaLedger {
    /// Bytes of arrays that the rank keeps, as of its last task.
    stored: u64,
    /// Bytes that the rank keeps for what it sends and receives.
    staging: u64,
    /// Bytes that were reserved and are not arrays yet.
    reserved: u64,
    /// Arrays that are being read, by their places, and by how many.
    leased: BTreeMap<usize, (Arc<Tile>, usize)>,
    /// True while new memory takes the place of what is kept unused.
    scarce: bool,
    published: u64,
}

/// There is not so much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryShortage {
    pub(crate) asked: u64,
    pub(crate) left: u64,
    limit: u64,
    /// Bytes that other ranks at this worker have.
    others: u64,
}

impl fmt::Display for MemoryShortage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, left, limit, others } = self;
        write!(out, "asks for {asked} bytes of memory, but of {limit} only {left} bytes are left")?;
        match others {
            0 => Ok(()),
            others => write!(out, ", because others have {others}"),
        }
    }
}

/// A reservation of memory; given back when it is dropped.
pub(crate) struct Reservation {
    quota: Arc<MemoryQuota>,
    bytes: u64,
}

/// A lease of an array to a reader: it counts until then, forgotten or not.
pub(crate) struct ReadLease {
    quota: Arc<MemoryQuota>,
    /// None once it is dropped.
    tile: Option<Arc<Tile>>,
}

impl MemoryQuota {
    /// The quota of a rank that may have so many bytes.
    pub(crate) fn new(budget: &Arc<MemoryBudget>, limit: u64) -> Arc<Self> {
        let (budget, pool, ledger) = (Arc::clone(budget), Pool::default(), Mutex::default());
        let quota = Arc::new(Self { budget, limit, pool, ledger });
        let mut quotas = lock(&quota.budget.quotas);
        quotas.retain(|one| one.strong_count() > 0);
        quotas.push(Arc::downgrade(&quota));
        drop(quotas);
        quota
    }

    /// Where the memory of its arrays comes from.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Bytes of arrays that the rank keeps.
    pub(crate) fn stored(&self) -> u64 {
        lock(&self.ledger).stored
    }

    /// Sets memory aside, if there is as much; first in the place of what is kept unused here, then
    /// of what others keep unused.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: u64) -> Result<Reservation, MemoryShortage> {
        let first = self.try_reserve(bytes).or_else(|_| {
            self.set_scarce(&mut lock(&self.ledger), true);
            self.try_reserve(bytes)
        });
        first.or_else(|_| {
            self.budget.clear_pools();
            self.try_reserve(bytes)
        })
    }

    fn try_reserve(self: &Arc<Self>, bytes: u64) -> Result<Reservation, MemoryShortage> {
        let mut ledger = lock(&self.ledger);
        self.publish(&mut ledger);
        let reserved = ledger.reserved;
        ledger.reserved = reserved.saturating_add(bytes);
        let after = ledger.count(&self.pool);
        let mut used = lock(&self.budget.used);
        let (own, others) = (ledger.published, used.saturating_sub(ledger.published));
        let limit = self.limit.min(self.budget.limit());
        let left = self.limit.saturating_sub(own).min(self.budget.limit().saturating_sub(*used));
        if after.saturating_sub(own) > left {
            ledger.reserved = reserved;
            return Err(MemoryShortage { asked: bytes, left, limit, others });
        }
        *used = others.saturating_add(after);
        ledger.published = after;
        Ok(Reservation { quota: Arc::clone(self), bytes })
    }

    fn set_scarce(&self, ledger: &mut QuotaLedger, scarce: bool) {
        if ledger.scarce != scarce {
            ledger.scarce = scarce;
            self.pool.set_scarce(scarce);
        }
    }

    /// So many bytes of arrays are kept now, and what was reserved for them is not needed any more.
    pub(crate) fn settle(&self, stored: u64, reservation: Option<Reservation>) {
        let mut ledger = lock(&self.ledger);
        ledger.stored = stored;
        if let Some(mut reservation) = reservation {
            ledger.reserved -= std::mem::take(&mut reservation.bytes);
        }
        let used = self.publish(&mut ledger);
        if ledger.scarce && used < self.budget.limit() / 2 {
            self.set_scarce(&mut ledger, false);
            self.publish(&mut ledger);
        }
    }

    /// So many bytes are kept for what is sent and received; told with the next change.
    pub(crate) fn note_staging(&self, bytes: u64) {
        lock(&self.ledger).staging = bytes;
    }

    /// Leases an array to a reader.
    pub(crate) fn lease(self: &Arc<Self>, tile: Arc<Tile>) -> ReadLease {
        let mut ledger = lock(&self.ledger);
        let entry = ledger.leased.entry(place(&tile)).or_insert_with(|| (Arc::clone(&tile), 0));
        entry.1 += 1;
        ReadLease { quota: Arc::clone(self), tile: Some(tile) }
    }

    /// Tells the budget what there is now; gives what all have together.
    fn publish(&self, ledger: &mut QuotaLedger) -> u64 {
        let now = ledger.count(&self.pool);
        let mut used = lock(&self.budget.used);
        *used = used.saturating_sub(ledger.published).saturating_add(now);
        ledger.published = now;
        *used
    }
}

impl QuotaLedger {
    /// All bytes that there are or may be. What is reserved comes out of a pool without blocks that
    /// are kept beside it, once memory is scarce.
    fn count(&self, pool: &Pool) -> u64 {
        let unused = pool.free_bytes() as u64;
        let more = match self.scarce {
            true => self.reserved.max(unused),
            false => self.reserved.saturating_add(unused),
        };
        let kept = self.stored.saturating_add(self.staging);
        kept.saturating_add(more).saturating_add(self.leased_only())
    }

    /// Bytes of arrays that only their readers have.
    fn leased_only(&self) -> u64 {
        let leased = self.leased.values();
        let alone = leased.filter(|(tile, readers)| Arc::strong_count(tile) <= readers + 1);
        alone.map(|(tile, _)| tile.as_bytes().len() as u64).sum()
    }
}

impl Drop for MemoryQuota {
    fn drop(&mut self) {
        let published = lock(&self.ledger).published;
        let mut used = lock(&self.budget.used);
        *used = used.saturating_sub(published);
    }
}

impl Reservation {
    /// Takes a part of it out, at most all of it.
    pub(crate) fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { quota: Arc::clone(&self.quota), bytes }
    }

    /// Adds another one to it.
    pub(crate) fn join(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let mut ledger = lock(&self.quota.ledger);
            ledger.reserved -= self.bytes;
            self.quota.publish(&mut ledger);
        }
    }
}

impl Deref for ReadLease {
    type Target = Tile;

    fn deref(&self) -> &Tile {
        self.tile.as_ref().expect("it is dropped only once")
    }
}

impl Drop for ReadLease {
    fn drop(&mut self) {
        let Some(tile) = self.tile.take() else { return };
        let (mut ledger, key) = (lock(&self.quota.ledger), place(&tile));
        drop(tile);
        let readers = ledger.leased.get_mut(&key).map_or(0, |(_, readers)| {
            *readers -= 1;
            *readers
        });
        // Memory is given back before it is counted as free.
        let last = if readers == 0 { ledger.leased.remove(&key) } else { None };
        drop(last);
        self.quota.publish(&mut ledger);
    }
}

fn place(tile: &Arc<Tile>) -> usize {
    Arc::as_ptr(tile).addr()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(quota: &Arc<MemoryQuota>) -> u64 {
        quota.reserve(u64::MAX).err().map_or(0, |shortage| shortage.left)
    }

    #[test]
    fn what_is_reserved_counts_until_it_is_there_or_given_back() {
        let quota = MemoryQuota::new(&MemoryBudget::new(100), 80);
        let one = quota.reserve(50).unwrap();
        let shortage = quota.reserve(40).err().unwrap();
        assert_eq!(
            shortage.to_string(),
            "asks for 40 bytes of memory, but of 80 only 30 bytes are left"
        );
        let mut two = quota.reserve(30).unwrap();
        quota.settle(50, Some(one));
        assert_eq!((quota.stored(), left(&quota)), (50, 0));
        let three = two.split(10);
        assert_eq!((two.bytes(), three.bytes()), (20, 10));
        drop(two);
        assert_eq!(left(&quota), 20);
        drop(three);
        quota.settle(0, None);
        assert_eq!(left(&quota), 80);
        assert!(quota.reserve(u64::MAX).is_err(), "no sum is too large");
    }

    #[test]
    fn ranks_share_what_their_worker_has() {
        let budget = MemoryBudget::new(100);
        let (one, other) = (MemoryQuota::new(&budget, 80), MemoryQuota::new(&budget, 80));
        one.settle(70, None);
        assert_eq!((left(&one), left(&other), budget.quotas()), (10, 30, 2));
        let reservation = other.reserve(30).unwrap();
        assert_eq!(left(&one), 0);
        drop(one);
        assert_eq!(left(&other), 50);
        drop(other);
        // A reservation keeps its quota alive.
        assert_eq!(*lock(&budget.used), 30);
        drop(reservation);
        assert_eq!(*lock(&budget.used), 0);
    }

    #[test]
    fn what_only_readers_have_counts() {
        let quota = MemoryQuota::new(&MemoryBudget::new(100), 100);
        let tile = Arc::new(Tile::from_vec(vec![1.0_f64; 5]));
        quota.settle(40, None);
        let (one, two) = (quota.lease(Arc::clone(&tile)), quota.lease(Arc::clone(&tile)));
        assert_eq!((left(&quota), one.len()), (60, 5));
        drop(tile);
        quota.settle(0, None);
        assert_eq!(left(&quota), 60, "forgotten, and still read");
        drop(one);
        assert_eq!(left(&quota), 60);
        drop(two);
        assert_eq!(left(&quota), 100);
    }

    #[test]
    fn what_is_kept_unused_counts_and_goes_before_anything_is_refused() {
        const LARGE: u64 = 1 << 20;
        let budget = MemoryBudget::new(3 * LARGE);
        let (one, other) =
            (MemoryQuota::new(&budget, 3 * LARGE), MemoryQuota::new(&budget, 3 * LARGE));
        let brought = |quota: &Arc<MemoryQuota>| {
            let reservation = quota.reserve(2 * LARGE).unwrap();
            let write = |_: &mut [u8]| Ok::<(), ()>(());
            let tile = quota.pool().filled(pantile_engine::DType::U8, 2 << 20, write).unwrap();
            quota.settle(2 * LARGE, Some(reservation));
            drop(tile);
            quota.settle(0, None);
            quota.pool().free_bytes() as u64
        };
        assert_eq!(brought(&one), 2 * LARGE, "kept for the next one");
        assert_eq!(*lock(&budget.used), 2 * LARGE);
        assert_eq!(brought(&one), 2 * LARGE, "in its own place");
        assert_eq!(brought(&other), 2 * LARGE);
        assert_eq!((one.pool().free_bytes(), *lock(&budget.used)), (0, 2 * LARGE));
        one.settle(LARGE, None);
        let shortage = other.reserve(3 * LARGE).err().unwrap().to_string();
        assert_eq!(
            shortage,
            "asks for 3145728 bytes of memory, but of 3145728 only 2097152 bytes are left, because \
             others have 1048576"
        );
    }

    #[test]
    fn a_limit_may_become_narrower() {
        let budget = MemoryBudget::new(100);
        let quota = MemoryQuota::new(&budget, 100);
        let reservation = quota.reserve(60).unwrap();
        budget.set_limit(50);
        assert_eq!(left(&quota), 0);
        drop(reservation);
        assert_eq!(left(&quota), 50);
    }

    #[test]
    fn many_reservations_at_once_get_no_more_than_there_is() {
        let quota = MemoryQuota::new(&MemoryBudget::new(1000), 1000);
        let got: Vec<Reservation> = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| (0..100).filter_map(|_| quota.reserve(7).ok()).collect());
            let threads: Vec<_> = (0..4).map(|_| ask()).collect();
            threads.into_iter().flat_map(|one| one.join().unwrap_or_else(|_| Vec::new())).collect()
        });
        assert_eq!(got.len(), 1000 / 7);
        drop(got);
        assert_eq!(left(&quota), 1000);
    }
}
