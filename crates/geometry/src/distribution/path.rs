//! Distributions half-way between two others: what paths go through.

use super::{Distribution, Map};
use crate::axis::{AxisMap, Cut, Extent};
use crate::{Kind, Operator};

/// Largest number of parts for which nested cuts are listed.
const PARTS_LIMIT: usize = 1 << 20;

impl Distribution {
    /// This distribution with the array axes in `take` as `other` has them. `None` if the two
    /// do not lie on the same mesh, do not cut each axis over the same mesh axes, or both give it
    /// Terms, of different operators.
    #[must_use]
    pub fn with_axes_of(&self, other: &Self, take: &[usize]) -> Option<Self> {
        let (mut mixed, other) = (self.normal(), other.normal());
        if mixed.mesh != other.mesh || mixed.shape != other.shape {
            return None;
        }
        let (Map::Axes(own), Map::Axes(theirs)) = (&mut mixed.map, &other.map) else {
            return None;
        };
        if own.axes.iter().zip(&theirs.axes).any(|(a, b)| a.over() != b.over()) {
            return None;
        }
        for axis in take {
            own.axes[*axis] = theirs.axes[*axis].clone();
            own.axis_kinds[*axis] = Kind::Copies;
        }
        let own_terms = mixed.states_terms();
        let Map::Axes(own) = &mut mixed.map else { return None };
        let mut their_terms = false;
        for axis in take {
            own.axis_kinds[*axis] = theirs.axis_kinds[*axis];
            their_terms |= theirs.axis_kinds[*axis] == Kind::Terms;
        }
        match (own_terms, their_terms) {
            (true, true) if mixed.operator != other.operator => return None,
            (true, _) => {}
            (false, true) => mixed.operator = other.operator,
            (false, false) => mixed.operator = Operator::Sum,
        }
        Some(mixed)
    }

    /// This distribution, in normal form, with each part of a block axis cut further over mesh
    /// axes that cut nothing, as evenly as possible. `None` if the axis is not in plain blocks
    /// or a mesh axis is not free.
    #[must_use]
    pub fn cut_further(&self, axis: usize, mesh_axes: &[usize]) -> Option<Self> {
        let mut finer = self.normal();
        let free = finer.free_mesh_axes();
        if mesh_axes.is_empty() || mesh_axes.iter().any(|m| !free.contains(m)) {
            return None;
        }
        let extents = mesh_axes.iter().map(|m| finer.mesh.shape()[*m]);
        let times: usize = extents.product();
        let Map::Axes(product) = &mut finer.map else { return None };
        product.axes[axis] = product.axes.get(axis)?.cut_further(mesh_axes, times)?;
        Some(finer.normal())
    }
}

impl AxisMap {
    fn cut_further(&self, mesh_axes: &[usize], times: usize) -> Option<Self> {
        let plain = self.view().is_none() && *self.held_extent() == Extent::Owned;
        if !plain || !matches!(self.cut(), Cut::Block(_)) {
            return None;
        }
        let parts = self.parts().checked_mul(times).filter(|parts| *parts <= PARTS_LIMIT)?;
        let mut cuts = Vec::with_capacity(parts + 1);
        for coordinate in 0..self.parts() {
            let (start, stop) = self.owned(coordinate);
            let (quotient, remainder) = ((stop - start) / times, (stop - start) % times);
            cuts.extend((0..times).map(|c| start + c * quotient + c.min(remainder)));
        }
        cuts.push(self.length());
        Some(self.recut(mesh_axes, parts, cuts))
    }
}
