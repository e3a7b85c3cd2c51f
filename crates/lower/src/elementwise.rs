//! Functions of elements, broadcast to a common shape.

use pantile_lanes::{Binary, DType, Unary};

use super::expr::{ExprId, Kind};
use super::{IndexMap, LowerErrorKind, Lowering, OperationError};
use pantile_ir::Operation;
use pantile_ir::infer::{self, ShapeError};

impl Lowering<'_> {
    /// The expression seen at a larger shape, aligned at the last axes.
    pub(crate) fn broadcast_to(
        &mut self,
        expr: ExprId,
        shape: &[usize],
    ) -> Result<ExprId, LowerErrorKind> {
        if self.exprs[expr].shape == shape {
            return Ok(expr);
        }
        let size = |shape: &[usize]| shape.iter().product::<usize>();
        let smaller = size(&self.exprs[expr].shape).saturating_mul(2) <= size(shape);
        let again = self.exprs.depth(expr) == 0 || self.is_spread(expr);
        let expr = if smaller && !again { self.stored(expr)? } else { expr };
        let own = self.exprs[expr].shape.clone();
        let lead = shape.len().checked_sub(own.len()).ok_or(OperationError::BroadcastAxes)?;
        let map: Vec<IndexMap> = own
            .iter()
            .enumerate()
            .map(|(axis, length)| match (*length, shape[lead + axis]) {
                (1, other) if other != 1 => IndexMap::Fixed(0),
                _ => IndexMap::Moves { axis: lead + axis, offset: 0, step: 1 },
            })
            .collect();
        Ok(self.exprs.view(expr, &map, shape))
    }

    pub(crate) fn known_shape(&self, exprs: &[ExprId]) -> Result<Vec<usize>, ShapeError> {
        let shapes: Vec<Vec<Option<usize>>> = exprs
            .iter()
            .map(|expr| self.exprs[*expr].shape.iter().copied().map(Some).collect())
            .collect();
        let shapes: Vec<&[Option<usize>]> = shapes.iter().map(Vec::as_slice).collect();
        Ok(infer::broadcast(&shapes)?.into_iter().flatten().collect())
    }

    pub(crate) fn wanted(&self, operation: &Operation) -> Option<DType> {
        self.function.ty(*operation.results.first()?).dtype()
    }

    pub(crate) fn operands(&self, operation: &Operation) -> Result<Vec<ExprId>, OperationError> {
        operation.operands.iter().map(|value| self.value(*value)).collect()
    }

    pub(crate) fn operand(
        &self,
        operation: &Operation,
        number: usize,
    ) -> Result<ExprId, OperationError> {
        let value = operation.operands.get(number);
        self.value(*value.ok_or(OperationError::MissingOperand { number })?)
    }

    pub(crate) fn unary(
        &mut self,
        function: Unary,
        of: ExprId,
        wanted: Option<DType>,
    ) -> Result<ExprId, LowerErrorKind> {
        let (compute, result) = infer::unary_types(function, self.exprs[of].dtype, wanted)?;
        let of = self.exprs.cast(of, compute);
        let shape = self.exprs[of].shape.clone();
        Ok(self.exprs.add(Kind::Unary(function, of), result, &shape))
    }

    pub(crate) fn binary(
        &mut self,
        function: Binary,
        one: ExprId,
        other: ExprId,
        wanted: Option<DType>,
    ) -> Result<ExprId, LowerErrorKind> {
        let pair = (self.exprs[one].dtype, self.exprs[other].dtype);
        let (compute, result) = infer::binary_types(function, pair, wanted)?;
        let shape = self.known_shape(&[one, other])?;
        let (one, other) = (self.exprs.cast(one, compute), self.exprs.cast(other, compute));
        let (one, other) = (self.broadcast_to(one, &shape)?, self.broadcast_to(other, &shape)?);
        Ok(self.exprs.add(Kind::Binary(function, one, other), result, &shape))
    }

    pub(crate) fn choose(
        &mut self,
        which: ExprId,
        yes: ExprId,
        no: ExprId,
        dtype: DType,
    ) -> Result<ExprId, LowerErrorKind> {
        let shape = self.known_shape(&[which, yes, no])?;
        let (yes, no) = (self.exprs.cast(yes, dtype), self.exprs.cast(no, dtype));
        let which = self.broadcast_to(which, &shape)?;
        let (yes, no) = (self.broadcast_to(yes, &shape)?, self.broadcast_to(no, &shape)?);
        Ok(self.exprs.add(Kind::Select(which, yes, no), dtype, &shape))
    }
}
