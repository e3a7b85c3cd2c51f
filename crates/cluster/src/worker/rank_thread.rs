//! One rank at a worker: a thread that does what is ordered, one thing after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use pantile_comm::threads::Spin;
use pantile_comm::{Communicator, Options};
use pantile_comm_net::{JoinConfig, Listener, NetError};
use pantile_engine::{ArrayId, Counters, ExecutorHandle, Job, Pool, Scheme, Tile};

use super::error::{JoinError, PutError};
use super::hosted_rank::{HostedRank, RankResources};
use super::quota::{MemoryQuota, ReadLease, Reservation};
use crate::wire::WireFault;

/// What a rank is told to do. The reply goes through the sender or closure that comes along.
pub(crate) enum RankTask {
    /// A program, and the most bytes that it needs on any rank.
    Run(Arc<Job>, u64, Box<dyn FnOnce(Option<WireFault>) + Send>),
    Put(ArrayId, Tile, Reservation, Sender<Result<(), PutError>>),
    Get(ArrayId, Sender<Option<ReadLease>>),
    Free(Vec<ArrayId>),
    Threads(usize),
    Counts(Box<dyn FnOnce(Counters, u64) + Send>),
    /// The session is over.
    End,
}

/// A rank of a session that lives here.
pub(crate) struct RankThread {
    tasks: Sender<RankTask>,
    /// The memory that it has.
    quota: Arc<MemoryQuota>,
    /// True once the session is over.
    stop: Arc<AtomicBool>,
}

impl RankThread {
    /// Starts a rank: it joins its world, says whether it could, and then waits for tasks.
    pub(crate) fn start(
        data_listener: Arc<Listener>,
        config: JoinConfig,
        (options, scheme): (Options, Scheme),
        resources: RankResources,
        joined: impl FnOnce(Option<NetError>) + Send + 'static,
    ) -> Result<Self, JoinError> {
        let (tasks, orders) = channel();
        let quota = Arc::clone(&resources.quota);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let own = quota.pool().clone();
        let name = format!("rank {}", config.rank);
        let work = move || match data_listener.join(&config, &options) {
            Err(error) => joined(Some(error)),
            Ok(net) => {
                joined(None);
                let mut executor = ExecutorHandle::single(Communicator::new(Box::new(net)));
                executor.set_scheme(scheme);
                executor.stop_if(&stopped);
                executor.set_pool(&own);
                serve(HostedRank::new(executor, resources), (&orders, &own), &stopped);
            }
        };
        let thread = std::thread::Builder::new().name(name).spawn(work);
        thread.map_err(|error| JoinError::NoThread { reason: error.to_string() })?;
        Ok(Self { tasks, quota, stop })
    }

    /// Gives the rank something to do; false if it is not there any more.
    pub(crate) fn give(&self, task: RankTask) -> bool {
        self.tasks.send(task).is_ok()
    }

    /// The memory that it has.
    pub(crate) fn quota(&self) -> &Arc<MemoryQuota> {
        &self.quota
    }

    /// Ends the rank, before the next turn of a loop if it is in one, also if requests still wait
    /// for it; the caller does not wait for that.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.give(RankTask::End);
    }
}

impl Drop for RankThread {
    fn drop(&mut self) {
        self.end();
    }
}

/// So long after its last task a rank lets memory go that it did not use lately.
const IDLE: Duration = Duration::from_secs(11);

/// A rank whose last task came within so long of the one before spins for the next one for as long,
/// before it sleeps. Waking a thread on a core that sleeps takes about thirty microseconds where
/// the machine is virtual, and every step of a loop would pay them.
const SPIN: Spin = Spin::yielding(Duration::from_micros(500));

/// The tasks of a rank, as they come.
struct TaskReceiver<'a> {
    orders: &'a Receiver<RankTask>,
    /// The last one came soon after the one before.
    busy: bool,
}

impl TaskReceiver<'_> {
    /// The next task; an error if none comes for long, or ever.
    fn next(&mut self) -> Result<RankTask, RecvTimeoutError> {
        let started = Instant::now();
        let task = match self.poll() {
            Some(task) => Ok(task),
            None => self.orders.recv_timeout(IDLE),
        };
        self.busy = started.elapsed() < SPIN.longest;
        task
    }

    /// Spins, where that paid off the last time.
    fn poll(&self) -> Option<RankTask> {
        let polled = || match self.orders.try_recv() {
            Ok(task) => Some(Some(task)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        };
        self.busy.then(|| SPIN.until(polled)).flatten().flatten()
    }
}

fn serve(mut rank: HostedRank, (orders, pool): (&Receiver<RankTask>, &Pool), stopped: &AtomicBool) {
    let mut tasks = TaskReceiver { orders, busy: false };
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
            RankTask::Run(job, most, done) => done(rank.run(&job, most)),
            RankTask::Put(id, tile, reservation, done) => {
                // The client may be gone.
                let _ = done.send(rank.put(id, tile, reservation));
            }
            RankTask::Get(id, done) => {
                let _ = done.send(rank.get(id));
            }
            RankTask::Free(ids) => rank.forget(&ids),
            RankTask::Threads(threads) => rank.set_threads(threads),
            RankTask::Counts(tell) => {
                let (counters, bytes) = rank.counts();
                tell(counters, bytes);
            }
            RankTask::End => return,
        }
    }
}
