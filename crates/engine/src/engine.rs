//! One rank's engine: a communicator with compiled movements and memory to work with.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pantile_comm::{
    CollectiveSignature, CommError, Communicator, Failure, MemoryBlock, Rank, Ticket,
};
use pantile_geometry::{Distribution, Fingerprint};
use pantile_kernels::DType;
use pantile_kernels::lanes::Scratch as LoopScratch;
use pantile_plan::{Schedule, Terrain, route};

use crate::compile::MovementCompiler;
use crate::execute::{self, Buffers};
use crate::loop_cache::LoopCache;
use crate::places::{Arrays, Frame};
use crate::pool::Pool;
use crate::thread_pool::ThreadPool;
use crate::{
    BoundedCache, Cells, Error, Movement, Scheme, ThreadsError, Tile, check_threads, gather,
};

/// Movements that are kept compiled; the oldest go first.
const KEPT: usize = 512;

/// What makes two movements the same: name, how the target takes terms, source, target, type.
type MovementKey = (&'static str, MovementKind, Fingerprint, Fingerprint, DType);

/// How a movement treats the cells of its target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MovementKind {
    /// They are replaced.
    Replace,
    /// Halos are added to where they came from.
    Accumulate,
}

/// What an engine has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Movements that were compiled.
    pub compiled: u64,
    /// Movements that were run.
    pub runs: u64,
    /// Messages to other ranks, windows included.
    pub messages: u64,
    /// Bytes that other ranks got from this one.
    pub bytes: u64,
    /// Programs that were run.
    pub programs: u64,
}

impl Counters {
    /// Counts one more rank in: all ranks run all programs.
    pub(crate) fn add_rank(&mut self, one: &Self) {
        self.compiled += one.compiled;
        self.runs += one.runs;
        self.messages += one.messages;
        self.bytes += one.bytes;
        self.programs = self.programs.max(one.programs);
    }
}

/// One rank's way to run movements.
///
/// Every method that talks to other ranks is *collective*: all ranks that take part call it in the
/// same order. A rank that cannot take part ends the world, so that no other rank waits for it.
pub struct Engine {
    communicator: Communicator,
    terrain: Terrain,
    movements: BoundedCache<MovementKey, Arc<Movement>>,
    scratch: MemoryBlock,
    staging: Vec<MemoryBlock>,
    tickets: Vec<Ticket>,
    counters: Counters,
    pool: Pool,
    thread_pool: Arc<ThreadPool>,
    loop_cache: LoopCache,
    /// Memory of loops of this rank, while none of them runs.
    loop_scratch: Option<Box<LoopScratch>>,
    stop: Option<Arc<AtomicBool>>,
    /// Longer messages are cut into parts of so many bytes.
    part_bytes: usize,
    /// What lies in runs of at least so many bytes is not packed.
    run_bytes: Option<usize>,
}

impl Engine {
    /// An engine over a communicator.
    #[must_use]
    pub fn new(mut communicator: Communicator) -> Self {
        Self {
            terrain: Terrain::new(communicator.has_windows()),
            part_bytes: communicator.part_bytes(),
            run_bytes: communicator.run_bytes(),
            communicator,
            movements: BoundedCache::of_count(KEPT),
            scratch: MemoryBlock::zeroed(0),
            staging: Vec::new(),
            tickets: Vec::new(),
            counters: Counters::default(),
            pool: Pool::default(),
            thread_pool: Arc::new(ThreadPool::new(1)),
            loop_cache: LoopCache::default(),
            loop_scratch: None,
            stop: None,
        }
    }

    /// An engine over another communicator, with the settings of this one.
    pub(crate) fn sibling(&self, communicator: Communicator) -> Self {
        let mut engine = Self::new(communicator);
        engine.terrain = self.terrain;
        engine.part_bytes = self.part_bytes;
        engine.run_bytes = self.run_bytes;
        engine.thread_pool = Arc::new(ThreadPool::new(self.threads()).with_scheme(self.scheme()));
        engine.loop_cache = self.loop_cache.clone();
        engine.stop = self.stop.clone();
        engine
    }

