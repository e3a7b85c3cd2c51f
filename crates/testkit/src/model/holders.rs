//! All directions together: who holds an element, and who owns it.

use super::axis::{axis_holders, axis_owner};
use super::product;
use super::spec::{AxisSpec, Kind, Map, Spec};

/// A place where an element lives: a world rank, and how often each array axis wrapped around.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// World rank.
    pub rank: usize,
    /// One lift per array axis; 0 where the axis is not periodic.
    pub lifts: Vec<i64>,
}

/// A direction: an array axis with all the mesh axes that cut it, or a mesh axis that cuts
/// nothing; of `Boxes`, all array axes with all mesh axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Direction {
    /// The array axes whose indices decide who holds: none for a mesh axis that cuts nothing.
    pub axes: Vec<usize>,
    /// The mesh axes, in the order in which the cut takes them.
    pub over: Vec<usize>,
    /// The kind as stated (not normalised).
    pub kind: Kind,
}

/// One holder's share in one direction.
///
/// The derived order is the order of "lowest coordinate": row-major in the order taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Coordinate on each of the direction's mesh axes, in the order taken.
    pub coordinate: Vec<usize>,
    /// Lift on each of the direction's array axes.
    pub lifts: Vec<i64>,
}

/// The directions of a distribution: array axes first, then mesh axes that cut nothing.
#[must_use]
pub fn directions(spec: &Spec) -> Vec<Direction> {
    let every_mesh_axis = 0..spec.mesh_shape.len();
    match &spec.map {
        Map::Boxes { kind, .. } => {
            let axes = (0..spec.shape.len()).collect();
            vec![Direction { axes, over: every_mesh_axis.collect(), kind: *kind }]
        }
        Map::Axes(axes) => {
            let of_axis = |(i, axis): (usize, &AxisSpec)| {
                let kind = spec.axis_kinds[i];
                Direction { axes: vec![i], over: axis.over.clone(), kind }
            };
            let free = |m: &usize| axes.iter().all(|axis| !axis.over.contains(m));
            let of_mesh = |m| Direction { axes: vec![], over: vec![m], kind: spec.mesh_kinds[m] };
            let cut = axes.iter().enumerate().map(of_axis);
            cut.chain(every_mesh_axis.filter(free).map(of_mesh)).collect()
        }
    }
}

/// Every holder of an element along one direction, lowest coordinate first.
///
/// Only the indices on the direction's own array axes are looked at.
#[must_use]
pub fn parts(spec: &Spec, direction: &Direction, index: &[usize]) -> Vec<Part> {
    let coordinates = coordinates(spec, direction);
    match (&spec.map, direction.axes.as_slice()) {
        (Map::Boxes { boxes, .. }, axes) => {
            let inside = |ranges: &[(usize, usize)]| {
                axes.iter().all(|&i| ranges[i].0 <= index[i] && index[i] < ranges[i].1)
            };
            let held = coordinates.into_iter().zip(boxes).filter(|(_, ranges)| inside(ranges));
            held.map(|(coordinate, _)| Part { coordinate, lifts: vec![0; axes.len()] }).collect()
        }
        (Map::Axes(axes), &[i]) => axis_holders(&axes[i], coordinates.len(), index[i])
            .into_iter()
            .map(|(c, lift)| Part { coordinate: coordinates[c].clone(), lifts: vec![lift] })
            .collect(),
        // A mesh axis that cuts nothing: all its coordinates hold.
        _ => coordinates.into_iter().map(|coordinate| Part { coordinate, lifts: vec![] }).collect(),
    }
}

/// Owner of an element along one direction, if anyone holds it.
#[must_use]
pub fn owner_part(spec: &Spec, direction: &Direction, index: &[usize]) -> Option<Part> {
    match (&spec.map, direction.axes.as_slice()) {
        (Map::Axes(axes), &[i]) => {
            let coordinates = coordinates(spec, direction);
            let (c, lift) = axis_owner(&axes[i], coordinates.len(), index[i])?;
            Some(Part { coordinate: coordinates[c].clone(), lifts: vec![lift] })
        }
        // Boxes and mesh axes own nothing: the lowest coordinate that holds.
        _ => parts(spec, direction, index).into_iter().min(),
    }
}

