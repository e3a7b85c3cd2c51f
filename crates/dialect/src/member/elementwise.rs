//! Arithmetic on parts: loops between the ends of parts, the core first.

use std::ops::Range;

use super::MemberError;
use super::held::{Held, HeldRows};
use super::{Lower, local_type};
use crate::PassError;
use crate::distribute::is_for_all_rows;
use crate::facts::{Cover, Local};
use pantile_ir::{ArrayType, Op, Operation, Type, Value};

/// True for operations that combine elements at equal places.
pub(super) fn is_elementwise(op: &Op) -> bool {
    matches!(
        op,
        Op::DistBinary(_)
            | Op::DistUnary(_)
            | Op::Binary(_)
            | Op::Unary(_)
            | Op::Where
            | Op::Clip
            | Op::CastElement { .. }
            | Op::Copy
    )
}

/// The number of operands that are combined.
fn arity(op: &Op) -> usize {
    match op {
        Op::Where | Op::Clip => 3,
        Op::DistBinary(_) | Op::Binary(_) => 2,
        _ => 1,
    }
}

/// The same on local arrays.
fn local_op(op: &Op) -> Op {
    match op {
        Op::DistBinary(named) => Op::Binary(*named),
        Op::DistUnary(named) => Op::Unary(*named),
        other => other.clone(),
    }
}

