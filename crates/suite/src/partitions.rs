//! Teams of workers: order, shapes, what members and outsiders know, equality.

use pantile_geometry::teams::TeamError;
use pantile_spmd::{AxisChoice, Error, Partition, RankContext};

use crate::Case;
use crate::expect::{Outcome, coordinates, grid, grids, ranks, refused, same, say, team};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "order of teams and unions", needs: 1, body: order },
        Case { name: "order of teams and unions, written down", needs: 6, body: order_of_six },
        Case { name: "what members and outsiders know", needs: 1, body: knowledge },
        Case { name: "Cartesian shapes have to fill the team", needs: 1, body: shapes },
        Case { name: "neighbours of 2x2", needs: 4, body: neighbours },
        Case { name: "sub-topologies and all-reduction teams", needs: 1, body: lines },
        Case {
            name: "sub-topologies and all-reduction teams of 2x3x2",
            needs: 12,
            body: lines_of_12,
        },
        Case { name: "equality of partitions", needs: 1, body: equality },
    ]
}

fn order(world: &RankContext) -> Outcome {
    let backwards: Vec<usize> = (0..world.size()).rev().collect();
    let first = team(world, &backwards)?;
    same("members of a team backwards", &first.members(), &backwards)?;
    same("rank in it", &first.rank(), &Some(world.size() - 1 - world.rank()))?;
    // Ranks are those of the parent: the parent's rank 0 is the last of the world.
    let one = first.create_partition_inclusive(&[0]).map_err(say)?;
    same("rank 0 of a team backwards", &one.members(), &vec![world.size() - 1])?;
    let union = one.create_partition_union(&world.partition()).map_err(say)?;
    let mut wanted = vec![world.size() - 1];
    wanted.extend(0..world.size() - 1);
    same("union of the last rank with all", &union.members(), &wanted)?;
    let out_of_range =
        |error: &Error| matches!(error, Error::Team(TeamError::RankOutOfRange { .. }));
    let all = world.partition();
    refused(
        "a rank that is not there",
        all.create_partition_inclusive(&[world.size()]),
        out_of_range,
    )?;
    let repeated = |error: &Error| matches!(error, Error::Team(TeamError::RepeatedRank { .. }));
    refused("a rank twice", all.create_partition_inclusive(&[0, 0]), repeated)?;
    let foreign = |error: &Error| matches!(error, Error::Team(TeamError::DifferentRoots));
    refused("union with null", all.create_partition_union(&Partition::null()), foreign)?;
    refused("union of null", Partition::null().create_partition_union(&all), foreign)
}

fn order_of_six(world: &RankContext) -> Outcome {
    let (one, other) = (team(world, &[4, 2, 0])?, team(world, &[0, 5, 2, 1])?);
    let union = one.create_partition_union(&other).map_err(say)?;
    same("[4, 2, 0] with [0, 5, 2, 1]", &union.members(), &vec![4, 2, 0, 5, 1])?;
    let back = other.create_partition_union(&one).map_err(say)?;
    same("[0, 5, 2, 1] with [4, 2, 0]", &back.members(), &vec![0, 5, 2, 1, 4])?;
    let wanted = [4, 2, 0, 5, 1].iter().position(|rank| *rank == world.rank());
    same("rank in the union", &union.rank(), &wanted)?;
    let two = team(world, &[3, 1])?;
    let wanted = [(3, 0), (1, 1)].iter().find(|(rank, _)| *rank == world.rank());
    same("rank in [3, 1]", &two.rank(), &wanted.map(|(_, place)| *place))?;
    // Ranks of the parent, whose rank 1 is world rank 2.
    let nested = one.create_partition_inclusive(&[2, 1]).map_err(say)?;
    same("[2, 1] of [4, 2, 0]", &nested.members(), &vec![0, 2])
}

/// Rank, size, shape, dim, index and active.
type Facts =
    (Option<usize>, Option<usize>, Option<Vec<usize>>, Option<usize>, Option<Vec<usize>>, bool);

fn facts(of: &Partition) -> Facts {
    (of.rank(), of.size(), of.shape(), of.dim(), of.index(), of.active())
}

