//! Products of matrices, vectors and tensors.

use pantile_engine::DType;
use pantile_ir::infer::{self, TypeError};
use pantile_ir::{Op, Place, Type};
use smallvec::smallvec;

use super::error::ArrayError;
use super::fault::Fault;
use super::node::Node;
use super::{Array, here};

impl Array {
    /// The product of matrices: rows of this times columns of the other, over the last two axes. The
    /// axes before them are broadcast; a vector is a row on the left and a column on the right, and
    /// has no axis in the result. The product of two vectors is the exact sum of the products of their
    /// elements; else every element is a chain of fused multiply-adds in a fixed order. Integers wrap;
    /// bool has no products.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.dist("block(r), whole").from_vec(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    /// let x = world.from_vec(&[2], &[5.0, 6.0]);
    /// assert_eq!(a.matmul(&x).to_vec::<f64>()?, [17.0, 39.0]);
    /// assert_eq!(a.t().matmul(&a).to_vec::<f64>()?, [10.0, 14.0, 14.0, 20.0]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn matmul(&self, other: &Self) -> Self {
        self.matmul_at(other, here())
    }

    fn matmul_at(&self, other: &Self, place: Place) -> Self {
        let dims =
            |array: &Self| -> Vec<Option<usize>> { array.shape().into_iter().map(Some).collect() };
        let dtype = infer::matmul_dtype(self.dtype(), other.dtype()).map_err(ArrayError::Type);
        let ty = dtype.and_then(|dtype| {
            let shape =
                infer::matmul_shape(&dims(self), &dims(other)).map_err(ArrayError::MatMul)?;
            Ok(Type::array(&shape.into_iter().flatten().collect::<Vec<_>>(), dtype))
        });
        let operands = smallvec![self.node(&place), other.node(&place)];
        Self::record(&self.world, Op::MatMul, operands, ty, place)
    }

    /// The sum of the products of elements along the last axis, which is equally long on both sides;
    /// the axes before it are broadcast. Of complex numbers this side is conjugated. Of floats it is
    /// the exact sum of products that are rounded once; integers wrap.
    #[track_caller]
    #[must_use]
    pub fn vecdot(&self, other: &Self) -> Self {
        let place = here();
        let (one, two) = (self.shape(), other.shape());
        let fault = match (one.last(), two.last(), infer::matmul_dtype(self.dtype(), other.dtype()))
        {
            (Some(length), Some(same), Ok(_)) if length == same => None,
            (_, _, Err(TypeError::NotDefined { of, .. })) => {
                Some(TypeError::NotDefined { what: "vecdot", of }.into())
            }
            (_, _, Err(error)) => Some(error.into()),
            _ => Some(ArrayError::VecDot { shapes: [one.clone(), two.clone()] }),
        };
        if let Some(error) = fault {
            return self.refused(error, place);
        }
        let complex = matches!(self.dtype(), DType::C64 | DType::C128);
        let left = if complex { self.conj() } else { self.clone() };
        let products = &left * other;
        let dtype = products.dtype();
        let sum = products.sum_along(&[products.ndim().saturating_sub(1)]);
        if sum.dtype() == dtype { sum } else { sum.cast(dtype) }
    }

    /// The sum of products over pairs of axes, one of each side: what is left are the other axes of
    /// this, then those of the other. Terms are in the row-major order of the axes as they are listed.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.from_vec(&[2, 3], &[1i64, 2, 3, 4, 5, 6]);
    /// assert_eq!(a.tensordot(&a, &[0, 1], &[0, 1]).to_vec::<i64>()?, [91]);
    /// assert_eq!(a.tensordot(&a, &[1], &[1]).to_vec::<i64>()?, [14, 32, 32, 77]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn tensordot(&self, other: &Self, axes: &[usize], other_axes: &[usize]) -> Self {
        let place = here();
        let (one, two) = (self.shape(), other.shape());
        if let Some(error) = unpaired((&one, axes), (&two, other_axes)) {
            return self.refused(error, place);
        }
        let rest = |shape: &[usize], axes: &[usize]| -> Vec<usize> {
            (0..shape.len()).filter(|axis| !axes.contains(axis)).collect()
        };
        let (left, right) = (rest(&one, axes), rest(&two, other_axes));
        let lengths = |shape: &[usize], axes: &[usize]| -> Vec<usize> {
            axes.iter().map(|axis| shape[*axis]).collect()
        };
        let (kept, more) = (lengths(&one, &left), lengths(&two, &right));
        let terms: usize = lengths(&one, axes).iter().product();
        let turned = self.permute(&[&left[..], axes].concat());
        let other = other.permute(&[other_axes, &right[..]].concat());
        // One axis on one axis needs no other shape: those that are left are broadcast.
        let rows = match axes.len() {
            1 => turned,
            _ => turned.reshape(&[&kept[..], &[terms]].concat()),
        };
        let columns = match (axes.len(), right.len()) {
            (1, 0 | 1) => other,
            (_, 0) => other.reshape(&[terms]),
            _ => other.reshape(&[terms, more.iter().product()]),
        };
        let product = rows.matmul_at(&columns, place);
        if right.len() < 2 { product } else { product.reshape(&[kept, more].concat()) }
    }

    /// An array that is nothing but this mistake.
    fn refused(&self, error: ArrayError, place: Place) -> Self {
        let ty = Type::array(&[], self.dtype());
        Self::of(&self.world, Node::faulty(Fault::new(error, place), ty))
    }
}

/// What is wrong with pairs of axes.
fn unpaired(
    (one, axes): (&[usize], &[usize]),
    (two, other_axes): (&[usize], &[usize]),
) -> Option<ArrayError> {
    let wrong = |shape: &[usize], axes: &[usize]| {
        axes.iter().enumerate().any(|(at, axis)| *axis >= shape.len() || axes[..at].contains(axis))
    };
    let unequal = || axes.iter().zip(other_axes).any(|(axis, other)| one[*axis] != two[*other]);
    let bad =
        axes.len() != other_axes.len() || wrong(one, axes) || wrong(two, other_axes) || unequal();
    bad.then(|| ArrayError::TensorDot {
        shapes: [one.to_vec(), two.to_vec()],
        axes: [axes.to_vec(), other_axes.to_vec()],
    })
}
