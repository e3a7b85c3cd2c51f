//! The world as one caller sees it: all ranks, and what they keep.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pantile_comm::threads::MAX_RANKS;
use pantile_comm::{CollectiveSignature, Communicator, Options, Rank};
use pantile_engine::{
    ArrayId, BoundedCache, Counters, Error, ExecutorHandle, RemoteTraffic, Scheme,
};
use pantile_geometry::Distribution;
use pantile_ir::{Place, PlacedAt, Placement};
use pantile_lower::{Setting, ranks_named};

use super::compile_cache::CompileCache;
use super::deferred_free::{self, DeferredFrees};
use super::error::ArrayError;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::here;
use super::memory::Allowance;
use super::node::lock;
use super::reads::Reads;

/// All ranks, as one caller sees them that writes array code as if for one machine.
///
/// Started plainly, the ranks are threads of this process. Started by `mpirun` or `srun`, every
/// process is a rank and runs the same program.
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<Inner>,
    /// Where arrays are made to live.
    pub(crate) default_placement: Option<DefaultPlacement>,
}

/// Where arrays are made to live.
#[derive(Clone)]
pub(crate) struct DefaultPlacement {
    pub(crate) placement: Placement,
    /// No rank that it names is as high as this; 0 if it names none.
    pub(crate) ranks: usize,
}

/// Homes that are remembered at most; the oldest go first.
const HOMES_MAX: usize = 256;

/// Tells the user something.
pub(crate) type WaitReport = Box<dyn Fn(&str) + Send>;

pub(crate) struct Inner {
    /// The ranks over which arrays are cut unless a mesh names others.
    pub(crate) size: usize,
    /// How many ranks there can be.
    max_ranks: usize,
    /// The ranks that there are: those that a mesh has named beyond `size`, too.
    made: AtomicUsize,
    /// Those of them that this process hosts.
    hosted: Vec<Rank>,
    /// True if other processes host ranks, too, and run the same programs.
    pub(crate) is_spread: bool,
    pub(crate) executor: Mutex<ExecutorHandle>,
    /// Tells worlds of this process apart; from 1.
    pub(crate) number: u64,
    /// The process that has the ranks.
    pub(crate) process: u64,
    /// The evaluation lock: one caller at a time walks through the graph.
    pub(crate) evaluation_lock: Mutex<()>,
    /// Programs that were lowered before.
    pub(crate) compile_cache: Mutex<CompileCache>,
    /// Where arrays live that are placed so, by placement and shape.
    pub(crate) homes: Mutex<BoundedCache<u128, Arc<PlacedAt>>>,
    /// Dropped arrays.
    pub(crate) deferred_frees: Arc<DeferredFrees>,
    /// True if ranks see each other's memory.
    pub(crate) windows: bool,
    /// True if this process has the memory of the ranks that it hosts.
    pub(crate) in_process: bool,
    pub(crate) ids: AtomicU64,
    pub(crate) marks: AtomicU64,
    /// The hash of what callers gave since the last program, and the line that gave last.
    pub(crate) given: Mutex<Option<(u64, Place)>>,
    /// Element reads that are not computed yet.
    pub(crate) reads: Mutex<Reads>,
    /// True if there may be some; looked at before and after every program.
    pub(crate) has_reads: AtomicBool,
    /// Operations recorded since the last program ran.
    pub(crate) pending: AtomicUsize,
    /// How many functions of blocks are being recorded, one in the other: nothing runs meanwhile by
    /// itself.
    pub(crate) recording: AtomicUsize,
    /// Programs that were lowered.
    pub(crate) lowered: AtomicU64,
    /// Bytes that were put together for a caller who looked at a whole array.
    pub(crate) gathered: AtomicU64,
    /// True while nothing may move between ranks.
    pub(crate) no_comm: AtomicBool,
    /// Where the program was written that a caller stopped waiting for, until the ranks are done.
    pub(crate) interrupted: Mutex<Option<Place>>,
    /// True if there is such a place; looked at before every program.
    pub(crate) is_interrupted: AtomicBool,
    /// Told what a caller waits for, if that is not what it asked for.
    pub(crate) report: Mutex<Option<WaitReport>>,
    /// What the ranks of this process may take.
    pub(crate) allowance: Mutex<Allowance>,
    /// Steps in time that one exchange of halos serves.
    pub(crate) steps_per_exchange: AtomicUsize,
}

