//! What one rank knows of all ranks.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pantile_comm::Communicator;
use pantile_engine::{Counters, Engine};
use pantile_geometry::teams;

use crate::{Error, Partition};

/// One rank's view of all ranks: cheap to clone, and to be passed around.
///
/// A world is a value, not a global: several can live in one process.
#[derive(Clone)]
pub struct RankContext {
    engine: Arc<Mutex<Engine>>,
    rank: usize,
    size: usize,
}

impl RankContext {
    /// The world behind a communicator.
    #[must_use]
    pub fn new(communicator: Communicator) -> Self {
        let (rank, size) = (communicator.rank(), communicator.size());
        Self { engine: Arc::new(Mutex::new(Engine::new(communicator))), rank, size }
    }

    /// This rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// All ranks, in order.
    ///
    /// # Panics
    /// Never: a world has between one rank and as many as a team can have.
    #[must_use]
    pub fn partition(&self) -> Partition {
        let team = teams::Partition::world(self.size).expect("a world has ranks");
        Partition::new(self.clone(), team)
    }

    /// Waits until every rank has come here. Collective.
    ///
    /// # Errors
    /// If the ranks cannot work together.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Error> {
        Ok(self.engine().barrier()?)
    }

    /// What this rank has done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.engine().counters()
    }

    /// The engine, for what has no method of its own.
    pub fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if both are the same world.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.engine, &other.engine)
    }
}

impl fmt::Debug for RankContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RankContext(rank {} of {})", self.rank, self.size)
    }
}
