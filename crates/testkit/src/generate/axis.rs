//! One random array axis.

use crate::model::axis::{halo, owned, shown_label};
use crate::model::{AxisSpec, CutSpec, ViewSpec};
use crate::rng::Rng;

/// What is given when an axis is made.
pub(super) struct Wish {
    /// Number of visible indices.
    pub(super) length: usize,
    /// Number of coordinates.
    pub(super) parts: usize,
    /// The mesh axes that cut it.
    pub(super) over: Vec<usize>,
}

/// A random axis. One in four is cut like `like` (an axis and its number of coordinates) if it
/// has as many coordinates; labels are mostly those of `like`, since others could not meet.
pub(super) fn axis(rng: &mut Rng, wish: Wish, like: Option<(&AxisSpec, usize)>) -> AxisSpec {
    let whole = |axis: &AxisSpec| axis.cut == CutSpec::Whole;
    if let Some((axis, parts)) = like
        && parts == wish.parts
        && whole(axis) == wish.over.is_empty()
        && rng.chance(1, 4)
    {
        return AxisSpec { over: wish.over, ..axis.clone() };
    }
    let (base_length, view) = view(rng, wish.length);
    let mut axis = AxisSpec::plain(base_length, &wish.over, CutSpec::Whole);
    axis.view = view;
    if !wish.over.is_empty() {
        axis.cut = cut(rng, base_length, wish.parts);
    }
    match (&axis.cut, like) {
        (CutSpec::Cyclic { .. }, _) => {}
        (CutSpec::Indexed { .. }, Some((like, _))) if rng.chance(3, 4) => {
            adopt_labels(rng, &mut axis, wish.parts, like);
        }
        (CutSpec::Indexed { .. }, _) => {}
        _ => intervals(rng, &mut axis, wish.parts),
    }
    axis
}

/// A base length and a view that shows `length` of it; no view in three of four cases.
fn view(rng: &mut Rng, length: usize) -> (usize, Option<ViewSpec>) {
    if rng.chance(3, 4) {
        return (length, None);
    }
    let step = *rng.pick(&[1, 2, 3, -1, -2, -3]);
    if length == 0 {
        let base = rng.below(6);
        let offset = rng.range(0, base as i64 + 1);
        return (base, Some(ViewSpec { offset, step, length }));
    }
    // The view spans `first..=last` of the base, with something left over at both ends.
    let span = step * (length as i64 - 1);
    let (before, after) = (rng.range(0, 3), rng.range(0, 3));
    let base = usize::try_from(span.abs() + 1 + before + after).expect("lengths are positive");
    let offset = if step > 0 { before } else { before - span };
    (base, Some(ViewSpec { offset, step, length }))
}

/// Any cut over at least one mesh axis.
fn cut(rng: &mut Rng, n: usize, parts: usize) -> CutSpec {
    match rng.below(10) {
        0..2 => CutSpec::Balanced,
        2 => CutSpec::RemainderLast,
        3 => CutSpec::Ceil,
        4..6 => CutSpec::Cuts(bounds(rng, n, parts)),
        6 | 7 => CutSpec::Cyclic { block: 1 + rng.below(4) },
        8 => CutSpec::Indexed {
            labels: lists(rng, &(0..n as i64).collect::<Vec<_>>(), parts),
            universe: None,
        },
        _ => {
            let universe = universe(rng, n);
            CutSpec::Indexed { labels: lists(rng, &universe, parts), universe: Some(universe) }
        }
    }
}

/// Random bounds of blocks; equal bounds make empty blocks.
fn bounds(rng: &mut Rng, n: usize, parts: usize) -> Vec<usize> {
    let mut bounds: Vec<usize> = (1..parts).map(|_| rng.below(n + 1)).collect();
    bounds.extend([0, n]);
    bounds.sort_unstable();
    bounds
}

/// Ascending, sparse and partly negative labels.
fn universe(rng: &mut Rng, n: usize) -> Vec<i64> {
    let mut label = rng.range(-9, 3);
    let mut universe = Vec::new();
    for _ in 0..n {
        universe.push(label);
        label += rng.range(1, 4);
    }
    universe
}

