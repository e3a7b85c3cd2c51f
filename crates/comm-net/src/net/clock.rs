//! How long a rank waits for another one, and what makes it stop.

use std::time::{Duration, Instant};

use pantile_comm::{CommError, Head, Rank};

use super::desk::Desk;
use crate::notice::{Doing, Notice};

/// How long a rank sleeps before it looks at the clock again.
pub(crate) const NAP: Duration = Duration::from_millis(20);

/// So long an unchanged circle of waiting ranks is seen before it is believed.
const CIRCLE: Duration = Duration::from_secs(5);

/// How long a world's ranks wait for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// While the peer is in another call, or ranks wait in a circle.
    pub(crate) deadline: Duration,
    /// While nothing at all is heard from the peer.
    pub(crate) silence: Duration,
}

impl Patience {
    /// Time between two questions to the peer.
    fn beat(&self) -> Duration {
        let beat = Duration::from_secs(1).min(self.silence / 4).min(self.deadline / 8);
        beat.max(Duration::from_millis(5))
    }
}

/// The clock of one wait. It adds up short intervals instead of looking at the time of day, so that
/// a process that was stopped for a while does not take its peers for silent.
pub(crate) struct Clock {
    peer: Rank,
    started: Instant,
    looked: Instant,
    /// Since the peer was asked.
    unasked: Duration,
    /// Since anything was heard from it, and how often that was.
    quiet: Duration,
    heard: u64,
    /// How long it has been doing the same, in another call.
    stuck: Duration,
    doing: Option<Doing>,
    told_before: u64,
    /// How long ranks have been waiting in the same circle.
    turning: Duration,
    circle: Option<u64>,
}

impl Clock {
    pub(crate) fn new(desk: &mut Desk, peer: Rank) -> Self {
        let told_before = desk.peers[peer].as_ref().map_or(0, |peer| peer.told_count);
        desk.circle = None;
        let now = Instant::now();
        Self {
            peer,
            started: now,
            looked: now,
            unasked: Duration::ZERO,
            quiet: Duration::ZERO,
            heard: 0,
            stuck: Duration::ZERO,
            doing: None,
            told_before,
            turning: Duration::ZERO,
            circle: None,
        }
    }

    /// Looks at the clock, and asks the peer what it is doing now and then.
    pub(crate) fn look(&mut self, desk: &mut Desk, patience: &Patience) -> Result<(), CommError> {
        let now = Instant::now();
        let passed = now.duration_since(self.looked).min(2 * NAP);
        self.looked = now;
        self.unasked += passed;
        if self.peer == desk.rank {
            // Nobody else can send it.
            self.turning += passed;
        } else {
            self.listen(desk, passed);
        }
        if self.unasked >= patience.beat() {
            self.ask(desk);
        }
        let busy = || {
            let head = Head::decode(self.doing.as_ref()?.call.as_ref()?)?;
            Some(Box::new(head.call))
        };
        if self.stuck >= patience.deadline || self.turning >= CIRCLE.min(patience.deadline) {
            return Err(self.late(desk, busy()));
        }
        if self.quiet >= patience.silence {
            return Err(self.late(desk, None));
        }
        Ok(())
    }

    /// What has been heard from the peer since the last look.
    fn listen(&mut self, desk: &Desk, passed: Duration) {
        let Some(peer) = &desk.peers[self.peer] else { return };
        match peer.heard == self.heard {
            true => self.quiet += passed,
            false => (self.heard, self.quiet) = (peer.heard, Duration::ZERO),
        }
        if peer.told_count == self.told_before {
            return;
        }
        let call = desk.current();
        let elsewhere = peer.told.as_ref().is_some_and(|doing| {
            let there = doing.call.as_ref();
            there.is_some_and(|head| Head::check(head, desk.rank, self.peer, &call).is_err())
        });
        match elsewhere && peer.told == self.doing {
            true => self.stuck += passed,
            false => self.stuck = Duration::ZERO,
        }
        if self.doing != peer.told {
            self.doing.clone_from(&peer.told);
        }
    }

    /// Asks the peer what it is doing, and follows those who wait for each other.
    fn ask(&mut self, desk: &mut Desk) {
        let asked = std::mem::take(&mut self.unasked);
        let found = desk.circle.take();
        if self.peer != desk.rank {
            match found.is_some() && found == self.circle {
                true => self.turning += asked,
                false => self.turning = Duration::ZERO,
            }
        }
        self.circle = found;
        let (origin, turn, hops) = (desk.rank, desk.turn, desk.peers.len() as u64);
        desk.tell(self.peer, &Notice::Ask);
        desk.tell(self.peer, &Notice::Probe { origin, turn, digest: turn, hops });
    }

    fn late(&self, desk: &Desk, busy: Option<Box<pantile_comm::Call>>) -> CommError {
        let call = Box::new(pantile_comm::Call::clone(&desk.current()));
        let waited = self.started.elapsed();
        CommError::Late { rank: desk.rank, call, peer: self.peer, busy, waited }
    }
}
