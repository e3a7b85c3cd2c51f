//! Indices of an array as places in a rank's memory, and back.

use pantile::geometry::{self, AxisMap, Rank};
use pyo3::prelude::*;

use crate::buffer::Room;
use crate::distribution::{Distribution, wrong};

/// What stands for an element that the rank does not hold.
const NOWHERE: i64 = -1;

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_along, module)?)?;
    module.add_function(wrap_pyfunction!(global_along, module)?)
}

/// Replaces indices along an axis, whole numbers of 64 bits, by their places in a rank's memory; -1
/// where that has no room for them.
#[pyfunction]
fn local_along(
    dist: &Distribution,
    rank: Rank,
    axis: usize,
    numbers: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let part = AxisPart::of(&dist.inner, rank, axis)?;
    each(numbers, |index| part.local(index))
}

/// Replaces places in a rank's memory along an axis by the indices of their elements; -1 where there
/// is none.
#[pyfunction]
fn global_along(
    dist: &Distribution,
    rank: Rank,
    axis: usize,
    numbers: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let part = AxisPart::of(&dist.inner, rank, axis)?;
    each(numbers, |local| part.global(local))
}

fn each(numbers: &Bound<'_, PyAny>, work: impl Fn(usize) -> Option<usize>) -> PyResult<()> {
    for number in Room::new(numbers)?.bytes().as_chunks_mut::<8>().0 {
        let found = usize::try_from(i64::from_ne_bytes(*number)).ok().and_then(&work);
        let found = found.and_then(|place| i64::try_from(place).ok());
        *number = found.unwrap_or(NOWHERE).to_ne_bytes();
    }
    Ok(())
}

/// What a rank has along one axis.
enum AxisPart<'a> {
    Map(&'a AxisMap, usize),
    /// From the first to the last index (excluded).
    Range(usize, usize),
}

impl<'a> AxisPart<'a> {
    fn of(dist: &'a geometry::Distribution, rank: Rank, axis: usize) -> PyResult<Self> {
        let missing = || wrong(format!("rank {rank} is not on the mesh of `{dist}`"));
        if let Some(maps) = dist.axes() {
            let coordinate = dist.coordinate(rank, axis).ok_or_else(missing)?;
            return Ok(Self::Map(&maps[axis], coordinate));
        }
        let held = dist.held(rank);
        let (_, region) = held.first().ok_or_else(missing)?;
        let (from, to) = region.axes()[axis].hull().unwrap_or((0, 0));
        Ok(Self::Range(from, to))
    }

    fn local(&self, index: usize) -> Option<usize> {
        match *self {
            Self::Range(from, to) => (from..to).contains(&index).then(|| index - from),
            Self::Map(map, coordinate) => map.local(coordinate, 0, index).or_else(|| {
                // In a halo that wraps around it lies some turns away.
                let length = if map.is_periodic() { map.local_length(coordinate) } else { 0 };
                let same = |local: &usize| self.global(*local) == Some(index);
                (0..length).find(same)
            }),
        }
    }

    fn global(&self, local: usize) -> Option<usize> {
        match *self {
            Self::Range(from, to) => from.checked_add(local).filter(|index| *index < to),
            Self::Map(map, coordinate) => map.global(coordinate, local).map(|(index, _)| index),
        }
    }
}
