//! Partitions and groups against worked examples and against enumeration from the definitions.

use pantile_geometry::teams::{AxisChoice, Groups, Movement, Partition, TeamError, Transpose};
use pantile_testkit::{Rng, numbers};

/// Neither side reversed.
const PLAIN: Transpose = Transpose { source: false, target: false };
/// Source reversed.
const SOURCE: Transpose = Transpose { source: true, target: false };
/// Target reversed.
const TARGET: Transpose = Transpose { source: false, target: true };
/// Both reversed.
const BOTH: Transpose = Transpose { source: true, target: true };

/// Some of thirty ranks, in any order.
fn distinct(rng: &mut Rng, count: usize) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..30).collect();
    rng.shuffle(&mut ranks);
    ranks.truncate(count);
    ranks
}

fn team(ranks: &[usize]) -> Partition {
    Partition::world(20).unwrap().inclusive(ranks).unwrap()
}

fn grid(ranks: &[usize], shape: &[usize]) -> Partition {
    team(ranks).cartesian(shape).unwrap()
}

fn span(from: usize, to: usize) -> Vec<usize> {
    (from..to).collect()
}

fn listed(groups: &Groups) -> Vec<Vec<usize>> {
    groups.iter().map(|group| group.members).collect()
}

fn members(partition: &Partition) -> Vec<usize> {
    partition.world_ranks().collect()
}

#[test]
fn inclusive_keeps_the_order_given() {
    let pair = team(&[3, 1]);
    assert_eq!(pair.rank_of(3), Some(0));
    assert_eq!(pair.rank_of(1), Some(1));
    assert_eq!((pair.rank_of(0), pair.rank_of(2)), (None, None));
    // Ranks are relative to the parent.
    assert_eq!(members(&team(&[5, 9, 4]).inclusive(&[2, 0]).unwrap()), [4, 5]);
    let world = Partition::world(4).unwrap();
    assert_eq!(world.inclusive(&[]), Err(TeamError::Empty));
    assert_eq!(world.inclusive(&[1, 4]), Err(TeamError::RankOutOfRange { rank: 4, size: 4 }));
    assert_eq!(team(&[7, 8]).inclusive(&[1, 1]), Err(TeamError::RepeatedRank { rank: 1 }));
    assert_eq!(Partition::null().inclusive(&[0]), Err(TeamError::Null));
    assert_eq!(Partition::world(0), Err(TeamError::Empty));
    assert!(matches!(Partition::world(usize::MAX), Err(TeamError::TooLarge { .. })));
}

#[test]
fn union_lists_self_first() {
    let both = team(&[4, 2, 0]).union(&team(&[0, 5, 2, 1])).unwrap();
    assert_eq!(members(&both), [4, 2, 0, 5, 1]);
    let same = team(&[4, 2]);
    assert_eq!(same.union(&same).unwrap(), same);
    assert_eq!(same.union(&Partition::null()), Err(TeamError::Null));
    assert_eq!(Partition::null().union(&same), Err(TeamError::Null));
    let elsewhere = Partition::root(1, 20).unwrap();
    assert_eq!(same.union(&elsewhere), Err(TeamError::DifferentRoots));
    assert_eq!(same.union(&Partition::world(6).unwrap()), Err(TeamError::DifferentRoots));
}

#[test]
fn equality_is_structural_and_null_equals_nothing() {
    assert_eq!(team(&[1, 2]), team(&[1, 2]));
    assert_ne!(team(&[1, 2]), team(&[2, 1]));
    assert_ne!(team(&[1, 2]), team(&[1, 2, 3]));
    assert_ne!(team(&[1, 2]), grid(&[1, 2], &[2]));
    assert_ne!(grid(&[1, 2], &[1, 2]), grid(&[1, 2], &[2, 1]));
    assert_ne!(Partition::world(4).unwrap(), Partition::root(1, 4).unwrap());
    assert_ne!(Partition::null(), Partition::null());
    assert_ne!(Partition::null(), team(&[0]));
}

