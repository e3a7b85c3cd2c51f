//! What every transport has to do: cases that run on all of its ranks at once.
//!
//! A case is a function that every rank of a world runs on its own end. It returns `Ok` only if
//! *this* rank saw exactly what the laws of [`Transport`] promise: the bytes, or the kind of error
//! and the rank that it names. Cases share nothing but messages, so ranks may be threads or
//! processes.
//!
//! A runner
//! 1. makes one world per size, with an ordinary deadline, and runs all [`CaseBody::Keeps`] cases
//!    whose [`ConformanceCase::ranks`] contain the size in it, one after another, each behind
//!    [`synchronise`];
//! 2. makes a world with the deadline [`SHORT`] for each [`CaseBody::Ends`] case and gives the ends
//!    away; the case fails, aborts and leaves as it likes;
//! 3. takes a case that does not end for a broken one.
//!
//! [`check`] is such a runner for transports whose ranks can be threads of one process:
//!
//! ```
//! use pantile_comm::{Transport, conformance, sim::Sim};
//!
//! let found = conformance::check(&[1], |size, options| {
//!     let sim = Sim { options: options.clone(), ..Sim::default() };
//!     let ends = sim.world(size).into_iter();
//!     ends.map(|end| Box::new(end) as Box<dyn Transport>).collect()
//! });
//! assert!(found.is_empty(), "{found:?}");
//! ```

mod abort;
mod absence;
mod collectives;
mod disagreement;
mod drive;
mod error;
mod exchange;
mod expect;
mod order;
mod subject;
mod vectored;
mod windows;

use std::time::Duration;

use crate::Transport;

pub use drive::{ConformanceFailure, check, synchronise};
pub use error::{CaseError, Claim, ExpectedError};

/// The deadline of all worlds for [`CaseBody::Ends`] cases: long enough for a busy machine, short
/// enough to be waited for.
pub const SHORT: Duration = Duration::from_secs(2);

/// One case of the suite.
#[derive(Clone, Copy, Debug)]
pub struct ConformanceCase {
    /// What it claims, in a few words.
    pub name: &'static str,
    /// The sizes of worlds that it is meant for.
    pub ranks: &'static [usize],
    /// What every rank runs.
    pub body: CaseBody,
}

/// What every rank of a world runs, and what it leaves behind.
#[derive(Clone, Copy, Debug)]
pub enum CaseBody {
    /// Leaves a healthy world without messages behind.
    Keeps(fn(&mut dyn Transport) -> Result<(), CaseError>),
    /// Owns its end; dropping it means leaving the world, which may have failed by then.
    Ends(fn(Box<dyn Transport>) -> Result<(), CaseError>),
}

/// Sizes for cases that work with any number of ranks.
const ANY: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8];
/// Sizes for cases with at least one peer.
const MANY: &[usize] = &[2, 3, 4, 5, 6, 7, 8];
/// Sizes for cases that last as long as a deadline.
const FEW: &[usize] = &[2, 3];

/// All cases.
#[must_use]
pub fn cases() -> Vec<ConformanceCase> {
    let mut cases = Vec::new();
    let groups: [&[ConformanceCase]; 8] = [
        order::CASES,
        exchange::CASES,
        vectored::CASES,
        collectives::CASES,
        windows::CASES,
        disagreement::CASES,
        absence::CASES,
        abort::CASES,
    ];
    groups.iter().for_each(|group| cases.extend_from_slice(group));
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_used_once() {
        let mut names: Vec<_> = cases().iter().map(|case| case.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
