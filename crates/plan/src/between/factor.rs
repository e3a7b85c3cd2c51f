//! Tables of pairs and regions; the product of all tables is the movement.

use std::collections::BTreeMap;

use pantile_geometry::{Holder, IndexSet, Region};

use smallvec::smallvec;

use super::atoms::{Atom, atoms};
use super::problem::{ClassGroup, DirectionClass, Me, Problem, Role, SideDirection};
use super::rule::{Choice, ClassSide, Coordinates, RankPlaces, Rule, Set};
use crate::{Error, Lifts, Transfer};

/// A source holder and a target holder, as far as one factor knows them: mesh coordinates
/// (0 on the axes of other factors) and lifts other than 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RankPair {
    pub(crate) from: Coordinates,
    pub(crate) to: Coordinates,
    pub(crate) from_lifts: Vec<(usize, i64)>,
    pub(crate) to_lifts: Vec<(usize, i64)>,
}

/// The pairs of some classes with what they move: products of index sets on `axes`.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    pub(crate) axes: Vec<usize>,
    pub(crate) entries: Vec<(RankPair, Vec<Vec<IndexSet>>)>,
}

/// Most pairs of a class, and most transfers of a movement, that are listed.
const PAIRS_LIMIT: usize = 1 << 26;

/// Refuses what cannot be listed.
pub(super) fn check_limit(pairs: u128) -> Result<(), Error> {
    if pairs <= PAIRS_LIMIT as u128 {
        return Ok(());
    }
    Err(Error::TooMany { pairs, limit: PAIRS_LIMIT })
}

/// The factors of a movement; with `me`, only what that rank sends or receives.
pub(crate) fn factors(problem: &Problem, me: Option<&Me>) -> Result<Vec<Factor>, Error> {
    problem.groups.iter().map(|group| factor(problem, group, me)).collect()
}

/// The table of one group of classes.
pub(crate) fn factor(
    problem: &Problem,
    group: &ClassGroup,
    me: Option<&Me>,
) -> Result<Factor, Error> {
    let mut lists: Vec<Vec<Atom>> = Vec::new();
    for axis in &group.axes {
        let only = match me {
            None => None,
            Some(me) => match problem.coordinate(me, *axis) {
                Some(coordinate) => Some((me.role, coordinate)),
                // An idle rank: there is nothing to list.
                None => return Ok(Factor { axes: group.axes.clone(), entries: Vec::new() }),
            },
        };
        let whole = IndexSet::range(0, problem.source.shape()[*axis]);
        lists.push(atoms(problem.maps(*axis), &whole, only));
    }
    let mut found: BTreeMap<RankPair, Vec<Vec<IndexSet>>> = BTreeMap::new();
    check_limit(lists.iter().map(|list| list.len() as u128).product())?;
    for at in tuples(lists.iter().map(Vec::len).collect()) {
        let tuple: Vec<&Atom> = at.iter().zip(&lists).map(|(at, list)| &list[*at]).collect();
        for pair in pairs_of(problem, group, &tuple, me)? {
            let sets = tuple.iter().map(|atom| atom.set.clone()).collect();
            found.entry(pair).or_default().push(sets);
        }
    }
    let entries = found.into_iter().map(|(pair, sets)| (pair, merged(sets))).collect();
    Ok(Factor { axes: group.axes.clone(), entries })
}

/// One number below each count, in every combination, row-major.
pub(super) fn tuples(counts: Vec<usize>) -> impl Iterator<Item = Vec<usize>> {
    let first = (!counts.contains(&0)).then(|| vec![0; counts.len()]);
    std::iter::successors(first, move |at| {
        let axis = (0..counts.len()).rev().find(|axis| at[*axis] + 1 < counts[*axis])?;
        let mut next = at.clone();
        next[axis] += 1;
        next[axis + 1..].fill(0);
        Some(next)
    })
}

/// The pairs of all classes of a group, multiplied.
fn pairs_of(
    problem: &Problem,
    group: &ClassGroup,
    tuple: &[&Atom],
    me: Option<&Me>,
) -> Result<Vec<RankPair>, Error> {
    let mut product = vec![RankPair {
        from: smallvec![0; problem.source.mesh().shape().len()],
        to: smallvec![0; problem.target.mesh().shape().len()],
        ..RankPair::default()
    }];
    for class in group.classes.iter().map(|number| &problem.classes[*number]) {
        let along = |axis: usize| tuple[group.axes.binary_search(&axis).expect("axis of group")];
        let source = side(problem, class, Role::Sender, &|axis| Set::Held(&along(axis).source));
        let target = side(problem, class, Role::Receiver, &|axis| Set::Held(&along(axis).target));
        check_limit(if me.is_none() { Rule::work(&source, &target) } else { 0 })?;
        let Some(rule) = Rule::new(source, target) else { return Ok(Vec::new()) };
        let pairs = class_pairs(&rule, problem, class, me);
        check_limit(product.len() as u128 * pairs.len() as u128)?;
        let longer = product.iter().flat_map(|pair| pairs.iter().map(|more| pair.and(more)));
        product = longer.collect();
    }
    Ok(product)
}

