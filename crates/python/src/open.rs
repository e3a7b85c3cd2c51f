//! Memory that goes out to other libraries, and memory that comes in from them.
#![allow(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "signatures are those that Python calls"
)]

use std::sync::Arc;

use pantile::array::{self, Brought, OpenPiece, Opening, Seen};
use pantile::geometry::{Axis, Cuts, Distribution, Mesh};
use pantile_protocol::convert::export_partitioned;
use pantile_protocol::partitioned::Location;
use pantile_protocol::{Dim, DimKind, Section, check, json, normalise};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::array::Array;
use crate::buffer::{Buffer, dtype_of, foreign};
use crate::describe::{described, shown_part};
use crate::place::{at_user, user_place};
use crate::protocol::{dim_data, protocol_error, sections};
use crate::world::{World, fault, finish, wait_for_ranks};

/// Memory that came in, with what was said about all sections. It lives as long as the array.
pub(crate) struct Kept {
    /// As NumPy sees it.
    pub(crate) memory: Py<PyAny>,
    /// Which of the sections it is.
    pub(crate) number: usize,
    pub(crate) all: Arc<Vec<Vec<Dim>>>,
}

/// What was kept of a piece that came in.
pub(crate) fn kept(piece: &OpenPiece) -> Option<Arc<Kept>> {
    Arc::clone(piece.foreign.owner()).downcast::<Kept>().ok()
}

/// A hosted rank's memory: the rank, memory (an array of NumPy's, or a buffer with shape, first
/// element and strides), the part of it along each axis with the order of the axes (nothing if it
/// is all of it), and the dictionaries of the protocol or why there are none.
type Shown<'py> = (usize, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Bound<'py, PyAny>);

#[pymethods]
impl Array {
    /// The memory of hosted ranks, open to be written; nothing if it cannot be.
    fn show<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Shown<'py>>>> {
        check_near(self.inner().session())?;
        let place = user_place(py).unwrap_or_default();
        let open = || array::written_at(place, || self.inner().open());
        let Some(opening) = finish(py.detach(open))? else { return Ok(None) };
        let Some(view) = self.inner().seen_axes() else { return Ok(None) };
        if opening.pieces().iter().any(|piece| piece.rank.is_none()) {
            return Ok(None);
        }
        let described = described(opening.home(), &view);
        if self.inner().is_view() && described.is_err() {
            // It may live elsewhere than what it is a view of.
            return Ok(None);
        }
        let mut all = Vec::new();
        for piece in opening.pieces() {
            let rank = piece.rank.unwrap_or_default();
            let came = kept(piece);
            let memory = match &came {
                Some(kept) => kept.memory.bind(py).clone(),
                None => own_memory(py, rank, &opening)?,
            };
            let whole = came.filter(|kept| !self.inner().is_view() && !kept.all.is_empty());
            if let Some(kept) = whole {
                all.push((rank, memory, None, dim_data(py, &kept.all[kept.number])?));
                continue;
            }
            let part = shown_part(py, opening.home(), piece, &view)?;
            let dims = match &described {
                Ok(list) => match list.iter().find(|(own, _)| *own == rank) {
                    Some((_, dims)) => dim_data(py, dims)?,
                    None => "this rank has no part of it".into_pyobject(py)?.into_any(),
                },
                Err(error) => error.to_string().into_pyobject(py)?.into_any(),
            };
            all.push((rank, memory, Some(part), dims));
        }
        Ok(Some(all))
    }

    /// The dictionaries of the protocol by rank, of an array as it lives.
    fn dim_data<'py>(&self, py: Python<'py>) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        let home = self.computed_home(py)?;
        let whole = |(axis, size): (usize, &usize)| Seen { axis, first: 0, step: 1, size: *size };
        let axes = home.shape().iter().enumerate().map(whole).collect();
        let list = described(&home, &(axes, Vec::new()))
            .map_err(|error| PyBufferError::new_err(error.to_string()))?;
        list.iter().map(|(rank, dims)| Ok((*rank, dim_data(py, dims)?))).collect()
    }

    /// Shape, tiling and partitions: position, first element, shape and ranks of each.
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn partitions(
        &self,
        py: Python<'_>,
    ) -> PyResult<(Vec<i64>, Vec<i64>, Vec<(Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>)>)> {
        let home = self.computed_home(py)?;
        let parts = export_partitioned(&home).map_err(|error| protocol_error(&error))?;
        let rank = |location: &Location| match location {
            Location::Rank(rank) => *rank,
            _ => 0,
        };
        let list = parts.partitions().iter().map(|(position, part)| {
            let ranks = part.location.iter().map(rank).collect();
            (position.clone(), part.start.clone(), part.shape.clone(), ranks)
        });
        Ok((parts.shape().to_vec(), parts.tiling().to_vec(), list.collect()))
    }

    /// What was brought in: the dictionaries of all sections, and the memory of those that are here
    /// by their number; nothing if it is not of that kind.
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn brought<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Vec<Bound<'py, PyAny>>, Vec<(usize, Bound<'py, PyAny>)>)>> {
        if self.inner().is_view() || !self.inner().is_open() {
            return Ok(None);
        }
        let place = user_place(py).unwrap_or_default();
        let opening = finish(py.detach(|| array::written_at(place, || self.inner().open())))?;
        let Some(opening) = opening else { return Ok(None) };
        let list: Vec<Arc<Kept>> = opening.pieces().iter().filter_map(kept).collect();
        let all =
            self.inner().brought_note().and_then(|note| note.downcast::<Vec<Vec<Dim>>>().ok());
        let Some(all) = all else { return Ok(None) };
        let dims: PyResult<Vec<_>> = all.iter().map(|dims| dim_data(py, dims)).collect();
        let memory = list.iter().map(|kept| (kept.number, kept.memory.bind(py).clone()));
        Ok(Some((dims?, memory.collect())))
    }

    /// True if its memory is that of another library, which does not let it be written.
    #[getter]
    fn read_only(&self) -> bool {
        self.inner().is_read_only()
    }
}

