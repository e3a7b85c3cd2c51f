//! A client's stream of requests and replies.

use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::Sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::ClusterError;
use crate::control::coordinator_client::CoordinatorClient;
use crate::driver::Driver;
use crate::guard::Guard;
use crate::wire::{ClientReply, ClientRequest, MESSAGE_MAX, ReplyKind, RequestKind, WireFault};

/// Requests that wait to be sent.
const QUEUE: usize = 64;

/// So often the tasks that send a question get their turn before the asker goes on: one takes it
/// from the queue, another writes it.
const FLUSH: usize = 2;

/// A stream of requests and replies; used from ordinary threads.
pub(super) struct RequestStream {
    requests: mpsc::Sender<ClientRequest>,
    answers: Streaming<ClientReply>,
    /// When the next answer is late.
    late: Option<Pin<Box<Sleep>>>,
    /// Why nothing comes any more.
    pub(super) ended: Option<WireFault>,
    /// Runs the streams; the last to go.
    driver: Driver,
}

impl RequestStream {
    /// Reaches a coordinator.
    pub(super) fn connect(address: &str, guard: &Guard) -> Result<Self, ClusterError> {
        let driver = Driver::start()?;
        let (requests, outgoing) = mpsc::channel(QUEUE);
        let started = driver.run(async {
            let channel = guard.channel(address).await?;
            let mut client = CoordinatorClient::with_interceptor(channel, guard.token())
                .max_decoding_message_size(MESSAGE_MAX);
            let response = client.session(ReceiverStream::new(outgoing)).await;
            let unanswered = |status: Status| guard.unanswered(address, &status);
            Ok::<_, ClusterError>(response.map_err(unanswered)?.into_inner())
        });
        Ok(Self { requests, answers: started?, late: None, ended: None, driver })
    }

    /// Sends a request.
    pub(super) fn request(&mut self, kind: RequestKind) -> Result<(), WireFault> {
        if let Some(ended) = &self.ended {
            return Err(ended.clone());
        }
        self.driver.run(async {
            // A coordinator that does not listen any more says so on the other stream.
            let _ = self.requests.send(ClientRequest { kind: Some(kind) }).await;
            // The request should be on its way even if the caller does not wait for the reply now.
            for _ in 0..FLUSH {
                tokio::task::yield_now().await;
            }
        });
        Ok(())
    }

    /// The next answer; nothing if none comes in this time.
    pub(super) fn receive(&mut self, time: Duration) -> Option<Result<ReplyKind, WireFault>> {
        if let Some(ended) = &self.ended {
            return Some(Err(ended.clone()));
        }
        let late = &mut self.late;
        // A new clock would wake the driver up, and an old one is only put forward.
        let next = async {
            let late = late.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
            late.as_mut().reset(tokio::time::Instant::now() + time);
            tokio::select! {
                biased;
                heard = self.answers.message() => Ok(heard),
                () = late => Err(()),
            }
        };
        let lost = |text: &str| Err(WireFault::lost("coordinator", text));
        let heard = match self.driver.run(next) {
            Err(_) | Ok(Ok(Some(ClientReply { kind: None }))) => return None,
            Ok(Ok(Some(ClientReply { kind: Some(ReplyKind::Over(fault)) }))) => Err(fault),
            Ok(Ok(Some(ClientReply { kind: Some(kind) }))) => Ok(kind),
            Ok(Ok(None)) => lost("it has closed the connection"),
            Ok(Err(status)) => lost(&format!("the connection broke: {}", status.message())),
        };
        if let Err(fault) = &heard {
            self.ended = Some(fault.clone());
        }
        Some(heard)
    }

    /// The first answer that is wanted; others are skipped.
    pub(super) fn receive_if<T>(
        &mut self,
        time: Duration,
        mut wanted: impl FnMut(ReplyKind) -> Option<T>,
    ) -> Result<T, WireFault> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.receive(left) {
                None => {
                    let text = format!("no answer within {} s", time.as_secs());
                    return Err(WireFault::lost("coordinator", text));
                }
                Some(heard) => {
                    if let Some(found) = wanted(heard?) {
                        return Ok(found);
                    }
                }
            }
        }
    }
}
