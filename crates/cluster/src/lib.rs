//! A coordinator and workers: array programs run where the data is, for clients that are elsewhere.
//!
//! ```text
//!  client ──gRPC── coordinator ──gRPC── worker      programs (once), runs, heartbeats
//!     └──────── frames of a few MiB ──────┘         elements, up and down
//!                          worker ── worker         halos and movements, over `comm-net`
//! ```
//!
//! A client opens a session: a world of ranks that workers host. Programs travel as text, once;
//! then they are named by their hash. Arrays stay with the ranks until the client does not refer to
//! them any more, and ranks talk to each other directly, never through the coordinator. What one
//! client has, no other sees.
//!
//! Must never contain what array operations mean; elements never pass the coordinator.
//!
//! Read [`Cluster`] first, then [`Worker`] and [`Coordinator`].

mod client;
mod coordinator;
mod data;
mod driver;
mod error;
mod guard;
mod incoming;
mod refusals;
pub mod wire;
mod worker;

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::allow_attributes_without_reason,
    clippy::too_many_lines,
    reason = "written by a program"
)]
mod control {
    include!(concat!(env!("OUT_DIR"), "/pantile.cluster.Coordinator.rs"));
    include!(concat!(env!("OUT_DIR"), "/pantile.cluster.Worker.rs"));
}

use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;
use tonic::{Code, Status};

pub use client::{Cluster, ClusterOptions};
pub use coordinator::{Coordinator, CoordinatorOptions};
pub use error::ClusterError;
pub use guard::{FILES, Guard};
use incoming::incoming;
pub use pantile_comm_net::Secret;
pub use refusals::Tell;
pub use worker::{Worker, WorkerOptions};

/// True if a stream ended with a message that was not taken: it was too long, or is none.
fn is_refusal(status: &Status) -> bool {
    match status.code() {
        Code::OutOfRange | Code::ResourceExhausted | Code::InvalidArgument => true,
        // What a connection says has a cause; bytes that are no message have none.
        Code::Internal => status.source().is_none(),
        _ => false,
    }
}

/// Returns soon after `stop` says so.
async fn stopped(stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A listener at `HOST:PORT`, if that is protected.
async fn bind(address: &str, guard: &Guard) -> Result<(TcpListener, SocketAddr), ClusterError> {
    let failed = |error: std::io::Error| ClusterError::Listen {
        address: address.to_owned(),
        reason: error.to_string(),
    };
    for place in tokio::net::lookup_host(address).await.map_err(failed)? {
        guard.check(place)?;
    }
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let place = listener.local_addr().map_err(failed)?;
    Ok((listener, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_are_not_taken_are_told_from_connections_that_break() {
        let broken = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_refusal(&Status::internal("bytes that are no message")));
        assert!(is_refusal(&Status::out_of_range("a message that is too long")));
        assert!(!is_refusal(&Status::from_error(Box::new(broken()))));
        assert!(!is_refusal(&Status::unavailable("gone")));
        let mut caused = Status::internal("a stream was reset");
        caused.set_source(Arc::new(broken()));
        assert!(!is_refusal(&caused));
    }
}