    /// Gives this rank the end of a world that has more ranks; movements that are kept hold there, too.
    pub(crate) fn join(&mut self, communicator: Communicator) {
        debug_assert!(self.tickets.is_empty(), "nothing is under way while ranks are made");
        self.communicator = communicator;
    }

    /// Ends programs before the next turn of a loop once `stop` is true: their results are not wanted any more.
    pub fn stop_if(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// An error if results are not wanted any more; ends the world, so that peers do not wait.
    pub(crate) fn check_stop(&mut self) -> Result<(), Error> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => {
                let error = Error::Stopped { rank: self.rank() };
                self.fail(None, &error);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// This rank.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.communicator.rank()
    }

    /// Number of ranks in the world.
    #[must_use]
    pub fn size(&self) -> usize {
        self.communicator.size()
    }

    /// What it has done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// From now on large loops, reductions and copies of this rank are done by so many threads, the
    /// rank's own included; they are started when they are needed for the first time. The results
    /// are the same, and ranks need not have equally many.
    ///
    /// # Errors
    /// If these are none, or more than [`THREADS_MAX`](crate::THREADS_MAX).
    pub fn set_threads(&mut self, threads: usize) -> Result<(), ThreadsError> {
        if check_threads(threads)? != self.threads() {
            self.thread_pool = Arc::new(ThreadPool::new(threads).with_scheme(self.scheme()));
        }
        Ok(())
    }

    /// From now on loops and reductions that several threads of this rank share are cut in this way.
    /// The results are the same, and ranks need not do it alike.
    pub fn set_scheme(&mut self, scheme: Scheme) {
        if scheme != self.scheme() {
            self.thread_pool = Arc::new(ThreadPool::new(self.threads()).with_scheme(scheme));
        }
    }

    /// How loops are cut that several threads of this rank share.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.thread_pool.scheme()
    }

