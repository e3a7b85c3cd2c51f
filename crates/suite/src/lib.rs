//! Cases that every backend has to pass: the same function on threads, on the simulator, over TCP,
//! under MPI.
//!
//! A [`Case`] is a function of a world of any size (from its `needs` on). Runners live in `tests/`.
//! What is right is decided by the brute-force model in `testkit`, by vectors written down here, or
//! by naive loops; never by the code that is tried.
//!
//! Must never be used by anything but tests.
//!
//! Read [`Case`] first, then [`laws`].
//!
//! ```
//! use pantile_comm::threads;
//! use pantile_spmd::RankContext;
//!
//! let case = &pantile_suite::cases()[0];
//! for result in threads::run(case.needs, &Default::default(), |c| (case.body)(&RankContext::new(c))) {
//!     assert_eq!(result, Ok(()), "{}", case.name);
//! }
//! ```
mod accumulations;
mod arrays;
mod concats;
#[path = "../../geometry/tests/it/common/mod.rs"]
mod convert;
mod data;
mod expect;
pub mod faults;
mod groups;
mod halos;
mod inner;
pub mod laws;
mod layers;
mod long;
mod partitions;
mod primitives;
pub mod programs;
pub mod reference;
mod repartitions;
mod reuse;
mod settings;
mod whole;

use pantile_spmd::RankContext;
use pantile_testkit::run_settings;

/// One case: collective, and leaves the world healthy.
#[derive(Clone, Copy)]
pub struct Case {
    /// What it is about.
    pub name: &'static str,
    /// The smallest world it can run in.
    pub needs: usize,
    /// What every rank does: `Ok` if it saw what it should.
    pub body: fn(&RankContext) -> Result<(), String>,
}

/// All cases.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(laws::cases());
    cases.extend(accumulations::cases());
    cases.extend(partitions::cases());
    cases.extend(groups::cases());
    cases.extend(data::cases());
    cases.extend(whole::cases());
    cases.extend(primitives::cases());
    cases.extend(repartitions::cases());
    cases.extend(concats::cases());
    cases.extend(halos::cases());
    cases.extend(layers::cases());
    cases.extend(reuse::cases());
    cases.extend(inner::cases());
    cases.extend(arrays::cases());
    cases.extend(programs::cases());
    cases
}

/// Runs all cases that fit into a world, one after the other; the first fault with the case's name.
///
/// # Errors
/// The first fault, with the name of its case.
pub fn run_all(world: &RankContext) -> Result<usize, String> {
    run(world, cases())
}

/// Runs the cases with long messages, which take too long where every message is cut small.
///
/// # Errors
/// The first fault, with the name of its case.
pub fn run_long(world: &RankContext) -> Result<usize, String> {
    run(world, long::cases())
}

fn run(world: &RankContext, cases: Vec<Case>) -> Result<usize, String> {
    let mut run = 0;
    for case in cases.into_iter().filter(|case| case.needs <= world.size()) {
        (case.body)(world)
            .map_err(|fault| format!("{}: {fault}\n{}", case.name, run_settings()))?;
        world.barrier().map_err(|error| format!("after {}: {error}", case.name))?;
        run += 1;
    }
    Ok(run)
}
