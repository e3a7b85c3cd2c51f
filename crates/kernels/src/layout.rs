//! Where the elements of a region lie in one memory.

mod cut;
mod runs;

use pantile_geometry::{Indices, Slab};

use crate::Error;

/// Offsets stay below this, so that sixteen times as many bytes can be counted, with room to
/// spare for sums.
pub const LIMIT: usize = 1 << 58;

/// Where the elements of a region lie in one memory, in message order, as element offsets.
///
/// Message order is row-major over the axes, each axis in the order of its places. The layout is
/// kept as a product of axes; nothing in it grows with the number of elements of the region.
///
/// Invariants:
/// 1. `span` is one past the highest offset, 0 if there is none, and below [`LIMIT`].
/// 2. Every axis has at least two elements; axes of one are part of `start`.
/// 3. No two adjacent strided axes could be one.
/// 4. An empty layout has no axes and `len` 0; otherwise `len` is the product of the sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    start: usize,
    axes: Vec<LayoutAxis>,
    len: usize,
    span: usize,
}

/// Offsets of one axis, relative to the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LayoutAxis {
    /// Offsets at equal distances, from 0.
    Strided(StridedAxis),
    /// Several segments one after the other, whose elements are `stride` apart.
    Segments { segments: Vec<LayoutSegment>, stride: usize, size: usize },
}

/// The offsets `i * stride` for `i < count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StridedAxis {
    pub(crate) count: usize,
    pub(crate) stride: usize,
}

/// The offsets `start + i * step + j * stride` for `i < count`, `j < length`; all segments of an
/// axis have the same stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LayoutSegment {
    pub(crate) start: usize,
    pub(crate) count: usize,
    pub(crate) step: usize,
    pub(crate) length: usize,
}

impl LayoutSegment {
    fn run(start: usize, length: usize) -> Self {
        Self { start, count: 1, step: 0, length }
    }

    /// One past the last index of a segment in indices; `None` if that cannot be counted.
    fn stop(&self) -> Option<usize> {
        (self.count - 1).checked_mul(self.step)?.checked_add(self.length)?.checked_add(self.start)
    }
}

impl LayoutAxis {
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Strided(strided) => strided.count,
            Self::Segments { size, .. } => *size,
        }
    }

    /// The highest offset.
    fn last(&self) -> usize {
        match self {
            Self::Strided(strided) => (strided.count - 1) * strided.stride,
            Self::Segments { segments, stride, .. } => {
                let last =
                    |p: &LayoutSegment| p.start + (p.count - 1) * p.step + (p.length - 1) * stride;
                segments.iter().map(last).max().unwrap_or(0)
            }
        }
    }

    /// All offsets in message order.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        match self {
            Self::Strided(strided) => (0..strided.count).map(|i| i * strided.stride).collect(),
            Self::Segments { segments, stride, .. } => {
                let of = |p: &LayoutSegment| {
                    let LayoutSegment { start, count, step, length } = *p;
                    let stride = *stride;
                    (0..count)
                        .flat_map(move |i| (0..length).map(move |j| start + i * step + j * stride))
                };
                segments.iter().flat_map(of).collect()
            }
        }
    }
}

impl Layout {
    /// Where the places of `slab` lie in a row-major memory of this local shape.
    ///
    /// # Errors
    /// If the numbers of axes differ, a place lies outside of the shape, or there are more
    /// elements than [`LIMIT`].
    pub fn of(slab: &Slab, shape: &[usize]) -> Result<Self, Error> {
        if slab.axes.len() != shape.len() {
            return Err(Error::Axes { slab: slab.axes.len(), shape: shape.len() });
        }
        let mut parts = Vec::with_capacity(shape.len());
        for (axis, indices) in slab.axes.iter().enumerate() {
            let segments = segments_of(indices);
            let length = shape[axis];
            for segment in &segments {
                let stop = segment.stop().unwrap_or(usize::MAX);
                if stop > length {
                    return Err(Error::Outside { axis, stop, length });
                }
            }
            parts.push(segments);
        }
        if parts.iter().any(Vec::is_empty) {
            return Ok(Self::dense(0, 0));
        }
        let strides = strides_of(shape)?;
        let mut layout = Self { start: 0, axes: Vec::new(), len: 1, span: 0 };
        for (segments, stride) in parts.into_iter().zip(strides) {
            layout.push_segments(segments, stride)?;
        }
        layout.span = 1 + layout.start + layout.axes.iter().map(LayoutAxis::last).sum::<usize>();
        Ok(layout)
    }

