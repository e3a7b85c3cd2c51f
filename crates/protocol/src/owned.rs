//! Which indices a rank has, which of them it owns, and local <-> global.
//!
//! Three ranges of a block are kept apart: *available* (`start..stop`, padding included), *owned*
//! (available without communication padding; boundary padding is owned) and *interior* (owned
//! without boundary padding). Nothing here is allocated and nothing overflows: results that do not
//! fit 64 bits, which no valid description has, are clamped.

use crate::{Dim, DimKind, Place};
use std::ops::Range;

/// The nearest 64-bit number.
pub(crate) fn clamp(value: i128) -> i64 {
    let end = if value < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(value).unwrap_or(end)
}

/// How many of `count` items dealt in turn to `places` come to place `rank`.
fn dealt(count: i128, places: i128, rank: i128) -> i128 {
    (count - rank + places - 1).div_euclid(places).max(0)
}

impl Dim {
    /// Number of local elements along this dimension, padding included.
    #[must_use]
    pub fn extent(&self) -> i64 {
        clamp(self.wide_extent())
    }

    pub(crate) fn wide_extent(&self) -> i128 {
        let Place { size, grid_size, grid_rank } = self.place();
        let (size, places, rank) = (i128::from(size), i128::from(grid_size), i128::from(grid_rank));
        match self.kind() {
            DimKind::Block(block) => (i128::from(block.stop) - i128::from(block.start)).max(0),
            DimKind::Cyclic { block_size, .. } => {
                let block = i128::from(*block_size);
                let full = size / block;
                // The partial block goes to whoever is next in turn, not to place 0.
                let part = if full % places == rank { size % block } else { 0 };
                block * dealt(full, places, rank) + part
            }
            DimKind::Indexed { indices, .. } => indices.len() as i128,
        }
    }

    /// Number of elements this rank owns along this dimension.
    #[must_use]
    pub fn num_owned(&self) -> i64 {
        clamp(self.wide_owned_count())
    }

    pub(crate) fn wide_owned_count(&self) -> i128 {
        self.wide_owned()
            .map_or_else(|| self.wide_extent(), |owned| (owned.end - owned.start).max(0))
    }

    /// Owned global range of a block, before clamping; the end may lie before the start.
    pub(crate) fn wide_owned(&self) -> Option<Range<i128>> {
        let block = self.as_block()?;
        let Place { grid_size, grid_rank, .. } = self.place();
        let left = if grid_rank == 0 { 0 } else { block.padding.0 };
        let right = if grid_rank == grid_size - 1 { 0 } else { block.padding.1 };
        let (start, stop) = (i128::from(block.start), i128::from(block.stop));
        Some(start + i128::from(left)..stop - i128::from(right))
    }

    /// The owned global range, if this is a block. Empty ranges lie at their start.
    #[must_use]
    pub fn owned(&self) -> Option<Range<i64>> {
        let owned = self.wide_owned()?;
        let start = clamp(owned.start);
        Some(start..clamp(owned.end).max(start))
    }

    /// The owned local range: where the owned elements are in the buffer. For cyclic and indexed
    /// dimensions that is everything.
    #[must_use]
    pub fn owned_local(&self) -> Range<i64> {
        let start = self.as_block().map_or(0, |block| block.start);
        match self.owned() {
            Some(owned) => owned.start.saturating_sub(start)..owned.end.saturating_sub(start),
            None => 0..self.extent(),
        }
    }

    /// The interior: the owned range of a block without its boundary padding.
    #[must_use]
    pub fn interior(&self) -> Option<Range<i64>> {
        let (owned, block) = (self.wide_owned()?, self.as_block()?);
        let Place { grid_size, grid_rank, .. } = self.place();
        let left = if grid_rank == 0 { block.padding.0 } else { 0 };
        let right = if grid_rank == grid_size - 1 { block.padding.1 } else { 0 };
        let start = clamp(owned.start + i128::from(left));
        Some(start..clamp(owned.end - i128::from(right)).max(start))
    }