impl Array {
    fn computed_home(&self, py: Python<'_>) -> PyResult<Distribution> {
        let place = user_place(py).unwrap_or_default();
        finish(py.detach(|| array::written_at(place, || self.inner().distribution())))
    }
}

/// Refuses to share memory with ranks that are on the workers of a cluster.
fn check_near(world: &array::Session) -> PyResult<()> {
    if world.is_near() {
        return Ok(());
    }
    Err(PyBufferError::new_err(
        "the ranks are on the workers of a cluster, which share no memory with this process: copy \
         the elements there with pt.asarray, and here with np.asarray",
    ))
}

/// Memory of ours: a buffer with the shape, the first element and the strides of what a rank owns.
fn own_memory<'py>(
    py: Python<'py>,
    rank: usize,
    opening: &Arc<Opening>,
) -> PyResult<Bound<'py, PyAny>> {
    // Not that of the newest version: it may lie in memory in another way.
    let Some((tile, shape, places)) = opening.tile(rank) else {
        return Err(PyBufferError::new_err(format!("rank {rank} is not here")));
    };
    let buffer = Buffer::open(tile, Arc::clone(opening));
    let memory = (shape, places.first, places.strides, buffer);
    Ok(memory.into_pyobject(py)?.into_any())
}

#[pymethods]
impl World {
    /// What all processes have to say, by rank.
    fn gather(&self, py: Python<'_>, name: &str, record: &[u8]) -> PyResult<Vec<Vec<u8>>> {
        let place = user_place(py).unwrap_or_default();
        let say = || array::written_at(place, || self.inner.gather_records(name, record));
        finish(py.detach(say))
    }

    /// An array whose sections are memory of others. Of sections that are elsewhere there is no
    /// memory. If section i is not on rank i, `dist` says where the elements live, and all memory
    /// is here.
    #[pyo3(signature = (structures, memories, dtype, read_only, dist=None))]
    fn bring(
        &self,
        py: Python<'_>,
        structures: Vec<Bound<'_, PyDict>>,
        memories: Vec<Option<Bound<'_, PyAny>>>,
        dtype: &str,
        read_only: bool,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        check_near(&self.inner)?;
        let (dtype, said) = (dtype_of(dtype)?, Said::new(&sections(&structures)?)?);
        let (plain, room) = match dist {
            None => (said.distribution(false)?, said.distribution(true)?),
            Some(dist) => {
                let home = self.inner.home_of(&said.shape, dist).map_err(|error| fault(&error))?;
                (home.clone(), home)
            }
        };
        let all = Arc::new(said.dims.clone());
        let mut pieces = Vec::new();
        for (number, memory) in memories.into_iter().enumerate() {
            let Some(memory) = memory else { continue };
            let owner = Kept { memory: memory.clone().unbind(), number, all: Arc::clone(&all) };
            let foreign = foreign(&memory, dtype, Arc::new(owner))?;
            let rank = dist.is_none().then_some(number);
            pieces.push(OpenPiece { rank, foreign, places: said.places(number) });
        }
        let padded = plain != room;
        let in_place = dist.is_none() && said.in_order && !(read_only && padded);
        let mut direct = Vec::new();
        for piece in pieces.iter().filter(|_| in_place) {
            direct.extend(piece.foreign.tile().map(|tile| (piece.rank.unwrap_or(0), tile)));
        }
        if direct.len() < pieces.len() {
            direct.clear();
        }
        let note: Arc<dyn std::any::Any + Send + Sync> = all;
        let brought = Brought { plain, room, dtype, pieces, read_only, direct, note: Some(note) };
        wait_for_ranks(py, self)?;
        let made = at_user(py, || self.inner.bring(brought));
        made.map(Array::new).map_err(|error| fault(&error))
    }

