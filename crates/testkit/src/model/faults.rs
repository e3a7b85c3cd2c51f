//! Why two distributions have no movement between them.

use super::axis::shown_label;
use super::holders::{Direction, parts};
use super::indices;
use super::normal::{has_terms, normal_directions};
use super::spec::{AxisSpec, CutSpec, Kind, Map, Operator, Spec};

/// A reason why a movement (or a dual) does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The two visible shapes differ.
    Shape,
    /// Two Indexed axes show different labels.
    Labels {
        /// The array axis.
        axis: usize,
    },
    /// Terms of one operator would become Terms of another.
    Operators,
    /// The target wants an element whose value nobody in the source knows.
    SourceGap {
        /// The first such element.
        index: Vec<usize>,
    },
    /// The source has an element whose value the target would lose.
    TargetGap {
        /// The first such element.
        index: Vec<usize>,
    },
    /// Only Copies and sum-Terms have a dual.
    NoDual {
        /// The operator that has none.
        operator: Operator,
    },
}

/// Every reason against a movement from `source` to `target`: empty if there is one.
///
/// Distributions of different shapes are compared no further. At most one fault of each sort is
/// named: of gaps the first element in row-major order, of labels every axis.
#[must_use]
pub fn faults(source: &Spec, target: &Spec) -> Vec<Fault> {
    if source.shape != target.shape {
        return vec![Fault::Shape];
    }
    let mut faults = label_faults(source, target);
    if has_terms(source) && has_terms(target) && source.operator != target.operator {
        faults.push(Fault::Operators);
    }
    faults.extend(gap_faults(source, target));
    faults
}

/// A gap along a direction is decided by that direction's kind: unknown in Copies (so it must not
/// be asked for), the identity in Terms (so nothing may be put there).
fn gap_faults(source: &Spec, target: &Spec) -> Vec<Fault> {
    let (from, to) = (normal_directions(source), normal_directions(target));
    let source_lacks = |i: &[usize], kind| lacks((source, &from), i, kind);
    let target_lacks = |i: &[usize], kind| lacks((target, &to), i, kind);
    let every = indices(&source.shape);
    let unknown =
        every.iter().find(|i| source_lacks(i, Some(Kind::Copies)) && !target_lacks(i, None));
    let lost = every.iter().find(|i| target_lacks(i, Some(Kind::Terms)) && !source_lacks(i, None));
    let unknown = unknown.map(|index| Fault::SourceGap { index: index.clone() });
    let lost = lost.map(|index| Fault::TargetGap { index: index.clone() });
    unknown.into_iter().chain(lost).collect()
}

/// True if some direction (of this kind, or of any) has no holder of the element.
///
/// `side` is a distribution with its normal directions.
#[must_use]
pub fn lacks(side: (&Spec, &[Direction]), index: &[usize], kind: Option<Kind>) -> bool {
    side.1
        .iter()
        .filter(|direction| kind.is_none_or(|kind| direction.kind == kind))
        .any(|direction| parts(side.0, direction, index).is_empty())
}

/// Two Indexed axes meet only if both have no universe, or both show the same labels.
fn label_faults(source: &Spec, target: &Spec) -> Vec<Fault> {
    let (Map::Axes(a), Map::Axes(b)) = (&source.map, &target.map) else { return Vec::new() };
    let unequal = |axis: &usize| !labels_meet(&a[*axis], &b[*axis]);
    (0..a.len()).filter(unequal).map(|axis| Fault::Labels { axis }).collect()
}

/// True unless both axes are Indexed, one has a universe, and the shown labels differ.
fn labels_meet(a: &AxisSpec, b: &AxisSpec) -> bool {
    let indexed = |axis: &AxisSpec| matches!(axis.cut, CutSpec::Indexed { .. });
    let shown = |axis: &AxisSpec| -> Vec<_> {
        (0..axis.length()).map(|index| shown_label(axis, index)).collect()
    };
    if !indexed(a) || !indexed(b) || !(has_universe(a) || has_universe(b)) {
        return true;
    }
    shown(a) == shown(b)
}

/// True for an Indexed axis whose labels are not its indices.
fn has_universe(axis: &AxisSpec) -> bool {
    matches!(axis.cut, CutSpec::Indexed { universe: Some(_), .. })
}

/// True if on some axis an Indexed side with a universe meets a side that is not Indexed.
///
/// The rules restrict two Indexed axes only, so this is legal here: indices meet by position.
#[must_use]
pub fn universe_meets_plain(source: &Spec, target: &Spec) -> bool {
    let universes = |spec: &Spec| -> Vec<Option<bool>> {
        let Map::Axes(axes) = &spec.map else { return vec![None; spec.shape.len()] };
        let known = |axis: &AxisSpec| match axis.cut {
            CutSpec::Indexed { .. } => Some(has_universe(axis)),
            _ => None,
        };
        axes.iter().map(known).collect()
    };
    let meets = |pair| matches!(pair, (Some(true), None) | (None, Some(true)));
    universes(source).into_iter().zip(universes(target)).any(meets)
}

/// True if boxes appear only as the rules name them: Copies as a target, Terms as a source.
///
/// Other uses are legal here, because the identity and the adjoint of a path need them.
#[must_use]
pub fn boxes_as_named(source: &Spec, target: &Spec) -> bool {
    let boxes = |spec: &Spec, kind: Kind| match spec.map {
        Map::Boxes { .. } => normal_directions(spec).iter().all(|d| d.kind == kind),
        Map::Axes(_) => true,
    };
    boxes(source, Kind::Terms) && boxes(target, Kind::Copies)
}
