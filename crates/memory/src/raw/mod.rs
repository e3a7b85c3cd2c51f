//! Every unsafe line of this crate: memory of the allocator and of the system, and the hook of forks.
//!
//! Invariants, which every unsafe block here names:
//!
//! - **R1** Memory belongs to one value, [`HeapMemory`] or [`PageMapping`], from the call that got it to
//!   the drop that gives it back with the same start and length.
//! - **R2** A range that is read, written or changed lies inside of such memory, where it has access.
//! - **R3** A [`MemoryAddress`] is a place, and no permission: reading or writing there is unsafe.
//! - **R4** The handler of forks changes one atomic number: it takes no lock and allocates nothing.

#![allow(unsafe_code, reason = "this is the crate's folder for it")]

mod address;
mod heap;
mod mapping;
mod process;

pub use address::MemoryAddress;
pub(crate) use heap::HeapMemory;
pub(crate) use mapping::PageMapping;
pub use process::process;
