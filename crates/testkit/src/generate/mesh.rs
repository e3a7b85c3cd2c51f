//! Random meshes and teams.

use crate::rng::Rng;

/// A mesh: its shape and the world ranks that fill it.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    pub(super) shape: Vec<usize>,
    pub(super) team: Vec<usize>,
}

/// The most ranks in a team.
const RANKS_MAX: usize = 12;

/// A random mesh.
pub(super) fn mesh(rng: &mut Rng) -> Mesh {
    let shape = mesh_shape(rng);
    let ranks = shape.iter().product();
    Mesh { shape, team: team(rng, ranks) }
}

/// At most three axes, some of length 1, at most twelve ranks.
fn mesh_shape(rng: &mut Rng) -> Vec<usize> {
    let mut shape = Vec::new();
    let mut ranks = 1;
    for _ in 0..*rng.pick(&[0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3]) {
        let longest = (RANKS_MAX / ranks).min(if shape.is_empty() { 6 } else { 4 });
        let one = longest < 2 || rng.chance(1, 7);
        let length = if one { 1 } else { 2 + rng.below(longest - 1) };
        ranks *= length;
        shape.push(length);
    }
    shape
}

/// World ranks in order, or some of a larger world in any order: the others are idle.
fn team(rng: &mut Rng, ranks: usize) -> Vec<usize> {
    let mut world: Vec<usize> = (0..ranks + rng.below(4)).collect();
    if rng.chance(1, 2) {
        rng.shuffle(&mut world);
    }
    world.truncate(ranks);
    world
}

/// A mesh for the other side of a pair: most often the same, in some spelling.
pub(super) fn partner(rng: &mut Rng, mesh: &Mesh) -> Mesh {
    let mut other = mesh.clone();
    match rng.below(12) {
        0..4 => {}
        4 | 5 => other.shape = respelled(rng, &mesh.shape),
        6 => rng.shuffle(&mut other.shape),
        7 | 8 => other.shape = regrouped(rng, mesh.team.len()),
        9 => rng.shuffle(&mut other.team),
        _ => return self::mesh(rng),
    }
    other
}

/// The same shape with axes of length 1 put elsewhere.
fn respelled(rng: &mut Rng, shape: &[usize]) -> Vec<usize> {
    let mut out: Vec<usize> = shape.iter().copied().filter(|&length| length != 1).collect();
    for _ in 0..rng.below(3) {
        out.insert(rng.below(out.len() + 1), 1);
    }
    out
}

/// Another shape of the same size.
fn regrouped(rng: &mut Rng, ranks: usize) -> Vec<usize> {
    let divisors: Vec<usize> = (1..=ranks).filter(|length| ranks.is_multiple_of(*length)).collect();
    let first = *rng.pick(&divisors);
    vec![first, ranks / first]
}