fn knowledge(world: &RankContext) -> Outcome {
    // Every second rank, from the last one down.
    let members: Vec<usize> = (0..world.size()).rev().step_by(2).collect();
    let place = members.iter().position(|rank| *rank == world.rank());
    let size = members.len();
    let plain = team(world, &members)?;
    let known = |value: usize| place.map(|_| value);
    let index = place.map(|place| vec![place]);
    let shape = place.map(|_| vec![size]);
    let wanted = (place, known(size), shape, known(1), index, place.is_some());
    same("a team without a shape", &facts(&plain), &wanted)?;
    let line = grid(world, &members, &[1, size, 1])?;
    let index = place.map(|place| vec![0, place, 0]);
    let wanted = (place, known(size), Some(vec![1, size, 1]), Some(3), index, place.is_some());
    same("a grid", &facts(&line), &wanted)?;
    same("members of a grid, known to all", &line.members(), &members)?;
    let null = Partition::null();
    same("the null partition", &facts(&null), &(None, None, None, None, None, false))?;
    same("the null partition is null", &(null.is_null(), line.is_null()), &(true, false))?;
    refused("the world of a null partition", null.world().map(|_| ()), |error| {
        matches!(error, Error::Inactive { .. })
    })?;
    let asked = (line.cartesian_index(size - 1), line.neighbor_ranks(size - 1));
    match place {
        Some(_) => {
            same("coordinates of the last", &asked.0, &Ok(vec![0, size - 1, 0]))?;
            let left = (size > 1).then(|| size - 2);
            same(
                "neighbours of the last",
                &asked.1,
                &Ok(vec![(None, None), (left, None), (None, None)]),
            )?;
            let out = |error: &Error| matches!(error, Error::Team(_));
            refused("coordinates of nobody", line.cartesian_index(size), out)?;
            refused("neighbours of nobody", line.neighbor_ranks(size), out)
        }
        None => {
            let inactive = |error: &Error| matches!(error, Error::Inactive { .. });
            refused("coordinates, asked outside", asked.0, inactive)?;
            refused("neighbours, asked outside", asked.1, inactive)
        }
    }
}

fn shapes(world: &RankContext) -> Outcome {
    let wrong = |error: &Error| matches!(error, Error::Team(TeamError::ShapeDoesNotFill { .. }));
    // The team does not have all ranks: the others are told too.
    let members = ranks(0, world.size().div_ceil(2));
    let part = team(world, &members)?;
    let size = members.len();
    for shape in [vec![size + 1], vec![size, 2], vec![0, size], vec![size, 0], vec![size + 2, 1]] {
        let made = part.create_cartesian_topology_partition(&shape);
        refused(format!("{size} workers as {shape:?}"), made, wrong)?;
    }
    if size > 1 {
        refused(
            "a shape that is too small",
            part.create_cartesian_topology_partition(&[1]),
            wrong,
        )?;
    }
    let made = part.create_cartesian_topology_partition(&[1, size]).map_err(say)?;
    same("a shape that fits", &made.shape(), &Some(vec![1, size]))
}

fn neighbours(world: &RankContext) -> Outcome {
    let square = grid(world, &ranks(0, 4), &[2, 2])?;
    if !square.active() {
        let inactive = |error: &Error| matches!(error, Error::Inactive { .. });
        return refused("neighbours, asked outside", square.neighbor_ranks(0), inactive);
    }
    let wanted = [
        [(None, Some(2)), (None, Some(1))],
        [(None, Some(3)), (Some(0), None)],
        [(Some(0), None), (None, Some(3))],
        [(Some(1), None), (Some(2), None)],
    ];
    for (rank, wanted) in wanted.into_iter().enumerate() {
        let got = square.neighbor_ranks(rank).map_err(say)?;
        same(format!("neighbours of rank {rank}"), got.as_slice(), &wanted)?;
    }
    Ok(())
}

fn lines(world: &RankContext) -> Outcome {
    for partition in grids(world)? {
        let (shape, members) = (partition.shape().unwrap_or_default(), partition.members());
        let wrong = |error: &Error| matches!(error, Error::Team(_));
        let mask = vec![true; shape.len() + 1];
        let made = partition.create_cartesian_subtopology_partition(&mask);
        refused("a mask that is too long", made, wrong)?;
        let axis = isize::try_from(shape.len()).unwrap_or(0);
        for axes in [vec![axis], vec![-axis - 1], vec![0, -axis]] {
            let made = partition.create_allreduction_partition(&AxisChoice::Reduce(axes.clone()));
            refused(format!("axes {axes:?} of {axis}"), made, wrong)?;
        }
        for kept in 0..1_usize << shape.len() {
            let keep: Vec<bool> = (0..shape.len()).map(|axis| kept >> axis & 1 == 1).collect();
            one_line(&partition, &keep, &members)
                .map_err(|fault| format!("{partition:?} keeping {keep:?}: {fault}"))?;
        }
    }
    Ok(())
}

