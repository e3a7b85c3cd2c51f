//! Ranks as processes of an MPI job.
//!
//! With the feature `mpi` there is `Mpi`, a [`Transport`](pantile_comm::Transport) over
//! `MPI_COMM_WORLD`, `run`, which runs one function on this rank, and `relaunch`, which starts the
//! running program again under the launcher of the MPI it was built with, for tests. Without it
//! there is only [`launched`], which tells from the environment whether a launcher started this
//! process, [`library`], which says that there is no MPI, and nothing but the Rust toolchain is
//! needed.
//!
//! Must never contain shapes, element types or plans.
//!
//! # How messages travel
//!
//! ```text
//!   body ≤ 896 bytes    [ word | envelope? | body ]                   one MPI message, through a slot
//!   body larger         [ word | envelope? ]  [ chunk ] [ chunk ] …   body straight from and to its memory
//! ```
//!
//! The word has the length of the body. The envelope tells which call the sender is in; it follows
//! only if it is new to this peer and tag, and otherwise the word says which of the last envelopes
//! it is, so that a short message fits into one line of the cache.
//!
//! A receive always posts a slot first, so the envelope of a sender that is in another call, or
//! sends another length, is seen whatever follows it. Envelopes are checked in the order of posting
//! per (peer, tag), so the first mistake is the one that is reported. Chunks have at most 1 GiB,
//! because MPI counts in 32 bits.
//!
//! # How a world ends
//!
//! Control messages travel on a communicator of their own, and a rank that waits polls for them. A
//! rank that fails sends its failure to all others. A rank that leaves sends a farewell with the
//! number of messages it ever sent to each peer: a peer that has taken as many knows that no more
//! will come. When all ranks have said farewell, they finalise MPI together. **After a failure the
//! process ends when its `Mpi` is dropped**, with exit code 1 and without `MPI_Finalize`, because
//! messages may be under way that no rank will ever receive, and finalising would wait for them.
//! Before that it waits, for two seconds at most, until the other ranks have said farewell as well,
//! so that they can print what they have to say before the launcher ends them.
//!
//! ```
//! let variables = [("OMPI_COMM_WORLD_SIZE", "4")];
//! let lookup = |name: &str| {
//!     variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
//! };
//! assert_eq!(pantile_comm_mpi::launched(lookup).and_then(|launched| launched.ranks), Some(4));
//! ```

mod launched;
mod library;

#[cfg(feature = "mpi")]
mod backoff;
#[cfg(feature = "mpi")]
mod control;
#[cfg(feature = "mpi")]
mod control_message;
#[cfg(feature = "mpi")]
mod cores;
#[cfg(feature = "mpi")]
mod endpoint;
#[cfg(feature = "mpi")]
mod raw;
#[cfg(feature = "mpi")]
mod records;
#[cfg(feature = "mpi")]
pub mod relaunch;
#[cfg(feature = "mpi")]
mod run;
#[cfg(feature = "mpi")]
mod signature_cache;
#[cfg(feature = "mpi")]
mod slot;
#[cfg(feature = "mpi")]
mod tag_queues;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use endpoint::Mpi;
pub use launched::{Launched, launched};
pub use library::library;
#[cfg(feature = "mpi")]
pub use run::run;
