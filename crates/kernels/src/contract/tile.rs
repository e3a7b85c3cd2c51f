//! A few chains at once, in registers.

#![allow(unsafe_code, reason = "reads packed lanes through pointers")]

use super::lane::{ChainLane, StoredElement};

/// The chains of `R` outputs of the left side with `W` of the right side, over packed terms. Slivers
/// of the left side are `across` lanes wide.
///
/// # Safety
/// Both sides have so many terms.
#[inline(always)]
pub(super) unsafe fn chains<L: ChainLane, const R: usize, const W: usize>(
    terms: usize,
    (mut left, across): (*const L, usize),
    mut right: *const L,
) -> [[L; W]; R] {
    let mut sums = [[L::default(); W]; R];
    for _ in 0..terms {
        // SAFETY: the caller's promise; a term of the right side is `W` lanes.
        let row: [L; W] = unsafe { right.cast::<[L; W]>().read() };
        for (at, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise; a term of the left side is `across` lanes, at least `R`.
            let factor = unsafe { *left.add(at) };
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum = sum.chain(factor, value);
            }
        }
        // SAFETY: at most one past the last term.
        (left, right) = unsafe { (left.add(across), right.add(W)) };
    }
    sums
}

/// Where chains go, and what they are there.
#[derive(Clone, Copy)]
pub(super) struct Goal<S> {
    /// The lane of output 0 of both sides.
    pub(super) start: *mut S,
    /// Lanes from one output of the left side to the next.
    pub(super) down: isize,
    /// Lanes from one output of the right side to the next.
    pub(super) across: isize,
}

/// Which of the panels of a product.
#[derive(Clone, Copy)]
pub(super) struct PanelPosition {
    /// Nothing is there yet.
    pub(super) first: bool,
    /// Nothing comes after it.
    pub(super) last: bool,
}

impl<S: StoredElement> Goal<S> {
    /// The same from other outputs on.
    #[inline(always)]
    pub(super) fn from(self, down: usize, across: usize) -> Self {
        let shift = down.cast_signed() * self.down + across.cast_signed() * self.across;
        Self { start: self.start.wrapping_offset(shift), ..self }
    }

    /// Adds the chains of a panel to what is there.
    ///
    /// # Safety
    /// The places of `rows` times `columns` outputs may be written.
    #[inline(always)]
    pub(super) unsafe fn add<const R: usize, const W: usize>(
        self,
        sums: &[[S::Lane; W]; R],
        (rows, columns): (usize, usize),
        position: PanelPosition,
    ) {
        for (down, sums) in sums.iter().enumerate().take(rows) {
            let row = self.from(down, 0);
            if columns == W && self.across == 1 {
                // SAFETY: the caller's promise.
                unsafe { row.add_row(sums, position) };
                continue;
            }
            for (at, sum) in sums.iter().enumerate().take(columns) {
                // SAFETY: the caller's promise.
                unsafe { row.from(0, at).add_one(*sum, position) };
            }
        }
    }

    /// A whole row whose places lie side by side.
    #[inline(always)]
    unsafe fn add_row<const W: usize>(self, sums: &[S::Lane; W], position: PanelPosition) {
        for (at, sum) in sums.iter().enumerate() {
            let place = Self { start: self.start.wrapping_add(at), ..self };
            // SAFETY: the caller's promise.
            unsafe { place.add_one(*sum, position) };
        }
    }

    #[inline(always)]
    unsafe fn add_one(self, sum: S::Lane, position: PanelPosition) {
        // SAFETY: the caller's promise; an earlier panel has written what is read.
        unsafe {
            let sum = match position.first {
                true => sum,
                false => self.start.read_unaligned().lane().plus(sum),
            };
            let sum = if position.last { sum.settled() } else { sum };
            self.start.write_unaligned(S::of(sum));
        }
    }
}
