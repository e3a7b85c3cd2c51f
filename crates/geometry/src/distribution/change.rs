//! Distributions made from others: slices, single indices, writes.

use super::{Distribution, Map};
use crate::axis::{Cut, Extent};
use crate::mesh::unflatten;
use crate::{AxisMap, Error, Kind};

impl Distribution {
    /// The distribution of `a[.., offset : : step, ..]` with `length` indices on `axis`:
    /// every element stays where it is. The step may be negative, not 0.
    ///
    /// # Errors
    /// The slice leaves the axis, there is no such axis, or boxes are sliced with a step.
    pub fn slice(&self, axis: usize, offset: i64, step: i64, length: usize) -> Result<Self, Error> {
        self.check_axis(axis)?;
        let mut sliced = self.clone();
        match &mut sliced.map {
            Map::Axes(product) => {
                product.axes[axis] = product.axes[axis].sliced(axis, offset, step, length)?;
            }
            Map::Boxes(_) => return self.slice_boxes(axis, offset, step, length),
        }
        sliced.shape[axis] = length;
        Ok(sliced)
    }

    fn slice_boxes(
        &self,
        axis: usize,
        offset: i64,
        step: i64,
        length: usize,
    ) -> Result<Self, Error> {
        if step != 1 && length > 1 {
            let problem = "is cut into boxes, which have no views with a step";
            return Err(Error::ArrayAxis { axis, problem });
        }
        // Checks the range as any other axis would.
        AxisMap::whole(self.shape[axis]).sliced(axis, offset, 1, length)?;
        let first = usize::try_from(offset).unwrap_or(0);
        let mut shape = self.shape.clone();
        shape[axis] = length;
        let boxes = self.boxes().map_or(&[][..], |boxes| boxes.list()).iter().map(|ranges| {
            let mut ranges = ranges.clone();
            let (from, to) = ranges[axis];
            let shift = |at: usize| at.saturating_sub(first).min(length);
            ranges[axis] = (shift(from), shift(to));
            ranges
        });
        let mut sliced = Self::from_boxes(&shape, self.mesh.clone(), boxes.collect())?;
        if let (Map::Boxes(new), Some(old)) = (&mut sliced.map, self.boxes()) {
            new.kind = old.kind;
        }
        sliced.operator = self.operator;
        Ok(sliced)
    }

    fn check_axis(&self, axis: usize) -> Result<(), Error> {
        if axis < self.ndim() {
            return Ok(());
        }
        Err(Error::ArrayAxis { axis, problem: "does not exist" })
    }

    /// The distribution of `a[.., index, ..]`: the axis is gone, and the array lives on the
    /// sub-mesh of the index's owner.
    ///
    /// # Errors
    /// There is no such index or axis, nobody holds it, it has Terms on several ranks (reduce
    /// first), or there are boxes.
    pub fn select(&self, axis: usize, index: usize) -> Result<Self, Error> {
        self.check_axis(axis)?;
        if index >= self.shape[axis] {
            let offset = i64::try_from(index).unwrap_or(i64::MAX);
            let extent = self.shape[axis];
            return Err(Error::Slice { axis, offset, step: 1, length: 1, extent });
        }
        let problem = |problem| Error::ArrayAxis { axis, problem };
        let Map::Axes(product) = &self.map else {
            return Err(problem("is cut into boxes, of which no single index can be taken"));
        };
        let map = &product.axes[axis];
        let holding = map.holding(index);
        if product.axis_kinds[axis] == Kind::Terms && holding.holders.len() > 1 {
            return Err(problem("has terms of the index on several ranks: reduce first"));
        }
        let owner = holding.owner.ok_or(problem("has no holder of the index"))?;
        let extents: Vec<usize> = map.over().iter().map(|a| self.mesh.shape()[*a]).collect();
        let mut fixed: Vec<(usize, usize)> =
            map.over().iter().copied().zip(unflatten(owner.coordinate, &extents)).collect();
        // Highest axis first, so that the numbers of those still to go do not change.
        fixed.sort_unstable_by(|a, b| b.cmp(a));
        let mut selected = self.clone();
        selected.shape.remove(axis);
        let Map::Axes(product) = &mut selected.map else { unreachable!("axes stay axes") };
        product.axes.remove(axis);
        product.axis_kinds.remove(axis);
        for (mesh_axis, coordinate) in fixed {
            selected.mesh = selected.mesh.at_axis(mesh_axis, coordinate)?;
            product.mesh_kinds.remove(mesh_axis);
            let shift = |old: usize| if old > mesh_axis { old - 1 } else { old };
            product.axes.iter_mut().for_each(|map| *map = map.renumbered(shift));
        }
        Ok(selected)
    }

