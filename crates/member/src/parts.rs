//! Distributed arrays as the parts of one member: bound, asked for, brought elsewhere.

use std::ops::Range;

use pantile_geometry::slices::repartition_nd;
use pantile_ir::{Operation, Type};

use crate::error::OperationFault;
use crate::exchange::{fetched, told};
use crate::frame::{ValueFrame, wrong};
use crate::held::{MemberValue, PartLayout, PartedArray, Spread, team_of};
use crate::local::LocalArray;
use crate::machine::{MemberMachine, copied};

/// `init_dist_array`: offsets and parts become one array.
pub(crate) fn bound(
    frame: &ValueFrame<'_>,
    operation: &Operation,
) -> Result<MemberValue, OperationFault> {
    let ty = frame.result_type(operation, 0)?;
    let ndim = ty.shape().len();
    let Some(team) = team_of(ty) else { return Err(OperationFault::NoRule) };
    let mut parts = Vec::new();
    for at in ndim..operation.operands.len() {
        parts.push(frame.local(operation, at)?);
    }
    if let (0, [one]) = (ndim, &parts[..]) {
        return Ok(MemberValue::Local(one.clone()));
    }
    let offsets = frame.counts(operation, 0..ndim)?;
    let [left, owned, right] = three(parts)?;
    let shapes = [&left, &owned, &right].map(|part| part.shape().to_vec());
    let layout = layout_of(&offsets, &shapes, ty)?;
    let known: Option<Vec<usize>> = ty.shape().iter().copied().collect();
    let Some(shape) = known else {
        return Err(OperationFault::Number {
            got: -1,
            expected: "known lengths of the whole array",
        });
    };
    let dtype = owned.dtype();
    let parts = [left, owned, right];
    let end = layout.stored_rows().end;
    if end > shape[0] && layout.rows != [0; 3] {
        let got = i64::try_from(end).unwrap_or(i64::MAX);
        return Err(OperationFault::Number { got, expected: "rows within the whole array" });
    }
    Ok(MemberValue::Parts(PartedArray {
        shape,
        dtype,
        team,
        layout,
        parts,
        spread: Spread::Unknown,
    }))
}

/// Left halo, owned part and right halo; a single part has no halos.
fn three(parts: Vec<LocalArray>) -> Result<[LocalArray; 3], OperationFault> {
    let count = parts.len();
    let parts = match <[LocalArray; 1]>::try_from(parts) {
        Ok([owned]) => {
            let mut nothing = owned.shape().to_vec();
            nothing.iter_mut().take(1).for_each(|rows| *rows = 0);
            let halo = LocalArray::zeroed(&nothing, owned.dtype())?;
            vec![halo.clone(), owned, halo]
        }
        Err(parts) => parts,
    };
    let shapes = OperationFault::Shapes { got: vec![count], expected: vec![3] };
    parts.try_into().map_err(|_| shapes)
}

/// Where parts of these shapes lie.
fn layout_of(
    offsets: &[usize],
    shapes: &[Vec<usize>; 3],
    ty: &Type,
) -> Result<PartLayout, OperationFault> {
    let rows = [0, 1, 2].map(|part: usize| shapes[part].first().copied().unwrap_or(0));
    let mut columns = Vec::new();
    for axis in 1..offsets.len() {
        // The shape of an empty part says nothing.
        let stored = shapes.iter().filter(|shape| shape[0] > 0).map(|shape| shape[axis]);
        let length = ty.shape()[axis].unwrap_or(0).saturating_sub(offsets[axis]);
        let size = stored.clone().max().unwrap_or(length);
        if let Some(other) = stored.clone().find(|other| *other != size) {
            return Err(OperationFault::Shapes { got: vec![other], expected: vec![size] });
        }
        columns.push(offsets[axis]..offsets[axis].saturating_add(size));
    }
    Ok(PartLayout { offset: offsets[0], rows, columns })
}

/// `parts_of`: left halo, owned part and right halo.
pub(crate) fn parts_of(
    frame: &ValueFrame<'_>,
    operation: &Operation,
) -> Result<Vec<MemberValue>, OperationFault> {
    if let MemberValue::Local(array) = frame.operand(operation, 0)? {
        return Ok(vec![MemberValue::Local(array.clone())]);
    }
    let array = frame.parts(operation, 0)?;
    let mut made = Vec::new();
    for (at, part) in array.parts.iter().enumerate() {
        // The declared shape of an empty part may be any.
        let declared = frame.result_type(operation, at)?.shape();
        let shape: Option<Vec<usize>> = declared.iter().copied().collect();
        let empty = shape
            .filter(|shape| part.shape().contains(&0) && shape.first() == part.shape().first());
        made.push(MemberValue::Local(match empty {
            Some(shape) if shape.contains(&0) => part.reshaped(&shape)?,
            _ => part.clone(),
        }));
    }
    Ok(made)
}

