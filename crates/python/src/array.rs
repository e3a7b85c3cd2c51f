//! Arrays: what is recorded, and what runs.
#![allow(clippy::too_many_arguments, reason = "signatures are those that Python calls")]

use pantile::array::{self, Binary, Boundary, Number, Operand, Reduction, SliceItem, Unary};
use pantile::ir::{Complex, Scalar};
use pantile_engine::{DType, dispatch};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyTuple};

use crate::buffer::{Buffer, Room, dtype_of, numpy_name};
use crate::distribution::Distribution;
use crate::key;
use crate::place::{at_user, user_place};
use crate::world::{World, fault, finish};

/// A handle of an array.
#[pyclass(frozen)]
pub(crate) struct Array {
    inner: array::Array,
}

impl Array {
    pub(crate) fn inner(&self) -> &array::Array {
        &self.inner
    }

    pub(crate) fn new(inner: array::Array) -> Self {
        Self { inner }
    }

    /// What was recorded at the user's line; a mistake is an error at once.
    pub(crate) fn checked(py: Python<'_>, f: impl FnOnce() -> array::Array) -> PyResult<Self> {
        let inner = at_user(py, f);
        match inner.is_faulty().then(|| inner.fault()).flatten() {
            None => Ok(Self { inner }),
            Some(fault) => Err(PyValueError::new_err(fault.to_string())),
        }
    }

    fn recorded(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&array::Array) -> array::Array,
    ) -> PyResult<Self> {
        Self::checked(py, || f(&self.inner))
    }

    /// Writes all elements: at once if that is quick, else without the interpreter lock.
    fn read(&self, py: Python<'_>, slf: &Bound<'_, Self>, room: &mut [u8]) -> PyResult<()> {
        let inner = &self.inner;
        if inner.read_in_place(room) {
            return Ok(());
        }
        let mut rest = None;
        // A view is computed for itself: its base may be much larger.
        if !inner.is_view() && !inner.is_stored() {
            rest = finish(inner.begin())?;
            if rest.is_none() && inner.read_in_place(room) {
                return Ok(());
            }
        }
        slowly(py, std::slice::from_ref(slf), || {
            rest.map_or(Ok(()), array::Evaluation::finish)?;
            inner.write_bytes(room)
        })
    }

    fn viewed(&self, py: Python<'_>, slice: &[SliceItem]) -> PyResult<Self> {
        // A view records nothing: only a mistake wants to know its line.
        let inner = self.inner.view(slice);
        match inner.is_faulty() {
            false => Ok(Self { inner }),
            true => self.recorded(py, |array| array.view(slice)),
        }
    }

    fn assigned(&self, py: Python<'_>, slice: &[SliceItem], value: Operand) -> PyResult<()> {
        if self.inner.is_read_only() {
            let words = "got an array whose memory belongs to a library that only lets it be read: \
                         assign to a copy() of it";
            return Err(PyValueError::new_err(words));
        }
        at_user(py, || self.inner.try_set(slice, value))
            .map_err(|fault| PyValueError::new_err(fault.to_string()))
    }
}

/// Does what takes its time, for these arrays: without the interpreter lock, and with a sign of life
/// where its elements are asked for.
fn slowly<T: Send>(
    py: Python<'_>,
    arrays: &[Bound<'_, Array>],
    work: impl FnOnce() -> Result<T, array::Fault> + Send,
) -> PyResult<T> {
    static COMPUTING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let sign = COMPUTING.get_or_try_init(py, || -> PyResult<_> {
        Ok(py.import("pantile._progress")?.getattr("computing")?.unbind())
    })?;
    let sign = sign.bind(py).call1(PyTuple::new(py, arrays)?)?;
    let place = user_place(py).unwrap_or_default();
    sign.call_method0(intern!(py, "__enter__"))?;
    let done = py.detach(|| array::written_at(place, work));
    sign.call_method1(intern!(py, "__exit__"), (py.None(), py.None(), py.None()))?;
    finish(done)
}

/// A number of Python's.
pub(crate) fn number(value: &Bound<'_, PyAny>) -> PyResult<Number> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Number::Bool(truth.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        if let Ok(whole) = value.extract::<i64>() {
            return Ok(Number::Int(whole));
        }
        return Ok(Number::Large(value.extract::<u64>()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Number::Float(value.extract()?));
    }
    if let Ok(complex) = value.cast::<PyComplex>() {
        let part = |name: &str| complex.getattr(name)?.extract::<f64>();
        return Ok(Number::Complex(Complex::new(part("real")?, part("imag")?)));
    }
    let words = format!("got {}, expected an array or a number", value.get_type());
    Err(PyTypeError::new_err(words))
}

