//! The types of products of matrices.

use pantile_lanes::{DType, promote};

use super::{broadcast, shape_text};
use crate::Dim;

/// The type of the elements of a product, and the type that it is computed in.
///
/// # Errors
/// If both operands are truth values.
pub fn matmul_dtype(left: DType, right: DType) -> Result<DType, String> {
    match promote(left, right) {
        DType::Bool => Err("matmul is not defined for elements of type bool".to_owned()),
        dtype => Ok(dtype),
    }
}

/// The shape of a product: rows and columns of the last two axes, the others together. The only axis
/// of a left operand is a row, that of a right operand a column; the result has no axis for it.
///
/// # Errors
/// If an operand has no axis, the contracted axes have unequal lengths, or the others do not go together.
pub fn matmul_shape(left: &[Dim], right: &[Dim]) -> Result<Vec<Dim>, String> {
    if left.is_empty() || right.is_empty() {
        return Err(format!(
            "got operands of {} and {} axes, expected at least 1 each",
            left.len(),
            right.len()
        ));
    }
    let (one, other) = (left.len() - 1, right.len().saturating_sub(2));
    if let (Some(terms), Some(got)) = (left[one], right[other])
        && terms != got
    {
        return Err(format!(
            "got shapes {} and {}: axis {one} of the left has {terms} elements, axis {other} of the right {got}, expected equally many",
            shape_text(left),
            shape_text(right)
        ));
    }
    let outer = |shape: &[Dim]| shape[..shape.len().saturating_sub(2)].to_vec();
    let mut shape = broadcast(&[&outer(left), &outer(right)])?;
    shape.extend(left.len().checked_sub(2).map(|rows| left[rows]));
    shape.extend((right.len() > 1).then(|| right[right.len() - 1]));
    Ok(shape)
}
