//! Who sends what to whom, as plain data.

mod between;
mod check;
mod cost;
pub mod draw;
mod error;
mod form;
pub mod json;
mod path;
mod plan;
mod rounds;
mod schedule;
mod text;
mod totals;
mod transfer;

pub use check::{Defect, Finding};
pub use cost::{Estimate, Link, LinkClass, Machine, Traffic};
pub use error::Error;
pub use plan::{Plan, Round, Step};
pub use schedule::{Leg, Message, Schedule};
pub use totals::Totals;
pub use transfer::{Lifts, Transfer};
