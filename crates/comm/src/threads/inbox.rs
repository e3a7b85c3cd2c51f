//! What other ranks reach of a rank: its packet queues, its wakeup, its activity, whether it is
//! still there.

use std::collections::{BTreeMap, VecDeque};

use super::wakeup::Wakeup;
use crate::envelope::EnvelopeBytes;
use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::{CollectiveSignature, Rank, Tag};

/// A message on its way.
pub(super) struct Packet {
    pub(super) envelope: EnvelopeBytes,
    pub(super) body: Vec<u8>,
}

/// Packets that wait to be taken, per sender and tag in order.
type PacketQueues = BTreeMap<(Rank, Tag), VecDeque<Packet>>;

/// The public side of one rank.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) wakeup: Wakeup,
    queues: Mutex<PacketQueues>,
    activity: Mutex<Activity>,
    gone: AtomicBool,
}

/// What a rank is doing, for the ranks that wait for it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Activity {
    /// The call it is in; none while it computes.
    pub(super) call: Option<CollectiveSignature>,
    /// Counts the calls, so that others see that a rank makes progress.
    pub(super) turn: u64,
    /// The rank that it sleeps for.
    pub(super) waits_for: Option<Rank>,
}

impl Inbox {
    /// Puts a packet into the queues and wakes the rank.
    pub(super) fn deliver(&self, from: Rank, tag: Tag, packet: Packet) {
        lock(&self.queues).entry((from, tag)).or_default().push_back(packet);
        self.wakeup.wake();
    }

    /// Takes the oldest packet of a sender and tag.
    pub(super) fn take_packet(&self, from: Rank, tag: Tag) -> Option<Packet> {
        let mut queues = lock(&self.queues);
        queues.get_mut(&(from, tag))?.pop_front()
    }

    /// True if a packet of a sender and tag waits.
    pub(super) fn has_packet(&self, from: Rank, tag: Tag) -> bool {
        lock(&self.queues).get(&(from, tag)).is_some_and(|packets| !packets.is_empty())
    }

    /// The rank enters a call, or leaves it.
    pub(super) fn set_activity(&self, call: Option<&CollectiveSignature>) {
        let mut activity = lock(&self.activity);
        activity.call = call.cloned();
        activity.turn += 1;
    }

    /// The rank goes to sleep for another one, or has woken up for good.
    pub(super) fn set_waiting(&self, peer: Option<Rank>) {
        lock(&self.activity).waits_for = peer;
    }

    pub(super) fn activity(&self) -> Activity {
        lock(&self.activity).clone()
    }

    /// The rank leaves for good.
    pub(super) fn leave(&self) {
        self.gone.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::SeqCst)
    }
}
