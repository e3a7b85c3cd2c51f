//! Slices, and other shapes of the same elements.

use super::arrays::{View, indices, number, size, spread};
use super::machine::{Frame, Held, Machine};
use super::number::cast;
use super::{Array, EvaluationError, OperandError, SliceFault, StructureError};
use crate::{Dim, Function, Index, Operation, Slice};

impl<'p> Machine<'p> {
    /// The row-major numbers of the elements that a slice sees, and its sizes. Its values are the
    /// operands from `first` on.
    fn sliced(
        &self,
        frame: &Frame<'p>,
        operation: &Operation,
        (slice, first): (&Slice, usize),
        shape: &[usize],
    ) -> Result<(Vec<usize>, Vec<usize>), EvaluationError> {
        let mut next = first;
        let mut list = |entries: &[Index]| -> Result<Vec<i64>, EvaluationError> {
            let mut values = Vec::new();
            for entry in entries {
                values.push(match entry {
                    Index::Known(value) => *value,
                    Index::Operand => {
                        next += 1;
                        self.index(frame, operation, next - 1)?
                    }
                });
            }
            Ok(values)
        };
        let (offsets, sizes, steps) =
            (list(&slice.offsets)?, list(&slice.sizes)?, list(&slice.strides)?);
        if [offsets.len(), sizes.len(), steps.len()] != [shape.len(); 3] {
            let (got, expected) = (offsets.len(), shape.len());
            return Err(OperandError::Slice(SliceFault::Axes { got, expected }).into());
        }
        let mut lists: Vec<Vec<usize>> = Vec::new();
        for axis in 0..shape.len() {
            let (offset, count, step) = (offsets[axis], sizes[axis], steps[axis]);
            if count < 0 || step == 0 {
                let fault = SliceFault::Step { axis, size: count, step };
                return Err(OperandError::Slice(fault).into());
            }
            let last = i128::from(offset) + (i128::from(count) - 1) * i128::from(step);
            let inside = |at: i128| usize::try_from(at).is_ok_and(|at| at < shape[axis]);
            if count > 0 && !(inside(i128::from(offset)) && inside(last)) {
                let (size, length) = (count, shape[axis]);
                let fault = SliceFault::Bounds { axis, size, offset, step, length };
                return Err(OperandError::Slice(fault).into());
            }
            let at = |k: i64| usize::try_from(offset + k * step).unwrap_or(0);
            lists.push((0..count).map(at).collect());
        }
        let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
        let place = |k: &Vec<usize>| {
            let index: Vec<usize> = k.iter().zip(&lists).map(|(k, list)| list[*k]).collect();
            number(shape, &index)
        };
        Ok((indices(&sizes).iter().map(place).collect(), sizes))
    }

    /// A view of an array.
    pub(super) fn subview(
        &mut self,
        frame: &Frame<'p>,
        operation: &Operation,
        slice: &Slice,
    ) -> Result<View, EvaluationError> {
        let of = self.view(frame, operation, 0)?;
        let (numbers, sizes) = self.sliced(frame, operation, (slice, 1), &of.shape)?;
        self.spend(numbers.len())?;
        let declared = frame.result_type(operation)?.shape();
        let shape = without_units(&sizes, declared).ok_or_else(|| {
            let (sizes, declared) = (sizes.clone(), declared.to_vec());
            OperandError::Slice(SliceFault::Shape { sizes, declared })
        })?;
        Ok(of.seen(&shape, &numbers))
    }

    /// Writes a source, spread over the slice, to a part of the target.
    pub(super) fn insert(
        &mut self,
        frame: &Frame<'p>,
        operation: &Operation,
        slice: &Slice,
        target: &View,
    ) -> Result<(), EvaluationError> {
        // Read before anything is written: the source may be a view of the target.
        let source = self.view(frame, operation, 0)?.read();
        let (numbers, sizes) = self.sliced(frame, operation, (slice, 2), &target.shape)?;
        self.spend(numbers.len())?;
        let source = self.cast(&source, target.dtype())?;
        let data = spread(&source, &sizes)?;
        target.seen(&sizes, &numbers).write(&data);
        Ok(())
    }

