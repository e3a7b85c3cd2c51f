//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod errors;
mod plans;
mod sums;
