//! Movements from and to boxes: one box at a time, the other side is a product.

use std::collections::BTreeMap;

use pantile_geometry::{AxisMap, Distribution, Holder, Holding, IndexSet, Kind, Rank};

use super::factor::{RankPair, class_pairs, merged, side, transfer, tuples};
use super::problem::{Me, Problem, Role};
use super::rule::{Rule, Set};
use crate::{Error, Lifts, Transfer};

type Range = (usize, usize);

/// All transfers, or those of one rank in one role.
pub(super) fn transfers(problem: &Problem, me: Option<&Me>) -> Result<Vec<Transfer>, Error> {
    if problem.source == problem.target {
        return Ok(identity(&problem.source, me));
    }
    let named = (problem.boxes_kind(Role::Sender) != Some(Kind::Copies) || tiles(&problem.source))
        && problem.boxes_kind(Role::Receiver) != Some(Kind::Terms);
    let mut transfers = match (problem.source.boxes(), problem.target.boxes()) {
        _ if !named => cell_by_cell(problem, me)?,
        (Some(_), Some(_)) => both(problem, me),
        (Some(_), None) => one_side(problem, Role::Sender, me),
        _ => one_side(problem, Role::Receiver, me),
    };
    transfers.retain(|transfer| !transfer.region.is_empty());
    Ok(transfers)
}

/// Boxes that hold every element exactly once are as good as the other kind.
fn tiles(side: &Distribution) -> bool {
    !side.clone().all_terms(pantile_geometry::Operator::Sum).has_terms()
}

