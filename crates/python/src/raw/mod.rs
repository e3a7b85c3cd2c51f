//! Every unsafe line of this crate: memory that Python and this crate show each other.
//!
//! Invariants, which every unsafe block here names:
//!
//! - **R1** A view that Python asks for is Python's to fill in; what it shows lives as long as the owner
//!   that the view holds.
//! - **R2** Memory of a Python object lies where the object says, as long as the object is held, and is
//!   contiguous where that was asked for.
//! - **R3** While the interpreter lock is held, no thread writes memory that is read, and none but this
//!   one touches memory that the package has made to be written.

#![allow(unsafe_code, reason = "this is the crate's folder for it")]

mod foreign;
mod held;
mod views;

pub(crate) use foreign::external_buffer;
pub(crate) use held::HeldBytes;