    /// An array whose elements are memory of others, whole on every rank.
    fn bring_whole(
        &self,
        py: Python<'_>,
        memory: Bound<'_, PyAny>,
        dtype: &str,
        read_only: bool,
    ) -> PyResult<Array> {
        check_near(&self.inner)?;
        let dtype = dtype_of(dtype)?;
        let shape: Vec<usize> = memory.getattr("shape")?.extract()?;
        let plain = self.inner.home_of(&shape, "copies").map_err(|error| fault(&error))?;
        let all = Arc::new(Vec::new());
        let places: Vec<Vec<(usize, usize)>> =
            shape.iter().map(|length| (0..*length).map(|at| (at, at)).collect()).collect();
        let (mut pieces, mut direct) = (Vec::new(), Vec::new());
        for rank in self.inner.hosted() {
            let owner = Kept { memory: memory.clone().unbind(), number: 0, all: Arc::clone(&all) };
            let foreign = foreign(&memory, dtype, Arc::new(owner))?;
            direct.extend(foreign.tile().map(|tile| (*rank, tile)));
            pieces.push(OpenPiece { rank: Some(*rank), foreign, places: places.clone() });
        }
        let room = plain.clone();
        let brought = Brought { plain, room, dtype, pieces, read_only, direct, note: None };
        wait_for_ranks(py, self)?;
        let made = at_user(py, || self.inner.bring(brought));
        made.map(Array::new).map_err(|error| fault(&error))
    }
}

/// What sections say together, and what is made of it.
struct Said {
    dims: Vec<Vec<Dim>>,
    /// Per axis the dimensions of its grid ranks.
    lines: Vec<Vec<Dim>>,
    shape: Vec<usize>,
    /// Per axis the labels in order, if they are labels.
    labels: Vec<Option<Vec<i64>>>,
    /// Per axis and grid rank the indices that it owns, for labels.
    lists: Vec<Vec<Vec<i64>>>,
    /// Memory has elements in the order of their indices, each once.
    in_order: bool,
}

fn refuse(words: String) -> PyErr {
    PyValueError::new_err(words)
}

