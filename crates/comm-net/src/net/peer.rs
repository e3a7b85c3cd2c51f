//! One peer, as a rank sees it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use pantile_comm::{Tag, Ticket};

use super::input::Input;
use super::output::{Output, Sending};
use super::room::Place;
use crate::notice::{Doing, HeadBytes};
use crate::poll::Interest;
use crate::wire::Wire;

/// Bytes of small messages that a peer may send before there is room for them. Beyond that it
/// announces small messages, too, so that this bounds the memory of what is not expected.
pub(crate) const CREDIT_BYTES: u64 = 4 << 20;

/// Messages that a peer may send or announce before there is room for them; more wait with it.
pub(crate) const CREDIT_MESSAGES: u64 = 1 << 16;

/// Whether a peer can still be talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    There,
    /// It said that nothing more will come.
    Left,
    /// The connection has ended.
    Lost,
}

/// A message that may not even be announced yet.
pub(crate) struct Held {
    pub(crate) ticket: Ticket,
    pub(crate) tag: Tag,
    pub(crate) head: HeadBytes,
    pub(crate) body: Place,
}

/// Room for a large message, and how much of it is filled.
pub(crate) struct Filling {
    pub(crate) ticket: Ticket,
    pub(crate) place: Place,
    pub(crate) at: usize,
}

/// Messages and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Credit {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// One peer.
pub(crate) struct Peer {
    pub(crate) wire: Arc<Wire>,
    pub(crate) input: Input,
    pub(crate) output: Output,
    pub(crate) presence: Presence,
    /// It has said that nothing comes after our own farewell.
    pub(crate) bye: bool,
    /// Nothing can be written any more; what was sent to us may still be read.
    pub(crate) mute: bool,
    /// What may be sent before the peer has taken something.
    pub(crate) allowance: Credit,
    /// What was taken here, and the peer does not know it yet.
    pub(crate) taken: Credit,
    /// What waits here for room.
    pub(crate) unexpected: Credit,
    pub(crate) held: VecDeque<Held>,
    /// Messages that were announced and not asked for.
    pub(crate) announced: BTreeMap<u64, Sending>,
    /// Rooms for messages that were asked for.
    pub(crate) filling: BTreeMap<u64, Filling>,
    pub(crate) next_number: u64,
    /// How often something was heard from it.
    pub(crate) heard: u64,
    /// What it said it is doing, and how often it said so.
    pub(crate) told: Option<Doing>,
    pub(crate) told_count: u64,
}

impl Peer {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self {
            wire,
            input: Input::new(),
            output: Output::default(),
            presence: Presence::There,
            bye: false,
            mute: false,
            allowance: Credit { messages: CREDIT_MESSAGES, bytes: CREDIT_BYTES },
            taken: Credit::default(),
            unexpected: Credit::default(),
            held: VecDeque::new(),
            announced: BTreeMap::new(),
            filling: BTreeMap::new(),
            next_number: 0,
            heard: 0,
            told: None,
            told_count: 0,
        }
    }

    /// What its socket is watched for, while the connection stands.
    pub(crate) fn interest(&self) -> Option<Interest> {
        let stands = self.presence != Presence::Lost;
        stands.then(|| Interest { read: true, write: self.is_behind() })
    }

    /// True if something waits to be written.
    pub(crate) fn is_behind(&self) -> bool {
        !self.mute && (!self.output.is_empty() || self.wire.is_behind())
    }

    /// True if something that was posted has not gone.
    pub(crate) fn owes(&self) -> bool {
        let posted = !self.held.is_empty() || !self.announced.is_empty();
        self.presence == Presence::There && !self.mute && (posted || self.is_behind())
    }

    /// Nothing goes to this peer any more, but the end of the frame that was begun.
    pub(crate) fn give_up(&mut self) {
        self.held.clear();
        self.announced.clear();
        self.output.stop();
    }
}
