//! Who holds index i, and where.
pub mod text;
