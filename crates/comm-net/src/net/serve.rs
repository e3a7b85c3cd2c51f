//! Taking what has come from a peer.

use std::io::ErrorKind;
use std::sync::Arc;

use pantile_comm::{Failure, Rank};

use super::desk::Desk;
use super::input::{Found, Input, Target};
use super::lanes::{Arrived, Body};
use super::peer::{CREDIT_BYTES, CREDIT_MESSAGES, Credit, Filling, Presence};
use crate::frame::FrameError;
use crate::notice::{self, Notice};

/// Reads before others get their turn.
const READS_MAX: usize = 64;

/// Why nothing more comes from a peer.
enum End {
    /// The connection was closed, or broke.
    Closed,
    /// What came makes no sense: nothing after it can be trusted.
    Frame(FrameError),
}

impl From<FrameError> for End {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

/// A frame that could be read, and must not be sent.
fn meaning(reason: &'static str) -> End {
    End::Frame(FrameError::Meaning { kind: 0, reason })
}

impl Desk {
    /// Takes what has come from a peer, and sends what there is space for. True if there may be
    /// more to take.
    pub(crate) fn serve(&mut self, from: Rank) -> bool {
        let Some(peer) = &mut self.peers[from] else { return false };
        if peer.presence == Presence::Lost {
            return false;
        }
        let mut input = std::mem::take(&mut peer.input);
        let read = self.read(from, &mut input);
        match read {
            Ok(more) => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.input = input;
                }
                self.flush(from);
                more
            }
            Err(end) => {
                self.lose(from, end);
                false
            }
        }
    }

    /// Nothing more comes from a peer. One that does not make sense ends the world.
    fn lose(&mut self, from: Rank, end: End) {
        let Some(peer) = &mut self.peers[from] else { return };
        peer.presence = Presence::Lost;
        peer.give_up();
        peer.filling.clear();
        peer.input = Input::default();
        if let End::Frame(error) = end {
            peer.wire.cut();
            let reason = format!("from {} came {error}", peer.wire.peer());
            self.abort(Failure { culprit: from, call: None, reason });
        }
    }

    /// Serves everybody.
    pub(crate) fn serve_all(&mut self) -> bool {
        let mut more = false;
        for from in 0..self.peers.len() {
            more |= self.serve(from);
        }
        more
    }

    fn read(&mut self, from: Rank, input: &mut Input) -> Result<bool, End> {
        let Some(wire) = self.peers[from].as_ref().map(|peer| Arc::clone(&peer.wire)) else {
            return Ok(false);
        };
        for _ in 0..READS_MAX {
            let moves = input.is_in_body();
            let more = match input.read(&wire) {
                Ok((0, _)) => return Err(End::Closed),
                Ok((_, more)) => more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(End::Closed),
            };
            self.heard(from, moves);
            loop {
                match input.next()? {
                    Found::Nothing => break,
                    Found::Body(target) => self.take_body(from, target),
                    Found::Notice(notice, bytes) => {
                        if let Some(target) = self.take_notice(from, notice, bytes)? {
                            input.aim(target, bytes);
                        }
                    }
                }
            }
            if !more {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Something came; what belongs to a message counts as a move.
    fn heard(&mut self, from: Rank, moves: bool) {
        if let Some(peer) = &mut self.peers[from] {
            peer.heard += 1;
        }
        self.turn += u64::from(moves);
    }

    /// Acts on a notice; where its body goes, if it has one.
    fn take_notice(
        &mut self,
        from: Rank,
        notice: Notice,
        bytes: usize,
    ) -> Result<Option<Target>, End> {
        match notice {
            Notice::Message { tag, head } => {
                let credit = Credit { messages: 1, bytes: bytes as u64 };
                if let Some((ticket, place)) = self.open_room(from, tag, &head) {
                    self.taken(from, credit, false);
                    return Ok(Some(Target::Room { ticket, place, at: 0, number: None }));
                }
                self.expect_less(from, credit)?;
                return Ok(Some(Target::Mail { tag, head, body: vec![0; bytes], at: 0 }));
            }
            Notice::Announce { tag, number, head } => {
                self.expect_less(from, Credit { messages: 1, bytes: 0 })?;
                self.deliver(from, tag, Arrived { head, body: Body::There(number) });
            }
            Notice::Data { number } => return self.take_part(from, number, bytes).map(Some),
            Notice::Grant { number } => self.granted(from, number),
            Notice::Credit { messages, bytes } => self.credited(from, Credit { messages, bytes }),
            Notice::Ask => {
                let doing = notice::doing(self.call.as_deref(), self.turn);
                self.tell(from, &Notice::Tell(doing));
            }
            Notice::Tell(doing) => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.told = Some(doing);
                    peer.told_count += 1;
                }
            }
            Notice::Probe { origin, turn, digest, hops } => {
                self.take_probe((origin, turn), digest, hops);
            }
            Notice::Abort(failure) => {
                self.failure.get_or_insert_with(|| Arc::new(failure));
            }
            Notice::Leave => self.take_leave(from),
            Notice::Bye => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.bye = true;
                }
            }
        }
        Ok(None)
    }

    /// A message came for which there is no room yet: an error if that is more than was agreed.
    fn expect_less(&mut self, from: Rank, credit: Credit) -> Result<(), End> {
        let Some(peer) = &mut self.peers[from] else { return Ok(()) };
        peer.unexpected.messages += credit.messages;
        peer.unexpected.bytes += credit.bytes;
        let Credit { messages, bytes } = peer.unexpected;
        match messages > CREDIT_MESSAGES || bytes > CREDIT_BYTES {
            true => Err(meaning("more than there is credit for")),
            false => Ok(()),
        }
    }

    /// A part of a large message: goes on where the last one ended.
    fn take_part(&mut self, from: Rank, number: u64, bytes: usize) -> Result<Target, End> {
        let filling = self.peers[from].as_mut().and_then(|peer| peer.filling.remove(&number));
        let Some(Filling { ticket, place, at }) = filling else { return Ok(Target::Skip) };
        if bytes > place.len() - at {
            return Err(meaning("more of a message than was announced"));
        }
        Ok(Target::Room { ticket, place, at, number: Some(number) })
    }

    fn take_body(&mut self, from: Rank, target: Target) {
        match target {
            Target::Room { ticket, place, at, number: Some(number) } if at < place.len() => {
                if let Some(peer) = &mut self.peers[from] {
                    peer.filling.insert(number, Filling { ticket, place, at });
                }
            }
            Target::Room { ticket, place, .. } => self.fill(ticket, place),
            Target::Mail { tag, head, body, .. } => {
                self.deliver(from, tag, Arrived { head, body: Body::Here(body) });
            }
            Target::Skip => {}
        }
    }

    /// Follows ranks that wait for each other.
    fn take_probe(&mut self, (origin, turn): (Rank, u64), digest: u64, hops: u64) {
        if origin == self.rank {
            if turn == self.turn {
                self.circle = Some(digest);
            }
        } else if let Some(next) = self.waits_for
            && hops > 0
        {
            // Any step of any rank on the way gives another digest.
            let step = self.turn ^ (self.rank as u64).rotate_left(32);
            let digest = (digest ^ step).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            self.tell(next, &Notice::Probe { origin, turn, digest, hops: hops - 1 });
        }
    }

    /// A peer leaves: nothing more goes to it but the answer.
    fn take_leave(&mut self, from: Rank) {
        let Some(peer) = &mut self.peers[from] else { return };
        if peer.presence == Presence::There {
            peer.give_up();
            peer.output.push(&Notice::Bye);
            peer.presence = Presence::Left;
            self.flush(from);
        }
    }
}
