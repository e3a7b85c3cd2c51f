//! A few chains at once, in registers.

use crate::contract::lane::{ChainLane, StoredElement};

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
        // SAFETY: R4; promised by the caller for so many terms, of `W` lanes each.
        let row: [L; W] = unsafe { right.cast::<[L; W]>().read() };
        for (at, sums) in sums.iter_mut().enumerate() {
            // SAFETY: R4; promised by the caller for so many terms, of `across` lanes each, at least `R`.
            let factor = unsafe { *left.add(at) };
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum = sum.chain(factor, value);
            }
        }
        // SAFETY: R4; at most one past the last term.
        (left, right) = unsafe { (left.add(across), right.add(W)) };
    }
    sums
}

/// Where chains go.
///
/// Invariant: R1 to R3 hold for the outputs of a product that was checked, as far as loops go from here.
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
    #[inline(always)]
    pub(super) fn add<const R: usize, const W: usize>(
        self,
        sums: &[[S::Lane; W]; R],
        (rows, columns): (usize, usize),
        position: PanelPosition,
    ) {
        for (down, sums) in sums.iter().enumerate().take(rows) {
            let row = self.from(down, 0);
            if columns == W && self.across == 1 {
                row.add_row(sums, position);
                continue;
            }
            for (at, sum) in sums.iter().enumerate().take(columns) {
                row.from(0, at).add_one(*sum, position);
            }
        }
    }

    /// A whole row whose places lie side by side.
    #[inline(always)]
    fn add_row<const W: usize>(self, sums: &[S::Lane; W], position: PanelPosition) {
        for (at, sum) in sums.iter().enumerate() {
            self.part(at).add_one(*sum, position);
        }
    }

    #[inline(always)]
    fn add_one(self, sum: S::Lane, position: PanelPosition) {
        let sum = if position.first { sum } else { self.read().plus(sum) };
        self.write(if position.last { sum.settled() } else { sum });
    }

    /// The same some lanes further.
    #[inline(always)]
    pub(super) fn part(self, lanes: usize) -> Self {
        Self { start: self.start.wrapping_add(lanes), ..self }
    }

    /// What an earlier panel has written.
    #[inline(always)]
    fn read(self) -> S::Lane {
        // SAFETY: R1, R2; the output is one of a product that was checked.
        unsafe { self.start.read_unaligned() }.lane()
    }

    /// Writes one lane.
    #[inline(always)]
    pub(super) fn write(self, lane: S::Lane) {
        // SAFETY: R1, R2, R3; the output is one of a product that was checked.
        unsafe { self.start.write_unaligned(S::of(lane)) }
    }
}
