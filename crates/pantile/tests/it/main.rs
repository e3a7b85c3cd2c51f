//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod arrays;
mod blocks;
mod callers;
mod examples;
mod functions;
mod launch;
mod made_ranks;
mod memory;
mod npy;
mod open;
mod pipeline;
mod placements;
mod places;
mod products;
mod readme;
mod whole;