fn identity(side: &Distribution, me: Option<&Me>) -> Vec<Transfer> {
    let ranks: Vec<Rank> = match me {
        Some(me) => vec![me.rank],
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
fn both(problem: &Problem, me: Option<&Me>) -> Vec<Transfer> {
    let (senders, receivers) = (boxes_of(&problem.source), boxes_of(&problem.target));
    let mut transfers = Vec::new();
    for (_, from, source) in &senders {
        for (_, to, target) in &receivers {
            let wanted = match me {
                None => true,
                Some(me) if me.role == Role::Sender => me.rank == *from,
                Some(me) => me.rank == *to,
            };
            if wanted {
                let meet = source.iter().zip(*target).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
                let meet: Vec<Range> = meet.collect();
                let region = pantile_geometry::Region::from_ranges(&meet);
                let (source_lifts, target_lifts) = (Lifts::default(), Lifts::default());
                transfers.push(Transfer {
                    from: *from,
                    to: *to,
                    source_lifts,
                    target_lifts,
                    region,
                });
            }
        }
    }
    transfers
}

/// Boxes on the side of `boxed`, a product of axes on the other.
fn one_side(problem: &Problem, boxed: Role, me: Option<&Me>) -> Vec<Transfer> {
    let (with_boxes, other) = match boxed {
        Role::Sender => (&problem.source, &problem.target),
        Role::Receiver => (&problem.target, &problem.source),
    };
    let axes = other.axes().unwrap_or_default();
    let mut transfers = Vec::new();
    for (position, rank, ranges) in boxes_of(with_boxes) {
        if me.is_some_and(|me| me.role == boxed && me.rank != rank) {
            continue;
        }
        // If the other side's rank is asked for, only what it holds can matter.
        let only = |axis: usize| match me {
            Some(me) if me.role != boxed => other.coordinate(me.rank, axis),
            _ => None,
        };
        let idle = me.is_some_and(|me| me.role != boxed && problem.is_idle(me));
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

/// What each pair moves, in boxes.
type BoxesOfPairs = BTreeMap<RankPair, Vec<Vec<IndexSet>>>;

fn listed(problem: &Problem, found: BoxesOfPairs) -> Vec<Transfer> {
    let mut transfers = Vec::new();
    for (pair, boxes) in found {
        transfers.extend(merged(boxes).into_iter().map(|sets| transfer(problem, &pair, sets)));
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
    me: Option<&Me>,
    out: &mut Vec<Transfer>,
) {
    let class = &problem.classes[0];
    let alone = Holding {
        holders: vec![Holder { coordinate: position, lift: 0 }],
        owner: Some(Holder { coordinate: position, lift: 0 }),
    };
    let mut found = BoxesOfPairs::new();
    for tuple in tuples(pieces.iter().map(Vec::len).collect()) {
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
    out.extend(listed(problem, found));
}

/// Most cells into which boxes of copies (source) or of terms (target) may cut an array.
const CELLS_LIMIT: usize = 1 << 22;

/// A piece of one axis on which every box is all or nothing, with the holders of the side that
/// has axes.
struct Piece {
    set: IndexSet,
    held: Option<Holding>,
}

/// Boxes of copies as a source, or of terms as a target: every box matters for every other, so
/// the array is cut at all their ends.
fn cell_by_cell(problem: &Problem, me: Option<&Me>) -> Result<Vec<Transfer>, Error> {
    let pieces: Vec<Vec<Piece>> =
        (0..problem.source.ndim()).map(|axis| pieces_of(problem, axis)).collect();
    let counts = pieces.iter().map(|list| list.len() as u128);
    let cells: u128 = counts.product();
    if cells > CELLS_LIMIT as u128 {
        return Err(Error::Boxes { cells, limit: CELLS_LIMIT });
    }
    let class = &problem.classes[0];
    let mut found = BoxesOfPairs::new();
    for tuple in tuples(pieces.iter().map(Vec::len).collect()) {
        let cell: Vec<&Piece> = tuple.iter().zip(&pieces).map(|(at, list)| &list[*at]).collect();
        let corner: Vec<usize> =
            cell.iter().map(|piece| piece.set.hull().map_or(0, |(low, _)| low)).collect();
        let holding = [around(&problem.source, &corner), around(&problem.target, &corner)];
        check_cell(problem, &holding, &cell, &corner)?;
        let along = |axis: usize| match &cell[axis].held {
            Some(held) => Set::Held(held),
            None => Set::Free(1),
        };
        let mut sides =
            [Role::Sender, Role::Receiver].map(|role| side(problem, class, role, &along));
        for (side, held) in sides.iter_mut().zip(&holding) {
            if let Some(held) = held {
                side.ways.iter_mut().for_each(|(_, set)| *set = Set::Held(held));
            }
        }
        let [source, target] = sides;
        let Some(rule) = Rule::new(source, target) else { continue };
        let sets: Vec<IndexSet> = cell.iter().map(|piece| piece.set.clone()).collect();
        for pair in class_pairs(&rule, problem, class, me) {
            found.entry(pair).or_default().push(sets.clone());
        }
    }
    Ok(listed(problem, found))
}

/// An axis cut at the ends of all boxes, and by the axis map of the side that has one.
fn pieces_of(problem: &Problem, axis: usize) -> Vec<Piece> {
    let length = problem.source.shape()[axis];
    let mut cuts: Vec<usize> = vec![0, length];
    for side in [&problem.source, &problem.target] {
        for (_, _, ranges) in boxes_of(side) {
            cuts.extend([ranges[axis].0, ranges[axis].1]);
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    let maps = [&problem.source, &problem.target].map(|side| side.axes().map(|axes| &axes[axis]));
    let map = maps.into_iter().flatten().next();
    let intervals = cuts.windows(2).map(|pair| IndexSet::range(pair[0], pair[1]));
    let split = |interval: IndexSet| match map {
        None => vec![Piece { set: interval, held: None }],
        Some(map) => {
            let parts = map.split(&interval, None).into_iter();
            parts.map(|(held, set)| Piece { set, held: Some(held) }).collect()
        }
    };
    intervals.flat_map(split).collect()
}

/// The boxes around an element as holders of one direction; `None` if the side has axes.
fn around(side: &Distribution, element: &[usize]) -> Option<Holding> {
    let positions = side.boxes()?.around(element);
    let holders: Vec<Holder> = positions.map(|coordinate| Holder { coordinate, lift: 0 }).collect();
    Some(Holding { owner: holders.first().copied(), holders })
}

/// Gaps of boxes: unknown in copies, lost in terms, if the other side has the element.
fn check_cell(
    problem: &Problem,
    holding: &[Option<Holding>; 2],
    cell: &[&Piece],
    corner: &[usize],
) -> Result<(), Error> {
    let by_axes =
        cell.iter().all(|piece| piece.held.as_ref().is_none_or(|h| !h.holders.is_empty()));
    let holds = |side: usize| match &holding[side] {
        Some(held) => !held.holders.is_empty(),
        None => by_axes,
    };
    let index = corner.first().copied().unwrap_or(0);
    let kind = |role: Role| problem.boxes_kind(role);
    if kind(Role::Sender) == Some(Kind::Copies) && !holds(0) && holds(1) {
        return Err(Error::SourceGap { axis: 0, index });
    }
    if kind(Role::Receiver) == Some(Kind::Terms) && !holds(1) && holds(0) {
        return Err(Error::TargetGap { axis: 0, index });
    }
    Ok(())
}
