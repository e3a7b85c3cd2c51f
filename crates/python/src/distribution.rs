//! Distributions: where every element lives, asked without a world.

use pantile::draw;
use pantile::geometry::{self, AxisMap, Cut, Direction, IndexSet, Rank};
use pantile_protocol::convert;
use pantile_protocol::json::{self, Document};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A distribution. Equal ones have equal holders, owners and plans.
#[pyclass(frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Distribution {
    pub(crate) inner: geometry::Distribution,
}

/// Indices along an axis as runs of neighbours: first and last (excluded).
pub(crate) type Runs = Vec<(usize, usize)>;

/// A mistake of the caller's.
pub(crate) fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Adds the class of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Distribution>()
}

/// Indices in their order as runs.
pub(crate) fn runs(indices: impl Iterator<Item = usize>) -> Runs {
    let mut runs: Runs = Vec::new();
    for index in indices {
        match runs.last_mut() {
            Some((_, end)) if *end == index => *end += 1,
            _ => runs.push((index, index + 1)),
        }
    }
    runs
}

/// A set as runs; a plain range is not counted through.
pub(crate) fn runs_of_set(set: &IndexSet) -> Runs {
    match set.hull() {
        Some((low, high)) if high - low == set.size() && set.iter().next() == Some(low) => {
            vec![(low, high)]
        }
        _ => runs(set.iter()),
    }
}

/// The index of an element, if it is one.
fn checked(index: &[usize], of: &geometry::Distribution) -> PyResult<()> {
    let inside = index.len() == of.ndim() && index.iter().zip(of.shape()).all(|(at, n)| at < n);
    if inside {
        return Ok(());
    }
    Err(wrong(format!("got index {index:?}, expected one of an array of shape {:?}", of.shape())))
}

/// The indices that a coordinate owns: blocks without their halos, of other cuts all.
fn owned_runs(map: &AxisMap, coordinate: usize) -> Runs {
    if matches!(map.cut(), Cut::Block(_)) && map.view().is_none() {
        let (from, to) = map.owned(coordinate);
        return if from < to { vec![(from, to)] } else { Vec::new() };
    }
    let locals = 0..map.local_length(coordinate);
    runs(locals.filter_map(|local| map.global(coordinate, local)).map(|(index, _)| index))
}

/// True if a coordinate has room for more, or for less, than it owns.
fn has_halo(map: &AxisMap) -> bool {
    if *map.held_extent() == geometry::Extent::Owned && map.room_extent().is_none() {
        return false;
    }
    let differs = |coordinate| {
        let (from, to) = map.owned(coordinate);
        map.local_length(coordinate) != to - from
    };
    (0..map.parts()).any(differs)
}

/// True if a coordinate holds less than it owns.
fn is_narrow(map: &AxisMap) -> bool {
    let lacks = |coordinate| {
        let (from, to) = map.owned(coordinate);
        let held = map.held(coordinate).into_iter().filter(|(lift, _)| *lift == 0);
        held.map(|(_, set)| set.clip(from, to).size()).sum::<usize>() < to - from
    };
    (0..map.parts()).any(lacks)
}