    /// The same elements in row-major order.
    pub(super) fn reshape(&mut self, of: Array, shape: &[usize]) -> Result<Array, EvaluationError> {
        let count = size(shape)?;
        if count != of.data.len() {
            let expected = of.data.len();
            return Err(OperandError::Elements { got: count, expected }.into());
        }
        Ok(Array { shape: shape.to_vec(), ..of })
    }

    pub(super) fn permute(&mut self, of: &Array, axes: &[usize]) -> Result<Array, EvaluationError> {
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..of.shape.len()) {
            let (axes, ndim) = (axes.to_vec(), of.shape.len());
            return Err(OperandError::Permutation { axes, ndim }.into());
        }
        self.spend(of.data.len())?;
        let shape: Vec<usize> = axes.iter().map(|axis| of.shape[*axis]).collect();
        let element = |index: Vec<usize>| {
            let mut old = vec![0; axes.len()];
            for (at, axis) in index.iter().zip(axes) {
                old[*axis] = *at;
            }
            of.data[number(&of.shape, &old)]
        };
        let data = indices(&shape).into_iter().map(element).collect();
        Ok(Array { dtype: of.dtype, shape, data })
    }

    pub(super) fn broadcast(
        &mut self,
        of: &Array,
        shape: &[usize],
    ) -> Result<Array, EvaluationError> {
        self.spend(size(shape)?)?;
        Ok(Array { dtype: of.dtype, shape: shape.to_vec(), data: spread(of, shape)? })
    }

    /// A function applied to every block of a fixed grid.
    pub(super) fn map_blocks(
        &mut self,
        callee: &'p Function,
        block: &[usize],
        of: &[Array],
        results: &mut [Array],
    ) -> Result<(), EvaluationError> {
        let Some(first) = of.first() else { return Err(OperandError::NoBlocks.into()) };
        let shape = &first.shape;
        let odd = of.iter().chain(&*results).any(|array| array.shape != *shape);
        if odd || block.len() != shape.len() || block.contains(&0) {
            let (block, shape) = (block.to_vec(), shape.clone());
            return Err(OperandError::Blocks { block, shape }.into());
        }
        let grid: Vec<usize> =
            shape.iter().zip(block).map(|(length, size)| length.div_ceil(*size)).collect();
        for corner in indices(&grid) {
            let axes = (0..shape.len()).map(|axis| {
                let from = corner[axis] * block[axis];
                (from, block[axis].min(shape[axis] - from))
            });
            let (from, sizes): (Vec<usize>, Vec<usize>) = axes.unzip();
            let place = |k: &Vec<usize>| {
                let index: Vec<usize> = k.iter().zip(&from).map(|(k, from)| from + k).collect();
                number(shape, &index)
            };
            let places: Vec<usize> = indices(&sizes).iter().map(place).collect();
            self.spend(places.len())?;
            let part = |array: &Array| {
                let data = places.iter().map(|place| array.data[*place]).collect();
                Held::Array(View::new(Array { dtype: array.dtype, shape: sizes.clone(), data }))
            };
            let given = self.call(callee, of.iter().map(part).collect())?;
            if given.len() != results.len() {
                let (got, expected) = (given.len(), results.len());
                let function = callee.name.clone();
                return Err(StructureError::Results { function, got, expected }.into());
            }
            for (result, given) in results.iter_mut().zip(given) {
                for (place, value) in places.iter().zip(spread(&given, &sizes)?) {
                    result.data[*place] = cast(value, result.dtype);
                }
            }
        }
        Ok(())
    }
}

/// The sizes without as many of its ones as the declared shape lacks: the first ones that leave
/// what is declared.
fn without_units(sizes: &[usize], declared: &[Dim]) -> Option<Vec<usize>> {
    match (sizes.split_first(), declared.split_first()) {
        (None, None) => Some(Vec::new()),
        (None, Some(_)) => None,
        (Some((size, rest)), wanted) => {
            let dropped = (*size == 1 && sizes.len() > declared.len())
                .then(|| without_units(rest, declared))
                .flatten();
            dropped.or_else(|| {
                let (dim, others) = wanted?;
                let fits = dim.is_none_or(|dim| dim == *size);
                let mut kept = fits.then(|| without_units(rest, others)).flatten()?;
                kept.insert(0, *size);
                Some(kept)
            })
        }
    }
}
