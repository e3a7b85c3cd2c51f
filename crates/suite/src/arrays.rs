//! Distributed arrays: where elements are, and what they are after every movement.

use pantile_geometry::{Axis, Distribution, Mesh};
use pantile_spmd::{DistArray, Error, RankContext, Tensor};
use pantile_testkit::Rng;
use pantile_testkit::model::indices;

use crate::Case;
use crate::expect::{Outcome, balanced, bounds, number, refused, same, say, tensor_is, usable};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "arrays moved anywhere", needs: 1, body: moves },
        Case { name: "arrays gathered", needs: 1, body: gathers },
        Case { name: "tiles of the wrong length", needs: 1, body: tiles },
        Case { name: "halos of arrays after writing", needs: 1, body: halos },
        Case { name: "halos of periodic arrays", needs: 1, body: rings },
        Case { name: "a movement is compiled once", needs: 1, body: counters },
    ]
}

/// How one axis is cut over the mesh axis of the same number.
#[derive(Clone, Copy, Debug)]
enum AxisCut {
    Whole,
    Block,
    Cyclic(usize),
}

/// An array of two axes on a mesh of two axes.
#[derive(Clone, Debug)]
pub(crate) struct ArrayPlan {
    shape: [usize; 2],
    mesh: [usize; 2],
    team: Vec<usize>,
    cuts: [AxisCut; 2],
}

impl ArrayPlan {
    /// Anything that fits into a world: blocks, dealt blocks, copies, one rank.
    pub(crate) fn any(rng: &mut Rng, world: &RankContext, shape: [usize; 2]) -> Self {
        let mut team: Vec<usize> = (0..world.size()).collect();
        rng.shuffle(&mut team);
        let rows = 1 + rng.below(world.size());
        let mesh = [rows, 1 + rng.below(world.size() / rows)];
        team.truncate(mesh[0] * mesh[1]);
        let mut cut = || match rng.below(4) {
            0 => AxisCut::Whole,
            1 => AxisCut::Cyclic(1 + rng.below(3)),
            _ => AxisCut::Block,
        };
        let cuts = [cut(), cut()];
        Self { shape, mesh, team, cuts }
    }

    pub(crate) fn distribution(&self) -> Result<Distribution, String> {
        let names = ["rows", "columns"];
        let mesh = Mesh::new(&[(names[0], self.mesh[0]), (names[1], self.mesh[1])]).map_err(say)?;
        let mesh = mesh.with_team(self.team.clone()).map_err(say)?;
        let axis = |axis: usize| match self.cuts[axis] {
            AxisCut::Whole => Axis::whole(),
            AxisCut::Block => Axis::block(&[names[axis]]),
            AxisCut::Cyclic(block) => Axis::cyclic(&[names[axis]], block),
        };
        Distribution::new(&self.shape, mesh, vec![axis(0), axis(1)]).map_err(say)
    }

    /// The indices along an axis that a coordinate has, in order.
    fn has(&self, axis: usize, coordinate: usize) -> Vec<usize> {
        let (length, parts) = (self.shape[axis], self.mesh[axis]);
        let (start, stop) = bounds(&balanced(length, parts))[coordinate];
        let mine = |index: &usize| match self.cuts[axis] {
            AxisCut::Whole => true,
            AxisCut::Block => (start..stop).contains(index),
            AxisCut::Cyclic(block) => index / block % parts == coordinate,
        };
        (0..length).filter(mine).collect()
    }

    /// The elements of a rank in row-major order; none on an idle rank.
    fn tile(&self, rank: usize, value: impl Fn(&[usize]) -> i64) -> Vec<i64> {
        let Some(place) = self.team.iter().position(|member| *member == rank) else {
            return Vec::new();
        };
        let rows = self.has(0, place / self.mesh[1]);
        let columns = self.has(1, place % self.mesh[1]);
        let row =
            |row: &usize| columns.iter().map(|column| value(&[*row, *column])).collect::<Vec<_>>();
        rows.iter().flat_map(row).collect()
    }
}

