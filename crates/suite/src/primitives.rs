//! Movements of whole tensors: vectors with their numbers, all-sum-reduce, and what is refused.

use pantile_spmd::{
    AllSumReduce, AxisChoice, Broadcast, CartesianPartition, Error, RankContext, SumReduce, Tensor,
};

use crate::Case;
use crate::expect::{
    Exact, Outcome, coordinates, grid, grids, numbered, ranks, refused, same, say, sum, tensor_is,
    usable,
};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "broadcast and sum of 5x2, in numbers", needs: 6, body: numbers },
        Case { name: "all-sum-reduce on 2x3, in numbers", needs: 6, body: all_numbers },
        Case { name: "all-sum-reduce over every choice of axes", needs: 1, body: all_axes },
        Case { name: "all-sum-reduce on 2x2x3", needs: 12, body: all_of_12 },
        Case { name: "different tensors in one group", needs: 2, body: unequal },
    ]
}

fn numbers(world: &RankContext) -> Outcome {
    let (column, square) =
        (grid(world, &ranks(0, 2), &[2, 1])?, grid(world, &ranks(0, 6), &[2, 3])?);
    let broadcast = Broadcast::new(&column, &square).map_err(say)?;
    let sum = SumReduce::new(&square, &column).map_err(say)?;
    let me = world.rank();
    let nothing = Tensor::<f64>::empty();
    // Blocks of 5x2: ones in 3x2 and twos in 2x2.
    let one = |rank: usize| Tensor::full(&[3 - rank, 2], 1.0 + rank as f64);
    let six = |rank: usize| Tensor::full(&[3 - rank / 3, 2], 1.0 + rank as f64);
    let mine = if me < 2 { one(me) } else { nothing.clone() };
    let each = if me < 6 { six(me) } else { nothing.clone() };
    let copied = |got: &Tensor<f64>, what: &str| match me {
        0..6 => {
            tensor_is(what, got, &[3 - me / 3, 2], &vec![1.0 + (me / 3) as f64; 6 - me / 3 * 2])
        }
        _ => tensor_is(what, got, &[0], &[]),
    };
    let summed = |got: &Tensor<f64>, what: &str| match me {
        0 => tensor_is(what, got, &[3, 2], &[6.0; 6]),
        1 => tensor_is(what, got, &[2, 2], &[15.0; 4]),
        _ => tensor_is(what, got, &[0], &[]),
    };
    copied(&broadcast.forward(&mine).map_err(say)?, "broadcast")?;
    summed(&broadcast.adjoint(&each).map_err(say)?, "adjoint of broadcast")?;
    summed(&sum.forward(&each).map_err(say)?, "sum")?;
    copied(&sum.adjoint(&mine).map_err(say)?, "adjoint of sum")
}

fn all_numbers(world: &RankContext) -> Outcome {
    let square = grid(world, &ranks(0, 6), &[2, 3])?;
    let me = world.rank();
    let x = Tensor::full(&[2], 1 + i32::try_from(me).unwrap_or(0));
    let rows: [(&[isize], [i32; 6]); 7] = [
        (&[1], [6, 6, 6, 15, 15, 15]),
        (&[-1], [6, 6, 6, 15, 15, 15]),
        (&[0], [5, 7, 9, 5, 7, 9]),
        (&[-2], [5, 7, 9, 5, 7, 9]),
        (&[0, 1], [21; 6]),
        (&[-1, 0], [21; 6]),
        (&[], [1, 2, 3, 4, 5, 6]),
    ];
    for (axes, wanted) in rows {
        let movement =
            AllSumReduce::new(&square, &AxisChoice::Reduce(axes.to_vec())).map_err(say)?;
        let wanted = wanted.get(me).map_or_else(|| x.clone(), |wanted| Tensor::full(&[2], *wanted));
        same(format!("axes {axes:?}"), &movement.forward(&x).map_err(say)?, &wanted)?;
        same(format!("adjoint, axes {axes:?}"), &movement.adjoint(&x).map_err(say)?, &wanted)?;
    }
    // 5x7 filled with rank + 1, summed over its own columns before all are: the three columns of
    // workers have 3, 2 and 2 columns.
    let movement = AllSumReduce::new(&square, &AxisChoice::Reduce(vec![1])).map_err(say)?;
    let columns = [3, 2, 2][me % 3];
    let mine = Tensor::full(&[3 - (me / 3).min(1)], columns * (1 + i32::try_from(me).unwrap_or(0)));
    let got = movement.forward(&mine).map_err(say)?;
    match me {
        0..3 => tensor_is("columns first, top", &got, &[3], &[13; 3]),
        3..6 => tensor_is("columns first, bottom", &got, &[2], &[34; 2]),
        _ => same("columns first, outside", &got, &mine),
    }
}

/// The sum over the axes that vary, found by looking at everybody; shapes differ between teams.
fn all_sums<T: Exact>(
    world: &RankContext,
    partition: &CartesianPartition,
    vary: &[bool],
) -> Outcome {
    let workers = partition.shape().unwrap_or_default();
    let listed = |wanted: bool| -> Vec<isize> {
        let axes = (0..vary.len()).filter(|axis| vary[*axis] == wanted);
        axes.map(|axis| isize::try_from(axis).unwrap_or(0)).collect()
    };
    let team_of = |rank: usize| -> Vec<usize> {
        let index = coordinates(rank, &workers);
        (0..vary.len()).map(|axis| if vary[axis] { 0 } else { index[axis] }).collect()
    };
    let shape = |rank: usize| vec![2, 1 + team_of(rank).iter().sum::<usize>()];
    let give = |rank: usize| numbered::<T>(rank, &shape(rank));
    let members = 0..partition.members().len();
    for axes in [AxisChoice::Reduce(listed(true)), AxisChoice::Keep(listed(false))] {
        let movement = AllSumReduce::new(partition, &axes).map_err(say)?;
        let x = partition.rank().map_or_else(|| numbered(world.rank(), &[3]), give);
        let wanted = partition.rank().map_or_else(
            || x.clone(),
            |mine| {
                let terms = members.clone().filter(|rank| team_of(*rank) == team_of(mine));
                sum(&shape(mine), terms.map(give))
            },
        );
        let what = format!("{axes:?} of {workers:?}");
        same(&what, &movement.forward(&x).map_err(say)?, &wanted)?;
        same(format!("adjoint: {what}"), &movement.adjoint(&x).map_err(say)?, &wanted)?;
    }
    Ok(())
}

