//! The same movement in rounds whose staging stays under a bound.

use std::collections::BTreeMap;

use pantile_geometry::{IndexSet, Rank, Region};

use crate::plan::{Plan, Round, Step};
use crate::{Error, Transfer};

impl Plan {
    /// The same movement in rounds: in none of them does a rank pack and receive more than
    /// `bytes`, for elements of `element_bytes`. Elements that stay need no staging. Terms of a
    /// cell still arrive in ascending source rank, over all rounds.
    ///
    /// # Errors
    /// Not even one element fits.
    pub fn within(&self, bytes: usize, element_bytes: usize) -> Result<Self, Error> {
        let most = bytes / element_bytes.max(1);
        if most == 0 {
            return Err(Error::Bound { bytes, smallest: element_bytes });
        }
        let steps = self.steps().iter().map(|step| step.within(most)).collect();
        Ok(Self::from_steps(steps))
    }
}

impl Step {
    fn within(&self, most: usize) -> Self {
        // Half the room for what goes out, half for what comes in, where there is room for both.
        let chunk = most.div_ceil(2);
        let mut filler = Filler { most, rounds: Vec::new(), free: BTreeMap::new() };
        let ordered = self.source.has_terms() && !self.rounds.is_empty();
        // By ascending sender: terms that reach a receiver later come from higher ranks.
        let mut turn: BTreeMap<Rank, usize> = BTreeMap::new();
        for transfer in self.transfers() {
            let start = if ordered { *turn.get(&transfer.to).unwrap_or(&0) } else { 0 };
            let mut last = start;
            for region in chunks(&transfer.region, chunk) {
                last = last.max(filler.put(Transfer { region, ..transfer.clone() }, start));
            }
            turn.insert(transfer.to, last);
        }
        let mut rounds = filler.rounds;
        rounds.iter_mut().for_each(|round| round.transfers.sort_unstable());
        if rounds.is_empty() {
            rounds.push(Round::default());
        }
        Self { rounds, ..self.clone() }
    }
}

/// First-fit: each piece goes to the first round in which both ranks have room.
struct Filler {
    most: usize,
    rounds: Vec<Round>,
    /// Elements staged per (round, rank).
    free: BTreeMap<(usize, Rank), usize>,
}

impl Filler {
    /// Puts a piece into a round not before `start`; returns that round.
    fn put(&mut self, piece: Transfer, start: usize) -> usize {
        let size = piece.size();
        let mut number = start;
        if piece.travels() {
            let used = |free: &BTreeMap<(usize, Rank), usize>, rank: Rank, number: usize| {
                *free.get(&(number, rank)).unwrap_or(&0)
            };
            while used(&self.free, piece.from, number).max(used(&self.free, piece.to, number))
                + size
                > self.most
            {
                number += 1;
            }
            *self.free.entry((number, piece.from)).or_default() += size;
            *self.free.entry((number, piece.to)).or_default() += size;
        }
        while self.rounds.len() <= number {
            self.rounds.push(Round::default());
        }
        self.rounds[number].transfers.push(piece);
        number
    }
}

/// A region cut into pieces of at most `most` elements.
fn chunks(region: &Region, most: usize) -> Vec<Region> {
    if region.size() <= most {
        return vec![region.clone()];
    }
    let axes = region.axes();
    // The first axis behind which a whole block of the rest fits.
    let inner = |axis: usize| axes[axis + 1..].iter().map(IndexSet::size).product::<usize>();
    let axis = (0..axes.len()).find(|axis| inner(*axis) <= most).unwrap_or(0);
    let take = (most / inner(axis).max(1)).max(1);
    let mut pieces = vec![Vec::new()];
    for (at, set) in axes.iter().enumerate() {
        let parts = match at.cmp(&axis) {
            std::cmp::Ordering::Less => cut(set, 1),
            std::cmp::Ordering::Equal => cut(set, take),
            std::cmp::Ordering::Greater => vec![set.clone()],
        };
        let longer = pieces.iter().flat_map(|piece: &Vec<IndexSet>| {
            parts.iter().map(move |part| {
                let mut piece = piece.clone();
                piece.push(part.clone());
                piece
            })
        });
        pieces = longer.collect();
    }
    pieces.into_iter().map(Region::new).collect()
}

/// A set cut into parts of `size` indices, the last one smaller.
fn cut(set: &IndexSet, size: usize) -> Vec<IndexSet> {
    let (mut parts, mut rest) = (Vec::new(), set.clone());
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(size);
        parts.push(head);
        rest = tail;
    }
    parts
}
