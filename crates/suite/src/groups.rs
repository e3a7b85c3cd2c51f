//! The groups in which partitions broadcast and sum: vectors, and what must be refused.

use pantile_geometry::teams::TeamError;
use pantile_spmd::{
    Broadcast, CartesianPartition, Error, Partition, RankContext, SumReduce, Transpose,
};

use crate::Case;
use crate::expect::{Outcome, grid, ranks, refused, same, say, team};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "groups of broadcasts and reductions", needs: 2, body: vectors },
        Case { name: "shapes that do not match", needs: 3, body: mismatches },
        Case { name: "groups of teams without a shape", needs: 1, body: unstructured },
    ]
}

const NEITHER: Transpose = Transpose { source: false, target: false };
const SOURCE: Transpose = Transpose { source: true, target: false };
const TARGET: Transpose = Transpose { source: false, target: true };
const BOTH: Transpose = Transpose { source: true, target: true };

enum GroupKind {
    Copies,
    Sums,
}

use GroupKind::{Copies, Sums};

/// A vector: what, the two partitions, flags, the groups with their roots first.
struct Vector {
    id: &'static str,
    kind: GroupKind,
    source: GroupSide,
    target: GroupSide,
    flags: Transpose,
    groups: Vec<Vec<usize>>,
}

type GroupSide = (Vec<usize>, &'static [usize]);

fn row(
    (id, kind): (&'static str, GroupKind),
    source: GroupSide,
    target: GroupSide,
    flags: Transpose,
    groups: &[&[usize]],
) -> Vector {
    let groups = groups.iter().map(|group| group.to_vec()).collect();
    Vector { id, kind, source, target, flags, groups }
}

/// Vectors of twelve ranks.
fn of_twelve() -> Vec<Vector> {
    let pairs: Vec<Vec<usize>> = (0..6).map(|rank| vec![rank, 6 + rank]).collect();
    let pairs: Vec<&[usize]> = pairs.iter().map(Vec::as_slice).collect();
    let alone: Vec<Vec<usize>> = (0..12).map(|rank| vec![rank]).collect();
    let alone: Vec<&[usize]> = alone.iter().map(Vec::as_slice).collect();
    let linear: &[&[usize]] = &[&[0, 1, 2, 3], &[1, 4, 5, 6, 7], &[2, 8, 9, 10, 11]];
    let columns: &[&[usize]] = &[&[1, 0, 6, 7], &[2, 3, 8, 9], &[3, 4, 5, 10, 11]];
    let rows: &[&[usize]] = &[&[0, 4, 8], &[1, 5, 9], &[2, 6, 10], &[3, 7, 11]];
    let turned: &[&[usize]] = &[&[3, 1, 0, 6, 7], &[2, 3, 8, 9], &[1, 4, 5, 10, 11]];
    let all = || (ranks(0, 12), &[2, 3, 2][..]);
    let wide = || (ranks(0, 12), &[3, 4][..]);
    let three = || (vec![1, 2, 3], &[1, 3, 1][..]);
    let (front, back) = (|| (ranks(0, 6), &[2, 3][..]), |shape| (ranks(6, 12), shape));
    let long = (ranks(0, 12), &[1, 4, 3][..]);
    vec![
        row(("1x3x1 to 2x3x2", Copies), three(), all(), NEITHER, columns),
        row(("2x3x2 to 1x3x1", Sums), all(), three(), NEITHER, columns),
        row(("1x3 to 3x4", Copies), (ranks(0, 3), &[1, 3]), wide(), SOURCE, linear),
        row(("4x1 to 3x4", Copies), (ranks(0, 4), &[4, 1]), wide(), TARGET, rows),
        row(("2x3 to 2x3", Copies), front(), back(&[2, 3][..]), BOTH, &pairs),
        row(("2x3 to 1x3x2", Copies), front(), back(&[1, 3, 2][..]), SOURCE, &pairs),
        row(("3x4 to 1x3", Sums), wide(), (ranks(0, 3), &[1, 3]), SOURCE, linear),
        // Reversal comes before the ones on the left: 3x4 reversed is 1x4x3.
        row(("3x4 to 1x4x3", Copies), wide(), long, SOURCE, &alone),
        // Those of the small side come first, in its order.
        row(("3, 2, 1 to 2x3x2", Copies), (vec![3, 2, 1], &[1, 3, 1]), all(), NEITHER, turned),
    ]
}

/// Vectors of fewer.
fn of_few() -> Vec<Vector> {
    let alone: Vec<Vec<usize>> = (0..6).map(|rank| vec![rank]).collect();
    let alone: Vec<&[usize]> = alone.iter().map(Vec::as_slice).collect();
    let two = || (vec![1, 0], &[1, 2][..]);
    let crossed: &[&[usize]] = &[&[1, 0], &[0, 1]];
    let (wide, tall) = ((ranks(0, 6), &[2, 3][..]), (ranks(0, 6), &[3, 2][..]));
    let three = (ranks(0, 3), &[1, 1, 3][..]);
    vec![
        row(("1 to 1x1x3", Copies), (vec![2], &[1]), three, NEITHER, &[&[2, 0, 1]]),
        // Flags reverse shapes, not coordinates: rank r feeds rank r.
        row(("2x3 to 3x2", Copies), wide, tall, SOURCE, &alone),
        row(("1x2 to 2x1", Copies), two(), (ranks(0, 2), &[2, 1]), SOURCE, crossed),
        row(("1x2 to 2x1", Copies), two(), (ranks(0, 2), &[2, 1]), TARGET, crossed),
        row(("2 to 1", Sums), (ranks(0, 2), &[2]), (vec![1], &[1]), NEITHER, &[&[1, 0]]),
    ]
}

fn vectors(world: &RankContext) -> Outcome {
    for vector in of_twelve().into_iter().chain(of_few()) {
        let highest = vector.source.0.iter().chain(&vector.target.0).max();
        if highest.is_some_and(|rank| *rank < world.size()) {
            one_vector(world, &vector).map_err(|fault| format!("{}: {fault}", vector.id))?;
        }
    }
    Ok(())
}

fn one_vector(world: &RankContext, vector: &Vector) -> Outcome {
    let source = grid(world, &vector.source.0, vector.source.1)?;
    let target = grid(world, &vector.target.0, vector.target.1)?;
    let (send, receive) = match vector.kind {
        Copies => source.create_broadcast_partition_to(&target, vector.flags),
        Sums => source.create_reduction_partition_to(&target, vector.flags),
    }
    .map_err(say)?;
    let (small, large) = match vector.kind {
        Copies => (&source, &target),
        Sums => (&target, &source),
    };
    let me = world.rank();
    let rooted = vector.groups.iter().find(|group| group[0] == me).filter(|_| small.active());
    // On the large side a worker is in one group: as another than its root if there is one.
    let besides = vector.groups.iter().find(|group| group[1..].contains(&me));
    let along = besides.or(rooted).filter(|_| large.active());
    let (sends, receives) = match vector.kind {
        Copies => (rooted, along),
        Sums => (along, rooted),
    };
    group_is("the group to send in", &send, sends)?;
    group_is("the group to receive in", &receive, receives)?;
    let equal = sends.is_some() && sends == receives;
    same("both groups are one", &(send == receive), &equal)
}

fn group_is(what: &str, got: &Partition, wanted: Option<&Vec<usize>>) -> Outcome {
    let Some(wanted) = wanted else {
        return same(format!("{what} is null"), &got.is_null(), &true);
    };
    same(what, &got.members(), wanted)?;
    same(format!("{what} has me"), &got.active(), &true)
}

fn mismatches(world: &RankContext) -> Outcome {
    let of = |shape: &[usize]| -> Result<Option<CartesianPartition>, String> {
        let size = shape.iter().product();
        if size > world.size() { Ok(None) } else { grid(world, &ranks(0, size), shape).map(Some) }
    };
    let wrong = |error: &Error| matches!(error, Error::Team(TeamError::Incompatible { .. }));
    let copies: &[(&[usize], &[usize])] = &[
        (&[1, 3], &[3, 1]),
        (&[1, 1, 3], &[2, 2, 2]),
        (&[1, 1, 3], &[1, 3, 2]),
        (&[1, 1, 3], &[3, 2, 2]),
        (&[2, 3], &[6]),
        (&[2], &[1]),
        (&[3], &[1, 1]),
        (&[2, 1], &[1, 3]),
    ];
    for (source, target) in copies {
        let (Some(source), Some(target)) = (of(source)?, of(target)?) else { continue };
        let what = format!("broadcast of {source:?} to {target:?}");
        refused(&what, source.create_broadcast_partition_to(&target, NEITHER), wrong)?;
        refused(&what, Broadcast::new(&source, &target), wrong)?;
    }
    let sums: &[(&[usize], &[usize])] =
        &[(&[3], &[1, 3]), (&[3, 4], &[4, 1]), (&[1], &[2]), (&[1, 3], &[3, 1]), (&[2], &[3])];
    for (source, target) in sums {
        let (Some(source), Some(target)) = (of(source)?, of(target)?) else { continue };
        let what = format!("sum of {source:?} to {target:?}");
        refused(&what, source.create_reduction_partition_to(&target, NEITHER), wrong)?;
        refused(&what, SumReduce::new(&source, &target), wrong)?;
    }
    let (Some(row), Some(column)) = (of(&[1, 3])?, of(&[3, 1])?) else { return Ok(()) };
    for flags in [SOURCE, TARGET] {
        row.create_broadcast_partition_to(&column, flags).map_err(say)?;
        column.create_reduction_partition_to(&row, flags).map_err(say)?;
    }
    let both = row.create_broadcast_partition_to(&column, BOTH);
    refused("1x3 to 3x1 with both flags", both, wrong)
}

fn unstructured(world: &RankContext) -> Outcome {
    let all = ranks(0, world.size());
    let (plain, line) = (team(world, &all)?, grid(world, &all, &[all.len()])?);
    let shapeless = |error: &Error| matches!(error, Error::Team(TeamError::NotCartesian));
    let made = line.create_broadcast_partition_to(&plain, NEITHER);
    refused("a broadcast to a team without a shape", made, shapeless)?;
    let made = plain.create_reduction_partition_to(&line, NEITHER);
    refused("a sum from a team without a shape", made, shapeless)?;
    let made = plain.create_broadcast_partition_to(&line, SOURCE);
    refused("a team without a shape, reversed", made, shapeless)?;
    let (send, receive) = plain.create_broadcast_partition_to(&line, NEITHER).map_err(say)?;
    same("a group of one", &send.members(), &vec![world.rank()])?;
    same("is the same for both", &(send == receive), &true)?;
    let foreign = |error: &Error| matches!(error, Error::Team(TeamError::DifferentRoots));
    let null = Partition::null();
    refused("a broadcast to null", line.create_broadcast_partition_to(&null, NEITHER), foreign)?;
    refused("a broadcast from null", Broadcast::new(&null, &line), foreign)
}
