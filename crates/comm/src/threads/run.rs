//! Running one function on every rank.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::endpoint::Threads;
use super::world::World;
use crate::{Communicator, Failure, Options, Rank, RankError};

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
    let world = World::new(size, options);
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
    world: &Arc<World>,
    body: &impl Fn(Communicator) -> Result<T, E>,
) -> Result<T, RankError<E>> {
    let communicator = Communicator::new(Box::new(Threads::new(rank, world, false)));
    let result = outcome(catch_unwind(AssertUnwindSafe(|| body(communicator))));
    if let Err(error) = &result {
        let reason = match error {
            RankError::Returned(error) => format!("its program returned an error: {error}"),
            RankError::Panicked(message) => format!("its program panicked: {message}"),
        };
        world.abort(Failure { culprit: rank, call: None, reason });
    }
    world.leave(rank);
    result
}

fn outcome<T, E>(result: Result<Result<T, E>, Box<dyn Any + Send>>) -> Result<T, RankError<E>> {
    match result {
        Ok(returned) => returned.map_err(RankError::Returned),
        Err(panic) => Err(RankError::Panicked(panic_message(&*panic))),
    }
}

/// The text of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
