//! Opaque bytes between ranks, in order per (peer, tag).
//!
//! A [`Transport`] is one rank's end of a world of ranks: it sends messages, receives them, and
//! where ranks share memory it offers [`Windows`] through which a peer's memory can be looked at
//! without a copy in between. [`threads`] hosts ranks as threads of this process; [`sim`] is a
//! seeded simulator that delays, reorders, loses and stops; other crates bring MPI and the
//! network. All of them pass the same [`conformance`] suite.
//!
//! Must never contain shapes, element types, plans or async code.
//!
//! Read [`Transport`] first, then [`Communicator`], the value that the crates above hold: it wraps
//! every operation in a [`Call`], so that ranks which disagree are told who wanted what, and a rank
//! that fails takes its peers out of their waits.
//!
//! ```
//! use pantile_comm::{Call, Piece, threads};
//!
//! let texts = threads::run(2, &Default::default(), |mut world| {
//!     let peer = 1 - world.rank();
//!     let call = Call::here("greet", 7);
//!     world.operation(&call, |operation| {
//!         let hello = format!("hello from {}", operation.rank());
//!         operation.send(peer, &Piece::copied_from(hello.as_bytes()))?;
//!         operation.receive_any(peer)
//!     })
//! });
//! assert_eq!(texts[0].as_ref().unwrap(), b"hello from 1");
//! ```
pub mod conformance;
pub mod sim;
pub mod threads;

mod call;
mod communicator;
mod error;
mod head;
mod memory;
mod options;
mod outcome;
mod sync;
mod transport;

pub use call::Call;
pub use communicator::{Communicator, Operation};
pub use error::{CommError, Failure};
pub use head::{HEAD_BYTES, Head};
#[doc(hidden)]
pub use memory::LARGE_PAGE;
pub use memory::{Memory, Piece, Ranges, Scattered};
pub use options::{Options, OptionsError};
pub use outcome::RankError;
pub use transport::{Rank, Tag, Ticket, Transport, Windows};
