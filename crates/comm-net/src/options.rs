//! Settings of a listener.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Refusal;

/// What is called for connections that were refused.
pub type RefusalCallback = Arc<dyn Fn(SocketAddr, &Refusal) + Send + Sync>;

/// Settings of a listener.
#[derive(Clone)]
#[non_exhaustive]
pub struct ListenerOptions {
    /// How long the handshake of a connection may take.
    pub handshake: Duration,
    /// How many connections are kept without a handshake; one more, and the oldest is evicted.
    pub pending_max: usize,
    /// How long a rank waits for the others to come, unless the deadline of its world is shorter.
    pub join: Duration,
    /// How long a rank that is waited for may be silent before it is taken for lost.
    pub silence: Duration,
    /// What is called for connections that were refused.
    pub report: Option<RefusalCallback>,
}

impl Default for ListenerOptions {
    /// Five seconds for a handshake, 64 without one, thirty seconds to join, ten of silence.
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(5),
            pending_max: 64,
            join: Duration::from_secs(30),
            silence: Duration::from_secs(10),
            report: None,
        }
    }
}

impl ListenerOptions {
    /// These options with another time for handshakes.
    #[must_use]
    pub fn with_handshake(self, handshake: Duration) -> Self {
        Self { handshake, ..self }
    }

    /// These options with another number of connections without a handshake; at least one.
    #[must_use]
    pub fn with_pending_max(self, pending_max: usize) -> Self {
        Self { pending_max: pending_max.max(1), ..self }
    }

    /// These options with another time to come.
    #[must_use]
    pub fn with_join(self, join: Duration) -> Self {
        Self { join, ..self }
    }

    /// These options with another length of silence.
    #[must_use]
    pub fn with_silence(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// These options with a callback for connections that were refused.
    #[must_use]
    pub fn with_report(
        self,
        report: impl Fn(SocketAddr, &Refusal) + Send + Sync + 'static,
    ) -> Self {
        Self { report: Some(Arc::new(report)), ..self }
    }
}

impl fmt::Debug for ListenerOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("HubOptions")
            .field("handshake", &self.handshake)
            .field("pending_max", &self.pending_max)
            .field("join", &self.join)
            .field("silence", &self.silence)
            .finish_non_exhaustive()
    }
}
