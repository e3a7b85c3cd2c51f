//! Every unsafe line of this crate: the calls into the MPI library, and memory that it reads and
//! writes.
//!
//! Invariants, which every unsafe block here names. The functions look safe, but rest on what their
//! callers, all in this crate, keep to:
//!
//! - **R1** MPI is initialised before the first [`Comm`] is made, and finalised after the last call.
//! - **R2** One thread at a time calls, because everything is reached through one `&mut MpiWorld`.
//! - **R3** A slice that a [`MpiRequest`] reads or writes is kept in memory until that request is done,
//!   and no code looks at it meanwhile (law 6 of [`pantile_comm::Transport`]).
//! - **R4** What MPI writes as an answer has room for it, and is read when MPI has written it.
//! - **R5** Constants and types are those of the library that is linked.

#![allow(unsafe_code, reason = "this is the crate's folder for it")]

mod bytes;
mod comm;
mod error;
mod request;

pub(crate) use bytes::{bytes, int, write};
pub(crate) use comm::{Address, CORE_WORDS, Comm};
pub(crate) use error::MpiError;
pub(crate) use request::MpiRequest;
