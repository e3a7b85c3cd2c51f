//! Loops through pointers, and the entries that check what they reach. Vector kernels, the bytecode
//! interpreter and machine code are unsafe code beside this folder ([`pack`](crate::pack),
//! [`exact`](crate::ExactSum), [`lanes`](crate::lanes)), each behind one entry; they name the same invariants.
//!
//! Invariants, which every unsafe block of this crate names. Checks are made once per call, in release too;
//! nothing is checked per element: what was compared is a type ([`CheckedSources`](lanes::CheckedSources),
//! [`Store`](lanes::Store), [`Ends`](pack::Ends)), which only this folder makes, by an unsafe function.
//!
//! - **R1** The memory that a raw function is given may be read, and is initialised, where it is a source,
//!   and may be written where it is a target. Meanwhile no other thread writes what is read, and none reads
//!   or writes what is written. This is the promise of callers from outside; slices keep it by their borrows.
//! - **R2** Every element that a loop meets lies inside the bytes of its operand. The entries compare the
//!   lowest and the highest place with the length; loops inside meet no others.
//! - **R3** What a loop writes is apart from what it reads, or is at the same place of the same element.
//! - **R4** A block, a panel or a row that is kept near has room for the elements that are put there.
//! - **R5** A program names slots that it has, and only such as were written before.
//! - **R6** Bytes that are taken for a type are elements of it: any are, except bools, which are 0 or 1.
//! - **R7** Code for an instruction set runs only where the processor was found to have it.
//! - **R8** Pages of machine code are written before they can be run, and not after; the code does what its
//!   bytecode says, and goes to no memory but that of its slots.

#![allow(unsafe_code, reason = "this is the crate's folder for it")]

pub(crate) mod contract;
pub(crate) mod lanes;
pub(crate) mod pack;
pub(crate) mod reduce;
