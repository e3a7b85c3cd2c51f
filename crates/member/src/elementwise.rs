//! Arithmetic on parts: loops over rows between the ends of parts, the core first.

use std::ops::Range;

use pantile_geometry::slices::{RowParts, segments};
use pantile_ir::{Op, Operation, Type};

use crate::error::OperationFault;
use crate::frame::{ValueFrame, wrong};
use crate::held::{MemberValue, PartLayout, PartedArray, Spread};
use crate::local::LocalArray;
use crate::machine::MemberMachine;

/// An operand: the same for all rows, or rows in parts.
enum RowOperand {
    Same(LocalArray),
    Rows(Box<PartedArray>),
}

impl<'p> MemberMachine<'p, '_> {
    /// `dist.ewuny` and `dist.ewbin`.
    pub(crate) fn elementwise(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
    ) -> Result<MemberValue, OperationFault> {
        let ty = frame.result_type(operation, 0)?;
        match &operation.op {
            Op::DistUnary(named) => self.of_parts(frame, operation, &Op::Unary(*named)),
            Op::DistBinary(named) if ty.shape().is_empty() => {
                let of = [frame.local(operation, 0)?, frame.local(operation, 1)?];
                let op = Op::Binary(*named);
                Ok(MemberValue::Local(self.apply(&op, &[&of[0], &of[1]], ty)?))
            }
            Op::DistBinary(named) => self.of_rows(frame, operation, &Op::Binary(*named)),
            _ => Err(OperationFault::NoRule),
        }
    }

    /// Each part by itself.
    fn of_parts(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        op: &Op,
    ) -> Result<MemberValue, OperationFault> {
        let ty = frame.result_type(operation, 0)?;
        let array = match frame.operand(operation, 0)? {
            MemberValue::Parts(array) => array.clone(),
            _ => {
                let of = frame.local(operation, 0)?;
                return Ok(MemberValue::Local(self.apply(op, &[&of], ty)?));
            }
        };
        let [left, owned, right] = &array.parts;
        let mut made = Vec::new();
        for part in [left, owned, right] {
            made.push(self.apply(op, &[part], ty)?);
        }
        let parts: [LocalArray; 3] = made.try_into().map_err(|_| OperationFault::NoRule)?;
        let dtype = parts[1].dtype();
        Ok(MemberValue::Parts(PartedArray { dtype, parts, ..array }))
    }

    /// Rows at equal places of both operands.
    fn of_rows(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
        op: &Op,
    ) -> Result<MemberValue, OperationFault> {
        let ty = frame.result_type(operation, 0)?;
        let operands = [row_operand(frame, operation, 0)?, row_operand(frame, operation, 1)?];
        let mut layout = result_layout(&operands, ty)?;
        let rows = layout.rows[1];
        let ndim = layout.columns.len() + 1;
        let mut core = None;
        if operation.operands.len() > 2 {
            let (first, size) = (frame.counts(operation, 2..3)?, 2 + ndim);
            let size = frame.counts(operation, size..size + 1)?;
            core = Some(first[0]..first[0].saturating_add(size[0]));
            let target = 2 + 2 * ndim;
            layout.offset = frame.counts(operation, target..target + 1)?[0];
        }
        let parts = [&operands[0], &operands[1]].map(RowOperand::parts);
        let mut whole: Option<LocalArray> = None;
        let shape = layout.shape_of(rows);
        for segment in segments(&parts[0], &parts[1], core.as_ref())? {
            let of = [operands[0].rows(&segment.rows)?, operands[1].rows(&segment.rows)?];
            let made = self.apply(op, &[&of[0], &of[1]], ty)?;
            if segment.rows == (0..rows) {
                whole = Some(made);
                break;
            }
            let into = match &whole {
                Some(into) => into,
                None => whole.insert(LocalArray::zeroed(&shape, made.dtype())?),
            };
            into.rows(segment.rows)?.write(&made)?;
        }
        let dtype = ty.dtype().ok_or(OperationFault::NoRule)?;
        let owned = match whole {
            Some(owned) => owned,
            None => LocalArray::zeroed(&shape, dtype)?,
        };
        let spread = spread_of(&operands);
        let Some(first) = operands.iter().find_map(RowOperand::array) else {
            return Err(OperationFault::NoRule);
        };
        let of = (&result_shape(ty, first)[..], &first.team);
        Ok(MemberValue::Parts(PartedArray::plain(of, layout, owned, spread)?))
    }
}