fn moves(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(76);
    for round in 0..12 {
        let shape = [1 + rng.below(9), 1 + rng.below(7)];
        let value = |at: &[usize]| i64::from(number(round, at));
        let (from, to) =
            (ArrayPlan::any(&mut rng, world, shape), ArrayPlan::any(&mut rng, world, shape));
        let what = format!("round {round}, {from:?} -> {to:?}");
        let source = DistArray::from_fn(world, &from.distribution()?, value);
        same(format!("{what}: from_fn"), source.local(), &from.tile(world.rank(), value))?;
        let moved = source.redistribute(&to.distribution()?).map_err(say)?;
        let wanted = to.tile(world.rank(), value);
        same(format!("{what}: redistribute"), moved.local(), &wanted)?;
        same(format!("{what}: the distribution"), moved.distribution(), &to.distribution()?)?;
        let mut into = DistArray::zeros(world, &to.distribution()?);
        source.redistribute_into(&mut into).map_err(say)?;
        same(format!("{what}: redistribute_into"), into.local(), &wanted)?;
        // Every local index has the value of its global one.
        for local in indices(&moved.local_shape().unwrap_or(vec![0])) {
            let global = moved.global_index(&local).unwrap_or_default();
            let got = moved.local_view().and_then(|view| view.get(&local));
            same(format!("{what}: {local:?} is {global:?}"), &got, &Some(value(&global)))?;
        }
        let again = DistArray::from_tile(world, &from.distribution()?, source.local().to_vec());
        let back = again.map_err(say)?.redistribute(&from.distribution()?).map_err(say)?;
        same(format!("{what}: onto itself"), back.local(), source.local())?;
    }
    Ok(())
}

fn gathers(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(77);
    for round in 0..6 {
        let shape = [1 + rng.below(6), 1 + rng.below(6)];
        let plan = ArrayPlan::any(&mut rng, world, shape);
        let value = |at: &[usize]| i64::from(number(round, at));
        let array = DistArray::from_fn(world, &plan.distribution()?, value);
        let wanted = Tensor::from_fn(&shape, value);
        let root = rng.below(world.size());
        let got = array.gather(root).map_err(say)?;
        same(format!("{plan:?} on {root}"), &got, &(root == world.rank()).then(|| wanted.clone()))?;
        same(format!("{plan:?} everywhere"), &array.gather_all().map_err(say)?, &wanted)?;
    }
    let nothing = DistArray::<f32>::zeros(world, &Distribution::on_rank(&[0, 3], 0).map_err(say)?);
    same("nothing", nothing.gather_all().map_err(say)?.shape(), &[0, 3])
}

fn tiles(world: &RankContext) -> Outcome {
    let mesh = Mesh::line(world.size()).map_err(say)?;
    let blocks = Distribution::blocks(&[2 * world.size(), 3], mesh).map_err(say)?;
    let wrong = |error: &Error| matches!(error, Error::Elements { .. });
    for length in [0, 5, 7] {
        let made = DistArray::from_tile(world, &blocks, vec![1.0_f32; length]);
        refused(format!("{length} elements for 2x3"), made, wrong)?;
    }
    let one = Distribution::on_rank(&[2], 0).map_err(say)?;
    let mine = vec![1_u8; if world.rank() == 0 { 3 } else { 1 }];
    refused(
        "elements for an idle rank, or too many",
        DistArray::from_tile(world, &one, mine),
        wrong,
    )?;
    // A distribution that is too large for the world is refused everywhere.
    let array = DistArray::from_tile(world, &blocks, vec![1.0_f32; 6]).map_err(say)?;
    let outside = Distribution::on_rank(&[2 * world.size(), 3], world.size()).map_err(say)?;
    let engine = |error: &Error| matches!(error, Error::Engine(_));
    refused("a rank that the world does not have", array.redistribute(&outside), engine)?;
    let other = Distribution::on_rank(&[2, 3, 1], 0).map_err(say)?;
    refused("another shape", array.redistribute(&other), engine)?;
    usable(world)
}

/// The mesh of a world with two axes, and an array on it whose blocks are not empty.
fn square(world: &RankContext) -> Result<(Mesh, [usize; 2], [usize; 2]), String> {
    let size = world.size();
    let rows = (2..size).find(|rows| size.is_multiple_of(*rows)).unwrap_or(1);
    let extents = [rows, size / rows];
    let mesh = Mesh::new(&[("x", extents[0]), ("y", extents[1])]).map_err(say)?;
    Ok((mesh, extents, [3 * extents[0] + 1, 2 * extents[1] + 1]))
}

