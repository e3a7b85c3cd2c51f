//! One object used again and again, with tensors that change, for some or for all.

use pantile_spmd::{
    AllGather, AllSumReduce, AxisChoice, Broadcast, HaloExchange, RankContext, ReduceScatter,
    Repartition, Tensor, Widths,
};

use crate::Case;
use crate::expect::{Outcome, balanced, grid, ranks, same, say, tensor_is};
use crate::halos::{self, HaloSide};
use crate::layers::{self, LayerAxis};
use crate::whole::{PartitionPair, copies, pairs, totals};
use crate::{concats, repartitions};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "batches of changing size, whole tensors", needs: 1, body: whole },
        Case { name: "batches of changing size, blocks", needs: 1, body: blocks },
        Case { name: "a change that not everybody sees", needs: 1, body: unseen },
        Case { name: "a setting that is each worker's own", needs: 1, body: own_settings },
        Case { name: "adjoints of different forwards", needs: 1, body: mixed },
    ]
}

fn whole(world: &RankContext) -> Outcome {
    let batches: [fn(usize) -> Vec<usize>; 3] =
        [|rank| vec![4, 1 + rank], |rank| vec![3, 1 + rank], |rank| vec![4, 1 + rank]];
    for mut pair in pairs(world) {
        let (broadcast, sum) = (pair.broadcast(world)?, pair.sum(world)?);
        for (round, shape) in batches.into_iter().enumerate() {
            pair = PartitionPair { shape, ..pair };
            let seed = (9 + round, false);
            copies::<i64>(world, &pair, &|x| broadcast.forward(x), seed)?;
            totals::<i64>(world, &pair, &|x| broadcast.adjoint(x), seed)?;
            totals::<i64>(world, &pair, &|x| sum.forward(x), seed)?;
            copies::<i64>(world, &pair, &|x| sum.adjoint(x), seed)?;
        }
    }
    let line = grid(world, &ranks(0, world.size()), &[world.size()])?;
    let all = AllSumReduce::new(&line, &AxisChoice::Reduce(vec![0])).map_err(say)?;
    let size = i64::try_from(world.size()).unwrap_or(0);
    for batch in [4, 3, 4] {
        let got = all.forward(&Tensor::full(&[batch, 2], 1_i64)).map_err(say)?;
        tensor_is(format!("batch {batch}"), &got, &[batch, 2], &vec![size; 2 * batch])?;
        let got = all.adjoint(&got).map_err(say)?;
        tensor_is(format!("batch {batch}"), &got, &[batch, 2], &vec![size * size; 2 * batch])?;
    }
    Ok(())
}

fn blocks(world: &RankContext) -> Outcome {
    let size = world.size();
    let line = grid(world, &ranks(0, size), &[1, size])?;
    let backwards = grid(world, &(0..size).rev().collect::<Vec<_>>(), &[1, size])?;
    let repartition = Repartition::new(&line, &backwards).map_err(say)?;
    let columns = AxisChoice::Reduce(vec![1]);
    let gather = AllGather::new(&line, &columns).map_err(say)?;
    let scatter = ReduceScatter::new(&line, &columns).map_err(say)?;
    let widths = [Widths::none(1), Widths::uniform(size, 1, 1)];
    let halo = HaloExchange::new(&line, &widths).map_err(say)?;
    let window =
        |lengths: Vec<usize>| LayerAxis { kernel: 3, stride: 1, padding: 1, dilation: 1, lengths };
    let batch_axis = |batch| LayerAxis { kernel: 1, padding: 0, ..window(vec![batch]) };
    let layer = layers::exchange(&line, &[batch_axis(4), window(vec![2; size])])?;
    for (round, batch) in [4, 3, 4].into_iter().enumerate() {
        // The cut of the columns changes too.
        let mut columns = balanced(2 * size + 1, size);
        columns.rotate_left(round % size);
        let lengths = vec![vec![batch], columns.clone()];
        let both = (&line, &backwards);
        repartitions::there_and_back::<i64>(world, both, (&repartition, false), &lengths)?;
        concats::gather(&line, &gather, &[true, false], &lengths)?;
        concats::scatter(&line, &scatter, &[true, false], &lengths)?;
        let batches = HaloSide { own: vec![batch], widths: vec![(0, 0)], periodic: false };
        let sides = [
            batches,
            HaloSide { own: columns.clone(), widths: vec![(1, 1); size], periodic: false },
        ];
        halos::check(&line, &halo, &sides)?;
        layers::check(&line, &layer, &[batch_axis(batch), window(columns)])?;
    }
    Ok(())
}

