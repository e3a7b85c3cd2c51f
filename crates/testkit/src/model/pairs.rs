//! The rule of a class, and the movement as a list of pairs for every element.
//!
//! In a class write a source holder as (s, c), its shares in Terms and in Copies directions, and a
//! target holder as (t, d). The pairs are `(s, k(d)) -> (m(s), d)` for all s and all d: every
//! target copy d picks one source copy k(d), every source term s picks one target term m(s).
//!
//! Where the rule has a choice of lifts this model chooses, per array axis:
//!
//! - at the place of a holder of the other side: the lift that holder has on the same array axis,
//!   if both directions of that array axis are in this class and the lift is there; else the
//!   first of 0, -1, 1, -2, 2, ...
//! - at the anchor: the first lift of that order that both sides have (both directions in this
//!   class); else on each side the first it has.
//!
//! A coordinate holds an interval, so the lifts of an element at one place are consecutive: the
//! first of 0, -1, 1, -2, 2, ... is the one nearest to 0, and taking each side's first at the
//! anchor even where a common one exists gives the same pairs. Only the equal lift is a real choice.

use super::axis::lift_order;
use super::classes::{Class, classes, long_axes, same_mesh};
use super::faults::{Fault, faults, lacks};
use super::holders::{Direction, Holder, Part, holder_of, owner_part, parts};
use super::normal::normal_directions;
use super::spec::{Kind, Spec};
use super::{indices, product};
use std::collections::{BTreeMap, BTreeSet};

/// The pairs of one element: from this source holder to this target holder.
pub type Pairs = BTreeSet<(Holder, Holder)>;

/// Every pair of every element that moves or stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Movement {
    /// Pairs by element; elements without pairs are absent.
    pub elements: BTreeMap<Vec<usize>, Pairs>,
}

impl Movement {
    /// Number of pairs, those that stay on their rank included.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.elements.values().map(BTreeSet::len).sum()
    }

    /// Number of pairs between different ranks: what travels.
    #[must_use]
    pub fn moves(&self) -> usize {
        let travels = |pairs: &Pairs| pairs.iter().filter(|(s, t)| s.rank != t.rank).count();
        self.elements.values().map(travels).sum()
    }

    /// Every pair turned around.
    #[must_use]
    pub fn adjoint(&self) -> Self {
        let turned = |pairs: &Pairs| pairs.iter().map(|(s, t)| (t.clone(), s.clone())).collect();
        Self { elements: self.elements.iter().map(|(i, p)| (i.clone(), turned(p))).collect() }
    }
}

/// The movement from `source` to `target`.
///
/// # Errors
/// The first of [`faults`], if there is any.
pub fn between(source: &Spec, target: &Spec) -> Result<Movement, Fault> {
    if let Some(fault) = faults(source, target).into_iter().next() {
        return Err(fault);
    }
    let (from, to) = (normal_directions(source), normal_directions(target));
    let classes = classes((source, &from), (target, &to));
    let mut movement = Movement::default();
    for index in indices(&source.shape) {
        // A gap that is no fault moves nothing: a window, or the identity.
        if lacks((source, &from), &index, None) || lacks((target, &to), &index, None) {
            continue;
        }
        let pairs = element_pairs((source, &from), (target, &to), &classes, &index);
        movement.elements.insert(index, pairs);
    }
    Ok(movement)
}

/// One side of a movement: the distribution and its normal directions.
type Side<'a> = (&'a Spec, &'a [Direction]);

