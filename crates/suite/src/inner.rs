//! The inner products `<F x, y>` and `<x, F* y>` of every movement and every type.

use pantile_geometry::{Axis, Distribution, Mesh};
use pantile_spmd::{
    AllGather, AllSumReduce, AxisChoice, CartesianPartition, DistArray, Error, HaloExchange,
    RankContext, ReduceScatter, Repartition, Tensor, Widths,
};
use pantile_testkit::Rng;

use crate::arrays::ArrayPlan;
use crate::expect::{Outcome, balanced, block, extents, grids, number, say};
use crate::halos::{HaloSide, any_side, padded};
use crate::laws::same_total;
use crate::reference::Reference;
use crate::repartitions::{any_lengths, even};
use crate::whole::{PartitionPair, pairs};
use crate::{Case, every_type, layers};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "inner products of whole tensors", needs: 1, body: whole },
        Case { name: "inner products of blocks", needs: 1, body: blocks },
        Case { name: "inner products of halos and layers", needs: 1, body: windows },
        Case { name: "inner products of arrays", needs: 1, body: arrays },
    ]
}

/// A tensor with elements that tell everything apart.
fn any<T: Reference>(seed: usize, shape: &[usize]) -> Tensor<T> {
    Tensor::from_fn(shape, |at| T::from_number(i64::from(number(seed, at))))
}

/// Products element by element.
fn products<T: Reference>(one: &[T], other: &[T]) -> Vec<T> {
    one.iter().zip(other).map(|(one, other)| one.times(*other)).collect()
}

type BothSides<'a, T> = (
    &'a dyn Fn(&Tensor<T>) -> Result<Tensor<T>, Error>,
    &'a dyn Fn(&Tensor<T>) -> Result<Tensor<T>, Error>,
);

/// Compares the products; who has no `x` or `y` gives nothing and has no share in that product.
fn check<T: Reference>(
    world: &RankContext,
    what: &str,
    (forward, adjoint): BothSides<'_, T>,
    (x, y): (Option<Tensor<T>>, Option<Tensor<T>>),
) -> Outcome {
    let fault = |fault: String| format!("{what}: {fault}");
    let nothing = Tensor::<T>::empty();
    let image = forward(x.as_ref().unwrap_or(&nothing)).map_err(say).map_err(fault)?;
    let back = adjoint(y.as_ref().unwrap_or(&nothing)).map_err(say).map_err(fault)?;
    let share = |given: &Option<Tensor<T>>, got: &Tensor<T>| match given {
        Some(given) if given.shape() != got.shape() => {
            Err(format!("{what}: expected a tensor of shape {:?}, got {got:?}", given.shape()))
        }
        Some(given) => Ok(products(given.as_slice(), got.as_slice())),
        None => Ok(Vec::new()),
    };
    same_total(world, (share(&y, &image)?, share(&x, &back)?)).map_err(fault)
}

