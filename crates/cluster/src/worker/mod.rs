//! A worker: hosts ranks of clients, and does what the coordinator orders.
//!
//! It connects to a coordinator, or listens for one. Orders arrive on one stream and are obeyed in
//! their order by the thread that reads it; ranks and new programs have threads of their own, so
//! heartbeats do not wait for them.

mod data_service;
mod error;
mod hosted_rank;
mod program_cache;
mod quota;
mod rank_thread;
mod sessions;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pantile_comm::Options;
use pantile_comm_net::{Listener, ListenerOptions};
use pantile_engine::{Scheme, limit};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::ClusterError;
use crate::control::coordinator_client::CoordinatorClient;
use crate::control::worker_server::{Worker as Service, WorkerServer};
use crate::driver;
use crate::guard::{Guard, caller};
use crate::refusals::{Refusals, Tell};
use crate::wire::{
    MESSAGE_MAX, OrderKind, Registration, ReportKind, VERSION, WorkerOrder, WorkerReport,
};
pub(crate) use error::PutError;
pub(crate) use quota::MemoryShortage;
use sessions::Sessions;

/// Between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// How long the ranks of a client may take to reach each other: all workers listen already.
const JOIN: Duration = Duration::from_secs(5);

/// Between two polls whether a client's orders have their turn.
const PAUSE: Duration = Duration::from_millis(1);

/// Reports that wait to be sent.
const QUEUE: usize = 1024;

/// What a worker is like.
#[derive(Clone)]
#[non_exhaustive]
pub struct WorkerOptions {
    /// Its name; made of its address if empty.
    pub name: String,
    /// Where it listens for elements: `HOST:PORT`, port 0 for any.
    pub data_address: String,
    /// Ranks of each client that it likes to host.
    pub ranks: u32,
    /// Bytes of memory that all clients together may use. If zero: what is free within the limits
    /// of this process, divided among the workers of the coordinator that draw from the same.
    pub memory: u64,
    /// How it protects itself.
    pub guard: Guard,
    /// How long ranks wait for each other.
    pub options: Options,
    /// How the threads of a rank cut the loops that they share.
    pub scheme: Scheme,
    /// What is called with a line for each refusal, at most ten a minute.
    pub tell: Option<Tell>,
}

impl fmt::Debug for WorkerOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("WorkerOptions")
            .field("name", &self.name)
            .field("data_address", &self.data_address)
            .field("ranks", &self.ranks)
            .field("memory", &self.memory)
            .field("guard", &self.guard)
            .finish_non_exhaustive()
    }
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            data_address: "127.0.0.1:0".to_owned(),
            ranks: 1,
            memory: 0,
            guard: Guard::default(),
            options: Options::default(),
            scheme: Scheme::default(),
            tell: None,
        }
    }
}

/// A worker that is ready to be given orders.
pub struct Worker {
    data_listener: Arc<Listener>,
    sessions: Arc<Sessions>,
    registration: Registration,
    guard: Guard,
    refusals: Arc<Refusals>,
}

impl Worker {
    /// Listens for elements.
    ///
    /// # Errors
    /// The address cannot be listened at, or is not protected.
    pub fn new(options: &WorkerOptions) -> Result<Self, ClusterError> {
        let security = options.guard.security().clone();
        let refusals = Refusals::new(options.tell.clone());
        let noted = Arc::clone(&refusals);
        let settings = ListenerOptions::default()
            .with_join(JOIN)
            .with_report(move |address, refusal| noted.note(&address, refusal));
        let data_listener = Listener::listen(&options.data_address, security, settings)?;
        let limit = limit::narrowest(limit::limits(), &limit::Shares::default());
        let (free, scope) = limit.map_or((1 << 40, None), |limit| (limit.left, limit.scope));
        let stated = options.memory > 0;
        let memory = if stated { options.memory } else { free };
        let sessions = Sessions::new(
            Arc::clone(&data_listener),
            (options.options.clone(), options.scheme),
            memory,
            Arc::clone(&refusals),
        );
        data_service::open(&data_listener, &sessions);
        let registration = Registration {
            version: VERSION,
            name: options.name.clone(),
            data_address: reachable(&options.data_address, data_listener.address()),
            memory,
            ranks: options.ranks.max(1),
            scope: scope.unwrap_or(0),
            stated,
        };
        Ok(Self { data_listener, sessions, registration, guard: options.guard.clone(), refusals })
    }

    /// Where it listens for elements.
    #[must_use]
    pub fn data_address(&self) -> SocketAddr {
        self.data_listener.address()
    }

    /// Serves a coordinator until that is gone. Everything that clients have here is freed then.
    ///
    /// # Errors
    /// It cannot be reached, or refuses this worker.
    pub fn serve(&self, coordinator: &str) -> Result<(), ClusterError> {
        let runtime = driver::runtime()?;
        let served = runtime.block_on(self.connect(coordinator));
        self.sessions.end();
        served
    }

    async fn connect(&self, coordinator: &str) -> Result<(), ClusterError> {
        let channel = self.guard.channel(coordinator).await?;
        let mut client = CoordinatorClient::with_interceptor(channel, self.guard.token())
            .max_decoding_message_size(MESSAGE_MAX);
        let (reports, outgoing) = mpsc::channel(QUEUE);
        let registration =
            WorkerReport { kind: Some(ReportKind::Register(self.registration.clone())) };
        // The queue is empty.
        let _ = reports.try_send(registration);
        let response = client.work(ReceiverStream::new(outgoing)).await;
        let unanswered = |status: Status| self.guard.unanswered(coordinator, &status);
        let orders = response.map_err(unanswered)?.into_inner();
        self.follow(orders, reports).await.map_err(|status| end_reason(coordinator, &status))
    }

