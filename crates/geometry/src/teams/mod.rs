//! Team arithmetic: partitions, their sub-partitions, and the groups of broadcasts and reductions.
//!
//! A [`Partition`] is plain data: every worker can evaluate every function for every other worker,
//! so nothing here communicates. "Rank" alone means the position inside a partition; "world rank"
//! means the number of a worker in the root team, which is what plans speak of.

mod cells;
mod error;
mod groups;
mod index;
mod members;
mod partition;
mod sub;

pub use cells::CellError;
pub use error::TeamError;
pub use groups::{Cells, Group, Groups, Movement, Transpose};
pub use partition::{MAX_SIZE, Neighbours, Partition, Worker};
pub use sub::AxisChoice;
