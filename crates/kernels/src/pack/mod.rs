//! Loops that move elements: copying, combining, filling.
//!
//! The raw functions take pointers, because a rank's memory may be written by others while a plan
//! runs: which thread may touch what, and when, is known to the caller. The functions on slices
//! check everything.
//!
//! What the caller of a raw function promises, by number:
//!
//! 1. `source` may be read, and its bytes are initialised, at every source offset of the nest.
//! 2. `target` may be written at every target offset of the nest; for combining, its bytes there
//!    are initialised.
//! 3. Meanwhile no other thread writes what is read, and none reads or writes what is written.
//! 4. No byte that is read from a source is written through the target.
//! 5. Bool cells hold 0 or 1 (combining bytes keeps that so).
//!
//! Pointers need no alignment.

pub(crate) mod simd;
pub(crate) mod stream;
pub(crate) mod transpose_vectors;
pub(crate) mod walk;

pub use crate::raw::pack::{
    Spread, Twin, combine, combine_bytes, combine_elements, combine_two, combine_two_bytes, copy,
    copy_box, copy_box_bytes, copy_bytes, copy_elements, copy_part, fill, fill_bytes,
    fill_elements,
};
pub use stream::worth_streaming;
pub use walk::NestPart;

/// Lengths at which these loops change their way, by name, beside those of [`raw`](crate::raw).
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("pack::TRANSPOSE_SHORT", transpose_vectors::SHORT),
    ("pack::RUN_BYTES_MIN", stream::RUN_BYTES_MIN),
    ("pack::TOTAL_BYTES_MIN", stream::TOTAL_BYTES_MIN),
];