/// The pairs of one element that both sides hold: the product over classes.
fn element_pairs(source: Side, target: Side, classes: &[Class], index: &[usize]) -> Pairs {
    let by_rank = !same_mesh(source.0, target.0);
    let of_class = |class: &Class| {
        let from = Half::new(source, &class.source, by_rank, index);
        let to = Half::new(target, &class.target, by_rank, index);
        class_pairs(&from, &to)
    };
    let whole = |side: Side, shares: Vec<(&[usize], &Vec<Part>)>| {
        let mut parts = vec![None; side.1.len()];
        for (members, share) in shares {
            members.iter().zip(share).for_each(|(&m, part)| parts[m] = Some(part.clone()));
        }
        let parts: Option<Vec<Part>> = parts.into_iter().collect();
        holder_of(side.0, side.1, &parts.expect("every direction is in one class"))
    };
    let combinations = product(&classes.iter().map(of_class).collect::<Vec<_>>());
    let pair = |combination: Vec<(Vec<Part>, Vec<Part>)>| {
        let shares = || classes.iter().zip(&combination);
        let from = shares().map(|(class, pair)| (&class.source[..], &pair.0)).collect();
        let to = shares().map(|(class, pair)| (&class.target[..], &pair.1)).collect();
        (whole(source, from), whole(target, to))
    };
    combinations.into_iter().map(pair).collect()
}

/// Source and target share of a holder pair in one class, one part per member direction.
type SharePair = (Vec<Part>, Vec<Part>);

/// The rule of a class.
fn class_pairs(source: &Half, target: &Half) -> Vec<SharePair> {
    let anchor = anchor(source, target);
    // What to take where nobody is at the place, or where there is no anchor: the owner's share.
    let owner_copy = source.share(&source.owner(), Kind::Copies);
    let owner_term = target.share(&target.owner(), Kind::Terms);
    let k = |d: &[Part]| {
        let (_, anchor) = anchor.as_ref()?;
        let beside = target.join(&target.share(anchor, Kind::Terms), d);
        let found = source.find(&target.place(&beside), &target.lifts(&beside))?;
        Some(source.share(&found, Kind::Copies))
    };
    let m = |s: &[Part]| {
        let (anchor, _) = anchor.as_ref()?;
        let beside = source.join(s, &source.share(anchor, Kind::Copies));
        let found = target.find(&source.place(&beside), &source.lifts(&beside))?;
        Some(target.share(&found, Kind::Terms))
    };
    let picks: Vec<_> = target
        .shares(Kind::Copies)
        .into_iter()
        .map(|d| (k(&d).unwrap_or_else(|| owner_copy.clone()), d))
        .collect();
    let mut pairs = Vec::new();
    for s in source.shares(Kind::Terms) {
        let t = m(&s).unwrap_or_else(|| owner_term.clone());
        for (c, d) in &picks {
            pairs.push((source.join(&s, c), target.join(&t, d)));
        }
    }
    pairs
}

/// The lowest place that holds the element on both sides, with the holder of each side there.
fn anchor(source: &Half, target: &Half) -> Option<SharePair> {
    let place = source.at.keys().find(|place| target.at.contains_key(*place))?;
    let (there, here) = (source.lifts_at(place), target.lifts_at(place));
    let common: BTreeMap<usize, i64> = there
        .iter()
        .filter_map(|(axis, lifts)| {
            let both = lifts.intersection(here.get(axis)?);
            Some((*axis, *both.min_by_key(|lift| lift_order(**lift))?))
        })
        .collect();
    Some((source.find(place, &common)?, target.find(place, &common)?))
}

/// One side of one class, for one element.
struct Half<'a> {
    spec: &'a Spec,
    /// The directions of this side that are in the class.
    members: Vec<&'a Direction>,
    /// Places are world ranks (different meshes), not coordinates on the class's mesh axes.
    by_rank: bool,
    /// The element's owner along each member.
    owners: Vec<Option<Part>>,
    /// Every holder (one part per member) by its place; lowest place first.
    at: BTreeMap<Vec<usize>, Vec<Vec<Part>>>,
}

