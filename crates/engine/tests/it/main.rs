//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod crew;
mod deep;
mod looks;
mod refusals;
mod renewed;
mod runs;
mod trail;
mod watch;