/// How the parts of the result lie together.
fn spread_of(operands: &[RowOperand]) -> Spread {
    let all: Vec<Spread> =
        operands.iter().filter_map(RowOperand::array).map(|array| array.spread).collect();
    let is = |spread: &Spread| matches!(spread, Spread::Default | Spread::Stored);
    if all.iter().all(|spread| *spread == Spread::Everywhere) {
        Spread::Everywhere
    } else if all.iter().all(is) {
        Spread::Default
    } else {
        Spread::Unknown
    }
}

/// The lengths of the whole result.
fn result_shape(ty: &Type, like: &PartedArray) -> Vec<usize> {
    let known: Option<Vec<usize>> = ty.shape().iter().copied().collect();
    known.unwrap_or_else(|| like.shape.clone())
}

/// What an operand is to a result with rows.
fn row_operand(
    frame: &ValueFrame<'_>,
    operation: &Operation,
    at: usize,
) -> Result<RowOperand, OperationFault> {
    let declared = frame.result_type(operation, 0)?.shape();
    let array = match frame.operand(operation, at)? {
        MemberValue::Parts(array) => array,
        MemberValue::Handle => return Err(wrong(at, &MemberValue::Handle, "an array")),
        _ => {
            let local = frame.local(operation, at)?;
            return match local.shape() {
                [] => Ok(RowOperand::Same(local)),
                _ => Err(wrong(at, frame.operand(operation, at)?, "a distributed array")),
            };
        }
    };
    let repeated = array.shape.len() < declared.len()
        || (array.shape.first() == Some(&1)
            && declared.first().copied().flatten().is_some_and(|n| n != 1))
        || (array.is_unit() && declared.iter().any(|dim| dim.is_some_and(|n| n != 1)));
    if !repeated {
        return Ok(RowOperand::Rows(Box::new(array.clone())));
    }
    let (all, rows) = (array.stored()?, array.shape[0]);
    if all.shape() != array.shape {
        return Err(OperationFault::NotCovered { rows });
    }
    Ok(RowOperand::Same(all))
}

/// Where the result lies: at the rows of the operands, which all have the same ones.
fn result_layout(operands: &[RowOperand], ty: &Type) -> Result<PartLayout, OperationFault> {
    let mut made: Option<PartLayout> = None;
    let mut alike = true;
    for array in operands.iter().filter_map(RowOperand::array) {
        let stored = array.layout.stored_rows();
        let declared = ty.shape().iter();
        alike &=
            declared.zip(&array.shape).all(|(dim, length)| dim.is_none_or(|dim| dim == *length));
        if let Some(before) = &made {
            let one = before.stored_rows();
            let differs = one.start != stored.start && !one.is_empty();
            if one.len() != stored.len() || differs {
                let (one, other) = ((one.start, one.len()), (stored.start, stored.len()));
                return Err(OperationFault::Misaligned { one, other });
            }
        } else {
            let (offset, columns) = (stored.start, array.layout.columns.clone());
            made = Some(PartLayout { offset, rows: [0, stored.len(), 0], columns });
        }
    }
    let mut layout = made.ok_or(OperationFault::NoRule)?;
    if !alike {
        // Operands that are repeated have all their columns, and so has the result.
        layout.columns = ty.shape()[1..].iter().map(|dim| 0..dim.unwrap_or(0)).collect();
    }
    Ok(layout)
}

impl RowOperand {
    fn array(&self) -> Option<&PartedArray> {
        match self {
            Self::Rows(array) => Some(array),
            Self::Same(_) => None,
        }
    }

    fn parts(&self) -> RowParts {
        self.array().map_or(RowParts::Broadcast, |array| RowParts::Parts(array.layout.rows))
    }

    /// Some of the stored rows, counted from the first.
    fn rows(&self, rows: &Range<usize>) -> Result<LocalArray, OperationFault> {
        match self {
            Self::Same(array) => Ok(array.clone()),
            Self::Rows(array) => array.rows(rows.clone()),
        }
    }
}
