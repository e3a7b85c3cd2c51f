//! How much a movement moves, without listing it: sums over factors, multiplied.

use std::collections::BTreeSet;

use pantile_geometry::{Distribution, IndexSet};

use crate::between::{self, Factor, Problem};
use crate::{Error, Transfer};

/// Exact totals of a movement between two distributions, for any number of ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Totals {
    /// Elements that change rank.
    pub moved: u128,
    /// Elements that a rank gives itself.
    pub kept: u128,
    /// Ordered pairs of different ranks that exchange something.
    pub messages: u128,
}

impl Totals {
    /// The totals of the movement from `source` to `target`.
    ///
    /// # Errors
    /// As [`crate::Plan::between`].
    pub fn between(source: &Distribution, target: &Distribution) -> Result<Self, Error> {
        let problem = Problem::new(source, target)?;
        if problem.has_boxes() || !problem.same_mesh {
            return Ok(Self::of(&between::transfers(source, target)?));
        }
        let (mut all, mut own) = (Part::ONE, Part::ONE);
        for factor in between::factors(&problem, None)? {
            let (factor_all, factor_own) = Part::of(&factor);
            all = all.times(factor_all);
            own = own.times(factor_own);
        }
        Ok(Self {
            moved: all.elements - own.elements,
            kept: own.elements,
            messages: all.pairs - own.pairs,
        })
    }

    /// The totals of listed transfers.
    #[must_use]
    pub fn of(transfers: &[Transfer]) -> Self {
        let size = |travels: bool| -> u128 {
            let some = transfers.iter().filter(|transfer| transfer.travels() == travels);
            some.map(|transfer| transfer.size() as u128).sum()
        };
        let travelling = transfers.iter().filter(|transfer| transfer.travels());
        let pairs: BTreeSet<_> = travelling.map(|transfer| (transfer.from, transfer.to)).collect();
        Self { moved: size(true), kept: size(false), messages: pairs.len() as u128 }
    }
}

/// Elements and pairs of ranks in a factor.
#[derive(Clone, Copy)]
struct Part {
    elements: u128,
    pairs: u128,
}

impl Part {
    const ONE: Self = Self { elements: 1, pairs: 1 };

    fn times(self, other: Self) -> Self {
        Self { elements: self.elements * other.elements, pairs: self.pairs * other.pairs }
    }

    /// All pairs of a factor, and those with the same place on both sides.
    fn of(factor: &Factor) -> (Self, Self) {
        let size = |boxes: &[Vec<IndexSet>]| -> u128 {
            let volume = |sets: &Vec<IndexSet>| -> u128 {
                sets.iter().map(|set| set.size() as u128).product()
            };
            boxes.iter().map(volume).sum()
        };
        let count = |own: bool| {
            let some = factor.entries.iter().filter(|(pair, _)| !own || pair.from == pair.to);
            let places: BTreeSet<_> =
                some.clone().map(|(pair, _)| (&pair.from, &pair.to)).collect();
            let elements = some.map(|(_, boxes)| size(boxes)).sum();
            Self { elements, pairs: places.len() as u128 }
        };
        (count(false), count(true))
    }
}
