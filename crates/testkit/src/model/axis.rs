//! One array axis: who holds an index of it, at which lift, and who owns it.

use super::spec::{AxisSpec, CutSpec};

/// The owned base interval of every coordinate; `None` for cuts that own nothing.
///
/// Cyclic and Indexed cuts own nothing, so they have no answer here.
#[must_use]
pub fn owned(axis: &AxisSpec, parts: usize) -> Option<Vec<(usize, usize)>> {
    let n = axis.base_length;
    let lengths: Vec<usize> = match &axis.cut {
        CutSpec::Whole => vec![n; parts],
        CutSpec::Balanced => (0..parts).map(|c| n / parts + usize::from(c < n % parts)).collect(),
        CutSpec::RemainderLast => {
            (0..parts).map(|c| n / parts + usize::from(c >= parts - n % parts)).collect()
        }
        CutSpec::Ceil => {
            let block = n.div_ceil(parts);
            (0..parts).map(|c| block.min(n.saturating_sub(c * block))).collect()
        }
        CutSpec::Cuts(bounds) => bounds.windows(2).map(|pair| pair[1] - pair[0]).collect(),
        CutSpec::Cyclic { .. } | CutSpec::Indexed { .. } => return None,
    };
    let mut start = 0;
    Some(
        lengths
            .iter()
            .map(|length| {
                let interval = (start, start + length);
                start += length;
                interval
            })
            .collect(),
    )
}

/// The held intervals that a halo of `before` and `after` gives each coordinate.
///
/// Widths below zero narrow. What owns nothing gets no halo. An axis that is not periodic ends at
/// its ends. What becomes empty is put at the owned start, as the normal form wants it.
///
/// # Panics
/// If the cut owns nothing (Cyclic, Indexed): there is nothing to put a halo around.
#[must_use]
pub fn halo(axis: &AxisSpec, parts: usize, before: i64, after: i64) -> Vec<(i64, i64)> {
    let owned = owned(axis, parts).expect("halos are for blocks");
    owned.iter().map(|&(start, end)| widened(axis, (start, end), before, after)).collect()
}

/// One owned interval with its halo.
fn widened(axis: &AxisSpec, owned: (usize, usize), before: i64, after: i64) -> (i64, i64) {
    let (start, end) = (owned.0 as i64, owned.1 as i64);
    if start == end {
        return (start, start);
    }
    let (mut low, mut high) = (start - before, end + after);
    if !axis.periodic {
        let n = axis.base_length as i64;
        (low, high) = (low.clamp(0, n), high.clamp(0, n));
    }
    if low < high { (low, high) } else { (start, start) }
}

/// The base index that a visible index shows.
#[must_use]
pub fn base_index(axis: &AxisSpec, index: usize) -> i64 {
    match axis.view {
        Some(view) => view.offset + view.step * index as i64,
        None => index as i64,
    }
}

/// The label that a visible index shows; `None` if the axis is not Indexed.
///
/// Without a universe the labels are the base indices.
#[must_use]
pub fn shown_label(axis: &AxisSpec, index: usize) -> Option<i64> {
    let base = base_index(axis, index);
    match &axis.cut {
        CutSpec::Indexed { universe: Some(labels), .. } => Some(labels[super::at(base)]),
        CutSpec::Indexed { universe: None, .. } => Some(base),
        _ => None,
    }
}

/// Every (coordinate, lift) that holds a visible index, ascending.
///
/// A view changes no holder: its index has the holders of the base index, lifts included.
///
/// # Panics
/// If the index is not one of the axis.
#[must_use]
pub fn axis_holders(axis: &AxisSpec, parts: usize, index: usize) -> Vec<(usize, i64)> {
    let base = base_index(axis, index);
    match &axis.cut {
        CutSpec::Cyclic { block } => vec![(super::at(base) / block % parts, 0)],
        CutSpec::Indexed { labels, .. } => {
            let label = shown_label(axis, index).expect("the axis is Indexed");
            (0..parts).filter(|&c| labels[c].contains(&label)).map(|c| (c, 0)).collect()
        }
        _ => (0..parts)
            .flat_map(|c| held_lifts(axis, parts, c, base).into_iter().map(move |l| (c, l)))
            .collect(),
    }
}

/// The held base positions of one coordinate of a block or whole axis.
fn held(axis: &AxisSpec, parts: usize, coordinate: usize) -> (i64, i64) {
    match &axis.held {
        Some(held) => held[coordinate],
        None => {
            let owned = owned(axis, parts).expect("only blocks and whole axes have intervals");
            (owned[coordinate].0 as i64, owned[coordinate].1 as i64)
        }
    }
}

/// The lifts at which a coordinate holds a base index, ascending.
///
/// Position p of a periodic axis is element p mod n with lift floor(p / n); a periodic axis of
/// length 0 holds nothing. On other axes position and element are the same.
fn held_lifts(axis: &AxisSpec, parts: usize, coordinate: usize, base: i64) -> Vec<i64> {
    let (start, end) = held(axis, parts, coordinate);
    let n = axis.base_length as i64;
    match (axis.periodic, n) {
        (true, 0) => Vec::new(),
        (true, _) => (start..end)
            .filter(|position| position.rem_euclid(n) == base)
            .map(|position| position.div_euclid(n))
            .collect(),
        (false, _) => (start..end).filter(|&position| position == base).map(|_| 0).collect(),
    }
}

