//! Rewrites of programs, each with the same meaning before and after.
//!
//! [`all`] lists them, [`find`] finds one by its name. A pass that is done for one member of a team
//! gets to know which by [`Member`].

mod alias;
mod coalesce;
mod cores;
mod cse;
mod dce;
mod distribute;
mod facts;
mod fold;
mod keys;
mod member;
mod overlap;
mod print_member;
mod refine;
mod regions;
mod registry;
mod rewrite;
pub mod scalars;
mod slices;
mod values;

pub use member::MemberError;
pub use print_member::member_types;
pub use registry::{Member, Pass, PassError, all, find};
pub use values::values;
