//! What every worker of a layer needs from its neighbours along one axis.

use std::collections::BTreeMap;

use pantile::geometry::halo::{AxisHalo, Blocks, CustomLayer, HaloError, Window, WorkerHalo};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type Interval = (usize, usize);

/// Input and output; signed, received and sent widths; the needed part; explicit padding, the
/// needed cells, and padding that is no data.
type Row =
    (Interval, Interval, (i64, i64), Interval, Interval, Interval, (Interval, Interval, Interval));

/// The rows of all workers along one axis, whose blocks have these extents. The window is kernel,
/// stride, padding and dilation; if `layer` its padding is data of the workers at the edges.
/// Instead of it, `custom` is the number of outputs and a function from an output to its first and
/// last input.
#[pyfunction]
#[pyo3(signature = (extents, window, layer=false, custom=None))]
pub(crate) fn halos(
    extents: Vec<usize>,
    window: (usize, usize, usize, usize),
    layer: bool,
    custom: Option<(usize, Bound<'_, PyAny>)>,
) -> PyResult<Vec<Row>> {
    let input = Blocks::from_extents(&extents).map_err(|error| refused(&error))?;
    let table = match custom {
        Some((outputs, function)) => custom_table(&input, outputs, &function)?,
        None => {
            let (kernel, stride, padding, dilation) = window;
            let window = Window::new(kernel, stride, padding, dilation);
            let table = window.and_then(|window| match layer {
                true => AxisHalo::with_boundary_padding(&window, &input),
                false => AxisHalo::new(&window, &input),
            });
            table.map_err(|error| refused(&error))?
        }
    };
    Ok(table.iter().map(|row| tuple(&row)).collect())
}

fn refused(error: &HaloError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn tuple(row: &WorkerHalo) -> Row {
    let ends = |range: &std::ops::Range<usize>| (range.start, range.end);
    (
        ends(&row.owned),
        ends(&row.output),
        row.signed,
        row.receive,
        row.send,
        ends(&row.needed),
        (row.pad, ends(&row.needed_global), row.beyond),
    )
}

/// The table of a layer that a function describes. It is asked beforehand, for the outputs at the
/// ends of each worker's: only then can what it raises reach its caller.
fn custom_table(input: &Blocks, outputs: usize, function: &Bound<'_, PyAny>) -> PyResult<AxisHalo> {
    let blocks = Blocks::balanced(outputs, input.workers()).map_err(|error| refused(&error))?;
    let mut known: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for worker in 0..blocks.workers() {
        let range = blocks.range(worker);
        for output in [range.start, range.end.saturating_sub(1)] {
            let key = i64::try_from(output).unwrap_or(i64::MAX);
            if known.contains_key(&key) {
                continue;
            }
            match asked(function, output) {
                Ok(ends) => drop(known.insert(key, ends)),
                // Workers without outputs look where the next output would; it need not exist.
                Err(_) if output >= outputs => {}
                Err(error) => return Err(error),
            }
        }
    }
    let beyond = known.last_key_value().map_or(0, |(_, ends)| ends.1.saturating_add(1));
    let first = |output: i64| known.get(&output).map_or(beyond, |ends| ends.0);
    let last = |output: i64| known.get(&output).map_or(beyond - 1, |ends| ends.1);
    let layer = CustomLayer::new(input.extent(), outputs, first, last);
    layer.and_then(|layer| AxisHalo::new(&layer, input)).map_err(|error| refused(&error))
}

fn asked(function: &Bound<'_, PyAny>, output: usize) -> PyResult<(i64, i64)> {
    let said = function.call1((output,))?;
    let ends: Option<(i64, i64)> = said.extract().ok();
    ends.filter(|(first, last)| first <= last).ok_or_else(|| {
        PyValueError::new_err(format!(
            "index_range({output}) gave {said}, expected the first and the last input index of \
             output {output}"
        ))
    })
}