#[test]
fn cartesian_shapes_fill_the_team() {
    let world = Partition::world(12).unwrap();
    for shape in [&[2, 3][..], &[12, 0], &[13], &[], &[usize::MAX, 2, 8], &[0]] {
        let got = world.cartesian(shape);
        assert_eq!(got, Err(TeamError::ShapeDoesNotFill { shape: shape.to_vec(), size: 12 }));
    }
    assert_eq!(Partition::null().cartesian(&[]), Err(TeamError::Null));
    assert_eq!(team(&[3]).cartesian(&[]).unwrap().dim(), 0);
    assert!(world.cartesian_index(0).is_err());
}

#[test]
fn workers_see_what_they_are_part_of() {
    let pair = team(&[3, 1]);
    let inside = pair.worker(1);
    assert_eq!((inside.rank, inside.size), (Some(1), Some(2)));
    assert_eq!((inside.shape, inside.index), (Some(vec![2]), Some(vec![1])));
    let outside = pair.worker(0);
    assert_eq!((outside.rank, outside.size, outside.shape), (None, None, None));
    let outside = grid(&[3, 1], &[2, 1]).worker(0);
    assert_eq!((outside.shape, outside.index), (Some(vec![2, 1]), None));
}

#[test]
fn neighbours_never_wrap() {
    let square = grid(&span(0, 4), &[2, 2]);
    let all: Vec<_> = (0..4).map(|rank| square.neighbour_ranks(rank).unwrap()).collect();
    assert_eq!(all[0], [(None, Some(2)), (None, Some(1))]);
    assert_eq!(all[1], [(None, Some(3)), (Some(0), None)]);
    assert_eq!(all[2], [(Some(0), None), (None, Some(3))]);
    assert_eq!(all[3], [(Some(1), None), (Some(2), None)]);
    assert!(square.neighbour_ranks(4).is_err());
    // The box of V22: coordinates (1,0,4) of 3x4x5.
    let cube = Partition::world(60).unwrap().cartesian(&[3, 4, 5]).unwrap();
    assert_eq!(cube.rank_of_index(&[1, 0, 4]), Ok(24));
    let expected = [(Some(4), Some(44)), (None, Some(29)), (Some(23), None)];
    assert_eq!(cube.neighbour_ranks(24).unwrap(), expected);
    assert!(cube.rank_of_index(&[1, 0]).is_err());
    assert!(cube.rank_of_index(&[1, 4, 0]).is_err());
}

#[test]
fn subtopologies_drop_axes() {
    let cube = grid(&span(0, 12), &[2, 3, 2]);
    let mine = cube.subtopology_of(0, &[false, true, false]).unwrap();
    assert_eq!((members(&mine), mine.shape()), (vec![0, 2, 4], vec![3]));
    let all: Vec<_> = cube.subtopologies(&[false, true, false]).unwrap().collect();
    assert_eq!(
        all.iter().map(members).collect::<Vec<_>>(),
        [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]
    );
    assert!(cube.subtopology_of(12, &[true; 3]).unwrap().is_null());
    assert_eq!(cube.subtopology_of(5, &[true; 3]).unwrap(), cube);
    let alone = cube.subtopology_of(5, &[false; 3]).unwrap();
    assert_eq!((members(&alone), alone.dim()), (vec![5], 0));
    assert!(cube.subtopology_of(0, &[true; 2]).is_err());
    assert!(team(&[0, 1]).subtopologies(&[true]).is_err());
}

