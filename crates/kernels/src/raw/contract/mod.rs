//! Products of matrices through pointers, and the entry that checks operands.

mod blocks;
mod packed;
mod run;
mod tile;
mod vector;

pub use packed::Packed;
pub use run::{MatrixLayout, PANEL, RawMatrix, contract, contract_raw, contract_with};

/// Lengths at which these loops change their way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("contract::PANEL", run::PANEL),
    ("contract::CHAINS", vector::CHAINS),
    ("contract::VECTOR_COLUMNS", vector::COLUMNS),
    ("contract::ROWS", blocks::ROWS),
    ("contract::COLUMNS", blocks::COLUMNS),
    ("contract::NARROW", blocks::NARROW),
];