fn index(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

impl Said {
    fn new(given: &[Section]) -> PyResult<Self> {
        let normal = normalise(given);
        let findings = check(&normal.sections);
        if !findings.is_empty() {
            return Err(protocol_error(&pantile_protocol::Error::Invalid(findings)));
        }
        let dims: Vec<Vec<Dim>> =
            normal.sections.iter().map(|s| s.dims().into_iter().flatten().collect()).collect();
        let ndim = dims.first().map_or(0, Vec::len);
        let mut lines: Vec<Vec<Dim>> = vec![Vec::new(); ndim];
        for own in &dims {
            for (line, dim) in lines.iter_mut().zip(own) {
                if line.len() == index(dim.place().grid_rank) {
                    line.push(dim.clone());
                }
            }
        }
        let mut said = Self {
            dims,
            shape: Vec::new(),
            labels: Vec::new(),
            lists: vec![Vec::new(); ndim],
            in_order: true,
            lines,
        };
        for axis in 0..ndim {
            said.read(axis)?;
        }
        Ok(said)
    }

    /// Reads the length of an axis, and its labels if it has some.
    fn read(&mut self, axis: usize) -> PyResult<()> {
        let line = &self.lines[axis];
        let Some(first) = line.first() else { return Ok(()) };
        let size = first.size();
        if !matches!(first.kind(), DimKind::Indexed { .. }) {
            self.shape.push(index(size));
            self.labels.push(None);
            return Ok(());
        }
        let mut labels: Vec<i64> = line.iter().flat_map(Dim::globals).collect();
        let count = labels.len();
        labels.sort_unstable();
        labels.dedup();
        self.in_order &= labels.len() == count;
        let inside = labels.iter().all(|label| (0..size).contains(label));
        if inside && labels.len() < index(size) {
            let missing = (0..size).zip(&labels).find(|(at, label)| at != *label);
            let missing = missing.map_or(labels.len() as i64, |(at, _)| at);
            return Err(refuse(format!("axis {axis}: no section has the element {missing}")));
        }
        let mut taken = vec![false; labels.len()];
        for dim in line {
            let all: Vec<usize> =
                dim.globals().map(|label| labels.partition_point(|one| *one < label)).collect();
            self.in_order &= all.is_sorted();
            let mut list: Vec<i64> = Vec::new();
            for at in all {
                // Of several sections that have an element the first one owns it.
                if !std::mem::replace(&mut taken[at], true) {
                    list.push(at as i64);
                }
            }
            list.sort_unstable();
            self.lists[axis].push(list);
        }
        self.shape.push(labels.len());
        self.labels.push(Some(labels));
        Ok(())
    }

    /// Where the elements live; with the room that padding is, or without.
    fn distribution(&self, room: bool) -> PyResult<Distribution> {
        let names: Vec<String> = (0..self.lines.len()).map(|axis| format!("d{axis}")).collect();
        let sizes: Vec<(&str, usize)> =
            names.iter().map(String::as_str).zip(self.lines.iter().map(Vec::len)).collect();
        let wrong = |error: pantile::geometry::Error| refuse(error.to_string());
        let mesh = match sizes.is_empty() {
            true => Mesh::one(0),
            false => Mesh::new(&sizes).map_err(wrong)?,
        };
        let axes = (0..self.lines.len()).map(|axis| self.axis(axis, &names[axis], room)).collect();
        Distribution::new(&self.shape, mesh, axes).map_err(wrong)
    }

    fn axis(&self, axis: usize, name: &str, room: bool) -> Axis {
        let (line, over) = (&self.lines[axis], &[name]);
        match line.first().map(Dim::kind) {
            _ if line.len() == 1 => Axis::whole(),
            Some(DimKind::Cyclic { block_size, .. }) => Axis::cyclic(over, index(*block_size)),
            Some(DimKind::Indexed { .. }) => Axis::indexed(over, self.lists[axis].clone()),
            _ => {
                let ends = line.iter().map(|dim| dim.owned().map_or(0, |owned| index(owned.end)));
                let cuts: Vec<usize> = std::iter::once(0).chain(ends).collect();
                let rooms: Vec<(i64, i64)> = line
                    .iter()
                    .map(|dim| dim.as_block().map_or((0, 0), |block| (block.start, block.stop)))
                    .collect();
                let cut = Axis::cut(over, Cuts::At(cuts.into()));
                let padded = line.iter().any(|dim| dim.num_owned() != dim.extent());
                if room && padded { cut.room(&rooms) } else { cut }
            }
        }
    }

    /// Along each axis, the place in memory and the index of what a section has.
    fn places(&self, number: usize) -> Vec<Vec<(usize, usize)>> {
        let along = |(axis, dim): (usize, &Dim)| {
            let own = dim.owned_local();
            let all = dim.globals().enumerate();
            let own = all.filter(|(local, _)| own.contains(&(*local as i64)));
            own.map(|(local, global)| match &self.labels[axis] {
                None => (local, index(global)),
                Some(labels) => (local, labels.partition_point(|one| *one < global)),
            })
            .collect()
        };
        self.dims[number].iter().enumerate().map(along).collect()
    }
}

/// Everything that is wrong with a `__partitioned__` dictionary without its data, as JSON.
#[pyfunction]
fn partitioned_findings(text: &str) -> PyResult<Vec<String>> {
    match json::read(text).map_err(|error| refuse(error.to_string()))? {
        json::Document::Partitioned { findings, .. } => {
            Ok(findings.iter().map(ToString::to_string).collect())
        }
        _ => Err(refuse("got no partitions".to_owned())),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(partitioned_findings, module)?)
}

/// Several numbers as a tuple for Python.
pub(crate) fn tuple<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    items: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyTuple::new(py, items)?.into_any())
}
