//! Why an array cannot be, before it is known where that was written.

use std::fmt;

use pantile_ir::infer::{ShapeError, TypeError};
use pantile_ir::{Binary, DType};
use pantile_lower::LowerErrorKind;

use super::Number;
use super::blocks::FARTHEST;

/// Why an array cannot be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "a sentence names the fields of its variant")]
pub enum ArrayError {
    /// An operation is not defined for its elements.
    Type(TypeError),
    /// The shapes of operands do not fit.
    Shape(ShapeError),
    /// The operands of a function have these shapes.
    Operands { function: Binary, shapes: [Vec<usize>; 2], error: Box<ShapeError> },
    /// Matrices of these shapes have no product.
    MatMul(ShapeError),
    /// Vectors of these shapes have no product.
    VecDot { shapes: [Vec<usize>; 2] },
    /// Axes that do not go together.
    TensorDot { shapes: [Vec<usize>; 2], axes: [Vec<usize>; 2] },
    /// A mesh names a rank that cannot be made.
    Rank { rank: usize, ranks: usize },
    /// It cannot live there.
    Home(LowerErrorKind),
    /// A condition is not of type bool.
    Condition { got: DType },
    /// A stencil does not fit its array.
    Stencil { shape: Vec<usize>, dtype: DType },
    /// A shape of another number of elements.
    Reshape { got: Vec<usize>, own: Vec<usize> },
    /// A shape that an array cannot be repeated to.
    Broadcast { own: Vec<usize>, wanted: Vec<usize> },
    /// Reduced axes that do not exist, or are named twice.
    ReducedAxes { reduction: &'static str, axes: Vec<usize>, shape: Vec<usize> },
    /// More elements than can be counted.
    TooManyElements { shape: Vec<usize> },
    /// A range without an end, or of complex numbers.
    Arange { start: Number, stop: Number, step: Number },
    /// A slice of more axes than the array has.
    SliceAxes { got: usize, shape: Vec<usize> },
    /// An index beyond the axis.
    Index { axis: usize, index: i64, length: usize },
    /// A slice with step 0.
    SliceStep { axis: usize },
    /// A function is applied to blocks of no array.
    NoArrays,
    /// A function is applied to blocks of arrays of different shapes.
    Shapes { one: Vec<usize>, other: Vec<usize> },
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(error) => error.fmt(f),
            Self::Shape(error) => error.fmt(f),
            Self::Operands { function, shapes: [one, other], error } => {
                write!(f, "{function} of shapes {one:?} and {other:?}: {error}")
            }
            Self::MatMul(error) => write!(f, "matmul: {error}"),
            Self::VecDot { shapes: [one, two] } => write!(
                f,
                "vecdot of shapes {one:?} and {two:?}, expected last axes of equal length"
            ),
            Self::TensorDot { shapes: [one, two], axes: [axes, other_axes] } => write!(
                f,
                "tensordot of shapes {one:?} and {two:?} over axes {axes:?} and {other_axes:?}, \
                 expected as many different axes on both sides, of equal lengths"
            ),
            Self::Rank { rank, ranks } => {
                write!(f, "got rank {rank}, expected ranks below {ranks}")
            }
            Self::Home(error) => error.fmt(f),
            Self::Condition { got } => write!(f, "got a condition of type {got}, expected bool"),
            Self::Stencil { shape, dtype } => write!(
                f,
                "a stencil of an array of shape {shape:?} and type {dtype}: expected one offset per axis of at most {FARTHEST}, and floats"
            ),
            Self::Reshape { got, own } => {
                write!(f, "got {got:?} for the elements of shape {own:?}")
            }
            Self::Broadcast { own, wanted } => {
                write!(f, "shape {own:?} does not broadcast to {wanted:?}")
            }
            Self::ReducedAxes { reduction, axes, shape } => write!(
                f,
                "{reduction} along {axes:?} of shape {shape:?}, expected different axes of it"
            ),
            Self::TooManyElements { shape } => {
                write!(f, "got shape {shape:?}, expected at most {} elements", isize::MAX)
            }
            Self::Arange { start, stop, step } => {
                let [start, stop, step] = [start, stop, step].map(|number| number.text());
                write!(
                    f,
                    "got arange({start}, {stop}, {step}), expected finitely many real numbers"
                )
            }
            Self::SliceAxes { got, shape } => write!(
                f,
                "got a slice of {got} axes, expected at most the {} of shape {shape:?}",
                shape.len()
            ),
            Self::Index { axis, index, length } => {
                write!(f, "axis {axis}: index {index} is not among its {length}")
            }
            Self::SliceStep { axis } => write!(f, "axis {axis}: got step 0, expected another"),
            Self::NoArrays => f.write_str("got no arrays, expected at least one"),
            Self::Shapes { one, other } => {
                write!(f, "got arrays of shapes {one:?} and {other:?}, expected the same")
            }
        }
    }
}

impl From<TypeError> for ArrayError {
    fn from(error: TypeError) -> Self {
        Self::Type(error)
    }
}

impl From<ShapeError> for ArrayError {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_was_got_and_what_was_expected() {
        let check = |error: ArrayError, text: &str| assert_eq!(error.to_string(), text);
        let error = Box::new(ShapeError::Lengths { axis: 0, one: 2, other: 3 });
        let shapes = [vec![2], vec![3]];
        check(
            ArrayError::Operands { function: Binary::Add, shapes, error },
            "add of shapes [2] and [3]: lengths 2 and 3 of axis 0 do not go together, expected equal ones or 1",
        );
        check(
            ArrayError::Stencil { shape: vec![4], dtype: DType::I64 },
            "a stencil of an array of shape [4] and type i64: expected one offset per axis of at most 2147483648, and floats",
        );
        check(ArrayError::SliceStep { axis: 2 }, "axis 2: got step 0, expected another");
        check(
            ArrayError::Shapes { one: vec![2], other: vec![3] },
            "got arrays of shapes [2] and [3], expected the same",
        );
        check(
            ArrayError::SliceAxes { got: 3, shape: vec![4, 5] },
            "got a slice of 3 axes, expected at most the 2 of shape [4, 5]",
        );
        check(
            ArrayError::Index { axis: 1, index: -9, length: 5 },
            "axis 1: index -9 is not among its 5",
        );
        check(ArrayError::NoArrays, "got no arrays, expected at least one");
    }
}
