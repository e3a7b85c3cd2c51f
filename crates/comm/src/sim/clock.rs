//! Which rank is to blame for a wait, and how long it may last.

use super::member::{RunState, StallClock};
use super::state::SimState;
use crate::Rank;

impl SimState {
    /// Starts and stops the clocks of all ranks that wait.
    pub(super) fn set_clocks(&mut self) {
        for rank in 0..self.members.len() {
            let clock = self.culprit(rank).map(|culprit| {
                let turn = self.members[culprit].turn;
                let before = self.members[rank].clock;
                let same = before.filter(|clock| (clock.culprit, clock.turn) == (culprit, turn));
                same.unwrap_or(StallClock { culprit, turn, since: self.now })
            });
            self.members[rank].clock = clock;
        }
    }

    /// The next rank whose wait takes too long, and when.
    pub(super) fn next_deadline(&self) -> Option<(u64, Rank)> {
        let clocks = self.members.iter().enumerate();
        let ends = clocks.filter_map(|(rank, member)| Some((member.clock?.since, rank)));
        ends.min().map(|(since, rank)| (since.saturating_add(self.deadline), rank))
    }

    /// The rank that keeps `rank` waiting, if the clock runs: the one at the end of the chain
    /// of waiting ranks and stuck or elsewhere, or the next one if the chain is a cycle.
    fn culprit(&self, rank: Rank) -> Option<Rank> {
        let RunState::Waiting { peer, .. } = self.members[rank].status else { return None };
        let mut last = peer;
        for _ in 0..self.members.len() {
            match self.members[last].status {
                RunState::Waiting { peer, .. } => last = peer,
                _ => break,
            }
        }
        let member = &self.members[last];
        let elsewhere = || match (&member.call, &self.members[rank].call) {
            (Some(there), Some(here)) => !there.agrees_with(here),
            (there, _) => there.is_some(),
        };
        match member.status {
            RunState::Waiting { .. } => Some(peer),
            RunState::Stuck => Some(last),
            // It is gone, and a rank that waits for it is about to be told.
            _ if member.gone => None,
            _ => elsewhere().then_some(last),
        }
    }
}
