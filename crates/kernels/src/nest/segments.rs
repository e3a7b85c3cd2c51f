//! Segments of two axes, cut where either side breaks and grouped where they are alike.

use std::collections::BTreeMap;

use super::joint::strided;
use super::{Level, OffsetPair, StridedLoop};
use crate::layout::{LayoutAxis, LayoutSegment};

/// At most this many kinds of segments of several runs; beyond, all are cut into single runs.
const KINDS_MAX: usize = 16;

/// Segments of a block that have the same loops inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentGroup {
    pub(super) start: OffsetPair,
    pub(super) levels: Vec<Level>,
}

/// `count` runs of `length` elements on both sides.
#[derive(Clone, Copy)]
struct MatchedRuns {
    start: OffsetPair,
    kind: RunShape,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RunShape {
    length: usize,
    count: usize,
    source: usize,
    target: usize,
}

/// One side of a block: its segments one after the other, and the stride inside of runs.
struct SideSegments {
    segments: Vec<LayoutSegment>,
    stride: usize,
}

/// The loops over a block of axes that have equally many elements on both sides.
pub(super) fn groups([source, target]: &[Vec<LayoutAxis>; 2]) -> Vec<SegmentGroup> {
    if let ([LayoutAxis::Strided(source)], [LayoutAxis::Strided(target)]) =
        (&source[..], &target[..])
    {
        return vec![SegmentGroup {
            start: OffsetPair::default(),
            levels: vec![strided(*source, *target)],
        }];
    }
    let (source, target) = (SideSegments::of(source), SideSegments::of(target));
    let mut segments = zip(&source, &target);
    let mut kinds = by_kind(&segments);
    if kinds.len() > KINDS_MAX {
        segments = segments.iter().flat_map(MatchedRuns::runs).collect();
        kinds = by_kind(&segments);
    }
    let strides = [source.stride, target.stride];
    kinds.into_iter().map(|(kind, starts)| group(kind, starts, strides)).collect()
}

/// The loop over a block as one list of its elements.
pub(super) fn listed([source, target]: &[Vec<LayoutAxis>; 2]) -> SegmentGroup {
    let (source, target) = (SideSegments::of(source), SideSegments::of(target));
    let runs = zip(&source, &target).into_iter().flat_map(|both| both.runs().collect::<Vec<_>>());
    let elements = runs.flat_map(|run| (0..run.kind.length).map(move |at| (run.start, at)));
    let pairs = elements.map(|(start, at)| OffsetPair {
        source: start.source + at * source.stride,
        target: start.target + at * target.stride,
    });
    SegmentGroup { start: OffsetPair::default(), levels: vec![Level::Listed(pairs.collect())] }
}

impl MatchedRuns {
    /// The single runs of this segment.
    fn runs(&self) -> impl Iterator<Item = Self> + use<> {
        let Self { start, kind } = *self;
        let single = RunShape { count: 1, source: 0, target: 0, ..kind };
        (0..kind.count).map(move |at| {
            let source = start.source + at * kind.source;
            let target = start.target + at * kind.target;
            Self { start: OffsetPair { source, target }, kind: single }
        })
    }
}

impl SideSegments {
    /// The segments of a product of axes: those of the inner one, for every offset of the others.
    fn of(axes: &[LayoutAxis]) -> Self {
        let Some((inner, outer)) = axes.split_last() else {
            return Self { segments: Vec::new(), stride: 1 };
        };
        let (mut segments, stride) = match inner {
            LayoutAxis::Strided(strided) => (
                vec![LayoutSegment { start: 0, count: 1, step: 0, length: strided.count }],
                strided.stride,
            ),
            LayoutAxis::Segments { segments, stride, .. } => (segments.clone(), *stride),
        };
        for axis in outer.iter().rev() {
            if let (LayoutAxis::Strided(strided), [segment @ LayoutSegment { count: 1, .. }]) =
                (axis, segments.as_mut_slice())
            {
                (segment.count, segment.step) = (strided.count, strided.stride);
                continue;
            }
            let offsets = axis.offsets();
            let shifted = offsets.iter().flat_map(|offset| {
                segments
                    .iter()
                    .map(move |segment| LayoutSegment { start: segment.start + offset, ..*segment })
            });
            segments = shifted.collect();
        }
        Self { segments, stride }
    }
}

/// Goes through the segments of both sides, as many equal runs at a time as both allow.
fn zip(source: &SideSegments, target: &SideSegments) -> Vec<MatchedRuns> {
    let (mut one, mut other) = (SegmentCursor::over(source), SegmentCursor::over(target));
    let mut found = Vec::new();
    while let (Some(a), Some(b)) = (one.head(), other.head()) {
        let length = a.length.min(b.length);
        let (a, b) = (one.runs_of(length, a), other.runs_of(length, b));
        let count = a.count.min(b.count);
        let steps = if count == 1 { [0, 0] } else { [a.step, b.step] };
        let kind = RunShape { length, count, source: steps[0], target: steps[1] };
        found.push(MatchedRuns { start: OffsetPair { source: a.start, target: b.start }, kind });
        one.skip(count * length, a);
        other.skip(count * length, b);
    }
    found
}

/// A place in the segments of one side.
struct SegmentCursor {
    /// The next segments, the first one last.
    segments: Vec<LayoutSegment>,
    stride: usize,
}

impl SegmentCursor {
    fn over(side: &SideSegments) -> Self {
        Self { segments: side.segments.iter().rev().copied().collect(), stride: side.stride }
    }

