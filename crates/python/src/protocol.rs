//! What other libraries say about their arrays, between Python's objects and the protocol's.
#![allow(clippy::needless_pass_by_value, reason = "signatures are those that Python calls")]

use pantile_protocol::{
    Buffer, Code, Dim, Dtype, Error, Finding, Kind, Object, Section, check, dnpy, normalise, npy,
    validate,
};
use pyo3::IntoPyObjectExt;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyTupleMethods,
};

/// A Python object as the protocol knows it. The package hands indices in as an `int64` buffer.
pub(crate) fn object(value: &Bound<'_, PyAny>) -> PyResult<Object> {
    let all = |items: Vec<Bound<'_, PyAny>>| -> PyResult<Vec<Object>> {
        items.iter().map(object).collect()
    };
    let kind = if value.is_none() {
        Kind::None
    } else if let Ok(truth) = value.cast_exact::<PyBool>() {
        Kind::Bool(truth.is_true())
    } else if value.is_instance_of::<PyInt>() {
        value.extract().map_or_else(|_| Kind::Other("int".to_owned()), Kind::Int)
    } else if value.is_instance_of::<PyFloat>() {
        Kind::Number(value.repr()?.to_string())
    } else if let Ok(text) = value.cast::<PyString>() {
        Kind::Text(text.to_str()?.to_owned())
    } else if let Ok(items) = value.cast::<PyTuple>() {
        Kind::Tuple(all(items.iter().collect())?)
    } else if let Ok(items) = value.cast::<PyList>() {
        Kind::List(all(items.iter().collect())?)
    } else if let Ok(entries) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<_> {
            Ok((object(&key)?, object(&value)?))
        };
        Kind::Dict(entries.iter().map(entry).collect::<PyResult<_>>()?)
    } else if let Some(labels) = labels(value) {
        Kind::Indices(labels)
    } else {
        Kind::Other(value.get_type().name()?.to_string())
    };
    Ok(kind.into())
}

fn labels(value: &Bound<'_, PyAny>) -> Option<Vec<i64>> {
    let buffer = PyBuffer::<i64>::get(value).ok().filter(|buffer| buffer.dimensions() == 1)?;
    buffer.to_vec(value.py()).ok()
}

/// An object of the protocol as one of Python's.
pub(crate) fn python<'py>(py: Python<'py>, value: &Object) -> PyResult<Bound<'py, PyAny>> {
    let all = |items: &[Object]| -> PyResult<Vec<Bound<'py, PyAny>>> {
        items.iter().map(|item| python(py, item)).collect()
    };
    match value.kind() {
        Kind::Bool(truth) => truth.into_bound_py_any(py),
        Kind::Int(number) => number.into_bound_py_any(py),
        Kind::Text(text) => text.into_bound_py_any(py),
        Kind::Tuple(items) => Ok(PyTuple::new(py, all(items)?)?.into_any()),
        Kind::List(items) => Ok(PyList::new(py, all(items)?)?.into_any()),
        Kind::Dict(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(python(py, key)?, python(py, value)?)?;
            }
            Ok(dict.into_any())
        }
        Kind::Indices(labels) => {
            py.import("numpy")?.call_method1("array", (labels.clone(), "int64"))
        }
        Kind::Number(text) => text.into_bound_py_any(py),
        _ => Ok(py.None().into_bound(py)),
    }
}

/// The dictionaries of a section.
pub(crate) fn dim_data<'py>(py: Python<'py>, dims: &[Dim]) -> PyResult<Bound<'py, PyAny>> {
    python(py, &Object::tuple(dims.iter().map(Dim::to_object)))
}

/// A structure as it was given. Of its buffer the package tells shape and format, or its type if it
/// is none.
pub(crate) fn section(structure: &Bound<'_, PyDict>) -> PyResult<Section> {
    let get = |key: &str| structure.get_item(key);
    let part = |key: &str| get(key)?.map(|value| object(&value)).transpose();
    let buffer = match get("buffer")? {
        None => Buffer::Missing,
        Some(about) => match about.extract::<(Vec<i64>, Option<String>)>() {
            Ok((shape, format)) => Buffer::Known { shape, format },
            Err(_) if about.is_none() => Buffer::Unknown,
            Err(_) => Buffer::Other(about.to_string()),
        },
    };
    let keys = structure.keys().iter().map(|key| key.str().map(|key| key.to_string()));
    let mut extra_keys: Vec<String> = keys.collect::<PyResult<_>>()?;
    extra_keys.retain(|key| !matches!(key.as_str(), "__version__" | "buffer" | "dim_data"));
    let (version, dim_data) = (part("__version__")?, part("dim_data")?);
    Ok(Section { version, buffer, dim_data, extra_keys })
}

