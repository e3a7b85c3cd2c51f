//! Loops over two layouts at once.

mod joint;
mod segments;

use crate::{Error, Layout};

/// A compiled loop over two layouts: the i-th element of the source meets the i-th of the target.
///
/// It is a list of loop nests, mostly one; each has a start on both sides and levels, outermost
/// first. A level is a count with a stride per side, or, where no formula fits, a list of pairs
/// of offsets along one axis. The nests together meet every pair once, in an order of their own.
///
/// ```text
/// columns 1..3 of a 3x4 tile -> dense:     source 1, target 0
///   . # # .                                3 times: source + 4, target + 2
///   . # # .                                2 times: source + 1, target + 1
///   . # # .
/// ```
///
/// Invariants:
/// 1. All source offsets lie below `source_span`, all target offsets below `target_span`.
/// 2. `len` is the number of pairs.
/// 3. Every level counts at least two, and no two adjacent strided levels could be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    loops: Vec<LoopNest>,
    len: usize,
    spans: [usize; 2],
    contiguous: [Option<usize>; 2],
}

/// One nest of loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopNest {
    pub(crate) start: OffsetPair,
    pub(crate) levels: Vec<Level>,
}

/// One loop of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Strided(StridedLoop),
    Listed(Vec<OffsetPair>),
}

/// `count` times, with a stride per side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StridedLoop {
    pub(crate) count: usize,
    pub(crate) source: usize,
    pub(crate) target: usize,
}

/// An offset per side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OffsetPair {
    pub(crate) source: usize,
    pub(crate) target: usize,
}

impl Nest {
    /// The loop that takes the elements of `source` to those of `target`, in message order.
    ///
    /// Axes of boxes and dealt runs stay formulas; a run against several is split. Only where runs
    /// do not fit, or places are listed, there is a list along that axis. If the two regions have
    /// different shapes, axes are split and grouped until they agree.
    ///
    /// # Errors
    /// If the numbers of elements differ.
    pub fn joint(source: &Layout, target: &Layout) -> Result<Self, Error> {
        if source.len() != target.len() {
            return Err(Error::Lengths { source: source.len(), target: target.len() });
        }
        Ok(Self::of_equal(source, target))
    }

    /// The loop over one layout: source and target are the same.
    #[must_use]
    pub fn over(layout: &Layout) -> Self {
        Self::of_equal(layout, layout)
    }

    /// The loop over two layouts with equally many elements.
    fn of_equal(source: &Layout, target: &Layout) -> Self {
        Self {
            loops: joint::loops(source, target),
            len: source.len(),
            spans: [source.span(), target.span()],
            contiguous: [source.contiguous(), target.contiguous()],
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One past the highest source offset; 0 if there is none.
    #[must_use]
    pub fn source_span(&self) -> usize {
        self.spans[0]
    }

    /// One past the highest target offset; 0 if there is none.
    #[must_use]
    pub fn target_span(&self) -> usize {
        self.spans[1]
    }

    /// True if every source offset is the target offset.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.loops.iter().all(|nest| {
            nest.start.source == nest.start.target
                && nest.levels.iter().all(|level| match level {
                    Level::Strided(dim) => dim.source == dim.target,
                    Level::Listed(pairs) => pairs.iter().all(|pair| pair.source == pair.target),
                })
        })
    }

    /// The first source offset, if the source is one run in message order (0 if it is empty).
    #[must_use]
    pub fn source_contiguous(&self) -> Option<usize> {
        self.contiguous[0]
    }

    /// The first target offset, if the target is one run in message order (0 if it is empty).
    #[must_use]
    pub fn target_contiguous(&self) -> Option<usize> {
        self.contiguous[1]
    }

    pub(crate) fn loops(&self) -> &[LoopNest] {
        &self.loops
    }
}

