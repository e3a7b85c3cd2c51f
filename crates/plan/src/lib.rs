//! Who sends what to whom, as plain data.

mod between;
mod error;
pub mod json;
mod plan;
mod schedule;
mod transfer;

pub use error::Error;
pub use plan::{Plan, Round, Step};
pub use schedule::{Leg, Message, Schedule};
pub use transfer::{Lifts, Transfer};
