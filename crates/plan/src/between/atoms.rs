//! One array axis cut into index sets on which all holders of both sides are the same.

use pantile_geometry::{AxisMap, Cut, Holding, IndexSet};

use super::Role;

/// Indices of one axis with the same holders and owners on both sides.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) source: Holding,
    pub(crate) target: Holding,
    pub(crate) set: IndexSet,
}

/// Atoms of an axis inside `window`; with `only`, those that this coordinate of the sender's
/// (receiver's) side holds.
///
/// Both sides cut the axis, in an order that does not depend on which of them is the source:
/// so a plan and its adjoint, a plan and a rank's schedule, have the same pieces.
pub(crate) fn atoms(
    (source, target): (&AxisMap, &AxisMap),
    window: &IndexSet,
    only: Option<(Role, usize)>,
) -> Vec<Atom> {
    let wanted = |role: Role| only.filter(|(side, _)| *side == role).map(|(_, at)| at);
    let (of_source, of_target) = (wanted(Role::Sender), wanted(Role::Receiver));
    let mut atoms = Vec::new();
    if goes_first((source, of_source), (target, of_target)) {
        for (held, piece) in source.split(&narrowed(window, target, of_target), of_source) {
            for (wanted, set) in target.split(&piece, of_target) {
                atoms.push(Atom { source: held.clone(), target: wanted, set });
            }
        }
    } else {
        for (wanted, piece) in target.split(&narrowed(window, source, of_source), of_target) {
            for (held, set) in source.split(&piece, of_source) {
                atoms.push(Atom { source: held, target: wanted.clone(), set });
            }
        }
    }
    atoms
}

/// Which side cuts first. Lists come out the same in any order, so there the side of which only
/// one coordinate is wanted goes first: it leaves the least to cut.
fn goes_first(one: (&AxisMap, Option<usize>), other: (&AxisMap, Option<usize>)) -> bool {
    match (one.0.is_indexed() && one.1.is_some(), other.0.is_indexed() && other.1.is_some()) {
        (true, _) => true,
        (_, true) => false,
        _ => (order(one.0), one.0) <= (order(other.0), other.0),
    }
}

/// The window as far as the coordinate of the other, second side can need it. A pattern is not
/// narrowed: where its runs are counted from would change how they are written.
fn narrowed(window: &IndexSet, second: &AxisMap, only: Option<usize>) -> IndexSet {
    let Some(coordinate) = only.filter(|_| order(second) != 1) else { return window.clone() };
    let hulls = second.held(coordinate).into_iter().filter_map(|(_, set)| set.hull());
    let hull = hulls.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    hull.map_or(IndexSet::range(0, 0), |(low, high)| window.clip(low, high))
}

/// Intervals first, patterns next, lists last.
fn order(map: &AxisMap) -> u8 {
    match map.cut() {
        Cut::Block(_) => 0,
        Cut::Cyclic { .. } => 1,
        _ => 2,
    }
}