impl<'a> Half<'a> {
    fn new(side: Side<'a>, members: &[usize], by_rank: bool, index: &[usize]) -> Self {
        let (spec, directions) = side;
        let members: Vec<&Direction> = members.iter().map(|&m| &directions[m]).collect();
        let each: Vec<_> = members.iter().map(|d| parts(spec, d, index)).collect();
        let owners = members.iter().map(|d| owner_part(spec, d, index)).collect();
        let mut half = Self { spec, members, by_rank, owners, at: BTreeMap::new() };
        for holder in product(&each) {
            half.at.entry(half.place(&holder)).or_default().push(holder);
        }
        half
    }

    fn owner(&self) -> Vec<Part> {
        let owners: Option<Vec<Part>> = self.owners.iter().cloned().collect();
        owners.expect("elements with gaps have no pairs")
    }

    /// A holder's share in the directions of one kind.
    fn share(&self, holder: &[Part], kind: Kind) -> Vec<Part> {
        let along = self.members.iter().zip(holder);
        along.filter(|(member, _)| member.kind == kind).map(|(_, part)| part.clone()).collect()
    }

    /// All different shares in the directions of one kind.
    fn shares(&self, kind: Kind) -> BTreeSet<Vec<Part>> {
        self.at.values().flatten().map(|holder| self.share(holder, kind)).collect()
    }

    /// The holder with these shares in Terms and in Copies directions.
    fn join(&self, terms: &[Part], copies: &[Part]) -> Vec<Part> {
        let (mut terms, mut copies) = (terms.iter(), copies.iter());
        let next = |member: &&Direction| match member.kind {
            Kind::Terms => terms.next().cloned(),
            Kind::Copies => copies.next().cloned(),
        };
        let joined: Option<Vec<Part>> = self.members.iter().map(next).collect();
        joined.expect("a share has one part per direction of its kind")
    }

    /// Where a holder is: its coordinates on the class's mesh axes longer than 1 in mesh order,
    /// or its world rank. The order of places is the order of these lists.
    fn place(&self, holder: &[Part]) -> Vec<usize> {
        if self.by_rank {
            let members: Vec<Direction> = self.members.iter().map(|&d| d.clone()).collect();
            return vec![holder_of(self.spec, &members, holder).rank];
        }
        let long = long_axes(self.spec);
        let mut coordinates = BTreeMap::new();
        for (member, part) in self.members.iter().zip(holder) {
            for (mesh_axis, coordinate) in member.over.iter().zip(&part.coordinate) {
                if let Some(number) = long[*mesh_axis] {
                    coordinates.insert(number, *coordinate);
                }
            }
        }
        coordinates.into_values().collect()
    }

    /// A holder's lift by array axis, for the array axes of this class.
    fn lifts(&self, holder: &[Part]) -> BTreeMap<usize, i64> {
        let axes = self.members.iter().flat_map(|member| member.axes.iter().copied());
        axes.zip(holder.iter().flat_map(|part| part.lifts.iter().copied())).collect()
    }

    /// The lifts at one place by array axis; they are independent of each other.
    fn lifts_at(&self, place: &[usize]) -> BTreeMap<usize, BTreeSet<i64>> {
        let mut found: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
        for holder in self.at.get(place).into_iter().flatten() {
            for (axis, lift) in self.lifts(holder) {
                found.entry(axis).or_default().insert(lift);
            }
        }
        found
    }

    /// The holder at a place, if any: of several lifts the wanted one, else the first of
    /// 0, -1, 1, -2, 2, ... on each array axis.
    fn find(&self, place: &[usize], wanted: &BTreeMap<usize, i64>) -> Option<Vec<Part>> {
        let chosen: BTreeMap<usize, i64> = self
            .lifts_at(place)
            .into_iter()
            .filter_map(|(axis, lifts)| match wanted.get(&axis) {
                Some(lift) if lifts.contains(lift) => Some((axis, *lift)),
                _ => lifts.into_iter().min_by_key(|lift| lift_order(*lift)).map(|l| (axis, l)),
            })
            .collect();
        self.at.get(place)?.iter().find(|holder| self.lifts(holder) == chosen).cloned()
    }
}
