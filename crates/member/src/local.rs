//! Local arrays: elements in memory that several views share.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use pantile_engine::{DType, Tile};
use pantile_ir::Op;

use crate::error::OperationFault;
use crate::strided::{Strided, gathered, scattered};

/// A reduction of rows whose rounded result is in a memory: what an all-reduce needs to round once.
#[derive(Clone, Debug)]
pub(crate) struct Partial {
    /// The reduction.
    pub(crate) op: Op,
    /// The rows of this member.
    pub(crate) rows: LocalArray,
    /// The type of the result.
    pub(crate) dtype: DType,
}

/// The elements of an array and of all its views.
#[derive(Debug)]
struct SharedElements {
    tile: RefCell<Rc<Tile>>,
    partial: RefCell<Option<Rc<Partial>>>,
}

/// An array that one rank has: some elements of a memory that other arrays may see, too.
#[derive(Clone, Debug)]
pub struct LocalArray {
    cells: Rc<SharedElements>,
    dtype: DType,
    shape: Vec<usize>,
    places: Strided,
}

/// One axis of a view: first index, number of indices, distance.
pub(crate) type AxisView = (i64, i64, i64);

impl LocalArray {
    /// An array of this shape with memory of its own.
    ///
    /// # Errors
    /// If the tile has another number of elements.
    pub fn new(shape: &[usize], tile: Tile) -> Result<Self, OperationFault> {
        Self::shared(shape, Rc::new(tile))
    }

    /// An array that may share its memory until it is written.
    pub(crate) fn shared(shape: &[usize], tile: Rc<Tile>) -> Result<Self, OperationFault> {
        let count = shape.iter().try_fold(1_usize, |all, length| all.checked_mul(*length));
        if count != Some(tile.len()) {
            let (got, expected) = (vec![tile.len()], shape.to_vec());
            return Err(OperationFault::Shapes { got, expected });
        }
        let dtype = tile.dtype();
        let cells = SharedElements { tile: RefCell::new(tile), partial: RefCell::new(None) };
        let (shape, places) = (shape.to_vec(), Strided::dense(shape));
        Ok(Self { cells: Rc::new(cells), dtype, shape, places })
    }

    /// Zeros.
    pub(crate) fn zeroed(shape: &[usize], dtype: DType) -> Result<Self, OperationFault> {
        let count = shape.iter().try_fold(1_usize, |all, length| all.checked_mul(*length));
        let tile = count.and_then(|count| Tile::try_zeroed(dtype, count).ok());
        let expected = "as many elements as there is memory for";
        Self::new(shape, tile.ok_or(OperationFault::Number { got: i64::MAX, expected })?)
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its elements as they are now, row-major.
    #[must_use]
    pub fn tile(&self) -> Rc<Tile> {
        let tile = self.cells.tile.borrow();
        match self.places.is_whole(&self.shape, tile.len()) {
            true => Rc::clone(&tile),
            false => Rc::new(gathered(&tile, &self.shape, &self.places)),
        }
    }

    /// An array of its own with the elements as they are now.
    pub(crate) fn copy(&self) -> Result<Self, OperationFault> {
        Self::shared(&self.shape, self.tile())
    }

    /// True if it is all of its memory.
    fn is_whole(&self) -> bool {
        self.places.is_whole(&self.shape, self.cells.tile.borrow().len())
    }

    /// Overwrites its elements with those of an array of the same shape and type.
    pub(crate) fn write(&self, from: &Self) -> Result<(), OperationFault> {
        if self.shape != from.shape || self.dtype() != from.dtype() {
            let (got, expected) = (from.shape.clone(), self.shape.clone());
            return Err(OperationFault::Shapes { got, expected });
        }
        // Read before anything is written: it may be a view of the same memory.
        let source = from.tile();
        let partial = from.partial().filter(|_| self.is_whole());
        let mut tile = self.cells.tile.borrow_mut();
        if self.places.is_whole(&self.shape, tile.len()) {
            *tile = source;
        } else {
            scattered(Rc::make_mut(&mut tile), &self.shape, &self.places, &source);
        }
        *self.cells.partial.borrow_mut() = partial;
        Ok(())
    }

    /// The reduction that it is the result of.
    pub(crate) fn partial(&self) -> Option<Rc<Partial>> {
        self.cells.partial.borrow().clone().filter(|_| self.is_whole())
    }

    /// Notes the reduction that it is the result of.
    pub(crate) fn note_partial(&self, partial: Partial) {
        *self.cells.partial.borrow_mut() = Some(Rc::new(partial));
    }

    /// A view of it.
    pub(crate) fn view(&self, axes: &[AxisView]) -> Result<Self, OperationFault> {
        if axes.len() != self.shape.len() {
            let (got, expected) = (vec![axes.len()], vec![self.shape.len()]);
            return Err(OperationFault::Shapes { got, expected });
        }
        let mut made = Self { shape: Vec::new(), ..self.clone() };
        for (axis, (offset, size, step)) in axes.iter().copied().enumerate() {
            let length = self.shape[axis];
            let last = i128::from(offset) + (i128::from(size) - 1) * i128::from(step);
            let inside = |at: i128| usize::try_from(at).is_ok_and(|at| at < length);
            let fits = size == 0 || (inside(i128::from(offset)) && inside(last));
            if size < 0 || step == 0 || !fits {
                return Err(OperationFault::Bounds { axis, offset, size, step, length });
            }
            let number = |number: i64| isize::try_from(number).unwrap_or(0);
            if size > 0 {
                made.places.offset += self.places.strides[axis] * number(offset);
                // The distance of a single element counts nothing.
                let step = if size == 1 { 0 } else { number(step) };
                made.places.strides[axis] = self.places.strides[axis] * step;
            }
            made.shape.push(usize::try_from(size).unwrap_or(0));
        }
        Ok(made)
    }

    /// Some rows, with some columns along the other axes.
    pub(crate) fn part(&self, ranges: &[Range<usize>]) -> Result<Self, OperationFault> {
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let axis = |range: &Range<usize>| (number(range.start), number(range.len()), 1);
        self.view(&ranges.iter().map(axis).collect::<Vec<_>>())
    }

    /// Some rows with all columns.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Result<Self, OperationFault> {
        let columns = self.shape.iter().skip(1).map(|length| 0..*length);
        self.part(&std::iter::once(rows).chain(columns).collect::<Vec<_>>())
    }

