//! Copying, combining and filling through pointers, and the same on slices with everything checked.

mod boxes;
mod checked;
mod combine;
mod combine_two;
mod copy;
mod ends;
mod fill;
mod transpose;

pub use boxes::{Spread, copy_box};
pub use checked::{
    combine_bytes, combine_elements, combine_two_bytes, copy_box_bytes, copy_bytes, copy_elements,
    fill_bytes, fill_elements,
};
pub use combine::combine;
pub use combine_two::{Twin, combine_two};
pub use copy::{copy, copy_part};
pub(crate) use ends::Ends;
pub use fill::fill;
pub(crate) use transpose::TransposeFace;

/// Lengths at which these loops change their way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("pack::GATHERED", boxes::GATHERED),
    ("pack::RUN", transpose::RUN),
    ("pack::UNEVEN_RUN", transpose::UNEVEN_RUN),
    ("pack::ROWS_MAX", transpose::ROWS_MAX),
    ("pack::CHUNK", combine_two::CHUNK),
    ("pack::SHORT_BYTES_MAX", copy::SHORT_BYTES_MAX),
];
