//! Loop bodies over strided domains, through pointers: operands that were checked, loads into blocks, the
//! run of a program, stores.

mod checked;
mod frame;
mod load;
mod map;
mod moves;
mod panels;
mod program;
mod sources;
mod store;

pub use checked::{OutputTarget, OutputTargets, Source, map};
pub use map::map_raw;
pub(crate) use sources::CheckedSources;
pub use sources::RawSource;
pub use store::RawTarget;
pub(crate) use store::Store;