#[test]
fn allreduction_teams_share_the_kept_coordinates() {
    let cube = grid(&span(0, 12), &[2, 3, 2]);
    let teams = |axes: AxisChoice| -> (Vec<Vec<usize>>, Vec<usize>) {
        let all: Vec<_> = cube.allreductions(&axes).unwrap().collect();
        (all.iter().map(members).collect(), all[0].shape())
    };
    let outer = (vec![vec![0, 1, 6, 7], vec![2, 3, 8, 9], vec![4, 5, 10, 11]], vec![2, 1, 2]);
    assert_eq!(teams(AxisChoice::Reduce(vec![0, 2])), outer);
    assert_eq!(teams(AxisChoice::Reduce(vec![2, 0])), outer);
    assert_eq!(teams(AxisChoice::Keep(vec![1])), outer);
    let middle = vec![vec![0, 2, 4], vec![1, 3, 5], vec![6, 8, 10], vec![7, 9, 11]];
    assert_eq!(teams(AxisChoice::Reduce(vec![1])), (middle, vec![1, 3, 1]));
    let singles = (0..12).map(|rank| vec![rank]).collect();
    assert_eq!(teams(AxisChoice::Reduce(vec![])), (singles, vec![1, 1, 1]));
    assert_eq!(teams(AxisChoice::Keep(vec![])), (vec![span(0, 12)], vec![2, 3, 2]));
    let cells = cube.allreduction_cells(&AxisChoice::Reduce(vec![0, 2])).unwrap();
    assert_eq!((cells.count, cells.matched_axes, cells.spread_axes), (3, vec![1], vec![0, 2]));
}

#[test]
fn wrong_axes_are_never_ignored() {
    let cube = grid(&span(0, 12), &[2, 3, 2]);
    let error = |axes: AxisChoice| cube.allreduction_of(0, &axes).unwrap_err();
    let ndim = 3;
    // Negative axes count from the end, and are the same axes.
    assert_eq!(AxisChoice::Reduce(vec![-1]).kept(ndim), AxisChoice::Reduce(vec![2]).kept(ndim));
    assert_eq!(AxisChoice::Keep(vec![-3]).kept(ndim), AxisChoice::Keep(vec![0]).kept(ndim));
    assert_eq!(error(AxisChoice::Reduce(vec![2, -1])), TeamError::RepeatedAxis { axis: -1 });
    assert_eq!(error(AxisChoice::Keep(vec![-4])), TeamError::AxisOutOfRange { axis: -4, ndim });
    assert_eq!(error(AxisChoice::Reduce(vec![3])), TeamError::AxisOutOfRange { axis: 3, ndim });
    assert_eq!(error(AxisChoice::Keep(vec![1, 1])), TeamError::RepeatedAxis { axis: 1 });
    let line = team(&[0, 1]).allreduction_of(0, &AxisChoice::Reduce(vec![0]));
    assert_eq!(line, Err(TeamError::NotCartesian));
}

#[test]
fn broadcast_groups() {
    let check = |source: &Partition, target: &Partition, flags, expected: &[&[usize]]| {
        let groups = Groups::broadcast(source, target, flags).unwrap();
        assert_eq!(listed(&groups), expected);
    };
    let cube = grid(&span(0, 12), &[2, 3, 2]);
    let table = grid(&span(0, 12), &[3, 4]);
    // G1, and the same with the source listed backwards.
    let thirds: &[&[usize]] = &[&[1, 0, 6, 7], &[2, 3, 8, 9], &[3, 4, 5, 10, 11]];
    check(&grid(&[1, 2, 3], &[1, 3, 1]), &cube, PLAIN, thirds);
    let backwards = Groups::broadcast(&grid(&[3, 2, 1], &[1, 3, 1]), &cube, PLAIN).unwrap();
    assert_eq!(backwards.group(0).unwrap().members, [3, 1, 0, 6, 7]);
    // G4, G5
    let rows: &[&[usize]] = &[&[0, 1, 2, 3], &[1, 4, 5, 6, 7], &[2, 8, 9, 10, 11]];
    check(&grid(&span(0, 3), &[1, 3]), &table, SOURCE, rows);
    let columns: &[&[usize]] = &[&[0, 4, 8], &[1, 5, 9], &[2, 6, 10], &[3, 7, 11]];
    check(&grid(&span(0, 4), &[4, 1]), &table, TARGET, columns);
    // G7, G8, and 2x3 to 3x2: pairs by rank, nothing is transposed.
    let pairs: &[&[usize]] = &[&[0, 6], &[1, 7], &[2, 8], &[3, 9], &[4, 10], &[5, 11]];
    let source = grid(&span(0, 6), &[2, 3]);
    check(&source, &grid(&span(6, 12), &[2, 3]), BOTH, pairs);
    check(&source, &grid(&span(6, 12), &[1, 3, 2]), SOURCE, pairs);
    check(&source, &grid(&span(6, 12), &[3, 2]), SOURCE, pairs);
    // G13, with and without a shape
    let line = grid(&span(0, 3), &[1, 1, 3]);
    check(&grid(&[2], &[1]), &line, PLAIN, &[&[2, 0, 1]]);
    check(&team(&[2]), &line, PLAIN, &[&[2, 0, 1]]);
}