impl LoopNest {
    /// Adds an inner loop, as part of the last one where they fit.
    pub(crate) fn push(&mut self, level: Level) {
        let Level::Strided(inner) = level else {
            self.levels.push(level);
            return;
        };
        if inner.count == 1 {
            return;
        }
        if let Some(Level::Strided(last)) = self.levels.last_mut()
            && last.source == inner.count * inner.source
            && last.target == inner.count * inner.target
        {
            *last = StridedLoop { count: last.count * inner.count, ..inner };
            return;
        }
        self.levels.push(level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_geometry::{IndexSet, Segment, Segments, Slab};

    fn layout(axes: &[IndexSet], shape: &[usize]) -> Layout {
        let axes = axes.iter().map(|set| set.indices().clone()).collect();
        Layout::of(&Slab { axes }, shape).unwrap()
    }

    fn dealt(start: usize, length: usize, step: usize, count: usize) -> IndexSet {
        let segments: Segments = Segment::strided(start, length, step, count).into_iter().collect();
        IndexSet::from_segments(segments)
    }

    /// Nests, and levels in all of them as `count(source,target)` or `list of n`.
    fn check(source: &Layout, target: &Layout, expected: &[&str]) {
        let nest = Nest::joint(source, target).unwrap();
        let level = |level: &Level| match level {
            Level::Strided(StridedLoop { count, source, target }) => {
                format!("{count}({source},{target})")
            }
            Level::Listed(pairs) => format!("list of {}", pairs.len()),
        };
        let text = |nest: &LoopNest| {
            let levels: Vec<String> = nest.levels.iter().map(level).collect();
            format!("{}->{}: {}", nest.start.source, nest.start.target, levels.join(" "))
        };
        assert_eq!(nest.loops().iter().map(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn boxes_against_dense_memory() {
        let all = IndexSet::range(0, 4096);
        let block = layout(&[all.clone(), IndexSet::range(2048, 4096)], &[4096, 4096]);
        check(&block, &Layout::dense(0, 4096 * 2048), &["2048->0: 4096(4096,2048) 2048(1,1)"]);
        let column = layout(&[all, IndexSet::range(7, 8)], &[4096, 4096]);
        check(&column, &Layout::dense(3, 4096), &["7->3: 4096(4096,1)"]);
        check(&Layout::dense(1, 9), &Layout::dense(2, 9), &["1->2: 9(1,1)"]);
        check(&Layout::dense(1, 1), &Layout::dense(2, 1), &["1->2: "]);
        check(&Layout::dense(1, 0), &Layout::dense(2, 0), &[]);
    }

    #[test]
    fn dealt_runs_stay_two_loops() {
        let runs = layout(&[dealt(64, 64, 256, 1000)], &[256_000]);
        check(&runs, &Layout::dense(0, 64_000), &["64->0: 1000(256,64) 64(1,1)"]);
        let other = layout(&[dealt(0, 64, 128, 1000)], &[128_000]);
        check(&runs, &other, &["64->0: 1000(256,128) 64(1,1)"]);
        let halves = layout(&[dealt(0, 32, 64, 2000)], &[128_000]);
        check(&runs, &halves, &["64->0: 1000(256,128) 2(32,64) 32(1,1)"]);
        let both = layout(&[dealt(0, 2, 4, 3), dealt(0, 2, 4, 5)], &[12, 20]);
        check(&both, &Layout::dense(0, 60), &["0->0: 3(80,20) 10(4,2) 2(1,1)"]);
    }

    #[test]
    fn runs_that_do_not_fit_are_listed_along_their_axis() {
        let twos = layout(&[dealt(0, 2, 5, 6), IndexSet::range(0, 2)], &[27, 9]);
        let threes = layout(&[dealt(0, 3, 4, 4), IndexSet::range(0, 2)], &[15, 8]);
        check(&twos, &threes, &["0->0: list of 4 2(1,1)", "0->0: list of 4 2(9,8) 2(1,1)"]);
    }

    #[test]
    fn shapes_are_split_until_they_agree() {
        let wide = layout(&[IndexSet::range(0, 4), IndexSet::range(0, 6)], &[4, 7]);
        let high = layout(&[IndexSet::range(0, 8), IndexSet::range(0, 3)], &[8, 5]);
        check(&wide, &high, &["0->0: 4(7,10) 2(3,5) 3(1,1)"]);
        let odd = layout(&[IndexSet::range(0, 3), IndexSet::range(0, 8)], &[3, 9]);
        let nest = Nest::joint(&wide, &odd).unwrap();
        assert_eq!((nest.len(), nest.source_span(), nest.target_span()), (24, 27, 26));
    }

    #[test]
    fn lists_are_one_list_per_axis() {
        let places: Vec<usize> = (0..40).map(|i| i * i).collect();
        let list = IndexSet::from_list(places);
        let layout = layout(&[list.clone(), list], &[1600, 1600]);
        let nest = Nest::joint(&layout, &Layout::dense(0, 1600)).unwrap();
        let listed = |nest: &LoopNest| {
            let levels = nest.levels.iter().map(|level| match level {
                Level::Listed(pairs) => pairs.len(),
                Level::Strided(_) => 0,
            });
            levels.sum::<usize>()
        };
        assert!(nest.loops().iter().map(listed).sum::<usize>() <= 4 * 40);
    }

    #[test]
    fn half_a_trillion_elements_are_a_few_levels() {
        let wide = IndexSet::range(1, 1 + (1 << 13));
        let cube = [wide.clone(), dealt(0, 64, 128, 1 << 7), wide];
        let length = (1 << 14) + 2;
        let (one, other) = (layout(&cube, &[length; 3]), layout(&cube, &[length + 1; 3]));
        for target in [other, Layout::dense(0, one.len())] {
            let nest = Nest::joint(&one, &target).unwrap();
            let levels: Vec<usize> = nest.loops().iter().map(|nest| nest.levels.len()).collect();
            assert_eq!((nest.len(), levels), (1 << 39, vec![4]));
        }
    }

    #[test]
    fn properties_are_told() {
        let block = layout(&[IndexSet::range(1, 3), IndexSet::range(1, 3)], &[4, 4]);
        let nest = Nest::joint(&block, &block).unwrap();
        assert!(nest.is_identity());
        assert_eq!(nest.source_contiguous(), None);
        let nest = Nest::joint(&block, &Layout::dense(5, 4)).unwrap();
        assert!(!nest.is_identity());
        assert_eq!(nest.target_contiguous(), Some(5));
        let wrong = Nest::joint(&block, &Layout::dense(0, 3));
        assert_eq!(wrong, Err(Error::Lengths { source: 4, target: 3 }));
    }
}
