//! The coordinator: it knows the workers, the clients and the hosts of their ranks. Elements never
//! pass it.

mod credit;
mod placement;
mod shares;
mod state;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::service::interceptor::InterceptedService;
use tonic::{Request, Response, Status, Streaming};

use crate::ClusterError;
use crate::control::coordinator_server::{Coordinator as Service, CoordinatorServer};
use crate::control::worker_client::WorkerClient;
use crate::driver::Driver;
use crate::guard::{Guard, caller};
use crate::refusals::{Refusals, Tell};
use crate::wire::{ClientReply, ClientRequest, MESSAGE_MAX, WorkerOrder, WorkerReport};
use credit::RequestCredit;
use state::{CoordinatorEvent, CoordinatorState};

/// Events that wait, and replies to a client that wait to be sent.
const QUEUE: usize = 1024;

/// Orders for one worker that wait to be sent; one that lets more wait is lost. Many times what one
/// client may have under way.
const ORDERS: usize = 1 << 16;

/// How often silence is looked for.
const TICK: Duration = Duration::from_millis(500);

/// Between two tries to reach a worker that is listed.
const AGAIN: Duration = Duration::from_secs(1);

/// What a coordinator is like.
#[derive(Clone)]
#[non_exhaustive]
pub struct CoordinatorOptions {
    /// Where it listens: `HOST:PORT`, port 0 for any.
    pub address: String,
    /// Workers that it connects to, beside those that connect to it.
    pub workers: Vec<String>,
    /// How it protects itself.
    pub guard: Guard,
    /// What is called with a line for each refusal, at most ten a minute.
    pub tell: Option<Tell>,
}

impl fmt::Debug for CoordinatorOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CoordinatorOptions")
            .field("address", &self.address)
            .field("workers", &self.workers)
            .field("guard", &self.guard)
            .finish_non_exhaustive()
    }
}

impl Default for CoordinatorOptions {
    fn default() -> Self {
        let address = "127.0.0.1:7420".to_owned();
        Self { address, workers: Vec::new(), guard: Guard::default(), tell: None }
    }
}

/// A coordinator that runs until it is dropped.
pub struct Coordinator {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    served: tokio::task::JoinHandle<()>,
    /// Runs everything; the last to go.
    _driver: Driver,
}

