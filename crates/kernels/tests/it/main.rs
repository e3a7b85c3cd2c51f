//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bodies;
mod boxes;
mod chains;
mod columns;
mod common;
mod constant_stride;
mod contract;
mod guard_pages;
mod lanes;
mod laws;
mod panels;
mod reduce;
mod refusals;
mod refused_lanes;
mod rounded;
mod rows;
mod streams;
mod terms;
