//! Slices as users write them: `s![1..-1, .., 3]`.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo};

use super::error::ArrayError;

/// One axis of a slice. Negative numbers count from the end, as in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceItem {
    /// From, to (excluded), by.
    Range(Option<i64>, Option<i64>, i64),
    /// One index; the axis goes.
    At(i64),
}

/// Every `step`-th of a range; a negative step goes backwards.
///
/// ```
/// use pantile::array::{SliceItem, by};
/// assert_eq!(by(1..-1, 2), SliceItem::Range(Some(1), Some(-1), 2));
/// ```
#[must_use]
pub fn by(range: impl Into<SliceItem>, step: i64) -> SliceItem {
    match range.into() {
        SliceItem::Range(from, to, _) => SliceItem::Range(from, to, step),
        at @ SliceItem::At(_) => at,
    }
}

/// A slice, axis by axis: ranges, whole axes (`..`), single indices, and `by(range, step)`.
/// Axes that are not named are taken whole. Negative numbers count from the end.
///
/// ```
/// use pantile::prelude::*;
/// let world = Session::threads(2)?;
/// let a = world.arange(0.0, 24.0, 1.0).reshape(&[4, 6]);
/// assert_eq!(a.get(s![1..-1, 0]).to_vec::<f64>()?, [6.0, 12.0]);
/// assert_eq!(a.get(s![-1, by(.., -2)]).to_vec::<f64>()?, [23.0, 21.0, 19.0]);
/// # Ok::<(), pantile::array::Fault>(())
/// ```
#[macro_export]
macro_rules! s {
    ($($item:expr),* $(,)?) => {{
        // `1..-1` ends before the last element; it is not empty.
        #[allow(clippy::reversed_empty_ranges, reason = "negative numbers count from the end")]
        let items = [$($crate::SliceItem::from($item)),*];
        items
    }};
}

macro_rules! items {
    ($($type:ty),*) => {$(
        impl From<$type> for SliceItem {
            fn from(index: $type) -> Self {
                Self::At(number(index))
            }
        }
        impl From<Range<$type>> for SliceItem {
            fn from(range: Range<$type>) -> Self {
                Self::Range(Some(number(range.start)), Some(number(range.end)), 1)
            }
        }
        impl From<RangeInclusive<$type>> for SliceItem {
            fn from(range: RangeInclusive<$type>) -> Self {
                let end = number(*range.end());
                // The one after -1 is the end itself.
                Self::Range(Some(number(*range.start())), (end != -1).then_some(end + 1), 1)
            }
        }
        impl From<RangeFrom<$type>> for SliceItem {
            fn from(range: RangeFrom<$type>) -> Self {
                Self::Range(Some(number(range.start)), None, 1)
            }
        }
        impl From<RangeTo<$type>> for SliceItem {
            fn from(range: RangeTo<$type>) -> Self {
                Self::Range(None, Some(number(range.end)), 1)
            }
        }
    )*};
}

items!(i32, i64, usize);

impl From<RangeFull> for SliceItem {
    fn from(_: RangeFull) -> Self {
        Self::Range(None, None, 1)
    }
}

fn number<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// Offset, size and step of one axis of length `length`, and whether the axis goes.
pub(crate) fn resolve(
    item: SliceItem,
    axis: usize,
    length: usize,
) -> Result<(i64, usize, i64, bool), ArrayError> {
    let n = number(length);
    match item {
        SliceItem::At(index) => {
            let at = if index < 0 { index + n } else { index };
            match (0..n).contains(&at) {
                true => Ok((at, 1, 1, true)),
                false => Err(ArrayError::Index { axis, index, length }),
            }
        }
        SliceItem::Range(_, _, 0) => Err(ArrayError::SliceStep { axis }),
        SliceItem::Range(from, to, step) => {
            // As Python: clipped to the axis, counted from the end if negative.
            let clip =
                |at: i64, low: i64, high: i64| (if at < 0 { at + n } else { at }).clamp(low, high);
            let (first, last) = match step > 0 {
                true => (from.map_or(0, |at| clip(at, 0, n)), to.map_or(n, |at| clip(at, 0, n))),
                false => (
                    from.map_or(n - 1, |at| clip(at, -1, n - 1)),
                    to.map_or(-1, |at| clip(at, -1, n - 1)),
                ),
            };
            let span = if step > 0 { last - first } else { first - last };
            let size = (span.max(0) + step.abs() - 1) / step.abs();
            let size = usize::try_from(size).unwrap_or(0);
            Ok((if size == 0 { 0 } else { first }, size, if size <= 1 { 1 } else { step }, false))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python does, index by index.
    fn python(n: i64, from: Option<i64>, to: Option<i64>, step: i64) -> Vec<i64> {
        let wrap = |at: i64| if at < 0 { at + n } else { at };
        let (mut at, end) = if step > 0 {
            (wrap(from.unwrap_or(0)).max(0), to.map_or(n, wrap).min(n))
        } else {
            let start = from.map_or(n - 1, wrap).min(n - 1);
            (start, to.map_or(-1, |to| wrap(to).max(-1)))
        };
        let mut list = Vec::new();
        while (step > 0 && at < end) || (step < 0 && at > end) {
            if (0..n).contains(&at) {
                list.push(at);
            }
            at += step;
        }
        list
    }

    #[test]
    fn ranges_are_those_of_python() {
        let ends = || (-8..8).map(Some).chain([None]);
        for n in 0..6usize {
            for (from, to) in ends().flat_map(|from| ends().map(move |to| (from, to))) {
                for step in [-3, -2, -1, 1, 2, 3] {
                    let (offset, size, by, _) =
                        resolve(SliceItem::Range(from, to, step), 0, n).expect("a step");
                    let got: Vec<i64> = (0..size).map(|k| offset + by * number(k)).collect();
                    let n = number(n);
                    assert_eq!(got, python(n, from, to, step), "{n} {from:?} {to:?} {step}");
                }
            }
        }
        assert_eq!(resolve(SliceItem::At(-1), 0, 3), Ok((2, 1, 1, true)));
        assert!(resolve(SliceItem::At(3), 0, 3).is_err());
        assert!(resolve(SliceItem::At(-4), 0, 3).is_err());
        assert!(resolve(SliceItem::Range(None, None, 0), 0, 3).is_err());
        assert_eq!(crate::s![1..=-1], [SliceItem::Range(Some(1), None, 1)]);
        assert_eq!(SliceItem::from(1..=3), SliceItem::Range(Some(1), Some(4), 1));
    }
}
