//! How a box is cut into pieces for several threads: along one axis, whatever lies in it.

use std::ops::Range;
use std::sync::Arc;

use pantile_kernels::pack::NestPart;

use crate::Scheme;
use crate::thread_pool::ThreadPool;

/// Pieces along an axis whose elements lie side by side begin at multiples of this, so that streams
/// stay aligned and no two threads write the same line.
pub(super) const GRAIN: usize = 64;

/// Bytes that a loop touches for each byte of cells that threads have of their own, at least.
const WORTH: usize = 8;

/// Units that a scheme deals with at most: beyond that, several grains are one.
pub(super) const UNITS_MAX: usize = 4096;

/// A box cut along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CutBox {
    /// Along which axis.
    pub(crate) axis: usize,
    /// How many pieces; some are empty if there are more than the axis has grains.
    pub(crate) pieces: usize,
    length: usize,
    grain: usize,
    /// Where pieces begin and the last one ends, unless they are even.
    starts: Option<Arc<[usize]>>,
}

impl CutBox {
    /// The indices of a piece along the axis.
    pub(crate) fn range(&self, piece: usize) -> Range<usize> {
        match &self.starts {
            Some(starts) => starts[piece]..starts[piece + 1],
            None => NestPart { part: piece, of: self.pieces }.range(self.length, self.grain),
        }
    }

    /// The same axis, cut as a scheme says.
    fn by(self, scheme: Scheme, threads: usize) -> Self {
        if scheme == Scheme::Even {
            return self;
        }
        let unit = self.grain * self.grains().div_ceil(UNITS_MAX);
        let pieces = scheme.pieces(self.length.div_ceil(unit), threads, 1);
        let mut starts = vec![0];
        for units in &pieces {
            starts.push((starts[starts.len() - 1] + units * unit).min(self.length));
        }
        Self { pieces: pieces.len(), starts: Some(starts.into()), ..self }
    }

    /// The cut of a box whose loop touches so many bytes for each element and writes places of which
    /// no two pieces have the same: the strides of all targets, axis by axis. None if it is best
    /// done by one.
    pub(crate) fn of_map<'a>(
        thread_pool: &ThreadPool,
        shape: &[usize],
        element: usize,
        writes: impl Iterator<Item = &'a [isize]> + Clone,
    ) -> Option<Self> {
        let pieces = thread_pool.pieces(touched(shape, element));
        if pieces == 1 {
            return None;
        }
        let free = |axis: usize| writes.clone().all(|strides| strides[axis] != 0);
        let near = |axis: usize| writes.clone().any(|strides| strides[axis].abs() == 1);
        let axes = (0..shape.len()).filter(|axis| free(*axis));
        best(axes.map(|axis| Self::along(thread_pool, shape, (axis, near(axis)), pieces)), pieces)
            .map(|cut| cut.by(thread_pool.scheme(), thread_pool.threads()))
    }

    /// The cut of a box that is folded into cells, which are so far apart from one index to the next
    /// along each axis. True if pieces share cells, and need some of their own.
    pub(crate) fn of_fold(
        thread_pool: &ThreadPool,
        shape: &[usize],
        element: usize,
        cells: FoldCells<'_>,
    ) -> Option<(Self, bool)> {
        let bytes = touched(shape, element);
        let pieces = thread_pool.pieces(bytes);
        if pieces == 1 {
            return None;
        }
        let along = |axis: usize| {
            Self::along(thread_pool, shape, (axis, cells.strides[axis].abs() == 1), pieces)
        };
        let kept = (0..shape.len()).filter(|axis| cells.apart(shape, *axis));
        let kept = best(kept.map(along), thread_pool.threads()).map(|cut| (cut, false));
        let full = |cut: &(Self, bool)| cut.0.grains() >= thread_pool.threads();
        let shared =
            cells.merges && (thread_pool.always() || cells.worth(thread_pool, shape, bytes));
        let apart =
            || shared.then(|| best((0..shape.len()).map(along), pieces))?.map(|cut| (cut, true));
        let found = kept.clone().filter(full).or_else(apart).or(kept);
        found.map(|(cut, shared)| (cut.by(thread_pool.scheme(), thread_pool.threads()), shared))
    }

    fn along(
        thread_pool: &ThreadPool,
        shape: &[usize],
        (axis, near): (usize, bool),
        pieces: usize,
    ) -> Self {
        let last = shape[axis + 1..].iter().all(|length| *length == 1);
        let grain = if (last || near) && !thread_pool.always() { GRAIN } else { 1 };
        Self { axis, pieces, length: shape[axis], grain, starts: None }
    }

    fn grains(&self) -> usize {
        self.length.div_ceil(self.grain)
    }
}

/// The outermost axis that has enough for all, else the one that has most.
fn best(cuts: impl Iterator<Item = CutBox> + Clone, enough: usize) -> Option<CutBox> {
    let first = cuts.clone().find(|cut| cut.grains() >= enough);
    let cut = first.or_else(|| cuts.max_by_key(CutBox::grains))?;
    let pieces = cut.pieces.min(cut.grains());
    (pieces > 1).then_some(CutBox { pieces, ..cut })
}

/// The cells of a fold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldCells<'a> {
    /// Cells from one index to the next, per axis; 0 along axes that are folded.
    pub(crate) strides: &'a [isize],
    /// Bytes of a cell, of all outputs together, in a form that can be merged.
    pub(crate) bytes: usize,
    /// Whether there is such a form.
    pub(crate) merges: bool,
}

