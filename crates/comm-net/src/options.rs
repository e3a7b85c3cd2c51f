//! Settings of a hub.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Refusal;

/// Who is told of connections that were refused.
pub type Report = Arc<dyn Fn(SocketAddr, &Refusal) + Send + Sync>;

/// Settings of a hub.
#[derive(Clone)]
#[non_exhaustive]
pub struct HubOptions {
    /// How long a dialler may take to greet.
    pub greeting: Duration,
    /// How many diallers that have not greeted yet are kept; one more, and the oldest has to go.
    pub ungreeted_max: usize,
    /// How long a rank waits for the others to come, unless the deadline of its world is shorter.
    pub join: Duration,
    /// How long a rank that is waited for may be silent before it is taken for lost.
    pub silence: Duration,
    /// Who is told of connections that were refused.
    pub report: Option<Report>,
}

impl Default for HubOptions {
    /// Five seconds to greet, 64 that have not, thirty seconds to come, ten of silence.
    fn default() -> Self {
        Self {
            greeting: Duration::from_secs(5),
            ungreeted_max: 64,
            join: Duration::from_secs(30),
            silence: Duration::from_secs(10),
            report: None,
        }
    }
}

impl HubOptions {
    /// These options with another time to greet.
    #[must_use]
    pub fn with_greeting(self, greeting: Duration) -> Self {
        Self { greeting, ..self }
    }

    /// These options with another number of diallers that have not greeted; at least one.
    #[must_use]
    pub fn with_ungreeted_max(self, ungreeted_max: usize) -> Self {
        Self { ungreeted_max: ungreeted_max.max(1), ..self }
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

    /// These options with somebody who is told of connections that were refused.
    #[must_use]
    pub fn with_report(
        self,
        report: impl Fn(SocketAddr, &Refusal) + Send + Sync + 'static,
    ) -> Self {
        Self { report: Some(Arc::new(report)), ..self }
    }
}

impl fmt::Debug for HubOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("HubOptions")
            .field("greeting", &self.greeting)
            .field("ungreeted_max", &self.ungreeted_max)
            .field("join", &self.join)
            .field("silence", &self.silence)
            .finish_non_exhaustive()
    }
}
