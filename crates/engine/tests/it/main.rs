//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod deep;
mod executor;
mod profiler;
mod refusals;
mod remote_reads;
mod runs;
mod updates_in_place;
mod wavefront;
