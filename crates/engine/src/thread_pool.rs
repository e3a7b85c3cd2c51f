//! The thread pool of a rank: threads that share one large piece of work with it.
//!
//! Work comes in chunks that do not depend on each other. The rank and the pool's threads take them one by
//! one until none are left; the rank never waits for a thread that has taken none.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pantile_comm::threads::Spin;
use pantile_kernels::lanes::Scratch;

use crate::raw::WorkBoard;
use crate::{Error, Scheme, Tile};

/// How a thread that waits spins before it sleeps. It sleeps on the lock of the board, which several
/// threads wait for at once.
pub(crate) const SPIN: Spin =
    Spin { longest: Duration::from_micros(20), polls: 1, pauses: 32, yields: false };

/// Bytes that work has to touch for several threads to be worth it.
pub(super) const LEAST: usize = 1 << 20;

/// From so many bytes for each thread on there are more pieces than threads, so that one that is
/// late has less to do.
pub(super) const PIECE: usize = 16 << 20;

/// Pieces for each thread at most.
const PIECES_MAX: usize = 4;

/// The threads of one rank: its own, and those of the pool.
pub(crate) struct ThreadPool {
    threads: usize,
    least: usize,
    scheme: Scheme,
    /// The scratch of each thread; the first is that of the rank.
    thread_scratches: Vec<Mutex<ThreadScratch>>,
    /// The next piece of those that each thread takes first.
    next: Vec<AtomicUsize>,
    /// Held by the caller that has work: one at a time.
    turn: Mutex<()>,
    /// Started when there is work for the first time.
    team: OnceLock<PoolThreads>,
}

/// Scratch memory of one thread.
#[derive(Default)]
pub(crate) struct ThreadScratch {
    /// Memory for running loops.
    pub(crate) scratch: Scratch,
    /// Cells that it folds into, by output.
    pub(crate) cells: Vec<Tile>,
    /// The cells were started.
    pub(crate) busy: bool,
}

impl ThreadPool {
    /// So many threads in all, the rank included.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            least: LEAST,
            scheme: Scheme::default(),
            thread_scratches: (0..threads).map(|_| Mutex::default()).collect(),
            next: (0..threads).map(|_| AtomicUsize::new(0)).collect(),
            turn: Mutex::default(),
            team: OnceLock::new(),
        }
    }

    /// The same, for all work that touches so many bytes; all that can be cut if these are none.
    pub(crate) fn with_least(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// The same, with loops cut in another way.
    pub(crate) fn with_scheme(self, scheme: Scheme) -> Self {
        Self { scheme, ..self }
    }

    /// How loops are cut.
    pub(crate) fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Threads in all.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// True if all work is cut that can be, whether that pays or not.
    pub(crate) fn always(&self) -> bool {
        self.least == 0
    }

    /// How many pieces to make of work that touches so many bytes; one if that is best.
    pub(crate) fn pieces(&self, bytes: usize) -> usize {
        if self.threads == 1 || bytes < self.least {
            return 1;
        }
        self.threads * (bytes / self.threads / PIECE).clamp(1, PIECES_MAX)
    }

    /// The scratch of all threads; no thread touches it while there is no work.
    pub(crate) fn thread_scratches(&self) -> impl Iterator<Item = MutexGuard<'_, ThreadScratch>> {
        self.thread_scratches.iter().map(lock)
    }

    /// Does `work` for every piece, on all threads, and waits until all is done. If pieces are even,
    /// each thread first takes those that it would have if all were equally quick, so that the next
    /// loop over the same memory finds it in the same caches; else all take the next one.
    ///
    /// # Errors
    /// The first one in the order of pieces.
    ///
    /// # Panics
    /// If the work does, on any thread.
    pub(crate) fn run(
        &self,
        pieces: usize,
        work: &(dyn Fn(usize, &mut ThreadScratch) -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        let _turn = lock(&self.turn);
        let each = match self.scheme {
            Scheme::Even => pieces.div_ceil(self.threads),
            _ => pieces,
        };
        for (thread, next) in self.next.iter().enumerate() {
            next.store(thread * each, Ordering::Relaxed);
        }
        let fault: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        self.team().board.lend(&|thread| {
            let mut thread_scratch = lock(&self.thread_scratches[thread]);
            for step in 0..self.threads {
                let whose = (thread + step) % self.threads;
                let end = ((whose + 1) * each).min(pieces);
                loop {
                    let piece = self.next[whose].fetch_add(1, Ordering::Relaxed);
                    if piece >= end {
                        break;
                    }
                    if let Err(error) = work(piece, &mut thread_scratch) {
                        let mut first = lock(&fault);
                        if first.as_ref().is_none_or(|(earlier, _)| piece < *earlier) {
                            *first = Some((piece, error));
                        }
                    }
                }
            }
        });
        let fault = fault.into_inner().unwrap_or_else(PoisonError::into_inner);
        fault.map_or(Ok(()), |(_, error)| Err(error))
    }

    fn team(&self) -> &PoolThreads {
        self.team.get_or_init(|| PoolThreads::new(self.threads - 1))
    }
}

