//! Programs of members, executed: what they give, and what they refuse.

mod common;
mod levels;
mod operations;
mod random;
mod refusals;