/// Worlds that were made.
static WORLDS: AtomicU64 = AtomicU64::new(0);

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.is_forked() {
            self.deferred_frees.close();
        }
    }
}

impl Session {
    fn of(executor: ExecutorHandle) -> Self {
        let (size, hosted) = (executor.size(), executor.hosted());
        let inner = Inner {
            size,
            made: AtomicUsize::new(size),
            max_ranks: executor.max_ranks(),
            is_spread: hosted.len() < size,
            hosted,
            windows: executor.has_windows(),
            in_process: executor.is_in_process(),
            executor: Mutex::new(executor),
            number: WORLDS.fetch_add(1, Ordering::Relaxed) + 1,
            process: pantile_engine::process(),
            evaluation_lock: Mutex::default(),
            compile_cache: Mutex::default(),
            homes: Mutex::new(BoundedCache::of_count(HOMES_MAX)),
            deferred_frees: Arc::default(),
            ids: AtomicU64::new(0),
            marks: AtomicU64::new(0),
            given: Mutex::default(),
            reads: Mutex::default(),
            has_reads: AtomicBool::new(false),
            pending: AtomicUsize::new(0),
            recording: AtomicUsize::new(0),
            lowered: AtomicU64::new(0),
            gathered: AtomicU64::new(0),
            no_comm: AtomicBool::new(false),
            interrupted: Mutex::default(),
            is_interrupted: AtomicBool::new(false),
            report: Mutex::default(),
            allowance: Mutex::default(),
            steps_per_exchange: AtomicUsize::new(1),
        };
        let inner = Arc::new(inner);
        if !inner.in_process {
            deferred_free::start_sweeper(Arc::downgrade(&inner), Arc::clone(&inner.deferred_frees));
        }
        Self { inner, default_placement: None }
    }

    /// The ranks of an executor: this is how ranks that are elsewhere become a world.
    #[must_use]
    pub fn with_executor(executor: ExecutorHandle) -> Self {
        Self::of(executor)
    }

    /// What went to remote ranks and came from them so far; nothing if ranks are in this process.
    #[must_use]
    pub fn traffic(&self) -> Option<RemoteTraffic> {
        lock(&self.inner.executor).traffic()
    }

