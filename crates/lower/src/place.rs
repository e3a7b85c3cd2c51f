//! Distributions as the lowering needs them: who owns what along an axis, and new ones made of
//! the axes of others.

use pantile_geometry::{Axis, AxisMap, Cut, Cuts, Distribution, Mesh};

use super::{IndexMap, PlaceError, StridedRange};

/// A half-open interval of indices for each coordinate along an axis.
pub(crate) type Windows = Vec<(i64, i64)>;

/// The axes of a distribution that is a product; boxes are refused where distributions come in.
pub(crate) fn axes(distribution: &Distribution) -> &[AxisMap] {
    distribution.axes().unwrap_or(&[])
}

/// True if the axis is cut in blocks, or not at all.
pub(crate) fn is_block(map: &AxisMap) -> bool {
    matches!(map.cut(), Cut::Block(_)) && map.view().is_none() && !map.is_periodic()
}

/// True if every coordinate has the whole axis.
pub(crate) fn is_whole(map: &AxisMap) -> bool {
    is_block(map) && map.parts() == 1
}

/// True if two meshes have the same ranks in the same shape and names.
pub(crate) fn same_mesh(one: &Mesh, other: &Mesh) -> bool {
    one == other && one.names() == other.names() && one.shape() == other.shape()
}

/// The names of the mesh axes that cut an array axis.
fn over<'a>(map: &AxisMap, mesh: &'a Mesh) -> Vec<&'a str> {
    map.over().iter().map(|axis| mesh.names()[*axis].as_str()).collect()
}

/// The description of an axis, without halos.
pub(crate) fn describe(map: &AxisMap, mesh: &Mesh) -> Axis {
    let over = over(map, mesh);
    let all = || map.held(0).iter().map(|(_, set)| set.iter().count()).sum::<usize>();
    match map.cut() {
        // Whoever has everything may as well have it in order.
        Cut::Cyclic { .. } | Cut::Indexed { .. } if map.parts() == 1 && all() == map.length() => {
            Axis::block(&over)
        }
        Cut::Block(cuts) if map.view().is_none() => Axis::cut(&over, cuts.clone()),
        Cut::Cyclic { block } if map.view().is_none() => Axis::cyclic(&over, *block),
        // In the order in which each coordinate stores them.
        Cut::Indexed(labels) if map.view().is_none() => {
            let number = |index: &usize| i64::try_from(*index).unwrap_or(i64::MAX);
            let list = |coordinate| labels.list(coordinate).iter().map(number).collect();
            Axis::indexed(&over, (0..map.parts()).map(list).collect())
        }
        // Views of anything, by the indices that each coordinate owns.
        _ => {
            let list = |coordinate: usize| {
                let held = map.held(coordinate);
                let indices = held.iter().flat_map(|(_, set)| set.iter());
                indices.map(|index| i64::try_from(index).unwrap_or(i64::MAX)).collect()
            };
            Axis::indexed(&over, (0..map.parts()).map(list).collect())
        }
    }
}

/// The same distribution where every rank holds what it owns and nothing else.
pub(crate) fn plain(distribution: &Distribution) -> Result<Distribution, PlaceError> {
    let mesh = distribution.mesh();
    let described = axes(distribution).iter().map(|map| describe(map, mesh)).collect();
    build(distribution.shape(), mesh, described)
}

/// A distribution.
pub(crate) fn build(
    shape: &[usize],
    mesh: &Mesh,
    axes: Vec<Axis>,
) -> Result<Distribution, PlaceError> {
    Ok(Distribution::new(shape, mesh.clone(), axes)?)
}

/// The distribution of an array whose axis `i` is axis `map[i].0` of another one on stretch
/// `map[i].1`, or not cut where that is `None`: every element lives where the other's does.
pub(crate) fn follow(
    base: &Distribution,
    shape: &[usize],
    map: &[Option<(usize, StridedRange)>],
) -> Result<Distribution, PlaceError> {
    let mesh = base.mesh();
    let described = map.iter().zip(shape).map(|(from, length)| match from {
        None => Axis::whole(),
        Some((axis, range)) => stretched(&axes(base)[*axis], mesh, *range, *length),
    });
    build(shape, mesh, described.collect())
}

/// The part of an axis that a stretch sees, cut where the axis is cut.
fn stretched(map: &AxisMap, mesh: &Mesh, range: StridedRange, length: usize) -> Axis {
    let whole = range.offset == 0 && range.step == 1 && length == map.length();
    if whole {
        return describe(map, mesh);
    }
    if is_whole(map) {
        return Axis::whole();
    }
    let over = over(map, mesh);
    if !is_block(map) {
        // A part of an axis that is dealt out has no short form: blocks instead.
        return Axis::block(&over);
    }
    let mut cuts: Vec<usize> = vec![0];
    for coordinate in 0..map.parts() {
        let (_, end) = owned_part(map, coordinate, range);
        cuts.push(end.max(cuts[coordinate]));
    }
    if let Some(last) = cuts.last_mut() {
        *last = length;
    }
    Axis::cut(&over, Cuts::At(cuts.into()))
}

/// The `k`s of a stretch whose index a coordinate owns (of a cut in blocks).
pub(crate) fn owned_part(map: &AxisMap, coordinate: usize, range: StridedRange) -> (usize, usize) {
    let (low, high) = map.owned(coordinate);
    (count_below(range, low), count_below(range, high))
}

