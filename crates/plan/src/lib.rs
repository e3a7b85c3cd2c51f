//! Who sends what to whom, as plain data.
//!
//! A movement is the difference of two distributions. [`Plan::between`] yields every primitive:
//! scatter, gather, broadcast, reduce, all-reduce, transpose, halo exchange and the adjoint of
//! each. A [`Plan`] can be printed, parsed, drawn, checked, costed, turned around and cut into
//! rounds; [`Schedule::between`] gives one rank's share without building anybody else's.
//!
//! Must never contain element types, buffers, clocks or I/O: sizes are numbers of elements, and
//! where bytes matter the caller says how many an element has.
//!
//! Read [`Plan`] and [`Schedule`] first, then the module `between` for the rule behind them.
//!
//! ```
//! use pantile_geometry::Distribution;
//! use pantile_plan::{Machine, Plan, Schedule};
//!
//! // Every rank has a term of the whole array; every rank wants the sum.
//! let terms: Distribution = "4096 on r=4: whole; sum(r)".parse()?;
//! let sums: Distribution = "4096 on r=4: whole".parse()?;
//! let direct = Plan::between(&terms, &sums)?;
//! let best = Plan::best(&terms, &sums, &Machine::default(), 8)?;
//! assert_eq!(direct.moved(), 4 * 3 * 4096);
//! assert_eq!(best.moved(), 2 * 3 * 4096); // through blocks: reduce-scatter, all-gather
//! assert_eq!(best.check(), []);
//! assert_eq!(direct.for_rank(2), Schedule::between(&terms, &sums, 2)?);
//! # Ok::<(), pantile_plan::Error>(())
//! ```

mod between;
mod check;
mod cost;
mod effort;
mod error;
mod form;
mod path;
mod plan;
mod rounds;
mod route;
mod schedule;
mod text;
mod totals;
mod transfer;

pub use check::{Defect, Finding};
pub use cost::{Estimate, Link, LinkClass, Machine, Traffic};
pub use error::Error;
pub use plan::{Plan, Round, Step};
pub use route::{Terrain, route};
pub use schedule::{Hop, Message, Schedule};
pub use totals::Totals;
pub use transfer::{Lifts, Transfer};
