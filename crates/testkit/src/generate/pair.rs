//! Random pairs of distributions of one visible shape.

use super::{mesh, shape, spec_on};
use crate::model::holders::element_holders;
use crate::model::{CutSpec, Fault, Map, Operator, Spec, faults, indices};
use crate::rng::Rng;

/// A source, a target, and why there is no movement between them, if there is none.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where the elements are.
    pub source: Spec,
    /// Where they shall be.
    pub target: Spec,
    /// Every reason against a movement; empty if there is one.
    pub faults: Vec<Fault>,
}

/// The most pairs of holders, over all elements, that a case may have: keeps enumeration quick.
const WORK_MAX: usize = 3_000;

/// How often a target is tried before the source itself is taken.
const TRIES_MAX: usize = 30;

/// A random pair; one in ten has no movement, and its faults say why.
#[must_use]
pub fn pair(rng: &mut Rng) -> Case {
    let legal = !rng.chance(1, 10);
    attempt(rng, legal, false)
}

/// A random pair with a movement.
#[must_use]
pub fn legal_pair(rng: &mut Rng) -> Case {
    attempt(rng, true, false)
}

/// A random pair with a movement whose Terms are all sums, so that it has an adjoint.
#[must_use]
pub fn sum_pair(rng: &mut Rng) -> Case {
    attempt(rng, true, true)
}

/// A random source, not too widely held, with a partner.
fn attempt(rng: &mut Rng, legal: bool, sum: bool) -> Case {
    let (shape, mesh) = (shape(rng), mesh::mesh(rng));
    let mut source = spec_on(rng, &shape, &mesh, None);
    if sum {
        source.operator = Operator::Sum;
    }
    while holders(&source).iter().map(|count| count * count).sum::<usize>() > WORK_MAX {
        source = Spec { operator: source.operator, ..spec_on(rng, &shape, &mesh, None) };
    }
    partner(rng, source, legal)
}

/// A random target that a source has a movement to: the next step of a path.
#[must_use]
pub fn target_for(rng: &mut Rng, source: &Spec) -> Spec {
    partner(rng, source.clone(), true).target
}

/// Tries targets until one is (or is not) legal; the source itself always is.
fn partner(rng: &mut Rng, source: Spec, legal: bool) -> Case {
    let mesh = mesh::Mesh { shape: source.mesh_shape.clone(), team: source.team.clone() };
    for _ in 0..TRIES_MAX {
        let target = target(rng, &source, &mesh, legal);
        let faults = faults(&source, &target);
        if faults.is_empty() == legal && work(&source, &target) <= WORK_MAX {
            return Case { source, target, faults };
        }
    }
    let target = source.clone();
    Case { source, target, faults: Vec::new() }
}

/// A target for a source; if it need not be legal, now and then with another operator, other
/// labels or another shape.
fn target(rng: &mut Rng, source: &Spec, mesh: &mesh::Mesh, legal: bool) -> Spec {
    let mesh = mesh::partner(rng, mesh);
    if legal {
        let target = spec_on(rng, &source.shape, &mesh, Some(source));
        return Spec { operator: source.operator, ..target };
    }
    match rng.below(20) {
        0 => {
            let longer: Vec<usize> = source.shape.iter().map(|length| length + 1).collect();
            spec_on(rng, &longer, &mesh, None)
        }
        1..10 => relabelled(source),
        _ => spec_on(rng, &source.shape, &mesh, Some(source)),
    }
}

/// The same distribution with every universe moved by one label.
fn relabelled(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    let Map::Axes(axes) = &mut spec.map else { return spec };
    for axis in axes {
        if let CutSpec::Indexed { labels, universe: Some(universe) } = &mut axis.cut {
            universe.iter_mut().for_each(|label| *label += 1);
            labels.iter_mut().flatten().for_each(|label| *label += 1);
        }
    }
    spec
}

/// Pairs of holders over all elements; none if the shapes differ.
fn work(a: &Spec, b: &Spec) -> usize {
    if a.shape != b.shape {
        return 0;
    }
    holders(a).iter().zip(holders(b)).map(|(a, b)| a * b).sum()
}

/// Number of holders of every element.
fn holders(spec: &Spec) -> Vec<usize> {
    indices(&spec.shape).iter().map(|index| element_holders(spec, index).len()).collect()
}
