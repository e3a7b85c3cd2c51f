//! Blocks from one partition to another: values at global indices, forward and back.

use pantile_spmd::{CartesianPartition, Error, RankContext, Repartition, Tensor};
use pantile_testkit::Rng;

use crate::Case;
use crate::expect::{
    Exact, Outcome, balanced, block, cut, grid, grids, number, ranks, refused, same, say,
    tensor_is, usable,
};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "repartitions, in numbers", needs: 4, body: numbers },
        Case { name: "which block goes where", needs: 4, body: overlaps },
        Case { name: "repartitions of 77x55", needs: 1, body: table },
        Case { name: "more workers than rows", needs: 1, body: few_rows },
        Case { name: "the same partition in and out", needs: 1, body: identity },
        Case { name: "repartitions of random blocks", needs: 1, body: random },
        Case { name: "repartitions that are refused", needs: 2, body: refusals },
    ]
}

type Lengths = Vec<Vec<usize>>;

/// Balanced blocks.
pub(crate) fn even(shape: &[usize], workers: &[usize]) -> Lengths {
    shape.iter().zip(workers).map(|(length, workers)| balanced(*length, *workers)).collect()
}

/// Blocks with everything that is left over at coordinate 0.
fn front(shape: &[usize], workers: &[usize]) -> Lengths {
    let axis = |length: usize, workers: usize| {
        let mut lengths = vec![length / workers; workers];
        lengths[0] += length % workers;
        lengths
    };
    shape.iter().zip(workers).map(|(length, workers)| axis(*length, *workers)).collect()
}

/// The tensor of this rank if the array is cut like this; what others give is not looked at.
fn part<T: Exact>(
    partition: &CartesianPartition,
    lengths: &Lengths,
    seed: usize,
) -> Result<Option<Tensor<T>>, String> {
    let Some(index) = partition.index() else { return Ok(None) };
    cut(&block(lengths, &index), |at| T::from(number(seed, at))).map(Some)
}

/// Forward and back, with values from one array; also with the batch of empty results kept.
pub(crate) fn there_and_back<T: Exact>(
    world: &RankContext,
    (source, target): (&CartesianPartition, &CartesianPartition),
    (movement, preserve): (&Repartition, bool),
    lengths: &Lengths,
) -> Outcome {
    let shape: Vec<usize> = lengths.iter().map(|axis| axis.iter().sum()).collect();
    let balanced = even(&shape, &target.team().shape());
    let outside = Tensor::<T>::zeros(&[1 + world.rank() % 3, 0]);
    let left = |gave: &Tensor<T>, other: &CartesianPartition| match (other.active(), preserve) {
        (false, _) => gave.clone(),
        (true, true) => Tensor::zeros(&[gave.shape()[0], 0]),
        (true, false) => Tensor::empty(),
    };
    let x = part(source, lengths, 1)?.unwrap_or_else(|| outside.clone());
    let wanted = part(target, &balanced, 1)?.unwrap_or_else(|| left(&x, source));
    let what = format!("{source:?} -> {target:?} from {lengths:?}");
    same(format!("{what}: forward"), &movement.forward(&x).map_err(say)?, &wanted)?;
    let dy = part(target, &balanced, 2)?.unwrap_or(outside);
    let wanted = part(source, lengths, 2)?.unwrap_or_else(|| left(&dy, target));
    same(format!("{what}: adjoint"), &movement.adjoint(&dy).map_err(say)?, &wanted)
}

fn check(
    world: &RankContext,
    (source, target): (&CartesianPartition, &CartesianPartition),
    lengths: &Lengths,
) -> Outcome {
    for preserve in [false, true] {
        let movement = Repartition::new(source, target).map_err(say)?.preserve_batch(preserve);
        there_and_back::<i64>(world, (source, target), (&movement, preserve), lengths)?;
    }
    Ok(())
}

fn numbers(world: &RankContext) -> Outcome {
    let (column, square) =
        (grid(world, &ranks(0, 4), &[4, 1])?, grid(world, &ranks(0, 4), &[2, 2])?);
    let movement = Repartition::new(&column, &square).map_err(say)?;
    let me = world.rank();
    let value = |number: usize| number as f64;
    let x = Tensor::full(&[if me < 3 { 2 } else { 1 }, 5], value(me + 1));
    let x = if me < 4 { x } else { Tensor::empty() };
    let y = movement.forward(&x).map_err(say)?;
    let dy = Tensor::full(&[4 - me / 2 % 2, 3 - me % 2], value(me + 1));
    let dx = movement.adjoint(&if me < 4 { dy } else { Tensor::empty() }).map_err(say)?;
    let (rows, row): (&[f64], &[f64]) = match me {
        0 => (&[1., 1., 1., 1., 1., 1., 2., 2., 2., 2., 2., 2.], &[1., 1., 1., 2., 2.]),
        1 => (&[1., 1., 1., 1., 2., 2., 2., 2.], &[1., 1., 1., 2., 2.]),
        2 => (&[3., 3., 3., 3., 3., 3., 4., 4., 4.], &[3., 3., 3., 4., 4.]),
        3 => (&[3., 3., 3., 3., 4., 4.], &[3., 3., 3., 4., 4.]),
        _ => (&[], &[]),
    };
    if me >= 4 {
        return same("idle", &(y.shape(), dx.shape()), &(&[0][..], &[0][..]));
    }
    tensor_is("forward", &y, &[4 - me / 2, 3 - me % 2], rows)?;
    let dx_rows = if me < 3 { row.repeat(2) } else { row.to_vec() };
    tensor_is("adjoint", &dx, &[if me < 3 { 2 } else { 1 }, 5], &dx_rows)
}

