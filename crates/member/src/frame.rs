//! The values of a function while it runs, and what operations take of them.

use pantile_ir::{Function, Operation, Scalar, Type, Value};

use crate::error::OperationFault;
use crate::held::{MemberValue, PartedArray};
use crate::local::LocalArray;

/// A function while it runs.
pub(crate) struct ValueFrame<'p> {
    function: &'p Function,
    values: Vec<Option<MemberValue>>,
}

impl<'p> ValueFrame<'p> {
    pub(crate) fn new(function: &'p Function) -> Self {
        Self { function, values: vec![None; function.values.len()] }
    }

    pub(crate) fn ty(&self, value: Value) -> &'p Type {
        self.function.ty(value)
    }

    /// The declared type of a result.
    pub(crate) fn result_type(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<&'p Type, OperationFault> {
        let value = operation.results.get(at).ok_or(OperationFault::NoRule)?;
        Ok(self.ty(*value))
    }

    /// Gives a value what it is, which has to be what its type says.
    pub(crate) fn set(&mut self, value: Value, held: MemberValue) -> Result<(), OperationFault> {
        let ty = self.ty(value);
        let held = match (held, ty) {
            // An array without axes is an element, and an element such an array.
            (MemberValue::Number(scalar), Type::Array(_)) => {
                MemberValue::Local(number_array(&scalar)?)
            }
            (held, _) => held,
        };
        held.check(ty)?;
        self.values[value.index()] = Some(held);
        Ok(())
    }

    pub(crate) fn set_all(
        &mut self,
        values: &[Value],
        held: Vec<MemberValue>,
    ) -> Result<(), OperationFault> {
        if values.len() != held.len() {
            let (got, expected) = (vec![held.len()], vec![values.len()]);
            return Err(OperationFault::Shapes { got, expected });
        }
        values.iter().zip(held).try_for_each(|(value, held)| self.set(*value, held))
    }

    /// What a value is.
    pub(crate) fn get(&self, value: Value) -> Result<&MemberValue, OperationFault> {
        self.values.get(value.index()).and_then(Option::as_ref).ok_or(OperationFault::Unset)
    }

    /// What an operand is.
    pub(crate) fn operand(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<&MemberValue, OperationFault> {
        self.get(*operation.operands.get(at).ok_or(OperationFault::Unset)?)
    }

    /// The local array that an operand is.
    pub(crate) fn local(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<LocalArray, OperationFault> {
        match self.operand(operation, at)? {
            MemberValue::Local(array) => Ok(array.clone()),
            MemberValue::Number(scalar) => number_array(scalar),
            other => Err(wrong(at, other, "a local array")),
        }
    }

    /// The distributed array that an operand is.
    pub(crate) fn parts(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<PartedArray, OperationFault> {
        match self.operand(operation, at)? {
            MemberValue::Parts(array) => Ok(array.clone()),
            other => Err(wrong(at, other, "a distributed array")),
        }
    }

    /// The whole number that an operand is.
    pub(crate) fn index(&self, operation: &Operation, at: usize) -> Result<i64, OperationFault> {
        let held = self.operand(operation, at)?;
        let found = match held {
            MemberValue::Number(scalar) => scalar.get::<i64>(),
            _ => None,
        };
        found.ok_or_else(|| wrong(at, held, "an index"))
    }

    /// Lengths and offsets that operands are.
    pub(crate) fn counts(
        &self,
        operation: &Operation,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<usize>, OperationFault> {
        let count = |at: usize| count(self.index(operation, at)?);
        range.map(count).collect()
    }
}

/// A number that counts something.
pub(crate) fn count(got: i64) -> Result<usize, OperationFault> {
    usize::try_from(got).map_err(|_| OperationFault::Number { got, expected: "0 or more" })
}

/// An array without axes.
pub(crate) fn number_array(scalar: &Scalar) -> Result<LocalArray, OperationFault> {
    let tile = pantile_engine::Tile::from_bytes(scalar.dtype(), scalar.as_bytes());
    LocalArray::new(&[], tile.ok_or(OperationFault::Unset)?)
}

pub(crate) fn wrong(at: usize, held: &MemberValue, expected: &'static str) -> OperationFault {
    OperationFault::Operand { at, got: held.kind(), expected }
}
