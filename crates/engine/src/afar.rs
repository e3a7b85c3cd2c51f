//! Ranks that are elsewhere: what a crew needs of whoever reaches them.

use std::sync::Arc;
use std::time::Duration;

use pantile_comm::Rank;

use crate::{ArrayId, Counters, Error, Job, ThreadsError, Tile};

/// Ranks that are elsewhere, reached by somebody who knows how. The caller has none of their memory.
pub trait Afar: Send {
    /// Number of ranks.
    fn size(&self) -> usize;

    /// Starts a program on all ranks; arrays that are to be forgotten are, first.
    ///
    /// # Errors
    /// If it cannot be started; the ranks do not work any more then.
    fn start(&mut self, job: &Job) -> Result<(), Error>;

    /// What became of the program that was started; `None` if it still runs after this time.
    fn wait(&mut self, time: Duration) -> Option<Result<(), Error>>;

    /// Gives ranks their elements of an array.
    ///
    /// # Errors
    /// If they do not arrive.
    fn put(&mut self, id: ArrayId, tiles: &[(Rank, Arc<Tile>)]) -> Result<(), Error>;

    /// The elements that these ranks have of an array.
    ///
    /// # Errors
    /// If they do not arrive.
    fn get(&mut self, id: ArrayId, ranks: &[Rank]) -> Result<Vec<(Rank, Arc<Tile>)>, Error>;

    /// Forgets arrays, soon; nothing is ever put or made under their names again.
    fn forget(&mut self, ids: &[ArrayId]);

    /// What the ranks have done so far, together.
    fn counters(&mut self) -> Counters;

    /// From now on every rank has so many threads; gives how many it had before.
    ///
    /// # Errors
    /// If ranks cannot have so many; then nothing has changed.
    fn set_threads(&mut self, threads: usize) -> Result<usize, ThreadsError>;
}
