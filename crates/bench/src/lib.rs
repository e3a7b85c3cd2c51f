//! How fast programs are on this machine, beside loops by hand: what `pantile bench` measures.
//!
//! ```text
//! case: text of a program ── lower ── ranks that wait for it ─┐ compared, then in turns ── figure
//!       loops by hand ── as many threads, the fastest way ────┘
//! ```
//!
//! [`bounds`] are the loops by hand, the upper bounds of what the hardware can do; the benches of
//! `kernels` measure against them, too. Must never contain what Pantile itself computes with.
//!
//! Read [`Case`] first, then [`measured`].

pub mod bounds;
mod case;
pub mod cases;
mod figure;
mod hands;
mod machine;
mod measure;
mod ours;

pub use case::{Case, FigureGroup};
pub use figure::{Aim, Figure, number};
pub use machine::BenchMachine;
pub use measure::measured;
