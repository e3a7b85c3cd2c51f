//! Paths of distributions: all-reduce through blocks, halo exchange axis by axis, faces only.

use pantile_geometry::{Distribution, Kind};

use crate::cost::{Estimate, Machine};
use crate::plan::{Plan, Step};
use crate::{Error, Transfer};

impl Plan {
    /// The movement one array axis after the other: step i changes axis i only, so a halo
    /// exchange needs two messages per axis and corners arrive in several hops. Axes that do
    /// not change are skipped. `None` if source and target do not lie on the same mesh or do
    /// not cut each axis over the same mesh axes, or if a stop wants more than there is.
    ///
    /// # Errors
    /// As [`Plan::between`].
    pub fn axis_by_axis(
        source: &Distribution,
        target: &Distribution,
    ) -> Result<Option<Self>, Error> {
        let mut path = vec![source.clone()];
        for axis in 0..source.ndim() {
            let changed: Vec<usize> = (0..=axis).collect();
            let Some(next) = source.with_axes_of(target, &changed) else { return Ok(None) };
            if path.last() != Some(&next) {
                path.push(next);
            }
        }
        if path.last() != Some(target) {
            path.push(target.clone());
        } else if path.len() > 1 {
            path.pop();
            path.push(target.clone());
        }
        if path.len() == 1 {
            path.push(target.clone());
        }
        Self::over(&path)
    }

    /// The movement through all of `path`; `None` if a stop wants what the target does not and
    /// nobody has.
    ///
    /// # Errors
    /// As [`Plan::between`] of both ends.
    fn over(path: &[Distribution]) -> Result<Option<Self>, Error> {
        match (Self::via(path), path) {
            (Err(_), [source, .., target]) => Self::between(source, target).map(|_| None),
            (plan, _) => plan.map(Some),
        }
    }

    /// The direct movement without the elements that lie beyond two or more sides of the
    /// receiver's tile: enough for a star-shaped stencil. These elements are then not valid.
    ///
    /// # Errors
    /// As [`Plan::between`]; also if source and target do not lie on the same mesh with each
    /// axis cut over the same mesh axes, which is what makes a side a side.
    pub fn faces_only(source: &Distribution, target: &Distribution) -> Result<Self, Error> {
        if source.with_axes_of(target, &[]).is_none() {
            return Err(Error::NoSides);
        }
        let mut steps = Self::between(source, target)?.steps().to_vec();
        for step in &mut steps {
            let target = step.target.clone();
            for round in &mut step.rounds {
                round.transfers.retain(|transfer| sides_crossed(&target, transfer) <= 1);
            }
            step.faces_only = true;
        }
        Ok(Self::from_steps(steps))
    }

    /// All-reduce as reduce-scatter and all-gather: Terms become blocks, blocks become Copies.
    /// Moves 2 (p - 1) n elements instead of p (p - 1) n. `None` if the source has no Terms
    /// over mesh axes that cut nothing, or no axis can be cut further.
    ///
    /// # Errors
    /// As [`Plan::between`].
    pub fn through_blocks(
        source: &Distribution,
        target: &Distribution,
    ) -> Result<Option<Self>, Error> {
        let normal = source.normal();
        if normal.mesh() != target.mesh() || target.has_terms() || normal.boxes().is_some() {
            return Ok(None);
        }
        let free = normal.free_mesh_axes().into_iter();
        let reduced: Vec<usize> = free.filter(|m| normal.mesh_kind(*m) == Kind::Terms).collect();
        // The longest axis gives the most even blocks.
        let mut axes: Vec<usize> = (0..target.ndim()).collect();
        axes.sort_by_key(|axis| std::cmp::Reverse(target.shape()[*axis]));
        let blocks = axes.into_iter().find_map(|axis| target.cut_further(axis, &reduced));
        match blocks {
            Some(blocks) => Self::over(&[source.clone(), blocks, target.clone()]),
            None => Ok(None),
        }
    }

    /// The cheapest of the direct movement, the one through blocks and the one axis by axis,
    /// on this machine, for elements of this many bytes; the direct one if they are equal.
    ///
    /// # Errors
    /// As [`Plan::between`].
    pub fn best(
        source: &Distribution,
        target: &Distribution,
        machine: &Machine,
        element_bytes: usize,
    ) -> Result<Self, Error> {
        let mut best = Self::between(source, target)?;
        let others = [Self::through_blocks(source, target)?, Self::axis_by_axis(source, target)?];
        let cost = |plan: &Self| -> Estimate { plan.estimate(machine, element_bytes) };
        for other in others.into_iter().flatten() {
            if cost(&other).seconds < cost(&best).seconds {
                best = other;
            }
        }
        Ok(best)
    }
}

/// Along how many array axes sender and receiver differ: 1 is a face, more an edge or corner.
fn sides_crossed(target: &Distribution, transfer: &Transfer) -> usize {
    let along = |axis: &usize| {
        let from = target.coordinate(transfer.from, *axis);
        let to = target.coordinate(transfer.to, *axis);
        from != to || transfer.source_lifts.along(*axis) != transfer.target_lifts.along(*axis)
    };
    (0..target.ndim()).filter(along).count()
}

impl Step {
    /// True if nothing changes rank.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.transfers().all(|transfer| !transfer.travels())
    }
}
