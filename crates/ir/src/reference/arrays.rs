//! Arrays that change: cells that several views share.

use std::cell::RefCell;
use std::rc::Rc;

use pantile_lanes::{DType, Scalar};

use super::{Array, OperandError};

/// The elements of an array and of all its views.
struct Cells {
    dtype: DType,
    list: RefCell<Vec<Scalar>>,
}

/// An array, or a view of one: where each of its elements is among the cells.
#[derive(Clone)]
pub(super) struct View {
    cells: Rc<Cells>,
    pub(super) shape: Vec<usize>,
    /// Row-major.
    places: Rc<[usize]>,
}

impl View {
    /// An array of its own.
    pub(super) fn new(array: Array) -> Self {
        let places = (0..array.data.len()).collect();
        let cells = Cells { dtype: array.dtype, list: RefCell::new(array.data) };
        Self { cells: Rc::new(cells), shape: array.shape, places }
    }

    pub(super) fn dtype(&self) -> DType {
        self.cells.dtype
    }

    pub(super) fn size(&self) -> usize {
        self.places.len()
    }

    /// The elements as they are now.
    pub(super) fn read(&self) -> Array {
        let list = self.cells.list.borrow();
        let data = self.places.iter().map(|place| list[*place]).collect();
        Array { dtype: self.dtype(), shape: self.shape.clone(), data }
    }

    /// Overwrites the elements.
    pub(super) fn write(&self, data: &[Scalar]) {
        let mut list = self.cells.list.borrow_mut();
        for (place, value) in self.places.iter().zip(data) {
            list[*place] = *value;
        }
    }

    /// The same cells seen at these elements only, by their row-major numbers.
    pub(super) fn seen(&self, shape: &[usize], numbers: &[usize]) -> Self {
        let places = numbers.iter().map(|number| self.places[*number]).collect();
        Self { cells: Rc::clone(&self.cells), shape: shape.to_vec(), places }
    }

    /// An array of its own with the elements as they are now.
    pub(super) fn copy(&self) -> Self {
        Self::new(self.read())
    }
}

/// Number of elements of a shape.
pub(super) fn size(shape: &[usize]) -> Result<usize, OperandError> {
    let product = shape.iter().try_fold(1usize, |product, length| product.checked_mul(*length));
    product.ok_or_else(|| OperandError::TooManyElements { shape: shape.to_vec() })
}

/// All indices of a shape, row-major.
pub(super) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for length in shape {
        let longer = |index: &Vec<usize>| -> Vec<Vec<usize>> {
            (0..*length).map(|at| index.iter().copied().chain([at]).collect()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The row-major number of an index.
pub(super) fn number(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |number, (length, at)| number * length + at)
}

/// The elements of an array at a larger shape, aligned at the last axes.
pub(super) fn spread(array: &Array, shape: &[usize]) -> Result<Vec<Scalar>, OperandError> {
    let own = &array.shape;
    let fits = own.len() <= shape.len()
        && own.iter().rev().zip(shape.iter().rev()).all(|(one, other)| one == other || *one == 1);
    if !fits {
        return Err(OperandError::Broadcast { own: own.clone(), shape: shape.to_vec() });
    }
    let lead = shape.len() - own.len();
    let at = |index: Vec<usize>| {
        let index: Vec<usize> = index[lead..]
            .iter()
            .zip(own)
            .map(|(at, length)| if *length == 1 { 0 } else { *at })
            .collect();
        array.data[number(own, &index)]
    };
    Ok(indices(shape).into_iter().map(at).collect())
}

/// The shape of arrays taken together, aligned at the last axes.
pub(super) fn together(shapes: &[&[usize]]) -> Result<Vec<usize>, OperandError> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![1; ndim];
    for shape in shapes {
        for (at, length) in result[ndim - shape.len()..].iter_mut().zip(*shape) {
            if *at == 1 {
                *at = *length;
            } else if *length != 1 && *length != *at {
                let shapes = shapes.iter().map(|shape| shape.to_vec()).collect();
                return Err(OperandError::Together { shapes });
            }
        }
    }
    Ok(result)
}
