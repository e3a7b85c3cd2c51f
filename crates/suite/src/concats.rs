//! All-gather and reduce-scatter: blocks put together, sums taken apart.

use pantile_spmd::{
    AllGather, AxisChoice, CartesianPartition, Error, RankContext, ReduceScatter, Tensor,
};
use pantile_testkit::Rng;

use crate::Case;
use crate::expect::{
    Outcome, balanced, block, coordinates, cut, extents, grid, grids, number, ranks, refused, same,
    say, tensor_is, usable,
};
use crate::repartitions::any_lengths;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "all-gather and reduce-scatter, in numbers", needs: 4, body: numbers },
        Case { name: "all-gather over every choice of axes", needs: 1, body: gathers },
        Case { name: "reduce-scatter over every choice of axes", needs: 1, body: scatters },
        Case { name: "all-gather and reduce-scatter that are refused", needs: 2, body: refusals },
    ]
}

type Lengths = Vec<Vec<usize>>;

/// Every choice of axes of a partition, said in both ways.
fn choices(partition: &CartesianPartition) -> Vec<(Vec<bool>, AxisChoice)> {
    let axes = partition.dim().unwrap_or(0);
    let listed = |kept: &[bool], wanted: bool| -> Vec<isize> {
        let listed = (0..kept.len()).filter(|axis| kept[*axis] == wanted);
        listed.map(|axis| isize::try_from(axis).unwrap_or(0)).collect()
    };
    let choice = |number: usize| {
        let kept: Vec<bool> = (0..axes).map(|axis| number >> axis & 1 == 1).collect();
        let choice = match number % 2 {
            0 => AxisChoice::Reduce(listed(&kept, false)),
            _ => AxisChoice::Keep(listed(&kept, true)),
        };
        (kept, choice)
    };
    (0..1 << axes).map(choice).collect()
}

/// The box of a worker with the axes that are not kept whole.
fn whole(lengths: &Lengths, kept: &[bool], index: &[usize]) -> Vec<(usize, usize)> {
    let mut whole = block(lengths, index);
    for (axis, bounds) in whole.iter_mut().enumerate() {
        if !kept[axis] {
            *bounds = (0, lengths[axis].iter().sum());
        }
    }
    whole
}

/// The sum over all workers with the same kept coordinates of their numbers at a global index.
fn total(partition: &CartesianPartition, kept: &[bool], mine: &[usize], at: &[usize]) -> i64 {
    let workers = partition.team().shape();
    let others = (0..partition.members().len()).filter(|rank| {
        let index = coordinates(*rank, &workers);
        (0..kept.len()).all(|axis| !kept[axis] || index[axis] == mine[axis])
    });
    others.map(|rank| i64::from(number(rank, at))).sum()
}

/// One array out of blocks, and sums of whole arrays back into the same blocks.
pub(crate) fn gather(
    partition: &CartesianPartition,
    movement: &AllGather,
    kept: &[bool],
    lengths: &Lengths,
) -> Outcome {
    let what = format!("{partition:?} keeping {kept:?} of {lengths:?}");
    let Some(index) = partition.index() else {
        let x = Tensor::full(&[3], 5_i64);
        same(format!("{what}: outside"), &movement.forward(&x).map_err(say)?, &x)?;
        return same(format!("{what}: outside, back"), &movement.adjoint(&x).map_err(say)?, &x);
    };
    let (mine, all) = (block(lengths, &index), whole(lengths, kept, &index));
    let x = cut(&mine, |at| i64::from(number(900, at)))?;
    let wanted = cut(&all, |at| i64::from(number(900, at)))?;
    same(format!("{what}: forward"), &movement.forward(&x).map_err(say)?, &wanted)?;
    let rank = partition.rank().unwrap_or(0);
    let dy = cut(&all, |at| i64::from(number(rank, at)))?;
    let wanted = cut(&mine, |at| total(partition, kept, &index, at))?;
    same(format!("{what}: adjoint"), &movement.adjoint(&dy).map_err(say)?, &wanted)
}

/// Cuts that are tried: fewer in a large world.
fn rounds(world: &RankContext) -> usize {
    if world.size() > 7 { 1 } else { 2 }
}

fn gathers(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(72);
    for way in [usize::MAX, 0] {
        world.engine().set_large_bytes(way);
        for partition in grids(world)? {
            for (kept, choice) in choices(&partition) {
                let movement = AllGather::new(&partition, &choice).map_err(say)?;
                for _ in 0..rounds(world) {
                    let lengths = any_lengths(&mut rng, &partition.team().shape());
                    gather(&partition, &movement, &kept, &lengths)?;
                }
            }
        }
    }
    world.engine().set_large_bytes(usize::MAX);
    Ok(())
}

