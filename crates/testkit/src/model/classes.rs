//! Which directions of source and target form one class.

use super::holders::Direction;
use super::spec::Spec;
use std::collections::BTreeSet;

/// Directions that must be looked at together, by their number on each side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Directions of the source.
    pub source: Vec<usize>,
    /// Directions of the target.
    pub target: Vec<usize>,
}

/// True if both meshes have the same team in the same order, and the same shape once axes of
/// length 1 are dropped.
#[must_use]
pub fn same_mesh(a: &Spec, b: &Spec) -> bool {
    let long = |spec: &Spec| -> Vec<usize> {
        spec.mesh_shape.iter().copied().filter(|&length| length != 1).collect()
    };
    a.team == b.team && long(a) == long(b)
}

/// Number of each mesh axis among those longer than 1; `None` for an axis of length 1.
///
/// On the same mesh equal numbers are the same axis of both sides.
#[must_use]
pub fn long_axes(spec: &Spec) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut number = |&length: &usize| {
        (length != 1).then(|| {
            next += 1;
            next - 1
        })
    };
    spec.mesh_shape.iter().map(&mut number).collect()
}

/// One side of a movement with its directions.
type Side<'a> = (&'a Spec, &'a [Direction]);

/// The classes of a movement.
///
/// On the same mesh, directions that share a mesh axis are together; an array axis that no mesh
/// axis longer than 1 cuts joins the other side's direction of that array axis. On different
/// meshes all directions are one class.
#[must_use]
pub fn classes(source: Side, target: Side) -> Vec<Class> {
    let all = |side: Side| (0..side.1.len()).collect::<Vec<_>>();
    if !same_mesh(source.0, target.0) {
        return vec![Class { source: all(source), target: all(target) }];
    }
    let mut classes: Vec<Class> = Vec::new();
    classes.extend(all(source).iter().map(|&s| Class { source: vec![s], target: vec![] }));
    classes.extend(all(target).iter().map(|&t| Class { source: vec![], target: vec![t] }));
    for s in all(source) {
        for t in all(target) {
            if touch(source, s, target, t) {
                merge(&mut classes, s, t);
            }
        }
    }
    classes
}

/// Puts the classes of a source and a target direction together.
fn merge(classes: &mut Vec<Class>, s: usize, t: usize) {
    let (joined, mut rest): (Vec<_>, Vec<_>) =
        classes.drain(..).partition(|c| c.source.contains(&s) || c.target.contains(&t));
    let sorted = |numbers: BTreeSet<usize>| numbers.into_iter().collect();
    rest.push(Class {
        source: sorted(joined.iter().flat_map(|c| c.source.clone()).collect()),
        target: sorted(joined.iter().flat_map(|c| c.target.clone()).collect()),
    });
    *classes = rest;
}

/// True if two directions on the same mesh must be looked at together.
fn touch(source: Side, s: usize, target: Side, t: usize) -> bool {
    let (from, to) = (&source.1[s], &target.1[t]);
    let (cut_from, cut_to) = (cutting(source.0, from), cutting(target.0, to));
    let same_array_axis = from.axes.iter().any(|axis| to.axes.contains(axis));
    let one_is_uncut = cut_from.is_empty() || cut_to.is_empty();
    !cut_from.is_disjoint(&cut_to) || (same_array_axis && one_is_uncut)
}

/// The mesh axes longer than 1 of a direction.
fn cutting(spec: &Spec, direction: &Direction) -> BTreeSet<usize> {
    let long = long_axes(spec);
    direction.over.iter().filter_map(|&mesh_axis| long[mesh_axis]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::holders::directions;
    use crate::model::spec::{AxisSpec, CutSpec};

    fn cut(over: &[usize]) -> AxisSpec {
        let cut = if over.is_empty() { CutSpec::Whole } else { CutSpec::Balanced };
        AxisSpec::plain(4, over, cut)
    }

    fn check(
        a: (&[&[usize]], &[usize]),
        b: (&[&[usize]], &[usize]),
        expected: &[(&[usize], &[usize])],
    ) {
        let spec = |(overs, mesh): (&[&[usize]], &[usize])| {
            Spec::axes(overs.iter().map(|over| cut(over)).collect(), mesh)
        };
        let (a, b) = (spec(a), spec(b));
        let mut found = classes((&a, &directions(&a)), (&b, &directions(&b)));
        found.sort_by_key(|class| (class.source.clone(), class.target.clone()));
        let found: Vec<_> = found.iter().map(|c| (&c.source[..], &c.target[..])).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sharing_a_mesh_axis_makes_a_class() {
        // Axis 0 over x and axis 1 over y, then swapped: two classes, each with both array axes.
        check((&[&[0], &[1]], &[2, 2]), (&[&[1], &[0]], &[2, 2]), &[(&[0], &[1]), (&[1], &[0])]);
        // Cut over both mesh axes: everything is one class.
        check((&[&[0], &[1]], &[2, 2]), (&[&[0, 1], &[]], &[2, 2]), &[(&[0, 1], &[0, 1])]);
    }

    #[test]
    fn uncut_axes_join_their_own_axis() {
        // Source 0: axis over x; target 0: uncut axis, 1: mesh axis x.
        check((&[&[0]], &[3]), (&[&[]], &[3]), &[(&[0], &[0, 1])]);
        // Cut over an axis of length 1 only counts as uncut.
        check((&[&[0], &[1]], &[1, 3]), (&[&[0], &[]], &[3]), &[(&[0, 1], &[0, 1])]);
        // Both uncut: a class of their own beside the mesh axis.
        check((&[&[]], &[3]), (&[&[]], &[3]), &[(&[0], &[0]), (&[1], &[1])]);
    }

    #[test]
    fn axes_of_length_one_do_not_make_a_mesh_another() {
        let line = |shape: &[usize]| Spec::copies(&[], shape);
        assert!(same_mesh(&line(&[2, 1, 3]), &line(&[1, 2, 3, 1])));
        assert!(!same_mesh(&line(&[2, 3]), &line(&[3, 2])));
        assert!(!same_mesh(&line(&[2]), &line(&[2]).on(&[1, 0])));
        assert!(same_mesh(&line(&[]), &line(&[1, 1])));
    }
}
