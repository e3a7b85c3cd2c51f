//! What other libraries say about their distributed arrays: reading it, judging it, saying it.
//!
//! Three descriptions are spoken: the per-process structure of the Distributed Array Protocol
//! (`__distarray__`, versions 0.9 and 0.10), the all-partitions dictionary `__partitioned__`, and
//! the headers of `.npy` and `.dnpy` files. This crate holds metadata only.
//!
//! Import is lenient ([`normalise`]), judgement is strict and complete ([`check`] returns every
//! finding and never stops at the first), export is strict.
//!
//! Must never contain Python objects, buffers or I/O.
//!
//! Read [`Section`] (one process' description as it was given) and [`Dim`] (one dimension of it,
//! typed) first.
//!
//! ```
//! use pantile_protocol::{check, json};
//! let text = r#"{"version": "0.10.0", "dim_data_per_rank": [
//!     [{"dist_type": "b", "size": 10, "proc_grid_size": 2, "proc_grid_rank": 0,
//!       "start": 0, "stop": 4}],
//!     [{"dist_type": "b", "size": 10, "proc_grid_size": 2, "proc_grid_rank": 1,
//!       "start": 5, "stop": 10}]]}"#;
//! let sections = json::read(text).unwrap().sections().unwrap().to_vec();
//! let findings = check(&sections);
//! assert_eq!(
//!     findings[0].to_string(),
//!     "rank 1, axis 0: ADJACENCY: owned part starts at 5, but the part of rank 0 ends at 4"
//! );
//! ```

mod across;
mod code;
pub mod convert;
mod dim;
pub mod dnpy;
mod dtype;
mod error;
mod finding;
pub mod json;
pub mod literal;
mod normalise;
pub mod npy;
mod object;
mod owned;
pub mod partitioned;
mod section;
mod upgrade;
mod validate;
mod version;

pub use across::{across, check};
pub use code::Code;
pub use dim::{Block, Dim, DimKind, Place};
pub use dtype::{Dtype, DtypeKind, Endian};
pub use error::Error;
pub use finding::{Finding, Note, report};
pub use normalise::{Normalised, normalise};
pub use object::{Kind, Object};
pub use section::{Buffer, Section};
pub use upgrade::{Upgraded, upgrade};
pub use validate::validate;
pub use version::{Version, VersionVerdict};
