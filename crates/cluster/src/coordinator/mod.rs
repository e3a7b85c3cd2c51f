//! The coordinator: who is there, whose world is where, who is told what. Elements never pass it.

mod credit;
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
use crate::wire::{Answer, Ask, MESSAGE_MAX, Order, Say};
use credit::Credit;
use state::{Event, State};

/// Events that wait, and messages to a client that wait to be sent.
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
    /// Workers that it dials, beside those that come by themselves.
    pub workers: Vec<String>,
    /// How it protects itself.
    pub guard: Guard,
    /// Who is told of those that were refused, at most ten lines a minute.
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
        driver.leave();
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
    let desk = Desk { events, next, refusals: Arc::clone(&refusals) };
    for worker in &options.workers {
        tokio::spawn(attach(worker.clone(), options.guard.clone(), desk.clone()));
    }
    let mut server = options.guard.server();
    let service = CoordinatorServer::new(desk).max_decoding_message_size(MESSAGE_MAX);
    let service = InterceptedService::new(service, options.guard.gate(&refusals));
    let incoming = crate::incoming(listener, &options.guard, &refusals);
    let served = tokio::spawn(async move {
        let until = crate::stopped(stop);
        let served = server.add_service(service).serve_with_incoming_shutdown(incoming, until);
        // Nobody is left to be told.
        let _ = served.await;
    });
    Ok((served, address))
}

/// Starts the task that handles events, one after the other.
fn watch(refusals: Arc<Refusals>) -> mpsc::Sender<Event> {
    let (events, mut happened) = mpsc::channel(QUEUE);
    let ticks = events.clone();
    tokio::spawn(async move {
        while ticks.send(Event::Tick(Instant::now())).await.is_ok() {
            tokio::time::sleep(TICK).await;
        }
    });
    tokio::spawn(async move {
        let mut state = State::new(Instant::now(), refusals);
        while let Some(event) = happened.recv().await {
            state.handle(event);
        }
    });
    events
}

/// Where workers and clients come.
#[derive(Clone)]
struct Desk {
    events: mpsc::Sender<Event>,
    next: Arc<AtomicU64>,
    refusals: Arc<Refusals>,
}

impl Desk {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes messages that were not taken; connections may break for other reasons, too.
    fn look_at(&self, from: &str, status: &Status) {
        if crate::is_refusal(status) {
            self.refusals.note(&from, &status.message());
        }
    }

    /// Passes on what a worker says until it is gone.
    async fn hear(&self, id: u64, from: &str, mut says: Streaming<Say>) {
        let reason = loop {
            match says.message().await {
                Ok(Some(say)) => {
                    if self.events.send(Event::WorkerSaid(id, say)).await.is_err() {
                        return;
                    }
                }
                Ok(None) => break "it has left".to_owned(),
                Err(status) => {
                    self.look_at(from, &status);
                    break format!("its connection broke: {}", status.message());
                }
            }
        };
        let _ = self.events.send(Event::WorkerGone(id, reason)).await;
    }
}

/// Dials a worker that is listed, again and again.
async fn attach(address: String, guard: Guard, desk: Desk) {
    loop {
        if let Ok(channel) = guard.channel(&address).await {
            let (out, outgoing) = mpsc::channel::<Result<Order, Status>>(ORDERS);
            let orders =
                tokio_stream::StreamExt::map_while(ReceiverStream::new(outgoing), Result::ok);
            let mut client = WorkerClient::with_interceptor(channel, guard.token())
                .max_decoding_message_size(MESSAGE_MAX);
            if let Ok(says) = client.attach(orders).await {
                let id = desk.number();
                let _ = desk.events.send(Event::WorkerCame(id, out)).await;
                desk.hear(id, &address, says.into_inner()).await;
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

#[tonic::async_trait]
impl Service for Desk {
    type WorkStream = ReceiverStream<Result<Order, Status>>;
    type SessionStream = ReceiverStream<Result<Answer, Status>>;

    async fn work(
        &self,
        request: Request<Streaming<Say>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let (out, outgoing) = mpsc::channel(ORDERS);
        let (id, desk, from) = (self.number(), self.clone(), caller(&request));
        let _ = self.events.send(Event::WorkerCame(id, out)).await;
        tokio::spawn(async move { desk.hear(id, &from, request.into_inner()).await });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }

    async fn session(
        &self,
        request: Request<Streaming<Ask>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let (out, outgoing) = mpsc::channel(QUEUE);
        let (id, desk, from) = (self.number(), self.clone(), caller(&request));
        let credit = Credit::new();
        let came = Event::ClientCame(id, from.clone(), (out, credit.clone()));
        let _ = self.events.send(came).await;
        tokio::spawn(async move {
            let mut asks = request.into_inner();
            loop {
                match asks.message().await {
                    Ok(Some(ask)) => {
                        credit.spend(&ask).await;
                        if desk.events.send(Event::ClientAsked(id, ask)).await.is_err() {
                            return;
                        }
                    }
                    Ok(None) => break,
                    Err(status) => {
                        desk.look_at(&from, &status);
                        break;
                    }
                }
            }
            let _ = desk.events.send(Event::ClientGone(id)).await;
        });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }
}
