//! What is computed on which distribution: array programs.
//!
//! A [`Program`] is a list of functions in SSA form whose values are typed by element type and
//! distribution. It has a text, a verifier that returns all errors with their places, and a naive
//! evaluator that is the meaning of the language.
//!
//! Must never contain threads, transports, fast kernels, I/O, clocks or `unsafe`.

mod attribute;
pub mod infer;
mod op;
mod placement;
mod program;
pub mod reference;
pub mod text;
mod types;
pub mod verify;

pub use attribute::Attribute;
pub use op::{Arith, Boundary, Index, Named, Op, Predicate, Random, Reduction, Slice};
pub use pantile_lanes::{Binary, Complex, DType, Scalar, Unary, promote};
pub use placement::{PlacedAt, Placement};
pub use program::{Block, Function, Operation, Place, Program, Value, ValueData};
pub use types::{ArrayType, Dim, DistEnv, Element, Env, LocalParts, Spelling, Type};
