//! A vector times a matrix, which is read once and where it is: nothing of it is packed.

use super::blocks::MatrixProduct;
use super::packed::{ElementTerms, ProductSide};
use super::run::PANEL;
use super::tile::{Goal, PanelPosition};
use crate::contract::lane::{ChainLane, StoredElement};

/// Chains that go on side by side where the terms of each lie side by side.
pub(super) const CHAINS: usize = 8;

/// Columns whose sums stay in the first cache where columns lie side by side.
pub(super) const COLUMNS: usize = 512;

/// Rows that are added to such sums at once.
const ROWS: usize = 4;

impl<S: StoredElement> MatrixProduct<'_, S> {
    /// True if the left side is one vector and the right side lies in order, one way or the other.
    pub(super) fn is_of_vector(&self) -> bool {
        let near = self.right.along == 1 || self.right.across == 1;
        self.shape[0] == 1 && self.parts == 1 && near
    }

    /// All outputs of a vector, panel by panel.
    #[inline(always)]
    pub(super) fn of_vector(self) {
        let [_, columns, terms] = self.shape;
        let (left, _) = self.packed.room::<S::Lane>(PANEL, 0);
        let alone = ElementTerms { lanes: [0, 0], negative: false, count: 1 };
        for first in (0..terms).step_by(PANEL) {
            let count = PANEL.min(terms - first);
            let position = PanelPosition { first: first == 0, last: first + count == terms };
            // SAFETY: R4; the room is for a panel, which `count` does not exceed.
            let factors = unsafe {
                self.left.from(0, first).pack::<1>((1, count), alone, left);
                std::slice::from_raw_parts(left.cast_const(), count)
            };
            let matrix = self.right.from(0, first);
            let step = if matrix.along == 1 { CHAINS } else { COLUMNS };
            for column in (0..columns).step_by(step) {
                let width = step.min(columns - column);
                let (start, to) = (matrix.from(column, 0), self.to.from(0, column));
                match matrix.along {
                    1 if width == CHAINS => {
                        side_by_side::<S, CHAINS>(start, factors, (to, position));
                    }
                    1 => {
                        for at in 0..width {
                            let start = matrix.from(column + at, 0);
                            let to = self.to.from(0, column + at);
                            side_by_side::<S, 1>(start, factors, (to, position));
                        }
                    }
                    _ => row_by_row(start, (factors, width), (to, position)),
                }
            }
        }
    }
}

/// `N` chains whose terms lie side by side, as many as there are factors.
#[inline(always)]
fn side_by_side<S: StoredElement, const N: usize>(
    side: ProductSide<S>,
    factors: &[S::Lane],
    (to, position): (Goal<S>, PanelPosition),
) {
    // Pointers alone: compilers keep these in registers.
    let rows: [*const S; N] = std::array::from_fn(|at| side.from(at, 0).start);
    let mut sums = [S::Lane::default(); N];
    for (term, factor) in factors.iter().enumerate() {
        for (sum, row) in sums.iter_mut().zip(rows) {
            // SAFETY: R1, R2; the term is one of a side that was checked.
            let value = unsafe { row.wrapping_add(term).read_unaligned() };
            *sum = sum.chain(*factor, value.lane());
        }
    }
    to.add(&[sums], (1, N), position);
}

/// Chains of columns that lie side by side: rows are added to all of them, a few rows at once.
#[inline(always)]
fn row_by_row<S: StoredElement>(
    side: ProductSide<S>,
    (factors, width): (&[S::Lane], usize),
    (to, position): (Goal<S>, PanelPosition),
) {
    let mut sums = [S::Lane::default(); COLUMNS];
    let sums = &mut sums[..width];
    let row = |term: usize| side.from(0, term).start;
    let (fours, rest) = factors.as_chunks::<ROWS>();
    for (number, four) in fours.iter().enumerate() {
        let rows: [*const S; ROWS] = std::array::from_fn(|at| row(number * ROWS + at));
        for (at, sum) in sums.iter_mut().enumerate() {
            for (factor, row) in four.iter().zip(rows) {
                // SAFETY: R1, R2; the column is one of a side that was checked.
                let value = unsafe { row.wrapping_add(at).read_unaligned() };
                *sum = sum.chain(*factor, value.lane());
            }
        }
    }
    for (number, factor) in rest.iter().enumerate() {
        let row = row(fours.len() * ROWS + number);
        for (at, sum) in sums.iter_mut().enumerate() {
            // SAFETY: R1, R2; the column is one of a side that was checked.
            let value = unsafe { row.wrapping_add(at).read_unaligned() };
            *sum = sum.chain(*factor, value.lane());
        }
    }
    for (at, sum) in sums.iter().enumerate() {
        to.from(0, at).add(&[[*sum]], (1, 1), position);
    }
}
