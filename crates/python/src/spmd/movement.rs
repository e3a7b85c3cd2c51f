//! Movements between teams, and their adjoints.

use std::sync::Arc;

use pantile::spmd::{Transpose, Widths};
use pantile::{
    AllGather, AllSumReduce, Broadcast, Error, HaloExchange, ReduceScatter, Repartition, SumReduce,
    Tensor,
};
use pantile_engine::{Element, dispatch};
use pyo3::prelude::*;

use super::error::exception;
use super::rank::Seat;
use super::team::{Team, choice};
use crate::buffer::{Room, dtype_of, elements_of};

/// A movement, made for two teams or for one.
#[pyclass(frozen)]
pub(crate) struct Movement {
    seat: Option<Arc<Seat>>,
    kind: CellMovementKind,
}

enum CellMovementKind {
    Broadcast(Broadcast),
    SumReduce(SumReduce),
    AllSumReduce(AllSumReduce),
    Repartition(Repartition),
    AllGather(AllGather),
    ReduceScatter(ReduceScatter),
    HaloExchange(HaloExchange),
}

impl CellMovementKind {
    fn apply<T: Element>(&self, x: &Tensor<T>, back: bool) -> Result<Tensor<T>, Error> {
        macro_rules! each {
            ($($name:ident),*) => {
                match (self, back) {
                    $((Self::$name(one), false) => one.forward(x),
                    (Self::$name(one), true) => one.adjoint(x),)*
                }
            };
        }
        each!(
            Broadcast,
            SumReduce,
            AllSumReduce,
            Repartition,
            AllGather,
            ReduceScatter,
            HaloExchange
        )
    }
}

impl Movement {
    fn new(team: &Team, kind: Result<CellMovementKind, Error>) -> PyResult<Self> {
        let kind = kind.map_err(|error| exception(&error))?;
        Ok(Self { seat: team.seat().cloned(), kind })
    }

    fn run_as<T: Element>(
        &self,
        py: Python<'_>,
        (shape, given): (&[usize], &Bound<'_, PyAny>),
        back: bool,
        room: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let x = Tensor::<T>::from_vec(shape, elements_of(given)?);
        let x = x.map_err(|error| exception(&error))?;
        if let Some(seat) = &self.seat {
            seat.at_user(py, None);
        }
        let moved = py.detach(|| self.kind.apply(&x, back)).map_err(|error| exception(&error))?;
        let place = room.call1((moved.shape().to_vec(),))?;
        Room::new(&place)?.write(moved.as_slice())
    }
}

#[pymethods]
impl Movement {
    #[staticmethod]
    fn broadcast(
        x: &Team,
        y: &Team,
        transpose: (bool, bool),
        preserve_batch: bool,
    ) -> PyResult<Self> {
        let transpose = Transpose { source: transpose.0, target: transpose.1 };
        let made = Broadcast::transposed(&x.lined()?, &y.lined()?, transpose);
        Self::new(
            x,
            made.map(|one| CellMovementKind::Broadcast(one.preserve_batch(preserve_batch))),
        )
    }

    #[staticmethod]
    fn sum_reduce(
        x: &Team,
        y: &Team,
        transpose: (bool, bool),
        preserve_batch: bool,
    ) -> PyResult<Self> {
        let transpose = Transpose { source: transpose.0, target: transpose.1 };
        let made = SumReduce::transposed(&x.lined()?, &y.lined()?, transpose);
        Self::new(
            x,
            made.map(|one| CellMovementKind::SumReduce(one.preserve_batch(preserve_batch))),
        )
    }

    #[staticmethod]
    fn all_sum_reduce(x: &Team, axes: Vec<isize>, keep: bool) -> PyResult<Self> {
        let made = AllSumReduce::new(&x.grid()?, &choice(axes, keep));
        Self::new(x, made.map(CellMovementKind::AllSumReduce))
    }

    #[staticmethod]
    fn repartition(x: &Team, y: &Team, preserve_batch: bool) -> PyResult<Self> {
        let made = Repartition::new(&x.grid()?, &y.grid()?);
        Self::new(
            x,
            made.map(|one| CellMovementKind::Repartition(one.preserve_batch(preserve_batch))),
        )
    }

    #[staticmethod]
    fn all_gather(x: &Team, axes: Vec<isize>, keep: bool) -> PyResult<Self> {
        let made = AllGather::new(&x.grid()?, &choice(axes, keep));
        Self::new(x, made.map(CellMovementKind::AllGather))
    }

    #[staticmethod]
    fn reduce_scatter(x: &Team, axes: Vec<isize>, keep: bool) -> PyResult<Self> {
        let made = ReduceScatter::new(&x.grid()?, &choice(axes, keep));
        Self::new(x, made.map(CellMovementKind::ReduceScatter))
    }

    /// Per axis the widths at each coordinate, and whether its ends are neighbours.
    #[staticmethod]
    fn halo_exchange(x: &Team, widths: Vec<(Vec<(usize, usize)>, bool)>) -> PyResult<Self> {
        let widths: Vec<Widths> = widths
            .iter()
            .map(|(sides, periodic)| match periodic {
                true => Widths::each(sides).periodic(),
                false => Widths::each(sides),
            })
            .collect();
        let made = HaloExchange::new(&x.grid()?, &widths);
        Self::new(x, made.map(CellMovementKind::HaloExchange))
    }

    /// Moves the elements of a type and shape whose bytes are given, or, if `back`, applies the
    /// adjoint; `room` is asked for memory of the shape that comes out.
    fn run(
        &self,
        py: Python<'_>,
        given: (String, Vec<usize>, Bound<'_, PyAny>),
        back: bool,
        room: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (dtype, shape, bytes) = &given;
        let given = (shape.as_slice(), bytes);
        dispatch!(dtype_of(dtype)?, T => self.run_as::<T>(py, given, back, room))
    }
}
