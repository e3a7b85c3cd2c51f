//! Running one function on every rank.

use std::fmt::Display;
use std::sync::Arc;

use super::endpoint::Threads;
use super::world::ThreadWorld;
use crate::{Communicator, Options, Rank, RankError};

/// Runs `body` once per rank, each on a thread of its own, and returns what each of them returned.
///
/// A rank that returns an error or panics ends the world: every other rank gets an error that names
/// it at its next operation, or out of the one in which it waits.
///
/// # Panics
/// If there is no thread for a rank.
pub fn run<T: Send, E: Display + Send>(
    size: usize,
    options: &Options,
    body: impl Fn(Communicator) -> Result<T, E> + Sync,
) -> Vec<Result<T, RankError<E>>> {
    let world = ThreadWorld::new(size, options);
    std::thread::scope(|scope| {
        let start = |rank| {
            let (world, body) = (&world, &body);
            let name = format!("rank {rank}");
            let thread = std::thread::Builder::new().name(name);
            thread.spawn_scoped(scope, move || one(rank, world, body)).expect("a thread per rank")
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join();
        threads.into_iter().map(|thread| join(thread).expect("panics are caught")).collect()
    })
}

fn one<T, E: Display>(
    rank: Rank,
    world: &Arc<ThreadWorld>,
    body: &impl Fn(Communicator) -> Result<T, E>,
) -> Result<T, RankError<E>> {
    let communicator = Communicator::new(Box::new(Threads::new(rank, world, false)));
    let result = RankError::catch(|| body(communicator));
    if let Err(error) = &result {
        world.abort(error.to_failure(rank));
    }
    world.leave(rank);
    result
}