/// All coordinates of a direction, row-major in the order in which its mesh axes are taken.
fn coordinates(spec: &Spec, direction: &Direction) -> Vec<Vec<usize>> {
    let lengths: Vec<usize> = direction.over.iter().map(|&m| spec.mesh_shape[m]).collect();
    super::indices(&lengths)
}

/// Every holder of an element as one part per direction: the product over directions.
#[must_use]
pub fn part_holders(spec: &Spec, index: &[usize]) -> Vec<Vec<Part>> {
    let each: Vec<_> = directions(spec).iter().map(|d| parts(spec, d, index)).collect();
    product(&each)
}

/// The holder that consists of these parts, one per direction of `directions(spec)`.
#[must_use]
pub fn holder_of(spec: &Spec, directions: &[Direction], parts: &[Part]) -> Holder {
    let mut position = vec![0; spec.mesh_shape.len()];
    let mut lifts = vec![0; spec.shape.len()];
    for (direction, part) in directions.iter().zip(parts) {
        for (mesh_axis, coordinate) in direction.over.iter().zip(&part.coordinate) {
            position[*mesh_axis] = *coordinate;
        }
        for (axis, lift) in direction.axes.iter().zip(&part.lifts) {
            lifts[*axis] = *lift;
        }
    }
    let place = position.iter().zip(&spec.mesh_shape).fold(0, |sum, (c, length)| sum * length + c);
    Holder { rank: spec.team[place], lifts }
}

/// Every holder of an element.
#[must_use]
pub fn element_holders(spec: &Spec, index: &[usize]) -> std::collections::BTreeSet<Holder> {
    let directions = directions(spec);
    let holders = part_holders(spec, index);
    holders.iter().map(|parts| holder_of(spec, &directions, parts)).collect()
}

/// Owner of an element: the product of the owners along its directions.
#[must_use]
pub fn element_owner(spec: &Spec, index: &[usize]) -> Option<Holder> {
    let directions = directions(spec);
    let parts: Option<Vec<Part>> = directions.iter().map(|d| owner_part(spec, d, index)).collect();
    Some(holder_of(spec, &directions, &parts?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::CutSpec;

    fn ranks(spec: &Spec, index: &[usize]) -> Vec<usize> {
        element_holders(spec, index).into_iter().map(|holder| holder.rank).collect()
    }

    #[test]
    fn holders_are_the_product_over_directions() {
        // Axis 0 over mesh axis 1; mesh axis 0 cuts nothing.
        let rows = AxisSpec::plain(4, &[1], CutSpec::Balanced);
        let spec = Spec::axes(vec![rows], &[2, 2]).on(&[7, 5, 3, 1]);
        assert_eq!(ranks(&spec, &[0]), [3, 7]);
        assert_eq!(ranks(&spec, &[3]), [1, 5]);
        assert_eq!(element_owner(&spec, &[3]).unwrap().rank, 5);
    }

    #[test]
    fn mesh_axes_are_taken_in_the_stated_order() {
        let column_major = AxisSpec::plain(6, &[1, 0], CutSpec::Balanced);
        let spec = Spec::axes(vec![column_major], &[2, 3]);
        let order: Vec<_> = (0..6).flat_map(|i| ranks(&spec, &[i])).collect();
        assert_eq!(order, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn a_0d_array_is_on_every_rank() {
        assert_eq!(ranks(&Spec::copies(&[], &[3]), &[]), [0, 1, 2]);
        assert_eq!(ranks(&Spec::copies(&[], &[]).on(&[4]), &[]), [4]);
    }

    #[test]
    fn boxes_are_held_by_the_positions_they_belong_to() {
        let boxes = vec![vec![(0, 2), (0, 2)], vec![(1, 3), (1, 3)], vec![(0, 0), (0, 3)]];
        let map = Map::Boxes { boxes, kind: Kind::Copies };
        let spec = Spec { map, ..Spec::copies(&[3, 3], &[3]) }.on(&[2, 1, 0]);
        assert_eq!(ranks(&spec, &[1, 1]), [1, 2]);
        assert_eq!(element_owner(&spec, &[1, 1]).unwrap().rank, 2);
        assert_eq!(ranks(&spec, &[0, 2]), [] as [usize; 0]);
    }
}