    /// True if this process has the memory of the ranks that it hosts, so that others can share it.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.inner.in_process
    }

    /// So many ranks, each a thread of this process.
    ///
    /// # Errors
    /// If there are none, or more than [`MAX_RANKS`](pantile_comm::threads::MAX_RANKS).
    pub fn threads(ranks: usize) -> Result<Self, Fault> {
        if ranks == 0 {
            return Err(Fault::new(FaultKind::NoRanks, Place::default()));
        }
        if ranks > MAX_RANKS {
            return Err(Fault::new(FaultKind::ManyRanks { ranks }, Place::default()));
        }
        Ok(Self::of(ExecutorHandle::threads(ranks, &Options::default())))
    }

    /// One rank of many: the caller is this rank, and the callers of all other ranks run the same
    /// program. Those that run another one are told which rank is at which line.
    #[must_use]
    pub fn on(communicator: Communicator) -> Self {
        Self::of(ExecutorHandle::single(communicator))
    }

    /// The same world, in which arrays are made to live as a text says: `"block(r), whole"`,
    /// `"x=2, y=*: block(x), block(y)"`, `"cyclic(r, 4)"`, `"copies"`, `"auto"`. A mesh axis of
    /// size `*` takes the ranks that the others leave. Where ranks are threads of this process, those
    /// that a mesh names and that are missing are made.
    #[must_use]
    pub fn dist(&self, text: &str) -> Self {
        self.placed(Placement::from(text), ranks_named(text))
    }

    /// The same world, in which arrays are made to live there. They have its shape; the rest is as with
    /// [`Session::dist`].
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let home: Distribution = "4x2 on r=2: block(r), whole".parse().unwrap();
    /// let a = world.at(&home).zeros(&[4, 2]);
    /// assert_eq!(a.distribution()?, home);
    /// assert!(world.at(&home).zeros(&[2, 4]).fault().is_some());
    /// # Ok::<(), Fault>(())
    /// ```
    #[must_use]
    pub fn at(&self, home: &Distribution) -> Self {
        self.placed(Placement::at(home.clone()), home.mesh().ranks_needed())
    }

    fn placed(&self, placement: Placement, ranks: usize) -> Self {
        // What cannot be made is an error of the array that is made to live there.
        let _ = self.make_ranks(ranks);
        let default_placement = Some(DefaultPlacement { placement, ranks });
        Self { inner: Arc::clone(&self.inner), default_placement }
    }

    /// Number of ranks over which arrays are cut unless a mesh names others.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.inner.size
    }

    /// Number of ranks that there are: as [`Session::ranks`], and those that a mesh has named beyond.
    #[must_use]
    pub fn made_ranks(&self) -> usize {
        self.inner.made.load(Ordering::Relaxed)
    }

    /// The ranks of [`Session::ranks`] that this process hosts.
    #[must_use]
    pub fn hosted(&self) -> &[Rank] {
        &self.inner.hosted
    }

    /// The hosted ranks of an array: those of the world, and those beyond that its mesh names.
    pub(crate) fn hosted_of(&self, home: &Distribution) -> Cow<'_, [Rank]> {
        self.hosted_among(home.mesh().ranks_needed())
    }

    /// The hosted ranks of the world, and those beyond that are below `ranks`.
    pub(crate) fn hosted_among(&self, ranks: usize) -> Cow<'_, [Rank]> {
        match self.inner.is_spread || ranks <= self.inner.size {
            true => Cow::Borrowed(&self.inner.hosted),
            false => Cow::Owned((0..ranks).collect()),
        }
    }

    /// How many ranks meshes can name: 4,096 where ranks are threads of this process, else those that
    /// there are.
    #[must_use]
    pub fn max_ranks(&self) -> usize {
        self.inner.max_ranks
    }

    /// Makes ranks until there are so many.
    ///
    /// # Errors
    /// If they are more than [`Session::max_ranks`].
    pub fn make_ranks(&self, ranks: usize) -> Result<(), Fault> {
        if ranks <= self.made_ranks() {
            return Ok(());
        }
        self.check_ranks(ranks).map_err(|error| Fault::new(error, Place::default()))?;
        self.check_process()?;
        lock(&self.inner.executor).grow(ranks)?;
        self.inner.made.fetch_max(ranks, Ordering::Relaxed);
        Ok(())
    }

    /// The ranks that arrays need which are made here: those of the world, and those that their
    /// placement names.
    pub(crate) fn named_ranks(&self) -> Result<usize, ArrayError> {
        let named = self.default_placement.as_ref().map_or(0, |one| one.ranks);
        self.check_ranks(named).map(|()| named.max(self.inner.size))
    }

    fn check_ranks(&self, ranks: usize) -> Result<(), ArrayError> {
        let most = self.max_ranks();
        let refused = || ArrayError::Rank { rank: ranks - 1, ranks: most };
        (ranks <= most).then_some(()).ok_or_else(refused)
    }

    /// Asks `stop` now and then while programs run on threads: if it says true, the caller that waits gets
    /// a fault. The ranks go on to the end of the program, and the next caller waits for that
    /// first; nothing is lost.
    pub fn stop_waiting_if(&self, stop: impl Fn() -> bool + Send + 'static) {
        lock(&self.inner.executor).stop_waiting_if(stop);
    }

    /// Calls `report` with a sentence when a caller has to wait for a program that an earlier caller
    /// stopped waiting for.
    pub fn report_waiting(&self, report: impl Fn(&str) + Send + 'static) {
        *lock(&self.inner.report) = Some(Box::new(report));
    }

    /// What the ranks of this process have done so far, together.
    #[must_use]
    pub fn counters(&self) -> Counters {
        lock(&self.inner.executor).counters()
    }

    /// Bytes that were put together so far for callers who looked at whole arrays.
    #[must_use]
    pub fn gathered(&self) -> u64 {
        self.inner.gathered.load(Ordering::Relaxed)
    }

    /// From now on (or until told otherwise) whatever would move elements between ranks is a fault
    /// that names what and where; it then does not run. Gives what was so before.
    pub fn forbid_movement(&self, no_comm: bool) -> bool {
        self.inner.no_comm.swap(no_comm, Ordering::Relaxed)
    }

    /// From now on (or until told otherwise) one exchange of halos serves up to so many steps in
    /// time that are computed together: halos are wider, and ranks compute in them what their
    /// neighbours compute too. The results are the same, messages are fewer. 0 is 1. Gives what was
    /// so before.
    pub fn steps_per_exchange(&self, steps: usize) -> usize {
        self.inner.steps_per_exchange.swap(steps.max(1), Ordering::Relaxed)
    }

    /// From now on (or until told otherwise) so many threads of each rank that this process hosts
    /// share its large loops, reductions and copies, the rank's own among them. The results are the
    /// same. Gives how many it were before.
    ///
    /// # Errors
    /// If these are none, or more than 256.
    pub fn threads_per_rank(&self, threads: usize) -> Result<usize, Fault> {
        self.check_process()?;
        let before = lock(&self.inner.executor).set_threads(threads);
        before.map_err(|error| Fault::new(FaultKind::Threads(error), Place::default()))
    }

    /// From now on (or until told otherwise) the threads of each rank that this process hosts cut the
    /// loops and reductions that they share in this way. The results are the same. Gives how it was
    /// before.
    ///
    /// # Errors
    /// If the ranks are on the workers of a cluster: there it is said when workers are started.
    pub fn scheme(&self, scheme: Scheme) -> Result<Scheme, Fault> {
        self.check_process()?;
        let before = lock(&self.inner.executor).set_scheme(scheme);
        before.ok_or_else(|| Fault::new(FaultKind::ClusterScheme, Place::default()))
    }

    /// Waits for the callers of all processes; a single caller does not wait.
    ///
    /// # Errors
    /// If they are elsewhere, or one of them is not there any more.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Fault> {
        let place = here();
        let (file, line) = (place.file.to_string().into(), place.line);
        let call = CollectiveSignature { name: "barrier".into(), fingerprint: 0, file, line };
        Ok(lock(&self.inner.executor).agree(&call, &mut [])?)
    }

    /// How many different programs were lowered so far: a loop that repeats itself adds none.
    #[must_use]
    pub fn lowered(&self) -> u64 {
        self.inner.lowered.load(Ordering::Relaxed)
    }

    /// Where an array of this shape lives that is made to live as a text says; see
    /// [`Session::dist`].
    ///
    /// # Errors
    /// If there is no such distribution of that shape over these ranks.
    pub fn home_of(&self, shape: &[usize], dist: &str) -> Result<Distribution, Fault> {
        let placed = self.dist(dist);
        let home = placed.named_ranks().and_then(|ranks| placed.home_here(shape, ranks));
        home.map(|home| home.home().clone()).map_err(|error| Fault::new(error, Place::default()))
    }

    /// Refuses to use ranks that stayed with the parent process.
    pub(crate) fn check_process(&self) -> Result<(), Fault> {
        if self.inner.is_forked() { Err(Error::Forked.into()) } else { Ok(()) }
    }

    /// What the key of a program whose arrays name ranks below `ranks` depends on besides its graph.
    pub(crate) fn keyed_setting(&self, ranks: usize) -> [usize; 2] {
        [self.ranks_for(ranks), self.inner.steps_per_exchange.load(Ordering::Relaxed)]
    }

    pub(crate) fn ranks_for(&self, ranks: usize) -> usize {
        ranks.clamp(self.ranks(), self.made_ranks())
    }

    /// The setting of a program whose arrays name ranks below `ranks`: it is for these, and at least for
    /// those of the world.
    pub(crate) fn setting_for(&self, ranks: usize) -> Setting {
        let steps_per_exchange = self.inner.steps_per_exchange.load(Ordering::Relaxed);
        let remote_reads = self.inner.windows;
        let ranks = self.ranks_for(ranks);
        let cut_over = (ranks > self.ranks()).then_some(self.ranks());
        Setting { ranks, cut_over, steps_per_exchange, remote_reads, ..Setting::default() }
    }
}

impl Inner {
    /// True if this process was forked from the one that has the ranks: threads that held locks are
    /// not here, so nothing is locked.
    pub(crate) fn is_forked(&self) -> bool {
        pantile_engine::process() != self.process
    }

    pub(crate) fn new_id(&self) -> ArrayId {
        ArrayId(self.ids.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The last of so many numbers for walks that follow each other.
    pub(crate) fn new_marks(&self, count: u64) -> u64 {
        self.marks.fetch_add(count, Ordering::Relaxed) + count
    }
}
