//! Many numbers into one exact sum: windows while they fit, digits where they do not.

use super::ExactSum;
use super::window::{LANES, Numbers, Widen, Window, largest, most_products};
use crate::simd::Vectors;

/// Fewer numbers than this are added one by one.
pub(super) const FEW: usize = 24;

/// Numbers that the first window is chosen for.
pub(super) const FIRST: usize = 256;

/// Numbers that every window takes.
pub(super) const FEWEST: usize = 8192;

/// Rows of numbers that are taken apart window by window.
pub(super) const BLOCK: usize = 64;

/// Windows after which numbers of very different sizes are added one by one.
const PASSES: usize = 10;

/// Most chunks that are taken apart at once after windows have failed.
const WIDE: usize = 15;

/// A window for numbers that come in pieces, for one exact sum after the other.
///
/// Whatever way the numbers take, the sum is the same: every way is exact.
#[derive(Clone, Debug)]
pub(crate) struct Adder {
    window: Option<Window>,
    /// Chunks for which no window is tried.
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
        Self { window: None, wide: 0, doubt: 0, vectors, far: bytes >= FAR }
    }

    /// Adds numbers; part of them may stay in the window until [`finish`](Self::finish).
    pub(crate) fn add<T: Widen>(&mut self, sum: &mut ExactSum, values: &[T]) {
        let mut rest = values;
        while !rest.is_empty() {
            let most = self
                .window
                .as_ref()
                .map_or(FEWEST, |window| window.most(T::numbers(rest), self.vectors));
            let (chunk, more) = rest.split_at(most.min(rest.len()));
            rest = more;
            if chunk.len() < FEW && self.window.as_ref().is_none_or(Window::is_empty) {
                one_by_one(sum, chunk);
            } else if self.wide > 0 {
                self.wide -= 1;
                self.take_apart(sum, chunk);
            } else {
                self.chunk(sum, chunk);
            }
        }
    }

    /// Adds products of numbers, at most a window of them, if they fit into the window that is
    /// there, or into one for the first of them; else nothing was added.
    pub(crate) fn add_products(&mut self, sum: &mut ExactSum, a: &[f64], b: &[f64]) -> bool {
        if self.wide > 0 || a.len() > most_products(self.vectors) {
            return false;
        }
        if self.window.is_none() {
            self.window = self.guess_products(a, b);
        }
        let Some(window) = &mut self.window else { return false };
        let products = Numbers::Products(a, b);
        if !window.has_room(products, self.vectors) {
            window.flush(sum);
        }
        window.add(products, self.vectors)
    }

    /// Moves what the window holds into the sum. The window stays, for the next sum.
    pub(crate) fn finish(&mut self, sum: &mut ExactSum) {
        if let Some(window) = &mut self.window {
            window.flush(sum);
        }
    }

    fn chunk<T: Widen>(&mut self, sum: &mut ExactSum, chunk: &[T]) {
        if self.window.is_none() {
            self.window = self.guess(chunk);
        }
        if let Some(window) = &mut self.window {
            if !window.has_room(T::numbers(chunk), self.vectors) {
                window.flush(sum);
            }
            if window.add(T::numbers(chunk), self.vectors) {
                self.doubt /= 2;
                return;
            }
            window.flush(sum);
        }
        self.window = self.window_for(chunk);
        let Some(window) = &mut self.window else { return one_by_one(sum, chunk) };
        let numbers = T::numbers(chunk);
        // Numbers as small as these may be fewer to a window than those before.
        if !(window.has_room(numbers, self.vectors) && window.add(numbers, self.vectors)) {
            self.wide = self.doubt;
            self.doubt = (2 * self.doubt + 1).min(WIDE);
            self.take_apart(sum, chunk);
        }
    }

    /// A window for the first numbers: most often the others fit into it as well.
    fn guess<T: Widen>(&self, chunk: &[T]) -> Option<Window> {
        self.window_for(&chunk[..chunk.len().min(FIRST)])
    }

    /// The same for the first products.
    fn guess_products(&self, a: &[f64], b: &[f64]) -> Option<Window> {
        let mut first = [0.0; FIRST];
        let count = a.len().min(FIRST);
        for ((product, a), b) in first.iter_mut().zip(a).zip(b) {
            *product = a * b;
        }
        self.window_for(&first[..count])
    }

    fn window_for<T: Widen>(&self, values: &[T]) -> Option<Window> {
        let window = Window::for_largest(largest(values, self.vectors));
        window.map(|window| window.far(self.far))
    }

    /// Moves the window down until nothing is left of the numbers.
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
            let Some(mut window) = Window::for_largest(most) else { break };
            window.peel(rows, self.vectors);
            window.flush(sum);
        }
        one_by_one(sum, rows.as_flattened());
    }
}

fn one_by_one<T: Widen>(sum: &mut ExactSum, values: &[T]) {
    values.iter().for_each(|value| sum.add(value.widen()));
}
