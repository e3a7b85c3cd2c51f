//! Panels of both sides, packed in the order in which they are used.

use pantile_memory::ScratchBuffer;

use crate::contract::lane::{ChainLane, StoredElement};

/// Memory for packed panels, for one thread at a time. Calls that use the same one again allocate
/// nothing.
#[derive(Debug, Default)]
pub struct Packed {
    left: ScratchBuffer,
    right: ScratchBuffer,
}

impl Packed {
    /// Room for so many lanes of both sides.
    pub(super) fn room<L>(&mut self, left: usize, right: usize) -> (*mut L, *mut L) {
        let room =
            |side: &mut ScratchBuffer, lanes: usize| side.room(lanes * size_of::<L>()).cast();
        (room(&mut self.left, left), room(&mut self.right, right))
    }
}

/// One side of a product, as the other side meets it: outputs along one axis, terms along the other.
///
/// Invariant: R1 and R2 hold for the elements of a product that was checked, as far as loops go from here.
#[derive(Clone, Copy)]
pub(super) struct ProductSide<S> {
    /// The lane of output 0 and term 0.
    pub(super) start: *const S,
    /// Lanes from one output to the next.
    pub(super) across: isize,
    /// Lanes from one term to the next.
    pub(super) along: isize,
}

/// What the terms of an element are: one, or two for complex numbers.
#[derive(Clone, Copy)]
pub(super) struct ElementTerms {
    /// Which lane each term takes.
    pub(super) lanes: [isize; 2],
    /// True if the second one is taken with the other sign.
    pub(super) negative: bool,
    /// How many there are.
    pub(super) count: usize,
}

impl<S: StoredElement> ProductSide<S> {
    /// The same from another output and term on.
    #[inline(always)]
    pub(super) fn from(self, output: usize, term: usize) -> Self {
        let shift = output.cast_signed() * self.across + term.cast_signed() * self.along;
        Self { start: self.start.wrapping_offset(shift), ..self }
    }

    /// The lane so many lanes further.
    #[inline(always)]
    pub(super) fn lane(self, at: isize) -> S::Lane {
        // SAFETY: R1, R2; the lane is one of a product that was checked.
        unsafe { self.start.wrapping_offset(at).read_unaligned() }.lane()
    }

    /// Packs `outputs` times `terms` elements into slivers of `W` outputs, all terms of a sliver one
    /// after the other; what is missing in the last sliver is zero.
    ///
    /// # Safety
    /// `to` has room for `outputs` rounded up to a multiple of `W`, times
    /// the terms of all elements.
    #[inline(always)]
    pub(super) unsafe fn pack<const W: usize>(
        self,
        (outputs, terms): (usize, usize),
        how: ElementTerms,
        to: *mut S::Lane,
    ) {
        let (mut first, mut to) = (0, to);
        while first < outputs {
            let (side, width) = (self.from(first, 0), W.min(outputs - first));
            for term in 0..how.count {
                let start = side.start.wrapping_offset(how.lanes[term]);
                let negative = how.negative && term == 1;
                let side = Self { start, ..side };
                // SAFETY: R4; promised by the caller: a sliver has room for all terms of `W` outputs.
                unsafe {
                    let to = to.add(term * W);
                    side.pack_sliver::<W>((width, terms), negative, (to, how.count * W));
                }
            }
            to = to.wrapping_add(W * terms * how.count);
            first += W;
        }
    }

    /// Packs one sliver; terms are `step` lanes apart.
    ///
    /// # Safety
    /// As [`ProductSide::pack`].
    #[inline(always)]
    unsafe fn pack_sliver<const W: usize>(
        self,
        (width, terms): (usize, usize),
        negative: bool,
        (to, step): (*mut S::Lane, usize),
    ) {
        let lane = |start: *const S, at: isize| {
            let lane = Self { start, ..self }.lane(at);
            if negative { lane.negative() } else { lane }
        };
        if width == W && self.across == 1 {
            for term in 0..terms {
                let start = self.start.wrapping_offset(term.cast_signed() * self.along);
                let all: [S::Lane; W] = std::array::from_fn(|at| lane(start, at.cast_signed()));
                // SAFETY: R4; promised by the caller, and lanes of ours are aligned.
                unsafe { to.add(term * step).cast::<[S::Lane; W]>().write(all) };
            }
            return;
        }
        for at in 0..W {
            let start = self.start.wrapping_offset(at.cast_signed() * self.across);
            for term in 0..terms {
                let value = match at < width {
                    true => lane(start, term.cast_signed() * self.along),
                    false => S::Lane::default(),
                };
                // SAFETY: R4; promised by the caller: the lane is one of the sliver.
                unsafe { to.add(term * step + at).write(value) };
            }
        }
    }
}
