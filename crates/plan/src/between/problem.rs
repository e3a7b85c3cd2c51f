//! Two distributions side by side: directions, classes and factors.

use pantile_geometry::{AxisMap, Distribution, Kind, Operator, Rank};

use crate::Error;

/// Does a rank send or receive?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Sender,
    Receiver,
}

/// The rank whose share is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Me {
    pub(crate) rank: Rank,
    pub(crate) role: Role,
    /// Its coordinates on the mesh that both sides share, if they do.
    coordinates: Option<Vec<usize>>,
}

impl Me {
    pub(crate) fn new(problem: &Problem, rank: Rank, role: Role) -> Self {
        let shared = problem.same_mesh.then(|| problem.source.mesh().coordinates_of(rank));
        Self { rank, role, coordinates: shared.flatten() }
    }

    /// The place of this rank in a class.
    pub(crate) fn place(&self, problem: &Problem, class: &DirectionClass) -> Option<usize> {
        if !problem.same_mesh {
            return Some(self.rank);
        }
        let (coordinates, shape) = (self.coordinates.as_ref()?, problem.source.mesh().shape());
        let along = class.mesh_axes.iter();
        Some(along.fold(0, |at, axis| at * shape[*axis] + coordinates[*axis]))
    }
}

/// A direction of one side.
#[derive(Clone, Debug)]
pub(crate) struct SideDirection {
    /// The array axis; `None` for a mesh axis that cuts nothing and for boxes.
    pub(crate) axis: Option<usize>,
    /// Its mesh axes in the order taken together, and their extents.
    pub(crate) mesh_axes: Vec<usize>,
    pub(crate) extents: Vec<usize>,
    pub(crate) kind: Kind,
}

/// Directions of both sides that must be looked at together.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectionClass {
    /// Numbers of the source's and the target's directions.
    pub(crate) source: Vec<usize>,
    pub(crate) target: Vec<usize>,
    /// Mesh axes of the class, ascending; empty if places are world ranks.
    pub(crate) mesh_axes: Vec<usize>,
}

/// Classes that share array axes, and these axes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassGroup {
    pub(crate) classes: Vec<usize>,
    pub(crate) axes: Vec<usize>,
}

/// Source and target in normal form.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) source: Distribution,
    pub(crate) target: Distribution,
    pub(crate) same_mesh: bool,
    pub(crate) source_ways: Vec<SideDirection>,
    pub(crate) target_ways: Vec<SideDirection>,
    pub(crate) classes: Vec<DirectionClass>,
    pub(crate) groups: Vec<ClassGroup>,
}

impl Problem {
    pub(crate) fn new(source: &Distribution, target: &Distribution) -> Result<Self, Error> {
        let (source, target) = (source.normal(), target.normal());
        if source.shape() != target.shape() {
            let (source, target) = (source.shape().to_vec(), target.shape().to_vec());
            return Err(Error::Shapes { source, target });
        }
        operator(&source, &target)?;
        check_labels(&source, &target)?;
        check_gaps(&source, &target)?;
        let same_mesh = source.mesh() == target.mesh();
        let (source_ways, target_ways) = (ways(&source), ways(&target));
        check_spread(&source_ways, &target_ways)?;
        let boxes = source.boxes().is_some() || target.boxes().is_some();
        let classes = if same_mesh && !boxes {
            classes(&source_ways, &target_ways)
        } else {
            vec![one_class(&source_ways, &target_ways, same_mesh)]
        };
        let groups = groups(&classes, &source_ways, &target_ways);
        Ok(Self { source, target, same_mesh, source_ways, target_ways, classes, groups })
    }

    pub(crate) fn has_boxes(&self) -> bool {
        self.source.boxes().is_some() || self.target.boxes().is_some()
    }

    /// Kind of the boxes of a side, if it has any.
    pub(crate) fn boxes_kind(&self, role: Role) -> Option<Kind> {
        let side = match role {
            Role::Sender => &self.source,
            Role::Receiver => &self.target,
        };
        Some(side.boxes()?.kind())
    }

    /// True if the rank is not on the mesh of its role's side.
    pub(crate) fn is_idle(&self, me: &Me) -> bool {
        let mesh = match me.role {
            Role::Sender => self.source.mesh(),
            Role::Receiver => self.target.mesh(),
        };
        mesh.position_of(me.rank).is_none()
    }

