//! How much a client may ask for before workers have taken it.
//!
//! Workers take orders of all clients from one queue each. Without a bound a client that asks
//! faster than it is served would fill the queues, and workers that take no more orders are lost to
//! all clients.

use std::sync::Arc;

use prost::Message;
use tokio::sync::Semaphore;

use crate::wire::ClientRequest;

/// About so many KiB may be under way for a client; more waits at its own connection.
pub(super) const WINDOW: u32 = 32 << 10;

/// What the smallest request costs, in KiB: it becomes a task of every rank.
const LEAST: u32 = 64;

/// What a request costs; none costs more than there is.
pub(super) fn cost(ask: &ClientRequest) -> u32 {
    let kibibytes = u32::try_from(ask.encoded_len() >> 10).unwrap_or(u32::MAX);
    kibibytes.saturating_add(LEAST).min(WINDOW)
}

/// What a client may still ask for.
#[derive(Clone)]
pub(super) struct RequestCredit(Arc<Semaphore>);

impl RequestCredit {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(WINDOW as usize)))
    }

    /// Waits until there is credit for a request, and spends it.
    pub(super) async fn spend(&self, ask: &ClientRequest) {
        // It is never closed.
        if let Ok(permits) = self.0.acquire_many(cost(ask)).await {
            permits.forget();
        }
    }

    /// Workers have taken as much.
    pub(super) fn give_back(&self, cost: u64) {
        self.0.add_permits(usize::try_from(cost).unwrap_or(0));
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.0.available_permits()
    }
}
