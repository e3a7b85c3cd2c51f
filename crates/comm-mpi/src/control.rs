//! Notices between ranks, and how the world ends.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pantile_comm::{CommError, Failure, Memory, Piece, Rank};

use crate::ffi::{self, Address, Comm, Request, int};
use crate::notice::{NOTICE_BYTES, Notice};
use crate::patience::Pauses;
use crate::records::{Record, Use};
use crate::world::World;

/// The tag of all notices.
const TAG: i32 = 0;

/// How long one waits for a message of a rank that has left if it may be under way, and how long
/// the last sends of a rank that leaves may take.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// How long a rank of a failed world waits for the others to leave before it ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What is known about a peer.
#[derive(Default)]
pub(crate) struct Peer {
    /// Messages sent to it, and taken from it.
    pub(crate) sent: u64,
    pub(crate) taken: u64,
    /// How many messages it said to have sent here when it left.
    farewell: Option<u64>,
}

/// Whether anything can come from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It is there.
    There,
    /// It has left, but not everything that it sent has been taken.
    Doubtful,
    /// It has left, and everything that it sent has been taken.
    Gone,
}

impl Peer {
    /// Whether a message of it, or to it, can still be under way.
    ///
    /// Farewells and messages travel on different communicators and may overtake each other, so a
    /// farewell alone proves nothing: what counts is how much was sent and how much was taken.
    pub(crate) fn presence(&self) -> Presence {
        match self.farewell {
            None => Presence::There,
            Some(sent) if self.taken >= sent => Presence::Gone,
            Some(_) => Presence::Doubtful,
        }
    }
}

/// The communicator of notices, and those that are on their way.
pub(crate) struct Control {
    comm: Comm,
    inbox: Piece,
    outgoing: Vec<(Request, Piece)>,
    /// True if this rank has told all others that the world ended.
    told: bool,
}

impl Control {
    pub(crate) fn new(comm: Comm) -> Self {
        let inbox = Memory::zeroed(NOTICE_BYTES).whole();
        Self { comm, inbox, outgoing: Vec::new(), told: false }
    }

    /// Sends a notice; one that cannot be sent is left to the peer's deadline.
    fn send(&mut self, to: Rank, notice: &Piece) {
        let address = Address { rank: int(to), tag: TAG };
        if let Ok(request) = self.comm.send(notice, 0..notice.len(), address) {
            self.outgoing.push((request, notice.clone()));
        }
    }

    /// True if all notices have left.
    fn are_sent(&mut self) -> bool {
        self.outgoing.iter_mut().all(|(request, _)| request.is_sent().unwrap_or(true))
    }
}

impl World {
    /// Takes all notices that have arrived.
    pub(crate) fn listen(&mut self) -> Result<(), CommError> {
        loop {
            let arrived = self.control.comm.arrived(TAG);
            let arrived = arrived.map_err(|fault| self.backend("notices to", self.rank, fault))?;
            let Some(from) = arrived else { return Ok(()) };
            let peer = usize::try_from(from).unwrap_or(usize::MAX);
            let address = Address { rank: from, tag: TAG };
            let got = self.control.comm.receive_now(&self.control.inbox, address);
            let got = got.map_err(|fault| self.backend("a notice from", peer, fault))?;
            if let Some(notice) = Notice::decode(ffi::bytes(&self.control.inbox, 0..got)) {
                self.take_notice(peer, notice);
            }
        }
    }

    fn take_notice(&mut self, peer: Rank, notice: Notice) {
        if let Some(failure) = notice.failure {
            self.failure.get_or_insert_with(|| Arc::new(failure));
        }
        if let Some(sent) = notice.farewell {
            self.peers[peer].farewell = Some(sent);
        }
    }

    fn others(&self) -> impl Iterator<Item = Rank> + use<> {
        let rank = self.rank;
        (0..self.size()).filter(move |peer| *peer != rank)
    }

    /// Ends the world for every rank, unless it has ended before.
    pub(crate) fn abort(&mut self, failure: Failure) {
        // An earlier failure counts more; if even listening fails, ours is the one.
        let _ = self.listen();
        let failure = self.failure.get_or_insert_with(|| Arc::new(failure));
        if self.control.told {
            return;
        }
        let notice = Notice { farewell: None, failure: Some((**failure).clone()) };
        let notice = Piece::copied_from(&notice.encode());
        self.control.told = true;
        for peer in self.others() {
            self.control.send(peer, &notice);
        }
    }