impl<'p> MemberMachine<'p, '_> {
    /// `repartition`: what a member asks for, as halos around what it owns of it.
    pub(crate) fn repartition(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        request: bool,
    ) -> Result<MemberValue, OperationFault> {
        let array = match frame.operand(operation, 0)? {
            MemberValue::Parts(array) => array.clone(),
            // Every member has an array without axes.
            local @ MemberValue::Local(_) => return copied(local),
            other => return Err(wrong(0, other, "an array")),
        };
        let ndim = array.shape.len();
        let team = self.team(&array.team);
        let wanted: Vec<Range<usize>> = if request {
            let (offsets, sizes) = (
                frame.counts(operation, 1..1 + ndim)?,
                frame.counts(operation, 1 + ndim..1 + 2 * ndim)?,
            );
            offsets.iter().zip(&sizes).map(|(at, size)| *at..at.saturating_add(*size)).collect()
        } else if array.is_unit() {
            vec![0..1; ndim]
        } else {
            PartLayout::default_of(&array.shape, &team)?.owned()
        };
        let spread = match (request, array.is_unit()) {
            (true, _) => Spread::Unknown,
            (false, true) => Spread::Everywhere,
            (false, false) => Spread::Stored,
        };
        let columns = wanted[1..].to_vec();
        let (offset, count) = (wanted[0].start, wanted[0].len());
        if array.spread == Spread::Everywhere {
            let rows = array.stored()?.rows(0..count.min(1))?;
            let first = std::iter::once(0..count.min(1));
            let wanted: Vec<Range<usize>> = first.chain(columns.iter().cloned()).collect();
            let owned = rows.part(&wanted)?.copy()?;
            let layout = PartLayout { offset, rows: [0, count, 0], columns };
            let of = (&array.shape[..], &array.team);
            return Ok(MemberValue::Parts(PartedArray::plain(of, layout, owned, spread)?));
        }
        if !request && array.spread == Spread::Default && !array.is_unit() {
            return copied(&MemberValue::Parts(array));
        }
        let owned = array.layout.owned();
        let all = fetched(self.engine, &team, (&array.parts[1], &owned), &wanted)?;
        let found = repartition_nd(&[owned[0].clone()], &wanted[..1])?.rows;
        let (left, view) = (found.left, found.view.len());
        let cuts = [0..left, left..left + view, left + view..count];
        let rows = [left, view, count - left - view];
        let [one, two, three] = cuts.map(|rows| all.rows(rows).and_then(|part| part.copy()));
        let layout = PartLayout { offset, rows, columns };
        let parts = [one?, two?, three?];
        Ok(MemberValue::Parts(PartedArray { layout, parts, spread, ..array }))
    }

    /// The rows of the default partition, wherever they are. Collective if the members do not know.
    pub(crate) fn default_rows(
        &mut self,
        array: &PartedArray,
    ) -> Result<LocalArray, OperationFault> {
        let team = self.team(&array.team);
        let wanted = PartLayout::default_of(&array.shape, &team)?;
        match array.spread {
            Spread::Default => return Ok(array.parts[1].clone()),
            Spread::Stored => return array.stored(),
            Spread::Everywhere => return array.stored()?.rows(0..wanted.rows[1]),
            Spread::Unknown => {}
        }
        if team.me.is_none() {
            return Ok(array.parts[1].clone());
        }
        let layout = &array.layout;
        let record = [layout.offset, layout.rows[0], layout.rows[1], layout.rows[2]];
        let all = told(self.engine, &team, ("member rows", &record))?;
        let (all_rows, own_rows) = (array.stored()?, layout.stored_rows());
        let rows = if covers(&all, array.shape[0], |one| one[0] + one[1]..one[0] + one[1] + one[2])
        {
            layout.owned_rows()
        } else if covers(&all, array.shape[0], |one| one[0]..one[0] + one[1] + one[2] + one[3]) {
            own_rows.clone()
        } else {
            return Err(OperationFault::NotCovered { rows: array.shape[0] });
        };
        let start = own_rows.start;
        let share = all_rows.rows(rows.start - start..rows.end - start)?;
        fetched(self.engine, &team, (&share, &layout.boxed(rows)), &wanted.owned())
    }
}

/// True if the rows of all members are those of an array, each of them once.
fn covers(all: &[Vec<usize>], length: usize, rows: impl Fn(&[usize]) -> Range<usize>) -> bool {
    let mut list: Vec<Range<usize>> =
        all.iter().map(|one| rows(one)).filter(|rows| !rows.is_empty()).collect();
    list.sort_by_key(|rows| rows.start);
    let end = list.iter().try_fold(0, |end, rows| (rows.start == end).then_some(rows.end));
    end == Some(length)
}
