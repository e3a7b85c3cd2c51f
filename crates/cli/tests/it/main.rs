//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod arrays;
mod bench;
mod cluster;
mod cluster_job;
mod cluster_memory;
mod command;
mod common;
mod examples;
mod filetests;
mod members;
mod passes_page;
mod readme;
mod run_memory;