    /// How many threads do large loops of this rank.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.thread_pool.threads()
    }

    /// Lets all threads of this rank share all work that touches so many bytes, or all that
    /// can be cut if these are none: for tests.
    #[doc(hidden)]
    pub fn set_cut_bytes(&mut self, bytes: usize) {
        let thread_pool = ThreadPool::new(self.threads()).with_scheme(self.scheme());
        self.thread_pool = Arc::new(thread_pool.with_least(bytes));
    }

    /// The thread pool of this rank.
    pub(crate) fn thread_pool(&self) -> Arc<ThreadPool> {
        Arc::clone(&self.thread_pool)
    }

    /// From now on new memory comes from this pool, which others may know, too.
    pub fn set_pool(&mut self, pool: &Pool) {
        self.pool = pool.clone();
    }

    /// Memory of arrays that are gone.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// From now on loops that others have compiled are not compiled again.
    pub(crate) fn set_loop_cache(&mut self, cache: &LoopCache) {
        self.loop_cache = cache.clone();
    }

    /// Compiled loops.
    pub(crate) fn loop_cache(&self) -> &LoopCache {
        &self.loop_cache
    }

    /// The scratch memory of loops: the caller that runs one takes it, and puts it back. A
    /// thread that runs programs of several ranks has the same memory for all of them.
    pub(crate) fn loop_scratch(&mut self) -> &mut Option<Box<LoopScratch>> {
        &mut self.loop_scratch
    }

    /// One more program runs.
    pub(crate) fn count_program(&mut self) {
        self.counters.programs += 1;
    }

    /// From this size of a tile on, in bytes, movements may go over other distributions. Every rank
    /// has to set the same. Movements that are kept are forgotten.
    pub fn set_large_bytes(&mut self, bytes: usize) {
        self.terrain.large_bytes = bytes;
        self.movements.clear();
    }

    /// Messages of more bytes are cut into parts, so that they are packed and unpacked while they
    /// travel. Every rank has to set the same. Movements that are kept are forgotten.
    pub fn set_part_bytes(&mut self, bytes: usize) {
        self.part_bytes = bytes.max(1);
        self.movements.clear();
    }

    /// Messages whose elements lie in runs of at least so many bytes are sent from and received
    /// into the memory of arrays, where the transport can; with nothing, none. Every rank may set
    /// what it likes. Movements that are kept are forgotten.
    pub fn set_run_bytes(&mut self, bytes: Option<usize>) {
        self.run_bytes = bytes.filter(|_| self.communicator.run_bytes().is_some());
        self.movements.clear();
    }

    /// The communicator.
    pub fn communicator(&mut self) -> &mut Communicator {
        &mut self.communicator
    }

    /// Ends the world, because this rank cannot go on.
    pub fn fail(&mut self, call: Option<CollectiveSignature>, reason: &dyn std::fmt::Display) {
        let (culprit, reason) = (self.rank(), reason.to_string());
        self.communicator.abort(Failure { culprit, call, reason });
    }

    /// The movement between two distributions, compiled for this rank; kept for the next time.
    /// Not collective: the answer and every error are the same on every rank.
    ///
    /// # Errors
    /// There is no such movement, the type has no such operator, or a rank does not exist.
    pub fn movement(
        &mut self,
        name: &'static str,
        source: &Distribution,
        target: &Distribution,
        dtype: DType,
    ) -> Result<Arc<Movement>, Error> {
        let terrain = self.terrain;
        self.kept((MovementKind::Replace, name), (source, target), dtype, |compiler| {
            let straight = [source.clone(), target.clone()];
            let path = route(source, target, dtype.bytes(), terrain);
            // A way that does not exist is no reason to give up the movement.
            match path.len() {
                2 => compiler().path(&straight),
                _ => compiler().path(&path).or_else(|_| compiler().path(&straight)),
            }
        })
    }

    /// The movement that adds halos to where they came from, within one tile: from the dual of a
    /// distribution with halos to the dual of the same one whose halos are room. Touches only the
    /// cells at the edges, and leaves the halos zero; to be run in place. Kept for the next time.
    ///
    /// # Errors
    /// As [`Engine::movement`]; also if the two do not lie in the same room.
    pub fn accumulation(
        &mut self,
        name: &'static str,
        source: &Distribution,
        target: &Distribution,
        dtype: DType,
    ) -> Result<Arc<Movement>, Error> {
        self.kept((MovementKind::Accumulate, name), (source, target), dtype, |compiler| {
            compiler().accumulate(source, target)
        })
    }

    /// A movement that is kept, or compiled now.
    fn kept(
        &mut self,
        (kind, name): (MovementKind, &'static str),
        (source, target): (&Distribution, &Distribution),
        dtype: DType,
        compile: impl Fn(&dyn Fn() -> MovementCompiler) -> Result<Movement, Error>,
    ) -> Result<Arc<Movement>, Error> {
        let key = (name, kind, source.fingerprint(), target.fingerprint(), dtype);
        if let Some(movement) = self.movements.get(&key) {
            return Ok(Arc::clone(movement));
        }
        self.check_ranks(source)?;
        self.check_ranks(target)?;
        let mut movement = compile(&|| self.compiler(dtype))?;
        movement.name = name;
        let how = (u128::from(dtype.code()) << 8) | kind as u128;
        movement.fingerprint = folded(&[key.2.0, key.3.0, how]);
        Ok(self.keep(key, movement))
    }

    /// The movement of whole tensors; not kept.
    ///
    /// # Errors
    /// As [`Engine::movement`].
    pub fn cell_movement(
        &mut self,
        name: &'static str,
        cells: &Cells,
        dtype: DType,
    ) -> Result<Arc<Movement>, Error> {
        self.check_ranks(&cells.source)?;
        self.check_ranks(&cells.target)?;
        let schedule = Schedule::between(&cells.source, &cells.target, self.rank())?;
        let compiler = self.compiler(dtype);
        let mut movement = compiler.straight(&schedule, cells, cells.source.has_terms())?;
        let (source, target) = (cells.source.fingerprint(), cells.target.fingerprint());
        let counts = Fingerprint::of(&format!("{:?}", cells.counts));
        movement.name = name;
        movement.fingerprint = folded(&[source.0, target.0, counts.0, u128::from(dtype.code())]);
        self.counters.compiled += 1;
        Ok(Arc::new(movement))
    }

    /// The straight movement between distributions whose tiles lie in frames; not kept.
    ///
    /// # Errors
    /// As [`Engine::movement`].
    pub fn framed_movement(
        &mut self,
        name: &'static str,
        source: (&Distribution, &Frame),
        target: (&Distribution, &Frame),
        dtype: DType,
    ) -> Result<Arc<Movement>, Error> {
        self.check_ranks(source.0)?;
        self.check_ranks(target.0)?;
        let schedule = Schedule::between(source.0, target.0, self.rank())?;
        let compiler = self.compiler(dtype);
        let places = Arrays { source, target };
        let mut movement = compiler.straight(&schedule, &places, source.0.has_terms())?;
        let frames = Fingerprint::of(&format!("{:?} {:?}", source.1, target.1));
        let (from, to) = (source.0.fingerprint(), target.0.fingerprint());
        movement.name = name;
        movement.fingerprint = folded(&[from.0, to.0, frames.0, u128::from(dtype.code())]);
        self.counters.compiled += 1;
        Ok(Arc::new(movement))
    }

    /// Moves the elements of `source` to `target`. Collective.
    ///
    /// # Errors
    /// A tile does not fit, or the ranks cannot work together; then the world has ended.
    #[track_caller]
    pub fn run(
        &mut self,
        movement: &Movement,
        source: &Tile,
        target: &mut Tile,
    ) -> Result<(), Error> {
        self.run_at(movement, source, target, Location::caller())
    }

    /// [`Engine::run`] asked for at another place of the program.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_at(
        &mut self,
        movement: &Movement,
        source: &Tile,
        target: &mut Tile,
        place: &'static Location<'static>,
    ) -> Result<(), Error> {
        let call = CollectiveSignature::at(movement.name, movement.fingerprint, place);
        let (dtype, lengths) = (movement.dtype, movement.lengths);
        self.expect_tile(&call, "source", (dtype, lengths.0), source)?;
        self.expect_tile(&call, "target", (dtype, lengths.1), target)?;
        self.execute(movement, &call, source.memory(), target.memory())
    }

    /// Moves elements within one tile, as a halo exchange does. Collective.
    ///
    /// # Errors
    /// As [`Engine::run`]; also if the movement needs a source and a target of its own.
    #[track_caller]
    pub fn run_in_place(&mut self, movement: &Movement, tile: &mut Tile) -> Result<(), Error> {
        self.run_in_place_at(movement, tile, Location::caller())
    }

    /// [`Engine::run_in_place`] asked for at another place of the program.
    ///
    /// # Errors
    /// As [`Engine::run_in_place`].
    pub fn run_in_place_at(
        &mut self,
        movement: &Movement,
        tile: &mut Tile,
        place: &'static Location<'static>,
    ) -> Result<(), Error> {
        let call = CollectiveSignature::at(movement.name, movement.fingerprint, place);
        self.expect_in_place(&call, movement, tile)?;
        self.execute(movement, &call, tile.memory(), tile.memory())
    }

    /// A tile within which a movement can run.
    pub(crate) fn expect_in_place(
        &mut self,
        call: &CollectiveSignature,
        movement: &Movement,
        tile: &Tile,
    ) -> Result<(), Error> {
        if !movement.in_place {
            let error = Error::NotInPlace { rank: self.rank() };
            self.fail(Some(call.clone()), &error);
            return Err(error);
        }
        self.expect_tile(call, "source", (movement.dtype, movement.lengths.0), tile)
    }

    /// Adds to what it has done.
    pub(crate) fn count(&mut self, runs: u64, messages: u64, bytes: u64) {
        self.counters.runs += runs;
        self.counters.messages += messages;
        self.counters.bytes += bytes;
    }

    /// What movements work with.
    pub(crate) fn parts(
        &mut self,
    ) -> (&mut Communicator, &[MemoryBlock], &MemoryBlock, &mut Vec<Ticket>) {
        let Self { communicator, staging, scratch, tickets, .. } = self;
        (communicator, staging, scratch, tickets)
    }

    /// True if ranks see each other's memory.
    pub(crate) fn has_windows(&self) -> bool {
        self.terrain.windows
    }

    /// Waits until every rank of the world has come here. Collective.
    ///
    /// # Errors
    /// If the ranks cannot work together.
    #[track_caller]
    pub fn barrier(&mut self) -> Result<(), Error> {
        let call = CollectiveSignature::here("barrier", 0);
        Ok(self.communicator.barrier(&call)?)
    }

    /// The records of all members of a team, in its order. Collective in the team.
    ///
    /// # Errors
    /// If the ranks cannot work together.
    ///
    /// # Panics
    /// If this rank is not in the team.
    pub fn gather(
        &mut self,
        call: &CollectiveSignature,
        team: &[Rank],
        record: &[u8],
    ) -> Result<Vec<Vec<u8>>, Error> {
        let rank = self.rank();
        let me = team.iter().position(|member| *member == rank).expect("a member calls");
        self.counters.messages += u64::from(team.len().next_power_of_two().trailing_zeros());
        Ok(gather::gather(&mut self.communicator, call, (team, me), record)?)
    }

    fn execute(
        &mut self,
        movement: &Movement,
        call: &CollectiveSignature,
        source: &MemoryBlock,
        target: &MemoryBlock,
    ) -> Result<(), Error> {
        self.make_room(movement, source.is(target));
        let Self { communicator, staging, scratch, tickets, thread_pool, .. } = self;
        let buffers = Buffers { source, target, staging, scratch, thread_pool };
        let result: Result<(), CommError> = communicator.operation(call, |operation| {
            execute::run(operation, movement, &buffers, tickets, &mut || ())
        });
        result?;
        let (messages, bytes) = movement.sends();
        self.count(1, messages as u64, bytes as u64);
        Ok(())
    }

    /// Makes staging and message buffers large enough; they are never made smaller.
    pub(crate) fn make_room(&mut self, movement: &Movement, in_place: bool) {
        if self.scratch.bytes() < movement.scratch {
            self.scratch = MemoryBlock::zeroed(movement.scratch);
        }
        if in_place {
            return;
        }
        for (number, elements) in movement.staging.iter().enumerate() {
            let bytes = elements * movement.dtype.bytes();
            match self.staging.get_mut(number) {
                Some(buffer) if buffer.bytes() >= bytes => {}
                Some(buffer) => *buffer = MemoryBlock::zeroed(bytes),
                None => self.staging.push(MemoryBlock::zeroed(bytes)),
            }
        }
    }

    /// Bytes of staging and message buffers that are kept for the next movements.
    pub(crate) fn staging_bytes(&self) -> usize {
        self.scratch.bytes() + self.staging.iter().map(MemoryBlock::bytes).sum::<usize>()
    }

    fn keep(&mut self, key: MovementKey, movement: Movement) -> Arc<Movement> {
        let movement = Arc::new(movement);
        self.movements.insert(key, Arc::clone(&movement), 0);
        self.counters.compiled += 1;
        movement
    }

    /// A tile that does not fit is seen on this rank only, so it ends the world.
    pub(crate) fn expect_tile(
        &mut self,
        call: &CollectiveSignature,
        side: &'static str,
        expected: (DType, usize),
        tile: &Tile,
    ) -> Result<(), Error> {
        let got = (tile.dtype(), tile.len());
        if expected == got {
            return Ok(());
        }
        let error = Error::WrongTile { rank: self.rank(), side, expected, got };
        self.fail(Some(call.clone()), &error);
        Err(error)
    }

    fn compiler(&self, dtype: DType) -> MovementCompiler {
        let compiler =
            MovementCompiler::new(self.rank(), dtype, self.terrain.windows, self.part_bytes);
        compiler.leaving_runs_of(self.run_bytes)
    }

    fn check_ranks(&self, distribution: &Distribution) -> Result<(), Error> {
        let (highest, size) = (distribution.mesh().ranks().max(), self.size());
        match highest {
            Some(rank) if rank >= size => Err(Error::NoSuchRank { rank, size }),
            _ => Ok(()),
        }
    }
}

/// Several numbers as one of 64 bits.
fn folded(numbers: &[u128]) -> u64 {
    let mix =
        |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let halves = numbers.iter().flat_map(|number| {
        let bytes = number.to_le_bytes();
        let half = |from: usize| {
            bytes[from..].first_chunk::<8>().map_or(0, |half| u64::from_le_bytes(*half))
        };
        [half(0), half(8)]
    });
    halves.fold(0x5041_4e54_494c_4531, mix)
}
