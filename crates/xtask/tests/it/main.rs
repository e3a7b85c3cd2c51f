//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod crates;
mod documents;
mod environment;
mod error_types;
mod errors;
mod files;
mod map;
mod names;
mod raw_memory;
mod unsafe_code;
