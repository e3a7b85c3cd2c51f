//! The runtime of one rank: the arrays that it keeps, the programs that it has prepared.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pantile_comm::{CollectiveSignature, Communicator, Rank, RankError};
use pantile_lower::SlotId;
use smallvec::SmallVec;

use super::{ArrayId, Job};
use crate::{BoundedCache, Engine, Error, Input, Output, Runner, Tile};

/// Programs that a rank keeps prepared; the oldest go first.
const KEPT: usize = 256;

/// A program of at most so many operations, of all ranks together, takes less than about a
/// millisecond: the caller's thread runs the share of the first rank.
pub(crate) const INLINE_WORK: usize = 1 << 22;

/// One rank: its engine, its arrays and its prepared programs.
pub struct RankRuntime {
    pub(crate) engine: Engine,
    pub(crate) store: BTreeMap<ArrayId, Arc<Tile>>,
    runners: BoundedCache<u128, Ready>,
    /// Results of a program on their way to the store; kept for its allocation.
    made: Vec<Output>,
    /// Held while a program is prepared.
    preparing: Arc<Mutex<()>>,
}

/// A program that a rank has prepared.
struct Ready {
    key: u128,
    runner: Runner,
    /// It is so small that the caller's thread may run it.
    inline: bool,
    /// Its memory is taken before anything else is done.
    large: bool,
}

impl RankRuntime {
    pub(crate) fn new(communicator: Communicator) -> Self {
        Self::with(Engine::new(communicator))
    }

    /// A rank with an engine that is set up.
    pub(crate) fn with(engine: Engine) -> Self {
        let (store, runners) = (BTreeMap::new(), BoundedCache::of_count(KEPT));
        Self { engine, store, runners, made: Vec::new(), preparing: Arc::default() }
    }

    /// From now on this rank prepares programs one after the other with those that hold the same lock.
    pub(crate) fn prepare_in_turn(&mut self, preparing: &Arc<Mutex<()>>) {
        self.preparing = Arc::clone(preparing);
    }

    /// True if this rank has prepared a program that is small enough to run inline.
    pub(crate) fn runs_inline(&self, job: &Job) -> bool {
        self.runners.get(&job.key).is_some_and(|ready| ready.inline)
    }

    /// Keeps this rank's elements of an array.
    pub(crate) fn put(&mut self, id: ArrayId, tile: &mut dyn FnMut(Rank) -> Tile) {
        self.store.insert(id, Arc::new(tile(self.engine.rank())));
    }

    /// This rank's elements of an array, with its number.
    pub(crate) fn get(&self, id: ArrayId) -> Option<(Rank, Arc<Tile>)> {
        self.store.get(&id).map(|tile| (self.engine.rank(), Arc::clone(tile)))
    }

    /// Forgets arrays.
    pub(crate) fn forget(&mut self, ids: &[ArrayId]) {
        ids.iter().for_each(|id| drop(self.store.remove(id)));
    }

    /// True if this rank has the elements of an array under another name, too.
    pub(crate) fn shares(&self, id: ArrayId) -> bool {
        let Some(own) = self.store.get(&id) else { return false };
        self.store.iter().any(|(name, tile)| *name != id && Arc::ptr_eq(own, tile))
    }

    /// Runs a program; a failure of this rank ends the world, so that no other rank waits for it.
    pub(crate) fn run(&mut self, job: &Job) -> Result<(), Error> {
        let result = RankError::catch(|| self.try_run(job));
        result.map_err(|error| {
            let rank = self.engine.rank();
            if let RankError::Returned(error @ Error::OutOfMemory { ended: false, .. }) = error {
                // All ranks agreed on it before the first step.
                return error;
            }
            self.engine.communicator().abort(error.to_failure(rank));
            match error {
                RankError::Returned(error) => error,
                RankError::OutOfMemory(error) => Error::out_of_memory(rank, error, true),
                other => Error::Panicked { rank, message: other.to_string() },
            }
        })
    }

    /// Results of a program on a rank that has nothing to do in it.
    pub(crate) fn empty_results(job: &Job) -> Vec<(ArrayId, Arc<Tile>)> {
        let slots = &job.executable.slots;
        let results = job.executable.results.iter().zip(&job.results);
        let empty = |slot: SlotId| Arc::new(Tile::zeroed(slots[slot.index()].dtype, 0));
        results.map(|((slot, _), id)| (*id, empty(*slot))).collect()
    }

    /// What becomes of arrays in a program in which this rank has nothing to do.
    pub(crate) fn skip(&mut self, job: &Job, results: &[(ArrayId, Arc<Tile>)]) {
        for id in &job.forget {
            self.store.remove(id);
        }
        for (number, id) in (job.parameters.len()..).zip(&job.arguments) {
            if job.executable.spends(number) {
                self.store.remove(id);
            }
        }
        self.store.extend(results.iter().cloned());
    }

