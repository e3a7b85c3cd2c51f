//! Loops written by hand, compiled for the same instruction sets as ours: the upper bounds of what
//! the hardware can do.
//!
//! Benchmarks measure against these: the command's `bench`, and the benches of `kernels`. A loop
//! computes the same as a program of ours, element for element with the same bits where a test asks
//! for them; sums alone are plain ones, with as many accumulators as are good for speed. Must never
//! contain what Pantile itself computes with.
//!
//! Read [`Formula`] first (what is computed for one element), then [`write()`] (the two loops over
//! all of them).
//!
//! ```
//! use pantile_bench::bounds::{Triad, sum, write};
//! let (a, b) = ([1.0; 100], [2.0; 100]);
//! let mut into = [0.0; 100];
//! write(&mut into, Triad([&a, &b]), true); // a + 3 b, with non-temporal stores
//! assert_eq!(into, [7.0; 100]);
//! assert_eq!(sum(&into), 700.0);
//! ```
//!
//! Invariants, which every unsafe block of this crate names:
//!
//! - **R1** A formula reads inside of all of its inputs for places below its length, the shortest of them.
//! - **R2** Code for an instruction set runs only where the processor was found to have it.

#![allow(unsafe_code, reason = "the loops are compiled for the vectors that were detected")]

mod formula;
mod functions;
mod multiversion;
mod plain;
mod transpose;
mod write;

pub use formula::{Copied, Five, Formula, Four, Six, Triad};
pub use functions::{CURVE, MARKET, Prices, Waves};
pub use plain::{STAR, add_one, add_star, columns, dot, jacobi, rows, short_rows, sum, triad_f32};
pub use transpose::{SourceRows, add_transpose, add_transpose_by_8, transpose, transpose_by_8};
pub use write::write;