/// An array, or a number that elements of type `beside` can be.
fn operand(value: &Bound<'_, PyAny>, beside: DType) -> PyResult<Operand> {
    if let Ok(array) = value.cast::<Array>() {
        return Ok(Operand::Array(array.get().inner.clone()));
    }
    let whole = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    if !whole {
        return Ok(Operand::Number(number(value)?));
    }
    match limits(beside) {
        None => Ok(Operand::Number(number(value).or_else(|_| large(value))?)),
        Some((low, high)) => match value.extract::<i128>() {
            Ok(exact) if (low..=high).contains(&exact) => Ok(Operand::Number(number(value)?)),
            _ => {
                let name = numpy_name(beside);
                let words = format!("{value} is not among the numbers of {name}");
                Err(PyOverflowError::new_err(words))
            }
        },
    }
}

/// True for a number of Python's own types.
fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyComplex>()
}

/// A whole number beyond those of the machine, as a float.
fn large(value: &Bound<'_, PyAny>) -> PyResult<Number> {
    Ok(Number::Float(value.extract::<f64>()?))
}

/// The least and the greatest number of a type of whole numbers.
fn limits(dtype: DType) -> Option<(i128, i128)> {
    dispatch!(dtype, T {
        integers => Some((T::MIN.into(), T::MAX.into())),
        _ => None,
    })
}