    /// Leaves the world: together with all others if it is well; otherwise the process ends here.
    /// `reported` says that the program knows of the failure.
    pub(crate) fn leave(mut self, reported: bool) {
        let reported = reported && self.failure.is_some();
        flush();
        self.say_farewell();
        self.hear_farewells();
        match &self.failure {
            Some(failure) if !reported => {
                let failure = Arc::clone(failure);
                end(&CommError::Failed { rank: self.rank, failure }.to_string())
            }
            Some(_) => end(""),
            None => {}
        }
        let left = self.settle();
        if left > 0 {
            end(&format!("rank {}: {left} messages were sent that nobody received", self.rank));
        }
        let Self { universe, data, control, .. } = self;
        // Whatever is wrong with them ends with MPI itself.
        let _ = (data.free(), control.comm.free());
        drop(universe);
    }

    fn say_farewell(&mut self) {
        let failure = self.failure.as_deref().cloned();
        for peer in self.others() {
            let notice = Notice { farewell: Some(self.peers[peer].sent), failure: failure.clone() };
            self.control.send(peer, &Piece::copied_from(&notice.encode()));
        }
    }

    /// Waits until all others have said farewell: until the deadline while the world is well, and
    /// for a short time when it is not.
    fn hear_farewells(&mut self) {
        let (started, mut failed, mut pauses) = (Instant::now(), None, Pauses::default());
        loop {
            if let Err(error) = self.listen() {
                self.abort(error.to_failure(self.rank, None));
            }
            let missing = self.others().find(|peer| self.peers[*peer].farewell.is_none());
            if missing.is_none() && self.control.are_sent() {
                return;
            }
            if self.failure.is_some() {
                let failed: &mut Instant = failed.get_or_insert_with(Instant::now);
                if failed.elapsed() >= LAST_WORDS {
                    return;
                }
            } else if started.elapsed() >= self.deadline {
                let (culprit, waited) = (missing.unwrap_or(self.rank), started.elapsed());
                let reason =
                    format!("rank {} left, and waited {waited:?} for it to leave", self.rank);
                self.abort(Failure { culprit, call: None, reason });
            }
            pauses.pause();
        }
    }

    /// Ends what is under way when nobody waits any more: how many sends have not ended.
    fn settle(&mut self) -> usize {
        let (started, mut pauses) = (Instant::now(), Pauses::default());
        let unsent = |record: &mut Record| {
            let mut parts = record.parts.iter_mut().map(|part| &mut part.request);
            let head = record.head.is_sent().unwrap_or(false);
            record.used == Use::Send && !(head && parts.all(|part| part.is_sent().unwrap_or(false)))
        };
        for record in self.records.in_use().filter(|record| record.used != Use::Send) {
            // A receive that cannot be taken back keeps its memory: records live to the end.
            let _ = record.head.cancel();
            for part in &mut record.parts {
                let _ = part.request.cancel();
            }
        }
        loop {
            let left = self.records.in_use().map(unsent).filter(|unsent| *unsent).count();
            if left == 0 || started.elapsed() >= GRACE {
                return left;
            }
            pauses.pause();
        }
    }
}

/// What was printed comes out before anybody can end this process.
fn flush() {
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().flush();
}

/// Prints a line in one piece, because other ranks print as well.
pub(crate) fn say(words: &str) {
    if !words.is_empty() {
        let _ = std::io::stderr().write_all(format!("{words}\n").as_bytes());
    }
}

/// Ends the process as one of a failed world, without waiting for messages that never come.
pub(crate) fn end(words: &str) -> ! {
    say(words);
    flush();
    std::process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_gone_when_everything_it_sent_is_here() {
        let mut peer = Peer { sent: 0, taken: 2, farewell: None };
        assert_eq!(peer.presence(), Presence::There);
        peer.farewell = Some(3);
        assert_eq!(peer.presence(), Presence::Doubtful, "one message is still under way");
        peer.taken = 3;
        assert_eq!(peer.presence(), Presence::Gone);
    }
}
