//! New arrays.
#![allow(
    clippy::too_many_arguments,
    clippy::wrong_self_convention,
    reason = "signatures are those that Python calls"
)]

use pantile::array::{self, Fault, Random};
use pantile::geometry::Distribution;
use pantile_engine::Tile;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{Array, number};
use crate::buffer::dtype_of;
use crate::place::user_place;
use crate::world::{World, fault, wait_for_ranks};

/// The world in which arrays are made to live as `dist` says.
fn placed(world: &World, dist: Option<&str>) -> array::Session {
    dist.map_or_else(|| world.inner.clone(), |dist| world.inner.dist(dist))
}

/// An error of Python's, or one of ours.
struct Both(PyErr);

impl From<Fault> for Both {
    fn from(error: Fault) -> Self {
        Self(fault(&error))
    }
}

impl From<PyErr> for Both {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

#[pymethods]
impl World {
    #[pyo3(signature = (shape, value, dtype, dist=None))]
    fn full(
        &self,
        py: Python<'_>,
        shape: Vec<usize>,
        value: &Bound<'_, PyAny>,
        dtype: &str,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        let (value, dtype) = (number(value)?, dtype_of(dtype)?);
        Array::checked(py, || placed(self, dist).full_of(&shape, value, dtype))
    }

    #[pyo3(signature = (shape, dtype, dist=None))]
    fn empty(
        &self,
        py: Python<'_>,
        shape: Vec<usize>,
        dtype: &str,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        let dtype = dtype_of(dtype)?;
        Array::checked(py, || placed(self, dist).empty_of(&shape, dtype))
    }

    #[pyo3(signature = (start, stop, step, dist=None))]
    fn arange(
        &self,
        py: Python<'_>,
        start: &Bound<'_, PyAny>,
        stop: &Bound<'_, PyAny>,
        step: &Bound<'_, PyAny>,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        let (start, stop, step) = (number(start)?, number(stop)?, number(step)?);
        Array::checked(py, || placed(self, dist).arange(start, stop, step))
    }

    #[pyo3(signature = (ends, count, endpoint, dist=None))]
    fn linspace(
        &self,
        py: Python<'_>,
        ends: (f64, f64),
        count: usize,
        endpoint: bool,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        let (world, (start, stop)) = (placed(self, dist), ends);
        Array::checked(py, || match endpoint {
            true => world.linspace(start, stop, count),
            false => world.linspace_open(start, stop, count),
        })
    }

    #[pyo3(signature = (rows, columns, k, dist=None))]
    fn eye(
        &self,
        py: Python<'_>,
        rows: usize,
        columns: usize,
        k: i64,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        Array::checked(py, || placed(self, dist).eye_at(rows, columns, k))
    }

    #[pyo3(signature = (shape, axis, dist=None))]
    fn index(
        &self,
        py: Python<'_>,
        shape: Vec<usize>,
        axis: usize,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        Array::checked(py, || placed(self, dist).index(&shape, axis))
    }

    /// Random numbers of a kind (`uniform` or `normal`), by seed and stream, and global index.
    #[pyo3(signature = (kind, numbers, shape, dist=None))]
    fn random(
        &self,
        py: Python<'_>,
        kind: &str,
        numbers: (i64, u64),
        shape: Vec<usize>,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        let kind = match kind {
            "uniform" => Random::Uniform,
            "normal" => Random::Normal,
            other => {
                let words = format!("got {other:?}, expected \"uniform\" or \"normal\"");
                return Err(PyValueError::new_err(words));
            }
        };
        Array::checked(py, || placed(self, dist).random(kind, numbers, &shape))
    }

    /// An array whose tiles a function gives: it gets a rank and, for every axis, the runs of
    /// global indices that the rank owns, and returns the bytes of these elements, row-major.
    #[pyo3(signature = (shape, dtype, tile, dist=None))]
    fn from_tiles(
        &self,
        py: Python<'_>,
        shape: Vec<usize>,
        dtype: &str,
        tile: &Bound<'_, PyAny>,
        dist: Option<&str>,
    ) -> PyResult<Array> {
        wait_for_ranks(py, self)?;
        let dtype = dtype_of(dtype)?;
        let world = placed(self, dist);
        let (tile, place) = (tile.clone().unbind(), user_place(py).unwrap_or_default());
        let make = |home: &Distribution, rank: usize| -> Result<Tile, Both> {
            let runs = array::runs_of(home, rank);
            let bytes = Python::attach(|py| {
                let given = PyBuffer::<u8>::get(&tile.bind(py).call1((rank, runs))?)?;
                // The bytes, and the tile.
                world.check_bytes(2 * given.len_bytes()).map_err(|error| fault(&error))?;
                given.to_vec(py)
            })?;
            Tile::from_bytes(dtype, &bytes).ok_or_else(|| {
                let words = format!("rank {rank}: the bytes of a tile are no elements of {dtype}");
                Both(PyValueError::new_err(words))
            })
        };
        // Ranks may be busy or far away: others may use the interpreter meanwhile.
        let made = py.detach(|| array::written_at(place, || world.from_tiles(&shape, dtype, make)));
        made.map(Array::new).map_err(|error| error.0)
    }

    /// The bytes of a whole array, the same on every process, as an array.
    #[pyo3(signature = (shape, dtype, bytes, dist=None, check=true))]
    fn from_bytes(
        &self,
        py: Python<'_>,
        shape: Vec<usize>,
        dtype: &str,
        bytes: &Bound<'_, PyAny>,
        dist: Option<&str>,
        check: bool,
    ) -> PyResult<Array> {
        wait_for_ranks(py, self)?;
        let dtype = dtype_of(dtype)?;
        let bytes = PyBuffer::<u8>::get(bytes)?;
        // The whole array, and the parts of ranks with a copy of one of them.
        self.inner.check_bytes(3 * bytes.len_bytes()).map_err(|error| fault(&error))?;
        let bytes = bytes.to_vec(py)?;
        let whole = Tile::from_bytes(dtype, &bytes);
        let Some(whole) = whole.filter(|tile| Some(tile.len()) == count(&shape)) else {
            let words = format!("got {} bytes for shape {shape:?} of {dtype}", bytes.len());
            return Err(PyValueError::new_err(words));
        };
        drop(bytes);
        let world = placed(self, dist);
        let place = user_place(py).unwrap_or_default();
        let part = |home: &Distribution, rank: usize| {
            let part = array::part_of(home, rank, whole.as_bytes(), dtype.bytes());
            Tile::from_bytes(dtype, &part).ok_or_else(|| unreachable!("parts of elements"))
        };
        let make = || {
            if check {
                world.expect_equal(whole.as_bytes());
            }
            world.from_tiles(&shape, dtype, part)
        };
        let made = py.detach(|| array::written_at(place, make));
        made.map(Array::new).map_err(|error: Fault| fault(&error))
    }
}

fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length))
}