    /// The map of an array axis on both sides.
    pub(crate) fn maps(&self, axis: usize) -> (&AxisMap, &AxisMap) {
        let source = &self.source.axes().expect("boxes are handled apart")[axis];
        let target = &self.target.axes().expect("boxes are handled apart")[axis];
        (source, target)
    }

    /// Coordinate of a rank along an array axis, on the side of its role.
    pub(crate) fn coordinate(&self, me: &Me, axis: usize) -> Option<usize> {
        match me.role {
            Role::Sender => self.source.coordinate(me.rank, axis),
            Role::Receiver => self.target.coordinate(me.rank, axis),
        }
    }
}

/// The one operator of a movement.
pub(crate) fn operator(source: &Distribution, target: &Distribution) -> Result<Operator, Error> {
    match (source.has_terms(), target.has_terms()) {
        (true, true) if source.operator() != target.operator() => {
            Err(Error::Operators { source: source.operator(), target: target.operator() })
        }
        (true, _) => Ok(source.operator()),
        (false, true) => Ok(target.operator()),
        (false, false) => Ok(Operator::Sum),
    }
}

/// Two indexed axes meet if neither has a universe or both show the same labels; without a
/// universe the labels are the indices of the axis below the view.
fn check_labels(source: &Distribution, target: &Distribution) -> Result<(), Error> {
    let (Some(from), Some(to)) = (source.axes(), target.axes()) else { return Ok(()) };
    for (axis, (a, b)) in from.iter().zip(to).enumerate() {
        let universe = a.has_universe() || b.has_universe();
        if universe && a.is_indexed() && b.is_indexed() && a.shown_labels() != b.shown_labels() {
            return Err(Error::Labels { axis });
        }
    }
    Ok(())
}

/// An element that one side lacks: the direction with the gap decides by its kind.
fn check_gaps(source: &Distribution, target: &Distribution) -> Result<(), Error> {
    if let Some((axis, index)) = gap(source, Kind::Copies, target) {
        return Err(Error::SourceGap { axis, index });
    }
    if let Some((axis, index)) = gap(target, Kind::Terms, source) {
        return Err(Error::TargetGap { axis, index });
    }
    Ok(())
}

/// The first index of a gap of this kind that `other` holds an element at.
///
/// The elements that a side holds are a product over the axes, so an axis can be looked at alone
/// as soon as every other axis has some index that `other` holds.
fn gap(lacking: &Distribution, kind: Kind, other: &Distribution) -> Option<(usize, usize)> {
    let axes = lacking.axes()?;
    for (axis, map) in axes.iter().enumerate() {
        if lacking.axis_kind(axis) != kind {
            continue;
        }
        let gaps = map.uncovered();
        if gaps.is_empty() {
            continue;
        }
        let found = match (other.axes(), other.boxes()) {
            (Some(others), _) => {
                let rest = (0..others.len()).filter(|at| *at != axis);
                let some_elsewhere = rest.into_iter().all(|at| holds_something(&others[at]));
                let held = others[axis].split(&gaps, None).into_iter();
                let held = held.filter(|(holding, _)| !holding.holders.is_empty());
                let first = held.filter_map(|(_, set)| set.hull()).map(|(low, _)| low).min();
                first.filter(|_| some_elsewhere)
            }
            (None, Some(boxes)) => {
                let full = boxes.list().iter().filter(|b| b.iter().all(|(from, to)| from < to));
                let first = full.filter_map(|ranges| {
                    let (from, to) = ranges[axis];
                    gaps.clip(from, to).hull().map(|(low, _)| low)
                });
                first.min()
            }
            (None, None) => None,
        };
        if let Some(index) = found {
            return Some((axis, index));
        }
    }
    None
}

/// Mesh axes that cut nothing are spread over without regard to the elements: what one rank
/// would have to list because of them must stay listable, and the answer is equal on all ranks.
fn check_spread(source: &[SideDirection], target: &[SideDirection]) -> Result<(), Error> {
    let spread = |ways: &[SideDirection], kind: Kind| -> u128 {
        let free = ways.iter().filter(|way| way.axis.is_none() && way.kind == kind);
        free.flat_map(|way| &way.extents).map(|extent| *extent as u128).product()
    };
    let holders = |ways: &[SideDirection]| {
        spread(ways, Kind::Copies).saturating_mul(spread(ways, Kind::Terms))
    };
    // Copies that become terms look for a common place; see `Rule::find_anchor`.
    let mixed = spread(source, Kind::Copies) > 1 && spread(target, Kind::Terms) > 1;
    let anchor = if mixed { holders(source).min(holders(target)) } else { 0 };
    let listed = spread(source, Kind::Terms).max(spread(target, Kind::Copies));
    super::factor::check_limit(listed.max(anchor))
}