#[test]
fn reduction_groups() {
    let cube = grid(&span(0, 12), &[2, 3, 2]);
    let groups = Groups::reduction(&cube, &grid(&[1, 2, 3], &[1, 3, 1]), PLAIN).unwrap();
    assert_eq!(listed(&groups), [vec![1, 0, 6, 7], vec![2, 3, 8, 9], vec![3, 4, 5, 10, 11]]);
    // G11: the sum of a linear layer.
    let table = grid(&span(0, 12), &[3, 4]);
    let groups = Groups::reduction(&table, &grid(&span(0, 3), &[1, 3]), SOURCE).unwrap();
    let expected = [vec![0, 1, 2, 3], vec![1, 4, 5, 6, 7], vec![2, 8, 9, 10, 11]];
    assert_eq!(listed(&groups), expected);
    assert_eq!(groups.cells().matched_axes, [0]);
    // A union that starts with the large side keeps the large side's order.
    let shuffled = grid(&[5, 3, 4, 0], &[2, 2]);
    let groups = Groups::reduction(&shuffled, &grid(&[0, 3], &[1, 2]), PLAIN).unwrap();
    assert_eq!(listed(&groups), [vec![0, 5, 4], vec![3, 0]]);
}

#[test]
fn workers_send_and_receive_in_different_groups() {
    let cube = grid(&span(0, 12), &[2, 3, 2]);
    let thirds = grid(&[1, 2, 3], &[1, 3, 1]);
    let out = Groups::broadcast(&thirds, &cube, PLAIN).unwrap();
    let back = Groups::reduction(&cube, &thirds, PLAIN).unwrap();
    assert_eq!((out.movement(), back.movement()), (Movement::Broadcast, Movement::SumReduce));
    let receives = [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2];
    for worker in 0..13 {
        let sends = (1..4).contains(&worker).then(|| worker - 1);
        let receives = receives.get(worker).copied();
        assert_eq!((out.send_of(worker), out.receive_of(worker)), (sends, receives));
        assert_eq!((back.send_of(worker), back.receive_of(worker)), (receives, sends));
    }
}

