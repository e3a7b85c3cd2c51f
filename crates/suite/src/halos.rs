//! Halo exchange against arrays that are put together by hand.

use pantile_spmd::{CartesianPartition, Error, HaloExchange, RankContext, Tensor, Widths};
use pantile_testkit::Rng;
use pantile_testkit::model::indices;

use crate::Case;
use crate::expect::{
    Outcome, bounds, coordinates, grid, grids, number, ranks, refused, same, say, tensor_is, usable,
};
use crate::repartitions::any_lengths;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "halos of 5x4 on 2x2, in numbers", needs: 4, body: numbers },
        Case { name: "halos of 10x7 on 3x3", needs: 9, body: nine },
        Case { name: "halos of layers, widths written down", needs: 1, body: table },
        Case { name: "boundary cells stay", needs: 1, body: boundary },
        Case { name: "random halos, wide and periodic", needs: 1, body: random },
        Case { name: "halos that are refused", needs: 2, body: refusals },
    ]
}

/// One axis: lengths without halos and widths, by coordinate.
#[derive(Clone, Debug)]
pub(crate) struct HaloSide {
    pub(crate) own: Vec<usize>,
    pub(crate) widths: Vec<(usize, usize)>,
    pub(crate) periodic: bool,
}

impl HaloSide {
    fn length(&self) -> usize {
        self.own.iter().sum()
    }

    /// Widths of halos: at an end that is no neighbour's there is none.
    fn halo(&self, coordinate: usize) -> (usize, usize) {
        let (mut left, mut right) = self.widths[coordinate];
        if !self.periodic && coordinate == 0 {
            left = 0;
        }
        if !self.periodic && coordinate + 1 == self.own.len() {
            right = 0;
        }
        (left, right)
    }

    fn padded(&self, coordinate: usize) -> usize {
        let (left, right) = self.halo(coordinate);
        left + self.own[coordinate] + right
    }

    /// The global index of a local one, and whether it is a halo cell.
    fn global(&self, coordinate: usize, local: usize) -> (usize, bool) {
        let (left, _) = self.halo(coordinate);
        let length = self.length();
        // Enough turns to keep everything positive.
        let position =
            bounds(&self.own)[coordinate].0 + local + length * (left / length.max(1) + 1);
        let halo = local < left || local >= left + self.own[coordinate];
        ((position - left) % length.max(1), halo)
    }

    pub(crate) fn widths(&self) -> Widths {
        let widths = Widths::each(&self.widths);
        if self.periodic { widths.periodic() } else { widths }
    }
}

/// The padded shape of the worker at these coordinates.
pub(crate) fn padded(sides: &[HaloSide], index: &[usize]) -> Vec<usize> {
    sides.iter().zip(index).map(|(side, at)| side.padded(*at)).collect()
}

/// The global index of a local one, and whether it is a halo cell.
fn global(sides: &[HaloSide], index: &[usize], local: &[usize]) -> (Vec<usize>, bool) {
    let places = sides.iter().zip(index).zip(local);
    let places: Vec<_> = places.map(|((side, at), local)| side.global(*at, *local)).collect();
    (places.iter().map(|place| place.0).collect(), places.iter().any(|place| place.1))
}