fn holds_something(map: &AxisMap) -> bool {
    map.length() > map.uncovered().size()
}

fn ways(side: &Distribution) -> Vec<SideDirection> {
    let shape = side.mesh().shape();
    if side.boxes().is_some() {
        let mesh_axes: Vec<usize> = (0..shape.len()).collect();
        return vec![SideDirection {
            axis: None,
            mesh_axes,
            extents: shape.to_vec(),
            kind: side.mesh_kind(0),
        }];
    }
    let mut ways = Vec::new();
    for (axis, map) in side.axes().unwrap_or_default().iter().enumerate() {
        let mesh_axes = map.over().to_vec();
        let extents = mesh_axes.iter().map(|axis| shape[*axis]).collect();
        ways.push(SideDirection {
            axis: Some(axis),
            mesh_axes,
            extents,
            kind: side.axis_kind(axis),
        });
    }
    for axis in side.free_mesh_axes() {
        let (mesh_axes, extents) = (vec![axis], vec![shape[axis]]);
        ways.push(SideDirection { axis: None, mesh_axes, extents, kind: side.mesh_kind(axis) });
    }
    ways
}

/// All directions together: on different meshes, and with boxes, which lie along every axis.
fn one_class(
    source: &[SideDirection],
    target: &[SideDirection],
    same_mesh: bool,
) -> DirectionClass {
    let mut mesh_axes: Vec<usize> = Vec::new();
    if same_mesh {
        mesh_axes = source.iter().flat_map(|way| way.mesh_axes.iter().copied()).collect();
        mesh_axes.sort_unstable();
    }
    DirectionClass {
        source: (0..source.len()).collect(),
        target: (0..target.len()).collect(),
        mesh_axes,
    }
}

/// Directions that share a mesh axis form one class; an uncut array axis joins that axis of the
/// other side.
fn classes(source: &[SideDirection], target: &[SideDirection]) -> Vec<DirectionClass> {
    let count = source.len() + target.len();
    let way = |at: usize| if at < source.len() { &source[at] } else { &target[at - source.len()] };
    let meet = |a: &SideDirection, b: &SideDirection| {
        let shared = a.mesh_axes.iter().any(|axis| b.mesh_axes.contains(axis));
        let uncut = a.mesh_axes.is_empty() || b.mesh_axes.is_empty();
        shared || (uncut && a.axis.is_some() && a.axis == b.axis)
    };
    let mut label: Vec<usize> = (0..count).collect();
    for a in 0..source.len() {
        for b in source.len()..count {
            if meet(way(a), way(b)) {
                let (keep, drop) = (label[a].min(label[b]), label[a].max(label[b]));
                label.iter_mut().filter(|l| **l == drop).for_each(|l| *l = keep);
            }
        }
    }
    let mut labels = label.clone();
    labels.sort_unstable();
    labels.dedup();
    let class = |wanted: usize| {
        let mut class = DirectionClass::default();
        for at in (0..count).filter(|at| label[*at] == wanted) {
            class.mesh_axes.extend(&way(at).mesh_axes);
            if at < source.len() {
                class.source.push(at);
            } else {
                class.target.push(at - source.len());
            }
        }
        class.mesh_axes.sort_unstable();
        class.mesh_axes.dedup();
        class
    };
    labels.into_iter().map(class).collect()
}

/// Classes that look at a common array axis.
fn groups(
    classes: &[DirectionClass],
    source: &[SideDirection],
    target: &[SideDirection],
) -> Vec<ClassGroup> {
    let mut groups: Vec<ClassGroup> = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let of_source = class.source.iter().filter_map(|way| source[*way].axis);
        let of_target = class.target.iter().filter_map(|way| target[*way].axis);
        let mut merged =
            ClassGroup { classes: vec![number], axes: of_source.chain(of_target).collect() };
        let (meeting, apart): (Vec<ClassGroup>, Vec<ClassGroup>) = groups
            .into_iter()
            .partition(|group| group.axes.iter().any(|axis| merged.axes.contains(axis)));
        for group in meeting {
            merged.classes.extend(group.classes);
            merged.axes.extend(group.axes);
        }
        merged.axes.sort_unstable();
        merged.axes.dedup();
        merged.classes.sort_unstable();
        groups = apart;
        groups.push(merged);
    }
    groups
}