    /// `len` elements one after the other, the first at offset `start`.
    ///
    /// # Panics
    /// If they end beyond [`LIMIT`].
    #[must_use]
    pub fn dense(start: usize, len: usize) -> Self {
        assert!(start < LIMIT && len < LIMIT - start, "{len} elements at {start} are too many");
        let mut layout = Self { start, axes: Vec::new(), len, span: start + len };
        match len {
            0 => (layout.start, layout.span) = (0, 0),
            1 => {}
            _ => layout.push_strided(len, 1),
        }
        layout
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

    /// One past the highest offset that is used; 0 if there is none.
    #[must_use]
    pub fn span(&self) -> usize {
        self.span
    }

    /// The first offset, if every element follows the one before it in memory; 0 if there is none.
    #[must_use]
    pub fn contiguous(&self) -> Option<usize> {
        match self.axes.as_slice() {
            [] | [LayoutAxis::Strided(StridedAxis { stride: 1, .. })] => Some(self.start),
            _ => None,
        }
    }

    /// The offsets of all elements in message order, one by one: for tests.
    pub fn offsets(&self) -> impl Iterator<Item = usize> + use<> {
        let axes: Vec<Vec<usize>> = self.axes.iter().map(LayoutAxis::offsets).collect();
        let start = self.start;
        (0..self.len).map(move |element| {
            let mut rest = element;
            let inner = axes.iter().rev().map(|axis| {
                let offset = axis[rest % axis.len()];
                rest /= axis.len();
                offset
            });
            start + inner.sum::<usize>()
        })
    }

    /// The offset that all elements share.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    pub(crate) fn axes(&self) -> &[LayoutAxis] {
        &self.axes
    }

    /// Adds an inner axis of segments in indices, which are `stride` apart in memory.
    fn push_segments(
        &mut self,
        mut segments: Vec<LayoutSegment>,
        stride: usize,
    ) -> Result<(), Error> {
        let sizes = segments.iter().map(|p| p.count.checked_mul(p.length));
        let size = sizes.reduce(|sum, size| sum?.checked_add(size?)).flatten();
        let len = size.and_then(|size| self.len.checked_mul(size)).filter(|len| *len < LIMIT);
        let (Some(size), Some(len)) = (size, len) else { return Err(Error::TooLarge) };
        self.len = len;
        if let [segment] = segments.as_slice() {
            self.start += segment.start * stride;
            self.push_strided(segment.count, segment.step * stride);
            self.push_strided(segment.length, stride);
            return Ok(());
        }
        for segment in &mut segments {
            segment.start *= stride;
            segment.step *= stride;
        }
        self.axes.push(LayoutAxis::Segments { segments, stride, size });
        Ok(())
    }

    /// Adds an inner strided axis, as part of the last one where they fit.
    fn push_strided(&mut self, count: usize, stride: usize) {
        if count == 1 {
            return;
        }
        if let Some(LayoutAxis::Strided(last)) = self.axes.last_mut()
            && last.stride == count * stride
        {
            *last = StridedAxis { count: last.count * count, stride };
            return;
        }
        self.axes.push(LayoutAxis::Strided(StridedAxis { count, stride }));
    }
}

/// Row-major strides.
fn strides_of(shape: &[usize]) -> Result<Vec<usize>, Error> {
    let mut strides = vec![1; shape.len()];
    let mut size = 1usize;
    for (axis, length) in shape.iter().enumerate().rev() {
        strides[axis] = size;
        size = size.checked_mul(*length).filter(|size| *size < LIMIT).ok_or(Error::TooLarge)?;
    }
    Ok(strides)
}

