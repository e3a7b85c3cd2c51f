//! Movements of whole tensors: who gets which tensor, and which sums.

use pantile_spmd::{Broadcast, Error, RankContext, SumReduce, Tensor, Transpose};

use crate::Case;
use crate::expect::{Exact, Outcome, grid, numbered, ranks, same, say, sum};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "broadcasts and their adjoints", needs: 1, body: broadcasts },
        Case { name: "sums and their adjoints", needs: 1, body: sums },
        Case { name: "broadcasts and sums of each type", needs: 1, body: types },
        Case { name: "broadcasts and sums on other ways", needs: 1, body: around },
    ]
}

/// Two partitions between which copies go one way and sums the other.
pub(crate) struct PartitionPair {
    pub(crate) name: &'static str,
    pub(crate) small: (Vec<usize>, Vec<usize>),
    pub(crate) large: (Vec<usize>, Vec<usize>),
    /// The shape of the small side is reversed.
    pub(crate) reversed: bool,
    /// The rank of the small side that a rank of the large side belongs to.
    pub(crate) cell: fn(usize) -> usize,
    /// The tensor of a rank of the small side.
    pub(crate) shape: fn(usize) -> Vec<usize>,
}

type WholeSide<'a> = (Vec<usize>, &'a [usize]);

/// Pairs that fit into a world.
pub(crate) fn pairs(world: &RankContext) -> Vec<PartitionPair> {
    let row = |name, small: WholeSide<'_>, large: WholeSide<'_>, reversed, cell| PartitionPair {
        name,
        small: (small.0, small.1.to_vec()),
        large: (large.0, large.1.to_vec()),
        reversed,
        cell,
        shape: |_| vec![1, 7, 5],
    };
    let third: fn(usize) -> usize = |rank| rank / 3;
    let fourth: fn(usize) -> usize = |rank| rank % 4;
    let (flat, flipped, square) = (&[2, 2, 3][..], &[3, 2, 2][..], &[2, 2, 1][..]);
    let mut pairs = vec![
        row("4 into 12", (ranks(4, 8), square), (ranks(0, 12), flat), false, third),
        row("4 beside 12", (ranks(0, 4), square), (ranks(4, 16), flat), false, third),
        row("4 beside 12, rank 4 idle", (ranks(0, 4), square), (ranks(5, 17), flat), false, third),
        row("one", (vec![0], &[1]), (vec![0], &[1]), false, |_| 0),
        row("last of three", (vec![2], &[1]), (ranks(0, 3), &[1, 1, 3]), false, |_| 0),
        row("one beside three", (vec![3], &[1]), (ranks(0, 3), &[1, 1, 3]), false, |_| 0),
        row(
            "one beside three, rank 3 idle",
            (vec![4], &[1]),
            (ranks(0, 3), &[1, 1, 3]),
            false,
            |_| 0,
        ),
        row("4 into 12, reversed", (ranks(4, 8), square), (ranks(0, 12), flipped), true, fourth),
        row("4 beside 12, reversed", (ranks(0, 4), square), (ranks(4, 16), flipped), true, fourth),
        row("reversed, rank 4 idle", (ranks(0, 4), square), (ranks(5, 17), flipped), true, fourth),
        row("2 inside 4", (ranks(1, 3), &[1, 2]), (ranks(0, 4), &[2, 2]), false, |rank| rank % 2),
        row("4 inside 8", (ranks(2, 6), &[1, 2, 2]), (ranks(0, 8), &[2, 2, 2]), false, fourth),
        row("8 inside 16", (ranks(4, 12), &[1, 2, 2, 2]), (ranks(0, 16), &[2; 4]), false, |rank| {
            rank % 8
        }),
        row("2x3 reversed to 3x2", (ranks(0, 6), &[2, 3]), (ranks(0, 6), &[3, 2]), true, |rank| {
            rank
        }),
    ];
    // Blocks that differ between groups: 5x2 cut in two.
    let uneven = row("uneven", (ranks(0, 2), &[2, 1]), (ranks(0, 6), &[2, 3]), false, third);
    pairs.push(PartitionPair { shape: |rank| vec![3 - rank, 2], ..uneven });
    let crossed =
        row("uneven, crossed", (vec![1, 0], &[2]), (ranks(0, 2), &[2]), false, |rank| rank);
    pairs.push(PartitionPair { shape: |rank| vec![rank, 4, 2], ..crossed });
    // In a world of any size.
    let all = ranks(0, world.size());
    let last = world.size() - 1;
    let one = row("last to all", (vec![last], &[1]), (all.clone(), &[world.size()]), false, |_| 0);
    pairs.push(PartitionPair { shape: |_| vec![], ..one });
    let empty =
        row("nothing to all", (vec![last], &[1]), (all.clone(), &[world.size()]), false, |_| 0);
    pairs.push(PartitionPair { shape: |_| vec![0, 3], ..empty });
    let backwards: Vec<usize> = all.iter().rev().copied().collect();
    let turned = row(
        "all to all backwards",
        (all.clone(), &[all.len()]),
        (backwards, &[1, all.len()]),
        false,
        |rank| rank,
    );
    pairs.push(PartitionPair { shape: |rank| vec![rank % 3, 2], ..turned });
    pairs.retain(|pair| pair.small.0.iter().chain(&pair.large.0).all(|rank| *rank < world.size()));
    pairs
}

impl PartitionPair {
    /// The broadcast, or the sum if `sum`.
    fn flags(&self, sum: bool) -> Transpose {
        Transpose { source: self.reversed && !sum, target: self.reversed && sum }
    }

