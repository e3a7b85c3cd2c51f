//! Loops that move elements: copying, combining, filling.
//!
//! The raw functions take pointers, because a rank's memory may be written by others while a plan
//! runs: which thread may touch what, and when, is known to the caller. The functions on slices
//! check everything.
//!
//! What the caller of a raw function promises, and what is promised inside, by number:
//!
//! 1. `source` may be read, and its bytes are initialised, at every source offset of the nest.
//! 2. `target` may be written at every target offset of the nest; for combining, its bytes there
//!    are initialised.
//! 3. Meanwhile no other thread writes what is read, and none reads or writes what is written.
//! 4. No byte that is read from a source is written through the target.
//! 5. Bool cells hold 0 or 1 (combining bytes keeps that so).
//! 6. A nest meets only offsets below its spans, and both its sides equally often (invariants 1
//!    and 2 of [`Nest`](crate::Nest)).
//! 7. Code for an instruction set runs only where the processor was found to have it.
//!
//! Pointers need no alignment.

mod boxes;
mod checked;
mod combine;
mod combine_two;
mod copy;
mod fill;
mod simd;
pub(crate) mod stream;
mod transpose;
mod transpose_vectors;
mod walk;

pub use boxes::{Spread, copy_box};
pub use checked::{
    combine_bytes, combine_elements, combine_two_bytes, copy_box_bytes, copy_bytes, copy_elements,
    fill_bytes, fill_elements,
};
pub use combine::combine;
pub use combine_two::{Twin, combine_two};
pub use copy::{copy, copy_part};
pub use fill::fill;
pub use stream::worth_streaming;
pub use walk::NestPart;

/// Lengths at which these loops change their way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("pack::GATHERED", boxes::GATHERED),
    ("pack::RUN", transpose::RUN),
    ("pack::UNEVEN_RUN", transpose::UNEVEN_RUN),
    ("pack::ROWS_MAX", transpose::ROWS_MAX),
    ("pack::TRANSPOSE_SHORT", transpose_vectors::SHORT),
    ("pack::RUN_BYTES_MIN", stream::RUN_BYTES_MIN),
    ("pack::TOTAL_BYTES_MIN", stream::TOTAL_BYTES_MIN),
    ("pack::CHUNK", combine_two::CHUNK),
    ("pack::SHORT_BYTES_MAX", copy::SHORT_BYTES_MAX),
];
