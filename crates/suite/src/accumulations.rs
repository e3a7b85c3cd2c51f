//! Halos added to where they came from, in place: the same bits as the movement between the duals.

use pantile_engine::Tile;
use pantile_geometry::{Axis, Distribution, Mesh};
use pantile_spmd::RankContext;
use pantile_testkit::{Rng, scaled};

use crate::reference::Reference;
use crate::{Case, every_type};

/// Random arrays per element type in a world; `PANTILE_CASES` scales it.
const ARRAYS: usize = 12;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case { name: "random accumulations in place", needs: 1, body: accumulations }]
}

fn accumulations(world: &RankContext) -> Result<(), String> {
    for (name, result) in every_type!(arrays(world)) {
        result.map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

fn arrays<T: Reference>(world: &RankContext) -> Result<(), String> {
    let mut rng = Rng::law(900 + u64::from(T::DTYPE.code()));
    for number in 0..scaled(ARRAYS) {
        let halos = random(&mut rng, world.size()).map_err(|error| error.to_string())?;
        compare::<T>(world, &halos, number).map_err(|fault| format!("{halos}: {fault}"))?;
    }
    Ok(())
}

/// Blocks with halos on up to three axes of a grid of all ranks.
fn random(rng: &mut Rng, ranks: usize) -> Result<Distribution, pantile_geometry::Error> {
    let divisors: Vec<usize> = (1..=ranks).filter(|part| ranks.is_multiple_of(*part)).collect();
    let first = *rng.pick(&divisors);
    let mesh = Mesh::new(&[("x", first), ("y", ranks / first)])?;
    let ndim = 2 + rng.below(2);
    let shape: Vec<usize> = (0..ndim).map(|_| 1 + rng.below(9)).collect();
    let mut axes = Vec::new();
    for axis in 0..ndim {
        let cut = match axis {
            0 => Axis::block(&["x"]),
            1 => Axis::block(&["y"]),
            _ => Axis::whole(),
        };
        let width = |rng: &mut Rng| rng.range(0, 4);
        let halo = cut.halo(width(rng), width(rng));
        axes.push(if rng.chance(1, 3) { halo.periodic() } else { halo });
    }
    Distribution::new(&shape, mesh, axes)
}

/// In place and from one tile to another: equal bits in what is owned, zeros in the halos.
fn compare<T: Reference>(
    world: &RankContext,
    full: &Distribution,
    seed: u64,
) -> Result<(), String> {
    let say = |error: &dyn std::fmt::Display| error.to_string();
    let bare = full.written().map_err(|e| say(&e))?;
    let (from, to) = (full.dual().map_err(|e| say(&e))?, bare.dual().map_err(|e| say(&e))?);
    let mut engine = world.engine();
    let straight = engine.movement("law", &from, &to, T::DTYPE).map_err(|e| say(&e))?;
    let in_place =
        engine.accumulation("law in place", &from, &to, T::DTYPE).map_err(|e| say(&e))?;
    let mut rng = Rng::law(seed * 97 + world.rank() as u64);
    let elements: Vec<T> =
        (0..straight.source_len()).map(|_| T::from_number(rng.range(-500, 500))).collect();
    let mut tile = Tile::from_vec(elements.clone());
    let mut wanted = Tile::zeroed(T::DTYPE, straight.target_len());
    engine.run(&straight, &Tile::from_vec(elements), &mut wanted).map_err(|e| say(&e))?;
    engine.run_in_place(&in_place, &mut tile).map_err(|e| say(&e))?;
    let bits = |tile: &Tile| tile.to_vec::<T>().into_iter().map(T::bits).collect::<Vec<_>>();
    if bits(&tile) == bits(&wanted) {
        return Ok(());
    }
    Err(format!("in place {:?}, wanted {:?}", tile.to_vec::<T>(), wanted.to_vec::<T>()))
}
