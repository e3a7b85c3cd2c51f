//! Random distributions, and random pairs of them that (mostly) have a movement between them.
//!
//! The cases are small and nasty: every cut, several mesh axes on one array axis, mesh axes of
//! length 1, shuffled teams with idle ranks, empty parts, axes of length 0, arrays without axes,
//! more ranks than elements, views with any step, windows with gaps, negative and very wide halos,
//! periodic axes that wrap several times, cropped whole axes, labels, mixed kinds, all operators,
//! boxes.

mod axis;
mod boxes;
mod mesh;
mod pair;

pub use pair::{Case, legal_pair, pair, sum_pair, target_for};

use crate::model::{AxisSpec, Kind, Map, Operator, Spec};
use crate::rng::Rng;
use mesh::Mesh;

/// A random distribution.
#[must_use]
pub fn spec(rng: &mut Rng) -> Spec {
    let (shape, mesh) = (shape(rng), mesh::mesh(rng));
    spec_on(rng, &shape, &mesh, None)
}

/// A random shape: at most three axes and about forty elements, some axes empty.
#[must_use]
pub fn shape(rng: &mut Rng) -> Vec<usize> {
    let ndim = *rng.pick(&[0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3]);
    let longest = [1, 8, 6, 4][ndim];
    (0..ndim).map(|_| if rng.chance(1, 16) { 0 } else { 1 + rng.below(longest) }).collect()
}

/// A random distribution of this visible shape on this mesh; some axes are cut like those of
/// `like`, so that their gaps and labels are the same.
fn spec_on(rng: &mut Rng, shape: &[usize], mesh: &Mesh, like: Option<&Spec>) -> Spec {
    let mut spec = Spec {
        shape: shape.to_vec(),
        mesh_shape: mesh.shape.clone(),
        team: mesh.team.clone(),
        map: Map::Axes(Vec::new()),
        axis_kinds: Vec::new(),
        mesh_kinds: Vec::new(),
        operator: *rng.pick(&Operator::ALL),
    };
    if rng.chance(1, 2) {
        spec.operator = Operator::Sum;
    }
    kinds(rng, &mut spec);
    spec.map = if rng.chance(1, 10) {
        let kind = if like.is_some() == rng.chance(7, 8) { Kind::Copies } else { Kind::Terms };
        Map::Boxes { boxes: boxes::boxes(rng, shape, mesh.team.len()), kind }
    } else {
        Map::Axes(axes(rng, &spec, like))
    };
    spec
}

/// Random kinds: often all of one kind, as programs have them, often mixed.
fn kinds(rng: &mut Rng, spec: &mut Spec) {
    let mode = rng.below(6);
    let mut kind = || match mode {
        0 => Kind::Copies,
        1 => Kind::Terms,
        _ => *rng.pick(&[Kind::Copies, Kind::Terms]),
    };
    spec.axis_kinds = spec.shape.iter().map(|_| kind()).collect();
    spec.mesh_kinds = spec.mesh_shape.iter().map(|_| kind()).collect();
}

/// One axis map per array axis, with the mesh axes dealt out at random.
fn axes(rng: &mut Rng, spec: &Spec, like: Option<&Spec>) -> Vec<AxisSpec> {
    let mut mesh_axes: Vec<usize> = (0..spec.mesh_shape.len()).collect();
    rng.shuffle(&mut mesh_axes);
    let mut over = vec![Vec::new(); spec.shape.len()];
    for mesh_axis in mesh_axes {
        if !over.is_empty() && rng.chance(3, 5) {
            let axis = rng.below(over.len());
            over[axis].push(mesh_axis);
        }
    }
    let mut axes = Vec::new();
    for (i, over) in over.into_iter().enumerate() {
        let wish = axis::Wish { length: spec.shape[i], parts: spec.parts(&over), over };
        axes.push(axis::axis(rng, wish, like.and_then(|like| same_axis(like, i))));
    }
    axes
}

/// Axis `i` of another distribution with its number of coordinates, if it has axis maps.
fn same_axis(like: &Spec, i: usize) -> Option<(&AxisSpec, usize)> {
    match &like.map {
        Map::Axes(axes) => Some((&axes[i], like.parts(&axes[i].over))),
        Map::Boxes { .. } => None,
    }
}