/// Only those who have nothing change the shape of their nothing; the root sees no change.
fn unseen(world: &RankContext) -> Outcome {
    let size = world.size();
    let (one, line) = (grid(world, &[0], &[1])?, grid(world, &ranks(0, size), &[size])?);
    let broadcast = Broadcast::new(&one, &line).map_err(say)?;
    let (dot, row) = (grid(world, &[0], &[1, 1, 1])?, grid(world, &ranks(0, size), &[1, size, 1])?);
    let repartition = Repartition::new(&dot, &row).map_err(say)?;
    let channels = size + 2;
    for nothing in [&[1, 0][..], &[0], &[0, 5], &[1, 0]] {
        let mine = match world.rank() {
            0 => Tensor::from_fn(&[1, channels, 1], |at| at[1] as f32),
            _ => Tensor::zeros(nothing),
        };
        let wanted: Vec<f32> = (0..channels).map(|channel| channel as f32).collect();
        let got = broadcast.forward(&mine).map_err(say)?;
        tensor_is(format!("with {nothing:?} elsewhere"), &got, &[1, channels, 1], &wanted)?;
        let back = broadcast.adjoint(&got).map_err(say)?;
        if world.rank() == 0 {
            let wanted: Vec<f32> = wanted.iter().map(|value| value * size as f32).collect();
            tensor_is("its adjoint", &back, &[1, channels, 1], &wanted)?;
        }
        let got = repartition.forward(&mine).map_err(say)?;
        let (start, stop) = crate::expect::bounds(&balanced(channels, size))[world.rank()];
        tensor_is("scattered", &got, &[1, stop - start, 1], &wanted[start..stop])?;
        let back = repartition.adjoint(&got).map_err(say)?;
        same("gathered again", &(back.len() == mine.len()), &true)?;
        if world.rank() == 0 {
            same("gathered again", &back, &mine)?;
        }
    }
    Ok(())
}

/// Whether a worker keeps the batch of its own empty results is its own affair.
fn own_settings(world: &RankContext) -> Outcome {
    let size = world.size();
    let (last, line) = (grid(world, &[size - 1], &[1])?, grid(world, &ranks(0, size), &[size])?);
    for odd in [0, 1] {
        let preserve = world.rank() % 2 == odd;
        let batch = 2 + world.rank();
        let broadcast = Broadcast::new(&last, &line).map_err(say)?.preserve_batch(preserve);
        let x = Tensor::full(&[batch, 2], world.rank() as u64);
        let y = broadcast.forward(&x).map_err(say)?;
        let root = (size - 1) as u64;
        tensor_is("copies", &y, &[size + 1, 2], &vec![root; 2 * (size + 1)])?;
        let dx = broadcast.adjoint(&y).map_err(say)?;
        let wanted = match (world.rank() == size - 1, preserve) {
            (true, _) => vec![size + 1, 2],
            (false, true) => vec![size + 1, 0],
            (false, false) => vec![0],
        };
        same("the shape of the adjoint", dx.shape(), &wanted)?;
        let dot = grid(world, &[0], &[1, 1])?;
        let row = grid(world, &ranks(0, size), &[1, size])?;
        let gather = Repartition::new(&row, &dot).map_err(say)?.preserve_batch(preserve);
        let y = gather.forward(&Tensor::full(&[3, 2], 1_i8)).map_err(say)?;
        let wanted = match (world.rank() == 0, preserve) {
            (true, _) => vec![3, 2 * size],
            (false, true) => vec![3, 0],
            (false, false) => vec![0],
        };
        same("the shape of what was gathered", y.shape(), &wanted)?;
    }
    Ok(())
}

/// An adjoint goes back to the blocks of the last forward, whatever came before.
fn mixed(world: &RankContext) -> Outcome {
    let size = world.size();
    let line = grid(world, &ranks(0, size), &[size])?;
    let movement = Repartition::new(&line, &line).map_err(say)?;
    let gather = AllGather::new(&line, &AxisChoice::Keep(vec![])).map_err(say)?;
    let me = world.rank();
    let length = 3 * size;
    // All in front, all behind, two for each and the rest in front.
    let cuts: [fn(usize, usize) -> usize; 3] = [
        |rank, size| if rank == 0 { 3 * size } else { 0 },
        |rank, size| if rank + 1 == size { 3 * size } else { 0 },
        |rank, size| if rank == 0 { 2 + size } else { 2 },
    ];
    for cut in cuts.into_iter().chain(cuts) {
        let x = Tensor::full(&[cut(me, size)], 1_i64);
        let y = movement.forward(&x).map_err(say)?;
        tensor_is("balanced", &y, &[3], &[1; 3])?;
        same("and back", &movement.adjoint(&y).map_err(say)?, &x)?;
        let whole = gather.forward(&x).map_err(say)?;
        tensor_is("gathered", &whole, &[length], &vec![1; length])?;
        let times = i64::try_from(size).unwrap_or(0);
        let back = gather.adjoint(&whole).map_err(say)?;
        tensor_is("and summed", &back, x.shape(), &vec![times; x.len()])?;
    }
    Ok(())
}
