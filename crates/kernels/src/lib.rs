//! Fast local loops over strided views: copy, combine, fill, map, reduce, contract.
//!
//! A message is a region in row-major order; in memory the region lies scattered. A [`Layout`]
//! says where its elements lie, a [`Nest`] is the loop that goes through two layouts at once, and
//! [`pack`] runs such loops: copying, combining with an operator, filling. Loops are compiled
//! from formulas, never from lists of elements, and run for the element types of [`DType`].
//!
//! [`lanes`] runs loop bodies over strided domains, [`reduce`] folds what they give, and an
//! [`ExactSum`] is the sum of floats that does not depend on their order. [`contract`] multiplies
//! matrices.
//!
//! Must never contain communication, threads, I/O or clocks. `unsafe` is in [`pack`], [`lanes`],
//! [`reduce`], [`contract`] and the choice of instruction sets alone. Read [`Layout`] and [`Nest`]
//! first, for loop bodies [`lanes::LoopProgram`].
//!
//! ```
//! use pantile_geometry::{IndexSet, Slab};
//! use pantile_kernels::{Layout, Nest, pack};
//!
//! // The middle two columns of a 3x4 tile, as a message of six elements.
//! let columns = [IndexSet::range(0, 3), IndexSet::range(1, 3)];
//! let slab = Slab { axes: columns.iter().map(|set| set.indices().clone()).collect() };
//! let nest = Nest::joint(&Layout::of(&slab, &[3, 4])?, &Layout::dense(0, 6))?;
//! let tile: Vec<i32> = (0..12).collect();
//! let mut message = [0; 6];
//! pack::copy_elements(&nest, &tile, &mut message)?;
//! assert_eq!(message, [1, 2, 5, 6, 9, 10]);
//! # Ok::<(), pantile_kernels::Error>(())
//! ```

mod combine;
pub mod contract;
mod error;
mod exact;
pub mod lanes;
mod layout;
mod nest;
pub mod pack;
mod raw;
pub mod reduce;
mod simd;
mod thresholds;

pub use combine::{Combination, identity, start, supports};
pub use error::Error;
pub use exact::ExactSum;
pub use layout::{LIMIT, Layout};
pub use nest::Nest;
pub use pantile_lanes::{
    Complex, DType, Element, Scalar, bools_of_mut, bytes_of, bytes_of_mut, dispatch, elements_of,
};
pub use simd::Vectors;
#[doc(hidden)]
pub use thresholds::thresholds;
