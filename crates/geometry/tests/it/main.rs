//! The tests of this crate, as one program: linking many costs more than running them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod auto_grid;
mod common;
mod laws;
mod layer_halo;
mod layer_halo_laws;
mod owned;
mod paths;
mod slices;
mod slices_laws;
mod teams;
mod text;
mod writes;
