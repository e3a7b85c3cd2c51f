//! One rank at a worker: a thread that does what is ordered, one thing after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use pantile_comm::{Communicator, Options};
use pantile_comm_net::{Hub, NetError, Seat as NetSeat};
use pantile_engine::{ArrayId, Counters, ExecutorHandle, Job, Pool, Scheme, Tile};

use super::account::{Account, Loan, Promise};
use super::rank::{Means, Rank};
use crate::wire::Fault;

/// What a rank is told to do. Who asks gets the answer through what comes along.
pub(crate) enum Task {
    /// A program, and the most bytes that it needs on any rank.
    Run(Arc<Job>, u64, Box<dyn FnOnce(Option<Fault>) + Send>),
    Put(ArrayId, Tile, Promise, Sender<Result<(), String>>),
    Get(ArrayId, Sender<Option<Loan>>),
    Free(Vec<ArrayId>),
    Threads(usize),
    Counts(Box<dyn FnOnce(Counters, u64) + Send>),
    /// Nobody wants anything any more.
    End,
}

/// A rank of a session that lives here.
pub(crate) struct Seat {
    tasks: Sender<Task>,
    /// The memory that it has.
    account: Arc<Account>,
    /// True once nobody wants anything of it any more.
    stop: Arc<AtomicBool>,
}

impl Seat {
    /// Starts a rank: it joins its world, says whether it could, and then waits for tasks.
    pub(crate) fn start(
        hub: Arc<Hub>,
        seat: NetSeat,
        (options, scheme): (Options, Scheme),
        means: Means,
        joined: impl FnOnce(Option<NetError>) + Send + 'static,
    ) -> Result<Self, String> {
        let (tasks, orders) = channel();
        let account = Arc::clone(&means.account);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let own = account.pool().clone();
        let name = format!("rank {}", seat.rank);
        let work = move || match hub.join(&seat, &options) {
            Err(error) => joined(Some(error)),
            Ok(net) => {
                joined(None);
                let mut executor = ExecutorHandle::single(Communicator::new(Box::new(net)));
                executor.set_scheme(scheme);
                executor.stop_if(&stopped);
                executor.set_pool(&own);
                serve(Rank::new(executor, means), (&orders, &own), &stopped);
            }
        };
        let thread = std::thread::Builder::new().name(name).spawn(work);
        thread.map_err(|error| format!("no thread for a rank: {error}"))?;
        Ok(Self { tasks, account, stop })
    }

    /// Gives the rank something to do; false if it is not there any more.
    pub(crate) fn give(&self, task: Task) -> bool {
        self.tasks.send(task).is_ok()
    }

    /// The memory that it has.
    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Ends the rank, before the next turn of a loop if it is in one, whoever still waits for it;
    /// nobody waits for that.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.give(Task::End);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.end();
    }
}

/// So long after its last task a rank lets memory go that it did not use lately.
const IDLE: Duration = Duration::from_secs(11);

/// A rank whose last task came within so long of the one before looks for the next one for as long,
/// before it sleeps. Waking a thread on a core that sleeps takes about thirty microseconds where the
/// machine is virtual, and every step of a loop would pay them.
const SPIN: Duration = Duration::from_micros(500);

/// The tasks of a rank, as they come.
struct Tasks<'a> {
    orders: &'a Receiver<Task>,
    /// The last one came soon after the one before.
    often: bool,
}

impl Tasks<'_> {
    /// The next task; an error if none comes for long, or ever.
    fn next(&mut self) -> Result<Task, RecvTimeoutError> {
        let started = Instant::now();
        let task = match self.look(started) {
            Some(task) => Ok(task),
            None => self.orders.recv_timeout(IDLE),
        };
        self.often = started.elapsed() < SPIN;
        task
    }

    /// Looks again and again, where that paid off the last time.
    fn look(&self, started: Instant) -> Option<Task> {
        while self.often && started.elapsed() < SPIN {
            match self.orders.try_recv() {
                Ok(task) => return Some(task),
                // With more threads than cores whoever brings the task may need this very core.
                Err(TryRecvError::Empty) => std::thread::yield_now(),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
        None
    }
}

fn serve(mut rank: Rank, (orders, pool): (&Receiver<Task>, &Pool), stopped: &AtomicBool) {
    let mut tasks = Tasks { orders, often: false };
    loop {
        let task = match tasks.next() {
            Ok(task) => task,
            Err(RecvTimeoutError::Timeout) => {
                pool.trim();
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        // What was ordered before is not wanted any more either.
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        match task {
            Task::Run(job, most, done) => done(rank.run(&job, most)),
            Task::Put(id, tile, promise, done) => {
                // Whoever asked may be gone.
                let _ = done.send(rank.put(id, tile, promise));
            }
            Task::Get(id, done) => {
                let _ = done.send(rank.get(id));
            }
            Task::Free(ids) => rank.forget(&ids),
            Task::Threads(threads) => rank.set_threads(threads),
            Task::Counts(tell) => {
                let (counters, bytes) = rank.counts();
                tell(counters, bytes);
            }
            Task::End => return,
        }
    }
}
