//! Arrays: what is recorded, and what runs.
#![allow(clippy::too_many_arguments, reason = "signatures are those that Python calls")]

use pantile::array::{self, Binary, Boundary, Number, Operand, Place, Reduction, SliceItem, Unary};
use pantile::ir::{Complex, Scalar};
use pantile_engine::DType;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

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
        match inner.fault() {
            None => Ok(Self { inner }),
            Some(fault) => Err(PyValueError::new_err(fault.to_string())),
        }
    }

    /// The user's line, if looking at this array records something now: only a view does. What was
    /// recorded before knows its lines.
    fn place_if_recorded(&self, py: Python<'_>) -> Place {
        if self.inner.is_view() { user_place(py) } else { None }.unwrap_or_default()
    }

    fn recorded(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&array::Array) -> array::Array,
    ) -> PyResult<Self> {
        Self::checked(py, || f(&self.inner))
    }

    fn viewed(&self, py: Python<'_>, slice: &[SliceItem]) -> PyResult<Self> {
        // A view records nothing: only a mistake wants to know its line.
        let inner = self.inner.view(slice);
        match inner.fault() {
            None => Ok(Self { inner }),
            Some(_) => self.recorded(py, |array| array.view(slice)),
        }
    }

    fn assigned(&self, py: Python<'_>, slice: &[SliceItem], value: Operand) -> PyResult<()> {
        if self.inner.is_read_only() {
            let words = "got an array whose memory belongs to somebody who only lets it be read: \
                         assign to a copy() of it";
            return Err(PyValueError::new_err(words));
        }
        at_user(py, || self.inner.try_set(slice, value))
            .map_err(|fault| PyValueError::new_err(fault.to_string()))
    }
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
    Some(match dtype {
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::I64 => (i64::MIN.into(), i64::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::U64 => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// A scalar as a number of Python's.
fn python_number(py: Python<'_>, value: Scalar) -> PyResult<Option<Bound<'_, PyAny>>> {
    macro_rules! number {
        ($($dtype:ident $type:ty),*) => {
            match value.dtype() {
                $(DType::$dtype => value.get::<$type>().map(|one| one.into_bound_py_any(py)),)*
                DType::C64 => value.get::<Complex<f32>>().map(|one| {
                    Ok(PyComplex::from_doubles(py, one.re.into(), one.im.into()).into_any())
                }),
                DType::C128 => value.get::<Complex<f64>>().map(|one| {
                    Ok(PyComplex::from_doubles(py, one.re, one.im).into_any())
                }),
            }
        };
    }
    number!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32,
        F64 f64)
    .transpose()
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
        World { inner: self.inner.world().clone() }
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

    /// The only element as a number of Python's, if that is soon known; else nothing. With `bare`
    /// only that of an array without axes.
    #[pyo3(signature = (bare=false))]
    fn item_light<'py>(&self, py: Python<'py>, bare: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        if bare && self.inner.ndim() > 0 {
            return Ok(None);
        }
        // What is computed is looked at where it is: then even a view records nothing.
        let place = if self.inner.is_stored() { None } else { Some(self.place_if_recorded(py)) };
        let place = place.unwrap_or_default();
        match finish(array::written_at(place, || self.inner.item_light()))? {
            Some(value) => python_number(py, value),
            None => Ok(None),
        }
    }

    /// Computes this array if that is soon done, or was; false if it takes its time.
    fn compute_light(&self, py: Python<'_>) -> PyResult<bool> {
        let place = self.place_if_recorded(py);
        finish(array::written_at(place, || self.inner.compute_light()))
    }

    /// Computes this array and others in one program.
    #[pyo3(signature = (others=vec![]))]
    fn compute(&self, py: Python<'_>, others: Vec<Py<Self>>) -> PyResult<()> {
        let place = user_place(py).unwrap_or_default();
        let others: Vec<array::Array> =
            others.iter().map(|other| other.get().inner.clone()).collect();
        let all: Vec<&array::Array> = std::iter::once(&self.inner).chain(&others).collect();
        let world = self.inner.world();
        finish(py.detach(|| array::written_at(place, || world.compute(&all))))
    }

    /// Writes all elements into memory that can be written, on every process.
    fn whole_into(&self, py: Python<'_>, room: &Bound<'_, PyAny>) -> PyResult<()> {
        let place = user_place(py).unwrap_or_default();
        let mut room = Room::new(room)?;
        finish(py.detach(|| array::written_at(place, || self.inner.write_bytes(room.bytes()))))
    }

    /// For each hosted rank: its number, its shape, the runs of global indices along each axis, the
    /// first element's place in its memory with the distances of neighbours, and its memory.
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn sections(
        &self,
        py: Python<'_>,
    ) -> PyResult<Vec<(usize, Vec<usize>, Vec<Vec<(usize, usize)>>, (usize, Vec<usize>), Buffer)>>
    {
        let place = user_place(py).unwrap_or_default();
        let sections = finish(py.detach(|| array::written_at(place, || self.inner.sections())))?;
        let one = |section: array::Section| {
            let (shape, runs, places) = (section.shape(), section.runs(), section.places());
            (section.rank, shape, runs, places, Buffer::of_tile(section.tile))
        };
        Ok(sections.into_iter().map(one).collect())
    }

    /// For each hosted rank its number and its memory with halos, laid out as a distribution says.
    /// Computes it, and moves what ranks do not own.
    fn held(
        &self,
        py: Python<'_>,
        dist: &Bound<'_, Distribution>,
    ) -> PyResult<Vec<(usize, Buffer)>> {
        let place = user_place(py).unwrap_or_default();
        let target = &dist.get().inner;
        let tiles = finish(py.detach(|| array::written_at(place, || self.inner.held(target))))?;
        Ok(tiles.into_iter().map(|(rank, tile)| (rank, Buffer::of_tile(tile))).collect())
    }

    /// Where it lives, as text. Computes it.
    fn home(&self, py: Python<'_>) -> PyResult<String> {
        let place = user_place(py).unwrap_or_default();
        finish(py.detach(|| array::written_at(place, || self.inner.home())))
    }

    /// What computing it will do and cost.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let place = user_place(py).unwrap_or_default();
        let text = py.detach(|| array::written_at(place, || self.inner.explain()));
        text.map_err(|error| fault(&error))
    }
}