/// Source and target rank, and the cells that go from one to the other in both blocks.
type BlockOverlap = (usize, usize, (usize, usize), (usize, usize));

fn overlaps(world: &RankContext) -> Outcome {
    let ten: &[BlockOverlap] = &[
        (0, 0, (0, 3), (0, 3)),
        (1, 0, (0, 1), (3, 4)),
        (1, 1, (1, 3), (0, 2)),
        (2, 1, (0, 1), (2, 3)),
        (2, 2, (1, 2), (0, 1)),
        (3, 2, (0, 2), (1, 3)),
    ];
    let seventeen: &[BlockOverlap] = &[
        (0, 0, (0, 4), (0, 4)),
        (1, 0, (0, 2), (4, 6)),
        (1, 1, (2, 4), (0, 2)),
        (2, 1, (0, 3), (2, 5)),
        (3, 1, (0, 1), (5, 6)),
        (3, 2, (1, 3), (0, 2)),
        (4, 2, (0, 3), (2, 5)),
    ];
    let rows: [(&[usize], &[usize], &[BlockOverlap]); 2] =
        [(&[3, 3, 2, 2], &[4, 3, 3], ten), (&[4, 4, 3, 3, 3], &[6, 6, 5], seventeen)];
    for (sources, targets, overlaps) in rows {
        if sources.len() > world.size() {
            continue;
        }
        // The target has the last ranks of the source, in another order.
        let mut last = ranks(sources.len() - targets.len(), sources.len());
        last.reverse();
        let source = grid(world, &ranks(0, sources.len()), &[sources.len()])?;
        let target = grid(world, &last, &[targets.len()])?;
        let movement = Repartition::new(&source, &target).map_err(say)?;
        let name = |rank: usize, cell: usize| (100 * rank + cell) as u64;
        let give = |rank: usize| Tensor::from_fn(&[sources[rank]], |at| name(rank, at[0]));
        let x = source.rank().map_or_else(Tensor::empty, give);
        let y = movement.forward(&x).map_err(say)?;
        let mut wanted = vec![u64::MAX; target.rank().map_or(0, |rank| targets[rank])];
        for (from, to, given, got) in overlaps {
            if target.rank() == Some(*to) {
                let cells = (given.0..given.1).zip(got.0..got.1);
                cells.for_each(|(given, got)| wanted[got] = name(*from, given));
            }
        }
        let what = format!("{sources:?} to {targets:?}");
        let there = if source.active() { y.as_slice() } else { &[] };
        same(what, there, &wanted)?;
    }
    Ok(())
}

fn table(world: &RankContext) -> Outcome {
    let shape = [77, 55];
    type Side<'a> = (Vec<usize>, &'a [usize]);
    let (tall, wide, one) = (&[4, 1][..], &[3, 4][..], &[1, 1][..]);
    let rows: Vec<(Side<'_>, Side<'_>)> = vec![
        ((ranks(4, 8), tall), (ranks(0, 12), wide)),
        ((ranks(0, 4), tall), (ranks(4, 16), wide)),
        ((ranks(0, 4), tall), (ranks(5, 17), wide)),
        ((vec![0], one), (vec![0], one)),
        ((vec![4], one), (ranks(0, 12), wide)),
        ((vec![0], one), (ranks(1, 13), wide)),
        ((vec![0], one), (ranks(2, 14), wide)),
        ((ranks(0, 4), tall), (ranks(0, 4), &[2, 2])),
        ((vec![1], one), (ranks(0, 2), &[1, 2])),
        ((vec![2], one), (ranks(0, 2), &[2, 1])),
        ((ranks(0, 3), &[3, 1]), (vec![2, 0], &[1, 2])),
    ];
    for (source, target) in rows {
        if source.0.iter().chain(&target.0).any(|rank| *rank >= world.size()) {
            continue;
        }
        for ((from, from_shape), (to, to_shape)) in [(&source, &target), (&target, &source)] {
            let (from, to) = (grid(world, from, from_shape)?, grid(world, to, to_shape)?);
            check(world, (&from, &to), &even(&shape, from_shape))?;
            check(world, (&from, &to), &front(&shape, from_shape))?;
        }
    }
    Ok(())
}

