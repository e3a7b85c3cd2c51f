//! Loop bodies over strided domains, a block of elements at a time.
//!
//! A [`LoopProgram`] is a body made ready; [`map`] runs it for every element of a domain and
//! [`reduce`](crate::reduce) folds what it gives. Inputs that lie side by side are read where they
//! are, others are gathered block by block, or panel by panel if their rows are columns; everything
//! between inputs and outputs stays in the first cache. Results do not depend on the order of loops
//! or on the vectors of the processor; only the bits of a NaN that arithmetic makes are open, until
//! `Canonical` fixes them.
//!
//! What the caller of a raw function promises, by number:
//!
//! 1. The bytes of every source may be read and are initialised; those of every target may be
//!    written.
//! 2. Meanwhile no other thread writes what is read, and none reads or writes what is written.
//! 3. Elements of one target are apart from those of the others. They are apart from those of
//!    every source too, or they are the same at every position of the domain.
//!
//! That elements lie inside of the bytes is checked. Breaking promise 3 gives values of no
//! meaning, but does no other harm. Pointers need no alignment. Of bytes that are bools
//! all but 0 are true.

mod bytecode;
mod cast;
mod choose;
mod compile;
pub(crate) mod constant_stride;
mod functions;
mod interpreter;
pub(crate) mod kernel;
mod node_facts;
pub(crate) mod operand_load;
mod ops;
mod order;
pub(crate) mod panel;
pub(crate) mod program;
pub(crate) mod run;
pub(crate) mod scratch;
mod sum;
pub(crate) mod walk;

pub use crate::raw::lanes::{
    OutputTarget, OutputTargets, RawSource, RawTarget, Source, map, map_raw,
};
pub use program::LoopProgram;
pub use scratch::Scratch;

pub(crate) use operand_load::{
    add_sources, counted, fill_scalars, joins_rows, prefetch_rows, reads_in_place,
};
pub(crate) use scratch::BlockFrame;
pub(crate) use walk::DomainWalk;

/// Lengths at which these loops change their way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("lanes::CHUNK", kernel::CHUNK),
    ("lanes::PASS", interpreter::PASS),
    ("lanes::PANEL_ROWS", panel::ROWS),
    ("lanes::PANEL_COLUMNS", panel::COLUMNS),
    ("lanes::CACHE", program::CACHE),
    ("lanes::NEAR", run::NEAR),
    ("lanes::SHORT", walk::SHORT),
];