#[test]
fn incompatible_sides_are_refused() {
    let of = |shape: &[usize]| {
        let size = shape.iter().product();
        Partition::world(20).unwrap().inclusive(&span(0, size)).unwrap().cartesian(shape).unwrap()
    };
    let broadcasts: [(&[usize], &[usize]); 5] = [
        (&[1, 3], &[3, 1]),
        (&[1, 1, 3], &[2, 2, 2]),
        (&[1, 1, 3], &[3, 3, 2]),
        (&[2, 3], &[6]),
        (&[2], &[1]),
    ];
    for (source, target) in broadcasts {
        let got = Groups::broadcast(&of(source), &of(target), PLAIN);
        assert!(matches!(got, Err(TeamError::Incompatible { .. })), "{source:?} {target:?}");
    }
    for (source, target) in [(&[3][..], &[1, 3][..]), (&[3, 4], &[4, 1]), (&[1], &[2])] {
        let got = Groups::reduction(&of(source), &of(target), PLAIN);
        assert!(matches!(got, Err(TeamError::Incompatible { .. })), "{source:?} {target:?}");
    }
    for flags in [SOURCE, TARGET] {
        assert!(Groups::broadcast(&of(&[1, 3]), &of(&[3, 1]), flags).is_ok());
    }
    let plain = team(&span(0, 3));
    let refused =
        |got: Result<Groups, TeamError>| assert_eq!(got.err(), Some(TeamError::NotCartesian));
    refused(Groups::broadcast(&of(&[1]), &plain, PLAIN));
    refused(Groups::broadcast(&plain, &of(&[1, 3]), SOURCE));
    assert!(Groups::broadcast(&plain, &of(&[1, 3]), PLAIN).is_ok());
    let null = Groups::broadcast(&Partition::null(), &of(&[1]), PLAIN);
    assert_eq!(null.err(), Some(TeamError::Null));
}

/// The definition, worker by worker: reversed shapes, padded on the left, and the colour computed
/// column-major over the reversed axes of a flagged side.
fn colours(ranks: &[usize], shape: &[usize], reverse: bool, partner: &[usize]) -> Vec<usize> {
    let ndim = partner.len();
    let own = |values: &[usize], fill: usize| -> Vec<usize> {
        let mut values = values.to_vec();
        if reverse {
            values.reverse();
        }
        let mut padded = vec![fill; ndim - values.len()];
        padded.extend(values);
        padded
    };
    let extents = own(shape, 1);
    let mut colours = Vec::new();
    for rank in 0..ranks.len() {
        let mut rest = rank;
        let mut index = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            index[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        let index = own(&index, 0);
        let mut axes: Vec<usize> = (0..ndim).filter(|a| extents[*a] == partner[*a]).collect();
        if reverse {
            axes.reverse();
        }
        let mut colour = 0;
        for axis in axes {
            colour = colour * extents[axis] + index[axis];
        }
        colours.push(colour);
    }
    colours
}

/// Reverses if asked to and pads on the left with ones.
fn aligned(shape: &[usize], reverse: bool, ndim: usize) -> Vec<usize> {
    let mut aligned = vec![1; ndim - shape.len()];
    if reverse {
        aligned.extend(shape.iter().rev());
    } else {
        aligned.extend(shape);
    }
    aligned
}

/// A rng large shape and a small one that fits it under the given flags.
fn fitting_shapes(rng: &mut Rng, small_flag: bool, large_flag: bool) -> [Vec<usize>; 2] {
    let large: Vec<usize> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(3)).collect();
    let mut small = aligned(&large, large_flag, large.len());
    for extent in &mut small {
        if rng.chance(1, 2) {
            *extent = 1;
        }
    }
    while small.len() > 1 && small[0] == 1 && rng.chance(1, 2) {
        small.remove(0);
    }
    if small_flag {
        small.reverse();
    }
    [small, large]
}

