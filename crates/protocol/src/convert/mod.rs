//! Between descriptions and distributions.
//!
//! **Import.** The grid of processes becomes a mesh with one axis per array axis, `d0`, `d1`, ...
//! Blocks are cut where the owned parts end. Communication padding is *room*: it is allocated, but
//! nobody promised that its values are fresh. Boundary padding is owned: ordinary elements.
//!
//! **Periodic axes.** The protocol counts the outer padding of a periodic axis in its size, though
//! those cells mirror others. With outer widths L and R an axis of size s has m = s - L - R real
//! elements; global index g is element (g - L) mod m:
//!
//! ```text
//! protocol    0 .. L | L ............. s-R | s-R .. s
//! axis       -L .. 0 | 0 ............... m | m .. m+R     a position p is element p mod m
//!            mirrors   real elements         mirror the
//!            the end                         beginning
//! ```
//!
//! The distribution is one of m elements, shifted by L, periodic, with both outer paddings as room.
//!
//! What a distribution does not keep (the widths of boundary padding, the promise `one_to_one`) is
//! kept beside it, one [`Extra`] per axis, so that export after import gives the same dictionaries.

mod export;
mod import;
mod letters;

pub use export::{Exported, export, export_partitioned};
pub use import::{Imported, import, import_partitioned};
pub use letters::from_letters;

/// What a protocol axis says beside the distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Widths of boundary padding at both ends. On periodic axes it is part of the distribution.
    pub boundary: (i64, i64),
    /// Whether a label is promised to be in one place; `None` lets export find out.
    pub one_to_one: Option<bool>,
}
