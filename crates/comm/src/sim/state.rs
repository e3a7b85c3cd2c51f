//! The simulated world: ranks, messages on their way, and what happens next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::Sim;
use super::channel::{Channel, SimPacket};
use super::generator::mix;
use super::member::{Content, PendingRequest, RunState, SimRank, StallClock};
use crate::{Failure, Rank, Tag, Ticket};

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
enum SimEvent {
    /// A rank goes on.
    Wake(Rank),
    /// The oldest message of a channel arrives.
    Arrive(Rank, Rank, Tag),
}

/// When an event happens; those of one time in the order of the ranks that made them.
type SimTime = (u64, Rank, u64);

/// Everything that the ranks of a simulated world share.
///
/// Invariants:
/// 1. `running` ranks are `Running`; the simulator goes on only if there is none.
/// 2. A rank that is `Called` has exactly one `Wake` in the queue, and no other rank has one.
/// 3. A channel has an `Arrive` in the queue for every message that flies.
pub(super) struct SimState {
    pub(super) members: Vec<SimRank>,
    pub(super) running: usize,
    /// Nanoseconds of virtual time.
    pub(super) now: u64,
    pub(super) deadline: u64,
    pub(super) failure: Option<Arc<Failure>>,
    pub(super) trace: u64,
    delay_max: u64,
    queue: BTreeMap<SimTime, SimEvent>,
    channels: BTreeMap<(Rank, Rank, Tag), Channel>,
}

impl SimState {
    pub(super) fn new(sim: &Sim, size: usize) -> Self {
        let member = |rank| SimRank::new(rank, sim.seed, &sim.faults);
        Self {
            members: (0..size).map(member).collect(),
            running: size,
            now: 0,
            deadline: nanoseconds(sim.options.deadline),
            failure: None,
            trace: mix(sim.seed),
            delay_max: nanoseconds(sim.delay_max),
            queue: BTreeMap::new(),
            channels: BTreeMap::new(),
        }
    }

    fn note(&mut self, what: [u64; 4]) {
        for part in what {
            self.trace = mix(self.trace ^ part).wrapping_add(part);
        }
    }

    fn plan(&mut self, by: Rank, delay: u64, event: SimEvent) {
        let number = self.members[by].event_number();
        self.queue.insert((self.now.saturating_add(delay), by, number), event);
    }

    /// A running rank lets others run for a while.
    pub(super) fn pause(&mut self, rank: Rank) {
        let (delay_max, deadline) = (self.delay_max, self.deadline);
        let member = &mut self.members[rank];
        let delay = member.delay(delay_max) + member.poll_backoff(delay_max, deadline);
        self.stop(rank, RunState::Called);
        self.plan(rank, delay, SimEvent::Wake(rank));
    }

    /// A running rank does not run any more.
    pub(super) fn stop(&mut self, rank: Rank, status: RunState) {
        debug_assert_eq!(self.members[rank].status, RunState::Running, "invariant 1 of a state");
        self.members[rank].status = status;
        self.running -= 1;
    }

    fn start(&mut self, rank: Rank) {
        self.members[rank].status = RunState::Running;
        self.running += 1;
    }

    /// A rank that waits or is stuck will look again.
    fn wake(&mut self, rank: Rank, delay: u64) {
        if matches!(self.members[rank].status, RunState::Waiting { .. } | RunState::Stuck) {
            self.members[rank].status = RunState::Called;
            self.plan(rank, delay, SimEvent::Wake(rank));
        }
    }

    /// Goes on to the next moment at which a rank can run. Returns that rank, or nothing if all
    /// have ended or one runs already.
    pub(super) fn advance(&mut self) -> Option<Rank> {
        while self.running == 0 {
            self.set_clocks();
            let next = self.queue.first_key_value().map(|(moment, _)| moment.0);
            match self.next_deadline() {
                Some((time, rank)) if next.is_none_or(|next| time <= next) => {
                    self.expire(rank, time);
                    return Some(rank);
                }
                _ => {}
            }
            let Some(((time, by, number), event)) = self.queue.pop_first() else {
                return self.resolve();
            };
            self.now = time;
            let kind = matches!(event, SimEvent::Wake(_));
            self.note([time, by as u64, number, u64::from(kind)]);
            match event {
                SimEvent::Wake(rank) => {
                    self.start(rank);
                    return Some(rank);
                }
                SimEvent::Arrive(from, to, tag) => self.arrive(from, to, tag),
            }
        }
        None
    }

    /// A rank has waited too long.
    fn expire(&mut self, rank: Rank, time: u64) {
        self.now = time;
        self.note([time, rank as u64, self.members[rank].steps, 2]);
        let clock = self.members[rank].clock;
        self.members[rank].expired = clock;
        self.start(rank);
    }

