//! Loops: turns, and what goes from one to the next.

use pantile_ir::{Operation, Scalar};

use crate::error::OperationFault;
use crate::frame::{ValueFrame, wrong};
use crate::held::MemberValue;
use crate::machine::{MemberMachine, copied};

impl<'p> MemberMachine<'p, '_> {
    /// `scf.for`.
    pub(crate) fn repeat(
        &mut self,
        frame: &mut ValueFrame<'p>,
        operation: &'p Operation,
    ) -> Result<(), OperationFault> {
        let [lower, upper, step] = [0, 1, 2].map(|at| frame.index(operation, at));
        let (lower, upper, step) = (lower?, upper?, step?);
        if step < 1 {
            return Err(OperationFault::Number { got: step, expected: "a step from 1 on" });
        }
        let block = operation.blocks.first().ok_or(OperationFault::NoRule)?;
        let mut carried = entering(frame, operation, 3)?;
        let mut at = Some(lower).filter(|at| *at < upper);
        while let Some(counter) = at {
            let mut arguments = vec![MemberValue::Number(Scalar::of(counter))];
            arguments.extend(carried);
            frame.set_all(&block.arguments, arguments)?;
            carried = self.block(frame, block)?;
            at = counter.checked_add(step).filter(|at| *at < upper);
        }
        frame.set_all(&operation.results, carried)
    }

    /// `scf.while`.
    pub(crate) fn repeat_while(
        &mut self,
        frame: &mut ValueFrame<'p>,
        operation: &'p Operation,
    ) -> Result<(), OperationFault> {
        let [before, after] = &operation.blocks[..] else { return Err(OperationFault::NoRule) };
        let mut carried = entering(frame, operation, 0)?;
        loop {
            frame.set_all(&before.arguments, carried)?;
            let mut passed = self.block(frame, before)?;
            if passed.is_empty() {
                return Err(OperationFault::NoRule);
            }
            let truth = passed.remove(0);
            let goes_on = match &truth {
                MemberValue::Number(scalar) => scalar.get::<bool>(),
                _ => None,
            };
            if !goes_on.ok_or_else(|| wrong(0, &truth, "a truth"))? {
                return frame.set_all(&operation.results, passed);
            }
            frame.set_all(&after.arguments, passed)?;
            carried = self.block(frame, after)?;
        }
    }
}

/// What enters a loop: arrays of their own.
fn entering(
    frame: &ValueFrame<'_>,
    operation: &Operation,
    first: usize,
) -> Result<Vec<MemberValue>, OperationFault> {
    (first..operation.operands.len()).map(|at| copied(frame.operand(operation, at)?)).collect()
}
