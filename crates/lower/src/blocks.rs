//! Stencils, and functions of blocks.

use std::collections::BTreeMap;

use pantile_lanes::{Binary, Scalar};

use super::communication_insertion::whole_region;
use super::expr::{ExprId, identity};
use super::place;
use super::{IndexMap, LowerErrorKind, Lowering, OperationError, StridedRange};
use pantile_ir::{Boundary, Operation};

impl<'a> Lowering<'a> {
    /// Shifted elements times weights, summed in the order of the points.
    pub(crate) fn stencil(
        &mut self,
        of: ExprId,
        points: &[Vec<i64>],
        weights: &[u64],
        boundary: Boundary,
    ) -> Result<ExprId, LowerErrorKind> {
        let (dtype, shape) = (self.exprs[of].dtype, self.exprs[of].shape.clone());
        let zero = self.exprs.constant(Scalar::of(0f64), &[]);
        let zero = self.exprs.cast(zero, dtype);
        let mut padded = self.stored(of)?;
        let points: Vec<Vec<i64>> = points
            .iter()
            .map(|point| {
                let near = point.iter().zip(&shape);
                near.map(|(by, length)| nearest(*by, *length, boundary)).collect()
            })
            .collect();
        let mut before = vec![0i64; shape.len()];
        for axis in 0..shape.len() {
            let low = points.iter().map(|point| -point[axis]).max().unwrap_or(0).max(0);
            let high = points.iter().map(|point| point[axis]).max().unwrap_or(0).max(0);
            padded = self.padded(padded, axis, (low, high), (boundary, zero))?;
            before[axis] = low;
        }
        let mut sum = self.broadcast_to(zero, &shape)?;
        for (number, (point, weight)) in points.iter().zip(weights).enumerate() {
            let map: Vec<IndexMap> = point
                .iter()
                .enumerate()
                .map(|(axis, by)| IndexMap::Moves { axis, offset: before[axis] + by, step: 1 })
                .collect();
            let shifted = self.exprs.view(padded, &map, &shape);
            let weight = self.exprs.constant(Scalar::of(f64::from_bits(*weight)), &[]);
            let weight = self.exprs.cast(weight, dtype);
            let term = self.binary(Binary::Multiply, weight, shifted, Some(dtype))?;
            sum =
                if number == 0 { term } else { self.binary(Binary::Add, sum, term, Some(dtype))? };
        }
        Ok(sum)
    }

    /// An array with more cells at both ends of an axis.
    pub(crate) fn padded(
        &mut self,
        of: ExprId,
        axis: usize,
        (low, high): (i64, i64),
        (boundary, zero): (Boundary, ExprId),
    ) -> Result<ExprId, LowerErrorKind> {
        if low == 0 && high == 0 {
            return Ok(of);
        }
        let shape = self.exprs[of].shape.clone();
        let length = i64::try_from(shape[axis]).unwrap_or(i64::MAX);
        let mut wide = shape.clone();
        wide[axis] += usize::try_from(low + high).unwrap_or(0);
        let mut padded = self.broadcast_to(zero, &wide)?;
        let slot = self.plain_slot(of).ok_or(OperationError::PaddedNotStored)?;
        let map: Vec<Option<(usize, StridedRange)>> = shape
            .iter()
            .enumerate()
            .map(|(at, size)| {
                let offset = if at == axis { -low } else { 0 };
                let extra = if at == axis { low + high } else { 0 };
                let size = size + usize::try_from(extra).unwrap_or(0);
                Some((at, StridedRange { offset, step: 1, size }))
            })
            .collect();
        let home = place::follow(&self.slots[slot.index()].home.clone(), &wide, &map)?;
        let base = self.materialise(padded, Some(&home))?;
        padded = self.exprs.slot(base, self.exprs[of].dtype, &wide);
        let range = |offset: i64, size: i64| {
            let mut all = whole_region(&shape);
            all[axis] = StridedRange { offset, step: 1, size: usize::try_from(size).unwrap_or(0) };
            all
        };
        padded = self.assigned(of, padded, range(low, length))?;
        if boundary == Boundary::Zero || length == 0 {
            return Ok(padded);
        }
        // The other end, as often around as the width asks for.
        for at in (0..low).chain(low + length..low + length + high) {
            let index = (at - low).rem_euclid(length);
            let mut map = identity(shape.len());
            map[axis] = IndexMap::Fixed(index);
            let mut one = shape.clone();
            one[axis] = 1;
            let row = self.exprs.view(of, &map, &one);
            padded = self.assigned(row, padded, range(at, 1))?;
        }
        Ok(padded)
    }