fn halos(world: &RankContext) -> Outcome {
    let (mesh, workers, shape) = square(world)?;
    let axes = vec![Axis::block(&["x"]).halo(2, 1), Axis::block(&["y"]).halo(1, 1)];
    let held = Distribution::new(&shape, mesh, axes).map_err(say)?;
    let mut array = DistArray::from_fn(world, &held, |at| i64::from(number(1, at)));
    let index = [world.rank() / workers[1], world.rank() % workers[1]];
    let own: Vec<_> =
        (0..2).map(|axis| bounds(&balanced(shape[axis], workers[axis]))[index[axis]]).collect();
    let widths = [(2, 1), (1, 1)];
    let mine: Vec<(usize, usize)> = (0..2)
        .map(|axis| {
            let (start, stop) = own[axis];
            let (left, right) = widths[axis];
            (start - left.min(start), (stop + right).min(shape[axis]))
        })
        .collect();
    let extents = [mine[0].1 - mine[0].0, mine[1].1 - mine[1].0];
    same("the local shape", &array.local_shape(), &Some(extents.to_vec()))?;
    let filled = |seed: usize| -> Vec<i64> {
        let at = |local: Vec<usize>| [local[0] + mine[0].0, local[1] + mine[1].0];
        indices(&extents).into_iter().map(|local| i64::from(number(seed, &at(local)))).collect()
    };
    same("as made", array.local(), &filled(1))?;
    let is_own = |local: &[usize]| {
        (0..2).all(|axis| (own[axis].0..own[axis].1).contains(&(local[axis] + mine[axis].0)))
    };
    for seed in [2, 3, 4] {
        let fresh = filled(seed);
        let elements = array.local_mut().map_err(say)?;
        for (at, local) in indices(&extents).into_iter().enumerate() {
            elements[at] = if is_own(&local) { fresh[at] } else { -1_000 };
        }
        if seed == 3 {
            // Stale halos are not looked at.
            let whole = array.gather_all().map_err(say)?;
            same("written", &whole, &Tensor::from_fn(&shape, |at| i64::from(number(seed, at))))?;
        }
        array.exchange_halo().map_err(say)?;
        same(format!("exchanged, {seed}"), array.local(), &filled(seed))?;
        same("held again", array.distribution(), &held)?;
    }
    // The adjoint of ones: how many hold an element.
    array.local_mut().map_err(say)?.fill(1);
    array.accumulate_halo().map_err(say)?;
    let holders = |at: &[usize]| -> i64 {
        let along = |axis: usize| {
            let blocks = bounds(&balanced(shape[axis], workers[axis]));
            let has = |(start, stop): &(usize, usize)| {
                (start.saturating_sub(widths[axis].0)..stop + widths[axis].1).contains(&at[axis])
            };
            blocks.iter().filter(|block| has(block)).count() as i64
        };
        along(0) * along(1)
    };
    let wanted: Vec<i64> = indices(&extents)
        .into_iter()
        .map(|local| {
            if is_own(&local) { holders(&[local[0] + mine[0].0, local[1] + mine[1].0]) } else { 0 }
        })
        .collect();
    same("accumulated", array.local(), &wanted)
}

fn rings(world: &RankContext) -> Outcome {
    let size = world.size();
    let mesh = Mesh::line(size).map_err(say)?;
    let axes = vec![Axis::block(&["r"]).halo(1, 2).periodic()];
    let ring = Distribution::new(&[2 * size], mesh, axes).map_err(say)?;
    let mut array = DistArray::from_fn(world, &ring, |_| 0_i32);
    let value = |index: usize| i32::try_from(index % (2 * size)).unwrap_or(0) * 3 + 1;
    let start = 2 * world.rank();
    let elements = array.local_mut().map_err(say)?;
    elements.copy_from_slice(&[-1, value(start), value(start + 1), -1, -1]);
    array.exchange_halo().map_err(say)?;
    let before = value(start + 2 * size - 1);
    let wanted = [before, value(start), value(start + 1), value(start + 2), value(start + 3)];
    same("a ring", array.local(), &wanted)?;
    let whole = array.gather_all().map_err(say)?;
    tensor_is("the ring", &whole, &[2 * size], &(0..2 * size).map(value).collect::<Vec<_>>())
}

fn counters(world: &RankContext) -> Outcome {
    let size = world.size();
    let line = || Mesh::line(size).map_err(say);
    let blocks = Distribution::blocks(&[size + 3, 2], line()?).map_err(say)?;
    let columns = vec![Axis::whole(), Axis::cyclic(&["r"], 1)];
    let columns = Distribution::new(&[size + 3, 2], line()?, columns).map_err(say)?;
    let held = vec![Axis::block(&["r"]).halo(1, 1), Axis::whole()];
    let held = Distribution::new(&[2 * size, 2], line()?, held).map_err(say)?;
    let source = DistArray::from_fn(world, &blocks, |at| at[0] as f64);
    let mut target = DistArray::zeros(world, &columns);
    let mut halo = DistArray::from_fn(world, &held, |at| at[0] as f64);
    let mut once = || -> Outcome {
        source.redistribute_into(&mut target).map_err(say)?;
        target.redistribute(&blocks).map_err(say)?;
        source.gather_all().map_err(say)?;
        let _ = halo.local_mut().map_err(say)?;
        halo.exchange_halo().map_err(say)
    };
    once()?;
    let before = world.counters();
    for _ in 0..3 {
        once()?;
    }
    let after = world.counters();
    same("movements compiled", &(after.compiled - before.compiled), &0)?;
    same("movements run", &(after.runs - before.runs), &12)?;
    let sent = (after.messages > before.messages, after.bytes > before.bytes);
    same("messages and bytes", &sent, &(size > 1, size > 1))
}
