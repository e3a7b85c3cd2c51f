//! One rank at a worker: a thread that does what is ordered, one thing after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pantile_comm::{Communicator, Options};
use pantile_comm_net::{Hub, NetError, Seat as NetSeat};
use pantile_engine::{ArrayId, Counters, Crew, Job, Pool, Scheme, Tile};

use crate::wire::Fault;

/// What a rank is told to do. Who asks gets the answer through what comes along.
pub(crate) enum Task {
    Run(Arc<Job>, Box<dyn FnOnce(Option<Fault>) + Send>),
    Put(ArrayId, Tile, Sender<Result<(), String>>),
    Get(ArrayId, Sender<Option<Arc<Tile>>>),
    Free(Vec<ArrayId>),
    Threads(usize),
    Counts(Box<dyn FnOnce(Counters, u64) + Send>),
}

/// A rank of a session that lives here.
pub(crate) struct Seat {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
    /// Bytes of arrays that it keeps, as of its last task.
    stored: Arc<AtomicU64>,
    /// True once nobody wants anything of it any more.
    stop: Arc<AtomicBool>,
    /// The memory of its arrays, which those who bring elements write before it sees them.
    pool: Pool,
}

impl Seat {
    /// Starts a rank: it joins its world, says whether it could, and then waits for tasks.
    pub(crate) fn start(
        hub: Arc<Hub>,
        seat: NetSeat,
        (options, scheme): (Options, Scheme),
        joined: impl FnOnce(Option<NetError>) + Send + 'static,
    ) -> Result<Self, String> {
        let (tasks, orders) = channel();
        let stored = Arc::new(AtomicU64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (counter, stopped) = (Arc::clone(&stored), Arc::clone(&stop));
        let pool = Pool::default();
        let own = pool.clone();
        let name = format!("rank {}", seat.rank);
        let work = move || match hub.join(&seat, &options) {
            Err(error) => joined(Some(error)),
            Ok(net) => {
                joined(None);
                let mut crew = Crew::alone(Communicator::new(Box::new(net)));
                crew.set_scheme(scheme);
                crew.stop_if(&stopped);
                crew.set_pool(&own);
                serve(crew, (&orders, &own), &counter);
            }
        };
        let thread = std::thread::Builder::new().name(name).spawn(work);
        let thread = thread.map_err(|error| format!("no thread for a rank: {error}"))?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread), stored, stop, pool })
    }

    /// Gives the rank something to do; false if it is not there any more.
    pub(crate) fn give(&self, task: Task) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.send(task).is_ok())
    }

    /// Where the memory of its arrays comes from.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Bytes of arrays that it keeps.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }
}

impl Drop for Seat {
    /// Ends the rank, before the next turn of a loop if it is in one; nobody waits for that.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.tasks = None;
        self.thread = None;
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

fn serve(mut crew: Crew, (orders, pool): (&Receiver<Task>, &Pool), stored: &AtomicU64) {
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
        match task {
            Task::Run(job, done) => {
                let fault = crew.run(&job).err();
                done(fault.map(|error| Fault::execution("", error.to_string())));
            }
            Task::Put(id, tile, done) => {
                let mut tile = Some(tile);
                let nothing = || Tile::zeroed(pantile_engine::DType::U8, 0);
                let put = crew.put(id, |_| tile.take().unwrap_or_else(nothing));
                // Whoever asked may be gone.
                let _ = done.send(put.map_err(|error| error.to_string()));
            }
            Task::Get(id, done) => {
                let tiles = crew.get(id, &[]).unwrap_or_default();
                let _ = done.send(tiles.into_iter().next().map(|(_, tile)| tile));
            }
            Task::Free(ids) => crew.forget(&ids),
            Task::Threads(threads) => {
                // The number was checked before it was sent; what is wrong changes nothing.
                let _ = crew.set_threads(threads);
            }
            Task::Counts(tell) => {
                let (counters, bytes) = (crew.counters(), crew.stored_bytes() as u64);
                tell(counters, bytes);
            }
        }
        stored.store(crew.stored_bytes() as u64, Ordering::Relaxed);
    }
}