    fn try_run(&mut self, job: &Job) -> Result<(), Error> {
        for id in &job.forget {
            self.store.remove(id);
        }
        let Self { engine, store, runners, made, preparing } = self;
        let ready = runners.get_or_try_insert(job.key, || Ready::new(engine, preparing, job))?;
        ready.reserve(engine, job)?;
        let mut arguments: SmallVec<[Argument; 8]> = SmallVec::new();
        for number in &job.parameters {
            let tile = Tile::from_bytes(number.dtype(), number.as_bytes());
            arguments.push(Argument::Kept(Arc::new(tile.unwrap_or_else(Tile::empty))));
        }
        for (number, id) in (job.parameters.len()..).zip(&job.arguments) {
            arguments.push(match job.executable.spends(number) {
                false => match store.get(id) {
                    Some(tile) => Argument::Kept(Arc::clone(tile)),
                    None => Argument::Kept(missing(engine.rank(), job, number, *id)?),
                },
                true => {
                    let tile = store.remove(id);
                    let missing = || missing(engine.rank(), job, number, *id);
                    let tile = tile.map_or_else(missing, Ok)?;
                    // An exported buffer may still refer to it.
                    let own = Arc::try_unwrap(tile).unwrap_or_else(|tile| Tile::clone(&tile));
                    Argument::Donated(Some(own))
                }
            });
        }
        made.clear();
        let given = arguments.iter_mut().map(|argument| match argument {
            Argument::Kept(tile) => Input::Borrowed(tile),
            Argument::Donated(tile) => Input::Donated(tile.take().unwrap_or_else(Tile::empty)),
        });
        ready.runner.run_bound(engine, given, made)?;
        for (number, one) in made.drain(..).enumerate() {
            let tile = match one {
                Output::New(tile) => Some(Arc::new(tile)),
                Output::Argument(argument) => match &arguments[argument] {
                    // Memory that other libraries write is not shared between arrays.
                    Argument::Kept(tile) if tile.is_open() => Some(Arc::new(Tile::clone(tile))),
                    Argument::Kept(tile) => Some(Arc::clone(tile)),
                    Argument::Donated(_) => None,
                },
                Output::Result(earlier) => store.get(&job.results[earlier]).cloned(),
            };
            if let (Some(id), Some(tile)) = (job.results.get(number), tile) {
                store.insert(*id, tile);
            }
        }
        Ok(())
    }
}

/// A rank outside of an array's mesh may have been made after the array, and has no elements of it.
#[cold]
fn missing(rank: Rank, job: &Job, number: usize, id: ArrayId) -> Result<Arc<Tile>, Error> {
    let lent = job.executable.lent.as_ref().and_then(|lent| lent.get(number));
    let outside = lent.filter(|lent| lent.home.mesh().position_of(rank).is_none());
    let dtype = outside.and_then(|_| job.executable.arguments.get(number)?.1.dtype());
    let empty = dtype.map(|dtype| Arc::new(Tile::zeroed(dtype, 0)));
    empty.ok_or(Error::UnknownArray { rank, id: id.0 })
}

impl Ready {
    /// Prepares a program, after those that others prepare.
    fn new(engine: &mut Engine, preparing: &Mutex<()>, job: &Job) -> Result<Self, Error> {
        let _turn = preparing.lock().unwrap_or_else(PoisonError::into_inner);
        let runner = Runner::new(engine, Arc::clone(&job.executable))?;
        let inline = job.executable.work() <= INLINE_WORK;
        let large = !job.inline && job.executable.is_reserved();
        Ok(Self { key: job.key, runner, inline, large })
    }

    /// Takes the memory of a large program on all ranks, or on none: a rank without it would leave
    /// the others waiting in the middle of it.
    fn reserve(&mut self, engine: &mut Engine, job: &Job) -> Result<(), Error> {
        if !self.large {
            return Ok(());
        }
        // Ranks that were made later have no part in it.
        let (rank, size) = (engine.rank(), job.executable.ranks);
        let own = self.runner.reserve(engine);
        let own = own.map_err(|error| Error::out_of_memory(rank, error, false));
        if size == 1 {
            return own;
        }
        let record = match &own {
            Err(Error::OutOfMemory { reason, .. }) => reason.as_bytes(),
            _ => &[],
        };
        let team: Vec<usize> = (0..size).collect();
        #[allow(clippy::cast_possible_truncation, reason = "half of the key tells them apart")]
        let call = CollectiveSignature::here("memory for a program", self.key as u64);
        let heard = engine.gather(&call, &team, record)?;
        let short = heard.iter().position(|record| !record.is_empty());
        short.map_or(Ok(()), |rank| {
            self.runner.let_go();
            let reason = String::from_utf8_lossy(&heard[rank]).into_owned();
            Err(Error::OutOfMemory { rank, reason, ended: false })
        })
    }
}

/// An argument on its way to a program.
enum Argument {
    Kept(Arc<Tile>),
    Donated(Option<Tile>),
}
