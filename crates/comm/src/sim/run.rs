//! Running one function on every simulated rank.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use super::end::{SimShared, Simulated};
use super::{Sim, SimOutcome};
use crate::{Communicator, Rank, RankError};

pub(super) fn run<T: Send, E: Display + Send>(
    sim: &Sim,
    size: usize,
    body: impl Fn(Communicator) -> Result<T, E> + Sync,
) -> SimOutcome<T, E> {
    let shared = SimShared::new(sim, size);
    {
        // No rank runs before its turn comes.
        let mut state = shared.lock();
        (0..size).for_each(|rank| state.pause(rank));
        shared.hand_over(&mut state);
    }
    let results = std::thread::scope(|scope| {
        let start = |rank| {
            let (shared, body) = (&shared, &body);
            let thread = std::thread::Builder::new().name(format!("rank {rank}"));
            let one = move || one((rank, size), shared, body);
            thread.spawn_scoped(scope, one).expect("a thread per rank")
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join();
        threads.into_iter().map(|thread| join(thread).expect("panics are caught")).collect()
    });
    let state = shared.lock();
    let steps = state.members.iter().map(|member| member.steps).collect();
    SimOutcome { results, steps, trace: state.trace, time: Duration::from_nanos(state.now) }
}

fn one<T, E: Display>(
    (rank, size): (Rank, usize),
    shared: &Arc<SimShared>,
    body: &impl Fn(Communicator) -> Result<T, E>,
) -> Result<T, RankError<E>> {
    shared.wait_for_turn(rank);
    let end = Simulated::new(rank, size, shared, false);
    let communicator = Communicator::new(Box::new(end));
    let result = RankError::catch(|| body(communicator));
    if let Err(error) = &result {
        shared.lock().abort(rank, error.to_failure(rank));
    }
    shared.finish(rank);
    result
}