/// Forward, adjoint, in place and out of place, against brute force.
pub(crate) fn check(
    partition: &CartesianPartition,
    movement: &HaloExchange,
    sides: &[HaloSide],
) -> Outcome {
    let what = format!("{partition:?} with {sides:?}");
    let Some(index) = partition.index() else {
        let x = Tensor::full(&[2], 5_i64);
        let mut place = x.clone();
        movement.exchange(&mut place).map_err(say)?;
        same(format!("{what}: outside, in place"), &place, &x)?;
        return same(format!("{what}: outside"), &movement.adjoint(&x).map_err(say)?, &x);
    };
    let array = |at: &[usize]| i64::from(number(40, at));
    let shape = padded(sides, &index);
    let mut x = Tensor::from_fn(&shape, |local| match global(sides, &index, local) {
        (_, true) => 777,
        (at, false) => array(&at),
    });
    let wanted = Tensor::from_fn(&shape, |local| array(&global(sides, &index, local).0));
    let before = x.clone();
    // Half of the workers one way and half the other is fine: both are the same movement.
    if index.iter().sum::<usize>() % 2 == 0 {
        same(format!("{what}: forward"), &movement.forward(&x).map_err(say)?, &wanted)?;
        same(format!("{what}: what was given"), &x, &before)?;
    } else {
        movement.exchange(&mut x).map_err(say)?;
        same(format!("{what}: in place"), &x, &wanted)?;
    }
    let give = |rank: usize, local: &[usize]| i64::from(number(rank, local));
    let workers = partition.team().shape();
    let lengths: Vec<usize> = sides.iter().map(HaloSide::length).collect();
    let mut totals = vec![0; lengths.iter().product()];
    let offset =
        |at: &[usize]| at.iter().zip(&lengths).fold(0, |sum, (at, length)| sum * length + at);
    for rank in 0..partition.members().len() {
        let index = coordinates(rank, &workers);
        for local in indices(&padded(sides, &index)) {
            totals[offset(&global(sides, &index, &local).0)] += give(rank, &local);
        }
    }
    let rank = partition.rank().unwrap_or(0);
    let mut dy = Tensor::from_fn(&shape, |local| give(rank, local));
    let wanted = Tensor::from_fn(&shape, |local| match global(sides, &index, local) {
        (_, true) => 0,
        (at, false) => totals[offset(&at)],
    });
    if rank.is_multiple_of(2) {
        return same(format!("{what}: adjoint"), &movement.adjoint(&dy).map_err(say)?, &wanted);
    }
    movement.accumulate(&mut dy).map_err(say)?;
    same(format!("{what}: adjoint in place"), &dy, &wanted)
}

fn exchange(partition: &CartesianPartition, sides: &[HaloSide]) -> Outcome {
    let widths: Vec<Widths> = sides.iter().map(HaloSide::widths).collect();
    check(partition, &HaloExchange::new(partition, &widths).map_err(say)?, sides)
}

fn numbers(world: &RankContext) -> Outcome {
    let square = grid(world, &ranks(0, 4), &[2, 2])?;
    let axis = Widths::each(&[(0, 1), (1, 0)]);
    let movement = HaloExchange::new(&square, &[axis.clone(), axis]).map_err(say)?;
    let me = world.rank();
    let value = |number: usize| number as f64;
    let shape = [if me < 2 { 4 } else { 3 }, 3];
    // Halos are the last row above, the first below, the last column left, the first right.
    let halo = |at: &[usize]| {
        at[0] == if me < 2 { 3 } else { 0 } || at[1] == if me.is_multiple_of(2) { 2 } else { 0 }
    };
    let mut x = Tensor::from_fn(&shape, |at| if halo(at) { 0.0 } else { value(me + 1) });
    movement.exchange(&mut x).map_err(say)?;
    let dx = movement.adjoint(&Tensor::full(&shape, value(me + 1))).map_err(say)?;
    let (forward, adjoint): (&[f64], &[f64]) = match me {
        0 => (
            &[1., 1., 2., 1., 1., 2., 1., 1., 2., 3., 3., 4.],
            &[1., 3., 0., 1., 3., 0., 4., 10., 0., 0., 0., 0.],
        ),
        1 => (
            &[1., 2., 2., 1., 2., 2., 1., 2., 2., 3., 4., 4.],
            &[0., 3., 2., 0., 3., 2., 0., 10., 6., 0., 0., 0.],
        ),
        2 => (&[1., 1., 2., 3., 3., 4., 3., 3., 4.], &[0., 0., 0., 4., 10., 0., 3., 7., 0.]),
        3 => (&[1., 2., 2., 3., 4., 4., 3., 4., 4.], &[0., 0., 0., 0., 10., 6., 0., 7., 4.]),
        _ => return same("outside", &dx, &Tensor::full(&shape, value(me + 1))),
    };
    tensor_is("forward", &x, &shape, forward)?;
    tensor_is("adjoint", &dx, &shape, adjoint)
}

