//! What is asked about members: partitions, targets, boxes and cores.

use std::ops::Range;

use pantile_geometry::slices::{
    self, Slice, bounding_box, default_partition, inner_box, local_core, local_target,
};
use pantile_ir::{Op, Operation, Scalar};

use crate::error::OperationFault;
use crate::frame::{ValueFrame, count};
use crate::held::MemberValue;

/// Offsets and then sizes of the answer.
pub(crate) fn answers(
    frame: &ValueFrame<'_>,
    operation: &Operation,
) -> Result<Vec<MemberValue>, OperationFault> {
    if operation.op == Op::LocalOffsetsOf {
        return offsets_of(frame, operation);
    }
    let ndim = operation.results.len() / 2;
    let ranges: Vec<Range<usize>> = match &operation.op {
        Op::DefaultPartition => {
            let numbers = frame.counts(operation, 0..operation.operands.len())?;
            let [members, member, shape @ ..] = &numbers[..] else {
                return Err(OperationFault::Unset);
            };
            default_partition(shape, *members, *member)?
        }
        Op::LocalTarget => targets(frame, operation, ndim)?,
        Op::BoundingBox { inner, previous } => {
            let hull = if *inner { inner_box } else { bounding_box };
            let lists = Numbers { frame, operation, first: 0, ndim };
            (0..ndim)
                .map(|axis| {
                    let before = previous.then(|| lists.range(axis, 5)).transpose()?;
                    Ok(hull(&lists.slice(axis, 0)?, &lists.range(axis, 3)?, before.as_ref())?)
                })
                .collect::<Result<_, OperationFault>>()?
        }
        Op::LocalCore { previous } => {
            let owned = frame.parts(operation, 0)?.layout.owned();
            let lists = Numbers { frame, operation, first: 1, ndim };
            let core = |(axis, owned): (usize, &Range<usize>)| {
                let before = previous.then(|| lists.range(axis, 5)).transpose()?;
                let (target, slice) = (lists.range(axis, 0)?, lists.slice(axis, 2)?);
                Ok(local_core(owned, &target, &slice, before.as_ref())?)
            };
            owned.iter().enumerate().map(core).collect::<Result<_, OperationFault>>()?
        }
        _ => return Err(OperationFault::NoRule),
    };
    let numbers = ranges.iter().map(|range| range.start).chain(ranges.iter().map(Range::len));
    Ok(numbers.map(index).collect())
}

fn index(number: usize) -> MemberValue {
    MemberValue::Number(Scalar::of(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn offsets_of(
    frame: &ValueFrame<'_>,
    operation: &Operation,
) -> Result<Vec<MemberValue>, OperationFault> {
    // An array without axes has no offsets.
    if operation.results.is_empty() {
        return Ok(Vec::new());
    }
    let layout = frame.parts(operation, 0)?.layout;
    let columns = layout.columns.iter().map(|columns| columns.start);
    Ok(std::iter::once(layout.offset).chain(columns).map(index).collect())
}

/// The rows of the slice that the member answers for, and all of its columns.
fn targets(
    frame: &ValueFrame<'_>,
    operation: &Operation,
    ndim: usize,
) -> Result<Vec<Range<usize>>, OperationFault> {
    if ndim == 0 {
        return Ok(Vec::new());
    }
    let owned = frame.parts(operation, 0)?.layout.owned_rows();
    let lists = Numbers { frame, operation, first: 1, ndim };
    let rows = local_target(&owned, &lists.slice(0, 0)?)?;
    let columns = (1..ndim).map(|axis| Ok(0..lists.slice(axis, 0)?.size()));
    std::iter::once(Ok(rows)).chain(columns).collect()
}

/// Lists of numbers among the operands, each with one for every axis.
struct Numbers<'f, 'p> {
    frame: &'f ValueFrame<'p>,
    operation: &'f Operation,
    first: usize,
    ndim: usize,
}

impl Numbers<'_, '_> {
    fn at(&self, axis: usize, list: usize) -> Result<usize, OperationFault> {
        count(self.frame.index(self.operation, self.first + list * self.ndim + axis)?)
    }

    /// Offset and size.
    fn range(&self, axis: usize, list: usize) -> Result<Range<usize>, OperationFault> {
        let (offset, size) = (self.at(axis, list)?, self.at(axis, list + 1)?);
        let end = offset.saturating_add(size).min(slices::MAX_INDEX.saturating_add(1));
        Ok(offset..end.max(offset))
    }

    /// Offset, size and stride.
    fn slice(&self, axis: usize, list: usize) -> Result<Slice, OperationFault> {
        let number = |more: usize| self.at(axis, list + more);
        Ok(Slice::new(number(0)?, number(1)?, number(2)?)?)
    }
}
