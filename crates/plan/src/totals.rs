//! How much a movement moves, without listing it: sums over factors, multiplied.

use std::collections::BTreeSet;

use pantile_geometry::{Distribution, IndexSet, Kind};

use crate::between::{self, ClassGroup, Factor, Problem, SideDirection};
use crate::{Error, Transfer};

/// Totals of a movement between two distributions, for any number of ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Totals {
    /// Elements that change rank.
    pub moved: u128,
    /// Elements that a rank gives itself.
    pub kept: u128,
    /// Ordered pairs of different ranks that exchange something.
    pub messages: u128,
    /// False if the numbers are extrapolated from some ranks; see [`Totals::about`].
    pub exact: bool,
}

impl Totals {
    /// The exact totals of the movement from `source` to `target`.
    ///
    /// # Errors
    /// As [`crate::Plan::between`].
    pub fn between(source: &Distribution, target: &Distribution) -> Result<Self, Error> {
        let problem = Problem::new(source, target)?;
        if problem.has_boxes() || !problem.same_mesh {
            return Ok(Self::of(&between::transfers(source, target)?));
        }
        let (mut all, mut own) = (FactorTotals::ONE, FactorTotals::ONE);
        for group in &problem.groups {
            let (group_all, group_own) = if group.axes.is_empty() {
                FactorTotals::of_free(&problem, group)
            } else {
                FactorTotals::of(&between::factor(&problem, group, None)?)
            };
            all = all.times(group_all);
            own = own.times(group_own);
        }
        Ok(Self {
            moved: all.elements - own.elements,
            kept: own.elements,
            messages: all.pairs - own.pairs,
            exact: true,
        })
    }

    /// One movement after another.
    #[must_use]
    pub fn and(&self, next: &Self) -> Self {
        Self {
            moved: self.moved + next.moved,
            kept: self.kept + next.kept,
            messages: self.messages + next.messages,
            exact: self.exact && next.exact,
        }
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
        Self { moved: size(true), kept: size(false), messages: pairs.len() as u128, exact: true }
    }
}

/// Elements and pairs of ranks in a factor.
#[derive(Clone, Copy)]
struct FactorTotals {
    elements: u128,
    pairs: u128,
}

impl FactorTotals {
    const ONE: Self = Self { elements: 1, pairs: 1 };

    fn times(self, other: Self) -> Self {
        Self { elements: self.elements * other.elements, pairs: self.pairs * other.pairs }
    }

    /// Mesh axes that cut nothing on either side: each class is one of them, with a kind per
    /// side, and the pairs follow from its extent.
    fn of_free(problem: &Problem, group: &ClassGroup) -> (Self, Self) {
        let (mut all, mut own) = (1_u128, 1_u128);
        for class in group.classes.iter().map(|number| &problem.classes[*number]) {
            let extent = class.mesh_axes.iter().map(|axis| problem.source.mesh().shape()[*axis]);
            let extent = extent.product::<usize>() as u128;
            let kind = |ways: &[SideDirection], numbers: &[usize]| {
                numbers.first().map(|way| ways[*way].kind)
            };
            let source = kind(&problem.source_ways, &class.source);
            let target = kind(&problem.target_ways, &class.target);
            let (pairs, same) = match (source, target) {
                (Some(Kind::Terms), Some(Kind::Copies)) => (extent * extent, extent),
                (Some(Kind::Copies), Some(Kind::Terms)) => (1, 1),
                _ => (extent, extent),
            };
            all *= pairs;
            own *= same;
        }
        (Self { elements: all, pairs: all }, Self { elements: own, pairs: own })
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
