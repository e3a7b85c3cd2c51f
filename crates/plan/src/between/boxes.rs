//! Movements from and to boxes: one box at a time, the other side is a product.

use std::collections::BTreeMap;

use pantile_geometry::{AxisMap, Distribution, Holder, Holding, IndexSet, Kind, Rank};

use super::factor::{class_pairs, side, transfer};
use super::problem::{Problem, Role};
use super::rule::{Rule, Set};
use crate::{Error, Lifts, Transfer};

type Range = (usize, usize);

/// All transfers, or those of one rank in one role.
pub(super) fn transfers(
    problem: &Problem,
    me: Option<(Rank, Role)>,
) -> Result<Vec<Transfer>, Error> {
    if problem.source == problem.target {
        return Ok(identity(&problem.source, me));
    }
    check(problem)?;
    let mut transfers = match (problem.source.boxes(), problem.target.boxes()) {
        (Some(_), Some(_)) => both(problem, me),
        (Some(_), None) => one_side(problem, Role::Sender, me),
        _ => one_side(problem, Role::Receiver, me),
    };
    transfers.retain(|transfer| !transfer.region.is_empty());
    Ok(transfers)
}

/// Boxes that hold every element exactly once are as good as the other kind.
fn check(problem: &Problem) -> Result<(), Error> {
    let tiles = |distribution: &Distribution| {
        let terms = distribution.clone().all_terms(pantile_geometry::Operator::Sum);
        !terms.has_terms()
    };
    if problem.boxes_kind(Role::Sender) == Some(Kind::Copies) && !tiles(&problem.source) {
        return Err(Error::Boxes { side: "source" });
    }
    if problem.boxes_kind(Role::Receiver) == Some(Kind::Terms) {
        return Err(Error::Boxes { side: "target" });
    }
    Ok(())
}

fn identity(side: &Distribution, me: Option<(Rank, Role)>) -> Vec<Transfer> {
    let ranks: Vec<Rank> = match me {
        Some((rank, _)) => vec![rank],
        None => side.mesh().ranks().collect(),
    };
    let own = |rank: Rank| {
        side.held(rank).into_iter().filter(|(_, region)| !region.is_empty()).map(move |held| {
            let (source_lifts, target_lifts) = (Lifts::default(), Lifts::default());
            Transfer { from: rank, to: rank, source_lifts, target_lifts, region: held.1 }
        })
    };
    ranks.into_iter().flat_map(own).collect()
}

fn boxes_of(side: &Distribution) -> Vec<(usize, Rank, &[Range])> {
    let list = side.boxes().map_or(&[][..], |boxes| boxes.list());
    let full = list.iter().enumerate().filter(|(_, b)| b.iter().all(|(from, to)| from < to));
    full.map(|(at, ranges)| (at, side.mesh().rank_at(at), ranges.as_slice())).collect()
}

/// Terms in boxes to copies in boxes: everybody to everybody whose boxes meet.
fn both(problem: &Problem, me: Option<(Rank, Role)>) -> Vec<Transfer> {
    let (senders, receivers) = (boxes_of(&problem.source), boxes_of(&problem.target));
    let mut transfers = Vec::new();
    for (_, from, source) in &senders {
        for (_, to, target) in &receivers {
            let wanted = match me {
                None => true,
                Some((rank, Role::Sender)) => rank == *from,
                Some((rank, Role::Receiver)) => rank == *to,
            };
            if wanted {
                let meet = source.iter().zip(*target).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
                let meet: Vec<Range> = meet.collect();
                let region = pantile_geometry::Region::from_ranges(&meet);
                let (source_lifts, target_lifts) = (Lifts::default(), Lifts::default());
                transfers.push(Transfer { from: *from, to: *to, source_lifts, target_lifts, region });
            }
        }
    }
    transfers
}

/// Boxes on the side of `boxed`, a product of axes on the other.
fn one_side(problem: &Problem, boxed: Role, me: Option<(Rank, Role)>) -> Vec<Transfer> {
    let (with_boxes, other) = match boxed {
        Role::Sender => (&problem.source, &problem.target),
        Role::Receiver => (&problem.target, &problem.source),
    };
    let axes = other.axes().unwrap_or_default();
    let mut transfers = Vec::new();
    for (position, rank, ranges) in boxes_of(with_boxes) {
        if me.is_some_and(|(me, role)| role == boxed && me != rank) {
            continue;
        }
        // If the other side's rank is asked for, only what it holds can matter.
        let only = |axis: usize| match me {
            Some((me, role)) if role != boxed => other.coordinate(me, axis),
            _ => None,
        };
        let idle = me.is_some_and(|(me, role)| {
            role != boxed && other.mesh().position_of(me).is_none()
        });
        if idle {
            continue;
        }
        let pieces: Vec<Vec<(Holding, IndexSet)>> = axes
            .iter()
            .enumerate()
            .map(|(axis, map)| split(map, ranges[axis], only(axis)))
            .collect();
        one_box(problem, boxed, (position, &pieces), me, &mut transfers);
    }
    transfers
}

fn split(map: &AxisMap, (from, to): Range, only: Option<usize>) -> Vec<(Holding, IndexSet)> {
    map.split(&IndexSet::range(from, to), only)
}

type Pieces<'a> = (usize, &'a [Vec<(Holding, IndexSet)>]);

fn one_box(
    problem: &Problem,
    boxed: Role,
    (position, pieces): Pieces<'_>,
    me: Option<(Rank, Role)>,
    out: &mut Vec<Transfer>,
) {
    let class = &problem.classes[0];
    let alone = Holding {
        holders: vec![Holder { coordinate: position, lift: 0 }],
        owner: Some(Holder { coordinate: position, lift: 0 }),
    };
    let mut found: BTreeMap<_, Vec<Vec<IndexSet>>> = BTreeMap::new();
    for tuple in tuples(pieces) {
        let along = |axis: usize| Set::Held(&pieces[axis][tuple[axis]].0);
        let mut source = side(problem, class, Role::Sender, &along);
        let mut target = side(problem, class, Role::Receiver, &along);
        let one = match boxed {
            Role::Sender => &mut source,
            Role::Receiver => &mut target,
        };
        one.ways.iter_mut().for_each(|(_, set)| *set = Set::Held(&alone));
        let Some(rule) = Rule::new(source, target) else { continue };
        let sets: Vec<IndexSet> =
            tuple.iter().enumerate().map(|(axis, at)| pieces[axis][*at].1.clone()).collect();
        for pair in class_pairs(&rule, problem, class, me) {
            found.entry(pair).or_default().push(sets.clone());
        }
    }
    for (pair, boxes) in found {
        out.extend(boxes.into_iter().map(|sets| transfer(problem, &pair, &sets)));
    }
}

/// One piece number per axis, in every combination.
fn tuples(pieces: &[Vec<(Holding, IndexSet)>]) -> Vec<Vec<usize>> {
    let mut tuples = vec![Vec::new()];
    for list in pieces {
        let longer = tuples.iter().flat_map(|tuple: &Vec<usize>| {
            (0..list.len()).map(move |at| {
                let mut tuple = tuple.clone();
                tuple.push(at);
                tuple
            })
        });
        tuples = longer.collect();
    }
    tuples
}
