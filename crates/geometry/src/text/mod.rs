//! Reading and printing text: a cursor that knows where it is, and faults that show the place.

mod cursor;
mod fault;
mod parse;
mod print;

pub use cursor::Cursor;
pub use fault::Fault;
pub use parse::parse_distribution;
