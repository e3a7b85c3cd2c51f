//! Memory of elements, messages and loops: aligned to cache lines, zero at first, in large pages
//! where it is large.
//!
//! With `PANTILE_GUARD=1` every buffer ends against a page without access: a read or write behind it
//! ends the process. Buffers start as aligned as always, so that a few bytes may lie between the end
//! of a buffer and the page; these have a pattern, which is checked when the buffer is freed.
//!
//! Must never contain element types, shapes or threads.

mod buffer;
mod guard;
pub mod limit;
mod pages;
mod raw;
mod scratch;

pub use buffer::{ALIGNMENT, AlignedBuffer, OutOfMemory};
pub use guard::guarded;
pub use limit::available_memory;
pub use pages::LARGE;
pub use raw::{MemoryAddress, process};
pub use scratch::ScratchBuffer;
