//! Bytes of memory that ranks have, are about to have, or still lend to those who read them.
//!
//! Memory is asked for before it is taken, and what was promised counts from then on: several who ask
//! at once never get more together than there is. Memory that ranks keep unused counts, too; it is
//! given back to the system before anything is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pantile_engine::{Pool, Tile};

/// The memory of a worker, for all clients together.
pub(crate) struct Purse {
    limit: AtomicU64,
    used: Mutex<u64>,
    /// Those that draw from it, or did.
    drawing: Mutex<Vec<Weak<Account>>>,
}

impl Purse {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { limit: limit.into(), used: Mutex::new(0), drawing: Mutex::default() })
    }

    /// Bytes that all together may have.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// From now on all together may have so many bytes. What was promised stays promised.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Gives back to the system what no rank uses.
    fn clear_pools(&self) {
        let all: Vec<Arc<Account>> = lock(&self.drawing).iter().filter_map(Weak::upgrade).collect();
        for account in all {
            account.pool.clear();
            account.tell(&mut lock(&account.books));
        }
    }

    /// Ranks that have not ended, or of which somebody still reads.
    pub(crate) fn accounts(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }
}

/// The memory of one rank.
///
/// Invariants: (1) `told` is what this account adds to the purse; (2) locks are taken in the order
/// books, purse.
pub(crate) struct Account {
    purse: Arc<Purse>,
    limit: u64,
    /// The memory of its arrays, with what is kept for the next ones.
    pool: Pool,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    /// Bytes of arrays that the rank keeps, as of its last task.
    stored: u64,
    /// Bytes that the rank keeps for what it sends and receives.
    staging: u64,
    /// Bytes that were promised and are not arrays yet.
    promised: u64,
    /// Arrays that are being read, by their places, and by how many.
    lent: BTreeMap<usize, (Arc<Tile>, usize)>,
    /// True while new memory takes the place of what is kept unused.
    scarce: bool,
    told: u64,
}

/// There is not so much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    pub(crate) asked: u64,
    pub(crate) left: u64,
    limit: u64,
    /// Bytes that other ranks at this worker have.
    others: u64,
}

impl fmt::Display for Short {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, left, limit, others } = self;
        write!(out, "asks for {asked} bytes of memory, but of {limit} only {left} bytes are left")?;
        match others {
            0 => Ok(()),
            others => write!(out, ", because others have {others}"),
        }
    }
}

/// Memory that was promised to somebody; given back when it is dropped.
pub(crate) struct Promise {
    account: Arc<Account>,
    bytes: u64,
}

/// An array that somebody reads: it counts until then, forgotten or not.
pub(crate) struct Loan {
    account: Arc<Account>,
    /// None once it is dropped.
    tile: Option<Arc<Tile>>,
}

impl Account {
    /// The account of a rank that may have so many bytes.
    pub(crate) fn new(purse: &Arc<Purse>, limit: u64) -> Arc<Self> {
        let (purse, pool, books) = (Arc::clone(purse), Pool::default(), Mutex::default());
        let account = Arc::new(Self { purse, limit, pool, books });
        let mut drawing = lock(&account.purse.drawing);
        drawing.retain(|one| one.strong_count() > 0);
        drawing.push(Arc::downgrade(&account));
        drop(drawing);
        account
    }

    /// Where the memory of its arrays comes from.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Bytes of arrays that the rank keeps.
    pub(crate) fn stored(&self) -> u64 {
        lock(&self.books).stored
    }

    /// Sets memory aside, if there is as much; first in the place of what is kept unused here, then
    /// of what others keep unused.
    pub(crate) fn promise(self: &Arc<Self>, bytes: u64) -> Result<Promise, Short> {
        let first = self.try_promise(bytes).or_else(|_| {
            self.set_scarce(&mut lock(&self.books), true);
            self.try_promise(bytes)
        });
        first.or_else(|_| {
            self.purse.clear_pools();
            self.try_promise(bytes)
        })
    }

