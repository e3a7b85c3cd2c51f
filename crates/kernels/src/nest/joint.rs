//! Two products of axes, cut until they agree.

use super::segments::{self, SegmentGroup};
use super::{Level, LoopNest, OffsetPair, StridedLoop};
use crate::Layout;
use crate::layout::{LayoutAxis, StridedAxis};

/// At most this many nests come from the outer blocks; beyond, an axis of several segments becomes
/// one list of its elements.
const OUTER_NESTS_MAX: usize = 16;

/// Axes of both sides that have equally many elements.
#[derive(Default)]
struct AxisBlock {
    sides: [Vec<LayoutAxis>; 2],
}

/// The nests that take `source` to `target`, which have equally many elements.
pub(super) fn loops(source: &Layout, target: &Layout) -> Vec<LoopNest> {
    if source.is_empty() {
        return Vec::new();
    }
    let start = OffsetPair { source: source.start(), target: target.start() };
    let blocks = blocks(source.axes(), target.axes());
    let mut groups: Vec<Vec<SegmentGroup>> =
        blocks.iter().map(|block| segments::groups(&block.sides)).collect();
    if let Some((_, outer)) = groups.split_last_mut()
        && outer.iter().fold(1usize, |all, groups| all.saturating_mul(groups.len()))
            > OUTER_NESTS_MAX
    {
        for (groups, block) in outer.iter_mut().zip(&blocks).filter(|(groups, _)| groups.len() > 1)
        {
            *groups = vec![segments::listed(&block.sides)];
        }
    }
    let mut loops = vec![LoopNest { start, levels: Vec::new() }];
    for groups in groups {
        let longer = loops.iter().flat_map(|outer| groups.iter().map(|group| outer.with(group)));
        loops = longer.collect();
    }
    loops
}

impl LoopNest {
    /// This nest with the levels of a group inside.
    fn with(&self, group: &SegmentGroup) -> Self {
        let mut longer = self.clone();
        longer.start.source += group.start.source;
        longer.start.target += group.start.target;
        group.levels.iter().for_each(|level| longer.push(level.clone()));
        longer
    }
}

/// Cuts both sides into blocks with equally many elements, the smallest that there are.
fn blocks(source: &[LayoutAxis], target: &[LayoutAxis]) -> Vec<AxisBlock> {
    let mut rests = [Rest::new(source), Rest::new(target)];
    let mut blocks = Vec::new();
    while let (Some(one), Some(other)) = (rests[0].size(), rests[1].size()) {
        let mut block = AxisBlock::default();
        // The larger axis comes second, so that it can be split to the smaller one's size.
        let mut sizes = [1, 1];
        let first = usize::from(one > other);
        sizes[first] = block.take(first, &mut rests, None);
        while sizes[0] != sizes[1] {
            let side = usize::from(sizes[0] > sizes[1]);
            let (smaller, larger) = (sizes[side], sizes[1 - side]);
            let wanted = larger.is_multiple_of(smaller).then(|| larger / smaller);
            sizes[side] *= block.take(side, &mut rests, wanted);
        }
        blocks.push(block);
    }
    blocks
}

/// The axes of one side that are not yet in a block.
struct Rest<'a> {
    /// What is left of a strided axis that was split.
    left: Option<StridedAxis>,
    axes: std::slice::Iter<'a, LayoutAxis>,
}

impl<'a> Rest<'a> {
    fn new(axes: &'a [LayoutAxis]) -> Self {
        Self { left: None, axes: axes.iter() }
    }

    /// Size of the next axis.
    fn size(&self) -> Option<usize> {
        match self.left {
            Some(strided) => Some(strided.count),
            None => self.axes.as_slice().first().map(LayoutAxis::size),
        }
    }

    fn next(&mut self) -> LayoutAxis {
        match self.left.take() {
            Some(strided) => LayoutAxis::Strided(strided),
            None => self.axes.next().cloned().expect("both sides have equally many elements"),
        }
    }
}

impl AxisBlock {
    /// Takes the next axis of a side, or only its outer `wanted` if it can be split there; gives
    /// the size.
    fn take(&mut self, side: usize, rests: &mut [Rest<'_>; 2], wanted: Option<usize>) -> usize {
        let mut axis = rests[side].next();
        if let (LayoutAxis::Strided(strided), Some(wanted)) = (&mut axis, wanted)
            && strided.count > wanted
            && strided.count.is_multiple_of(wanted)
        {
            let inner = StridedAxis { count: strided.count / wanted, stride: strided.stride };
            *strided = StridedAxis { count: wanted, stride: strided.stride * inner.count };
            rests[side].left = Some(inner);
        }
        let size = axis.size();
        self.sides[side].push(axis);
        size
    }
}

/// A level of two strided axes.
pub(super) fn strided(source: StridedAxis, target: StridedAxis) -> Level {
    debug_assert_eq!(source.count, target.count, "axes of a block have equally many elements");
    Level::Strided(StridedLoop {
        count: source.count,
        source: source.stride,
        target: target.stride,
    })
}
