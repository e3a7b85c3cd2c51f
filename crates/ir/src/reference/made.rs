//! Numbers taken from arrays, and arrays made from numbers.

use pantile_lanes::DType;

use super::machine::{Frame, Machine};
use super::{Array, EvaluationError, OperandError, StructureError};
use crate::{Op, Operation};

impl<'p> Machine<'p> {
    /// A number of an array: one of its lengths, or one of its elements.
    pub(super) fn element(
        &mut self,
        frame: &Frame<'p>,
        operation: &Operation,
    ) -> Result<Array, EvaluationError> {
        let of = self.array(frame, operation, 0)?;
        let at = (1..operation.operands.len()).map(|at| self.index(frame, operation, at));
        let at: Vec<i64> = at.collect::<Result<_, _>>()?;
        let index: Option<Vec<usize>> = at.iter().map(|at| usize::try_from(*at).ok()).collect();
        let beyond = || OperandError::Index { at: at.clone(), shape: of.shape.clone() };
        let index = index.ok_or_else(beyond)?;
        if operation.op == Op::Dim {
            let length = index.first().and_then(|axis| of.shape.get(*axis)).ok_or_else(beyond)?;
            let length = i64::try_from(*length)?;
            return Ok(Array::of(&[], &[length]));
        }
        let inside = index.len() == of.shape.len()
            && index.iter().zip(&of.shape).all(|(at, length)| at < length);
        if !inside {
            return Err(beyond().into());
        }
        let value = of.data[super::arrays::number(&of.shape, &index)];
        Ok(Array { dtype: of.dtype, shape: Vec::new(), data: vec![value] })
    }

    /// What is made from nothing but scalars.
    pub(super) fn created(
        &mut self,
        frame: &Frame<'p>,
        operation: &Operation,
        dtype: DType,
    ) -> Result<Array, EvaluationError> {
        let count = operation.operands.len();
        match &operation.op {
            Op::Create { value } => {
                let lengths = count.saturating_sub(usize::from(*value));
                let shape = self.lengths(frame, operation, (0, lengths))?;
                let value = value.then(|| self.array(frame, operation, lengths)).transpose()?;
                self.filled(&shape, value.as_ref(), dtype)
            }
            Op::Linspace { endpoint } => {
                let [start, stop] = self.arrays(frame, operation)?;
                let number = self.index(frame, operation, 2)?;
                self.linspace((&start, &stop), number, *endpoint, dtype)
            }
            op => {
                let shape = self.lengths(frame, operation, (0, 0))?;
                match op {
                    Op::Arange => {
                        let [start, step] = self.arrays(frame, operation)?;
                        self.arange(&start, &step, &shape, dtype)
                    }
                    Op::Eye { k } => self.eye(&shape, *k, dtype),
                    Op::IndexAlong { axis } => self.index_along(&shape, *axis, dtype),
                    Op::Random { kind, stream } => {
                        let [seed] = self.arrays(frame, operation)?;
                        self.random(&seed, &shape, (*kind, *stream), dtype)
                    }
                    other => Err(StructureError::OfMember { op: other.name() }.into()),
                }
            }
        }
    }
}
