//! Loops: turns, and what goes from one to the next.

use pantile_lanes::Scalar;

use super::arrays::View;
use super::machine::{Frame, Held, Machine};
use super::{Array, EvaluationError, OperandError, StructureError};
use crate::Operation;

impl<'p> Machine<'p> {
    /// `scf.for`.
    pub(super) fn repeat(
        &mut self,
        frame: &mut Frame<'p>,
        operation: &'p Operation,
    ) -> Result<(), EvaluationError> {
        let [lower, upper, step] = [0, 1, 2].map(|at| self.index(frame, operation, at));
        let (lower, upper, step) = (lower?, upper?, step?);
        if step < 1 {
            return Err(OperandError::Step { got: step }.into());
        }
        let block = operation.blocks.first().ok_or(StructureError::LoopWithoutBlock)?;
        let mut carried = self.carried(frame, operation, 3)?;
        let mut at = Some(lower).filter(|at| *at < upper);
        while let Some(counter) = at {
            self.spend(1)?;
            let mut arguments = vec![Held::Array(View::new(Array::of(&[], &[counter])))];
            arguments.extend(carried);
            frame.set_all(&block.arguments, arguments)?;
            carried = self.block(frame, block)?;
            at = counter.checked_add(step).filter(|at| *at < upper);
        }
        frame.set_all(&operation.results, carried)
    }

    /// `scf.while`.
    pub(super) fn repeat_while(
        &mut self,
        frame: &mut Frame<'p>,
        operation: &'p Operation,
    ) -> Result<(), EvaluationError> {
        let [before, after] = &operation.blocks[..] else {
            return Err(StructureError::LoopBlocks { got: operation.blocks.len() }.into());
        };
        let mut carried = self.carried(frame, operation, 0)?;
        loop {
            self.spend(1)?;
            frame.set_all(&before.arguments, carried)?;
            let mut passed = self.block(frame, before)?;
            if passed.is_empty() {
                return Err(StructureError::NoCondition.into());
            }
            let truth = match passed.remove(0) {
                Held::Array(view) => view.read().data.first().and_then(Scalar::get::<bool>),
                Held::OfMember => None,
            };
            if !truth.ok_or(OperandError::LoopCondition)? {
                return frame.set_all(&operation.results, passed);
            }
            frame.set_all(&after.arguments, passed)?;
            carried = self.block(frame, after)?;
        }
    }

    /// What enters a loop: arrays of their own.
    fn carried(
        &mut self,
        frame: &Frame<'p>,
        operation: &Operation,
        first: usize,
    ) -> Result<Vec<Held>, EvaluationError> {
        let mut carried = Vec::new();
        for at in first..operation.operands.len() {
            carried.push(match self.held(frame, operation, at)? {
                Held::Array(view) => {
                    self.spend(view.size())?;
                    Held::Array(view.copy())
                }
                Held::OfMember => Held::OfMember,
            });
        }
        Ok(carried)
    }
}