    /// The distribution after the whole array was written by its owners: held is owned again,
    /// what was held besides is room.
    ///
    /// # Errors
    /// None for distributions made by the constructors; the signature leaves it open.
    pub fn written(&self) -> Result<Self, Error> {
        self.with_each_axis(|axis, map| {
            let Cut::Block(_) = map.cut() else { return Ok(map.clone()) };
            map.with_extents(axis, Extent::Owned, Some(map.room_with_owned()))
        })
    }

    /// The distribution after an exchange: everything that there is room for is held.
    ///
    /// # Errors
    /// None for distributions made by the constructors; the signature leaves it open.
    pub fn exchanged(&self) -> Result<Self, Error> {
        self.with_each_axis(|axis, map| match (map.cut(), map.room_extent()) {
            (Cut::Block(_), Some(room)) => map.with_extents(axis, room.clone(), None),
            _ => Ok(map.clone()),
        })
    }

    /// The distribution after the owners wrote the elements of `region`. If somebody else holds
    /// one of them, every halo is stale and becomes room.
    ///
    /// # Errors
    /// There are Terms, or an owner does not hold its part: exchange first.
    pub fn written_part(&self, region: &crate::Region) -> Result<Self, Error> {
        if self.has_terms() {
            return Err(Error::ArrayAxis { axis: 0, problem: "has terms: not written in part" });
        }
        let Map::Axes(product) = &self.map else {
            return Err(Error::ArrayAxis { axis: 0, problem: "is cut into boxes: nobody owns" });
        };
        let mut stale = false;
        for (axis, map) in product.axes.iter().enumerate() {
            if let Cut::Block(_) = map.cut() {
                map.check_owners_hold(axis)?;
                let holdings = map.split(&region.axes()[axis], None);
                // `check_owners_hold` has seen the owner among the holders: any other is stale.
                stale |= holdings.iter().any(|(holding, _)| holding.holders.len() > 1);
            }
        }
        if !stale || region.is_empty() {
            return Ok(self.clone());
        }
        self.with_each_axis(|axis, map| {
            let Cut::Block(_) = map.cut() else { return Ok(map.clone()) };
            map.with_extents(axis, map.held_and_owned(), Some(map.room_with_owned()))
        })
    }

    fn with_each_axis(
        &self,
        change: impl Fn(usize, &AxisMap) -> Result<AxisMap, Error>,
    ) -> Result<Self, Error> {
        let mut changed = self.clone();
        if let Map::Axes(product) = &mut changed.map {
            for (axis, map) in product.axes.iter_mut().enumerate() {
                *map = change(axis, map)?;
            }
        }
        Ok(changed)
    }

    /// The same owners, each coordinate of a block axis holding another interval per coordinate
    /// (RFC `repartition`): `None` keeps an axis as it is.
    ///
    /// # Errors
    /// An axis is not cut in blocks, or an interval leaves it.
    pub fn with_held(&self, axis: usize, held: Extent) -> Result<Self, Error> {
        self.check_axis(axis)?;
        if self.axes().is_none() {
            return Err(Error::ArrayAxis { axis, problem: "is cut into boxes" });
        }
        self.with_each_axis(|at, map| {
            if at == axis { map.with_extents(at, held.clone(), None) } else { Ok(map.clone()) }
        })
    }
}
