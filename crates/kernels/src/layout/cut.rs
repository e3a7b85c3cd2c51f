//! A range of a layout's elements, as layouts.

use std::ops::Range;

use super::{Layout, LayoutAxis, LayoutSegment};

impl Layout {
    /// Where the elements `range` of this layout lie, in message order: a few layouts one after the
    /// other, because a range of rows may begin and end in the middle of one.
    ///
    /// # Panics
    /// If the range does not lie inside.
    #[must_use]
    pub fn cut(&self, range: Range<usize>) -> Vec<Self> {
        let inside = range.start <= range.end && range.end <= self.len;
        assert!(inside, "elements {range:?} of a layout of {}", self.len);
        let mut found = Vec::new();
        cut(self.start, &self.axes, range, &mut found);
        found
    }

    /// The product of axes that begins at an offset.
    fn product(start: usize, axes: impl IntoIterator<Item = LayoutAxis>) -> Self {
        let mut layout = Self { start, axes: Vec::new(), len: 1, span: 0 };
        for axis in axes {
            layout.len *= axis.size();
            match axis {
                LayoutAxis::Strided(strided) => layout.push_strided(strided.count, strided.stride),
                LayoutAxis::Segments { segments, stride, size } => match segments.as_slice() {
                    [segment] => {
                        layout.start += segment.start;
                        layout.push_strided(segment.count, segment.step);
                        layout.push_strided(segment.length, stride);
                    }
                    _ => layout.axes.push(LayoutAxis::Segments { segments, stride, size }),
                },
            }
        }
        layout.span = 1 + layout.start + layout.axes.iter().map(LayoutAxis::last).sum::<usize>();
        layout
    }
}

/// Adds the elements `range` of a product of axes that begins at an offset.
fn cut(start: usize, axes: &[LayoutAxis], range: Range<usize>, found: &mut Vec<Layout>) {
    if range.is_empty() {
        return;
    }
    let Some((first, inner)) = axes.split_first() else {
        found.push(Layout::product(start, []));
        return;
    };
    let row: usize = inner.iter().map(LayoutAxis::size).product();
    // Rows from this one on are whole, up to that one.
    let (from, to) = (range.start.div_ceil(row), range.end / row);
    if from > to {
        // It begins and ends in the same row.
        let at = start + offset(first, to);
        return cut(at, inner, range.start - to * row..range.end - to * row, found);
    }
    if range.start < from * row {
        let at = start + offset(first, from - 1);
        cut(at, inner, range.start - (from - 1) * row..row, found);
    }
    if from < to {
        let rows = part(first, from..to);
        found.push(Layout::product(start, std::iter::once(rows).chain(inner.iter().cloned())));
    }
    if to * row < range.end {
        let at = start + offset(first, to);
        cut(at, inner, 0..range.end - to * row, found);
    }
}

/// The offset of one element of an axis.
fn offset(axis: &LayoutAxis, index: usize) -> usize {
    match axis {
        LayoutAxis::Strided(strided) => index * strided.stride,
        LayoutAxis::Segments { segments, stride, .. } => {
            let mut left = index;
            for segment in segments {
                let size = segment.count * segment.length;
                if left < size {
                    let (run, inside) = (left / segment.length, left % segment.length);
                    return segment.start + run * segment.step + inside * stride;
                }
                left -= size;
            }
            0
        }
    }
}

/// The elements `range` of an axis; there is at least one.
fn part(axis: &LayoutAxis, range: Range<usize>) -> LayoutAxis {
    let (segments, stride) = match axis {
        LayoutAxis::Strided(strided) => {
            let segment = LayoutSegment {
                start: range.start * strided.stride,
                count: 1,
                step: 0,
                length: range.len(),
            };
            return LayoutAxis::Segments {
                segments: vec![segment],
                stride: strided.stride,
                size: range.len(),
            };
        }
        LayoutAxis::Segments { segments, stride, .. } => (segments, *stride),
    };
    let (mut kept, mut at) = (Vec::new(), 0);
    for segment in segments {
        let size = segment.count * segment.length;
        let inside = range.start.clamp(at, at + size) - at..range.end.clamp(at, at + size) - at;
        runs(segment, stride, inside, &mut kept);
        at += size;
    }
    LayoutAxis::Segments { segments: kept, stride, size: range.len() }
}