/// The team over the axes that vary, found by looking at everybody.
fn one_line(
    partition: &pantile_spmd::CartesianPartition,
    vary: &[bool],
    members: &[usize],
) -> Outcome {
    let shape = partition.shape().unwrap_or_default();
    let sub = partition.create_cartesian_subtopology_partition(vary).map_err(say)?;
    let axes = (0..vary.len()).filter(|axis| vary[*axis]);
    let axes: Vec<isize> = axes.map(|axis| isize::try_from(axis).unwrap_or(0)).collect();
    let all = partition.create_allreduction_partition(&AxisChoice::Reduce(axes)).map_err(say)?;
    let Some(mine) = partition.index() else {
        return same("outside both are null", &(sub.is_null(), all.is_null()), &(true, true));
    };
    let index = |rank: usize| coordinates(rank, &shape);
    let agrees =
        |rank: &usize| (0..vary.len()).all(|axis| vary[axis] || index(*rank)[axis] == mine[axis]);
    let wanted: Vec<usize> = (0..members.len()).filter(agrees).map(|rank| members[rank]).collect();
    same("the sub-topology", &sub.members(), &wanted)?;
    same("the all-reduction team", &all.members(), &wanted)?;
    let kept = (0..vary.len()).filter(|axis| vary[*axis]).map(|axis| shape[axis]);
    same("its shape", &sub.shape(), &Some(kept.collect()))?;
    let ones = (0..vary.len()).map(|axis| if vary[axis] { shape[axis] } else { 1 });
    same("its shape with all axes", &all.shape(), &Some(ones.collect()))
}

fn lines_of_12(world: &RankContext) -> Outcome {
    let cube = grid(world, &ranks(0, 12), &[2, 3, 2])?;
    let sub = cube.create_cartesian_subtopology_partition(&[false, true, false]).map_err(say)?;
    if world.rank() == 0 {
        same("axis 1 of 2x3x2", &(sub.members(), sub.shape()), &(vec![0, 2, 4], Some(vec![3])))?;
    }
    let two: &[&[usize]] = &[&[0, 1, 6, 7], &[2, 3, 8, 9], &[4, 5, 10, 11]];
    let one: &[&[usize]] = &[&[0, 2, 4], &[1, 3, 5], &[6, 8, 10], &[7, 9, 11]];
    let alone: &[&[usize]] = &[];
    let rows = [
        (AxisChoice::Reduce(vec![0, 2]), two, [2, 1, 2]),
        (AxisChoice::Reduce(vec![2, 0]), two, [2, 1, 2]),
        (AxisChoice::Keep(vec![1]), two, [2, 1, 2]),
        (AxisChoice::Reduce(vec![-1, -3]), two, [2, 1, 2]),
        (AxisChoice::Reduce(vec![1]), one, [1, 3, 1]),
        (AxisChoice::Keep(vec![-1, 0]), one, [1, 3, 1]),
        (AxisChoice::Reduce(vec![-2]), one, [1, 3, 1]),
        (AxisChoice::Reduce(vec![]), alone, [1, 1, 1]),
    ];
    for (axes, teams, shape) in rows {
        let made = cube.create_allreduction_partition(&axes).map_err(say)?;
        if !cube.active() {
            same(format!("{axes:?}, outside"), &made.is_null(), &true)?;
            continue;
        }
        let mine = [world.rank()];
        let found = teams.iter().find(|team| team.contains(&world.rank()));
        let wanted = found.copied().unwrap_or(&mine);
        same(format!("{axes:?}"), made.members().as_slice(), wanted)?;
        same(format!("shape of {axes:?}"), &made.shape(), &Some(shape.to_vec()))?;
    }
    Ok(())
}

fn equality(world: &RankContext) -> Outcome {
    let all = ranks(0, world.size());
    let backwards: Vec<usize> = all.iter().rev().copied().collect();
    let plain = team(world, &all)?;
    let check = |what: &str, one: &Partition, other: &Partition, equal: bool| {
        same(what, &(one == other, other == one), &(equal, equal))
    };
    check("the same members twice", &plain, &team(world, &all)?, true)?;
    check("all and the world", &plain, &world.partition(), true)?;
    let line = grid(world, &all, &[all.len()])?;
    let (again, row) = (grid(world, &all, &[all.len()])?, grid(world, &all, &[1, all.len()])?);
    check("the same grid twice", &line, &again, true)?;
    check("a grid of one axis more", &line, &row, false)?;
    check("with a shape and without", &line, &plain, false)?;
    if world.size() > 1 {
        check("another order", &plain, &team(world, &backwards)?, false)?;
        check("another team", &team(world, &[0])?, &team(world, &[1])?, false)?;
        check("fewer members", &plain, &team(world, &all[1..])?, false)?;
    }
    let null = Partition::null();
    check("null and null", &null, &null, false)?;
    check("null and another null", &null, &Partition::null(), false)?;
    check("null and all", &null, &plain, false)
}