/// A scalar as a number of Python's.
fn python_number(py: Python<'_>, value: Scalar) -> PyResult<Option<Bound<'_, PyAny>>> {
    dispatch!(value.dtype(), T {
        bool | integers | floats => value.get::<T>().map(|one| one.into_bound_py_any(py)),
        complex => value.get::<T>().map(|one| Ok(python_complex(py, one))),
    })
    .transpose()
}

fn python_complex<P: Into<f64>>(py: Python<'_>, value: Complex<P>) -> Bound<'_, PyAny> {
    PyComplex::from_doubles(py, value.re.into(), value.im.into()).into_any()
}

/// One axis of a slice: an index, or start, stop and step.
#[derive(FromPyObject)]
enum Item {
    At(i64),
    Range(Option<i64>, Option<i64>, i64),
}

fn items(list: Vec<Item>) -> Vec<SliceItem> {
    let item = |item| match item {
        Item::At(index) => SliceItem::At(index),
        Item::Range(from, to, step) => SliceItem::Range(from, to, step),
    };
    list.into_iter().map(item).collect()
}

fn unknown(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("there is no {what} {name:?}"))
}

#[pymethods]
impl Array {
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.inner.shape()
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        numpy_name(self.inner.dtype())
    }

    #[getter]
    fn world(&self) -> World {
        World { inner: self.inner.session().clone() }
    }

    /// What is wrong with it, if something is.
    #[getter]
    fn fault(&self) -> Option<String> {
        self.inner.fault().map(|fault| fault.to_string())
    }

    fn unary(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        let function = Unary::from_name(name).ok_or_else(|| unknown("function", name))?;
        self.recorded(py, |array| array.unary(function))
    }

    /// A function of this array and another one or a number, in this order or reversed.
    #[pyo3(signature = (name, other, reversed=false))]
    fn binary(
        &self,
        py: Python<'_>,
        name: &str,
        other: &Bound<'_, PyAny>,
        reversed: bool,
    ) -> PyResult<Self> {
        let function = Binary::from_name(name).ok_or_else(|| unknown("function", name))?;
        let other = operand(other, self.inner.dtype())?;
        self.recorded(py, |array| match reversed {
            true => array.reversed(function, other),
            false => array.binary(function, other),
        })
    }

    /// `yes` where this is true, else `no`.
    fn choose(
        &self,
        py: Python<'_>,
        yes: &Bound<'_, PyAny>,
        no: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        // A number gets its type from the array beside it; the condition has none to give.
        let beside = [yes, no]
            .iter()
            .find_map(|one| one.cast::<Self>().ok().map(|array| array.get().inner.dtype()));
        let beside = beside.unwrap_or(DType::F64);
        let (yes, no) = (operand(yes, beside)?, operand(no, beside)?);
        self.recorded(py, |array| array.choose(yes, no))
    }

    fn cast(&self, py: Python<'_>, dtype: &str) -> PyResult<Self> {
        let dtype = dtype_of(dtype)?;
        self.recorded(py, |array| array.cast(dtype))
    }

    #[pyo3(signature = (name, axes=None, keepdims=false, correction=0.0))]
    fn reduce(
        &self,
        py: Python<'_>,
        name: &str,
        axes: Option<Vec<usize>>,
        keepdims: bool,
        correction: f64,
    ) -> PyResult<Self> {
        let known = Reduction::ALL
            .into_iter()
            .find(|one| one.name() == name)
            .ok_or_else(|| unknown("reduction", name))?;
        self.recorded(py, |array| array.reduce(known, axes.as_deref(), keepdims, correction))
    }

    /// A view of a slice; with an index for every axis the element, as it is now.
    fn get(&self, py: Python<'_>, slice: Vec<Item>) -> PyResult<Self> {
        let slice = items(slice);
        self.recorded(py, |array| array.get(&slice))
    }

    /// A view of a slice, also if it has an index for every axis.
    fn view(&self, py: Python<'_>, slice: Vec<Item>) -> PyResult<Self> {
        self.viewed(py, &items(slice))
    }

    /// What a key of integers, slices and an ellipsis selects; nothing for every other key.
    fn at(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Some((slice, is_element)) = key::read(key, &self.inner.shape()) else {
            return Ok(None);
        };
        let part = match is_element {
            true => self.recorded(py, |array| array.get(&slice)),
            false => self.viewed(py, &slice),
        };
        part.map(Some)
    }

    /// Assigns to a slice.
    fn set(&self, py: Python<'_>, slice: Vec<Item>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assigned(py, &items(slice), operand(value, self.inner.dtype())?)
    }

    /// Assigns to what a key of integers, slices and an ellipsis selects; false, and nothing is done,
    /// for every other key, and for an array of another type.
    fn put(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let value = match value.cast_exact::<Self>() {
            Ok(array) if array.get().inner.dtype() == self.inner.dtype() => {
                Operand::Array(array.get().inner.clone())
            }
            Err(_) if is_plain(value) => operand(value, self.inner.dtype())?,
            _ => return Ok(false),
        };
        let Some((slice, _)) = key::read(key, &self.inner.shape()) else { return Ok(false) };
        self.assigned(py, &slice, value).map(|()| true)
    }

    fn reshape(&self, py: Python<'_>, shape: Vec<usize>) -> PyResult<Self> {
        self.recorded(py, |array| array.reshape(&shape))
    }

    /// True if another shape of as many elements is a view.
    fn reshapes_in_place(&self, shape: Vec<usize>) -> bool {
        self.inner.reshapes_in_place(&shape)
    }

    fn permute(&self, py: Python<'_>, axes: Vec<usize>) -> PyResult<Self> {
        self.recorded(py, |array| array.permute(&axes))
    }

    fn matmul(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.recorded(py, |array| array.matmul(&other.inner))
    }

    fn vecdot(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.recorded(py, |array| array.vecdot(&other.inner))
    }

    fn tensordot(
        &self,
        py: Python<'_>,
        other: &Self,
        axes: Vec<usize>,
        other_axes: Vec<usize>,
    ) -> PyResult<Self> {
        self.recorded(py, |array| array.tensordot(&other.inner, &axes, &other_axes))
    }

    fn broadcast_to(&self, py: Python<'_>, shape: Vec<usize>) -> PyResult<Self> {
        self.recorded(py, |array| array.broadcast_to(&shape))
    }

    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.recorded(py, array::Array::copy)
    }

    fn redistribute(&self, py: Python<'_>, dist: &str) -> PyResult<Self> {
        self.recorded(py, |array| array.redistribute(dist))
    }

    fn replicate(&self, py: Python<'_>) -> PyResult<Self> {
        self.recorded(py, array::Array::replicate)
    }

    /// A sum of shifted elements times weights.
    fn stencil(
        &self,
        py: Python<'_>,
        points: Vec<(Vec<i64>, f64)>,
        periodic: bool,
    ) -> PyResult<Self> {
        let boundary = if periodic { Boundary::Periodic } else { Boundary::Zero };
        let points: Vec<(&[i64], f64)> =
            points.iter().map(|(by, weight)| (by.as_slice(), *weight)).collect();
        self.recorded(py, |array| array.stencil(&points, boundary))
    }

    /// The only element as a number of Python's. Nothing if there are several, or if there are axes and
    /// only those without are asked for.
    #[pyo3(signature = (bare=false))]
    fn item<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        bare: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let inner = &slf.get().inner;
        if inner.size() != 1 || bare && inner.ndim() > 0 {
            return Ok(None);
        }
        let mut room = [0; 16];
        let room = &mut room[..inner.dtype().bytes()];
        slf.get().read(py, slf, room)?;
        let value = Scalar::from_bytes(inner.dtype(), room);
        value.map(|value| python_number(py, value)).transpose().map(Option::flatten)
    }

    /// Computes this array and others in one program.
    #[pyo3(signature = (others=vec![]))]
    fn compute(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        others: Vec<Bound<'_, Self>>,
    ) -> PyResult<()> {
        if others.is_empty() {
            return match finish(slf.get().inner.begin())? {
                None => Ok(()),
                Some(rest) => slowly(py, std::slice::from_ref(slf), move || rest.finish()),
            };
        }
        let mut all = vec![slf.clone()];
        all.extend(others);
        let arrays: Vec<&array::Array> = all.iter().map(|one| &one.get().inner).collect();
        let world = slf.get().inner.session();
        match finish(world.begin_all(&arrays))? {
            None => Ok(()),
            Some(rest) => slowly(py, &all, move || rest.finish()),
        }
    }

    /// Writes all elements into memory that can be written, on every process.
    fn whole_into(slf: &Bound<'_, Self>, py: Python<'_>, room: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut room = Room::new(room)?;
        slf.get().read(py, slf, room.bytes())
    }

    /// For each hosted rank: its number, its shape, the runs of global indices along each axis, the
    /// first element's place in its memory with the distances of neighbours, and its memory.
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn sections(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
    ) -> PyResult<Vec<(usize, Vec<usize>, Vec<Vec<(usize, usize)>>, (usize, Vec<usize>), Buffer)>>
    {
        let inner = &slf.get().inner;
        let sections = slowly(py, std::slice::from_ref(slf), || inner.sections())?;
        let one = |section: array::Section| {
            let (shape, runs, places) = (section.shape(), section.runs(), section.places());
            (section.rank, shape, runs, places, Buffer::of_tile(section.tile))
        };
        Ok(sections.into_iter().map(one).collect())
    }

    /// For each hosted rank its number and its memory with halos, laid out as a distribution says.
    /// Computes it, and moves what ranks do not own.
    fn held(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        dist: &Bound<'_, Distribution>,
    ) -> PyResult<Vec<(usize, Buffer)>> {
        let (inner, target) = (&slf.get().inner, &dist.get().inner);
        let tiles = slowly(py, std::slice::from_ref(slf), || inner.held(target))?;
        Ok(tiles.into_iter().map(|(rank, tile)| (rank, Buffer::of_tile(tile))).collect())
    }

    /// Where it lives, as text. Computes it.
    fn home(slf: &Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        let inner = &slf.get().inner;
        slowly(py, std::slice::from_ref(slf), || inner.home())
    }

    /// What computing it will do and cost.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let place = user_place(py).unwrap_or_default();
        let text = py.detach(|| array::written_at(place, || self.inner.explain()));
        text.map_err(|error| fault(&error))
    }
}
