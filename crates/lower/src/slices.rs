//! Slices, and assignments to them.

use pantile_geometry::Distribution;

use super::communication_insertion::{Target, whole_region};
use super::expr::{ExprId, identity};
use super::place;
use super::{IndexMap, LowerErrorKind, Lowering, PlaceError, StridedRange, StridedRangeError};
use pantile_ir::{Index, Operation, Slice};

impl Lowering<'_> {
    /// The stretches of a slice of an array of this shape.
    pub(crate) fn ranges(
        &self,
        operation: &Operation,
        slice: &Slice,
        first: usize,
        shape: &[usize],
    ) -> Result<Vec<StridedRange>, StridedRangeError> {
        let mut operands = operation.operands.iter().skip(first);
        let mut list = |entries: &[Index]| -> Result<Vec<i64>, StridedRangeError> {
            entries
                .iter()
                .map(|entry| match entry {
                    Index::Known(value) => Ok(*value),
                    Index::Operand => {
                        let value = operands.next().ok_or(StridedRangeError::MissingOperand)?;
                        self.index(*value)
                    }
                })
                .collect()
        };
        let (offsets, sizes, steps) =
            (list(&slice.offsets)?, list(&slice.sizes)?, list(&slice.strides)?);
        if [offsets.len(), sizes.len(), steps.len()] != [shape.len(); 3] {
            let (got, expected) = (offsets.len(), shape.len());
            return Err(StridedRangeError::Axes { got, expected });
        }
        let mut ranges = Vec::new();
        for axis in 0..shape.len() {
            let (offset, size, step) = (offsets[axis], sizes[axis], steps[axis]);
            let count =
                usize::try_from(size).map_err(|_| StridedRangeError::Size { axis, size })?;
            let length = i128::try_from(shape[axis]).unwrap_or(i128::MAX);
            let last = i128::from(offset) + i128::from(size - 1) * i128::from(step);
            let inside = (0..length).contains(&i128::from(offset)) && (0..length).contains(&last);
            if step == 0 || (count > 0 && !inside) {
                let length = shape[axis];
                return Err(StridedRangeError::Bounds { axis, size, offset, step, length });
            }
            ranges.push(StridedRange { offset, step, size: count });
        }
        Ok(ranges)
    }

    pub(crate) fn slice(
        &mut self,
        operation: &Operation,
        slice: &Slice,
    ) -> Result<ExprId, LowerErrorKind> {
        let of = self.operand(operation, 0)?;
        let own = self.exprs[of].shape.clone();
        let ranges = self.ranges(operation, slice, 1, &own)?;
        let declared = self.function.ty(operation.results[0]).shape();
        let kept = kept_axes(&ranges, declared)?;
        let shape: Vec<usize> = kept.iter().map(|axis| ranges[*axis].size).collect();
        let map: Vec<IndexMap> = ranges
            .iter()
            .enumerate()
            .map(|(axis, range)| match kept.iter().position(|other| *other == axis) {
                Some(new) => IndexMap::Moves { axis: new, offset: range.offset, step: range.step },
                None => IndexMap::Fixed(range.offset),
            })
            .collect();
        Ok(self.exprs.view(of, &map, &shape))
    }

    /// A copy of one element is made at once, by the rank that owns it: then the array that it was
    /// read from can be updated in place. Other copies are made when they are needed.
    pub(crate) fn element_read(&mut self, of: ExprId) -> Result<ExprId, LowerErrorKind> {
        if !self.exprs[of].shape.is_empty() {
            return Ok(of);
        }
        let leaves = self.leaves(&[of]);
        let Some((slot, access)) = leaves.into_iter().find(|(_, access)| !access.is_empty()) else {
            return Ok(of);
        };
        let home = &self.slots[slot.index()].home;
        let index = access.iter().map(|index_map| match index_map {
            IndexMap::Fixed(at) => usize::try_from(*at).ok(),
            IndexMap::Moves { .. } => None,
        });
        let owner = index.collect::<Option<Vec<usize>>>().and_then(|index| home.owner(&index));
        let home = match owner {
            Some(owner) if !place::axes(home).iter().all(place::is_whole) => {
                Distribution::on_rank(&[], owner.rank).map_err(PlaceError::from)?
            }
            _ => place::everywhere(&[], self.ranks)?,
        };
        let dtype = self.exprs[of].dtype;
        let copy = self.materialise(of, Some(&home))?;
        Ok(self.exprs.slot(copy, dtype, &[]))
    }

    /// The next version of an array, a region of which is assigned.
    pub(crate) fn update(
        &mut self,
        operation: &Operation,
        slice: &Slice,
    ) -> Result<ExprId, LowerErrorKind> {
        let (source, base) = (self.operand(operation, 0)?, self.operand(operation, 1)?);
        let shape = self.exprs[base].shape.clone();
        let ranges = self.ranges(operation, slice, 2, &shape)?;
        self.assigned(source, base, ranges)
    }

    /// `base` with `source` at a region.
    pub(crate) fn assigned(
        &mut self,
        source: ExprId,
        base: ExprId,
        mut ranges: Vec<StridedRange>,
    ) -> Result<ExprId, LowerErrorKind> {
        let (dtype, shape) = (self.exprs[base].dtype, self.exprs[base].shape.clone());
        let sizes: Vec<usize> = ranges.iter().map(|range| range.size).collect();
        if sizes.contains(&0) {
            return Ok(base);
        }
        let source = self.exprs.cast(source, dtype);
        let mut source = self.broadcast_to(source, &sizes)?;
        // Regions go upwards; what is assigned is turned around instead.
        let mut turn = identity(sizes.len());
        for (axis, range) in ranges.iter_mut().enumerate().filter(|(_, range)| range.step < 0) {
            let last = i64::try_from(range.size).unwrap_or(i64::MAX) - 1;
            turn[axis] = IndexMap::Moves { axis, offset: last, step: -1 };
            *range = StridedRange {
                offset: range.offset + last * range.step,
                step: -range.step,
                ..*range
            };
        }
        source = self.exprs.view(source, &turn, &sizes);
        for range in ranges.iter_mut().filter(|range| range.size == 1) {
            range.step = 1;
        }
        if ranges == whole_region(&shape) {
            // Nothing is left of the old version but where it lives.
            let home = self.plain_slot(base).map(|slot| self.slots[slot.index()].home.clone());
            let slot = self.materialise(source, home.as_ref())?;
            return Ok(self.exprs.slot(slot, dtype, &shape));
        }
        let mut slot = self.materialise(base, None)?;
        let home = self.slots[slot.index()].home.clone();
        let partly =
            place::axes(&home).iter().zip(&ranges).zip(&shape).any(|((map, range), length)| {
                !place::is_block(map) && (range.size != *length || range.step != 1)
            });
        let home = if partly { place::plain(&place::blocks(&shape, self.ranks)?)? } else { home };
        if partly {
            slot = self.moved(slot, &home, "redistribute")?;
        }
        let next = self.new_slot(dtype, home.clone());
        self.compute(
            vec![(source, Target::Store(next))],
            (&home, ranges),
            &[],
            vec![(next, slot)],
        )?;
        Ok(self.exprs.slot(next, dtype, &shape))
    }
}

/// The axes of a slice that are left: all but as many of length 1 as the declared shape lacks, the
/// first ones that leave what is declared.
fn kept_axes(
    ranges: &[StridedRange],
    declared: &[Option<usize>],
) -> Result<Vec<usize>, StridedRangeError> {
    fn from(
        axis: usize,
        ranges: &[StridedRange],
        declared: &[Option<usize>],
    ) -> Option<Vec<usize>> {
        let Some((range, rest)) = ranges.split_first() else {
            return declared.is_empty().then(Vec::new);
        };
        let droppable = range.size == 1 && ranges.len() > declared.len();
        let dropped = droppable.then(|| from(axis + 1, rest, declared)).flatten();
        dropped.or_else(|| {
            let (dim, others) = declared.split_first()?;
            let fits = dim.is_none_or(|dim| dim == range.size);
            let mut kept = fits.then(|| from(axis + 1, rest, others)).flatten()?;
            kept.insert(0, axis);
            Some(kept)
        })
    }
    from(0, ranges, declared).ok_or_else(|| {
        let sizes = ranges.iter().map(|range| range.size).collect();
        StridedRangeError::Shape { sizes, declared: declared.to_vec() }
    })
}