/// One side of a class; `held` gives the holders along an array axis.
pub(super) fn side<'a>(
    problem: &'a Problem,
    class: &'a DirectionClass,
    role: Role,
    held: &dyn Fn(usize) -> Set<'a>,
) -> ClassSide<'a> {
    let (distribution, ways, numbers) = match role {
        Role::Sender => (&problem.source, &problem.source_ways, &class.source),
        Role::Receiver => (&problem.target, &problem.target_ways, &class.target),
    };
    let places = if problem.same_mesh {
        RankPlaces::Coordinates { mesh_axes: &class.mesh_axes, shape: distribution.mesh().shape() }
    } else {
        RankPlaces::Ranks(distribution)
    };
    let set = |way: &'a SideDirection| match way.axis {
        Some(axis) => (way, held(axis)),
        None => (way, Set::Free(way.extents.iter().product())),
    };
    ClassSide { ways: numbers.iter().map(|number| set(&ways[*number])).collect(), places }
}

/// The pairs of a class, or those of one rank.
pub(super) fn class_pairs(
    rule: &Rule<'_>,
    problem: &Problem,
    class: &DirectionClass,
    me: Option<&Me>,
) -> Vec<RankPair> {
    let chosen = match me {
        None => rule.pairs(),
        Some(me) => {
            let Some(place) = me.place(problem, class) else { return Vec::new() };
            match me.role {
                Role::Sender => rule.sends(place),
                Role::Receiver => rule.receives(place),
            }
        }
    };
    chosen.into_iter().map(|(from, to)| RankPair::new(rule, &from, &to)).collect()
}

impl RankPair {
    fn new(rule: &Rule<'_>, from: &Choice, to: &Choice) -> Self {
        let lifts = |side: &ClassSide<'_>, choice: &[Holder]| -> Vec<(usize, i64)> {
            let moved = side.ways.iter().zip(choice).filter(|(_, holder)| holder.lift != 0);
            moved.filter_map(|((way, _), holder)| Some((way.axis?, holder.lift))).collect()
        };
        let (source, target) = rule.sides();
        Self {
            from: source.coordinates(from),
            to: target.coordinates(to),
            from_lifts: lifts(source, from),
            to_lifts: lifts(target, to),
        }
    }

    /// This and another factor's pair together: their mesh axes are disjoint.
    fn and(&self, more: &Self) -> Self {
        let add = |a: &[usize], b: &[usize]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        let join = |a: &[(usize, i64)], b: &[(usize, i64)]| {
            let mut joined: Vec<(usize, i64)> = a.iter().chain(b).copied().collect();
            joined.sort_unstable();
            joined
        };
        Self {
            from: add(&self.from, &more.from),
            to: add(&self.to, &more.to),
            from_lifts: join(&self.from_lifts, &more.from_lifts),
            to_lifts: join(&self.to_lifts, &more.to_lifts),
        }
    }
}

/// Boxes that differ on one axis only become one box, axis by axis.
pub(crate) fn merged(mut boxes: Vec<Vec<IndexSet>>) -> Vec<Vec<IndexSet>> {
    let ndim = boxes.first().map_or(0, Vec::len);
    for axis in 0..ndim {
        if boxes.len() == 1 {
            return boxes;
        }
        let mut alike: BTreeMap<Vec<IndexSet>, Vec<IndexSet>> = BTreeMap::new();
        for mut sets in boxes {
            let own = std::mem::replace(&mut sets[axis], IndexSet::range(0, 0));
            alike.entry(sets).or_default().push(own);
        }
        let join = |(mut sets, own): (Vec<IndexSet>, Vec<IndexSet>)| {
            sets[axis] = IndexSet::union(&own);
            sets
        };
        boxes = alike.into_iter().map(join).collect();
    }
    boxes
}

/// All combinations of one entry per factor.
pub(crate) fn multiply(problem: &Problem, factors: &[Factor]) -> Result<Vec<Transfer>, Error> {
    let count = |factor: &Factor| -> u128 {
        factor.entries.iter().map(|(_, boxes)| boxes.len() as u128).sum()
    };
    check_limit(factors.iter().map(count).product::<u128>())?;
    let mut transfers = Vec::new();
    let base = RankPair {
        from: smallvec![0; problem.source.mesh().shape().len()],
        to: smallvec![0; problem.target.mesh().shape().len()],
        ..RankPair::default()
    };
    let mut sets: Vec<IndexSet> = vec![IndexSet::range(0, 0); problem.source.ndim()];
    descend(problem, factors, &base, &mut sets, &mut transfers);
    Ok(transfers)
}

fn descend(
    problem: &Problem,
    factors: &[Factor],
    pair: &RankPair,
    sets: &mut Vec<IndexSet>,
    out: &mut Vec<Transfer>,
) {
    let Some((factor, rest)) = factors.split_first() else {
        out.push(transfer(problem, pair, sets.clone()));
        return;
    };
    for (more, boxes) in &factor.entries {
        let pair = pair.and(more);
        for product in boxes {
            for (axis, set) in factor.axes.iter().zip(product) {
                sets[*axis] = set.clone();
            }
            descend(problem, rest, &pair, sets, out);
        }
    }
}

pub(super) fn transfer(problem: &Problem, pair: &RankPair, sets: Vec<IndexSet>) -> Transfer {
    let lifts = |some: &[(usize, i64)]| {
        let mut turns = if some.is_empty() { Vec::new() } else { vec![0; sets.len()] };
        some.iter().for_each(|(axis, lift)| turns[*axis] = *lift);
        Lifts::new(turns)
    };
    Transfer {
        from: problem.source.mesh().rank_of(&pair.from),
        to: problem.target.mesh().rank_of(&pair.to),
        source_lifts: lifts(&pair.from_lifts),
        target_lifts: lifts(&pair.to_lifts),
        region: Region::new(sets),
    }
}