/// Sums into balanced blocks, and the blocks put together again.
pub(crate) fn scatter(
    partition: &CartesianPartition,
    movement: &ReduceScatter,
    kept: &[bool],
    lengths: &Lengths,
) -> Outcome {
    let what = format!("{partition:?} keeping {kept:?} of {lengths:?}");
    let Some(index) = partition.index() else {
        let x = Tensor::full(&[3], 5_i64);
        same(format!("{what}: outside"), &movement.forward(&x).map_err(say)?, &x)?;
        return same(format!("{what}: outside, back"), &movement.adjoint(&x).map_err(say)?, &x);
    };
    let all = whole(lengths, kept, &index);
    // Kept axes stay as they are cut, the others become balanced.
    let result: Lengths = lengths
        .iter()
        .zip(kept)
        .map(
            |(axis, kept)| {
                if *kept { axis.clone() } else { balanced(axis.iter().sum(), axis.len()) }
            },
        )
        .collect();
    let mine = block(&result, &index);
    let rank = partition.rank().unwrap_or(0);
    let x = cut(&all, |at| i64::from(number(rank, at)))?;
    let wanted = cut(&mine, |at| total(partition, kept, &index, at))?;
    same(format!("{what}: forward"), &movement.forward(&x).map_err(say)?, &wanted)?;
    let dy = cut(&mine, |at| i64::from(number(901, at)))?;
    let wanted = cut(&all, |at| i64::from(number(901, at)))?;
    same(format!("{what}: adjoint"), &movement.adjoint(&dy).map_err(say)?, &wanted)
}

fn scatters(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(73);
    for partition in grids(world)? {
        for (kept, choice) in choices(&partition) {
            let movement = ReduceScatter::new(&partition, &choice).map_err(say)?;
            for _ in 0..rounds(world) {
                let lengths = any_lengths(&mut rng, &partition.team().shape());
                scatter(&partition, &movement, &kept, &lengths)?;
            }
        }
    }
    Ok(())
}

fn numbers(world: &RankContext) -> Outcome {
    let square = grid(world, &ranks(0, 4), &[2, 2])?;
    let me = world.rank();
    let value = |number: usize| number as f32;
    let gather = AllGather::new(&square, &AxisChoice::Reduce(vec![1])).map_err(say)?;
    let scatter = ReduceScatter::new(&square, &AxisChoice::Reduce(vec![-1])).map_err(say)?;
    // 2x3: one row per row of workers, two columns and one.
    let x = Tensor::full(&[1, 2 - me % 2], value(me + 1));
    let y = gather.forward(&x).map_err(say)?;
    let whole = Tensor::full(&[1, 3], value(me + 1));
    let dx = gather.adjoint(&whole).map_err(say)?;
    let z = scatter.forward(&whole).map_err(say)?;
    let (row, sum): (&[f32], f32) = match me {
        0 | 1 => (&[1., 1., 2.], 3.0),
        2 | 3 => (&[3., 3., 4.], 7.0),
        _ => return same("outside", &(y == x, dx == whole, z == whole), &(true, true, true)),
    };
    let columns = 2 - me % 2;
    tensor_is("all-gather", &y, &[1, 3], row)?;
    tensor_is("adjoint of all-gather", &dx, &[1, columns], &vec![sum; columns])?;
    tensor_is("reduce-scatter", &z, &[1, columns], &vec![sum; columns])?;
    let back = scatter.adjoint(&x).map_err(say)?;
    tensor_is("adjoint of reduce-scatter", &back, &[1, 3], row)
}

fn refusals(world: &RankContext) -> Outcome {
    let line = grid(world, &ranks(0, world.size()), &[world.size()])?;
    let wrong = |error: &Error| matches!(error, Error::WrongShape { .. });
    let (all, team) =
        (AxisChoice::Reduce(vec![0]), |error: &Error| matches!(error, Error::Team(_)));
    for axes in [vec![1], vec![-2], vec![0, 0]] {
        let axes = AxisChoice::Keep(axes);
        refused(format!("{axes:?} of one axis"), AllGather::new(&line, &axes), team)?;
        refused(format!("{axes:?} of one axis"), ReduceScatter::new(&line, &axes), team)?;
    }
    let gather = AllGather::new(&line, &all).map_err(say)?;
    let scatter = ReduceScatter::new(&line, &all).map_err(say)?;
    let me = world.rank();
    let odd = Tensor::full(&[if me == 1 { 3 } else { 2 }], 1_i16);
    refused("sums of unequal lengths", scatter.forward(&odd), wrong)?;
    refused("an adjoint of unequal lengths", gather.adjoint(&odd), wrong)?;
    let flat = if me == 1 { Tensor::full(&[2, 1], 1_i16) } else { Tensor::full(&[2], 1_i16) };
    refused("a block with an axis more", gather.forward(&flat), wrong)?;
    refused("a sum with an axis more", scatter.forward(&flat), wrong)?;
    usable(world)?;
    let length = 2 * world.size() + 1;
    let y = gather.forward(&odd).map_err(say)?;
    same("the same object, later", y.shape(), &[length])?;
    let z = scatter.forward(&y).map_err(say)?;
    let wanted = balanced(length, world.size())[me];
    same("its sum", &z, &Tensor::full(&[wanted], i16::try_from(world.size()).unwrap_or(0)))?;
    same("its extents", &extents(&[(0, wanted)]), &z.shape().to_vec())
}
