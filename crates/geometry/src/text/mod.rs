//! The grammar of distributions: reading and printing them.

mod parse;
mod print;

pub use parse::parse_distribution;
