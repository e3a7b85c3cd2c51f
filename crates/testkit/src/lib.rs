//! Random cases, a brute-force model of distributions and movements, and times of benchmarks.
//!
//! The model is the oracle that `geometry` and `plan` are compared with. It is written from the
//! rules alone and shares no code with them: it enumerates every element, every coordinate and
//! every lift, so it is slow and plain on purpose (axes up to about 8, meshes up to about 12
//! ranks). Must never depend on the crates that it judges, and never grow a shortcut of theirs.
//!
//! Read [`model::Spec`] first (a distribution as a user states it), then [`model::between`]
//! (every pair of a movement).
//!
//! ```
//! use pantile_testkit::model::{CutSpec, Spec, between};
//! // Six elements in blocks on three ranks -> all six on every rank.
//! let blocks = Spec::line(6, 3, CutSpec::Balanced);
//! let copies = Spec::copies(&[6], &[3]);
//! let movement = between(&blocks, &copies).expect("nothing is missing");
//! assert_eq!(movement.pairs(), 18);
//! assert_eq!(movement.moves(), 12); // each rank lacks four elements
//! ```
pub mod generate;
pub mod model;
pub mod rng;
pub mod timing;

pub use rng::{Rng, cases, enough, numbers, run_seed, run_settings, sampled, scaled, thinned};
