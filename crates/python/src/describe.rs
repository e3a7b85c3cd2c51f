//! Arrays of ours in the words of the protocol: of which ranks which part, and where in memory.

use std::collections::BTreeMap;
use std::fmt;

use pantile::array::{OpenPiece, Seen, SeenAxes};
use pantile::geometry::{AxisMap, Cut, Distribution};
use pantile_protocol::{Block, Dim, DimKind, Finding, Place, Section, check};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use crate::open::tuple;

/// Why the protocol has no words for an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DescribeError {
    /// It lives in boxes.
    Boxes,
    /// Ranks have copies along a mesh axis of this name.
    Copies { axis: String },
    /// It is part of an axis that is dealt out.
    PartOfDealt,
    /// A dimension breaks a rule.
    Dim(Finding),
    /// All dimensions together break a rule.
    Sections(Finding),
}

impl fmt::Display for DescribeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boxes => f.write_str("it lives in boxes"),
            Self::Copies { axis } => write!(
                f,
                "the protocol cannot say that ranks have copies, as they do along the mesh axis \
                 `{axis}`; redistribute(0) cuts an array"
            ),
            Self::PartOfDealt => {
                f.write_str("the protocol cannot say a part of an axis that is dealt out")
            }
            Self::Dim(finding) => f.write_str(&finding.message),
            Self::Sections(finding) => write!(f, "the protocol cannot say this: {finding}"),
        }
    }
}

/// The dimensions of every rank that has a part of a view of an array, ascending; or why they
/// cannot be said.
pub(crate) fn described(
    home: &Distribution,
    (axes, fixed): &SeenAxes,
) -> Result<Vec<(usize, Vec<Dim>)>, DescribeError> {
    let maps = home.axes().ok_or(DescribeError::Boxes)?;
    let mesh = home.mesh();
    let copies = home.free_mesh_axes().into_iter().find(|axis| mesh.shape()[*axis] > 1);
    if let Some(axis) = copies {
        return Err(DescribeError::Copies { axis: mesh.names()[axis].clone() });
    }
    let mut all = Vec::new();
    let mut ranks: Vec<usize> = mesh.ranks().collect();
    ranks.sort_unstable();
    for rank in ranks {
        let coordinate = |axis: usize| home.coordinate(rank, axis).unwrap_or(0);
        let away = |(axis, at): &(usize, usize)| !owns(&maps[*axis], coordinate(*axis), *at);
        if fixed.iter().any(away) {
            continue;
        }
        let dims = axes.iter().map(|seen| dim(&maps[seen.axis], coordinate(seen.axis), *seen));
        all.push((rank, dims.collect::<Result<Vec<Dim>, DescribeError>>()?));
    }
    let sections: Vec<Section> = all.iter().map(|(_, d)| Section::from_dims(d, None)).collect();
    match check(&sections).into_iter().next() {
        None => Ok(all),
        Some(finding) => Err(DescribeError::Sections(finding)),
    }
}

