//! The loops around chains: blocks that stay in caches while they are used.

use super::packed::{ElementTerms, Packed, ProductSide};
use super::run::PANEL;
use super::tile::{Goal, PanelPosition, chains};
use crate::contract::lane::{ChainLane, StoredElement};
use crate::simd::{VectorLoop, Vectors};

/// Outputs of the left side that are packed at once: their panel stays in the second cache.
pub(super) const ROWS: usize = 120;

/// Outputs of the right side that are packed at once: their panel stays in the last cache.
pub(super) const COLUMNS: usize = 1024;

/// Bytes of a row that fill vectors.
pub(super) const NARROW: usize = 64;

/// A product of two matrices whose elements have one part or two.
pub(super) struct MatrixProduct<'a, S: StoredElement> {
    /// Outputs of the left side, of the right side, and terms.
    pub(super) shape: [usize; 3],
    pub(super) left: ProductSide<S>,
    pub(super) right: ProductSide<S>,
    pub(super) to: Goal<S>,
    /// Lanes of an element.
    pub(super) parts: usize,
    /// True if the sides have changed places.
    pub(super) transposed: bool,
    pub(super) packed: &'a mut Packed,
}

/// Outputs at once for lanes of a size: rows of the left side that chains are made of, and lanes of the
/// right side. As many sums as registers have room for, with a row and a factor beside them.
pub(super) trait Registers: ChainLane {
    /// Lanes of a line of vectors: 16 bytes, 32, and 64, two vectors each.
    fn run<S: StoredElement<Lane = Self>>(product: MatrixProduct<'_, S>, vectors: Vectors);
}

macro_rules! registers {
    ($($type:ident: $portable:literal, $avx2:literal, $avx512:literal;)*) => {$(
        impl Registers for $type {
            #[inline(always)]
            fn run<S: StoredElement<Lane = Self>>(product: MatrixProduct<'_, S>, vectors: Vectors) {
                match vectors.bytes() {
                    64 => product.blocks::<12, $avx512>(),
                    32 => product.blocks::<6, $avx2>(),
                    _ => product.blocks::<4, $portable>(),
                }
            }
        }
    )*};
}

registers! {
    f32: 8, 16, 32;
    f64: 4, 8, 16;
    u32: 8, 16, 32;
    u64: 4, 8, 16;
}

impl<S: StoredElement<Lane: Registers>> VectorLoop for MatrixProduct<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self, vectors: Vectors) {
        S::Lane::run(self, vectors);
    }
}

/// A panel of both sides, packed.
struct Panel<S: StoredElement> {
    left: *mut S::Lane,
    right: *mut S::Lane,
    terms: usize,
    position: PanelPosition,
}

impl<S: StoredElement> MatrixProduct<'_, S> {
    /// The same with the longer side on the right, if the other one is too short to fill vectors:
    /// factors may trade places.
    pub(super) fn transposed(self) -> Self {
        let [rows, columns, terms] = self.shape;
        if columns * size_of::<S>() >= NARROW || columns >= rows {
            return self;
        }
        let (left, right) = (self.right, self.left);
        let to = Goal { down: self.to.across, across: self.to.down, ..self.to };
        let transposed = !self.transposed;
        Self { shape: [columns, rows, terms], left, right, to, transposed, ..self }
    }

    /// All blocks: the right side outermost, then panels in their order, then the left side.
    #[inline(always)]
    fn blocks<const R: usize, const W: usize>(self) {
        if self.is_of_vector() {
            return self.of_vector();
        }
        const { assert!(ROWS.is_multiple_of(R) && COLUMNS.is_multiple_of(W), "whole slivers") };
        let [rows, columns, terms] = self.shape;
        let few = rows <= R;
        // What is used once only need not leave the first cache.
        let wide = if few { W } else { COLUMNS };
        let (high, panel) = (ROWS.min(rows.next_multiple_of(R)), PANEL.min(terms) * self.parts);
        let room = (high * panel, wide.min(columns.next_multiple_of(W)) * panel);
        let (left, right) = self.packed.room::<S::Lane>(room.0, room.1);
        for column in (0..columns).step_by(wide) {
            let width = wide.min(columns - column);
            for first in (0..terms).step_by(PANEL) {
                let count = PANEL.min(terms - first);
                let position = PanelPosition { first: first == 0, last: first + count == terms };
                for part in 0..self.parts {
                    let (one, other) = self.lanes_of(part);
                    let panel = Panel::<S> { left, right, terms: count * self.parts, position };
                    let goal = self.to.from(0, column);
                    let goal = goal.part(part);
                    // SAFETY: R4; the room is asserted for each panel.
                    unsafe {
                        assert!(width.next_multiple_of(W) * panel.terms <= room.1, "room");
                        self.right.from(column, first).pack::<W>((width, count), other, right);
                        for row in (0..rows).step_by(ROWS) {
                            let height = ROWS.min(rows - row);
                            assert!(height.next_multiple_of(R) * panel.terms <= room.0, "room");
                            self.left.from(row, first).pack::<R>((height, count), one, left);
                            panel.block::<R, W>(goal.from(row, 0), (height, width));
                        }
                    }
                }
            }
        }
    }

    /// Which lanes of both sides make the terms of a part of the result.
    fn lanes_of(&self, part: usize) -> (ElementTerms, ElementTerms) {
        let terms = |lanes, negative| ElementTerms { lanes, negative, count: self.parts };
        let (forwards, backwards) = ([0, 1], [1, 0]);
        match (part, self.transposed) {
            (0, _) => (terms(forwards, true), terms(forwards, false)),
            (_, false) => (terms(forwards, false), terms(backwards, false)),
            // The same terms in the same order.
            (_, true) => (terms(backwards, false), terms(forwards, false)),
        }
    }
}

impl<S: StoredElement> Panel<S> {
    /// All outputs of a block.
    #[inline(always)]
    fn block<const R: usize, const W: usize>(&self, to: Goal<S>, (rows, columns): (usize, usize)) {
        for column in (0..columns).step_by(W) {
            for row in (0..rows).step_by(R) {
                let (to, left) = (to.from(row, column), row * self.terms);
                let size = (R.min(rows - row), W.min(columns - column));
                let right = self.right.wrapping_add(column * self.terms).cast_const();
                let left = self.left.wrapping_add(left).cast_const();
                match size.0 {
                    1 => self.tile::<1, W>((left, R), right, (to, size)),
                    2 => self.tile::<2, W>((left, R), right, (to, size)),
                    3 => self.tile::<3, W>((left, R), right, (to, size)),
                    4 => self.tile::<4, W>((left, R), right, (to, size)),
                    _ => self.tile::<R, W>((left, R), right, (to, size)),
                }
            }
        }
    }

    /// A few outputs.
    #[inline(always)]
    fn tile<const R: usize, const W: usize>(
        &self,
        left: (*const S::Lane, usize),
        right: *const S::Lane,
        (to, size): (Goal<S>, (usize, usize)),
    ) {
        // SAFETY: R4; `pack` has filled the slivers of both sides with so many terms.
        let sums = unsafe { chains::<S::Lane, R, W>(self.terms, left, right) };
        to.add(&sums, size, self.position);
    }
}