impl Coordinator {
    /// Starts one in the background.
    ///
    /// # Errors
    /// The address cannot be listened at, or is not protected.
    pub fn start(options: &CoordinatorOptions) -> Result<Self, ClusterError> {
        let driver = Driver::start()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (served, address) = driver.run(serve(options, Arc::clone(&stop)))?;
        driver.leave_to_poller();
        Ok(Self { address, stop, served, _driver: driver })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// True as long as it listens.
    #[must_use]
    pub fn is_up(&self) -> bool {
        !self.served.is_finished()
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Listens, and serves in the background until it is stopped.
async fn serve(
    options: &CoordinatorOptions,
    stop: Arc<AtomicBool>,
) -> Result<(tokio::task::JoinHandle<()>, SocketAddr), ClusterError> {
    let (listener, address) = crate::bind(&options.address, &options.guard).await?;
    let refusals = Refusals::new(options.tell.clone());
    let events = watch(Arc::clone(&refusals));
    let next = Arc::new(AtomicU64::new(1));
    let service = CoordinatorService { events, next, refusals: Arc::clone(&refusals) };
    for worker in &options.workers {
        tokio::spawn(attach(worker.clone(), options.guard.clone(), service.clone()));
    }
    let mut server = options.guard.server();
    let service = CoordinatorServer::new(service).max_decoding_message_size(MESSAGE_MAX);
    let service = InterceptedService::new(service, options.guard.token_check(&refusals));
    let incoming = crate::incoming(listener, &options.guard, &refusals);
    let served = tokio::spawn(async move {
        let until = crate::stopped(stop);
        let served = server.add_service(service).serve_with_incoming_shutdown(incoming, until);
        // No caller is left to be told.
        let _ = served.await;
    });
    Ok((served, address))
}

/// Starts the task that handles events, one after the other.
fn watch(refusals: Arc<Refusals>) -> mpsc::Sender<CoordinatorEvent> {
    let (events, mut happened) = mpsc::channel(QUEUE);
    let ticks = events.clone();
    tokio::spawn(async move {
        while ticks.send(CoordinatorEvent::Tick(Instant::now())).await.is_ok() {
            tokio::time::sleep(TICK).await;
        }
    });
    tokio::spawn(async move {
        let mut state = CoordinatorState::new(Instant::now(), refusals);
        while let Some(event) = happened.recv().await {
            state.handle(event);
        }
    });
    events
}

/// The service that workers and clients connect to.
#[derive(Clone)]
struct CoordinatorService {
    events: mpsc::Sender<CoordinatorEvent>,
    next: Arc<AtomicU64>,
    refusals: Arc<Refusals>,
}

impl CoordinatorService {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes messages that were not taken; connections may break for other reasons, too.
    fn note_refusal(&self, from: &str, status: &Status) {
        if crate::is_refusal(status) {
            self.refusals.note(&from, &status.message());
        }
    }

    /// Passes on the reports of a worker until it is gone.
    async fn forward_reports(&self, id: u64, from: &str, mut reports: Streaming<WorkerReport>) {
        let reason = loop {
            match reports.message().await {
                Ok(Some(report)) => {
                    if self.events.send(CoordinatorEvent::WorkerReported(id, report)).await.is_err()
                    {
                        return;
                    }
                }
                Ok(None) => break "it has left".to_owned(),
                Err(status) => {
                    self.note_refusal(from, &status);
                    break format!("its connection broke: {}", status.message());
                }
            }
        };
        let _ = self.events.send(CoordinatorEvent::WorkerGone(id, reason)).await;
    }
}

/// Connects to a worker that is listed, again and again.
async fn attach(address: String, guard: Guard, service: CoordinatorService) {
    loop {
        if let Ok(channel) = guard.channel(&address).await {
            let (out, outgoing) = mpsc::channel::<Result<WorkerOrder, Status>>(ORDERS);
            let orders =
                tokio_stream::StreamExt::map_while(ReceiverStream::new(outgoing), Result::ok);
            let mut client = WorkerClient::with_interceptor(channel, guard.token())
                .max_decoding_message_size(MESSAGE_MAX);
            if let Ok(reports) = client.attach(orders).await {
                let id = service.number();
                let _ = service.events.send(CoordinatorEvent::WorkerConnected(id, out)).await;
                service.forward_reports(id, &address, reports.into_inner()).await;
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

#[tonic::async_trait]
impl Service for CoordinatorService {
    type WorkStream = ReceiverStream<Result<WorkerOrder, Status>>;
    type SessionStream = ReceiverStream<Result<ClientReply, Status>>;

    async fn work(
        &self,
        request: Request<Streaming<WorkerReport>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let (out, outgoing) = mpsc::channel(ORDERS);
        let (id, service, from) = (self.number(), self.clone(), caller(&request));
        let _ = self.events.send(CoordinatorEvent::WorkerConnected(id, out)).await;
        tokio::spawn(async move { service.forward_reports(id, &from, request.into_inner()).await });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }

    async fn session(
        &self,
        request: Request<Streaming<ClientRequest>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let (out, outgoing) = mpsc::channel(QUEUE);
        let (id, service, from) = (self.number(), self.clone(), caller(&request));
        let credit = RequestCredit::new();
        let came = CoordinatorEvent::ClientConnected(id, from.clone(), (out, credit.clone()));
        let _ = self.events.send(came).await;
        tokio::spawn(async move {
            let mut requests = request.into_inner();
            loop {
                match requests.message().await {
                    Ok(Some(ask)) => {
                        credit.spend(&ask).await;
                        if service
                            .events
                            .send(CoordinatorEvent::ClientRequested(id, ask))
                            .await
                            .is_err()
                        {
                            return;
                        }
                    }
                    Ok(None) => break,
                    Err(status) => {
                        service.note_refusal(&from, &status);
                        break;
                    }
                }
            }
            let _ = service.events.send(CoordinatorEvent::ClientGone(id)).await;
        });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }
}