/// Threads that wait for work.
struct PoolThreads {
    board: Arc<WorkBoard>,
    threads: Vec<JoinHandle<()>>,
}

impl PoolThreads {
    /// So many threads beside the caller's; fewer if the system has no more.
    fn new(thread_pool: usize) -> Self {
        let board = Arc::new(WorkBoard::default());
        let mut threads = Vec::new();
        for number in 1..=thread_pool {
            let own = Arc::clone(&board);
            let name = format!("pool thread {number}");
            let spawned = std::thread::Builder::new().name(name).spawn(move || own.help(number));
            threads.extend(spawned);
        }
        Self { board, threads }
    }
}

impl Drop for PoolThreads {
    fn drop(&mut self) {
        self.board.end();
        for thread in self.threads.drain(..) {
            // What it said when it panicked was told already.
            let _ = thread.join();
        }
    }
}

/// What a thread that panicked leaves is good enough: every work starts anew.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// How often each piece was done, with so many threads.
    fn counts(thread_pool: &ThreadPool, pieces: usize) -> Vec<usize> {
        let counts: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        let done = thread_pool.run(pieces, &|piece, _| {
            counts[piece].fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        assert_eq!(done, Ok(()));
        counts.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn every_piece_is_done_once() {
        for threads in [1, 2, 3, 8] {
            let thread_pool = ThreadPool::new(threads);
            for round in 0..200 {
                let pieces = round % 19;
                assert_eq!(counts(&thread_pool, pieces), vec![1; pieces], "{threads} threads");
            }
        }
    }

    #[test]
    fn pool_threads_that_sleep_wake_up() {
        let thread_pool = ThreadPool::new(2);
        let arrived = AtomicUsize::new(0);
        for _ in 0..3 {
            arrived.store(0, Ordering::Relaxed);
            // Both pieces end only when two threads have one each.
            let both = thread_pool.run(2, &|_, _| {
                arrived.fetch_add(1, Ordering::AcqRel);
                while arrived.load(Ordering::Acquire) < 2 {
                    std::thread::yield_now();
                }
                Ok(())
            });
            assert_eq!(both, Ok(()));
            std::thread::sleep(5 * SPIN.longest);
        }
    }

    #[test]
    fn a_panic_of_any_thread_is_one_of_the_rank_and_leaves_a_pool_that_works() {
        let thread_pool = ThreadPool::new(3);
        for wrong in 0..6 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                thread_pool.run(6, &|piece, _| {
                    assert!(piece != wrong, "piece {piece} is wrong");
                    Ok(())
                })
            }));
            let said = caught.expect_err("a panic");
            let said = said.downcast_ref::<String>().map(String::as_str);
            assert_eq!(said, Some(&*format!("piece {wrong} is wrong")));
            assert_eq!(counts(&thread_pool, 6), [1; 6]);
        }
    }

    #[test]
    fn a_pool_thread_that_panics_does_so_on_its_own_thread() {
        let thread_pool = ThreadPool::new(2);
        let rank = std::thread::current().id();
        let arrived = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            thread_pool.run(2, &|_, _| {
                arrived.fetch_add(1, Ordering::AcqRel);
                while arrived.load(Ordering::Acquire) < 2 {
                    std::thread::yield_now();
                }
                assert!(std::thread::current().id() == rank, "a pool thread cannot");
                Ok(())
            })
        }));
        let said = caught.expect_err("a panic");
        assert_eq!(said.downcast_ref::<&str>(), Some(&"a pool thread cannot"));
    }

    #[test]
    fn the_first_error_counts() {
        let thread_pool = ThreadPool::new(2);
        let done = thread_pool.run(8, &|piece, _| match piece {
            0..=2 => Ok(()),
            got => Err(Error::Step { rank: got, got: 0 }),
        });
        assert_eq!(done, Err(Error::Step { rank: 3, got: 0 }));
    }

    #[test]
    fn little_work_is_not_cut() {
        let thread_pool = ThreadPool::new(3);
        assert_eq!(thread_pool.pieces(LEAST - 1), 1);
        assert_eq!(thread_pool.pieces(LEAST), 3);
        assert_eq!(thread_pool.pieces(usize::MAX), 3 * PIECES_MAX);
        assert_eq!(ThreadPool::new(1).with_least(0).pieces(usize::MAX), 1);
        assert_eq!(thread_pool.with_least(0).pieces(0), 3);
    }
}
