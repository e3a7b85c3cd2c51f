//! The same elements in other shapes.

use pantile_ir::infer;
use pantile_ir::{Op, Type};
use smallvec::smallvec;

use super::error::ArrayError;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::Node;
use super::views::ViewStep;
use super::{Array, elements, here};

impl Array {
    /// The same elements, row-major, in another shape: a view where NumPy's is one, that is where
    /// elements stay evenly spaced; else a copy.
    #[track_caller]
    #[must_use]
    pub fn reshape(&self, shape: &[usize]) -> Self {
        let place = here();
        let ty = match elements(shape) == Ok(self.size()) {
            true => Ok(Type::array(shape, self.dtype())),
            false => Err(ArrayError::Reshape { got: shape.to_vec(), own: self.shape() }),
        };
        if ty.is_ok() && self.reshapes_in_place(shape) {
            return self.viewed(ViewStep::reshape(&self.shape(), shape));
        }
        let node = self.node(&place);
        Self::record(&self.world, Op::Reshape { copy: None }, smallvec![node], ty, place)
    }

    /// True if another shape of as many elements is a view.
    #[must_use]
    pub fn reshapes_in_place(&self, shape: &[usize]) -> bool {
        let view = ViewStep::reshape(&self.shape(), shape);
        self.strides().is_some_and(|strides| view.strides(&strides).is_some())
    }

    /// A view with the axes in another order: axis `i` of the result is axis `axes[i]` of this.
    #[track_caller]
    #[must_use]
    pub fn permute(&self, axes: &[usize]) -> Self {
        let place = here();
        let shape = self.shape();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if sorted.into_iter().eq(0..shape.len()) {
            return self.viewed(ViewStep::permute(&shape, axes));
        }
        let kind = FaultKind::Permutation { axes: axes.to_vec(), of: shape.len() };
        let ty = Type::array(&[], self.dtype());
        Self::of(&self.world, Node::faulty(Fault::new(kind, place), ty))
    }

    /// The axes in reverse order.
    #[track_caller]
    #[must_use]
    pub fn t(&self) -> Self {
        self.permute(&(0..self.ndim()).rev().collect::<Vec<_>>())
    }

    /// The array repeated to a larger shape, aligned at the last axes.
    #[track_caller]
    #[must_use]
    pub fn broadcast_to(&self, shape: &[usize]) -> Self {
        let place = here();
        let node = self.node(&place);
        let dims =
            |shape: &[usize]| -> Vec<Option<usize>> { shape.iter().copied().map(Some).collect() };
        let ty = match infer::broadcast(&[&dims(&self.shape()), &dims(shape)]) {
            Ok(both) if both == dims(shape) => Ok(Type::array(shape, self.dtype())),
            _ => Err(ArrayError::Broadcast { own: self.shape(), wanted: shape.to_vec() }),
        };
        Self::record(&self.world, Op::Broadcast, smallvec![node], ty, place)
    }
}