    /// Does what a stream of orders says, until it ends.
    async fn follow(
        &self,
        mut orders: Streaming<WorkerOrder>,
        reports: mpsc::Sender<WorkerReport>,
    ) -> Result<(), Status> {
        let heartbeat = heartbeats(Arc::clone(&self.sessions), reports.clone());
        let ended = loop {
            match orders.message().await {
                Ok(Some(WorkerOrder { kind: Some(kind) })) => self.obey(kind, &reports).await,
                Ok(Some(WorkerOrder { kind: None })) => {}
                Ok(None) => break Ok(()),
                Err(status) => break Err(status),
            }
        };
        heartbeat.abort();
        self.sessions.end();
        ended
    }

    /// Does what is ordered, when it is its turn.
    async fn obey(&self, mut kind: OrderKind, reports: &mpsc::Sender<WorkerReport>) {
        let answers = loop {
            match self.sessions.execute_order(kind, reports) {
                Ok(answers) => break answers,
                Err(early) => kind = *early,
            }
            tokio::time::sleep(PAUSE).await;
        };
        for report in answers {
            // A coordinator that does not listen any more does not need the reports.
            let _ = reports.send(report).await;
        }
    }

    /// Listens for a coordinator at `HOST:PORT` and serves it, and the next one after that, until
    /// `stop` says so; tells where it listens first.
    ///
    /// # Errors
    /// The address cannot be listened at, or is not protected.
    pub fn listen(
        self,
        address: &str,
        stop: Arc<AtomicBool>,
        listening: impl FnOnce(SocketAddr),
    ) -> Result<(), ClusterError> {
        let runtime = driver::runtime()?;
        runtime.block_on(async move {
            let (listener, place) = crate::bind(address, &self.guard).await?;
            listening(place);
            let mut server = self.guard.server();
            let token_check = self.guard.token_check(&self.refusals);
            let incoming = crate::incoming(listener, &self.guard, &self.refusals);
            let service =
                WorkerServer::new(Listed(Arc::new(self))).max_decoding_message_size(MESSAGE_MAX);
            let service =
                tonic::service::interceptor::InterceptedService::new(service, token_check);
            let served = server
                .add_service(service)
                .serve_with_incoming_shutdown(incoming, crate::stopped(stop));
            served.await.map_err(|error| ClusterError::Listen {
                address: place.to_string(),
                reason: error.to_string(),
            })
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.sessions.end();
        self.data_listener.close();
    }
}

/// The address that others connect to: the name that was given, for which there is a certificate,
/// and the port that it became.
fn reachable(asked: &str, bound: SocketAddr) -> String {
    let host = asked.rsplit_once(':').map_or("", |(host, _)| host);
    match host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        Err(_) if !host.is_empty() => format!("{host}:{}", bound.port()),
        _ => bound.to_string(),
    }
}

/// Why a coordinator gives no more orders: it refuses this worker, or it is gone.
fn end_reason(coordinator: &str, status: &Status) -> ClusterError {
    let reason = status.message().to_owned();
    match status.code() {
        Code::Unauthenticated | Code::FailedPrecondition => ClusterError::Refused { reason },
        _ => ClusterError::Lost { address: coordinator.to_owned(), reason },
    }
}

/// Heartbeats, until they are aborted.
fn heartbeats(
    sessions: Arc<Sessions>,
    reports: mpsc::Sender<WorkerReport>,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        while reports.send(sessions.heartbeat()).await.is_ok() {
            tokio::time::sleep(HEARTBEAT_INTERVAL).await;
        }
    })
}

/// A worker that a coordinator connects to.
struct Listed(Arc<Worker>);

#[tonic::async_trait]
impl Service for Listed {
    type AttachStream = ReceiverStream<Result<WorkerReport, Status>>;

    async fn attach(
        &self,
        request: Request<Streaming<WorkerOrder>>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        let (reports, mut queued) = mpsc::channel(QUEUE);
        let (out, outgoing) = mpsc::channel(QUEUE);
        let registration =
            WorkerReport { kind: Some(ReportKind::Register(self.0.registration.clone())) };
        // The queue is empty.
        let _ = reports.try_send(registration);
        tokio::spawn(async move {
            while let Some(report) = queued.recv().await {
                if out.send(Ok(report)).await.is_err() {
                    return;
                }
            }
        });
        let (worker, from) = (Arc::clone(&self.0), caller(&request));
        tokio::spawn(async move {
            if let Err(status) = worker.follow(request.into_inner(), reports).await
                && crate::is_refusal(&status)
            {
                worker.refusals.note(&from, &status.message());
            }
        });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_known_by_the_name_that_was_given() {
        let check = |asked: &str, bound: &str, expected: &str| {
            assert_eq!(reachable(asked, bound.parse().unwrap()), expected);
        };
        check("127.0.0.1:0", "127.0.0.1:7", "127.0.0.1:7");
        check("[::1]:0", "[::1]:7", "[::1]:7");
        check("node-3:0", "10.0.0.3:7", "node-3:7");
    }

    #[test]
    fn a_worker_that_is_refused_does_not_try_again() {
        let refused = end_reason("here", &Status::unauthenticated("no"));
        assert!(matches!(refused, ClusterError::Refused { .. }), "{refused}");
        let lost = end_reason("here", &Status::unavailable("broken pipe"));
        assert!(matches!(lost, ClusterError::Lost { .. }), "{lost}");
        assert_eq!(lost.to_string(), "the coordinator at here is gone: broken pipe");
    }
}