/// The `k`s of a stretch whose index a coordinate computes: what it owns, or one of the windows
/// that go beyond that.
pub(crate) fn part_overcomputed(
    map: &AxisMap,
    coordinate: usize,
    range: StridedRange,
    overcompute: Option<&Windows>,
) -> (usize, usize) {
    match overcompute.map(|windows| windows[coordinate]) {
        Some((from, to)) if from < to => {
            let index = |at: i64| usize::try_from(at).unwrap_or(0);
            (count_below(range, index(from)), count_below(range, index(to)))
        }
        _ => owned_part(map, coordinate, range),
    }
}

/// How many indices of a stretch lie below `index`.
fn count_below(range: StridedRange, index: usize) -> usize {
    let index = i64::try_from(index).unwrap_or(i64::MAX);
    let before = (index - range.offset + range.step - 1).div_euclid(range.step);
    usize::try_from(before).unwrap_or(0).min(range.size)
}

/// The indices that `along` reaches from the `k`s `from..to`; `None` if there are none.
pub(crate) fn reached(index_map: IndexMap, (from, to): (usize, usize)) -> Option<(i64, i64)> {
    match index_map {
        IndexMap::Fixed(index) => Some((index, index + 1)),
        IndexMap::Moves { offset, step, .. } => {
            if from >= to {
                return None;
            }
            let at = |k: usize| offset + step * i64::try_from(k).unwrap_or(i64::MAX);
            let (first, last) = (at(from), at(to - 1));
            Some((first.min(last), first.max(last) + 1))
        }
    }
}

/// What each coordinate reads of a block axis in a loop over a stretch of another one, which it
/// computes where it owns it, or the windows beyond that; `None` if some of it lies apart from what
/// the coordinate owns.
pub(crate) fn beside(
    map: &AxisMap,
    index_map: IndexMap,
    (by, range, overcompute): (&AxisMap, StridedRange, Option<&Windows>),
) -> Option<Windows> {
    let window = |coordinate: usize| {
        let owned = owned(map, coordinate);
        let part = part_overcomputed(by, coordinate, range, overcompute);
        let window = reached(index_map, part).unwrap_or((owned.0, owned.0));
        is_halo(window, owned).then_some(window)
    };
    (0..map.parts()).map(window).collect()
}

/// The threshold between halos and copies: a window that touches what a rank owns is held as a halo
/// around it, however wide; elements farther away get a copy of their own.
fn is_halo(window: (i64, i64), owned: (i64, i64)) -> bool {
    let empty = window.0 >= window.1 || owned.0 >= owned.1;
    empty || (window.0 <= owned.1 && window.1 >= owned.0)
}

/// The smallest interval around both; `(0, 0)` is empty.
pub(crate) fn hull(one: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    if one.0 >= one.1 {
        other
    } else if other.0 >= other.1 {
        one
    } else {
        (one.0.min(other.0), one.1.max(other.1))
    }
}

/// What a coordinate owns of a block axis, as positions.
pub(crate) fn owned(map: &AxisMap, coordinate: usize) -> (i64, i64) {
    let (low, high) = map.owned(coordinate);
    (i64::try_from(low).unwrap_or(i64::MAX), i64::try_from(high).unwrap_or(i64::MAX))
}

/// The distribution that holds these windows where an axis has some, and has room for others, which
/// contain them.
pub(crate) fn windowed(
    home: &Distribution,
    held: &[Option<Windows>],
    room: &[Option<Windows>],
) -> Result<Distribution, PlaceError> {
    let mesh = home.mesh();
    let described = axes(home).iter().zip(room).enumerate().map(|(axis, (map, room))| {
        let (described, held) = (describe(map, mesh), held.get(axis).cloned().flatten());
        match (held, room) {
            (Some(held), room) if room.as_ref().is_none_or(|room| *room == held) => {
                described.held(&held)
            }
            (Some(held), Some(room)) => described.held(&held).room(room),
            (None, Some(room)) => described.room(room),
            (_, None) => described,
        }
    });
    build(home.shape(), mesh, described.collect())
}

/// What each coordinate has room for, along axes where that is more than it owns.
pub(crate) fn windows_of(home: &Distribution) -> Vec<Option<Windows>> {
    let window = |map: &AxisMap, coordinate: usize| {
        let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let origin = map.global(coordinate, 0).map_or(0, |(index, _)| number(index));
        match map.local_length(coordinate) {
            0 => (owned(map, coordinate).0, owned(map, coordinate).0),
            length => (origin, origin + number(length)),
        }
    };
    let axis = |map: &AxisMap| {
        let windows: Windows = (0..map.parts()).map(|at| window(map, at)).collect();
        let wide = is_block(map)
            && windows.iter().enumerate().any(|(at, window)| *window != owned(map, at));
        wide.then_some(windows)
    };
    axes(home).iter().map(axis).collect()
}

/// Windows of two requests together.
pub(crate) fn join(one: &Option<Windows>, other: &Option<Windows>) -> Option<Windows> {
    match (one, other) {
        (None, windows) | (windows, None) => windows.clone(),
        (Some(one), Some(other)) => {
            Some(one.iter().zip(other).map(|(a, b)| hull(*a, *b)).collect())
        }
    }
}

/// Axis 0 in balanced blocks over all ranks of the world.
pub(crate) fn blocks(shape: &[usize], ranks: usize) -> Result<Distribution, PlaceError> {
    Ok(Distribution::blocks(shape, Mesh::line(ranks)?)?)
}

/// Copies on every rank of the world.
pub(crate) fn everywhere(shape: &[usize], ranks: usize) -> Result<Distribution, PlaceError> {
    Ok(Distribution::copies(shape, Mesh::line(ranks)?)?)
}
