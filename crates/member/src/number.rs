//! Arithmetic on numbers.

use pantile_dialect::scalars;
use pantile_ir::{Op, Operation, Scalar, Type};

use crate::error::OperationFault;
use crate::frame::ValueFrame;
use crate::held::MemberValue;
use crate::machine::MemberMachine;

impl<'p> MemberMachine<'p, '_> {
    /// `arith.*`: a number made of numbers.
    pub(crate) fn number(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
    ) -> Result<MemberValue, OperationFault> {
        let of: Option<Vec<Scalar>> = (0..operation.operands.len())
            .map(|at| match frame.operand(operation, at) {
                Ok(MemberValue::Number(scalar)) => Some(*scalar),
                _ => None,
            })
            .collect();
        let wanted = frame.result_type(operation, 0)?.dtype();
        let known = match (&operation.op, of.as_deref(), wanted) {
            (Op::Arith(arith), Some(of @ [_] | of @ [_, _]), _) => scalars::arith(*arith, of),
            (Op::Compare(predicate), Some([x, y]), _) => scalars::compare(*predicate, x, y),
            (Op::SelectScalar, Some([truth, yes, no]), _) => {
                truth.get::<bool>().map(|truth| if truth { *yes } else { *no })
            }
            (Op::Convert, Some([x]), Some(wanted)) if x.dtype() == wanted => Some(*x),
            (Op::Convert, Some([x]), Some(wanted)) => scalars::convert(x, wanted),
            _ => None,
        };
        match known.filter(|scalar| Some(scalar.dtype()) == wanted) {
            Some(scalar) => Ok(MemberValue::Number(scalar)),
            // What depends on the machine, the kernels say.
            None => self.alone(frame, operation)?.pop().ok_or(OperationFault::NoRule),
        }
    }
}

/// True for a type of numbers.
pub(crate) fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Index | Type::Scalar(_))
}