/// Adds the elements `range` of a segment: the end of a run, whole runs, the start of a run.
fn runs(
    segment: &LayoutSegment,
    stride: usize,
    range: Range<usize>,
    kept: &mut Vec<LayoutSegment>,
) {
    let length = segment.length;
    let mut push = |run: usize, count: usize, inside: Range<usize>| {
        if count > 0 && !inside.is_empty() {
            let start = segment.start + run * segment.step + inside.start * stride;
            let step = if count > 1 { segment.step } else { 0 };
            kept.push(LayoutSegment { start, count, step, length: inside.len() });
        }
    };
    let (from, to) = (range.start.div_ceil(length), range.end / length);
    if from > to {
        return push(to, 1, range.start - to * length..range.end - to * length);
    }
    if range.start < from * length {
        push(from - 1, 1, range.start - (from - 1) * length..length);
    }
    push(from, to - from, 0..length);
    push(to, 1, 0..range.end - to * length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_geometry::{IndexSet, Segment, Segments, Slab};

    /// Every range of a layout, against its offsets one by one.
    fn check(axes: &[IndexSet], shape: &[usize]) {
        let axes = axes.iter().map(|set| set.indices().clone()).collect();
        let layout = Layout::of(&Slab { axes }, shape).unwrap();
        let all: Vec<usize> = layout.offsets().collect();
        for start in 0..=all.len() {
            for stop in start..=all.len() {
                let cut = layout.cut(start..stop);
                let got: Vec<usize> = cut.iter().flat_map(Layout::offsets).collect();
                assert_eq!(got, all[start..stop], "{start}..{stop} of {layout:?}");
                for one in &cut {
                    let span = one.offsets().max().map_or(0, |last| last + 1);
                    assert_eq!(one.span(), span, "{one:?}");
                    assert_eq!(one.len(), one.offsets().count());
                    assert!(one.axes.iter().all(|axis| axis.size() >= 2), "{one:?}");
                }
            }
        }
    }

    fn dealt(start: usize, length: usize, step: usize, count: usize) -> IndexSet {
        let segments: Segments = Segment::strided(start, length, step, count).into_iter().collect();
        IndexSet::from_segments(segments)
    }

    #[test]
    fn every_range_of_boxes_runs_and_lists() {
        check(&[IndexSet::range(1, 4), IndexSet::range(2, 5)], &[5, 7]);
        check(&[IndexSet::range(0, 3), IndexSet::range(1, 3), IndexSet::range(0, 2)], &[3, 4, 3]);
        check(&[IndexSet::range(0, 6)], &[6]);
        check(&[dealt(1, 2, 5, 4), IndexSet::range(1, 3)], &[20, 4]);
        check(&[IndexSet::range(1, 3), dealt(0, 3, 4, 3)], &[4, 12]);
        let list = IndexSet::from_list(vec![0, 3, 4, 9, 11, 12, 13]);
        check(std::slice::from_ref(&list), &[14]);
        check(&[IndexSet::range(0, 2), list.clone()], &[2, 14]);
        check(&[list, IndexSet::range(1, 3)], &[14, 4]);
        check(&[IndexSet::range(2, 2)], &[4]);
        check(&[], &[]);
    }

    #[test]
    fn whole_rows_stay_one_layout() {
        let axes = [IndexSet::range(0, 2048), IndexSet::range(2048, 4096)];
        let axes = axes.iter().map(|set| set.indices().clone()).collect();
        let layout = Layout::of(&Slab { axes }, &[2048, 4096]).unwrap();
        assert_eq!(layout.cut(0..layout.len()), std::slice::from_ref(&layout));
        assert_eq!(layout.cut(16 * 2048..32 * 2048).len(), 1);
        assert_eq!(layout.cut(100..5 * 2048 + 3).len(), 3);
    }

    #[test]
    #[should_panic(expected = "elements 3..6 of a layout of 5")]
    fn a_range_lies_inside() {
        let _ = Layout::dense(7, 5).cut(3..6);
    }
}
