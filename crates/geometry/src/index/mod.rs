//! Sets of indices of one axis, without listing them where a formula will do.

mod segment;
mod set;

pub use segment::Segment;
pub use set::{IndexSet, Indices, Segments};