    /// A view with the axes in another order.
    pub(crate) fn permuted(&self, axes: &[usize]) -> Self {
        let shape = axes.iter().map(|axis| self.shape[*axis]).collect();
        let strides = axes.iter().map(|axis| self.places.strides[*axis]).collect();
        let places = Strided { offset: self.places.offset, strides };
        Self { shape, places, ..self.clone() }
    }

    /// The same elements in another shape: an array of its own.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> Result<Self, OperationFault> {
        Self::shared(shape, self.tile())
    }

    /// The same view without the axes of length 1 that `keep` does not name.
    pub(crate) fn without_axes(&self, keep: &[usize]) -> Self {
        let shape = keep.iter().map(|axis| self.shape[*axis]).collect();
        let strides = keep.iter().map(|axis| self.places.strides[*axis]).collect();
        let places = Strided { offset: self.places.offset, strides };
        Self { shape, places, ..self.clone() }
    }

    /// A view of a larger shape that repeats axes of length 1, aligned at the last axes.
    pub(crate) fn spread(&self, shape: &[usize]) -> Result<Self, OperationFault> {
        let lead = shape.len().checked_sub(self.shape.len());
        let fits = |lead: usize| {
            let pairs = self.shape.iter().zip(&shape[lead..]);
            pairs.into_iter().all(|(one, other)| one == other || *one == 1)
        };
        let Some(lead) = lead.filter(|lead| fits(*lead)) else {
            let (got, expected) = (self.shape.clone(), shape.to_vec());
            return Err(OperationFault::Shapes { got, expected });
        };
        let mut strides = vec![0; shape.len()];
        for (axis, length) in self.shape.iter().enumerate() {
            if *length != 1 {
                strides[lead + axis] = self.places.strides[axis];
            }
        }
        let places = Strided { offset: self.places.offset, strides };
        Ok(Self { shape: shape.to_vec(), places, ..self.clone() })
    }

    /// Arrays with the same columns, one below the other; of one array itself.
    pub(crate) fn joined(parts: &[&Self], shape: &[usize]) -> Result<Self, OperationFault> {
        if let [one] = parts {
            return Ok((*one).clone());
        }
        let dtype = parts.first().map_or(DType::Bool, |part| part.dtype());
        let whole = Self::zeroed(shape, dtype)?;
        let mut first = 0;
        for part in parts {
            let rows = part.shape.first().copied().unwrap_or(0);
            whole.rows(first..first + rows)?.write(part)?;
            first += rows;
        }
        Ok(whole)
    }
}
