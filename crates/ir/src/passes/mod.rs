//! Rewrites of programs, each with the same meaning before and after.
//!
//! [`all`] lists them, [`find`] finds one by its name. A pass that is done for one member of a team
//! gets to know which by [`Member`].

mod alias;
mod cse;
mod dce;
mod facts;
mod fold;
mod refine;
mod registry;
mod rewrite;
mod scalars;
mod slices;
mod values;

pub use registry::{Member, Pass, PassError, all, find};
pub use values::values;
