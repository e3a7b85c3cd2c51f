//! What the cases have in common: saying what was wrong, and naive arithmetic on blocks.

use std::fmt::{Debug, Display};
use std::ops::Add;

use pantile_spmd::{CartesianPartition, Element, Error, Partition, RankContext, Tensor};
use pantile_testkit::model::indices;

/// What a case returns.
pub(crate) type Outcome = Result<(), String>;

/// The text of an error.
pub(crate) fn say(error: impl Display) -> String {
    error.to_string()
}

/// Both are equal.
pub(crate) fn same<T: PartialEq + Debug + ?Sized>(
    what: impl Display,
    got: &T,
    wanted: &T,
) -> Outcome {
    if got == wanted { Ok(()) } else { Err(format!("{what}: expected {wanted:?}, got {got:?}")) }
}

/// A tensor has this shape and these elements.
pub(crate) fn tensor_is<T: Element>(
    what: impl Display,
    got: &Tensor<T>,
    shape: &[usize],
    elements: &[T],
) -> Outcome {
    same(format!("{what}: the shape"), got.shape(), shape)?;
    same(what, got.as_slice(), elements)
}

/// The result is an error of the right kind.
pub(crate) fn refused<T>(
    what: impl Display,
    result: Result<T, Error>,
    right: impl Fn(&Error) -> bool,
) -> Outcome {
    match result {
        Err(error) if right(&error) => Ok(()),
        Err(error) => Err(format!("{what}: expected another error, got {error:?}")),
        Ok(_) => Err(format!("{what}: expected an error, got a result")),
    }
}

/// The world still works: everybody hears of everybody.
pub(crate) fn usable(world: &RankContext) -> Outcome {
    let heard = world.partition().allgather_data(&[world.rank() as u64]).map_err(say)?;
    let heard = heard.map(Tensor::into_vec).unwrap_or_default();
    same("the world after an error", &heard, &(0..world.size() as u64).collect())
}

/// A team of these ranks of the world.
pub(crate) fn team(world: &RankContext, ranks: &[usize]) -> Result<Partition, String> {
    world.partition().create_partition_inclusive(ranks).map_err(say)
}

/// These ranks of the world as a grid.
pub(crate) fn grid(
    world: &RankContext,
    ranks: &[usize],
    shape: &[usize],
) -> Result<CartesianPartition, String> {
    team(world, ranks)?.create_cartesian_topology_partition(shape).map_err(say)
}

/// Consecutive ranks.
pub(crate) fn ranks(from: usize, to: usize) -> Vec<usize> {
    (from..to).collect()
}

/// Grids for a world: its ranks in order, backwards, and without one of them, with one and two
/// axes.
pub(crate) fn grids(world: &RankContext) -> Result<Vec<CartesianPartition>, String> {
    let all = ranks(0, world.size());
    let mut teams = vec![all.clone(), all.iter().rev().copied().collect()];
    if world.size() > 1 {
        teams.push(all.into_iter().filter(|rank| *rank != world.size() / 2).collect());
    }
    let mut grids = Vec::new();
    for team in teams {
        grids.push(grid(world, &team, &[team.len()])?);
        let rows = (2..team.len()).find(|rows| team.len() % rows == 0).unwrap_or(team.len());
        grids.push(grid(world, &team, &[rows, team.len() / rows])?);
    }
    Ok(grids)
}

/// Lengths of balanced blocks: cells dealt out one by one.
pub(crate) fn balanced(length: usize, workers: usize) -> Vec<usize> {
    let mut lengths = vec![0; workers];
    (0..length).for_each(|cell| lengths[cell % workers] += 1);
    lengths
}

/// Where the blocks of these lengths start and stop.
pub(crate) fn bounds(lengths: &[usize]) -> Vec<(usize, usize)> {
    let start = |at: usize| lengths[..at].iter().sum::<usize>();
    (0..lengths.len()).map(|at| (start(at), start(at + 1))).collect()
}

/// The box of the worker at `index`, when each axis is cut into blocks of these lengths.
pub(crate) fn block(lengths: &[Vec<usize>], index: &[usize]) -> Vec<(usize, usize)> {
    lengths.iter().zip(index).map(|(axis, at)| bounds(axis)[*at]).collect()
}

/// Extents of a box.
pub(crate) fn extents(block: &[(usize, usize)]) -> Vec<usize> {
    block.iter().map(|(start, stop)| stop - start).collect()
}

/// The values of a function at the global indices of a box, in row-major order.
pub(crate) fn cut<T: Element>(
    block: &[(usize, usize)],
    value: impl Fn(&[usize]) -> T,
) -> Result<Tensor<T>, String> {
    let shape = extents(block);
    let global = |local: Vec<usize>| -> Vec<usize> {
        local.iter().zip(block).map(|(at, (start, _))| at + start).collect()
    };
    let elements = indices(&shape).into_iter().map(|local| value(&global(local)));
    Tensor::from_vec(&shape, elements.collect()).map_err(say)
}

/// A number that tells indices and seeds apart, small enough for exact sums of many.
pub(crate) fn number(seed: usize, index: &[usize]) -> i8 {
    let mixed = index.iter().fold(seed as u64 + 1, |sum, at| {
        (sum ^ (*at as u64 + 0x9e37)).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
    });
    i8::try_from(i64::try_from(mixed % 199).unwrap_or(0) - 99).unwrap_or(0)
}

/// Types whose small whole numbers are exact.
pub(crate) trait Exact: Element + From<i8> + Add<Output = Self> {}

impl<T: Element + From<i8> + Add<Output = Self>> Exact for T {}

/// A tensor of [`number`]s at local indices.
pub(crate) fn numbered<T: Exact>(seed: usize, shape: &[usize]) -> Tensor<T> {
    Tensor::from_fn(shape, |index| T::from(number(seed, index)))
}

/// The sum of tensors of one shape, element by element.
pub(crate) fn sum<T: Exact>(
    shape: &[usize],
    terms: impl IntoIterator<Item = Tensor<T>>,
) -> Tensor<T> {
    let mut total = Tensor::full(shape, T::from(0));
    for term in terms {
        for (sum, term) in total.as_mut_slice().iter_mut().zip(term.as_slice()) {
            *sum = *sum + *term;
        }
    }
    total
}

/// The coordinates of a row-major position.
pub(crate) fn coordinates(position: usize, shape: &[usize]) -> Vec<usize> {
    indices(shape).swap_remove(position)
}
