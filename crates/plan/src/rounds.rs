//! The same movement in rounds whose staging stays under a bound.

use std::collections::BTreeMap;

use pantile_geometry::{IndexSet, Rank, Region};

use crate::between::merged;
use crate::plan::{Plan, Round, Step};
use crate::{Error, Lifts, Transfer};

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
        let mut filler = Filler { most, rounds: Vec::new(), staged: BTreeMap::new() };
        if self.source.has_terms() {
            filler.put_in_order(self.transfers(), chunk);
        } else {
            filler.put_in_turns(self.transfers(), chunk);
        }
        let mut rounds: Vec<Round> = filler.rounds.into_iter().map(Round::tidied).collect();
        if rounds.is_empty() {
            rounds.push(Round::default());
        }
        Self { rounds, ..self.clone() }
    }
}

impl Round {
    /// Sorted, pieces of one message that fit together joined again.
    fn tidied(self) -> Self {
        let mut alike: BTreeMap<(Rank, Rank, Lifts, Lifts), Vec<Vec<IndexSet>>> = BTreeMap::new();
        for piece in self.transfers {
            let key = (piece.from, piece.to, piece.source_lifts, piece.target_lifts);
            alike.entry(key).or_default().push(piece.region.axes().to_vec());
        }
        let mut transfers = Vec::new();
        for ((from, to, source_lifts, target_lifts), boxes) in alike {
            transfers.extend(merged(boxes).into_iter().map(|sets| Transfer {
                from,
                to,
                source_lifts: source_lifts.clone(),
                target_lifts: target_lifts.clone(),
                region: Region::new(sets),
            }));
        }
        transfers.sort_unstable();
        Self { transfers }
    }
}

/// First-fit: each piece goes to the first round in which both ranks have room.
struct Filler {
    most: usize,
    rounds: Vec<Round>,
    /// Elements staged per (round, rank).
    staged: BTreeMap<(usize, Rank), usize>,
}

impl Filler {
    /// By ascending sender: terms that reach a receiver later come from higher ranks.
    fn put_in_order<'a>(&mut self, transfers: impl Iterator<Item = &'a Transfer>, chunk: usize) {
        let mut turn: BTreeMap<Rank, usize> = BTreeMap::new();
        for transfer in transfers {
            let start = *turn.get(&transfer.to).unwrap_or(&0);
            let mut last = start;
            for region in chunks(&transfer.region, chunk) {
                last = last.max(self.put(Transfer { region, ..transfer.clone() }, start));
            }
            turn.insert(transfer.to, last);
        }
    }

    /// The first piece of every transfer, then the second: so both directions go on at once.
    fn put_in_turns<'a>(&mut self, transfers: impl Iterator<Item = &'a Transfer>, chunk: usize) {
        let mut waiting: Vec<_> = transfers
            .map(|transfer| (transfer, chunks(&transfer.region, chunk).into_iter()))
            .collect();
        while !waiting.is_empty() {
            waiting.retain_mut(|(transfer, pieces)| {
                let Some(region) = pieces.next() else { return false };
                self.put(Transfer { region, ..transfer.clone() }, 0);
                true
            });
        }
    }

    /// Puts a piece into a round not before `start`; returns that round.
    fn put(&mut self, piece: Transfer, start: usize) -> usize {
        let size = piece.size();
        let mut number = start;
        if piece.travels() {
            let used = |rank: Rank, number: usize| *self.staged.get(&(number, rank)).unwrap_or(&0);
            while used(piece.from, number).max(used(piece.to, number)) + size > self.most {
                number += 1;
            }
            *self.staged.entry((number, piece.from)).or_default() += size;
            *self.staged.entry((number, piece.to)).or_default() += size;
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