#[pymethods]
impl Distribution {
    /// Reads a text.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        text.parse().map(|inner| Self { inner }).map_err(wrong)
    }

    /// By letters over a grid.
    #[staticmethod]
    fn from_letters(shape: Vec<usize>, letters: &str, grid: Vec<usize>) -> PyResult<Self> {
        let made = convert::from_letters(&shape, &grid, letters);
        made.map(|inner| Self { inner }).map_err(wrong)
    }

    /// From descriptions of all ranks, as JSON.
    #[staticmethod]
    fn from_dim_data(text: &str) -> PyResult<Self> {
        let Document::Sections { sections, .. } = json::read(text).map_err(wrong)? else {
            return Err(wrong("expected the sections of all ranks"));
        };
        let mut inner = convert::import(&sections).map_err(wrong)?.distribution;
        // Room that is not more than what ranks own need not be mentioned.
        for axis in 0..inner.ndim() {
            let map = inner.axes().and_then(|maps| maps.get(axis));
            if map.is_some_and(|map| map.room_extent().is_some() && !has_halo(map)) {
                inner = inner.with_held(axis, geometry::Extent::Owned).map_err(wrong)?;
            }
        }
        Ok(Self { inner })
    }

    #[getter]
    fn text(&self) -> String {
        self.inner.to_string()
    }

    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.inner.shape().to_vec()
    }

    /// Names and extents of the mesh, and its ranks if they are not the first ones in order.
    #[getter]
    fn mesh(&self) -> (Vec<String>, Vec<usize>, Option<Vec<Rank>>) {
        let mesh = self.inner.mesh();
        let team = (!mesh.is_plain()).then(|| mesh.ranks().collect());
        (mesh.names().to_vec(), mesh.shape().to_vec(), team)
    }

    /// Numbers of the mesh axes that cut each array axis; none if there are boxes.
    #[getter]
    fn over(&self) -> Option<Vec<Vec<usize>>> {
        self.inner.axes().map(|maps| maps.iter().map(|map| map.over().to_vec()).collect())
    }

    /// Operator, array axes and mesh axes of the terms, if there are any.
    #[getter]
    fn terms(&self) -> Option<(&'static str, Vec<usize>, Vec<String>)> {
        let it = &self.inner;
        let terms = |kind| kind == geometry::Kind::Terms;
        let axes: Vec<usize> = (0..it.ndim()).filter(|axis| terms(it.axis_kind(*axis))).collect();
        let free = it.free_mesh_axes().into_iter().filter(|axis| terms(it.mesh_kind(*axis)));
        let names: Vec<String> = free.map(|axis| it.mesh().names()[axis].clone()).collect();
        (!axes.is_empty() || !names.is_empty()).then(|| (it.operator().name(), axes, names))
    }

    /// The same with terms along array axes and mesh axes, or along all directions.
    fn with_terms(
        &self,
        operator: &str,
        axes: Vec<usize>,
        names: Vec<String>,
        all: bool,
    ) -> PyResult<Self> {
        let operator = geometry::Operator::from_name(operator).ok_or_else(|| {
            wrong(format!("got {operator:?}, expected sum, prod, min, max, and, or"))
        })?;
        let inner = self.inner.clone();
        if all {
            return Ok(Self { inner: inner.all_terms(operator) });
        }
        let axes = axes.into_iter().map(Direction::Axis);
        let names = names.iter().map(|name| Direction::Mesh(name));
        let directions: Vec<Direction<'_>> = axes.chain(names).collect();
        inner.with_terms(&directions, operator).map(|inner| Self { inner }).map_err(wrong)
    }

    /// What each coordinate along an array axis owns: first index and last (excluded).
    fn bounds(&self, axis: usize) -> PyResult<Vec<(usize, usize)>> {
        let maps = self.inner.axes().unwrap_or_default();
        let map = maps.get(axis).ok_or_else(|| wrong(format!("there is no axis {axis}")))?;
        Ok((0..map.parts()).map(|coordinate| map.owned(coordinate)).collect())
    }

    /// The indices that a rank owns, as runs along each axis; none if it is not on the mesh.
    fn owned(&self, rank: Rank) -> Option<Vec<Runs>> {
        self.inner.mesh().position_of(rank)?;
        let Some(maps) = self.inner.axes() else { return self.held(rank).map(|held| held.0) };
        let along = maps.iter().enumerate();
        let own = |(axis, map): (usize, &AxisMap)| {
            Some(owned_runs(map, self.inner.coordinate(rank, axis)?))
        };
        along.map(own).collect()
    }

    /// The indices that a rank has room for along each axis, in the order of its memory, and how
    /// many of them come before those that it owns; none if it is not on the mesh.
    fn held(&self, rank: Rank) -> Option<(Vec<Runs>, Vec<usize>)> {
        let shape = self.inner.local_shape(rank)?;
        let Some(maps) = self.inner.axes() else {
            let held = self.inner.held(rank);
            let region = held.first().map(|(_, region)| region)?;
            return Some((region.axes().iter().map(runs_of_set).collect(), vec![0; shape.len()]));
        };
        let mut before = Vec::new();
        let mut all = Vec::new();
        for ((axis, map), length) in maps.iter().enumerate().zip(shape) {
            let coordinate = self.inner.coordinate(rank, axis)?;
            let first = owned_runs(map, coordinate).first().map_or(0, |run| run.0);
            before.push(map.local(coordinate, 0, first).unwrap_or(0));
            let places = (0..length).filter_map(|local| map.global(coordinate, local));
            all.push(runs(places.map(|(index, _)| index)));
        }
        Some((all, before))
    }

    /// The extents of a rank's memory; none if it is not on the mesh.
    fn local_shape(&self, rank: Rank) -> Option<Vec<usize>> {
        self.inner.local_shape(rank)
    }

    /// The rank that owns an element; none if no rank holds it.
    fn owner(&self, index: Vec<usize>) -> PyResult<Option<Rank>> {
        checked(&index, &self.inner)?;
        Ok(self.inner.owner(&index).map(|holder| holder.rank))
    }

    /// All ranks that hold an element; more than once where an axis wraps around.
    fn holders(&self, index: Vec<usize>) -> PyResult<Vec<Rank>> {
        checked(&index, &self.inner)?;
        Ok(self.inner.holders(&index).into_iter().map(|holder| holder.rank).collect())
    }

    /// True if ranks have room for more than they own, or hold more.
    #[getter]
    fn has_halo(&self) -> bool {
        self.inner.axes().unwrap_or_default().iter().any(has_halo)
    }

    /// True if there are terms.
    #[getter]
    fn has_terms(&self) -> bool {
        self.inner.has_terms()
    }

    /// The same after an exchange: all that there is room for is held.
    fn exchanged(&self) -> PyResult<Self> {
        self.inner.exchanged().map(|inner| Self { inner }).map_err(wrong)
    }

    /// Sums for copies, and copies for sums.
    fn dual(&self) -> PyResult<Self> {
        self.inner.dual().map(|inner| Self { inner }).map_err(wrong)
    }

    /// The simplest spelling of the same.
    fn normal(&self) -> Self {
        Self { inner: self.inner.normal() }
    }

    /// Why arrays cannot live so on so many ranks; none if they can.
    fn unfit(&self, ranks: usize) -> Option<String> {
        let it = &self.inner;
        let Some(maps) = it.axes() else {
            return Some("it is made of boxes, which belong to plans only".to_owned());
        };
        if it.has_terms() {
            let operator = it.operator();
            return Some(format!("its ranks have terms of a {operator}, not elements"));
        }
        let highest = it.mesh().ranks_needed() - 1;
        if highest >= ranks {
            return Some(format!("it needs rank {highest}, expected ranks below {ranks}"));
        }
        let narrow =
            |map: &AxisMap| *map.held_extent() != geometry::Extent::Owned && is_narrow(map);
        if let Some(axis) = maps.iter().position(narrow) {
            return Some(format!("a rank does not hold all that it owns along axis {axis}"));
        }
        maps.iter().enumerate().filter(|(_, map)| map.is_indexed()).find_map(|(axis, map)| {
            if let Some(index) = map.uncovered().iter().next() {
                return Some(format!("nobody has index {index} of axis {axis}"));
            }
            (!map.is_single()).then(|| format!("several ranks list the same index of axis {axis}"))
        })
    }

    /// A picture, as SVG.
    fn svg(&self) -> PyResult<String> {
        draw::distribution(&self.inner).map(|svg| svg.to_string()).map_err(wrong)
    }
}