fn owns(map: &AxisMap, coordinate: usize, at: usize) -> bool {
    match map.cut() {
        Cut::Block(_) => {
            let (from, to) = map.owned(coordinate);
            (from..to).contains(&at)
        }
        _ => map.local(coordinate, 0, at).is_some(),
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// One dimension of a view.
fn dim(map: &AxisMap, coordinate: usize, seen: Seen) -> Result<Dim, DescribeError> {
    let (parts, size) = (signed(map.parts()), signed(seen.size));
    let all = (seen.first, seen.step, seen.size) == (0, 1, map.length());
    let (mut grid_rank, at) = (signed(coordinate), signed(coordinate));
    let kind = match map.cut() {
        _ if map.parts() == 1 => {
            DimKind::Block(Block { start: 0, stop: size, padding: (0, 0), periodic: false })
        }
        Cut::Block(_) => {
            let (from, to) = map.owned(coordinate);
            let (start, stop) = match seen.step > 0 {
                true => (below(seen, from), below(seen, to)),
                false => {
                    grid_rank = parts - 1 - at;
                    (above(seen, to), above(seen, from))
                }
            };
            let stop = stop.max(start);
            DimKind::Block(Block { start, stop, padding: (0, 0), periodic: false })
        }
        Cut::Cyclic { block } if all => {
            let block_size = signed(*block);
            DimKind::Cyclic { start: at.saturating_mul(block_size), block_size }
        }
        Cut::Indexed(_) if all => {
            let label = |local| map.global(coordinate, local).map(|(index, _)| signed(index));
            let indices = (0..map.local_length(coordinate)).filter_map(label).collect();
            DimKind::Indexed { indices, one_to_one: map.is_single() }
        }
        _ => return Err(DescribeError::PartOfDealt),
    };
    let place = Place { size, grid_size: parts, grid_rank };
    Dim::new(place, kind).map_err(DescribeError::Dim)
}

/// How many indices of a view that goes up are below `index`.
fn below(seen: Seen, index: usize) -> i64 {
    let distance = signed(index) - seen.first;
    (distance + seen.step - 1).div_euclid(seen.step).clamp(0, signed(seen.size))
}

/// How many indices of a view that goes down are at least `index`.
fn above(seen: Seen, index: usize) -> i64 {
    let distance = seen.first - signed(index);
    (distance.div_euclid(-seen.step) + 1).clamp(0, signed(seen.size))
}

/// The part of a rank's piece that a view sees: for each axis of the memory an index, or first, number
/// and distance of places; and the order of the axes.
pub(crate) fn shown_part<'py>(
    py: Python<'py>,
    home: &Distribution,
    piece: &OpenPiece,
    (axes, fixed): &SeenAxes,
) -> PyResult<Bound<'py, PyAny>> {
    let mut parts: Vec<Bound<'py, PyAny>> = vec![py.None().into_bound(py); piece.places.len()];
    let here = |axis: usize, index: i64| {
        let found = piece.places[axis].iter().find(|(_, global)| signed(*global) == index);
        found.map(|(local, _)| signed(*local))
    };
    for (axis, index) in fixed {
        // A rank that does not have the index has nothing at all.
        parts[*axis] = match here(*axis, signed(*index)) {
            Some(local) => local.into_pyobject(py)?.into_any(),
            None => "nothing".into_pyobject(py)?.into_any(),
        };
    }
    for seen in axes {
        let places = along(piece, *seen, listed(home, piece, *seen)).ok_or_else(|| {
            let words = "what a rank has of this view is not evenly spaced in its memory: take a \
                         copy() of it first";
            PyBufferError::new_err(words)
        })?;
        parts[seen.axis] = places.into_pyobject(py)?.into_any();
    }
    let mut kept: Vec<usize> = axes.iter().map(|seen| seen.axis).collect();
    kept.sort_unstable();
    let order = |seen: &Seen| kept.iter().position(|axis| *axis == seen.axis).unwrap_or(0);
    let order = tuple(py, axes.iter().map(order).collect())?;
    Ok((tuple(py, parts)?, order).into_pyobject(py)?.into_any())
}

/// The indices of a rank in the order of its list, if it is asked for all of an axis that lists deal
/// out. What the protocol says of them is in that order, too.
fn listed(home: &Distribution, piece: &OpenPiece, seen: Seen) -> Option<BTreeMap<i64, i64>> {
    let map = &home.axes()?[seen.axis];
    let all = (seen.first, seen.step, seen.size) == (0, 1, map.length());
    if !all || map.parts() == 1 || !matches!(map.cut(), Cut::Indexed(_)) {
        return None;
    }
    let coordinate = home.coordinate(piece.rank?, seen.axis)?;
    let place = |local| Some((signed(map.global(coordinate, local)?.0), signed(local)));
    Some((0..map.local_length(coordinate)).filter_map(place).collect())
}

/// First place, number and distance of the places that a view sees along an axis, in the order of
/// indices or of a list of them, if these are evenly spaced.
fn along(
    piece: &OpenPiece,
    seen: Seen,
    listed: Option<BTreeMap<i64, i64>>,
) -> Option<(i64, i64, i64)> {
    let mut places: Vec<(i64, i64)> = Vec::new();
    for (local, global) in &piece.places[seen.axis] {
        let distance = signed(*global) - seen.first;
        let number = distance.div_euclid(seen.step);
        if distance.rem_euclid(seen.step) == 0 && (0..signed(seen.size)).contains(&number) {
            let order = listed.as_ref().and_then(|list| list.get(&number)).unwrap_or(&number);
            places.push((*order, signed(*local)));
        }
    }
    places.sort_unstable();
    let step = match places.as_slice() {
        [one, two, ..] => two.1 - one.1,
        _ => 1,
    };
    let even = places.windows(2).all(|pair| pair[1].1 - pair[0].1 == step);
    let first = places.first().map_or(0, |(_, local)| *local);
    even.then_some((first, signed(places.len()), step))
}
