//! Ranks as threads of this process: messages are handed over, windows show memory itself.
//!
//! ```text
//!           World: one Post per rank, one Lane per ordered pair that ever met
//!   rank 0 ── Post{ mail, status, bell } ◄── rings ── rank 1
//!      └───── Lane 0→1 { shown memory, state } ─────────┘
//! ```
//!
//! `lane` is the protocol of one window, `bell` how a rank sleeps and is woken, `post` what a
//! rank shows of itself, `endpoint` the transport made of them.

mod bell;
mod endpoint;
mod lane;
mod post;
mod run;
mod world;

#[cfg(all(test, feature = "explore"))]
mod explore;

/// Most ranks that a process may host as threads: beyond it, machines stop answering before the
/// system refuses another thread. Doors that take a number of ranks from people check it.
pub const MAX_RANKS: usize = 4096;

pub use bell::Bell;
pub use endpoint::Threads;
pub use run::run;
