//! What the runtime does for members: halos, other shapes, other orders of axes.
//!
//! Everything has arrived when the operation returns; `wait` has nothing left to do.

use std::ops::Range;

use pantile_ir::{Attribute, Operation};

use crate::error::OperationFault;
use crate::exchange::fetched;
use crate::frame::ValueFrame;
use crate::held::MemberValue;
use crate::machine::MemberMachine;

impl<'p> MemberMachine<'p, '_> {
    /// `get_halo`: what of a box lies on lower and on higher members.
    pub(crate) fn get_halo(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        team: &Attribute,
    ) -> Result<Vec<MemberValue>, OperationFault> {
        let array = frame.local(operation, 0)?;
        let lists = Lists::read(frame, operation, &[array.shape().len(); 4])?;
        let team = self.team(team);
        let owned = boxed(lists.of(1), array.shape())?;
        let wanted = boxed(lists.of(2), lists.of(3))?;
        let (own, asked) = first_rows(&owned, &wanted)?;
        let rows = pantile_geometry::slices::repartition(&own, &asked)?;
        let all = fetched(self.engine, &team, (&array, &owned), &wanted)?;
        let count = asked.len();
        let halos = [0..rows.left, count - rows.right.min(count)..count];
        let mut made = vec![MemberValue::Handle];
        for (at, rows) in halos.into_iter().enumerate() {
            let halo = all.rows(rows)?.copy()?;
            // An empty halo has the trailing lengths that its type says.
            let declared = frame.result_type(operation, at + 1)?.shape();
            let shape: Option<Vec<usize>> = declared.iter().copied().collect();
            let empty = shape.filter(|shape| shape.contains(&0) && halo.shape().contains(&0));
            made.push(MemberValue::Local(match empty {
                Some(shape) if shape.first() == halo.shape().first() => halo.reshaped(&shape)?,
                _ => halo,
            }));
        }
        Ok(made)
    }

    /// `copy_reshape`: the same elements in another shape, row-major.
    pub(crate) fn copy_reshape(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        team: &Attribute,
    ) -> Result<Vec<MemberValue>, OperationFault> {
        let array = frame.local(operation, 0)?;
        let ndim = array.shape().len();
        let new = frame.result_type(operation, 1)?.shape().len();
        let lists = Lists::read(frame, operation, &[ndim, ndim, new, new, new])?;
        let team = self.team(team);
        let from = numbers(lists.of(0), lists.of(1), array.shape())?;
        let to = numbers(lists.of(2), lists.of(3), lists.of(4))?;
        let list = array.reshaped(&[from.len()])?;
        let made = fetched(self.engine, &team, (&list, &[from]), &[to])?;
        Ok(vec![MemberValue::Handle, MemberValue::Local(made.reshaped(lists.of(4))?)])
    }

    /// `copy_permute`: the axes in another order.
    pub(crate) fn copy_permute(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        team: &Attribute,
        axes: &[usize],
    ) -> Result<Vec<MemberValue>, OperationFault> {
        let array = frame.local(operation, 0)?;
        let ndim = array.shape().len();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..ndim) {
            let (got, expected) = (axes.to_vec(), (0..ndim).collect());
            return Err(OperationFault::Shapes { got, expected });
        }
        let lists = Lists::read(frame, operation, &[ndim; 4])?;
        let team = self.team(team);
        let owned = boxed(lists.of(1), array.shape())?;
        let new = boxed(lists.of(2), lists.of(3))?;
        let mut wanted = vec![0..0; ndim];
        for (axis, range) in axes.iter().zip(&new) {
            wanted[*axis] = range.clone();
        }
        let made = fetched(self.engine, &team, (&array, &owned), &wanted)?;
        Ok(vec![MemberValue::Handle, MemberValue::Local(made.permuted(axes).copy()?)])
    }
}

/// Lists of numbers among the operands behind the first one.
struct Lists(Vec<Vec<usize>>);

impl Lists {
    fn read(
        frame: &ValueFrame<'_>,
        operation: &Operation,
        lengths: &[usize],
    ) -> Result<Self, OperationFault> {
        let mut first = 1;
        let mut lists = Vec::new();
        for length in lengths {
            lists.push(frame.counts(operation, first..first + length)?);
            first += length;
        }
        match operation.operands.len() {
            count if count == first => Ok(Self(lists)),
            count => {
                let (got, expected) = (vec![count], vec![first]);
                Err(OperationFault::Shapes { got, expected })
            }
        }
    }

    fn of(&self, list: usize) -> &[usize] {
        &self.0[list]
    }
}

/// A box from offsets and lengths.
fn boxed(offsets: &[usize], lengths: &[usize]) -> Result<Vec<Range<usize>>, OperationFault> {
    if offsets.len() != lengths.len() {
        let (got, expected) = (vec![lengths.len()], vec![offsets.len()]);
        return Err(OperationFault::Shapes { got, expected });
    }
    let too_far = OperationFault::Number { got: i64::MAX, expected: "a smaller offset" };
    let range = |(offset, length): (&usize, &usize)| Some(*offset..offset.checked_add(*length)?);
    offsets.iter().zip(lengths).map(range).collect::<Option<_>>().ok_or(too_far)
}

fn first_rows(
    owned: &[Range<usize>],
    wanted: &[Range<usize>],
) -> Result<(Range<usize>, Range<usize>), OperationFault> {
    match (owned.first(), wanted.first()) {
        (Some(owned), Some(wanted)) => Ok((owned.clone(), wanted.clone())),
        _ => Err(OperationFault::Shapes { got: Vec::new(), expected: vec![1] }),
    }
}

/// The row-major numbers of the elements of whole rows.
fn numbers(
    shape: &[usize],
    offsets: &[usize],
    local: &[usize],
) -> Result<Range<usize>, OperationFault> {
    let whole = shape.get(1..) == local.get(1..);
    let at_start = offsets.iter().skip(1).all(|offset| *offset == 0);
    // Where there are no elements, the columns say nothing.
    let empty = local.contains(&0);
    let fits = whole && at_start;
    if !empty && !fits {
        return Err(OperationFault::Shapes { got: local.to_vec(), expected: shape.to_vec() });
    }
    let row: Option<usize> =
        shape.iter().skip(1).try_fold(1_usize, |all, length| all.checked_mul(*length));
    let first = row.zip(offsets.first()).and_then(|(row, first)| row.checked_mul(*first));
    let count: Option<usize> =
        local.iter().try_fold(1_usize, |all, length| all.checked_mul(*length));
    let end = first.zip(count).and_then(|(first, count)| first.checked_add(count));
    let too_far = OperationFault::Number { got: i64::MAX, expected: "a smaller offset" };
    first.zip(end).map(|(first, end)| first..end).ok_or(too_far)
}
