//! Views and assignments.

use pantile_geometry::slices::{self, overlap, subview_nd};
use pantile_ir::{Dim, Index, Op, Operation, Slice, Type};

use crate::error::OperationFault;
use crate::frame::{ValueFrame, count, wrong};
use crate::held::{MemberValue, PartLayout, PartedArray, Spread};
use crate::local::{AxisView, LocalArray};
use crate::machine::MemberMachine;

/// A slice in numbers; its values are the operands from `first` on.
pub(crate) fn axes_of(
    frame: &ValueFrame<'_>,
    operation: &Operation,
    (slice, first): (&Slice, usize),
) -> Result<(Vec<AxisView>, usize), OperationFault> {
    let mut next = first;
    let mut list = |entries: &[Index]| -> Result<Vec<i64>, OperationFault> {
        let mut numbers = Vec::new();
        for entry in entries {
            numbers.push(match entry {
                Index::Known(number) => *number,
                Index::Operand => {
                    next += 1;
                    frame.index(operation, next - 1)?
                }
            });
        }
        Ok(numbers)
    };
    let (offsets, sizes, steps) =
        (list(&slice.offsets)?, list(&slice.sizes)?, list(&slice.strides)?);
    if offsets.len() != sizes.len() || offsets.len() != steps.len() {
        let (got, expected) = (vec![sizes.len(), steps.len()], vec![offsets.len(); 2]);
        return Err(OperationFault::Shapes { got, expected });
    }
    let axes = offsets.into_iter().zip(sizes).zip(steps);
    Ok((axes.map(|((offset, size), step)| (offset, size, step)).collect(), next))
}

/// The same as slices of a whole array, which must lie in it.
fn slices_of(axes: &[AxisView], shape: &[usize]) -> Result<Vec<slices::Slice>, OperationFault> {
    if axes.len() != shape.len() {
        let (got, expected) = (vec![axes.len()], vec![shape.len()]);
        return Err(OperationFault::Shapes { got, expected });
    }
    let mut made = Vec::new();
    for (axis, (offset, size, step)) in axes.iter().copied().enumerate() {
        let slice = slices::Slice::new(count(offset)?, count(size)?, count(step)?)?;
        let last = slice.offset() + slice.size().saturating_sub(1) * slice.stride();
        if slice.size() > 0 && last >= shape[axis] {
            let length = shape[axis];
            return Err(OperationFault::Bounds { axis, offset, size, step, length });
        }
        made.push(slice);
    }
    Ok(made)
}

