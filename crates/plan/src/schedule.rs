//! One rank's share of a plan.

use pantile_geometry::{Distribution, Operator, Rank};

use crate::between::{self, Role};
use crate::plan::{Plan, Round};
use crate::{Error, Transfer};

/// What one rank does: needs no further information from any peer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Schedule {
    /// The rank.
    pub rank: Rank,
    /// Its share of each round of each step, in order.
    pub hops: Vec<Hop>,
}

/// One rank's share of a round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// Number of the step in the plan.
    pub step: usize,
    /// How terms are combined.
    pub operator: Operator,
    /// What it gives, by ascending receiver; itself included.
    pub sends: Vec<Message>,
    /// What it gets, by ascending sender; itself included. Terms are combined in this order.
    pub receives: Vec<Message>,
}

/// Everything that one rank gives another in one round, in the order in which it is packed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The other rank.
    pub peer: Rank,
    /// The pieces of the message.
    pub parts: Vec<Transfer>,
}

impl Message {
    /// Number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.parts.iter().map(Transfer::size).sum()
    }
}

impl Schedule {
    /// The share of `rank` in the movement between two distributions, without building the
    /// movement of anybody else: memory grows with the rank's neighbours, not with the mesh.
    ///
    /// # Errors
    /// As [`Plan::between`]: the same error on every rank.
    pub fn between(
        source: &Distribution,
        target: &Distribution,
        rank: Rank,
    ) -> Result<Self, Error> {
        let sends = between::transfers_of(source, target, rank, Role::Sender)?;
        let receives = between::transfers_of(source, target, rank, Role::Receiver)?;
        let operator = between::operator(source, target)?;
        let hop = Hop {
            step: 0,
            operator,
            sends: messages(sends, |transfer| transfer.to),
            receives: messages(receives, |transfer| transfer.from),
        };
        Ok(Self { rank, hops: vec![hop] })
    }

    /// Number of elements given to other ranks.
    #[must_use]
    pub fn sent(&self) -> usize {
        let sends = self.hops.iter().flat_map(|hop| &hop.sends);
        sends.filter(|message| message.peer != self.rank).map(Message::size).sum()
    }

    /// Number of elements got from other ranks.
    #[must_use]
    pub fn received(&self) -> usize {
        let receives = self.hops.iter().flat_map(|hop| &hop.receives);
        receives.filter(|message| message.peer != self.rank).map(Message::size).sum()
    }
}

impl Plan {
    /// The share of one rank: equal to [`Schedule::between`] for a plan of one step.
    pub fn for_rank(&self, rank: Rank) -> Schedule {
        let mut hops = Vec::new();
        for (number, step) in self.steps().iter().enumerate() {
            for round in &step.rounds {
                hops.push(hop(number, step.operator, round, rank));
            }
        }
        Schedule { rank, hops }
    }
}

fn hop(step: usize, operator: Operator, round: &Round, rank: Rank) -> Hop {
    let pick = |wanted: &dyn Fn(&Transfer) -> bool| -> Vec<Transfer> {
        round.transfers.iter().filter(|transfer| wanted(transfer)).cloned().collect()
    };
    Hop {
        step,
        operator,
        sends: messages(pick(&|transfer| transfer.from == rank), |transfer| transfer.to),
        receives: messages(pick(&|transfer| transfer.to == rank), |transfer| transfer.from),
    }
}

/// Groups transfers by peer; within a message they keep their sorted order.
fn messages(mut transfers: Vec<Transfer>, peer: impl Fn(&Transfer) -> Rank) -> Vec<Message> {
    transfers.sort_by_key(&peer);
    let mut messages: Vec<Message> = Vec::new();
    for transfer in transfers {
        let peer = peer(&transfer);
        match messages.last_mut() {
            Some(message) if message.peer == peer => message.parts.push(transfer),
            _ => messages.push(Message { peer, parts: vec![transfer] }),
        }
    }
    messages
}
