//! What programs give, folded over axes of a domain.
//!
//! A reduction runs a program for every element of a domain and folds each output into *cells*,
//! one for each position of the axes that are kept. Cells of several reductions, on one rank or
//! on many, are combined by an operator on integers or by a selection, so the order of
//! reductions, of loops and of ranks does not matter: the bits are the same.
//!
//! The index of the first element with a property is a minimum, too: of an `I64` lane that is
//! the index where the element has it, and `i64::MAX` elsewhere.

mod fold;
mod merge;
mod product;
mod rounded;
pub(crate) mod run;
mod state;

pub use crate::raw::reduce::{reduce, reduce_raw};
pub use fold::{FoldCell, LaneFold};
pub use product::{LEAF, ProductFactor, product_of_leaf, product_of_leaves, tree_product};
pub(crate) use rounded::Sums;
pub use run::Folds;

/// Lengths at which these loops change their way, by name.
pub(crate) const THRESHOLDS: &[(&str, usize)] = &[
    ("reduce::LEAF", product::LEAF),
    ("reduce::FEW", state::FEW),
    ("reduce::COLUMNS", run::COLUMNS),
    ("reduce::ALONE", run::ALONE),
];
