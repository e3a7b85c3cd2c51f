//! A client's stream of questions and answers.

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
use crate::wire::{Answer, Ask, Fault, MESSAGE_MAX, answer, ask};

/// Questions that wait to be sent.
const QUEUE: usize = 64;

/// So often the tasks that send a question get their turn before the asker goes on: one takes it from
/// the queue, another writes it.
const FLUSH: usize = 2;

/// A stream of questions and answers; used from ordinary threads.
pub(super) struct Link {
    asks: mpsc::Sender<Ask>,
    answers: Streaming<Answer>,
    /// When the next answer is late.
    late: Option<Pin<Box<Sleep>>>,
    /// Why nothing comes any more.
    pub(super) over: Option<Fault>,
    /// Runs the streams; the last to go.
    driver: Driver,
}

impl Link {
    /// Reaches a coordinator.
    pub(super) fn connect(address: &str, guard: &Guard) -> Result<Self, ClusterError> {
        let driver = Driver::start()?;
        let (asks, outgoing) = mpsc::channel(QUEUE);
        let started = driver.run(async {
            let channel = guard.channel(address).await?;
            let mut client = CoordinatorClient::with_interceptor(channel, guard.token())
                .max_decoding_message_size(MESSAGE_MAX);
            let response = client.session(ReceiverStream::new(outgoing)).await;
            let unanswered = |status: Status| guard.unanswered(address, &status);
            Ok::<_, ClusterError>(response.map_err(unanswered)?.into_inner())
        });
        Ok(Self { asks, answers: started?, late: None, over: None, driver })
    }

    /// Asks something.
    pub(super) fn ask(&mut self, what: ask::What) -> Result<(), Fault> {
        if let Some(over) = &self.over {
            return Err(over.clone());
        }
        self.driver.run(async {
            // Who does not listen any more says so on the other stream.
            let _ = self.asks.send(Ask { what: Some(what) }).await;
            // The question should be on its way even if nobody waits for the answer now.
            for _ in 0..FLUSH {
                tokio::task::yield_now().await;
            }
        });
        Ok(())
    }

    /// The next answer; nothing if none comes in this time.
    pub(super) fn hear(&mut self, time: Duration) -> Option<Result<answer::What, Fault>> {
        if let Some(over) = &self.over {
            return Some(Err(over.clone()));
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
        let lost = |text: &str| Err(Fault::lost("coordinator", text));
        let heard = match self.driver.run(next) {
            Err(_) | Ok(Ok(Some(Answer { what: None }))) => return None,
            Ok(Ok(Some(Answer { what: Some(answer::What::Over(fault)) }))) => Err(fault),
            Ok(Ok(Some(Answer { what: Some(what) }))) => Ok(what),
            Ok(Ok(None)) => lost("it has closed the connection"),
            Ok(Err(status)) => lost(&format!("the connection broke: {}", status.message())),
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