pub(crate) fn sections(structures: &[Bound<'_, PyDict>]) -> PyResult<Vec<Section>> {
    structures.iter().map(section).collect()
}

/// A finding as a code and a sentence that begins with where it is.
fn pair(finding: &Finding) -> (String, String) {
    let place = match (finding.rank, finding.axis) {
        (Some(rank), Some(axis)) => format!("rank {rank}, axis {axis}: "),
        (Some(rank), None) => format!("rank {rank}: "),
        (None, Some(axis)) => format!("axis {axis}: "),
        (None, None) => String::new(),
    };
    (finding.code.to_string(), format!("{place}{}", finding.message))
}

/// What went wrong, with all findings.
pub(crate) fn protocol_error(error: &Error) -> PyErr {
    match error {
        Error::Invalid(findings) => {
            let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
            PyValueError::new_err(lines.join("; "))
        }
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Everything that is wrong with one structure, or with those of all ranks together.
#[pyfunction]
fn dap_findings(
    structures: Vec<Bound<'_, PyDict>>,
    together: bool,
) -> PyResult<Vec<(String, String)>> {
    let sections = sections(&structures)?;
    let findings = match (together, sections.as_slice()) {
        (false, [one]) => validate(one),
        _ => check(&sections),
    };
    Ok(findings.iter().map(pair).collect())
}

/// The dictionaries of all ranks as version 0.10 has them, and everything that is still wrong with
/// them.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
fn dap_straightened<'py>(
    py: Python<'py>,
    structures: Vec<Bound<'py, PyDict>>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<(String, String)>)> {
    let normal = normalise(&sections(&structures)?);
    let data = |section: &Section| {
        section.dim_data.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |d| python(py, d))
    };
    let dims: PyResult<Vec<_>> = normal.sections.iter().map(data).collect();
    Ok((dims?, check(&normal.sections).iter().map(pair).collect()))
}

/// How many elements a rank owns along a dimension.
#[pyfunction]
fn dap_num_owned(dim: &Bound<'_, PyDict>) -> PyResult<i64> {
    let section = Section {
        version: Some("0.10.0".into()),
        buffer: Buffer::Unknown,
        dim_data: Some(Object::tuple([object(dim)?])),
        extra_keys: Vec::new(),
    };
    if dim.is_empty() {
        let words = "got {}, which stands for all of its buffer: how long that is it does not say";
        return Err(PyValueError::new_err(words));
    }
    match normalise(std::slice::from_ref(&section)).sections[0].dims().as_slice() {
        [Some(dim)] => Ok(dim.num_owned()),
        _ => {
            let mut findings = validate(&section);
            findings.retain(|finding| finding.code != Code::Ndim);
            Err(protocol_error(&Error::Invalid(findings)))
        }
    }
}

/// The bytes of a `.dnpy` file before its elements.
#[pyfunction]
fn dnpy_header<'py>(
    py: Python<'py>,
    structure: &Bound<'py, PyDict>,
    dtype: &str,
    shape: Vec<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let dtype = Dtype::parse(dtype)
        .ok_or_else(|| PyValueError::new_err(format!("got elements of type {dtype:?}")))?;
    let header = npy::Header { dtype, fortran_order: false, shape };
    let bytes = dnpy::write(&section(structure)?, &header);
    bytes.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| protocol_error(&error))
}

/// What a `.dnpy` file says before its elements: version, dictionaries, type, whether its elements
/// are in Fortran's order, shape, and where they begin.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
fn dnpy_read<'py>(
    py: Python<'py>,
    bytes: &[u8],
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, String, bool, Vec<u64>, usize)> {
    let read = dnpy::read(bytes).map_err(|error| protocol_error(&error))?;
    let value = |object: &Option<Object>| {
        object.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |object| python(py, object))
    };
    let (version, data) = (value(&read.section.version)?, value(&read.section.dim_data)?);
    let header = read.header;
    Ok((version, data, header.dtype.to_string(), header.fortran_order, header.shape, read.data))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(dap_findings, module)?)?;
    module.add_function(wrap_pyfunction!(dap_straightened, module)?)?;
    module.add_function(wrap_pyfunction!(dap_num_owned, module)?)?;
    module.add_function(wrap_pyfunction!(dnpy_header, module)?)?;
    module.add_function(wrap_pyfunction!(dnpy_read, module)?)
}
