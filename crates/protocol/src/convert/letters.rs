//! Distributions by letters: `b`, `c` and `n` per axis, without bounds.

use crate::{Code, Error, Finding};
use pantile_geometry::{Axis, Cuts, Distribution, Mesh};

/// The distribution of an array whose axes are dealt by letters over a grid: `b` in blocks of
/// equal length, the last ones shorter or empty; `c` one by one in turn; `n` not at all.
///
/// ```
/// use pantile_protocol::convert::from_letters;
/// let array = from_letters(&[10, 6], &[4, 1], "bn").unwrap();
/// let rows: Vec<usize> = (0..4).map(|rank| array.local_shape(rank).unwrap()[0]).collect();
/// assert_eq!(rows, [3, 3, 3, 1]);
/// ```
///
/// # Errors
/// There is not one letter and one grid extent per axis, a letter is not known, or an axis `n` is
/// on several grid places.
pub fn from_letters(shape: &[usize], grid: &[usize], letters: &str) -> Result<Distribution, Error> {
    let letters: Vec<char> = letters.chars().collect();
    if letters.len() != shape.len() || grid.len() != shape.len() {
        let message = format!(
            "{} letters and a grid of {} axes for an array of {}",
            letters.len(),
            grid.len(),
            shape.len()
        );
        return Err(Error::Invalid(vec![Finding::new(Code::Ndim, message)]));
    }
    let names: Vec<String> = (0..shape.len()).map(|axis| format!("d{axis}")).collect();
    let axes =
        names.iter().zip(&letters).zip(grid).enumerate().map(|(axis, ((name, letter), places))| {
            let refuse =
                |code, message| Error::Invalid(vec![Finding::new(code, message).on_axis(axis)]);
            match (letter, places) {
                ('b', _) => Ok(Axis::cut(&[name], Cuts::Ceil)),
                ('c', _) => Ok(Axis::cyclic(&[name], 1)),
                ('n', 1) => Ok(Axis::whole()),
                ('n', _) => {
                    let message = format!("letter `n` on {places} grid places, expected 1");
                    Err(refuse(Code::GridSize, message))
                }
                _ => {
                    let message = format!("letter `{letter}`, expected `b`, `c` or `n`");
                    Err(refuse(Code::DistType, message))
                }
            }
        });
    let axes = axes.collect::<Result<_, _>>()?;
    let extents: Vec<(&str, usize)> =
        names.iter().map(String::as_str).zip(grid.iter().copied()).collect();
    let mesh = if extents.is_empty() { Mesh::one(0) } else { Mesh::new(&extents)? };
    Ok(Distribution::new(shape, mesh, axes)?)
}
