//! Who sends what to whom, as plain data.
pub mod json;
