//! Arithmetic on parts: loops between the ends of parts, the core first.

use super::held::{Held, Piece};
use super::{Lower, local_type};
use crate::passes::PassError;
use crate::{Op, Operation, Type, Value};

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

/// An operand: the same for all rows, or rows in pieces.
enum Operand {
    Same(Value),
    Rows(Vec<Piece>),
}

impl Lower<'_> {
    /// Operations of one array: each piece by itself.
    pub(super) fn each_piece(&mut self, operation: &Operation) -> Result<(), PassError> {
        let (of, result) = (operation.operands[0], operation.results[0]);
        let Some(held) = self.held.get(&of).cloned() else {
            return self.whole_operation(operation);
        };
        let Type::Array(array) = self.to.function.ty(result).clone() else {
            return self.refuse(operation, "got a result that is no array");
        };
        let mut made = Held { parts: [Vec::new(), Vec::new(), Vec::new()], ..held.clone() };
        for (part, pieces) in held.parts.iter().enumerate() {
            for piece in pieces {
                let mut shape = held.local.part_shape(part);
                shape[0] = piece.rows;
                let ty = local_type(&array, &shape);
                let value = self.to.one(local_op(&operation.op), vec![piece.value], ty);
                made.parts[part].push(Piece { rows: piece.rows, value });
            }
        }
        self.keep(result, made, &array);
        Ok(())
    }

    /// Arrays without axes: every member has them.
    pub(super) fn whole_operation(&mut self, operation: &Operation) -> Result<(), PassError> {
        let result = operation.results[0];
        let Some(array) = self.spread(result).filter(|array| array.ndim() == 0) else {
            return self.refuse(operation, "got parts that are not known");
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
            return self.refuse(operation, "got a result that is not distributed");
        };
        if array.ndim() == 0 {
            return self.whole_operation(operation);
        }
        let arity = arity(&operation.op);
        let mut operands = Vec::new();
        let mut model: Option<Held> = None;
        for value in &operation.operands[..arity] {
            operands.push(self.operand(operation, *value, &array)?);
            if let (Operand::Rows(_), None) = (&operands[operands.len() - 1], &model) {
                model = self.held.get(value).cloned();
            }
        }
        let Some(model) = model else {
            return self.refuse(operation, "got no array with rows");
        };
        let rows = model.local.all_rows();
        let mut cuts = vec![0, rows];
        for operand in &operands {
            let Operand::Rows(pieces) = operand else { continue };
            let total: usize = pieces.iter().map(|piece| piece.rows).sum();
            if total != rows {
                let reason = format!("got {rows} and {total} local rows, expected as many");
                return self.refuse(operation, reason);
            }
            cuts.extend(pieces.iter().scan(0, |end, piece| {
                *end += piece.rows;
                Some(*end)
            }));
        }
        let core = self.core(operation, arity, rows)?;
        cuts.extend([core.start, core.end]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut segments: Vec<(usize, usize)> = cuts.windows(2).map(|w| (w[0], w[1])).collect();
        // The core needs no halos: it comes first.
        segments.sort_by_key(|(start, end)| !(core.start <= *start && *end <= core.end));
        let mut made: Vec<(usize, Piece)> = Vec::new();
        for (start, end) in segments {
            let values = operands.iter().map(|operand| self.rows_at(operand, start, end)).collect();
            let mut shape = vec![end - start];
            shape.extend(model.local.columns.iter().map(ExactSizeIterator::len));
            let ty = local_type(&array, &shape);
            let value = self.to.one(local_op(&operation.op), values, ty);
            made.push((start, Piece { rows: end - start, value }));
        }
        made.sort_by_key(|(start, _)| *start);
        let mut local = model.local;
        (local.rows, local.invented) = ([0, rows, 0], true);
        local.everywhere = self.facts.local(result).is_some_and(|local| local.everywhere);
        let pieces = made.into_iter().map(|(_, piece)| piece).collect();
        let held = Held { local, parts: [Vec::new(), pieces, Vec::new()] };
        self.keep(result, held, &array);
        Ok(())
    }

    fn operand(
        &mut self,
        operation: &Operation,
        value: Value,
        result: &crate::ArrayType,
    ) -> Result<Operand, PassError> {
        let Some(array) = self.spread(value).filter(|array| array.ndim() > 0) else {
            if self.to.function.ty(value).shape().is_empty() {
                return Ok(Operand::Same(self.to.now(value)));
            }
            return self.refuse(operation, "got a distributed and a local array");
        };
        let Some(held) = self.held.get(&value) else {
            return self.refuse(operation, "got an array whose parts are not known");
        };
        let pieces = held.pieces();
        if !array.is_unit() || result.is_unit() {
            let same = array.shape == result.shape;
            return match same {
                true => Ok(Operand::Rows(pieces)),
                false => self.refuse(operation, "got arrays of different shapes"),
            };
        }
        match pieces[..] {
            [piece] => Ok(Operand::Same(piece.value)),
            _ => self.refuse(operation, "got one element that not every member has"),
        }
    }

    /// The core's rows.
    fn core(
        &self,
        operation: &Operation,
        arity: usize,
        rows: usize,
    ) -> Result<std::ops::Range<usize>, PassError> {
        let given = &operation.operands[arity..];
        if given.is_empty() {
            return Ok(0..0);
        }
        let ndim = given.len() / 3;
        match self.facts.ranges(&given[..2 * ndim]) {
            Some(core) if core[0].end <= rows => Ok(core[0].clone()),
            Some(core) => {
                let reason = format!("got a core up to row {} of {rows}", core[0].end);
                self.refuse(operation, reason)
            }
            None => self.refuse(operation, "got a core that is not known"),
        }
    }

    fn rows_at(&mut self, operand: &Operand, start: usize, end: usize) -> Value {
        match operand {
            Operand::Same(value) => *value,
            Operand::Rows(pieces) => {
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
