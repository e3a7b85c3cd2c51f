//! Every unsafe line of this crate: memory that messages and windows share, and the bytes in it.
//!
//! Invariants, which every unsafe block here names:
//!
//! - **R1** The bytes of a [`MemoryBlock`] are initialised, and may be read and written as long as its
//!   owner lives, which the block keeps.
//! - **R2** A [`MemorySlice`] and an [`IoVec`] lie inside of their block, and the ranges of one `IoVec` do
//!   not overlap.
//! - **R3** Law 6 of [`Transport`](crate::Transport): from posting to the end of its wait no thread writes
//!   the body of a message, and no thread but that of the transport touches a room. What a window shows is
//!   not written between its opening and its release.

#![allow(unsafe_code, reason = "this is the crate's folder for it")]

mod block;
mod body;
mod io_vec;

pub use block::{LARGE_PAGE, MemoryBlock, MemorySlice};
pub(crate) use body::{copied, fill};
pub use io_vec::IoVec;
