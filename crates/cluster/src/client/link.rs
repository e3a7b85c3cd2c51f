//! A client's stream of questions and answers.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use crate::ClusterError;
use crate::control::coordinator_client::CoordinatorClient;
use crate::guard::Guard;
use crate::wire::{Answer, Ask, Fault, MESSAGE_MAX, answer, ask};

/// Questions that wait to be sent.
const QUEUE: usize = 64;

/// A stream of questions and answers; used from ordinary threads.
pub(super) struct Link {
    asks: mpsc::Sender<Ask>,
    answers: Receiver<Result<answer::What, Fault>>,
    /// Why nothing comes any more.
    over: Option<Fault>,
    /// Runs the stream; the last to go.
    _runtime: Runtime,
}

impl Link {
    /// Reaches a coordinator.
    pub(super) fn connect(address: &str, guard: &Guard) -> Result<Self, ClusterError> {
        let runtime = crate::runtime(1)?;
        let (asks, outgoing) = mpsc::channel(QUEUE);
        let (hear, answers) = channel();
        let started = runtime.block_on(async {
            let channel = guard.channel(address).await?;
            let mut client = CoordinatorClient::with_interceptor(channel, guard.token())
                .max_decoding_message_size(MESSAGE_MAX);
            let response = client.session(ReceiverStream::new(outgoing)).await;
            let unanswered = |status: Status| guard.unanswered(address, &status);
            Ok::<_, ClusterError>(response.map_err(unanswered)?.into_inner())
        });
        let mut stream = started?;
        runtime.spawn(async move {
            let lost = loop {
                match stream.message().await {
                    Ok(Some(Answer { what: Some(what) })) => {
                        if hear.send(Ok(what)).is_err() {
                            return;
                        }
                    }
                    Ok(Some(Answer { what: None })) => {}
                    Ok(None) => break "it has closed the connection".to_owned(),
                    Err(status) => break format!("the connection broke: {}", status.message()),
                }
            };
            let _ = hear.send(Err(Fault::lost("coordinator", lost)));
        });
        Ok(Self { asks, answers, over: None, _runtime: runtime })
    }

    /// Asks something.
    pub(super) fn ask(&mut self, what: ask::What) -> Result<(), Fault> {
        if let Some(over) = &self.over {
            return Err(over.clone());
        }
        // Who does not listen any more says so on the other stream.
        let _ = self.asks.blocking_send(Ask { what: Some(what) });
        Ok(())
    }

    /// The next answer; nothing if none comes in this time.
    pub(super) fn hear(&mut self, time: Duration) -> Option<Result<answer::What, Fault>> {
        if let Some(over) = &self.over {
            return Some(Err(over.clone()));
        }
        let heard = match self.answers.recv_timeout(time) {
            Ok(Ok(answer::What::Over(fault)) | Err(fault)) => Err(fault),
            Ok(Ok(what)) => Ok(what),
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => {
                Err(Fault::lost("coordinator", "the connection is over"))
            }
        };
        if let Err(fault) = &heard {
            self.over = Some(fault.clone());
        }
        Some(heard)
    }

    /// The first answer that is wanted; others are none of the caller's business.
    pub(super) fn hear_if<T>(
        &mut self,
        time: Duration,
        mut wanted: impl FnMut(answer::What) -> Option<T>,
    ) -> Result<T, Fault> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.hear(left) {
                None => {
                    let text = format!("no answer within {} s", time.as_secs());
                    return Err(Fault::lost("coordinator", text));
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
