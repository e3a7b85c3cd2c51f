//! Elements at even distances, copied to and from contiguous memory.

use pantile_engine::{Element, Tile, dispatch};

/// Where the elements of an array lie in a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strided {
    pub(crate) offset: isize,
    pub(crate) strides: Vec<isize>,
}

impl Strided {
    /// Row-major from the first element on.
    pub(crate) fn dense(shape: &[usize]) -> Self {
        let mut strides = vec![0; shape.len()];
        let mut next: isize = 1;
        for (stride, length) in strides.iter_mut().zip(shape).rev() {
            *stride = next;
            next = next.saturating_mul(isize::try_from(*length).unwrap_or(isize::MAX));
        }
        Self { offset: 0, strides }
    }

    /// True if the elements are a memory of so many from its start on, in row-major order.
    pub(crate) fn is_whole(&self, shape: &[usize], len: usize) -> bool {
        let dense = Self::dense(shape);
        let alike = |axis: usize| shape[axis] == 1 || self.strides[axis] == dense.strides[axis];
        let size: usize = shape.iter().product();
        size == len && (size == 0 || (self.offset == 0 && (0..shape.len()).all(alike)))
    }
}

/// The elements, row-major and contiguous.
pub(crate) fn gathered(tile: &Tile, shape: &[usize], places: &Strided) -> Tile {
    fn of<T: Element>(tile: &Tile, shape: &[usize], places: &Strided) -> Tile {
        let source = tile.as_slice::<T>();
        let mut out: Vec<T> = Vec::with_capacity(shape.iter().product());
        runs(shape, places, &mut |at, count, step| {
            if step == 1 {
                let at = usize::try_from(at).unwrap_or(0);
                out.extend_from_slice(&source[at..at + count]);
            } else {
                out.extend((0..count).map(|number| source[moved(at, number, step)]));
            }
        });
        Tile::from_vec(out)
    }
    dispatch!(tile.dtype(), T => of::<T>(tile, shape, places))
}

/// Writes contiguous elements to their places.
pub(crate) fn scattered(into: &mut Tile, shape: &[usize], places: &Strided, from: &Tile) {
    fn of<T: Element>(into: &mut Tile, shape: &[usize], places: &Strided, from: &Tile) {
        let (target, source) = (into.as_mut_slice::<T>(), from.as_slice::<T>());
        let mut done = 0;
        runs(shape, places, &mut |at, count, step| {
            let part = &source[done..done + count];
            if step == 1 {
                let at = usize::try_from(at).unwrap_or(0);
                target[at..at + count].copy_from_slice(part);
            } else {
                for (number, value) in part.iter().enumerate() {
                    target[moved(at, number, step)] = *value;
                }
            }
            done += count;
        });
    }
    dispatch!(into.dtype(), T => of::<T>(into, shape, places, from));
}

fn moved(at: isize, number: usize, step: isize) -> usize {
    let way = isize::try_from(number).unwrap_or(0) * step;
    usize::try_from(at + way).unwrap_or(0)
}

/// Calls `f` with the start, the length and the step of every row.
fn runs(shape: &[usize], places: &Strided, f: &mut dyn FnMut(isize, usize, isize)) {
    fn go(
        (shape, strides): (&[usize], &[isize]),
        at: isize,
        f: &mut dyn FnMut(isize, usize, isize),
    ) {
        match (shape, strides) {
            ([], _) => f(at, 1, 1),
            ([count], [step]) => f(at, *count, *step),
            ([count, shape @ ..], [step, strides @ ..]) => {
                for number in 0..*count {
                    let way = isize::try_from(number).unwrap_or(0) * step;
                    go((shape, strides), at + way, f);
                }
            }
            _ => {}
        }
    }
    if !shape.contains(&0) {
        go((shape, &places.strides), places.offset, f);
    }
}