    fn head(&self) -> Option<LayoutSegment> {
        self.segments.last().copied()
    }

    /// How `head` starts with runs of `length`, at most that of its runs, at equal distances:
    /// whole runs, or equal parts of the first one.
    fn runs_of(&self, length: usize, head: LayoutSegment) -> LayoutSegment {
        if head.length == length {
            return head;
        }
        let (count, step) = (head.length / length, length * self.stride);
        LayoutSegment { start: head.start, count, step, length }
    }

    /// Moves on by that many elements of the head, which are whole ones of its `runs`.
    fn skip(&mut self, elements: usize, runs: LayoutSegment) {
        let Some(mut head) = self.segments.pop() else { return };
        if head.length == runs.length {
            let count = elements / runs.length;
            head.start += count * head.step;
            head.count -= count;
            self.push(head);
            return;
        }
        self.push(LayoutSegment { start: head.start + head.step, count: head.count - 1, ..head });
        let start = head.start + elements * self.stride;
        self.push(LayoutSegment { start, count: 1, step: 0, length: head.length - elements });
    }

    fn push(&mut self, segment: LayoutSegment) {
        if segment.count > 0 && segment.length > 0 {
            self.segments.push(segment);
        }
    }
}

/// The starts of the segments of each kind.
fn by_kind(segments: &[MatchedRuns]) -> BTreeMap<RunShape, Vec<OffsetPair>> {
    let mut kinds: BTreeMap<RunShape, Vec<OffsetPair>> = BTreeMap::new();
    for segment in segments {
        kinds.entry(segment.kind).or_default().push(segment.start);
    }
    kinds
}

/// The loops over segments of one kind.
fn group(kind: RunShape, starts: Vec<OffsetPair>, [source, target]: [usize; 2]) -> SegmentGroup {
    let inner = [
        Level::Strided(StridedLoop { count: kind.count, source: kind.source, target: kind.target }),
        Level::Strided(StridedLoop { count: kind.length, source, target }),
    ];
    let (start, outer) = match progression(&starts) {
        Some((start, dim)) => (start, Level::Strided(dim)),
        None => (OffsetPair::default(), Level::Listed(starts)),
    };
    SegmentGroup { start, levels: std::iter::once(outer).chain(inner).collect() }
}

/// The start and the strides of pairs at equal ascending distances.
fn progression(pairs: &[OffsetPair]) -> Option<(OffsetPair, StridedLoop)> {
    let first = *pairs.first()?;
    let Some(second) = pairs.get(1) else {
        return Some((first, StridedLoop { count: 1, source: 0, target: 0 }));
    };
    let source = second.source.checked_sub(first.source)?;
    let target = second.target.checked_sub(first.target)?;
    let fits = |pairs: &[OffsetPair]| {
        pairs[1].source.checked_sub(pairs[0].source) == Some(source)
            && pairs[1].target.checked_sub(pairs[0].target) == Some(target)
    };
    let dim = StridedLoop { count: pairs.len(), source, target };
    pairs.windows(2).all(fits).then_some((first, dim))
}