impl FoldCells<'_> {
    /// True if indices along an axis have different cells, all those of one before all those of the
    /// next.
    fn apart(&self, shape: &[usize], axis: usize) -> bool {
        let others = (0..shape.len()).filter(|other| *other != axis);
        let span: usize = others
            .map(|other| (shape[other].saturating_sub(1)) * self.strides[other].unsigned_abs())
            .sum();
        // Where the order matters nothing is cut: pieces are walked in orders of their own.
        self.merges && self.strides[axis].unsigned_abs() > span
    }

    /// True if it pays that threads have cells of their own.
    fn worth(&self, thread_pool: &ThreadPool, shape: &[usize], bytes: usize) -> bool {
        let own = self.count(shape).saturating_mul(self.bytes * thread_pool.threads());
        own.saturating_mul(WORTH) <= bytes
    }

    /// How many cells there are.
    fn count(&self, shape: &[usize]) -> usize {
        let kept = shape.iter().zip(self.strides).filter(|(_, stride)| **stride != 0);
        kept.fold(1, |count, (length, _)| count.saturating_mul(*length))
    }
}

fn touched(shape: &[usize], element: usize) -> usize {
    shape.iter().fold(element, |bytes, length| bytes.saturating_mul(*length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(cut: &CutBox) -> Vec<Range<usize>> {
        (0..cut.pieces).map(|piece| cut.range(piece)).collect()
    }

    #[test]
    fn pieces_cover_the_axis() {
        for (length, pieces, grain) in
            [(1, 1, 1), (7, 3, 1), (100, 7, 64), (1000, 3, 64), (5, 5, 1)]
        {
            let all = ranges(&CutBox { axis: 0, pieces, length, grain, starts: None });
            let mut next = 0;
            for range in &all {
                assert_eq!(range.start, next);
                assert!(range.start.is_multiple_of(grain) || range.is_empty());
                next = range.end;
            }
            assert_eq!(next, length);
        }
    }

    #[test]
    fn schemes_cut_at_grains_and_cover_the_axis() {
        for (length, grain) in [(7, 1), (1000, 1), (1000, 64), (5_000_003, 1), (5_000_003, 64)] {
            for (name, scheme) in Scheme::ALL {
                let cut = CutBox { axis: 0, pieces: 2, length, grain, starts: None }.by(scheme, 4);
                let (mut next, what) = (0, format!("{name} of {length} by {grain}"));
                assert!(cut.pieces <= UNITS_MAX, "{what}");
                for range in ranges(&cut) {
                    assert_eq!(range.start, next, "{what}");
                    assert!(range.start.is_multiple_of(grain) && !range.is_empty(), "{what}");
                    next = range.end;
                }
                assert_eq!(next, length, "{what}");
            }
        }
        let thread_pool = ThreadPool::new(4).with_scheme(Scheme::Guided);
        let cut =
            CutBox::of_map(&thread_pool, &[1000, 1000], 24, [&[1000isize, 1][..]].into_iter());
        let lengths: Vec<usize> = ranges(&cut.expect("large")).iter().map(Range::len).collect();
        assert_eq!(lengths[..4], [250, 188, 141, 106]);
    }

    fn map(threads: usize, shape: &[usize], writes: &[&[isize]]) -> Option<(usize, usize)> {
        let thread_pool = ThreadPool::new(threads);
        let cut = CutBox::of_map(&thread_pool, shape, 24, writes.iter().copied());
        cut.map(|cut| (cut.axis, cut.pieces))
    }

    #[test]
    fn maps_are_cut_along_the_outermost_axis_that_is_long_enough() {
        assert_eq!(map(2, &[1000, 1000], &[&[1000, 1]]), Some((0, 2)));
        assert_eq!(map(1, &[1000, 1000], &[&[1000, 1]]), None, "one thread");
        assert_eq!(map(2, &[100, 100], &[&[100, 1]]), None, "too little");
        assert_eq!(map(3, &[2, 1_000_000], &[&[1_000_000, 1]]), Some((1, 3)));
        assert_eq!(map(8, &[2, 3, 20_000], &[&[60_000, 20_000, 1]]), Some((2, 8)));
        assert_eq!(map(8, &[3, 20_000, 2], &[&[40_000, 2, 1]]), Some((1, 8)));
        assert_eq!(map(2, &[1000, 1000], &[&[1000, 1], &[0, 1]]), Some((1, 2)), "written once");
        assert_eq!(map(2, &[1_000_000], &[&[0]]), None, "one place");
        assert_eq!(map(2, &[0, 1_000_000], &[&[1, 1]]), None, "nothing");
    }

    fn fold(shape: &[usize], strides: &[isize], merges: bool) -> Option<(usize, bool)> {
        let cells = FoldCells { strides, bytes: 568, merges };
        let cut = CutBox::of_fold(&ThreadPool::new(2), shape, 8, cells);
        cut.map(|(cut, shared)| (cut.axis, shared))
    }

    #[test]
    fn folds_are_cut_where_cells_are_apart() {
        assert_eq!(fold(&[1_000_000], &[0], true), Some((0, true)));
        assert_eq!(fold(&[1000, 1000], &[1, 0], true), Some((0, false)));
        assert_eq!(fold(&[1000, 1000], &[0, 1], true), Some((1, false)));
        assert_eq!(fold(&[1_000_000, 16], &[0, 1], true), Some((0, true)), "few columns");
        assert_eq!(fold(&[2000, 64, 3], &[0, 3, 1], true), Some((1, false)));
        assert_eq!(fold(&[500, 2, 500], &[0, 500, 1], true), Some((1, false)));
        assert_eq!(fold(&[100_000, 8, 2], &[0, 1, 8], true), Some((0, true)), "mixed cells");
        assert_eq!(fold(&[500, 500, 2], &[0, 1, 500], true), None, "too many cells");
        assert_eq!(fold(&[1_000_000], &[0], false), None, "the order matters");
        assert_eq!(fold(&[1000, 1000], &[1, 0], false), None, "the order matters");
    }
}
