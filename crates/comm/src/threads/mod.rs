//! Ranks as threads of this process: messages are handed over, windows show memory itself.
//!
//! ```text
//!           ThreadWorld: one Inbox per rank, one SharedWindow per ordered pair that ever met
//!   rank 0 ── Inbox{ queues, activity, wakeup } ◄── wakes ── rank 1
//!      └───── SharedWindow 0→1 { exposed memory, state } ─────────┘
//! ```
//!
//! `window` is the protocol of one window, `wakeup` how a rank sleeps and is woken, `inbox` what
//! others reach of a rank, `endpoint` the transport made of them.

mod endpoint;
mod inbox;
mod run;
mod wakeup;
mod window;
mod world;

#[cfg(all(test, feature = "explore"))]
mod explore;

/// Most ranks that a process may host as threads: beyond it, machines stop answering before the
/// system refuses another thread. Interfaces that take a number of ranks from people check it.
pub const MAX_RANKS: usize = 4096;

pub use endpoint::Threads;
pub use run::run;
pub use wakeup::{Spin, Wakeup};
