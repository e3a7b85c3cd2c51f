//! Control messages between ranks, and how the world ends.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pantile_comm::{CommError, Failure, MemoryBlock, MemorySlice, Rank};

use crate::backoff::ExitBackoff;
use crate::control_message::{CONTROL_BYTES, MpiControlMessage};
use crate::raw::{self, Address, Comm, MpiRequest, int};
use crate::records::{RecordUse, RequestRecord};
use crate::world::MpiWorld;

/// The tag of all control messages.
const TAG: i32 = 0;

/// How long one waits for a message of a rank that has left if it may be under way, and how long
/// the last sends of a rank that leaves may take.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_millis(500);

/// How long a rank of a failed world waits for the others to leave before it ends.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(2);

/// What is known about a peer.
#[derive(Default)]
pub(crate) struct PeerCounts {
    /// Messages sent to it, and taken from it.
    pub(crate) sent: u64,
    pub(crate) taken: u64,
    /// How many messages it said to have sent here when it left.
    farewell: Option<u64>,
    /// It has left a failed world: it has printed what it has to say.
    failed: bool,
}

/// Whether anything can come from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerPresence {
    /// It is there.
    There,
    /// It has left, but not everything that it sent has been taken.
    Leaving,
    /// It has left, and everything that it sent has been taken.
    Gone,
}

impl PeerCounts {
    /// Whether a message of it, or to it, can still be under way.
    ///
    /// Farewells and messages travel on different communicators and may overtake each other, so a
    /// farewell alone proves nothing: what counts is how much was sent and how much was taken.
    pub(crate) fn presence(&self) -> PeerPresence {
        match self.farewell {
            None => PeerPresence::There,
            Some(sent) if self.taken >= sent => PeerPresence::Gone,
            Some(_) => PeerPresence::Leaving,
        }
    }
}

/// The communicator of control messages, and those that are on their way.
pub(crate) struct Control {
    comm: Comm,
    inbox: MemorySlice,
    outgoing: Vec<(MpiRequest, MemorySlice)>,
    /// True if this rank has told all others that the world ended.
    abort_sent: bool,
}

impl Control {
    pub(crate) fn new(comm: Comm) -> Self {
        let inbox = MemoryBlock::zeroed(CONTROL_BYTES).whole();
        Self { comm, inbox, outgoing: Vec::new(), abort_sent: false }
    }

    /// Sends a control message; one that cannot be sent is left to the peer's deadline.
    fn send(&mut self, to: Rank, message: &MemorySlice) {
        let address = Address { rank: int(to), tag: TAG };
        if let Ok(request) = self.comm.send(message, 0..message.len(), address) {
            self.outgoing.push((request, message.clone()));
        }
    }

    /// True if all control messages have left.
    fn are_sent(&mut self) -> bool {
        self.outgoing.iter_mut().all(|(request, _)| request.is_sent().unwrap_or(true))
    }
}

impl MpiWorld {
    /// Takes all control messages that have arrived.
    pub(crate) fn poll_control(&mut self) -> Result<(), CommError> {
        loop {
            let arrived = self.control.comm.arrived(TAG);
            let arrived =
                arrived.map_err(|fault| self.backend("control messages to", self.rank, fault))?;
            let Some(from) = arrived else { return Ok(()) };
            let peer = usize::try_from(from).unwrap_or(usize::MAX);
            let address = Address { rank: from, tag: TAG };
            let got = self.control.comm.receive_now(&self.control.inbox, address);
            let got = got.map_err(|fault| self.backend("a control message from", peer, fault))?;
            if let Some(message) =
                MpiControlMessage::decode(raw::bytes(&self.control.inbox, 0..got))
            {
                self.handle_control(peer, message);
            }
        }
    }

    fn handle_control(&mut self, peer: Rank, message: MpiControlMessage) {
        if let Some(sent) = message.farewell {
            self.peers[peer].farewell = Some(sent);
            self.peers[peer].failed |= message.failure.is_some();
        }
        if let Some(failure) = message.failure {
            self.failure.get_or_insert_with(|| Arc::new(failure));
        }
    }

    fn others(&self) -> impl Iterator<Item = Rank> + use<> {
        let rank = self.rank;
        (0..self.size()).filter(move |peer| *peer != rank)
    }

    /// Ends the world for every rank, unless it has ended before.
    pub(crate) fn abort(&mut self, failure: Failure) {
        // An earlier failure counts more; if even listening fails, ours is the one.
        let _ = self.poll_control();
        let failure = self.failure.get_or_insert_with(|| Arc::new(failure));
        if self.control.abort_sent {
            return;
        }
        let message = MpiControlMessage { farewell: None, failure: Some((**failure).clone()) };
        let message = MemorySlice::copied_from(&message.encode());
        self.control.abort_sent = true;
        for peer in self.others() {
            self.control.send(peer, &message);
        }
    }