    /// A function applied to every block of a fixed grid.
    pub(crate) fn map_blocks(
        &mut self,
        operation: &'a Operation,
        name: &str,
        block: &[usize],
    ) -> Result<(), LowerErrorKind> {
        const MOST: usize = 4096;
        let unknown = || OperationError::UnknownFunction { name: name.to_owned() };
        let callee = self.program.function(name).ok_or_else(unknown)?;
        let operands = self.operands(operation)?;
        let shape = self.exprs[operands[0]].shape.clone();
        if operands.iter().any(|expr| self.exprs[*expr].shape != shape)
            || block.len() != shape.len()
        {
            return Err(OperationError::BlockShapes.into());
        }
        let grid: Vec<usize> =
            shape.iter().zip(block).map(|(length, size)| length.div_ceil((*size).max(1))).collect();
        let count = grid.iter().product::<usize>();
        if count > MOST || self.calls > 8 {
            return Err(OperationError::TooManyBlocks { got: count, limit: MOST }.into());
        }
        let operands: Vec<ExprId> =
            operands.into_iter().map(|expr| self.stored(expr)).collect::<Result<_, _>>()?;
        let mut results: Vec<ExprId> = Vec::new();
        for result in &operation.results {
            let dtype = self.function.ty(*result).dtype();
            let dtype = dtype.ok_or(OperationError::BlockNoElements)?;
            let zero = super::create::zero(dtype)?;
            let zero = self.exprs.constant(zero, &shape);
            let first = self.plain_slot(operands[0]).ok_or(OperationError::MappedNotStored)?;
            let home = self.slots[first.index()].home.clone();
            let slot = self.materialise(zero, Some(&home))?;
            results.push(self.exprs.slot(slot, dtype, &shape));
        }
        for number in 0..count {
            let mut rest = number;
            let mut region = whole_region(&shape);
            for axis in (0..shape.len()).rev() {
                let at = rest % grid[axis];
                rest /= grid[axis];
                let offset = at * block[axis];
                let size = block[axis].min(shape[axis] - offset);
                region[axis] = StridedRange {
                    offset: i64::try_from(offset).unwrap_or(i64::MAX),
                    step: 1,
                    size,
                };
            }
            let given = self.call(callee, &operands, &region)?;
            for (result, value) in results.iter_mut().zip(given) {
                *result = self.assigned(value, *result, region.clone())?;
            }
        }
        for (value, expr) in operation.results.iter().zip(results) {
            self.env.insert(*value, expr);
        }
        Ok(())
    }

    /// The results of a function for a region of its arguments.
    pub(crate) fn call(
        &mut self,
        callee: &'a pantile_ir::Function,
        arguments: &[ExprId],
        region: &[StridedRange],
    ) -> Result<Vec<ExprId>, LowerErrorKind> {
        let shape: Vec<usize> = region.iter().map(|range| range.size).collect();
        let map: Vec<IndexMap> = region
            .iter()
            .enumerate()
            .map(|(axis, range)| IndexMap::Moves { axis, offset: range.offset, step: range.step })
            .collect();
        let (env, uses) = (std::mem::take(&mut self.env), std::mem::take(&mut self.uses));
        let outer = std::mem::replace(&mut self.function, callee);
        self.calls += 1;
        self.count_uses(&callee.body, 0, &mut BTreeMap::new());
        for (value, argument) in callee.body.arguments.iter().zip(arguments) {
            let view = self.exprs.view(*argument, &map, &shape);
            self.env.insert(*value, view);
        }
        let results = self.block(&callee.body);
        self.calls -= 1;
        (self.env, self.uses, self.function) = (env, uses, outer);
        results
    }
}

/// The least offset that reads the same: beyond the ends there are only zeros, or all again.
fn nearest(by: i64, length: usize, boundary: Boundary) -> i64 {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    match boundary {
        Boundary::Zero => by.clamp(-length, length),
        Boundary::Periodic if length == 0 => 0,
        Boundary::Periodic => {
            let around = by.rem_euclid(length);
            if around > length / 2 { around - length } else { around }
        }
    }
}