/// Labels dealt to coordinates: each to one, or also to several or to none.
fn lists(rng: &mut Rng, universe: &[i64], parts: usize) -> Vec<Vec<i64>> {
    let (lose, share) = *rng.pick(&[(0, 0), (0, 0), (0, 2), (1, 0), (2, 2)]);
    let mut lists = vec![Vec::new(); parts];
    for &label in universe {
        if !rng.chance(lose, 8) {
            lists[rng.below(parts)].push(label);
        }
        for list in &mut lists {
            if rng.chance(share, 8) && !list.contains(&label) {
                list.push(label);
            }
        }
    }
    lists.iter_mut().for_each(|list| rng.shuffle(list));
    lists
}

/// Makes an Indexed axis show the labels of another Indexed axis, directly or turned around.
fn adopt_labels(rng: &mut Rng, axis: &mut AxisSpec, parts: usize, like: &AxisSpec) {
    let shown: Option<Vec<i64>> = (0..like.length()).map(|i| shown_label(like, i)).collect();
    let Some(mut universe) = shown else { return };
    let length = universe.len();
    let ascending = universe.is_sorted();
    universe.sort_unstable();
    axis.base_length = length;
    let turned = ViewSpec { offset: length as i64 - 1, step: -1, length };
    axis.view = (!ascending).then_some(turned);
    axis.cut = CutSpec::Indexed { labels: lists(rng, &universe, parts), universe: Some(universe) };
}

/// Gives a block or whole axis held intervals and room: often none, else halos or windows.
fn intervals(rng: &mut Rng, axis: &mut AxisSpec, parts: usize) {
    axis.periodic = rng.chance(1, 4);
    axis.held = match rng.below(10) {
        0..4 => None,
        4 | 5 => {
            let (before, after) = (width(rng, axis), width(rng, axis));
            Some(halo(axis, parts, before, after))
        }
        6 | 7 => Some(uneven_halo(rng, axis, parts)),
        _ => Some((0..parts).map(|_| window(rng, axis)).collect()),
    };
    if rng.chance(1, 4) {
        axis.room = Some(room(rng, axis, parts));
    }
}

/// A halo width: mostly small, sometimes negative, sometimes wider than the axis.
fn width(rng: &mut Rng, axis: &AxisSpec) -> i64 {
    match rng.below(8) {
        0 => -1,
        1 => rng.range(-3, 1),
        2 => rng.range(0, axis.base_length as i64 + 2),
        3 if axis.base_length < 4 => rng.range(0, 2 * axis.base_length as i64 + 1),
        _ => rng.range(0, 3),
    }
}

/// A halo whose widths differ per coordinate and side.
fn uneven_halo(rng: &mut Rng, axis: &AxisSpec, parts: usize) -> Vec<(i64, i64)> {
    let mut one = |coordinate: usize| {
        let (before, after) = (width(rng, axis), width(rng, axis));
        halo(axis, parts, before, after)[coordinate]
    };
    (0..parts).map(&mut one).collect()
}

/// Any interval: inside the axis, or anywhere around a periodic one.
fn window(rng: &mut Rng, axis: &AxisSpec) -> (i64, i64) {
    let n = axis.base_length as i64;
    if axis.periodic {
        let start = rng.range(-n - 2, 2 * n + 2);
        return (start, start + rng.range(0, n + 3));
    }
    let (a, b) = (rng.range(0, n + 1), rng.range(0, n + 1));
    if rng.chance(1, 3) { (0, n) } else { (a.min(b), a.max(b)) }
}

/// Room around what is held; it leaves the axis only if that is periodic.
fn room(rng: &mut Rng, axis: &AxisSpec, parts: usize) -> Vec<(i64, i64)> {
    let owned = owned(axis, parts).expect("only blocks and whole axes have room");
    let owned = owned.iter().map(|&(start, end)| (start as i64, end as i64)).collect();
    let n = axis.base_length as i64;
    let mut around = |&(start, end): &(i64, i64)| {
        let (low, high) = (start - rng.range(0, 3), end + rng.range(0, 3));
        if axis.periodic { (low, high) } else { (low.max(0), high.min(n)) }
    };
    axis.held.clone().unwrap_or(owned).iter().map(&mut around).collect()
}
