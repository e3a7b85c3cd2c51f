//! The same elements in other shapes.

use pantile_ir::infer;
use pantile_ir::{Op, Type};

use super::{Array, elements, here};

impl Array {
    /// The same elements, row-major, in another shape.
    #[track_caller]
    #[must_use]
    pub fn reshape(&self, shape: &[usize]) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = match elements(shape) == Ok(self.size()) {
            true => Ok(Type::array(shape, self.dtype())),
            false => Err(format!("got {shape:?} for the elements of shape {:?}", self.shape())),
        };
        Self::record(&self.world, Op::Reshape { copy: None }, vec![node], ty, place)
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this.
    #[track_caller]
    #[must_use]
    pub fn permute(&self, axes: &[usize]) -> Self {
        let place = here();
        let node = self.node(&place);
        let shape = self.shape();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        let ty = match sorted.into_iter().eq(0..shape.len()) {
            true => {
                let shape: Vec<usize> = axes.iter().map(|axis| shape[*axis]).collect();
                Ok(Type::array(&shape, self.dtype()))
            }
            false => Err(format!(
                "got axes {axes:?}, expected a permutation of the {} axes",
                shape.len()
            )),
        };
        Self::record(&self.world, Op::Permute(axes.to_vec()), vec![node], ty, place)
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
            _ => Err(format!("shape {:?} does not broadcast to {shape:?}", self.shape())),
        };
        Self::record(&self.world, Op::Broadcast, vec![node], ty, place)
    }
}