    pub(crate) fn broadcast(&self, world: &RankContext) -> Result<Broadcast, String> {
        let small = grid(world, &self.small.0, &self.small.1)?;
        let large = grid(world, &self.large.0, &self.large.1)?;
        Broadcast::transposed(&small, &large, self.flags(false)).map_err(say)
    }

    pub(crate) fn sum(&self, world: &RankContext) -> Result<SumReduce, String> {
        let small = grid(world, &self.small.0, &self.small.1)?;
        let large = grid(world, &self.large.0, &self.large.1)?;
        SumReduce::transposed(&large, &small, self.flags(true)).map_err(say)
    }

    pub(crate) fn in_small(&self, world: &RankContext) -> Option<usize> {
        self.small.0.iter().position(|rank| *rank == world.rank())
    }

    pub(crate) fn in_large(&self, world: &RankContext) -> Option<usize> {
        self.large.0.iter().position(|rank| *rank == world.rank())
    }
}

/// A direction of a movement.
pub(crate) type MovementRun<'a, T> = &'a dyn Fn(&Tensor<T>) -> Result<Tensor<T>, Error>;

/// What a worker outside of the source gives, by its rank: nothing, with any batch.
fn outside<T: Exact>(world: &RankContext) -> Tensor<T> {
    Tensor::zeros(&[1 + world.rank() % 5, 0])
}

/// What a worker gets that gave `x`, in neither or only in the source.
fn left_over<T: Exact>(x: &Tensor<T>, idle: bool, preserve: bool) -> Tensor<T> {
    match (idle, preserve, x.shape().first()) {
        (true, ..) => x.clone(),
        (false, true, Some(batch)) => Tensor::zeros(&[*batch, 0]),
        _ => Tensor::zeros(&[0]),
    }
}

/// Copies from the small to the large side.
pub(crate) fn copies<T: Exact>(
    world: &RankContext,
    pair: &PartitionPair,
    run: MovementRun<'_, T>,
    (seed, preserve): (usize, bool),
) -> Outcome {
    let give = |rank: usize| numbered::<T>(seed + 31 * rank, &(pair.shape)(rank));
    let x = pair.in_small(world).map_or_else(|| outside(world), give);
    let got = run(&x).map_err(say)?;
    let wanted = match pair.in_large(world) {
        Some(rank) => give((pair.cell)(rank)),
        None => left_over(&x, pair.in_small(world).is_none(), preserve),
    };
    same(format!("{}, copies", pair.name), &got, &wanted)
}

/// Sums from the large to the small side.
pub(crate) fn totals<T: Exact>(
    world: &RankContext,
    pair: &PartitionPair,
    run: MovementRun<'_, T>,
    (seed, preserve): (usize, bool),
) -> Outcome {
    let give = |rank: usize| numbered::<T>(seed + 37 * rank, &(pair.shape)((pair.cell)(rank)));
    let x = pair.in_large(world).map_or_else(|| outside(world), give);
    let got = run(&x).map_err(say)?;
    let wanted = match pair.in_small(world) {
        Some(cell) => {
            let terms = (0..pair.large.0.len()).filter(|rank| (pair.cell)(*rank) == cell);
            sum(&(pair.shape)(cell), terms.map(give))
        }
        None => left_over(&x, pair.in_large(world).is_none(), preserve),
    };
    same(format!("{}, sums", pair.name), &got, &wanted)
}

fn broadcasts(world: &RankContext) -> Outcome {
    for pair in pairs(world) {
        for preserve in [false, true] {
            let movement = pair.broadcast(world)?.preserve_batch(preserve);
            copies::<i64>(world, &pair, &|x| movement.forward(x), (1, preserve))?;
            totals::<i64>(world, &pair, &|x| movement.adjoint(x), (2, preserve))?;
        }
    }
    Ok(())
}

fn sums(world: &RankContext) -> Outcome {
    for pair in pairs(world) {
        for preserve in [false, true] {
            let movement = pair.sum(world)?.preserve_batch(preserve);
            totals::<i64>(world, &pair, &|x| movement.forward(x), (3, preserve))?;
            copies::<i64>(world, &pair, &|x| movement.adjoint(x), (4, preserve))?;
        }
    }
    Ok(())
}

fn types(world: &RankContext) -> Outcome {
    for pair in pairs(world) {
        // One object for all of them.
        let (broadcast, sum) = (pair.broadcast(world)?, pair.sum(world)?);
        type_of::<i32>(world, &pair, (&broadcast, &sum))?;
        type_of::<f32>(world, &pair, (&broadcast, &sum))?;
        type_of::<f64>(world, &pair, (&broadcast, &sum))?;
    }
    Ok(())
}

fn type_of<T: Exact>(
    world: &RankContext,
    pair: &PartitionPair,
    (broadcast, sum): (&Broadcast, &SumReduce),
) -> Outcome {
    copies::<T>(world, pair, &|x| broadcast.forward(x), (5, false))?;
    totals::<T>(world, pair, &|x| broadcast.adjoint(x), (6, false))?;
    totals::<T>(world, pair, &|x| sum.forward(x), (7, false))?;
    copies::<T>(world, pair, &|x| sum.adjoint(x), (8, false))
}

/// Even the smallest tensors take the way of large ones.
fn around(world: &RankContext) -> Outcome {
    world.engine().set_large_bytes(0);
    let outcome = broadcasts(world).and_then(|()| sums(world));
    world.engine().set_large_bytes(usize::MAX);
    outcome
}