fn side(own: &[usize], widths: &[(usize, usize)]) -> HaloSide {
    HaloSide { own: own.to_vec(), widths: widths.to_vec(), periodic: false }
}

fn nine(world: &RankContext) -> Outcome {
    let nine = grid(world, &ranks(0, 9), &[1, 1, 3, 3])?;
    let one = side(&[1], &[(0, 0)]);
    let (rows, columns) = (side(&[4, 3, 3], &[(1, 1); 3]), side(&[3, 2, 2], &[(1, 1); 3]));
    exchange(&nine, &[one.clone(), one.clone(), rows, columns])?;
    // Backwards, and with corners that come from two workers away.
    let backwards: Vec<usize> = ranks(0, 9).into_iter().rev().collect();
    let nine = grid(world, &backwards, &[3, 3])?;
    exchange(
        &nine,
        &[side(&[1, 2, 1], &[(0, 2), (1, 1), (3, 0)]), side(&[1; 3], &[(0, 2), (1, 0), (2, 0)])],
    )
}

fn table(world: &RankContext) -> Outcome {
    type Pairs<'a> = &'a [(usize, usize)];
    let rows: [(&[usize], Pairs<'_>); 12] = [
        (&[3, 3, 2, 2], &[(0, 1), (0, 0), (0, 0), (0, 0)]),
        (&[4, 3, 3], &[(0, 0), (0, 1), (0, 0)]),
        (&[4, 4, 3], &[(0, 3), (1, 1), (3, 0)]),
        (&[4, 4, 3, 3, 3, 3], &[(0, 0), (0, 0), (0, 1), (0, 2), (0, 1), (0, 0)]),
        (&[4, 4, 4, 4], &[(0, 2), (2, 2), (2, 2), (2, 0)]),
        (&[4, 4, 3, 3], &[(0, 0), (1, 0), (2, 0), (2, 0)]),
        (&[5, 4], &[(0, 1), (2, 0)]),
        (&[4, 4, 3], &[(0, 1), (0, 0), (1, 0)]),
        (&[2, 3, 5], &[(0, 3), (0, 3), (0, 0)]),
        (&[6, 2, 2], &[(0, 0), (3, 0), (2, 0)]),
        // Wider than the neighbour: the cells come from whoever has them.
        (&[2, 2, 2, 2], &[(0, 3), (2, 3), (3, 2), (3, 0)]),
        (&[1, 1, 1, 1], &[(0, 1), (0, 2), (0, 1), (0, 0)]),
    ];
    for (own, widths) in rows {
        if own.len() > world.size() {
            continue;
        }
        let line = grid(world, &ranks(0, own.len()), &[1, 1, own.len()])?;
        let (one, two) = (side(&[1], &[(0, 0)]), side(&[2], &[(0, 0)]));
        exchange(&line, &[one, two, side(own, widths)])?;
    }
    Ok(())
}

/// Widths at the two ends of an axis are no halo: these cells belong to the worker.
fn boundary(world: &RankContext) -> Outcome {
    let size = world.size();
    let line = grid(world, &ranks(0, size), &[size])?;
    let movement = HaloExchange::new(&line, &[Widths::uniform(size, 1, 1)]).map_err(say)?;
    let me = i64::try_from(world.rank()).unwrap_or(0);
    let last = i64::try_from(size).unwrap_or(0) - 1;
    let mut x = Tensor::from_vec(&[4], vec![-1, 10 * me, 10 * me + 1, -2]).map_err(say)?;
    movement.exchange(&mut x).map_err(say)?;
    let left = if me == 0 { -1 } else { 10 * me - 9 };
    let right = if me == last { -2 } else { 10 * me + 10 };
    tensor_is("filled", &x, &[4], &[left, 10 * me, 10 * me + 1, right])?;
    let mut dy = Tensor::from_vec(&[4], vec![1, 10, 100, 1000]).map_err(say)?;
    movement.accumulate(&mut dy).map_err(say)?;
    let wanted = [
        i64::from(me == 0),
        10 + if me == 0 { 0 } else { 1000 },
        100 + i64::from(me != last),
        if me == last { 1000 } else { 0 },
    ];
    tensor_is("accumulated", &dy, &[4], &wanted)?;
    // Around a ring, also of one worker.
    let movement =
        HaloExchange::new(&line, &[Widths::uniform(size, 1, 1).periodic()]).map_err(say)?;
    let x = Tensor::from_vec(&[4], vec![-1, 10 * me, 10 * me + 1, -2]).map_err(say)?;
    let y = movement.forward(&x).map_err(say)?;
    let (before, after) = ((me + last) % (last + 1), (me + 1) % (last + 1));
    tensor_is("a ring", &y, &[4], &[10 * before + 1, 10 * me, 10 * me + 1, 10 * after])
}

/// Random widths that stay inside the array, or go around it up to one and a half times.
pub(crate) fn any_side(rng: &mut Rng, own: Vec<usize>, periodic: bool) -> HaloSide {
    let length: usize = own.iter().sum();
    let most = if periodic { length + length / 2 } else { length };
    let width = |rng: &mut Rng, room: usize| {
        rng.below(room.min(4) + 1) + rng.below(2) * rng.below(room + 1) / 2
    };
    let widths = bounds(&own).into_iter().map(|(start, stop)| {
        let rooms = if periodic { (most, most) } else { (start, length - stop) };
        (width(rng, rooms.0).min(rooms.0), width(rng, rooms.1).min(rooms.1))
    });
    let widths = widths.collect();
    HaloSide { own, widths, periodic }
}

fn random(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(74);
    for partition in grids(world)? {
        for periodic in [false, true] {
            let lengths = any_lengths(&mut rng, &partition.team().shape());
            let sides: Vec<HaloSide> = lengths
                .into_iter()
                .map(|own| {
                    let around = periodic && rng.chance(2, 3);
                    any_side(&mut rng, own, around)
                })
                .collect();
            exchange(&partition, &sides)?;
        }
    }
    Ok(())
}

fn refusals(world: &RankContext) -> Outcome {
    let size = world.size();
    let line = grid(world, &ranks(0, size), &[size])?;
    let wrong = |error: &Error| matches!(error, Error::WrongShape { .. });
    let one = Widths::uniform(size, 1, 1);
    refused("two axes of one", HaloExchange::new(&line, &[one.clone(), one.clone()]), wrong)?;
    let made = HaloExchange::new(&line, &[Widths::uniform(size + 1, 1, 1)]);
    refused("widths of one worker more", made, wrong)?;
    let movement = HaloExchange::new(&line, &[one]).map_err(say)?;
    let small = Tensor::full(&[if world.rank() == 1 { 0 } else { 3 }], 1_i8);
    refused("a tensor that is smaller than its halos", movement.forward(&small), wrong)?;
    let flat = if world.rank() == 1 { Tensor::full(&[3, 1], 1_i8) } else { Tensor::full(&[3], 1) };
    refused("a tensor with an axis more", movement.forward(&flat), wrong)?;
    refused("an adjoint with an axis more", movement.adjoint(&flat), wrong)?;
    // More halo than there is array.
    let wide = HaloExchange::new(&line, &[Widths::uniform(size, 9, 0)]).map_err(say)?;
    let x = Tensor::full(&[if world.rank() == 0 { 2 } else { 11 }], 1_i8);
    refused("a halo beyond the array", wide.forward(&x), |error| {
        matches!(error, Error::Geometry(_))
    })?;
    usable(world)
}
