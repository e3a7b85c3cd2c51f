//! Teams of ranks.

use std::borrow::Cow;
use std::sync::Arc;

use pantile::geometry::Fingerprint;
use pantile::spmd::Transpose;
use pantile::{AxisChoice, CartesianPartition, Error, Partition};
use pantile_comm::CollectiveSignature;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::error::exception;
use super::rank::Seat;

/// A partition, seen from one rank.
#[pyclass(frozen)]
pub(crate) struct Team {
    seat: Option<Arc<Seat>>,
    partition: Partition,
}

/// Two neighbours along each axis.
type Neighbours = Vec<(Option<usize>, Option<usize>)>;

impl Team {
    pub(crate) fn new(seat: Option<Arc<Seat>>, partition: Partition) -> Self {
        Self { seat, partition }
    }

    pub(crate) fn seat(&self) -> Option<&Arc<Seat>> {
        self.seat.as_ref()
    }

    /// The same team as a grid; without a shape it is a line.
    pub(crate) fn grid(&self) -> PyResult<CartesianPartition> {
        let shape = self.partition.team().shape();
        self.checked(self.partition.create_cartesian_topology_partition(&shape))
    }

    /// The partition; one without a shape counts as a line, wherever shapes are compared.
    pub(crate) fn lined(&self) -> PyResult<Partition> {
        match self.partition.is_null() || self.partition.team().is_cartesian() {
            true => Ok(self.partition.clone()),
            false => Ok((*self.grid()?).clone()),
        }
    }

    fn checked<T>(&self, made: Result<T, Error>) -> PyResult<T> {
        made.map_err(|error| exception(&error))
    }

    fn made(&self, made: Result<Partition, Error>) -> PyResult<Self> {
        Ok(Self::new(self.seat.clone(), self.checked(made)?))
    }

    fn pair(&self, made: Result<(Partition, Partition), Error>) -> PyResult<(Self, Self)> {
        let (send, receive) = self.checked(made)?;
        Ok((Self::new(self.seat.clone(), send), Self::new(self.seat.clone(), receive)))
    }
}

/// Axes that are reduced, or kept.
pub(crate) fn choice(axes: Vec<isize>, keep: bool) -> AxisChoice {
    if keep { AxisChoice::Keep(axes) } else { AxisChoice::Reduce(axes) }
}

#[pymethods]
impl Team {
    /// The empty team.
    #[staticmethod]
    fn null() -> Self {
        Self::new(None, Partition::null())
    }

    #[getter]
    fn is_null(&self) -> bool {
        self.partition.is_null()
    }

    #[getter]
    fn is_cartesian(&self) -> bool {
        self.partition.team().is_cartesian()
    }

    #[getter]
    fn rank(&self) -> Option<usize> {
        self.partition.rank()
    }

    #[getter]
    fn size(&self) -> Option<usize> {
        self.partition.size()
    }

    #[getter]
    fn shape(&self) -> Option<Vec<usize>> {
        self.partition.shape()
    }

    /// The shape, also where this rank is outside.
    #[getter]
    fn full_shape(&self) -> Vec<usize> {
        self.partition.team().shape()
    }

    #[getter]
    fn index(&self) -> Option<Vec<usize>> {
        self.partition.index()
    }

    #[getter]
    fn members(&self) -> Vec<usize> {
        self.partition.members()
    }

    fn same(&self, other: &Self) -> bool {
        self.partition == other.partition
    }

    fn inclusive(&self, ranks: Vec<usize>) -> PyResult<Self> {
        self.made(self.partition.create_partition_inclusive(&ranks))
    }

    fn union(&self, other: &Self) -> PyResult<Self> {
        self.made(self.partition.create_partition_union(&other.partition))
    }

    fn cartesian(&self, shape: Vec<usize>) -> PyResult<Self> {
        let made = self.partition.create_cartesian_topology_partition(&shape);
        self.made(made.map(|grid| (*grid).clone()))
    }

    fn subtopology(&self, keep: Vec<bool>) -> PyResult<Self> {
        self.made(self.grid()?.create_cartesian_subtopology_partition(&keep))
    }

    fn allreduction(&self, axes: Vec<isize>) -> PyResult<Self> {
        self.made(self.grid()?.create_allreduction_partition(&choice(axes, false)))
    }

    fn broadcast_to(&self, target: &Self, src: bool, dest: bool) -> PyResult<(Self, Self)> {
        let transpose = Transpose { source: src, target: dest };
        self.pair(self.lined()?.create_broadcast_partition_to(&target.lined()?, transpose))
    }

    fn reduction_to(&self, target: &Self, src: bool, dest: bool) -> PyResult<(Self, Self)> {
        let transpose = Transpose { source: src, target: dest };
        self.pair(self.lined()?.create_reduction_partition_to(&target.lined()?, transpose))
    }

    fn cartesian_index(&self, rank: usize) -> PyResult<Vec<usize>> {
        self.checked(self.grid()?.cartesian_index(rank))
    }

    fn neighbor_ranks(&self, rank: usize) -> PyResult<Neighbours> {
        self.checked(self.grid()?.neighbor_ranks(rank))
    }

    /// The records of all members, in their order. Members that mean something else by `name` and
    /// `key` are told so, with the lines of the user's program.
    fn gather<'py>(
        &self,
        py: Python<'py>,
        name: String,
        key: &str,
        record: &[u8],
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let members = self.partition.members();
        let world = self.checked(self.partition.world().cloned())?;
        if !members.contains(&world.rank()) {
            return Err(exception(&Error::Inactive { asked: "a record of every member" }));
        }
        if let Some(seat) = &self.seat {
            seat.at_user(py, None);
        }
        let arguments = Fingerprint::of(&format!("{key} {members:?}")).0;
        let fingerprint = (arguments ^ (arguments >> 64)) & u128::from(u64::MAX);
        let call = CollectiveSignature {
            name: Cow::Owned(name),
            fingerprint: u64::try_from(fingerprint).unwrap_or_default(),
            file: Cow::Borrowed(""),
            line: 0,
        };
        let records = py.detach(|| world.engine().gather(&call, &members, record));
        let records = records.map_err(|error| exception(&Error::Engine(error)))?;
        Ok(records.iter().map(|record| PyBytes::new(py, record)).collect())
    }
}