    /// Nothing is going to happen: the calls of ranks that are stuck return, or a rank that waits
    /// for nothing is told so.
    fn resolve(&mut self) -> Option<Rank> {
        let stuck = |member: &SimRank| member.status == RunState::Stuck;
        let waits = |member: &SimRank| matches!(member.status, RunState::Waiting { .. });
        let waiting = self.members.iter().position(waits);
        if let Some(rank) = waiting
            && let RunState::Waiting { peer, .. } = self.members[rank].status
        {
            let turn = self.members[peer].turn;
            self.members[rank].clock = Some(StallClock { culprit: peer, turn, since: self.now });
            self.expire(rank, self.now.saturating_add(self.deadline));
            return Some(rank);
        }
        let rank = self.members.iter().position(stuck)?;
        self.start(rank);
        Some(rank)
    }

    /// The world has failed, unless it has before.
    pub(super) fn abort(&mut self, by: Rank, failure: Failure) {
        if self.members[by].lost.is_some() || self.failure.is_some() {
            return;
        }
        self.failure = Some(Arc::new(failure));
        for rank in 0..self.members.len() {
            let delay = self.members[by].delay(self.delay_max);
            self.wake(rank, delay);
        }
    }

    /// A rank is not there any more; the ranks that wait for it will be told.
    pub(super) fn disappear(&mut self, gone: Rank) {
        self.members[gone].gone = true;
        for rank in 0..self.members.len() {
            if let RunState::Waiting { peer, .. } = self.members[rank].status
                && peer == gone
            {
                let delay = self.members[gone].delay(self.delay_max);
                self.wake(rank, delay);
            }
        }
    }

    /// A rank is lost, perhaps with its messages that have not arrived.
    pub(super) fn lose(&mut self, rank: Rank, reason: &str) {
        let call = self.members[rank].call.clone();
        let failure = Failure { culprit: rank, call, reason: reason.to_owned() };
        self.members[rank].lost = Some(Arc::new(failure));
        if self.members[rank].coin() {
            let own = self.channels.iter_mut().filter(|((from, ..), _)| *from == rank);
            own.for_each(|(_, channel)| channel.in_flight.clear());
        }
        self.disappear(rank);
    }

    /// Sends a message.
    pub(super) fn send(&mut self, (from, to, tag): (Rank, Rank, Tag), packet: SimPacket) {
        let delay = self.members[from].delay(self.delay_max);
        let channel = self.channels.entry((from, to, tag)).or_default();
        channel.last = channel.last.max(self.now.saturating_add(delay));
        channel.in_flight.push_back(packet);
        let delay = channel.last - self.now;
        self.plan(from, delay, SimEvent::Arrive(from, to, tag));
    }

    fn arrive(&mut self, from: Rank, to: Rank, tag: Tag) {
        let channel = self.channels.entry((from, to, tag)).or_default();
        if let Some(packet) = channel.in_flight.pop_front() {
            channel.arrived.push_back(packet);
        }
        self.pair_up(from, to, tag);
        // Perhaps this was the last one, and nothing more is to be waited for.
        if self.members[from].gone {
            self.wake(to, 0);
        }
    }

    /// Makes room for a message.
    pub(super) fn room(&mut self, (from, to, tag): (Rank, Rank, Tag)) -> Ticket {
        let ticket =
            self.members[to].ticket(PendingRequest { peer: from, tag, content: Content::Room });
        self.channels.entry((from, to, tag)).or_default().rooms.push_back(ticket);
        self.pair_up(from, to, tag);
        ticket
    }

    /// Puts messages that have arrived into the rooms that were made for them.
    fn pair_up(&mut self, from: Rank, to: Rank, tag: Tag) {
        let channel = |state: &mut Self| state.channels.get_mut(&(from, to, tag))?.pair();
        while let Some((room, packet)) = channel(self) {
            let (body, sent) = packet.body.take();
            self.complete(to, room, Content::Message { envelope: packet.envelope, body });
            if let Some(sent) = sent {
                self.complete(from, sent, Content::Sent);
            }
        }
    }

    /// A send or receive is done; its rank goes on if it waits for it.
    fn complete(&mut self, rank: Rank, done: Ticket, content: Content) {
        if let Some(request) = self.members[rank].requests.get_mut(&done) {
            request.content = content;
        }
        if matches!(self.members[rank].status, RunState::Waiting { ticket, .. } if ticket == done) {
            self.wake(rank, 0);
        }
    }

    /// True if nothing more can come for a ticket, because its peer is not there any more.
    pub(super) fn is_hopeless(&self, rank: Rank, ticket: Ticket) -> bool {
        let Some(request) = self.members[rank].requests.get(&ticket) else { return false };
        let incoming = (request.peer, rank, request.tag);
        let flies = |channel: &Channel| !channel.in_flight.is_empty();
        let coming = match request.content {
            Content::Room => self.channels.get(&incoming).is_some_and(flies),
            _ => false,
        };
        self.members[request.peer].gone && !request.content.is_done() && !coming
    }
}

/// A duration as a number, cut at five hundred years.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