    /// The global index of the local index `local`, if there is such an element.
    #[must_use]
    pub fn global(&self, local: i64) -> Option<i64> {
        if local < 0 || i128::from(local) >= self.wide_extent() {
            return None;
        }
        let Place { grid_size, grid_rank, .. } = self.place();
        match self.kind() {
            DimKind::Block(block) => block.start.checked_add(local),
            DimKind::Cyclic { block_size, .. } => {
                let (turn, inside) = (local / block_size, local % block_size);
                let block = i128::from(turn) * i128::from(grid_size) + i128::from(grid_rank);
                i64::try_from(block * i128::from(*block_size) + i128::from(inside)).ok()
            }
            DimKind::Indexed { indices, .. } => {
                usize::try_from(local).ok().and_then(|at| indices.get(at).copied())
            }
        }
    }

    /// The local index of the global index `global`, if the element is available here.
    ///
    /// Costs a search through the labels for an indexed dimension.
    #[must_use]
    pub fn local(&self, global: i64) -> Option<i64> {
        let Place { size, grid_size, grid_rank } = self.place();
        match self.kind() {
            DimKind::Block(block) => {
                let here = (block.start..block.stop).contains(&global);
                if here { global.checked_sub(block.start) } else { None }
            }
            DimKind::Cyclic { block_size, .. } => {
                let block = global / block_size;
                let here = (0..size).contains(&global) && block % grid_size == grid_rank;
                here.then(|| block / grid_size * block_size + global % block_size)
            }
            DimKind::Indexed { indices, .. } => {
                let at = indices.iter().position(|label| *label == global)?;
                i64::try_from(at).ok()
            }
        }
    }

    /// The global indices of all local elements, in local order, one at a time.
    pub fn globals(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.extent()).map_while(|local| self.global(local))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;
    use pantile_testkit::cases;

    #[test]
    fn dealing_agrees_with_dealing_by_hand() {
        cases("cyclic by hand", 5_000, |random| {
            let size = random.range(0, 40);
            let (grid_size, block_size) = (random.range(1, 7), random.range(1, 9));
            let mut hands = vec![Vec::new(); usize::try_from(grid_size).unwrap()];
            for global in 0..size {
                hands[usize::try_from(global / block_size % grid_size).unwrap()].push(global);
            }
            for (grid_rank, hand) in (0..).zip(&hands) {
                let place = Place { size, grid_size, grid_rank };
                let kind = DimKind::Cyclic { start: grid_rank * block_size, block_size };
                let dim = Dim::new(place, kind).unwrap();
                assert_eq!(dim.globals().collect::<Vec<_>>(), *hand);
                assert_eq!(dim.num_owned(), i64::try_from(hand.len()).unwrap());
                for global in -2..size + 2 {
                    let at = hand.iter().position(|g| *g == global);
                    assert_eq!(dim.local(global), at.map(|at| i64::try_from(at).unwrap()));
                }
            }
        });
    }

    #[test]
    fn extremes_do_not_overflow() {
        let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
        for (start, stop) in extremes.iter().flat_map(|a| extremes.map(|b| (*a, b))) {
            for width in [0, 1, i64::MAX] {
                let block = Block { start, stop, padding: (width, width), periodic: true };
                let place = Place { size: i64::MAX, grid_size: i64::MAX, grid_rank: 1 };
                let dim = Dim::new(place, DimKind::Block(block)).unwrap();
                let _ = (dim.extent(), dim.num_owned(), dim.owned(), dim.owned_local());
                let _ = (dim.interior(), dim.global(i64::MAX), dim.local(i64::MIN));
                let kind = DimKind::Cyclic { start, block_size: width.max(1) };
                let dim = Dim::new(place, kind).unwrap();
                let _ = (dim.extent(), dim.global(0), dim.local(stop), dim.globals().next());
            }
        }
    }
}
