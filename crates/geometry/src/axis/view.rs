//! An axis seen through a slice.

use crate::number::{index, position};

/// The indices `offset + step * k` of a base axis, for `k < length`.
///
/// Invariants: all of them lie on the base axis; `step != 0`; a view of length at most 1 has
/// step 1, and an empty one offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    offset: usize,
    step: i64,
    length: usize,
}

impl View {
    /// The whole axis of length `length`.
    pub(crate) fn whole(length: usize) -> Self {
        Self { offset: 0, step: 1, length }.canonical()
    }

    /// A view of a base axis of length `extent`; `None` if it leaves the axis or steps by 0.
    pub(crate) fn new(offset: i64, step: i64, length: usize, extent: usize) -> Option<Self> {
        if length == 0 {
            return Some(Self { offset: 0, step: 1, length: 0 });
        }
        let reach = i128::from(step) * (length as i128 - 1);
        let last = i128::from(offset) + reach;
        let inside = |at: i128| 0 <= at && at < extent as i128;
        if step == 0 || !inside(i128::from(offset)) || !inside(last) {
            return None;
        }
        Some(Self { offset: index(offset), step, length }.canonical())
    }

    fn canonical(self) -> Self {
        match self.length {
            0 => Self { offset: 0, step: 1, length: 0 },
            1 => Self { step: 1, ..self },
            _ => self,
        }
    }

    /// First base index.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Distance between base indices; may be negative.
    #[must_use]
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Number of indices seen.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// True if the view shows a base axis of length `extent` unchanged.
    pub(crate) fn is_whole(&self, extent: usize) -> bool {
        *self == Self::whole(extent)
    }

    /// The base index of the visible index `k`.
    pub(crate) fn base(&self, k: usize) -> usize {
        index(position(self.offset) + self.step * position(k))
    }

    /// The visible index of a base index, if it is seen.
    pub(crate) fn visible(&self, base: usize) -> Option<usize> {
        let distance = position(base) - position(self.offset);
        if distance % self.step != 0 || distance / self.step < 0 {
            return None;
        }
        let k = index(distance / self.step);
        (k < self.length).then_some(k)
    }

    /// The visible indices whose base index lies in `low..high`: a range, whatever the step.
    pub(crate) fn range(&self, low: i64, high: i64) -> (usize, usize) {
        let offset = position(self.offset);
        let width = self.step.abs();
        let (from, to) = if self.step > 0 {
            // offset + width * k >= low  and  offset + width * k < high
            (ceil(low - offset, width), ceil(high - offset, width))
        } else {
            // offset - width * k < high  and  offset - width * k >= low
            ((offset - high).div_euclid(width) + 1, (offset - low).div_euclid(width) + 1)
        };
        let clamp = |k: i64| index(k.clamp(0, position(self.length)));
        let (from, to) = (clamp(from), clamp(to));
        (from, to.max(from))
    }

    /// The view of this view.
    pub(crate) fn then(&self, offset: i64, step: i64, length: usize) -> Option<Self> {
        let inner = Self::new(offset, step, length, self.length)?;
        let composed = Self {
            offset: if length == 0 { 0 } else { self.base(inner.offset) },
            step: self.step * inner.step,
            length,
        };
        Some(composed.canonical())
    }
}

fn ceil(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_equal_the_filtered_list() {
        for (offset, step, length) in [(0, 1, 9), (1, 3, 3), (8, -1, 9), (7, -3, 3), (4, 1, 1)] {
            let view = View::new(offset, step, length, 9).unwrap();
            for low in -3..12 {
                for high in low..12 {
                    let want: Vec<usize> = (0..length)
                        .filter(|k| (low..high).contains(&position(view.base(*k))))
                        .collect();
                    let (from, to) = view.range(low, high);
                    assert_eq!((from..to).collect::<Vec<_>>(), want, "{view:?} {low}..{high}");
                }
            }
            assert!((0..length).all(|k| view.visible(view.base(k)) == Some(k)));
        }
    }

    #[test]
    fn views_compose_and_stay_inside() {
        let view = View::new(8, -2, 5, 9).unwrap().then(3, -2, 2).unwrap();
        assert_eq!((0..2).map(|k| view.base(k)).collect::<Vec<_>>(), [2, 6]);
        assert_eq!(View::new(9, 1, 1, 9), None);
        assert_eq!(View::new(0, 0, 2, 9), None);
        assert_eq!(View::new(0, 5, 3, 9), None);
        assert_eq!(View::new(3, -7, 1, 9).unwrap().step(), 1);
        assert_eq!(View::new(77, 7, 0, 9), Some(View::whole(0)));
        assert_eq!(View::new(1, i64::MAX, 2, 9), None);
    }
}
