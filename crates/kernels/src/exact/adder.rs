//! Adds many numbers to one exact sum: into a binned accumulator while they fit, else into the
//! limbs of the superaccumulator.

use super::ExactSum;
use super::binned::{Addends, BinnedAccumulator, LANES, Widen, largest, most_products};
use crate::simd::Vectors;

/// Fewer numbers than this are added one by one.
pub(super) const FEW: usize = 24;

/// Numbers that the first binned accumulator is chosen for.
pub(super) const FIRST: usize = 256;

/// Numbers that every binned accumulator takes.
pub(super) const FEWEST: usize = 8192;

/// Rows of numbers that are taken apart by one binned accumulator after the other.
pub(super) const BLOCK: usize = 64;

/// Binned accumulators after which numbers of very different sizes are added one by one.
const PASSES: usize = 10;

/// Most chunks that are taken apart at once after binned accumulators have failed.
const WIDE: usize = 15;

/// A binned accumulator for numbers that come in chunks, for one exact sum after the other.
///
/// Whichever way the numbers take, the sum is the same: every way is exact.
#[derive(Clone, Debug)]
pub(crate) struct Adder {
    accumulator: Option<BinnedAccumulator>,
    /// Chunks for which no binned accumulator is tried.
    wide: usize,
    /// How many those are after the next failure: more if many fail.
    doubt: usize,
    vectors: Vectors,
    /// The numbers are too many for the caches.
    far: bool,
}

/// Bytes from which on numbers are taken to be far from the processor.
pub(super) const FAR: usize = 2 << 20;

impl Adder {
    /// An adder for so many bytes of numbers that lie side by side, as far as that is known.
    pub(crate) fn new(bytes: usize, vectors: Vectors) -> Self {
        Self { accumulator: None, wide: 0, doubt: 0, vectors, far: bytes >= FAR }
    }

    /// Adds numbers; part of them may stay in the binned accumulator until [`finish`](Self::finish).
    pub(crate) fn add<T: Widen>(&mut self, sum: &mut ExactSum, values: &[T]) {
        let mut rest = values;
        while !rest.is_empty() {
            let most = self
                .accumulator
                .as_ref()
                .map_or(FEWEST, |accumulator| accumulator.most(T::numbers(rest), self.vectors));
            let (chunk, more) = rest.split_at(most.min(rest.len()));
            rest = more;
            if chunk.len() < FEW
                && self.accumulator.as_ref().is_none_or(BinnedAccumulator::is_empty)
            {
                one_by_one(sum, chunk);
            } else if self.wide > 0 {
                self.wide -= 1;
                self.take_apart(sum, chunk);
            } else {
                self.chunk(sum, chunk);
            }
        }
    }

    /// Adds products of numbers, at most as many as a binned accumulator takes, if they fit into
    /// the one that is there, or into one for the first of them; else nothing was added.
    pub(crate) fn add_products(&mut self, sum: &mut ExactSum, a: &[f64], b: &[f64]) -> bool {
        if self.wide > 0 || a.len() > most_products(self.vectors) {
            return false;
        }
        if self.accumulator.is_none() {
            self.accumulator = self.guess_products(a, b);
        }
        let Some(accumulator) = &mut self.accumulator else { return false };
        let products = Addends::Products(a, b);
        if !accumulator.has_room(products, self.vectors) {
            accumulator.flush(sum);
        }
        accumulator.add(products, self.vectors)
    }

    /// Moves what the binned accumulator holds into the sum. It stays, for the next sum.
    pub(crate) fn finish(&mut self, sum: &mut ExactSum) {
        if let Some(accumulator) = &mut self.accumulator {
            accumulator.flush(sum);
        }
    }

    fn chunk<T: Widen>(&mut self, sum: &mut ExactSum, chunk: &[T]) {
        if self.accumulator.is_none() {
            self.accumulator = self.guess(chunk);
        }
        if let Some(accumulator) = &mut self.accumulator {
            if !accumulator.has_room(T::numbers(chunk), self.vectors) {
                accumulator.flush(sum);
            }
            if accumulator.add(T::numbers(chunk), self.vectors) {
                self.doubt /= 2;
                return;
            }
            accumulator.flush(sum);
        }
        self.accumulator = self.accumulator_for(chunk);
        let Some(accumulator) = &mut self.accumulator else { return one_by_one(sum, chunk) };
        let numbers = T::numbers(chunk);
        // Of numbers as small as these, fewer may fit into a binned accumulator than of those
        // before.
        if !(accumulator.has_room(numbers, self.vectors) && accumulator.add(numbers, self.vectors))
        {
            self.wide = self.doubt;
            self.doubt = (2 * self.doubt + 1).min(WIDE);
            self.take_apart(sum, chunk);
        }
    }

    /// A binned accumulator for the first numbers: most often the others fit into it as well.
    fn guess<T: Widen>(&self, chunk: &[T]) -> Option<BinnedAccumulator> {
        self.accumulator_for(&chunk[..chunk.len().min(FIRST)])
    }

    /// The same for the first products.
    fn guess_products(&self, a: &[f64], b: &[f64]) -> Option<BinnedAccumulator> {
        let mut first = [0.0; FIRST];
        let count = a.len().min(FIRST);
        for ((product, a), b) in first.iter_mut().zip(a).zip(b) {
            *product = a * b;
        }
        self.accumulator_for(&first[..count])
    }

    fn accumulator_for<T: Widen>(&self, values: &[T]) -> Option<BinnedAccumulator> {
        let accumulator = BinnedAccumulator::for_largest(largest(values, self.vectors));
        accumulator.map(|accumulator| accumulator.far(self.far))
    }

    /// Moves the bins down until nothing is left of the numbers.
    fn take_apart<T: Widen>(&mut self, sum: &mut ExactSum, values: &[T]) {
        self.finish(sum);
        let mut rows = [[0.0; LANES]; BLOCK];
        for block in values.chunks(BLOCK * LANES) {
            let rows = &mut rows[..block.len().div_ceil(LANES)];
            let flat = rows.as_flattened_mut();
            for (place, value) in flat.iter_mut().zip(block) {
                *place = value.widen();
            }
            flat[block.len()..].fill(0.0);
            self.peel(sum, rows);
        }
    }

    fn peel(&self, sum: &mut ExactSum, rows: &mut [[f64; LANES]]) {
        for _ in 0..PASSES {
            let most = largest(rows.as_flattened(), self.vectors);
            if most == 0 {
                return;
            }
            let Some(mut accumulator) = BinnedAccumulator::for_largest(most) else { break };
            accumulator.peel(rows, self.vectors);
            accumulator.flush(sum);
        }
        one_by_one(sum, rows.as_flattened());
    }
}

fn one_by_one<T: Widen>(sum: &mut ExactSum, values: &[T]) {
    values.iter().for_each(|value| sum.add(value.widen()));
}
