//! JSON values with positions.