/// The place of a lift in the order 0, -1, 1, -2, 2, ...
#[must_use]
pub fn lift_order(lift: i64) -> (u64, bool) {
    (lift.unsigned_abs(), lift > 0)
}

/// The owner of a visible index: the coordinate that owns it if it holds it, else the lowest
/// coordinate that does; of its lifts the first of 0, -1, 1, -2, 2, ...
#[must_use]
pub fn axis_owner(axis: &AxisSpec, parts: usize, index: usize) -> Option<(usize, i64)> {
    let holders = axis_holders(axis, parts, index);
    let base = super::at(base_index(axis, index));
    let owning = owned(axis, parts)
        .and_then(|owned| owned.iter().position(|&(start, end)| start <= base && base < end))
        .filter(|owning| holders.iter().any(|(c, _)| c == owning));
    let coordinate = owning.or_else(|| holders.iter().map(|(c, _)| *c).min())?;
    holders.into_iter().filter(|(c, _)| *c == coordinate).min_by_key(|(_, l)| lift_order(*l))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ViewSpec;

    fn blocks(n: usize) -> AxisSpec {
        AxisSpec::plain(n, &[0], CutSpec::Balanced)
    }

    fn check_owned(cut: CutSpec, n: usize, parts: usize, lengths: &[usize]) {
        let owned = owned(&AxisSpec::plain(n, &[0], cut), parts).unwrap();
        assert_eq!(owned.iter().map(|(a, b)| b - a).collect::<Vec<_>>(), lengths);
        assert_eq!(owned.iter().map(|(a, b)| b - a).sum::<usize>(), n);
    }

    #[test]
    fn remainders_go_where_the_cut_says() {
        check_owned(CutSpec::Balanced, 8, 3, &[3, 3, 2]);
        check_owned(CutSpec::RemainderLast, 8, 3, &[2, 3, 3]);
        check_owned(CutSpec::RemainderLast, 1, 4, &[0, 0, 0, 1]);
        check_owned(CutSpec::Ceil, 8, 5, &[2, 2, 2, 2, 0]);
        check_owned(CutSpec::Ceil, 0, 2, &[0, 0]);
        check_owned(CutSpec::Balanced, 2, 4, &[1, 1, 0, 0]);
        check_owned(CutSpec::Cuts(vec![0, 0, 5, 5]), 5, 3, &[0, 5, 0]);
    }

    #[test]
    fn halos_end_at_the_ends_and_skip_what_owns_nothing() {
        assert_eq!(halo(&blocks(6), 3, 1, 2), [(0, 4), (1, 6), (3, 6)]);
        assert_eq!(halo(&blocks(2), 3, 1, 1), [(0, 2), (0, 2), (2, 2)]);
        assert_eq!(halo(&blocks(6), 2, -1, -1), [(1, 2), (4, 5)]);
        assert_eq!(halo(&blocks(6), 3, -1, -1), [(0, 0), (2, 2), (4, 4)]);
        assert_eq!(halo(&blocks(4), 2, 9, 9), [(0, 4), (0, 4)]);
    }

    #[test]
    fn periodic_positions_wrap_with_a_lift() {
        let mut axis = AxisSpec { periodic: true, ..blocks(4) };
        axis.held = Some(halo(&axis, 2, 1, 1));
        assert_eq!(axis.held, Some(vec![(-1, 3), (1, 5)]));
        assert_eq!(axis_holders(&axis, 2, 3), [(0, -1), (1, 0)]);
        assert_eq!(axis_holders(&axis, 2, 0), [(0, 0), (1, 1)]);
        axis.held = Some(vec![(-5, 0), (0, 0)]);
        assert_eq!(axis_holders(&axis, 2, 3), [(0, -2), (0, -1)]);
        assert_eq!(axis_owner(&axis, 2, 3), Some((0, -1)));
    }

    #[test]
    fn the_owner_is_the_owned_coordinate_only_if_it_holds() {
        let mut axis = blocks(4);
        axis.held = Some(vec![(0, 4), (3, 4)]);
        assert_eq!(axis_owner(&axis, 2, 2), Some((0, 0)));
        assert_eq!(axis_owner(&axis, 2, 3), Some((1, 0)));
        axis.held = Some(vec![(0, 1), (1, 1)]);
        assert_eq!(axis_owner(&axis, 2, 3), None);
    }

    #[test]
    fn a_view_has_the_holders_of_its_base() {
        let view = Some(ViewSpec { offset: 5, step: -2, length: 3 });
        let axis = AxisSpec { view, ..blocks(6) };
        let coordinates: Vec<_> = (0..3).map(|i| axis_holders(&axis, 3, i)).collect();
        assert_eq!(coordinates, [[(2, 0)], [(1, 0)], [(0, 0)]]);
    }

    #[test]
    fn lifts_are_ordered_from_zero_outwards() {
        let mut lifts = vec![2, 1, 0, -1, -2];
        lifts.sort_by_key(|lift| lift_order(*lift));
        assert_eq!(lifts, [0, -1, 1, -2, 2]);
    }
}
