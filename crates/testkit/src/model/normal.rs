//! Normal kinds, the dual, and when two distributions have the same holders.

use super::faults::Fault;
use super::holders::{
    Direction, Holder, Part, directions, element_holders, element_owner, holder_of, part_holders,
    parts,
};
use super::indices;
use super::spec::{Kind, Map, Operator, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// The directions with their normal kinds: Copies where every index has exactly one holder.
///
/// A window with gaps keeps its kind, because a gap in Terms means something else than a gap in
/// Copies. A mesh axis of length 1 has one holder, an axis of length 0 has no index at all: both
/// are Copies.
#[must_use]
pub fn normal_directions(spec: &Spec) -> Vec<Direction> {
    let mut directions = directions(spec);
    for direction in &mut directions {
        if one_holder_each(spec, direction) {
            direction.kind = Kind::Copies;
        }
    }
    directions
}

/// True if every index along a direction has exactly one holder, one lift of one coordinate.
#[must_use]
pub fn one_holder_each(spec: &Spec, direction: &Direction) -> bool {
    indices_along(spec, direction).iter().all(|i| parts(spec, direction, i).len() == 1)
}

/// Every index along a direction's array axes; 0 on the others, which it does not look at.
fn indices_along(spec: &Spec, direction: &Direction) -> Vec<Vec<usize>> {
    let along = |i| if direction.axes.contains(&i) { spec.shape[i] } else { 1 };
    indices(&(0..spec.shape.len()).map(along).collect::<Vec<_>>())
}

/// True if some direction has Terms in the normal form.
#[must_use]
pub fn has_terms(spec: &Spec) -> bool {
    normal_directions(spec).iter().any(|direction| direction.kind == Kind::Terms)
}

/// The same distribution with normal kinds, and operator sum if it has no Terms.
#[must_use]
pub fn normalised(spec: &Spec) -> Spec {
    let operator = if has_terms(spec) { spec.operator } else { Operator::Sum };
    with_kinds(spec, operator, |kind| kind)
}

/// The dual: Copies and sum-Terms swapped along every direction.
///
/// # Errors
/// `NoDual` if it has Terms of another operator than sum.
pub fn dual(spec: &Spec) -> Result<Spec, Fault> {
    if has_terms(spec) && spec.operator != Operator::Sum {
        return Err(Fault::NoDual { operator: spec.operator });
    }
    let swapped = with_kinds(spec, Operator::Sum, |kind| match kind {
        Kind::Copies => Kind::Terms,
        Kind::Terms => Kind::Copies,
    });
    Ok(normalised(&swapped))
}

/// The distribution with each direction's normal kind changed.
fn with_kinds(spec: &Spec, operator: Operator, change: impl Fn(Kind) -> Kind) -> Spec {
    let mut out = Spec { operator, ..spec.clone() };
    // Mesh axes that cut an array axis have no kind of their own.
    out.mesh_kinds.fill(Kind::Copies);
    for direction in normal_directions(spec) {
        let new = change(direction.kind);
        match (&mut out.map, direction.axes.as_slice()) {
            (Map::Boxes { kind, .. }, _) => *kind = new,
            (Map::Axes(_), &[axis]) => out.axis_kinds[axis] = new,
            (Map::Axes(_), _) => out.mesh_kinds[direction.over[0]] = new,
        }
    }
    out
}

/// Every holder of an element with its share in the Terms directions: holders with equal shares
/// are copies of each other.
///
/// `side` is a distribution with its normal directions.
#[must_use]
pub fn holders_by_term(side: (&Spec, &[Direction]), index: &[usize]) -> Vec<(Vec<Part>, Holder)> {
    let (spec, directions) = side;
    let term = |holder: &[Part]| {
        let along = directions.iter().zip(holder);
        along.filter(|(d, _)| d.kind == Kind::Terms).map(|(_, part)| part.clone()).collect()
    };
    part_holders(spec, index)
        .iter()
        .map(|holder| (term(holder), holder_of(spec, directions, holder)))
        .collect()
}

/// True if both have the same shape and every element the same holders, lifts included.
#[must_use]
pub fn same_holders(a: &Spec, b: &Spec) -> bool {
    let same = |i: &Vec<usize>| element_holders(a, i) == element_holders(b, i);
    a.shape == b.shape && indices(&a.shape).iter().all(same)
}

/// True if both have the same shape and every element the same owner.
#[must_use]
pub fn same_owners(a: &Spec, b: &Spec) -> bool {
    let same = |i: &Vec<usize>| element_owner(a, i) == element_owner(b, i);
    a.shape == b.shape && indices(&a.shape).iter().all(same)
}

/// True if holders mean the same: every element has the same groups of copies on both sides.
///
/// Distributions that compare equal must pass this, [`same_holders`] and [`same_owners`].
#[must_use]
pub fn same_meaning(a: &Spec, b: &Spec) -> bool {
    let (along_a, along_b) = (normal_directions(a), normal_directions(b));
    let same = |i: &Vec<usize>| copy_groups((a, &along_a), i) == copy_groups((b, &along_b), i);
    a.shape == b.shape
        && indices(&a.shape).iter().all(same)
        && has_terms(a) == has_terms(b)
        && (!has_terms(a) || a.operator == b.operator)
}

/// The sets of holders that must have equal values.
fn copy_groups(side: (&Spec, &[Direction]), index: &[usize]) -> BTreeSet<BTreeSet<Holder>> {
    let mut groups = BTreeMap::<_, BTreeSet<Holder>>::new();
    for (term, holder) in holders_by_term(side, index) {
        groups.entry(term).or_default().insert(holder);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::{AxisSpec, CutSpec};

    #[test]
    fn blocks_are_their_own_dual() {
        let blocks = Spec::line(5, 3, CutSpec::Balanced);
        assert_eq!(dual(&blocks), Ok(normalised(&blocks)));
        assert_eq!(normalised(&blocks.clone().as_terms()), blocks);
    }

    #[test]
    fn a_window_with_gaps_keeps_its_kind() {
        let mut axis = AxisSpec::plain(4, &[0], CutSpec::Balanced);
        axis.held = Some(vec![(0, 1), (2, 3)]);
        let window = Spec::axes(vec![axis], &[2]);
        assert_eq!(dual(&window).unwrap().axis_kinds, [Kind::Terms]);
        assert_eq!(dual(&dual(&window).unwrap()), Ok(window));
    }

    #[test]
    fn mesh_axes_of_length_one_are_copies() {
        let spec = Spec::copies(&[2], &[1, 3]).as_terms();
        assert_eq!(normalised(&spec).mesh_kinds, [Kind::Copies, Kind::Terms]);
    }

    #[test]
    fn only_sum_terms_have_a_dual() {
        let spec = Spec { operator: Operator::Max, ..Spec::copies(&[2], &[3]).as_terms() };
        assert_eq!(dual(&spec), Err(Fault::NoDual { operator: Operator::Max }));
        let blocks = Spec { operator: Operator::Max, ..Spec::line(2, 3, CutSpec::Ceil) };
        assert!(dual(&blocks).is_ok());
    }
}
