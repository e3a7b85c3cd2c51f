//! Programs of members, executed: what they give, and what they refuse.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;
mod damaged;
mod levels;
mod operations;
mod random;
mod refusals;
