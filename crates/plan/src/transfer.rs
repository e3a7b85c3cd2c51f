//! One arrow of a plan.

use std::cmp::Ordering;

use pantile_geometry::{Rank, Region};

/// Turns of each periodic axis under which a rank has some elements; mostly none.
///
/// Ordered as the list of turns per axis: terms are combined in that order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lifts(Vec<i64>);

impl Lifts {
    /// One number of turns per array axis.
    #[must_use]
    pub fn new(turns: Vec<i64>) -> Self {
        // Invariant: no turns at all is the empty list, so that equal lifts are equal lists.
        if turns.iter().all(|turn| *turn == 0) { Self::default() } else { Self(turns) }
    }

    /// True if no axis is turned.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The turns of an axis.
    #[must_use]
    pub fn along(&self, axis: usize) -> i64 {
        self.0.get(axis).copied().unwrap_or(0)
    }

    /// One number per axis; empty if there are no turns.
    #[must_use]
    pub fn as_slice(&self) -> &[i64] {
        &self.0
    }
}

impl Ord for Lifts {
    fn cmp(&self, other: &Self) -> Ordering {
        let ndim = self.0.len().max(other.0.len());
        let turns = (0..ndim).map(|axis| self.along(axis));
        turns.cmp((0..ndim).map(|axis| other.along(axis)))
    }
}

impl PartialOrd for Lifts {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One rank gives another the elements of a region (or itself: then nothing travels).
///
/// Lifts say under which turn of a periodic axis sender and receiver have the elements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transfer {
    /// World rank of the sender.
    pub from: Rank,
    /// World rank of the receiver.
    pub to: Rank,
    /// Turns of each periodic axis at the sender.
    pub source_lifts: Lifts,
    /// Turns of each periodic axis at the receiver.
    pub target_lifts: Lifts,
    /// What is given.
    pub region: Region,
}

impl Transfer {
    /// Number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.region.size()
    }

    /// True if the elements change rank.
    #[must_use]
    pub fn travels(&self) -> bool {
        self.from != self.to
    }

    /// The same elements the other way.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            source_lifts: self.target_lifts.clone(),
            target_lifts: self.source_lifts.clone(),
            region: self.region.clone(),
        }
    }
}
