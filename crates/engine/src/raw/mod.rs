//! Every unsafe line of this crate: the elements of tiles, the loops over them, memory of other
//! libraries, and the work that threads lend each other.
//!
//! Invariants, which every unsafe block here names:
//!
//! - **R1** The memory of a tile has its elements, aligned for their type, and each is a valid value of it.
//! - **R2** While no movement and no program runs, a tile's is the only reference to its memory, except
//!   that of a transport which could not end a message, and those of other libraries to an open tile, which
//!   touch it only then.
//! - **R3** Within a hop of a movement no rank writes cells that it sends or shows: both ends are different
//!   memories, or the movement was found to be in place. A peer shows its memory until this rank is done.
//! - **R4** While a program runs, it alone refers to its tiles. Slots that live at the same time have
//!   memories of their own, or are reached at the same places; targets of one loop are apart, and so are
//!   the pieces of a loop that is cut for several threads.
//! - **R5** Borrowed work lives as long as it is called: it is on the board only while its caller is in
//!   `lend`, a thread that takes it is counted, and `lend` ends when none is.
//! - **R6** Every element of an [`ExternalBuffer`] lies in initialised memory that its owner keeps, and may
//!   be written unless it was exposed for reading; then no caller calls [`ExternalBuffer::write`].

#![allow(unsafe_code, reason = "this is the crate's folder for it")]

mod external_buffer;
mod movement;
mod operands;
mod span;
mod tile_memory;
mod work_board;

pub use external_buffer::{ExternalBuffer, Pick, TilePlaces};
pub(crate) use movement::{combine, combine_two, copy_part, copy_run, fill};
pub(crate) use operands::{Few, LoopOperands, contract, fold_cells};
pub(crate) use span::MemorySpan;
pub(crate) use tile_memory::TileMemory;
pub(crate) use work_board::WorkBoard;