fn few_rows(world: &RankContext) -> Outcome {
    let all = ranks(0, world.size());
    let (line, one) = (grid(world, &all, &[world.size(), 1])?, grid(world, &[0], &[1, 1])?);
    for rows in [2, 5] {
        check(world, (&one, &line), &vec![vec![rows], vec![3]])?;
        check(world, (&line, &one), &even(&[rows, 3], &[world.size(), 1]))?;
    }
    check(world, (&line, &one), &even(&[0, 3], &[world.size(), 1]))?;
    if world.size() < 12 {
        return Ok(());
    }
    let twelve = grid(world, &ranks(0, 12), &[12, 1])?;
    let movement = Repartition::new(&one, &twelve).map_err(say)?;
    let x = if one.active() { Tensor::full(&[5, 3], 1_i32) } else { Tensor::empty() };
    let y = movement.forward(&x).map_err(say)?;
    let wanted: &[usize] = match world.rank() {
        0..5 => &[1, 3],
        5..12 => &[0, 3],
        _ => &[0],
    };
    same("5x3 onto 12x1", y.shape(), wanted)
}

/// An unbalanced input comes out balanced, and its adjoint goes back to the unbalanced blocks.
fn identity(world: &RankContext) -> Outcome {
    for partition in grids(world)? {
        let workers = partition.team().shape();
        // Two for each and three more at coordinate 0.
        let axis = |workers: &usize| [vec![5], vec![2; workers - 1]].concat();
        let uneven: Lengths = workers.iter().map(axis).collect();
        let shape: Vec<usize> = uneven.iter().map(|axis| axis.iter().sum()).collect();
        let both = (&partition, &partition);
        check(world, both, &uneven)?;
        let movement = Repartition::new(&partition, &partition).map_err(say)?;
        there_and_back::<i32>(world, both, (&movement, false), &uneven)?;
        there_and_back::<f32>(world, both, (&movement, false), &even(&shape, &workers))?;
        there_and_back::<f64>(world, both, (&movement, false), &uneven)?;
    }
    Ok(())
}

/// Lengths that add up to anything, zeros included.
pub(crate) fn any_lengths(rng: &mut Rng, workers: &[usize]) -> Lengths {
    let axis = |rng: &mut Rng, workers: usize| -> Vec<usize> {
        let mut lengths: Vec<usize> = (0..workers).map(|_| rng.below(4)).collect();
        // At least two: an axis of length 1 is not spread.
        lengths[rng.below(workers)] += 2;
        lengths
    };
    workers.iter().map(|workers| axis(rng, *workers)).collect()
}

fn random(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(71);
    let grids = grids(world)?;
    for round in 0..12 {
        let source = &grids[rng.below(grids.len())];
        let same_axes: Vec<&CartesianPartition> =
            grids.iter().filter(|target| target.dim() == source.dim()).collect();
        let target = same_axes[rng.below(same_axes.len())];
        let lengths = any_lengths(&mut rng, &source.team().shape());
        check(world, (source, target), &lengths)
            .map_err(|fault| format!("round {round}: {fault}"))?;
    }
    Ok(())
}

fn refusals(world: &RankContext) -> Outcome {
    let two = |shape: &[usize]| grid(world, &ranks(0, 2), shape);
    let axes = |error: &Error| matches!(error, Error::Dimensions { .. });
    for (source, target) in [(&[1, 2, 1, 1][..], &[1, 2][..]), (&[2, 1, 1], &[1, 1, 1, 2])] {
        let made = Repartition::new(&two(source)?, &two(target)?);
        refused(format!("{source:?} -> {target:?}"), made, axes)?;
    }
    let (row, column) = (two(&[1, 2])?, two(&[2, 1])?);
    let movement = Repartition::new(&row, &column).map_err(say)?;
    let me = world.rank();
    let refuse = |what: &str, shape: &[usize], right: &dyn Fn(&Error) -> bool| {
        let result = movement.forward(&Tensor::full(shape, 1_u8));
        match me {
            0 | 1 => refused(what, result, right),
            _ => same(what, result.map_err(say)?.shape(), shape),
        }
    };
    let wrong = |error: &Error| matches!(error, Error::WrongShape { .. });
    refuse("a tensor with an axis more", &[3, 3, 1], &wrong)?;
    refuse("a tensor with an axis less", &[3], &wrong)?;
    refuse("blocks that are no grid", &[3 + me, 2], &wrong)?;
    let short = |error: &Error| matches!(error, Error::ShortAxis { axis: 0, workers: 2 });
    refuse("one row for two workers", &[1, 2], &short)?;
    let result = match me {
        1 => movement.forward(&Tensor::full(&[3, 3], 1_u8)).map(|_| ()),
        _ => movement.forward(&Tensor::full(&[3, 3], 1_i8)).map(|_| ()),
    };
    if me < 2 {
        refused("two types", result, |error| matches!(error, Error::Unequal { .. }))?;
    }
    // An adjoint of what no forward gave goes to balanced blocks.
    let dx = movement.adjoint(&Tensor::full(&[1, 3], 7_u8)).map_err(say)?;
    if me < 2 {
        tensor_is("an adjoint without a forward", &dx, &[2, 2 - me], &vec![7; 4 - 2 * me])?;
    }
    usable(world)
}
