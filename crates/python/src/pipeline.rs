//! Functions of chunks.
#![allow(clippy::too_many_arguments, reason = "signatures are those that Python calls")]

use pantile::array::{self, Combine, Fault, Split};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::Array;
use crate::place::user_place;
use crate::world::{World, fault};

/// An error of Python's, or one of ours.
struct Both(PyErr);

impl From<Fault> for Both {
    /// What a pipeline cannot be is a mistake of its caller's; what ranks say is none.
    fn from(error: Fault) -> Self {
        Self(match error.rank() {
            None => PyValueError::new_err(error.to_string()),
            Some(_) => fault(&error),
        })
    }
}

impl From<PyErr> for Both {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

/// How results are combined: an axis to concatenate along, or a name.
#[derive(FromPyObject)]
enum Rule {
    Axis(usize),
    Name(String),
}

impl Rule {
    fn combine(self) -> PyResult<Combine> {
        match self {
            Self::Axis(axis) => Ok(Combine::Concat(axis)),
            Self::Name(name) => {
                Combine::from_name(&name).map_err(|error| PyValueError::new_err(error.to_string()))
            }
        }
    }
}

#[pymethods]
impl World {
    /// A function applied to chunks of arrays, each with the axis along which it is split or none;
    /// it gets a list of arrays and gives one with as many as there are combines.
    fn pipeline(
        &self,
        py: Python<'_>,
        inputs: Vec<(Py<Array>, Option<usize>)>,
        combines: Vec<Rule>,
        chunks: Option<usize>,
        function: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Array>> {
        let combines: Vec<Combine> =
            combines.into_iter().map(Rule::combine).collect::<PyResult<_>>()?;
        let arrays: Vec<array::Array> =
            inputs.iter().map(|(array, _)| array.get().inner().clone()).collect();
        let split = |axis: Option<usize>| axis.map_or(Split::Whole, Split::Axis);
        let inputs: Vec<(&array::Array, Split)> =
            arrays.iter().zip(&inputs).map(|(array, (_, axis))| (array, split(*axis))).collect();
        let (function, place) = (function.clone().unbind(), user_place(py).unwrap_or_default());
        let call = |chunks: &[array::Array]| -> Result<Vec<array::Array>, Both> {
            Python::attach(|py| {
                let chunks: Vec<Array> = chunks.iter().cloned().map(Array::new).collect();
                let given: Vec<Py<Array>> = function.bind(py).call1((chunks,))?.extract()?;
                Ok(given.iter().map(|array| array.get().inner().clone()).collect())
            })
        };
        let results = py.detach(|| {
            array::written_at(place, || self.inner.try_pipeline(&inputs, &combines, chunks, call))
        });
        Ok(results.map_err(|error| error.0)?.into_iter().map(Array::new).collect())
    }
}
