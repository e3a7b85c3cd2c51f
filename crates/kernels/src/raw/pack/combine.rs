//! Combining elements into a target.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::Ends;
use crate::combine::{Apply, Combination, Visitor};
use crate::nest::Nest;
use crate::pack::simd::{TileLoop, dispatch};
use crate::pack::walk::{RunTile, tiles};

/// Combines every element of the nest's source into its target: `target = target op source`.
///
/// # Safety
/// Promises 1 to 5 of [`pack`](crate::pack), for elements of the combination's type.
pub unsafe fn combine(nest: &Nest, how: Combination, source: *const u8, target: *mut u8) {
    // SAFETY: R1, R2, R6; promised by the caller, which has compared both sides with the nest's spans.
    let ends = unsafe { Ends::new(source, target) };
    how.visit(CombineNest { nest, ends });
}

/// The arguments of [`combine`].
struct CombineNest<'a> {
    nest: &'a Nest,
    ends: Ends<u8>,
}

impl Visitor for CombineNest<'_> {
    type Output = ();

    fn visit<T: Pod, O: Apply<T>>(self) {
        let ends = self.ends.cast::<T>();
        tiles(self.nest, |start, tile| {
            let at = ends.add(start.source, start.target);
            dispatch(CombineTile::<T, O> { tile, at, operation: PhantomData });
        });
    }
}

/// A tile of both memories.
struct CombineTile<'a, T, O> {
    tile: &'a RunTile<'a>,
    at: Ends<T>,
    operation: PhantomData<O>,
}

impl<T: Pod, O: Apply<T>> TileLoop for CombineTile<'_, T, O> {
    #[inline(always)]
    fn run(self) {
        let run = self.tile.run;
        // Constants make the loops simple enough for vectors, and short runs free of loops.
        match (run.source, run.target, run.count) {
            (1, 1, 1) => self.each([1, 1], 1),
            (1, 1, 2) => self.each([1, 1], 2),
            (1, 1, count) => self.each([1, 1], count),
            (source, target, count) => self.each([source, target], count),
        }
    }
}

impl<T: Pod, O: Apply<T>> CombineTile<'_, T, O> {
    /// The tile, whose runs have these strides and this count.
    #[inline(always)]
    fn each(&self, strides: [usize; 2], count: usize) {
        self.tile.rows.each(|source, target| {
            for index in 0..count {
                let at = self.at.add(source + index * strides[0], target + index * strides[1]);
                at.combine_one(O::apply);
            }
        });
    }
}
