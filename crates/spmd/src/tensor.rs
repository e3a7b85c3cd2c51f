//! A worker's own tensor.

use std::fmt;
use std::marker::PhantomData;

use pantile_engine::{Element, Tile};

use crate::Error;

/// A worker's own tensor: elements in row-major order with a shape. A tensor without elements is
/// what a worker outside of a partition has.
#[derive(Clone)]
pub struct Tensor<T> {
    shape: Vec<usize>,
    tile: Tile,
    elements: PhantomData<T>,
}

impl<T: Element> Tensor<T> {
    /// The tensor without elements, of shape `[0]`.
    #[must_use]
    pub fn empty() -> Self {
        Self::zeros(&[0])
    }

    /// Zeros.
    #[must_use]
    pub fn zeros(shape: &[usize]) -> Self {
        Self::from_tile(shape.to_vec(), Tile::zeroed(T::DTYPE, shape.iter().product()))
    }

    /// The same value everywhere.
    #[must_use]
    pub fn full(shape: &[usize], value: T) -> Self {
        let tile = Tile::from_vec(vec![value; shape.iter().product()]);
        Self::from_tile(shape.to_vec(), tile)
    }

    /// The elements of a vector in row-major order, without copying them.
    ///
    /// # Errors
    /// If there are not as many as the shape says.
    pub fn from_vec(shape: &[usize], elements: Vec<T>) -> Result<Self, Error> {
        let size = shape.iter().try_fold(1_usize, |size, extent| size.checked_mul(*extent));
        if size != Some(elements.len()) {
            return Err(Error::Elements { shape: shape.to_vec(), got: elements.len() });
        }
        Ok(Self::from_tile(shape.to_vec(), Tile::from_vec(elements)))
    }

    /// The value of a function at each index.
    #[must_use]
    pub fn from_fn(shape: &[usize], mut value: impl FnMut(&[usize]) -> T) -> Self {
        let size = shape.iter().product();
        let mut elements = Vec::with_capacity(size);
        let mut index = vec![0; shape.len()];
        for _ in 0..size {
            elements.push(value(&index));
            advance(&mut index, shape);
        }
        Self::from_tile(shape.to_vec(), Tile::from_vec(elements))
    }

    pub(crate) fn from_tile(shape: Vec<usize>, tile: Tile) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), tile.len());
        Self { shape, tile, elements: PhantomData }
    }

    /// Extents.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of axes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tile.len()
    }

    /// True if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tile.is_empty()
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.tile.as_slice()
    }

    /// The elements in row-major order, to be written.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.tile.as_mut_slice()
    }

    /// A copy of the elements in row-major order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.tile.to_vec()
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.tile.into_vec()
    }

    /// The element at an index; `None` if it lies outside.
    #[must_use]
    pub fn get(&self, index: &[usize]) -> Option<T> {
        let inside = index.len() == self.shape.len()
            && index.iter().zip(&self.shape).all(|(at, extent)| at < extent);
        let offset = index.iter().zip(&self.shape).fold(0, |sum, (at, extent)| sum * extent + at);
        inside.then(|| self.as_slice()[offset])
    }

    pub(crate) fn tile(&self) -> &Tile {
        &self.tile
    }

    pub(crate) fn tile_mut(&mut self) -> &mut Tile {
        &mut self.tile
    }
}

/// The next index in row-major order; wraps around at the end.
pub(crate) fn advance(index: &mut [usize], shape: &[usize]) {
    for (at, extent) in index.iter_mut().zip(shape).rev() {
        *at += 1;
        if *at < *extent {
            return;
        }
        *at = 0;
    }
}

impl<T: Element> PartialEq for Tensor<T> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.as_slice() == other.as_slice()
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tensor {:?} {:?}", self.shape, self.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_row_major() {
        let tensor = Tensor::from_fn(&[2, 3], |index| (10 * index[0] + index[1]) as u64);
        assert_eq!(tensor.as_slice(), [0, 1, 2, 10, 11, 12]);
        assert_eq!(
            (tensor.get(&[1, 2]), tensor.get(&[2, 0]), tensor.get(&[1])),
            (Some(12), None, None)
        );
        assert_eq!(Tensor::<f32>::from_fn(&[], |_| 5.0).to_vec(), [5.0]);
        assert!(Tensor::<u8>::empty().is_empty());
    }

    #[test]
    fn shapes_must_fit() {
        let error = Tensor::from_vec(&[2, 2], vec![1.0]).expect_err("one element");
        assert_eq!(error.to_string(), "a tensor of shape [2, 2] does not have 1 elements");
        assert!(Tensor::from_vec(&[usize::MAX, 2], vec![1.0]).is_err());
    }
}