#[test]
fn groups_follow_the_definition() {
    for seed in numbers(3000) {
        let mut rng = Rng::law(seed);
        let flags = Transpose { source: rng.chance(1, 2), target: rng.chance(1, 2) };
        let broadcast = rng.chance(1, 2);
        let (small_flag, large_flag) =
            if broadcast { (flags.source, flags.target) } else { (flags.target, flags.source) };
        let [small_shape, large_shape] = fitting_shapes(&mut rng, small_flag, large_flag);
        let small_ranks = distinct(&mut rng, small_shape.iter().product());
        let large_ranks = distinct(&mut rng, large_shape.iter().product());
        let of = |ranks: &[usize], shape: &[usize]| {
            Partition::world(30).unwrap().inclusive(ranks).unwrap().cartesian(shape).unwrap()
        };
        let (small, large) = (of(&small_ranks, &small_shape), of(&large_ranks, &large_shape));
        let (groups, mut union, then) = if broadcast {
            let groups = Groups::broadcast(&small, &large, flags).unwrap();
            (groups, small_ranks.clone(), &large_ranks)
        } else {
            let groups = Groups::reduction(&large, &small, flags).unwrap();
            (groups, large_ranks.clone(), &small_ranks)
        };
        union.extend(then.iter().filter(|rank| !union.contains(rank)).copied().collect::<Vec<_>>());
        let ndim = large_shape.len();
        let small_partner = aligned(&large_shape, large_flag, ndim);
        let large_partner = aligned(&small_shape, small_flag, ndim);
        let small_colours = colours(&small_ranks, &small_shape, small_flag, &small_partner);
        let large_colours = colours(&large_ranks, &large_shape, large_flag, &large_partner);
        assert_eq!(groups.count(), small_ranks.len(), "seed {seed}");
        for (cell, root) in small_ranks.iter().enumerate() {
            let mut expected = vec![*root];
            expected.extend(union.iter().filter(|rank| {
                let at = large_ranks.iter().position(|other| other == *rank);
                *rank != root && at.is_some_and(|at| large_colours[at] == small_colours[cell])
            }));
            assert_eq!(groups.group(cell).unwrap().members, expected, "seed {seed}");
            let small_side =
                if broadcast { groups.send_of(*root) } else { groups.receive_of(*root) };
            assert_eq!(small_side, Some(cell), "seed {seed}");
        }
        for (at, rank) in large_ranks.iter().enumerate() {
            let large_side =
                if broadcast { groups.receive_of(*rank) } else { groups.send_of(*rank) };
            let cell = large_side.unwrap();
            assert_eq!(small_colours[cell], large_colours[at], "seed {seed}");
        }
        let cells = groups.cells();
        assert_eq!(cells.count, groups.count(), "seed {seed}");
        assert_eq!(cells.matched_axes.len() + cells.spread_axes.len(), ndim, "seed {seed}");
    }
}

#[test]
fn a_million_workers_are_cheap_to_ask() {
    let world = Partition::world(1_000_000).unwrap();
    let grid = world.cartesian(&[100, 100, 100]).unwrap();
    let groups = Groups::broadcast(&world.inclusive(&[7]).unwrap(), &grid, PLAIN).unwrap();
    assert_eq!((groups.receive_of(999_999), groups.send_of(999_999)), (Some(0), None));
    let mine = grid.allreduction_of(123_456, &AxisChoice::Reduce(vec![2])).unwrap();
    assert_eq!((mine.size(), mine.world_rank(0)), (100, Some(123_400)));
    assert_eq!(
        grid.allreductions(&AxisChoice::Reduce(vec![0])).unwrap().nth(1).unwrap().size(),
        100
    );
    assert_eq!(grid.to_string(), "ranks 0..1000000 as 100x100x100");
    assert_eq!(Partition::world(1 << 26).unwrap().rank_of(1 << 25), Some(1 << 25));
}

#[test]
fn messages_say_what_was_got_and_what_was_expected() {
    let error = Partition::world(12).unwrap().cartesian(&[5, 2]).unwrap_err();
    assert_eq!(error.to_string(), "got shape 5x2, expected positive extents with product 12");
    let error = AxisChoice::Reduce(vec![-4]).kept(3).unwrap_err();
    assert_eq!(error.to_string(), "got axis -4, expected one from -3 to below 3");
}

/// A mask or an index of another number of axes is named.
#[test]
fn lengths_must_be_the_number_of_axes() {
    let cube = Partition::world(12).unwrap().cartesian(&[2, 3, 2]).unwrap();
    let expected = TeamError::WrongLength { got: 2, ndim: 3 };
    assert_eq!(cube.rank_of_index(&[0, 0]), Err(expected.clone()));
    assert_eq!(cube.subtopology_of(0, &[true, false]).map(|_| ()), Err(expected));
}