/// The places of an axis as segments, in indices. Touching runs become one, and four or more equal
/// runs at equal distances become one segment, so that a list costs no more than it must.
fn segments_of(indices: &Indices) -> Vec<LayoutSegment> {
    let mut runs: Vec<LayoutSegment> = Vec::new();
    let mut push = |segment: LayoutSegment| match runs.last_mut() {
        Some(last)
            if last.count == 1 && segment.count == 1 && last.stop() == Some(segment.start) =>
        {
            last.length += segment.length;
        }
        _ => runs.push(segment),
    };
    match indices {
        Indices::Segments(list) => list.iter().for_each(|s| {
            let (start, length) = (s.start(), s.length());
            push(LayoutSegment { start, count: s.count(), step: s.step(), length });
        }),
        Indices::List(list) => list.iter().for_each(|place| push(LayoutSegment::run(*place, 1))),
    }
    let mut segments = Vec::with_capacity(runs.len().min(16));
    let mut rest = runs.as_slice();
    while let [first, after @ ..] = rest {
        let equal = equal_runs(rest);
        if equal >= 4 {
            segments.push(LayoutSegment {
                count: equal,
                step: after[0].start - first.start,
                ..*first
            });
            rest = &rest[equal..];
        } else {
            segments.push(*first);
            rest = after;
        }
    }
    segments
}

/// How many runs from the first one on have its length and lie at equal ascending distances.
fn equal_runs(runs: &[LayoutSegment]) -> usize {
    let [first, second, ..] = runs else { return 1 };
    if second.start <= first.start {
        return 1;
    }
    let step = second.start - first.start;
    let fits = |(at, run): (usize, &LayoutSegment)| {
        run.count == 1
            && run.length == first.length
            && at.checked_mul(step).and_then(|far| far.checked_add(first.start)) == Some(run.start)
    };
    runs.iter().enumerate().take_while(|run| fits(*run)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_geometry::{IndexSet, Segment, Segments};

    fn slab(axes: &[IndexSet]) -> Slab {
        Slab { axes: axes.iter().map(|set| set.indices().clone()).collect() }
    }

    fn check(axes: &[IndexSet], shape: &[usize], plain_axes: usize, contiguous: Option<usize>) {
        let slab = slab(axes);
        let layout = Layout::of(&slab, shape).unwrap();
        let want = slab.offsets(shape);
        assert_eq!(layout.offsets().collect::<Vec<_>>(), want);
        assert_eq!(layout.len(), want.len());
        assert_eq!(layout.span(), want.iter().max().map_or(0, |last| last + 1));
        assert_eq!(layout.axes.len(), plain_axes, "{layout:?}");
        assert_eq!(layout.contiguous(), contiguous);
    }

    #[test]
    fn boxes_need_one_axis_per_break_in_memory() {
        let all = IndexSet::range(0, 4);
        check(&[all.clone(), all.clone()], &[4, 4], 1, Some(0));
        check(&[IndexSet::range(1, 3), all.clone()], &[4, 4], 1, Some(4));
        check(&[all.clone(), IndexSet::range(1, 3)], &[4, 4], 2, None);
        check(&[all.clone(), IndexSet::range(1, 2)], &[4, 4], 1, None);
        check(&[IndexSet::range(2, 3), IndexSet::range(1, 3)], &[4, 4], 1, Some(9));
        check(&[all, IndexSet::range(2, 2)], &[4, 4], 0, Some(0));
        check(&[], &[], 0, Some(0));
    }

    #[test]
    fn dealt_runs_and_equal_lists_are_formulas() {
        let dealt: Segments = Segment::strided(1, 2, 5, 3).into_iter().collect();
        check(&[IndexSet::from_segments(dealt)], &[15], 2, None);
        check(&[IndexSet::from_list(vec![3, 4, 5])], &[6], 1, Some(3));
        check(&[IndexSet::from_list(vec![0, 3, 6, 9, 12])], &[13], 1, None);
        check(&[IndexSet::from_list(vec![0, 3, 4, 9])], &[13], 1, None);
    }

    #[test]
    fn misfits_are_refused() {
        let set = slab(&[IndexSet::range(0, 5)]);
        assert_eq!(Layout::of(&set, &[5, 1]), Err(Error::Axes { slab: 1, shape: 2 }));
        let outside = Error::Outside { axis: 0, stop: 5, length: 4 };
        assert_eq!(Layout::of(&set, &[4]), Err(outside));
        let two = slab(&[IndexSet::range(0, 1), IndexSet::range(0, 1)]);
        assert_eq!(Layout::of(&two, &[1 << 40, 1 << 40]), Err(Error::TooLarge));
        let far: Segments = Segment::strided(0, 1, usize::MAX / 2 + 1, 3).into_iter().collect();
        assert!(Layout::of(&slab(&[IndexSet::from_segments(far)]), &[9]).is_err());
    }

    #[test]
    #[should_panic(expected = "too many")]
    fn dense_layouts_have_a_limit() {
        let _ = Layout::dense(LIMIT - 1, 2);
    }
}