    /// Leaves the world: together with all others if it is well; otherwise the process ends here.
    /// `reported` says that the program knows of the failure.
    pub(crate) fn leave(mut self, reported: bool) {
        let mut reported = reported && self.failure.is_some();
        flush();
        if self.failure.is_none() {
            self.send_farewells();
            self.receive_farewells(reported);
        }
        if let Some(failure) = self.failure.clone() {
            // The launcher ends all others when the first of them fails: each waits until all have
            // printed, and those who said farewell to a world that was well say it again.
            if !reported {
                print_line(&CommError::Failed { rank: self.rank, failure }.to_string());
                reported = true;
            }
            self.send_farewells();
            self.receive_farewells(reported);
            exit_failed("");
        }
        let left = self.settle();
        if left > 0 {
            exit_failed(&format!(
                "rank {}: {left} messages were sent that nobody received",
                self.rank
            ));
        }
        let Self { universe, data, control, .. } = self;
        // Whatever is wrong with them ends with MPI itself.
        let _ = (data.free(), control.comm.free());
        drop(universe);
    }

    fn send_farewells(&mut self) {
        let failure = self.failure.as_deref().cloned();
        for peer in self.others() {
            let message = MpiControlMessage {
                farewell: Some(self.peers[peer].sent),
                failure: failure.clone(),
            };
            self.control.send(peer, &MemorySlice::copied_from(&message.encode()));
        }
    }

    /// Waits until all others have said farewell, those of a failed world after they printed: until
    /// the deadline while the world is well, and for a short time when it is not. If it fails
    /// meanwhile, that has to be reported first.
    fn receive_farewells(&mut self, reported: bool) {
        let (started, mut failed, mut backoff) = (Instant::now(), None, ExitBackoff::default());
        loop {
            if let Err(error) = self.poll_control() {
                self.abort(error.to_failure(self.rank, None));
            }
            if self.failure.is_some() && !reported {
                return;
            }
            let has_left = |peer: &PeerCounts| peer.failed || !reported && peer.farewell.is_some();
            let missing = self.others().find(|peer| !has_left(&self.peers[*peer]));
            if missing.is_none() && self.control.are_sent() {
                return;
            }
            if self.failure.is_some() {
                let failed: &mut Instant = failed.get_or_insert_with(Instant::now);
                if failed.elapsed() >= FAREWELL_TIMEOUT {
                    return;
                }
            } else if started.elapsed() >= self.deadline {
                let (culprit, waited) = (missing.unwrap_or(self.rank), started.elapsed());
                let reason =
                    format!("rank {} left, and waited {waited:?} for it to leave", self.rank);
                self.abort(Failure { culprit, call: None, reason });
            }
            backoff.pause();
        }
    }

    /// Ends the requests that no call waits for any more: how many sends have not ended.
    fn settle(&mut self) -> usize {
        let (started, mut backoff) = (Instant::now(), ExitBackoff::default());
        let unsent = |record: &mut RequestRecord| {
            let mut parts = record.parts.iter_mut().map(|part| &mut part.request);
            let envelope = record.envelope.is_sent().unwrap_or(false);
            record.used == RecordUse::Send
                && !(envelope && parts.all(|part| part.is_sent().unwrap_or(false)))
        };
        for record in self.records.in_use().filter(|record| record.used != RecordUse::Send) {
            // A receive that cannot be taken back keeps its memory: records live to the end.
            let _ = record.envelope.cancel();
            for part in &mut record.parts {
                let _ = part.request.cancel();
            }
        }
        loop {
            let left = self.records.in_use().map(unsent).filter(|unsent| *unsent).count();
            if left == 0 || started.elapsed() >= GRACE_PERIOD {
                return left;
            }
            backoff.pause();
        }
    }
}

/// Flushes what was printed before the launcher can end this process.
fn flush() {
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().flush();
}

/// Prints a line with one write, because other ranks print as well.
pub(crate) fn print_line(words: &str) {
    if !words.is_empty() {
        let _ = std::io::stderr().write_all(format!("{words}\n").as_bytes());
    }
}

/// Ends the process as one of a failed world, without waiting for messages that never come.
pub(crate) fn exit_failed(words: &str) -> ! {
    print_line(words);
    flush();
    std::process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_gone_when_everything_it_sent_is_here() {
        let mut peer = PeerCounts { taken: 2, ..PeerCounts::default() };
        assert_eq!(peer.presence(), PeerPresence::There);
        peer.farewell = Some(3);
        assert_eq!(peer.presence(), PeerPresence::Leaving, "one message is still under way");
        peer.taken = 3;
        assert_eq!(peer.presence(), PeerPresence::Gone);
    }
}
