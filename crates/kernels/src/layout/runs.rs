//! Stretches of memory without gaps.

use std::ops::Range;

use super::{Layout, LayoutAxis, StridedAxis};

impl Layout {
    /// The least number of elements that lie next to each other in a run of [`Layout::runs`]; 0 if
    /// there is none.
    #[must_use]
    pub fn shortest_run(&self) -> usize {
        match self.axes.last() {
            _ if self.is_empty() => 0,
            Some(LayoutAxis::Strided(StridedAxis { count, stride: 1 })) => *count,
            Some(LayoutAxis::Segments { segments, stride: 1, .. }) => {
                segments.iter().map(|segment| segment.length).min().unwrap_or(0)
            }
            _ => 1,
        }
    }

    /// The offsets of all elements in message order, run by run. Runs may touch; none is empty.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let whole = |start: usize| start..start + 1;
        let (outer, inner) = match self.axes.split_last() {
            _ if self.is_empty() => (&[][..], Vec::new()),
            Some((LayoutAxis::Strided(StridedAxis { count, stride: 1 }), outer)) => {
                (outer, std::iter::once(0..*count).collect())
            }
            Some((LayoutAxis::Segments { segments, stride: 1, .. }, outer)) => {
                let runs = segments.iter().flat_map(|segment| {
                    let starts = (0..segment.count).map(|run| segment.start + run * segment.step);
                    starts.map(|start| start..start + segment.length)
                });
                (outer, runs.collect())
            }
            _ => (&self.axes[..], std::iter::once(whole(0)).collect()),
        };
        let axes: Vec<Vec<usize>> = outer.iter().map(LayoutAxis::offsets).collect();
        let (start, rows): (usize, usize) = (self.start, axes.iter().map(Vec::len).product());
        (0..rows).flat_map(move |row| {
            let mut rest = row;
            let offsets = axes.iter().rev().map(|axis| {
                let offset = axis[rest % axis.len()];
                rest /= axis.len();
                offset
            });
            let at = start + offsets.sum::<usize>();
            let shifted = |run: &Range<usize>| at + run.start..at + run.end;
            inner.iter().map(shifted).collect::<Vec<_>>()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_geometry::{IndexSet, Segment, Segments, Slab};

    /// Runs are the offsets one by one, and as long as was said.
    fn check(axes: &[IndexSet], shape: &[usize], shortest: usize, count: usize) {
        let axes = axes.iter().map(|set| set.indices().clone()).collect();
        let layout = Layout::of(&Slab { axes }, shape).unwrap();
        let runs: Vec<Range<usize>> = layout.runs().collect();
        assert_eq!(runs.len(), count, "{runs:?}");
        assert_eq!(runs.iter().map(Range::len).min().unwrap_or(0), shortest);
        assert_eq!(layout.shortest_run(), shortest);
        let offsets: Vec<usize> = layout.offsets().collect();
        assert_eq!(runs.into_iter().flatten().collect::<Vec<_>>(), offsets);
    }

    #[test]
    fn runs_are_all_elements_in_order() {
        let all = IndexSet::range(0, 4);
        check(&[all.clone(), all.clone()], &[4, 4], 16, 1);
        check(&[all.clone(), IndexSet::range(1, 4)], &[4, 4], 3, 4);
        check(&[all.clone(), IndexSet::range(1, 2)], &[4, 4], 1, 4);
        check(&[all.clone(), IndexSet::range(1, 3), all.clone()], &[4, 4, 4], 8, 4);
        check(&[all.clone(), IndexSet::range(1, 3), IndexSet::range(1, 3)], &[4, 4, 4], 2, 8);
        let dealt: Segments = Segment::strided(1, 2, 5, 3).into_iter().collect();
        check(&[IndexSet::range(1, 3), IndexSet::from_segments(dealt)], &[4, 15], 2, 6);
        let list = IndexSet::from_list(vec![0, 3, 4, 9]);
        check(&[IndexSet::range(0, 2), list.clone()], &[2, 10], 1, 6);
        check(&[list, all.clone()], &[10, 4], 4, 4);
        check(&[all, IndexSet::range(2, 2)], &[4, 4], 0, 0);
        check(&[], &[], 1, 1);
    }
}