    fn try_promise(self: &Arc<Self>, bytes: u64) -> Result<Promise, Short> {
        let mut books = lock(&self.books);
        self.tell(&mut books);
        let promised = books.promised;
        books.promised = promised.saturating_add(bytes);
        let after = books.count(&self.pool);
        let mut used = lock(&self.purse.used);
        let (own, others) = (books.told, used.saturating_sub(books.told));
        let limit = self.limit.min(self.purse.limit());
        let left = self.limit.saturating_sub(own).min(self.purse.limit().saturating_sub(*used));
        if after.saturating_sub(own) > left {
            books.promised = promised;
            return Err(Short { asked: bytes, left, limit, others });
        }
        *used = others.saturating_add(after);
        books.told = after;
        Ok(Promise { account: Arc::clone(self), bytes })
    }

    fn set_scarce(&self, books: &mut Books, scarce: bool) {
        if books.scarce != scarce {
            books.scarce = scarce;
            self.pool.set_scarce(scarce);
        }
    }

    /// So many bytes of arrays are kept now, and what was promised for them is not needed any more.
    pub(crate) fn settle(&self, stored: u64, promise: Option<Promise>) {
        let mut books = lock(&self.books);
        books.stored = stored;
        if let Some(mut promise) = promise {
            books.promised -= std::mem::take(&mut promise.bytes);
        }
        let used = self.tell(&mut books);
        if books.scarce && used < self.purse.limit() / 2 {
            self.set_scarce(&mut books, false);
            self.tell(&mut books);
        }
    }

    /// So many bytes are kept for what is sent and received; told with the next change.
    pub(crate) fn note_staging(&self, bytes: u64) {
        lock(&self.books).staging = bytes;
    }

    /// Lends an array to somebody who reads it.
    pub(crate) fn lend(self: &Arc<Self>, tile: Arc<Tile>) -> Loan {
        let mut books = lock(&self.books);
        let entry = books.lent.entry(place(&tile)).or_insert_with(|| (Arc::clone(&tile), 0));
        entry.1 += 1;
        Loan { account: Arc::clone(self), tile: Some(tile) }
    }

    /// Tells the purse what there is now; gives what all have together.
    fn tell(&self, books: &mut Books) -> u64 {
        let now = books.count(&self.pool);
        let mut used = lock(&self.purse.used);
        *used = used.saturating_sub(books.told).saturating_add(now);
        books.told = now;
        *used
    }
}

impl Books {
    /// All bytes that there are or may be. What is promised comes out of a pool without blocks that
    /// are kept beside it, once memory is scarce.
    fn count(&self, pool: &Pool) -> u64 {
        let unused = pool.free_bytes() as u64;
        let more = match self.scarce {
            true => self.promised.max(unused),
            false => self.promised.saturating_add(unused),
        };
        let kept = self.stored.saturating_add(self.staging);
        kept.saturating_add(more).saturating_add(self.away())
    }

    /// Bytes of arrays that nobody has but those who read them.
    fn away(&self) -> u64 {
        let lent = self.lent.values();
        let alone = lent.filter(|(tile, readers)| Arc::strong_count(tile) <= readers + 1);
        alone.map(|(tile, _)| tile.as_bytes().len() as u64).sum()
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let told = lock(&self.books).told;
        let mut used = lock(&self.purse.used);
        *used = used.saturating_sub(told);
    }
}

impl Promise {
    /// Takes a part of it out, at most all of it.
    pub(crate) fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { account: Arc::clone(&self.account), bytes }
    }

    /// Adds another one to it.
    pub(crate) fn join(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let mut books = lock(&self.account.books);
            books.promised -= self.bytes;
            self.account.tell(&mut books);
        }
    }
}

impl Deref for Loan {
    type Target = Tile;

