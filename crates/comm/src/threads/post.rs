//! What a rank shows of itself: its mail, its bell, what it is doing, whether it is still there.

use std::collections::{BTreeMap, VecDeque};

use super::bell::Bell;
use crate::head::HEAD_BYTES;
use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::{Call, Rank, Tag};

/// A message on its way.
pub(super) struct Parcel {
    pub(super) head: [u8; HEAD_BYTES],
    pub(super) body: Vec<u8>,
}

/// Parcels that wait to be fetched, per sender and tag in order.
type Mail = BTreeMap<(Rank, Tag), VecDeque<Parcel>>;

/// The public side of one rank.
#[derive(Default)]
pub(super) struct Post {
    pub(super) bell: Bell,
    mail: Mutex<Mail>,
    doing: Mutex<Doing>,
    gone: AtomicBool,
}

/// What a rank is doing, for others who wait for it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Doing {
    /// The call it is in; none while it computes.
    pub(super) call: Option<Call>,
    /// Counts the calls, so that a rank that goes on is seen to.
    pub(super) turn: u64,
    /// Whom it sleeps for.
    pub(super) waits_for: Option<Rank>,
}

impl Post {
    /// Puts a parcel into the mail and wakes the rank.
    pub(super) fn deliver(&self, from: Rank, tag: Tag, parcel: Parcel) {
        lock(&self.mail).entry((from, tag)).or_default().push_back(parcel);
        self.bell.ring();
    }

    /// Takes the oldest parcel of a sender and tag.
    pub(super) fn fetch(&self, from: Rank, tag: Tag) -> Option<Parcel> {
        let mut mail = lock(&self.mail);
        mail.get_mut(&(from, tag))?.pop_front()
    }

    /// True if a parcel of a sender and tag waits.
    pub(super) fn has_mail(&self, from: Rank, tag: Tag) -> bool {
        lock(&self.mail).get(&(from, tag)).is_some_and(|parcels| !parcels.is_empty())
    }

    /// The rank enters a call, or leaves it.
    pub(super) fn set_doing(&self, call: Option<&Call>) {
        let mut doing = lock(&self.doing);
        doing.call = call.cloned();
        doing.turn += 1;
    }

    /// The rank goes to sleep for another one, or has woken up for good.
    pub(super) fn set_waiting(&self, peer: Option<Rank>) {
        lock(&self.doing).waits_for = peer;
    }

    pub(super) fn doing(&self) -> Doing {
        lock(&self.doing).clone()
    }

    /// The rank leaves for good.
    pub(super) fn leave(&self) {
        self.gone.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::SeqCst)
    }
}
