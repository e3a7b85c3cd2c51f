//! Programs of members, executed: what they give, and what they refuse.

mod common;
mod levels;
mod random;
