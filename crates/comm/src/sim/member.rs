//! What the simulator knows of one rank.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::InjectedFault;
use super::generator::{Generator, mix};
use crate::envelope::EnvelopeBytes;
use crate::{CollectiveSignature, Failure, Rank, Tag, Ticket};

/// What a rank is about, as far as the simulator is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// Its thread runs.
    Running,
    /// It will run when its event comes.
    Called,
    /// It waits for a ticket that `peer` has to do something for.
    Waiting { ticket: Ticket, peer: Rank },
    /// Its call does not return.
    Stuck,
    /// Its program is over.
    Ended,
}

/// A send or receive that was posted.
pub(super) struct PendingRequest {
    pub(super) peer: Rank,
    pub(super) tag: Tag,
    pub(super) content: Content,
}

/// How far a send or receive has come.
pub(super) enum Content {
    /// A send whose body is still needed.
    Sending,
    /// A send whose body may be changed.
    Sent,
    /// A receive without a message.
    Room,
    /// A receive with its message.
    Message { envelope: EnvelopeBytes, body: Vec<u8> },
}

impl Content {
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Self::Sent | Self::Message { .. })
    }
}

/// Since when a rank waits in vain, and for which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StallClock {
    pub(super) culprit: Rank,
    /// The culprit's turn: if it goes on, the clock starts again.
    pub(super) turn: u64,
    pub(super) since: u64,
}

/// One rank.
pub(super) struct SimRank {
    pub(super) status: RunState,
    /// The call it is in, and how many it entered or left.
    pub(super) call: Option<CollectiveSignature>,
    pub(super) turn: u64,
    /// For its peers it is not there any more.
    pub(super) gone: bool,
    /// Why none of its calls works any more, though its peers do not know.
    pub(super) lost: Option<Arc<Failure>>,
    /// How long the wait was that took too long, and which rank is to blame.
    pub(super) expired: Option<StallClock>,
    pub(super) clock: Option<StallClock>,
    pub(super) requests: BTreeMap<Ticket, PendingRequest>,
    pub(super) steps: u64,
    generator: Generator,
    faults: Vec<InjectedFault>,
    next_ticket: u64,
    next_event: u64,
    /// Polls in a row that were answered with no.
    failed_polls: u32,
}

impl SimRank {
    pub(super) fn new(rank: Rank, seed: u64, faults: &[InjectedFault]) -> Self {
        let mine = |fault: &&InjectedFault| match fault {
            InjectedFault::Lose { rank: who, .. } | InjectedFault::Stick { rank: who, .. } => {
                *who == rank
            }
        };
        Self {
            status: RunState::Running,
            call: None,
            turn: 0,
            gone: false,
            lost: None,
            expired: None,
            clock: None,
            requests: BTreeMap::new(),
            steps: 0,
            // Every rank draws its own numbers: their order does not depend on the others.
            generator: Generator::new(mix(seed) ^ mix(rank as u64 + 1)),
            faults: faults.iter().filter(mine).copied().collect(),
            next_ticket: 0,
            next_event: 0,
            failed_polls: 0,
        }
    }

    /// Counts a call; what goes wrong in it.
    pub(super) fn step(&mut self) -> Option<InjectedFault> {
        self.steps += 1;
        let now = |fault: &&InjectedFault| match fault {
            InjectedFault::Lose { at_step, .. } | InjectedFault::Stick { at_step, .. } => {
                *at_step == self.steps
            }
        };
        self.faults.iter().find(now).copied()
    }

    pub(super) fn ticket(&mut self, request: PendingRequest) -> Ticket {
        self.next_ticket += 1;
        let ticket = Ticket(self.next_ticket);
        self.requests.insert(ticket, request);
        ticket
    }

    /// Tells this rank's events apart.
    pub(super) fn event_number(&mut self) -> u64 {
        self.next_event += 1;
        self.next_event
    }

    pub(super) fn enters(&mut self, call: Option<&CollectiveSignature>) {
        self.call = call.cloned();
        self.turn += 1;
    }

    /// A coin.
    pub(super) fn coin(&mut self) -> bool {
        self.generator.next().is_multiple_of(2)
    }

    /// How long something takes: often nothing or little, sometimes up to `longest`.
    pub(super) fn delay(&mut self, longest: u64) -> u64 {
        let longest = match self.generator.below(4) {
            0 => 0,
            1 | 2 => longest / 16,
            _ => longest,
        };
        self.generator.next() % longest.saturating_add(1)
    }

    /// How long a rank that polls in vain waits before it polls again: longer each time (backoff).
    pub(super) fn poll_backoff(&mut self, delay_max: u64, deadline: u64) -> u64 {
        if self.failed_polls == 0 {
            return 0;
        }
        let longest =
            delay_max.max(1).saturating_mul(1 << self.failed_polls.min(40)).min(deadline / 8);
        1 + self.generator.next() % longest.saturating_add(1)
    }

    /// Remembers whether a poll was answered with yes.
    pub(super) fn record_poll(&mut self, yes: bool) {
        self.failed_polls = if yes { 0 } else { self.failed_polls + 1 };
    }
}
