//! Combining elements into a target.

#![allow(unsafe_code, reason = "works through pointers; see the promises of the parent module")]

use std::marker::PhantomData;

use bytemuck::Pod;

use super::simd::{TileLoop, dispatch};
use super::walk::{RunTile, tiles};
use crate::combine::{Apply, Combination, Visitor};
use crate::nest::Nest;

/// Combines every element of the nest's source into its target: `target = target op source`.
///
/// # Safety
/// Promises 1 to 5 of [this module](super), for elements of the combination's type.
pub unsafe fn combine(nest: &Nest, how: Combination, source: *const u8, target: *mut u8) {
    how.visit(CombineNest { nest, source, target });
}

/// The arguments of [`combine`], whose promises they carry.
struct CombineNest<'a> {
    nest: &'a Nest,
    source: *const u8,
    target: *mut u8,
}

impl Visitor for CombineNest<'_> {
    type Output = ();

    fn visit<T: Pod, O: Apply<T>>(self) {
        let (source, target) = (self.source.cast::<T>(), self.target.cast::<T>());
        tiles(self.nest, |start, tile| {
            // SAFETY: promises 1 to 6: the tile lies inside of both memories.
            unsafe {
                let (source, target) = (source.add(start.source), target.add(start.target));
                dispatch(CombineTile::<T, O> { tile, source, target, operation: PhantomData });
            }
        });
    }
}

/// A tile of both memories. [`TileLoop::run`] asks for promises 1 to 5 for its cells.
struct CombineTile<'a, T, O> {
    tile: &'a RunTile<'a>,
    source: *const T,
    target: *mut T,
    operation: PhantomData<O>,
}

impl<T: Pod, O: Apply<T>> TileLoop for CombineTile<'_, T, O> {
    #[inline(always)]
    unsafe fn run(self) {
        let run = self.tile.run;
        // Constants make the loops simple enough for vectors, and short runs free of loops.
        match (run.source, run.target, run.count) {
            // SAFETY: promises 1 to 5 are the caller's; so are the strides and the count.
            (1, 1, 1) => unsafe { self.each([1, 1], 1) },
            // SAFETY: the same.
            (1, 1, 2) => unsafe { self.each([1, 1], 2) },
            // SAFETY: the same.
            (1, 1, count) => unsafe { self.each([1, 1], count) },
            // SAFETY: the same.
            (source, target, count) => unsafe { self.each([source, target], count) },
        }
    }
}

impl<T: Pod, O: Apply<T>> CombineTile<'_, T, O> {
    /// # Safety
    /// Promises 1 to 5 for the tile, whose runs have these strides and this count.
    #[inline(always)]
    unsafe fn each(&self, strides: [usize; 2], count: usize) {
        self.tile.rows.each(|source, target| {
            for index in 0..count {
                // SAFETY: promises 1 to 6: the cell is part of the tile.
                unsafe {
                    let source = self.source.add(source + index * strides[0]).read_unaligned();
                    let cell = self.target.add(target + index * strides[1]);
                    cell.write_unaligned(O::apply(cell.read_unaligned(), source));
                }
            }
        });
    }
}
