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
//! every operation in a [`CollectiveSignature`], so that ranks which disagree are told what each of
//! them called, and a rank that fails takes its peers out of their waits.
//!
//! ```
//! use pantile_comm::{CollectiveSignature, MemorySlice, threads};
//!
//! let texts = threads::run(2, &Default::default(), |mut world| {
//!     let peer = 1 - world.rank();
//!     let call = CollectiveSignature::here("greet", 7);
//!     world.operation(&call, |operation| {
//!         let hello = format!("hello from {}", operation.rank());
//!         operation.send(peer, &MemorySlice::copied_from(hello.as_bytes()))?;
//!         operation.receive_any(peer)
//!     })
//! });
//! assert_eq!(texts[0].as_ref().unwrap(), b"hello from 1");
//! ```
pub mod conformance;
pub mod sim;
pub mod threads;

mod communicator;
mod envelope;
mod error;
mod options;
mod outcome;
mod ranges;
mod raw;
mod signature;
mod sync;
mod transport;

pub use communicator::{ActiveOperation, Communicator};
pub use envelope::{ENVELOPE_BYTES, Envelope, EnvelopeBytes};
pub use error::{CommError, Failure};
pub use options::{Options, OptionsError};
pub use outcome::RankError;
pub use ranges::Ranges;
#[doc(hidden)]
pub use raw::LARGE_PAGE;
pub use raw::{IoVec, MemoryBlock, MemorySlice};
pub use signature::CollectiveSignature;
pub use transport::{Rank, Tag, Ticket, Transport, Windows};