fn whole(world: &RankContext) -> Outcome {
    for (name, result) in every_type!(whole_of(world)) {
        result.map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

fn whole_of<T: Reference>(world: &RankContext) -> Outcome {
    let mut chosen = pairs(world);
    // Large worlds have many pairs; every type sees some of them.
    let skip = usize::from(T::DTYPE.code()) % 4;
    if chosen.len() > 8 {
        chosen = chosen.into_iter().skip(skip).step_by(4).collect();
    }
    for pair in chosen {
        let pair = PartitionPair { shape: |rank| vec![2, 1 + rank % 2], ..pair };
        let small = pair.in_small(world).map(|rank| any::<T>(rank, &(pair.shape)(rank)));
        let shape = |rank: usize| (pair.shape)((pair.cell)(rank));
        let large = pair.in_large(world).map(|rank| any::<T>(50 + rank, &shape(rank)));
        let movement = pair.broadcast(world)?;
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        check(world, &format!("broadcast, {}", pair.name), both, (small.clone(), large.clone()))?;
        let movement = pair.sum(world)?;
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        check(world, &format!("sum, {}", pair.name), both, (large, small))?;
    }
    for partition in some_grids(world)? {
        let movement = AllSumReduce::new(&partition, &AxisChoice::Reduce(vec![-1])).map_err(say)?;
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        let mine = |seed: usize| partition.rank().map(|rank| any::<T>(seed + rank, &[3]));
        check(world, "all-sum-reduce", both, (mine(0), mine(70)))?;
    }
    Ok(())
}

/// A grid of one axis and one of two, not of all ranks; in a large world only the latter.
fn some_grids(world: &RankContext) -> Result<Vec<CartesianPartition>, String> {
    let mut grids = grids(world)?;
    Ok(grids.split_off(grids.len() - rounds(world, 2)))
}

/// Fewer rounds in a large world.
fn rounds(world: &RankContext, most: usize) -> usize {
    if world.size() > 7 { most / 2 } else { most }
}

/// The tensor of this rank if the array is cut like this.
fn part<T: Reference>(
    partition: &CartesianPartition,
    lengths: &[Vec<usize>],
    seed: usize,
) -> Option<Tensor<T>> {
    let block = block(lengths, &partition.index()?);
    Some(any(seed + 100 * partition.rank()?, &extents(&block)))
}

fn blocks(world: &RankContext) -> Outcome {
    for (name, result) in every_type!(blocks_of(world)) {
        result.map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

fn blocks_of<T: Reference>(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(78);
    let everybody = grids(world)?;
    for partition in some_grids(world)? {
        let workers = partition.team().shape();
        let lengths = any_lengths(&mut rng, &workers);
        let total: Vec<usize> = lengths.iter().map(|axis| axis.iter().sum()).collect();
        let target = everybody.iter().find(|other| other.dim() == partition.dim());
        let target = target.ok_or("there is a grid of each kind")?;
        let movement = Repartition::new(&partition, target).map_err(say)?;
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        let balanced_lengths = even(&total, &target.team().shape());
        let given = (part(&partition, &lengths, 1), part(target, &balanced_lengths, 2));
        check(world, "repartition", both, given)?;
        // Whole along the last axis on one side, cut on the other.
        let last = workers.len() - 1;
        let axes = AxisChoice::Reduce(vec![-1]);
        let mut gathered = lengths.clone();
        gathered[last] = vec![total[last]];
        let whole = |seed: usize| -> Option<Tensor<T>> {
            let mut index = partition.index()?;
            index[last] = 0;
            Some(any(seed + 100 * partition.rank()?, &extents(&block(&gathered, &index))))
        };
        let movement = AllGather::new(&partition, &axes).map_err(say)?;
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        check(world, "all-gather", both, (part(&partition, &lengths, 3), whole(4)))?;
        let mut scattered = lengths.clone();
        scattered[last] = balanced(total[last], workers[last]);
        let movement = ReduceScatter::new(&partition, &axes).map_err(say)?;
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        check(world, "reduce-scatter", both, (whole(5), part(&partition, &scattered, 6)))?;
    }
    Ok(())
}

fn windows(world: &RankContext) -> Outcome {
    for (name, result) in every_type!(windows_of(world)) {
        result.map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

fn windows_of<T: Reference>(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(79);
    for partition in some_grids(world)? {
        let workers = partition.team().shape();
        let cut = any_lengths(&mut rng, &workers);
        let sides: Vec<HaloSide> =
            cut.into_iter().map(|own| any_side(&mut rng, own, false)).collect();
        let widths: Vec<Widths> = sides.iter().map(HaloSide::widths).collect();
        let movement = HaloExchange::new(&partition, &widths).map_err(say)?;
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        let mine = |seed: usize| -> Option<Tensor<T>> {
            Some(any(seed + 100 * partition.rank()?, &padded(&sides, &partition.index()?)))
        };
        check(world, "halo exchange", both, (mine(7), mine(8)))?;
        let lengths = any_lengths(&mut rng, &workers);
        let lines: Vec<_> =
            lengths.iter().map(|lengths| layers::any_line(&mut rng, lengths.clone())).collect();
        let movement = layers::exchange(&partition, &lines)?;
        let x = part::<T>(&partition, &lengths, 9);
        // The shape of what a kernel needs is that of a first forward.
        let seen = movement.forward(x.as_ref().unwrap_or(&Tensor::empty())).map_err(say)?;
        let y = partition.rank().map(|rank| any::<T>(10 + 100 * rank, seen.shape()));
        let both: BothSides<'_, T> = (&|x| movement.forward(x), &|y| movement.adjoint(y));
        check(world, "layer exchange", both, (x, y))?;
    }
    Ok(())
}

fn arrays(world: &RankContext) -> Outcome {
    for (name, result) in every_type!(arrays_of(world)) {
        result.map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

/// An array whose elements differ everywhere, copies included.
fn scattered<T: Reference>(
    world: &RankContext,
    distribution: &Distribution,
    seed: usize,
) -> Result<DistArray<T>, String> {
    let length = distribution.local_shape(world.rank()).map_or(0, |shape| shape.iter().product());
    let elements = any::<T>(seed + 100 * world.rank(), &[length]).into_vec();
    DistArray::from_tile(world, distribution, elements).map_err(say)
}

fn arrays_of<T: Reference>(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(80 + u64::from(T::DTYPE.code()));
    for _ in 0..rounds(world, 4) {
        let shape = [1 + rng.below(6), 1 + rng.below(6)];
        let from = ArrayPlan::any(&mut rng, world, shape).distribution()?;
        let to = ArrayPlan::any(&mut rng, world, shape).distribution()?;
        let (x, y) = (scattered::<T>(world, &from, 1)?, scattered::<T>(world, &to, 2)?);
        let image = x.redistribute(&to).map_err(say)?;
        let back = y.redistribute_adjoint(&from).map_err(say)?;
        let shares = (products(y.local(), image.local()), products(x.local(), back.local()));
        same_total(world, shares).map_err(|fault| format!("{from} -> {to}: {fault}"))?;
    }
    for periodic in [false, true] {
        let axis = Axis::block(&["r"]).halo(1, 2);
        let axis = if periodic { axis.periodic() } else { axis };
        let mesh = Mesh::line(world.size()).map_err(say)?;
        let axes = vec![axis, Axis::whole()];
        let held = Distribution::new(&[3 * world.size(), 2], mesh, axes).map_err(say)?;
        let (x, y) = (scattered::<T>(world, &held, 3)?, scattered::<T>(world, &held, 4)?);
        let (given, wanted) = (x.local().to_vec(), y.local().to_vec());
        let (mut x, mut y) = (x, y);
        x.exchange_halo().map_err(say)?;
        y.accumulate_halo().map_err(say)?;
        let shares = (products(&wanted, x.local()), products(&given, y.local()));
        same_total(world, shares).map_err(|fault| format!("halo of {held}: {fault}"))?;
    }
    Ok(())
}