fn all_axes(world: &RankContext) -> Outcome {
    for way in [usize::MAX, 0] {
        world.engine().set_large_bytes(way);
        for partition in grids(world)? {
            let axes = partition.dim().unwrap_or(0);
            for choice in 0..1_usize << axes {
                let vary: Vec<bool> = (0..axes).map(|axis| choice >> axis & 1 == 1).collect();
                all_sums::<i64>(world, &partition, &vary)?;
            }
        }
    }
    world.engine().set_large_bytes(usize::MAX);
    let line = grid(world, &[0], &[1])?;
    for axes in [vec![1], vec![-2], vec![0, 0], vec![0, -1]] {
        let made = AllSumReduce::new(&line, &AxisChoice::Reduce(axes.clone()));
        refused(format!("axes {axes:?} of one"), made, |error| matches!(error, Error::Team(_)))?;
    }
    Ok(())
}

fn all_of_12(world: &RankContext) -> Outcome {
    let cube = grid(world, &ranks(0, 12), &[2, 2, 3])?;
    let choices: [(&[isize], f64); 8] = [
        (&[], 1.0),
        (&[0], 2.0),
        (&[1], 2.0),
        (&[2], 3.0),
        (&[0, 1], 4.0),
        (&[0, 2], 6.0),
        (&[1, 2], 6.0),
        (&[0, 1, 2], 12.0),
    ];
    for (axes, times) in choices {
        let movement = AllSumReduce::new(&cube, &AxisChoice::Reduce(axes.to_vec())).map_err(say)?;
        let times = if cube.active() { times } else { 1.0 };
        let y = movement.forward(&Tensor::full(&[3, 4], 10.0)).map_err(say)?;
        tensor_is(format!("tens, axes {axes:?}"), &y, &[3, 4], &[10.0 * times; 12])?;
        let dx = movement.adjoint(&Tensor::full(&[3, 4], 0.1)).map_err(say)?;
        same("tenths: the shape", dx.shape(), &[3, 4])?;
        if dx.as_slice().iter().any(|got| (got - 0.1 * times).abs() > 1e-12) {
            return Err(format!("tenths, axes {axes:?}: expected {}, got {dx:?}", 0.1 * times));
        }
    }
    let line = grid(world, &ranks(0, 12), &[12])?;
    let movement = AllSumReduce::new(&line, &AxisChoice::Reduce(vec![0])).map_err(say)?;
    let give = |rank: usize| Tensor::<f64>::full(&[30, 344], (rank * rank) as f64);
    let wanted = if line.active() { Tensor::full(&[30, 344], 506.0) } else { give(world.rank()) };
    let got = movement.forward(&give(world.rank())).map_err(say)?;
    same(
        "squares below 12, summed",
        &(got == wanted, got.as_slice()[0]),
        &(true, wanted.as_slice()[0]),
    )
}

fn unequal(world: &RankContext) -> Outcome {
    let all = grid(world, &ranks(0, world.size()), &[world.size()])?;
    let one = grid(world, &[world.size() - 1], &[1])?;
    let broadcast = Broadcast::new(&one, &all).map_err(say)?;
    let sum = SumReduce::new(&all, &one).map_err(say)?;
    let every = AllSumReduce::new(&all, &AxisChoice::Reduce(vec![0])).map_err(say)?;
    let wrong = |error: &Error| matches!(error, Error::Unequal { .. });
    // As many elements, but another shape; more elements; more axes; none at all.
    for odd in [vec![3, 2], vec![2, 4], vec![2, 3, 1], vec![0]] {
        let shape = if world.rank() == 1 { odd } else { vec![2, 3] };
        let x = Tensor::full(&shape, 1.0_f32);
        refused(format!("a sum of one {shape:?}"), sum.forward(&x), wrong)?;
        refused(format!("an adjoint of one {shape:?}"), broadcast.adjoint(&x), wrong)?;
        refused(format!("an all-sum of one {shape:?}"), every.forward(&x), wrong)?;
        // Where only the root is looked at, nothing is wrong.
        let got = broadcast.forward(&x).map_err(say)?;
        let root = if world.size() == 2 { None } else { Some(vec![2, 3]) };
        same("a broadcast", got.shape(), &root.unwrap_or_else(|| got.shape().to_vec()))?;
    }
    // One of them speaks of another type, those who only receive included.
    for odd in [0, world.size() - 1] {
        let result = |f32s: Result<Tensor<f32>, Error>| f32s.map(|_| ());
        let result = match world.rank() == odd {
            true => result(broadcast.forward(&Tensor::full(&[2], 1.0_f32))),
            false => broadcast.forward(&Tensor::full(&[2], 1.0_f64)).map(|_| ()),
        };
        refused(format!("rank {odd} of another type"), result, wrong)?;
    }
    usable(world)?;
    let total = every.forward(&Tensor::full(&[2], 1_i64)).map_err(say)?;
    let size = i64::try_from(world.size()).unwrap_or(0);
    tensor_is("the same object, later", &total, &[2], &[size, size])
}