    fn deref(&self) -> &Tile {
        self.tile.as_ref().expect("it is dropped only once")
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let Some(tile) = self.tile.take() else { return };
        let (mut books, key) = (lock(&self.account.books), place(&tile));
        drop(tile);
        let readers = books.lent.get_mut(&key).map_or(0, |(_, readers)| {
            *readers -= 1;
            *readers
        });
        // Memory is given back before anybody is told that it is free.
        let last = if readers == 0 { books.lent.remove(&key) } else { None };
        drop(last);
        self.account.tell(&mut books);
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

    fn left(account: &Arc<Account>) -> u64 {
        account.promise(u64::MAX).err().map_or(0, |short| short.left)
    }

    #[test]
    fn what_is_promised_counts_until_it_is_there_or_given_back() {
        let account = Account::new(&Purse::new(100), 80);
        let one = account.promise(50).unwrap();
        let short = account.promise(40).err().unwrap();
        assert_eq!(
            short.to_string(),
            "asks for 40 bytes of memory, but of 80 only 30 bytes are left"
        );
        let mut two = account.promise(30).unwrap();
        account.settle(50, Some(one));
        assert_eq!((account.stored(), left(&account)), (50, 0));
        let three = two.split(10);
        assert_eq!((two.bytes(), three.bytes()), (20, 10));
        drop(two);
        assert_eq!(left(&account), 20);
        drop(three);
        account.settle(0, None);
        assert_eq!(left(&account), 80);
        assert!(account.promise(u64::MAX).is_err(), "no sum is too large");
    }

    #[test]
    fn ranks_share_what_their_worker_has() {
        let purse = Purse::new(100);
        let (one, other) = (Account::new(&purse, 80), Account::new(&purse, 80));
        one.settle(70, None);
        assert_eq!((left(&one), left(&other), purse.accounts()), (10, 30, 2));
        let promise = other.promise(30).unwrap();
        assert_eq!(left(&one), 0);
        drop(one);
        assert_eq!(left(&other), 50);
        drop(other);
        // Whoever holds a promise holds the account.
        assert_eq!(*lock(&purse.used), 30);
        drop(promise);
        assert_eq!(*lock(&purse.used), 0);
    }

    #[test]
    fn what_only_readers_have_counts() {
        let account = Account::new(&Purse::new(100), 100);
        let tile = Arc::new(Tile::from_vec(vec![1.0_f64; 5]));
        account.settle(40, None);
        let (one, two) = (account.lend(Arc::clone(&tile)), account.lend(Arc::clone(&tile)));
        assert_eq!((left(&account), one.len()), (60, 5));
        drop(tile);
        account.settle(0, None);
        assert_eq!(left(&account), 60, "forgotten, and still read");
        drop(one);
        assert_eq!(left(&account), 60);
        drop(two);
        assert_eq!(left(&account), 100);
    }

    #[test]
    fn what_is_kept_unused_counts_and_goes_before_anything_is_refused() {
        const LARGE: u64 = 1 << 20;
        let purse = Purse::new(3 * LARGE);
        let (one, other) = (Account::new(&purse, 3 * LARGE), Account::new(&purse, 3 * LARGE));
        let brought = |account: &Arc<Account>| {
            let promise = account.promise(2 * LARGE).unwrap();
            let write = |_: &mut [u8]| Ok::<(), ()>(());
            let tile = account.pool().filled(pantile_engine::DType::U8, 2 << 20, write).unwrap();
            account.settle(2 * LARGE, Some(promise));
            drop(tile);
            account.settle(0, None);
            account.pool().free_bytes() as u64
        };
        assert_eq!(brought(&one), 2 * LARGE, "kept for the next one");
        assert_eq!(*lock(&purse.used), 2 * LARGE);
        assert_eq!(brought(&one), 2 * LARGE, "in its own place");
        assert_eq!(brought(&other), 2 * LARGE);
        assert_eq!((one.pool().free_bytes(), *lock(&purse.used)), (0, 2 * LARGE));
        one.settle(LARGE, None);
        let short = other.promise(3 * LARGE).err().unwrap().to_string();
        assert_eq!(
            short,
            "asks for 3145728 bytes of memory, but of 3145728 only 2097152 bytes are left, because \
             others have 1048576"
        );
    }

    #[test]
    fn a_limit_may_become_narrower() {
        let purse = Purse::new(100);
        let account = Account::new(&purse, 100);
        let promise = account.promise(60).unwrap();
        purse.set_limit(50);
        assert_eq!(left(&account), 0);
        drop(promise);
        assert_eq!(left(&account), 50);
    }

    #[test]
    fn many_who_ask_at_once_get_no_more_than_there_is() {
        let account = Account::new(&Purse::new(1000), 1000);
        let got: Vec<Promise> = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| (0..100).filter_map(|_| account.promise(7).ok()).collect());
            let threads: Vec<_> = (0..4).map(|_| ask()).collect();
            threads.into_iter().flat_map(|one| one.join().unwrap_or_else(|_| Vec::new())).collect()
        });
        assert_eq!(got.len(), 1000 / 7);
        drop(got);
        assert_eq!(left(&account), 1000);
    }
}
