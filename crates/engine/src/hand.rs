//! One rank of a crew: the arrays that it keeps, the programs that it has prepared.

use std::collections::BTreeMap;
use std::sync::Arc;

use pantile_comm::{Communicator, RankError};
use smallvec::SmallVec;

use crate::{ArrayId, Engine, Error, Given, Job, Made, Runner, Tile};

/// Programs that a rank keeps prepared; the oldest go first.
const KEPT: usize = 256;

/// One rank at work.
pub(crate) struct Hand {
    pub(crate) engine: Engine,
    pub(crate) store: BTreeMap<ArrayId, Arc<Tile>>,
    runners: Vec<(u128, Runner)>,
    /// Room for the results of a program.
    made: Vec<Made>,
}

impl Hand {
    pub(crate) fn new(communicator: Communicator) -> Self {
        let (store, runners) = (BTreeMap::new(), Vec::new());
        Self { engine: Engine::new(communicator), store, runners, made: Vec::new() }
    }

    /// Runs a program; whatever goes wrong here ends the world, so that nobody waits.
    pub(crate) fn run(&mut self, job: &Job) -> Result<(), Error> {
        let result = RankError::catch(|| self.try_run(job));
        result.map_err(|error| {
            let failure = error.to_failure(self.engine.rank());
            self.engine.communicator().abort(failure);
            match error {
                RankError::Returned(error) => error,
                other => Error::Panicked { rank: self.engine.rank(), message: other.to_string() },
            }
        })
    }

    fn try_run(&mut self, job: &Job) -> Result<(), Error> {
        for id in &job.forget {
            self.store.remove(id);
        }
        let at = self.runner(job)?;
        let Self { engine, store, runners, made } = self;
        let mut arguments: SmallVec<[Argument; 8]> = SmallVec::new();
        for number in &job.numbers {
            let tile = Tile::from_bytes(number.dtype(), number.as_bytes());
            arguments.push(Argument::Kept(Arc::new(tile.unwrap_or_else(Tile::empty))));
        }
        for (number, id) in (job.numbers.len()..).zip(&job.arguments) {
            let unknown = Error::UnknownArray { rank: engine.rank(), id: id.0 };
            arguments.push(match job.executable.spends(number) {
                false => Argument::Kept(store.get(id).cloned().ok_or(unknown)?),
                true => {
                    let tile = store.remove(id).ok_or(unknown)?;
                    // Somebody may look at it from outside.
                    let own = Arc::try_unwrap(tile).unwrap_or_else(|tile| Tile::clone(&tile));
                    Argument::Spent(Some(own))
                }
            });
        }
        made.clear();
        let given = arguments.iter_mut().map(|argument| match argument {
            Argument::Kept(tile) => Given::Lent(tile),
            Argument::Spent(tile) => Given::Spent(tile.take().unwrap_or_else(Tile::empty)),
        });
        runners[at].1.run_lent(engine, given, made)?;
        for (number, one) in made.drain(..).enumerate() {
            let tile = match one {
                Made::New(tile) => Some(Arc::new(tile)),
                Made::Argument(argument) => match &arguments[argument] {
                    // What others write is nobody else's.
                    Argument::Kept(tile) if tile.is_open() => Some(Arc::new(Tile::clone(tile))),
                    Argument::Kept(tile) => Some(Arc::clone(tile)),
                    Argument::Spent(_) => None,
                },
                Made::Result(earlier) => store.get(&job.results[earlier]).cloned(),
            };
            if let (Some(id), Some(tile)) = (job.results.get(number), tile) {
                store.insert(*id, tile);
            }
        }
        Ok(())
    }

    /// The place of the runner of a program, prepared if it is new.
    fn runner(&mut self, job: &Job) -> Result<usize, Error> {
        if let Some(at) = self.runners.iter().position(|(key, _)| *key == job.key) {
            return Ok(at);
        }
        if self.runners.len() >= KEPT {
            self.runners.remove(0);
        }
        let runner = Runner::new(&mut self.engine, Arc::clone(&job.executable))?;
        self.runners.push((job.key, runner));
        Ok(self.runners.len() - 1)
    }
}

/// An argument on its way to a program.
enum Argument {
    Kept(Arc<Tile>),
    Spent(Option<Tile>),
}
