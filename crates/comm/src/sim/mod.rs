//! A seeded simulator: ranks whose every step is decided by a number, so that a run can be
//! repeated.
//!
//! Ranks are threads, but exactly one of them runs at a time. Every call of a transport hands over
//! to the simulator, which goes on with whatever comes next in *virtual* time. Calls and messages
//! take random whiles of up to [`Sim::delay_max`], computing takes none. Messages keep their order
//! per (from, to, tag) and overtake each other otherwise. Some bodies are copied at once, others
//! only when there is room for them, so a program that changes a body too early is found out.
//!
//! Deadlines are in virtual time, too: waiting ten minutes costs nothing. The clock of a rank that
//! waits runs while the one that everything hangs on is stuck or in another call, or if ranks wait
//! for each other in a cycle (a deadlock).
//!
//! ```
//! use pantile_comm::sim::{InjectedFault, Sim};
//! use pantile_comm::{CollectiveSignature, CommError};
//!
//! let faults = vec![InjectedFault::Lose { rank: 2, at_step: 3 }];
//! let sim = Sim { seed: 5, faults, ..Sim::default() };
//! let outcome = sim.run(4, |mut world| world.barrier(&CollectiveSignature::here("barrier", 0)));
//! assert!(outcome.results.iter().all(|result| result.is_err()));
//! assert_eq!(outcome.trace, sim.run(4, |mut world| world.barrier(&CollectiveSignature::here("barrier", 0))).trace);
//! ```

mod channel;
mod clock;
mod end;
pub(crate) mod generator;
mod member;
mod run;
mod state;

use std::fmt::Display;
use std::time::Duration;

use crate::{Communicator, Options, Rank, RankError};

pub use end::Simulated;

/// A simulated world: what happens is decided by these values and by the program, and by nothing
/// else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sim {
    /// Decides about all delays.
    pub seed: u64,
    /// The longest time that a call or a message takes.
    pub delay_max: Duration,
    /// What goes wrong.
    pub faults: Vec<InjectedFault>,
    /// Settings of the world; the deadline is in virtual time.
    pub options: Options,
}

impl Default for Sim {
    /// Delays of up to a millisecond, and nothing goes wrong.
    fn default() -> Self {
        let delay_max = Duration::from_millis(1);
        Self { seed: 0, delay_max, faults: Vec::new(), options: Options::default() }
    }
}

/// Something that goes wrong in a simulated world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    /// The rank is lost. Its own call fails, and so do all later ones; for its peers it is gone,
    /// perhaps with messages that were still on their way.
    Lose {
        /// Which rank.
        rank: Rank,
        /// At which of its calls of the transport, counted from 1.
        at_step: u64,
    },
    /// The rank's call does not return while its peers work.
    Stick {
        /// Which rank.
        rank: Rank,
        /// At which of its calls of the transport, counted from 1.
        at_step: u64,
    },
}

/// What became of a simulated world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimOutcome<T, E> {
    /// What every rank returned.
    pub results: Vec<Result<T, RankError<E>>>,
    /// How many calls of the transport every rank made.
    pub steps: Vec<u64>,
    /// A number made of everything that happened, in order.
    pub trace: u64,
    /// How long it took in virtual time.
    pub time: Duration,
}

impl Sim {
    /// The ends of a world of `size` ranks, to be given to as many threads. Each end leaves the
    /// world when it is dropped.
    #[must_use]
    pub fn world(&self, size: usize) -> Vec<Simulated> {
        Simulated::world(self, size)
    }

    /// Runs `body` once per rank, and returns what became of all of them. The same program under
    /// the same settings has the same outcome.
    ///
    /// As with threads, a rank that returns an error or panics ends the world.
    pub fn run<T: Send, E: Display + Send>(
        &self,
        size: usize,
        body: impl Fn(Communicator) -> Result<T, E> + Sync,
    ) -> SimOutcome<T, E> {
        run::run(self, size, body)
    }
}
