//! The types of products of matrices.

use pantile_lanes::{DType, promote};

use super::{ShapeError, TypeError, broadcast};
use crate::Dim;

/// The type of the elements of a product, and the type that it is computed in.
///
/// # Errors
/// If both operands are truth values.
pub fn matmul_dtype(left: DType, right: DType) -> Result<DType, TypeError> {
    match promote(left, right) {
        DType::Bool => Err(TypeError::NotDefined { what: "matmul", of: DType::Bool }),
        dtype => Ok(dtype),
    }
}

/// The shape of a product: rows and columns of the last two axes, the others together. The only axis
/// of a left operand is a row, that of a right operand a column; the result has no axis for it.
///
/// # Errors
/// If an operand has no axis, the contracted axes have unequal lengths, or the others do not go together.
pub fn matmul_shape(left: &[Dim], right: &[Dim]) -> Result<Vec<Dim>, ShapeError> {
    if left.is_empty() || right.is_empty() {
        return Err(ShapeError::MatMulAxes { left: left.len(), right: right.len() });
    }
    let (one, other) = (left.len() - 1, right.len().saturating_sub(2));
    if let (Some(terms), Some(got)) = (left[one], right[other])
        && terms != got
    {
        let (left, right) = (left.to_vec(), right.to_vec());
        let (axes, lengths) = ([one, other], [terms, got]);
        return Err(ShapeError::Contracted { left, right, axes, lengths });
    }
    let outer = |shape: &[Dim]| shape[..shape.len().saturating_sub(2)].to_vec();
    let mut shape = broadcast(&[&outer(left), &outer(right)])?;
    shape.extend(left.len().checked_sub(2).map(|rows| left[rows]));
    shape.extend((right.len() > 1).then(|| right[right.len() - 1]));
    Ok(shape)
}