/// The rows between the ends of pieces and of the core. The core needs no halos: it comes first.
fn segments(operands: &[MemberOperand], rows: usize, core: &Range<usize>) -> Vec<(usize, usize)> {
    let mut cuts = vec![0, rows, core.start, core.end];
    for operand in operands {
        let MemberOperand::Rows(pieces) = operand else { continue };
        cuts.extend(pieces.iter().scan(0, |end, piece| {
            *end += piece.rows;
            Some(*end)
        }));
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut segments: Vec<(usize, usize)> = cuts.windows(2).map(|w| (w[0], w[1])).collect();
    segments.sort_by_key(|(start, end)| !(core.start <= *start && *end <= core.end));
    segments
}

/// An operand: the same for all rows, or rows in pieces.
enum MemberOperand {
    Same(Value),
    Rows(Vec<HeldRows>),
}

impl Lower<'_> {
    /// Operations of one array: each piece by itself.
    pub(super) fn each_piece(&mut self, operation: &Operation) -> Result<(), PassError> {
        let (of, result) = (operation.operands[0], operation.results[0]);
        let Some(held) = self.held.get(&of).cloned() else {
            return self.whole_operation(operation);
        };
        let Type::Array(array) = self.to.function.ty(result).clone() else {
            return self.refuse(operation, MemberError::ResultNotArray);
        };
        let mut made = Held { parts: [Vec::new(), Vec::new(), Vec::new()], ..held.clone() };
        for (part, pieces) in held.parts.iter().enumerate() {
            for piece in pieces {
                let mut shape = held.local.part_shape(part);
                shape[0] = piece.rows;
                let ty = local_type(&array, &shape);
                let value = self.to.one(local_op(&operation.op), vec![piece.value], ty);
                made.parts[part].push(HeldRows { rows: piece.rows, value });
            }
        }
        self.keep(result, made, &array);
        Ok(())
    }

    /// Arrays without axes: every member has them.
    pub(super) fn whole_operation(&mut self, operation: &Operation) -> Result<(), PassError> {
        let result = operation.results[0];
        let Some(array) = self.spread(result).filter(|array| array.ndim() == 0) else {
            return self.refuse(operation, MemberError::UnknownPieces);
        };
        let arity = arity(&operation.op);
        let operands = operation.operands[..arity].iter().map(|v| self.to.now(*v)).collect();
        let value = self.to.one(local_op(&operation.op), operands, local_type(&array, &[]));
        self.to.replace(result, value);
        Ok(())
    }

    /// Operations of several arrays.
    pub(super) fn elementwise(&mut self, operation: &Operation) -> Result<(), PassError> {
        let result = operation.results[0];
        let Some(array) = self.spread(result) else {
            return self.refuse(operation, MemberError::ResultNotDistributed);
        };
        if array.ndim() == 0 {
            return self.whole_operation(operation);
        }
        let arity = arity(&operation.op);
        let mut operands = Vec::new();
        for value in &operation.operands[..arity] {
            operands.push(self.operand(operation, *value, &array)?);
        }
        let local = self.result_rows(operation, &operands, &array)?;
        let rows = local.rows[1];
        let core = self.core(operation, arity, rows)?;
        let mut made: Vec<(usize, HeldRows)> = Vec::new();
        for (start, end) in segments(&operands, rows, &core) {
            let values = operands.iter().map(|operand| self.rows_at(operand, start, end)).collect();
            let mut shape = vec![end - start];
            shape.extend(local.columns.iter().map(ExactSizeIterator::len));
            let ty = local_type(&array, &shape);
            let value = self.to.one(local_op(&operation.op), values, ty);
            made.push((start, HeldRows { rows: end - start, value }));
        }
        made.sort_by_key(|(start, _)| *start);
        let pieces = made.into_iter().map(|(_, piece)| piece).collect();
        let held = Held { local, parts: [Vec::new(), pieces, Vec::new()] };
        self.keep(result, held, &array);
        Ok(())
    }

    /// Where the result lies: at the rows of the operands, which all have the same ones.
    fn result_rows(
        &self,
        operation: &Operation,
        operands: &[MemberOperand],
        array: &ArrayType,
    ) -> Result<Local, PassError> {
        // What members do is what they say: others have to be told that it does not fit.
        let is_dist = matches!(operation.op, Op::DistBinary(_));
        let mut made: Option<Local> = None;
        let mut alike = true;
        for (value, operand) in operation.operands.iter().zip(operands) {
            let (MemberOperand::Rows(pieces), Some(held)) = (operand, self.held.get(value)) else {
                continue;
            };
            alike &= self.to.function.ty(*value).shape() == array.shape;
            let total: usize = pieces.iter().map(|piece| piece.rows).sum();
            let local = made.get_or_insert_with(|| held.local.clone());
            let rows = local.all_rows();
            if total != rows {
                let error = MemberError::LocalRows { one: rows, other: total };
                return self.refuse(operation, error);
            }
            if rows > 0 && local.offset != held.local.offset {
                let (one, other) = (local.offset, held.local.offset);
                return self.refuse(operation, MemberError::LocalOffsets { one, other });
            }
        }
        let Some(mut local) = made else {
            return self.refuse(operation, MemberError::NoDistributedOperand);
        };
        let known = self.facts.local(operation.results[0]);
        (local.rows, local.invented) = ([0, local.all_rows(), 0], true);
        local.everywhere = known.is_some_and(|known| known.everywhere);
        local.cover = known.map_or(Cover::Unknown, |known| known.cover);
        if !alike {
            // Operands that are repeated have all their columns, and so has the result.
            local.columns = array.shape[1..].iter().map(|dim| 0..dim.unwrap_or(0)).collect();
        }
        if let Some(known) = known.filter(|_| is_dist) {
            local.offset = known.offset;
        }
        let there = known.is_some_and(|known| known.is_plain_like(&local));
        if !is_dist && !there && !local.everywhere {
            return self.refuse(operation, MemberError::OperandsNotDefault);
        }
        Ok(local)
    }

    fn operand(
        &mut self,
        operation: &Operation,
        value: Value,
        result: &ArrayType,
    ) -> Result<MemberOperand, PassError> {
        let Some(array) = self.spread(value).filter(|array| array.ndim() > 0) else {
            // A local array is the same on every member.
            let shape = self.to.function.ty(value).shape();
            if shape.is_empty() || is_for_all_rows(shape, &result.shape) {
                return Ok(MemberOperand::Same(self.to.now(value)));
            }
            return self.refuse(operation, MemberError::LocalOperand);
        };
        let Some(held) = self.held.get(&value).cloned() else {
            return self.refuse(operation, MemberError::UnknownParts);
        };
        if is_for_all_rows(&array.shape, &result.shape) {
            let has_rows = Some(held.local.all_rows()) == array.shape[0];
            if !has_rows || !held.local.has_columns(&array.shape) {
                return self.refuse(operation, MemberError::OperandNotEverywhere);
            }
            return Ok(MemberOperand::Same(self.all_parts(&held, &array)));
        }
        let alike = array.shape == result.shape;
        if !alike && (array.shape[0] != result.shape[0] || !held.local.has_columns(&array.shape)) {
            return self.refuse(operation, MemberError::Shapes);
        }
        Ok(MemberOperand::Rows(held.pieces()))
    }

    /// The core's rows.
    fn core(
        &self,
        operation: &Operation,
        arity: usize,
        rows: usize,
    ) -> Result<Range<usize>, PassError> {
        let given = &operation.operands[arity..];
        if given.is_empty() {
            return Ok(0..0);
        }
        // Columns are stored where they are needed: only rows can be missing.
        let ndim = given.len() / 3;
        match self.facts.ranges(&[given[0], given[ndim]]) {
            Some(core) if core[0].end <= rows => Ok(core[0].clone()),
            Some(core) => {
                let end = core[0].end;
                self.refuse(operation, MemberError::CoreEnd { end, rows })
            }
            None => self.refuse(operation, MemberError::UnknownCore),
        }
    }

    fn rows_at(&mut self, operand: &MemberOperand, start: usize, end: usize) -> Value {
        match operand {
            MemberOperand::Same(value) => *value,
            MemberOperand::Rows(pieces) => {
                let mut first = 0;
                let found = pieces.iter().find(|piece| {
                    first += piece.rows;
                    start < first
                });
                let piece = found.copied().unwrap_or(pieces[0]);
                self.rows_of(piece, start + piece.rows - first, end - start)
            }
        }
    }
}
