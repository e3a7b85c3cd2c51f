//! Keys of `a[...]` as slices, for those that programs use all the time.

use pantile::array::SliceItem;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple};

/// The slice that a key of integers, slices and at most one ellipsis selects, and whether it names one
/// element: an integer for every axis. Nothing for other keys, and for mistakes: the package reads
/// those, and says what is wrong.
pub(crate) fn read(key: &Bound<'_, PyAny>, shape: &[usize]) -> Option<(Vec<SliceItem>, bool)> {
    let Ok(keys) = key.cast_exact::<PyTuple>() else {
        // An ellipsis alone is a view of everything.
        return match key.is_instance_of::<PyEllipsis>() {
            true => Some((Vec::new(), false)),
            false => {
                let item = item_of(key, *shape.first()?)?;
                let is_element = shape.len() == 1 && matches!(item, SliceItem::At(_));
                Some((vec![item], is_element))
            }
        };
    };
    let mut items = Vec::with_capacity(shape.len());
    let mut ellipsis = false;
    for one in keys.iter_borrowed() {
        if one.is_instance_of::<PyEllipsis>() {
            let named = keys.len() - 1;
            // A second one is a mistake.
            if ellipsis || named > shape.len() {
                return None;
            }
            ellipsis = true;
            items.extend((named..shape.len()).map(|_| SliceItem::Range(None, None, 1)));
        } else {
            items.push(item_of(&one, *shape.get(items.len())?)?);
        }
    }
    let indices = items.iter().filter(|item| matches!(item, SliceItem::At(_))).count();
    let is_element = indices == shape.len() && !ellipsis;
    Some((items, is_element))
}

/// What a key selects of an axis of this length.
fn item_of(key: &Bound<'_, PyAny>, length: usize) -> Option<SliceItem> {
    if let Ok(index) = key.cast_exact::<PyInt>() {
        let (index, length) = (index.extract::<i64>().ok()?, i64::try_from(length).ok()?);
        return (-length..length).contains(&index).then_some(SliceItem::At(index));
    }
    let slice = key.cast_exact::<PySlice>().ok()?;
    let (from, to, step) = parts_of(slice)?;
    let step = bound(&step)?.unwrap_or(1);
    (step != 0).then_some(SliceItem::Range(bound(&from)?, bound(&to)?, step))
}

type SliceParts<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn parts_of<'py>(slice: &Bound<'py, PySlice>) -> Option<SliceParts<'py>> {
    use pyo3::intern;
    let py = slice.py();
    let part = |name| slice.getattr(name).ok();
    Some((part(intern!(py, "start"))?, part(intern!(py, "stop"))?, part(intern!(py, "step"))?))
}

/// A bound of a slice, if it is an integer or left out.
fn bound(value: &Bound<'_, PyAny>) -> Option<Option<i64>> {
    if value.is_none() {
        return Some(None);
    }
    value.cast_exact::<PyInt>().ok()?.extract().ok().map(Some)
}
