//! Arrays made from nothing.

use pantile_lanes::{Binary, DType, Scalar};

use super::expr::{ExprId, Kind};
use super::{LowerErrorKind, Lowering, OperationError};
use pantile_ir::{Op, Operation, Value};

impl Lowering<'_> {
    pub(crate) fn declared_shape(
        &self,
        operation: &Operation,
    ) -> Result<Vec<usize>, LowerErrorKind> {
        let shape = self.function.ty(operation.results[0]).shape();
        shape
            .iter()
            .copied()
            .collect::<Option<_>>()
            .ok_or_else(|| OperationError::UnknownLength.into())
    }

    /// Lengths given as operands, or those of the type.
    pub(crate) fn lengths(
        &self,
        operation: &Operation,
        given: &[Value],
    ) -> Result<Vec<usize>, LowerErrorKind> {
        let ndim = self.function.ty(operation.results[0]).shape().len();
        if given.len() < ndim {
            return self.declared_shape(operation);
        }
        given[..ndim]
            .iter()
            .map(|value| {
                let length = self.index(*value)?;
                usize::try_from(length).map_err(|_| OperationError::Length { got: length }.into())
            })
            .collect()
    }

    /// What an operation makes from nothing; lives where its type says, if it says so.
    pub(crate) fn creation(&mut self, operation: &Operation) -> Result<ExprId, LowerErrorKind> {
        let expr = self.created(operation)?;
        let ty = self.function.ty(operation.results[0]);
        let shape = self.exprs[expr].shape.clone();
        // Constants and indices cost nothing: loops make them where they need them.
        match self.declared_home(ty, &shape)? {
            Some(home) if ty.as_array().is_some() && !shape.is_empty() => self.at(expr, &home),
            _ => Ok(expr),
        }
    }

    pub(crate) fn created(&mut self, operation: &Operation) -> Result<ExprId, LowerErrorKind> {
        let dtype = self.wanted(operation).ok_or(OperationError::NoElements)?;
        match &operation.op {
            Op::Create { value } => {
                let lengths = operation.operands.len() - usize::from(*value);
                let shape = self.lengths(operation, &operation.operands[..lengths])?;
                let zero = zero(dtype)?;
                let of = match value {
                    true => self.operand(operation, operation.operands.len() - 1)?,
                    false => self.exprs.constant(zero, &[]),
                };
                let of = self.exprs.cast(of, dtype);
                self.broadcast_to(of, &shape)
            }
            Op::Linspace { endpoint } => self.linspace(operation, *endpoint, dtype),
            Op::Arange => {
                let shape = self.declared_shape(operation)?;
                let (start, step) = (self.operand(operation, 0)?, self.operand(operation, 1)?);
                let (start, step) = (self.exprs.cast(start, dtype), self.exprs.cast(step, dtype));
                let index =
                    self.exprs.add(Kind::Index { offset: 0, strides: vec![1] }, DType::I64, &shape);
                let index = self.exprs.cast(index, dtype);
                let way = self.binary(Binary::Multiply, index, step, Some(dtype))?;
                self.binary(Binary::Add, start, way, Some(dtype))
            }
            Op::Eye { k } => {
                let shape = self.declared_shape(operation)?;
                if shape.len() != 2 {
                    return Err(OperationError::EyeAxes { got: shape.len() }.into());
                }
                let kind = Kind::Index { offset: -k, strides: vec![-1, 1] };
                let index = self.exprs.add(kind, DType::I64, &shape);
                let zero = self.exprs.constant(Scalar::of(0i64), &[]);
                let on = self.binary(Binary::Equal, index, zero, None)?;
                Ok(self.exprs.cast(on, dtype))
            }
            Op::Random { kind, stream } => {
                let shape = self.declared_shape(operation)?;
                let seed = self.operand(operation, 0)?;
                let seed = self.exprs.cast(seed, DType::U64);
                let seed = self.broadcast_to(seed, &shape)?;
                let index = Kind::Index { offset: 0, strides: row_major(&shape) };
                let index = self.exprs.add(index, DType::I64, &shape);
                let index = self.exprs.cast(index, DType::U64);
                let number = Kind::Random(*kind, *stream, seed, index);
                let number = self.exprs.add(number, DType::F64, &shape);
                match dtype {
                    DType::F32 | DType::F64 => Ok(self.exprs.cast(number, dtype)),
                    dtype => Err(OperationError::RandomType { dtype }.into()),
                }
            }
            Op::IndexAlong { axis } => {
                let shape = self.declared_shape(operation)?;
                let mut strides = vec![0; shape.len()];
                let (number, ndim) = (i64::try_from(*axis)?, shape.len());
                let none = OperationError::Axis { axis: number, ndim };
                *strides.get_mut(*axis).ok_or(none)? = 1;
                let index = self.exprs.add(Kind::Index { offset: 0, strides }, DType::I64, &shape);
                Ok(self.exprs.cast(index, dtype))
            }
            other => Err(OperationError::NotCreation(Box::new(other.clone())).into()),
        }
    }

    pub(crate) fn linspace(
        &mut self,
        operation: &Operation,
        endpoint: bool,
        dtype: DType,
    ) -> Result<ExprId, LowerErrorKind> {
        let number = self.index(operation.operands[2])?;
        let length = usize::try_from(number).map_err(|_| OperationError::Count { got: number })?;
        let compute =
            if matches!(dtype, DType::C64 | DType::C128) { DType::C128 } else { DType::F64 };
        let (start, stop) = (self.operand(operation, 0)?, self.operand(operation, 1)?);
        let (start, stop) = (self.exprs.cast(start, compute), self.exprs.cast(stop, compute));
        let parts = (number - i64::from(endpoint)).max(1);
        let parts = self.exprs.constant(Scalar::of(parts), &[]);
        let parts = self.exprs.cast(parts, compute);
        let range = self.binary(Binary::Subtract, stop, start, None)?;
        let step = self.binary(Binary::Divide, range, parts, None)?;
        let shape = [length];
        let index = self.exprs.add(Kind::Index { offset: 0, strides: vec![1] }, DType::I64, &shape);
        let count = self.exprs.cast(index, compute);
        let way = self.binary(Binary::Multiply, count, step, None)?;
        let mut value = self.binary(Binary::Add, start, way, None)?;
        if endpoint && number > 1 {
            let last = self.exprs.constant(Scalar::of(number - 1), &[]);
            let is_last = self.binary(Binary::Equal, index, last, None)?;
            value = self.choose(is_last, stop, value, compute)?;
        }
        Ok(self.exprs.cast(value, dtype))
    }
}

/// The zero of a type.
pub(super) fn zero(dtype: DType) -> Result<Scalar, OperationError> {
    let zero = Scalar::from_bytes(dtype, &vec![0; dtype.bytes()]);
    zero.ok_or(OperationError::NoZero { dtype })
}

/// Strides of the row-major number of an element.
pub(crate) fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        let below = i64::try_from(shape[axis + 1]).unwrap_or(i64::MAX);
        strides[axis] = strides[axis + 1].wrapping_mul(below);
    }
    strides
}