impl<'p> MemberMachine<'p, '_> {
    /// A view of a local or a distributed array.
    pub(crate) fn view(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
        (slice, target): (&Slice, bool),
    ) -> Result<MemberValue, OperationFault> {
        let array = match frame.operand(operation, 0)? {
            MemberValue::Local(array) => {
                let (axes, _) = axes_of(frame, operation, (slice, 1))?;
                let view = array.view(&axes)?;
                let declared = frame.result_type(operation, 0)?.shape();
                return Ok(MemberValue::Local(without_units(view, declared)?));
            }
            MemberValue::Parts(array) => array.clone(),
            other => return Err(wrong(0, other, "an array")),
        };
        if self.pure {
            let made = self.together(frame, operation)?.pop();
            return made.ok_or(OperationFault::NoRule);
        }
        let (axes, next) = axes_of(frame, operation, (slice, 1))?;
        let numbers = slices_of(&axes, &array.shape)?;
        let ndim = array.shape.len();
        let targets = match target {
            true => {
                let offsets = frame.counts(operation, next..next + ndim)?;
                let sizes = frame.counts(operation, next + ndim..next + 2 * ndim)?;
                let ranges = offsets.iter().zip(&sizes);
                Some(ranges.map(|(at, size)| *at..at.saturating_add(*size)).collect::<Vec<_>>())
            }
            false => None,
        };
        let layout = &array.layout;
        let found = subview_nd(&layout.row_parts(), &layout.columns, &numbers, targets.as_deref())?;
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let mut parts = Vec::new();
        for (part, rows) in array.parts.iter().zip(&found.rows) {
            let axes = std::iter::once(rows).chain(&found.trailing).zip(&numbers);
            let axis = |(part, slice): (&slices::PartView, &slices::Slice)| {
                (number(part.offset), number(part.count), number(slice.stride()))
            };
            parts.push(match rows.count {
                0 => part.rows(0..0)?,
                _ => part.view(&axes.map(axis).collect::<Vec<_>>())?,
            });
        }
        let columns = found.offset[1..].iter().zip(&found.trailing);
        let columns: Vec<_> = columns.map(|(at, part)| *at..at + part.count).collect();
        let rows = [0, 1, 2].map(|part: usize| found.rows[part].count);
        let layout = PartLayout { offset: found.offset[0], rows, columns };
        let shape: Vec<usize> = numbers.iter().map(slices::Slice::size).collect();
        let everywhere = array.spread == Spread::Everywhere && !target && !shape.contains(&0);
        let spread = if everywhere { Spread::Everywhere } else { Spread::Unknown };
        let parts: [LocalArray; 3] = parts.try_into().map_err(|_| OperationFault::NoRule)?;
        Ok(MemberValue::Parts(PartedArray { shape, layout, parts, spread, ..array }))
    }

    /// `insert_slice`.
    pub(crate) fn insert(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
        slice: &Slice,
    ) -> Result<(), OperationFault> {
        match frame.operand(operation, 1)? {
            MemberValue::Local(target) => {
                self.write_local(frame, operation, slice, &target.clone())
            }
            MemberValue::Parts(target) => {
                self.write_parts(frame, operation, slice, &target.clone())
            }
            other => Err(wrong(1, other, "an array")),
        }
    }

    /// Writes a local source, spread over the slice.
    pub(crate) fn write_local(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        slice: &Slice,
        target: &LocalArray,
    ) -> Result<(), OperationFault> {
        let (axes, _) = axes_of(frame, operation, (slice, 2))?;
        let view = target.view(&axes)?;
        let source = match frame.operand(operation, 0)? {
            MemberValue::Parts(array) => array.parts[1].clone(),
            _ => frame.local(operation, 0)?,
        };
        let source = self.cast(&source, target.dtype())?;
        view.write(&source.spread(view.shape())?)
    }

    /// An array with elements of this type.
    pub(crate) fn cast(
        &mut self,
        array: &LocalArray,
        dtype: pantile_engine::DType,
    ) -> Result<LocalArray, OperationFault> {
        match array.dtype() == dtype {
            true => Ok(array.clone()),
            false => self.apply(&Op::CastElement { copy: None }, &[array], &Type::scalar(dtype)),
        }
    }

    /// Writes what this member has of the source to the rows that it owns of the slice.
    fn write_parts(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        slice: &Slice,
        target: &PartedArray,
    ) -> Result<(), OperationFault> {
        let (axes, _) = axes_of(frame, operation, (slice, 2))?;
        let numbers = slices_of(&axes, &target.shape)?;
        let layout = &target.layout;
        if layout.rows[0] + layout.rows[2] > 0 {
            return Err(OperationFault::Halos);
        }
        let owned = layout.owned();
        let found = overlap(&owned[0], &numbers[0])?;
        let sizes: Vec<usize> = numbers.iter().map(slices::Slice::size).collect();
        let source = self.share(frame, operation, &sizes, &found)?;
        if found.count == 0 || sizes.contains(&0) {
            return Ok(());
        }
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let mut places =
            vec![(number(found.first - owned[0].start), number(found.count), axes[0].2)];
        for (range, (offset, size, step)) in owned.iter().zip(&axes).skip(1) {
            places.push((*offset - number(range.start), *size, *step));
        }
        let view = target.parts[1].view(&places)?;
        let source = self.cast(&source, target.dtype)?;
        view.write(&source.spread(view.shape())?)
    }

    /// What this member writes of the source of an assignment.
    fn share(
        &self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        sizes: &[usize],
        found: &slices::Overlap,
    ) -> Result<LocalArray, OperationFault> {
        let array = match frame.operand(operation, 0)? {
            MemberValue::Parts(array) => array,
            _ => {
                let local = frame.local(operation, 0)?;
                return match local.shape() {
                    [] => Ok(local),
                    // Every member has all of it.
                    _ => local.spread(sizes)?.rows(found.positions()),
                };
            }
        };
        if array.is_unit() && sizes.iter().any(|size| *size != 1) {
            let all = array.stored()?;
            return match (all.shape()[0], found.count) {
                (0, 1..) => Err(OperationFault::NotCovered { rows: 1 }),
                _ => Ok(all),
            };
        }
        if array.shape != sizes {
            let (got, expected) = (array.shape.clone(), sizes.to_vec());
            return Err(OperationFault::Shapes { got, expected });
        }
        let stored = array.layout.stored_rows();
        let everywhere = array.spread == Spread::Everywhere && stored.len() == 1;
        if everywhere {
            return array.stored()?.rows(0..found.count.min(1));
        }
        if stored.len() != found.count || (found.count > 0 && stored.start != found.skip) {
            let (one, other) = ((stored.start, stored.len()), (found.skip, found.count));
            return Err(OperationFault::Misaligned { one, other });
        }
        array.stored()
    }
}

/// A view without as many of its axes of length 1 as the declared shape lacks: the first ones that
/// leave what is declared.
fn without_units(view: LocalArray, declared: &[Dim]) -> Result<LocalArray, OperationFault> {
    fn kept(sizes: &[usize], declared: &[Dim], at: usize) -> Option<Vec<usize>> {
        let Some((size, rest)) = sizes.split_first() else {
            return declared.is_empty().then(Vec::new);
        };
        let dropped = (*size == 1 && sizes.len() > declared.len())
            .then(|| kept(rest, declared, at + 1))
            .flatten();
        dropped.or_else(|| {
            let (dim, others) = declared.split_first()?;
            let mut found =
                dim.is_none_or(|dim| dim == *size).then(|| kept(rest, others, at + 1)).flatten()?;
            found.insert(0, at);
            Some(found)
        })
    }
    if view.shape().len() == declared.len() {
        return Ok(view);
    }
    match kept(view.shape(), declared, 0) {
        Some(axes) => Ok(view.without_axes(&axes)),
        None => {
            let expected = declared.iter().map(|dim| dim.unwrap_or(0)).collect();
            Err(OperationFault::Shapes { got: view.shape().to_vec(), expected })
        }
    }
}
