//! What happens to one element: types, functions, and loop bodies as data.
//!
//! A [`LoopBody`] is a branch-free program over typed lanes, made of primitive operations whose
//! bits are fixed; functions such as `exp` are expansions into them, so that running a body one
//! element at a time or in wide vectors gives the same bits. [`DType`] and [`Scalar`] name the
//! types of elements and hold one of them; [`Unary`] and [`Binary`] name the functions.
//!
//! Must never contain loops over arrays, shapes, memory of others, I/O or `unsafe`. Read [`LoopBody`]
//! first.

mod body;
mod dispatch;
mod dtype;
mod error;
mod evaluate;
mod exact;
pub mod expand;
mod function;
mod promote;
mod scalar;

pub use body::{BinaryOp, LaneNode, LaneOp, LookupTable, LoopBody, SumTerms, UnaryOp};
pub use dtype::{DType, Element, bools_of_mut, bytes_of, bytes_of_mut, elements_of};
pub use error::Error;
pub use evaluate::evaluate;
pub use function::{Binary, LaneFunction, Unary};
pub use num_complex::Complex;
pub use promote::promote;
pub use scalar::Scalar;
