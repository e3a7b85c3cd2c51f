//! The cells of one output, and what is on its way to them.

use std::marker::PhantomData;

use bytemuck::Pod;
use pantile_geometry::Operator;

use super::LaneFold;
use super::fold::whole;
use super::rounded::{Rounded, Sums};
use crate::combine::{Apply, Visitor};
use crate::exact::{Adder, ColumnAccumulators, ColumnSums, CompensatedLanes, NAN, NAN_F32, Widen};
use crate::lanes::{BlockFrame, LoopProgram};
use crate::simd::{VectorLoop, Vectors};
use crate::{Combination, DType, Error, ExactSum};

/// The cells of one output.
pub(super) struct OutputState<'a> {
    dtype: DType,
    kind: CellState<'a>,
    cells: usize,
    vectors: Vectors,
    /// The cell of the first element, and how far that of the next one is.
    first: usize,
    stride: isize,
    count: usize,
    /// The sum of the cell, if it is one for all elements.
    sum: ExactSum,
    adder: Adder,
    /// Numbers of a cell are few.
    few: bool,
    /// The quick sum of the cell, if it is one for all elements.
    lanes: CompensatedLanes,
}

/// Numbers of a cell up to which quick sums are quicker than binned accumulators.
pub(super) const FEW: usize = 1024;

enum CellState<'a> {
    Sum { sums: &'a mut [[i64; ExactSum::WORDS]], columns: &'a mut ColumnAccumulators },
    Rounded(Rounded<'a>, &'a mut Sums),
    Count(&'a mut [i64]),
    Combine(Combination, &'a mut [u8]),
}

impl<'a> OutputState<'a> {
    /// The state of some cells, for numbers of so many bytes in all, and so many to a cell.
    ///
    /// # Errors
    /// If there is no such fold of that type, or the bytes are not whole or aligned cells.
    pub(super) fn new(
        fold: LaneFold,
        dtype: DType,
        bytes: &'a mut [u8],
        (sums, vectors): (&'a mut Sums, Vectors),
        (total, folded): (usize, usize),
    ) -> Result<Self, Error> {
        let cell = fold.cell(dtype)?;
        let cells = whole(bytes.len(), cell)?;
        let misfit = pantile_lanes::Error::Misfit { dtype: cell.dtype, bytes: bytes.len() };
        if bytes.as_ptr().align_offset(cell.dtype.align()) != 0 {
            return Err(misfit.into());
        }
        let kind = if cell.elements > 1 {
            let words: &mut [i64] = bytemuck::try_cast_slice_mut(bytes).map_err(|_| misfit)?;
            CellState::Sum { sums: words.as_chunks_mut().0, columns: &mut sums.columns }
        } else if let LaneFold::Rounded { count } = fold {
            CellState::Rounded(Rounded { bytes, dtype, count, vectors, exact: false }, sums)
        } else if fold == LaneFold::Count {
            CellState::Count(bytemuck::try_cast_slice_mut(bytes).map_err(|_| misfit)?)
        } else {
            CellState::Combine(Combination::new(dtype, cell.operator)?, bytes)
        };
        let (sum, adder) = (ExactSum::new(), Adder::new(total, vectors));
        let (few, lanes) = (folded <= FEW, CompensatedLanes::ZERO);
        Ok(Self {
            dtype,
            kind,
            cells,
            vectors,
            first: 0,
            stride: 0,
            count: 0,
            sum,
            adder,
            few,
            lanes,
        })
    }

    /// Refuses cells that are too few for these places.
    pub(super) fn check(&self, (lowest, highest): (i128, i128)) -> Result<(), Error> {
        if lowest >= 0 && highest < self.cells as i128 {
            return Ok(());
        }
        Err(Error::Reach { lowest, highest, elements: self.cells })
    }

    /// Selects the cell at a place, or to that of each of `count` columns.
    pub(super) fn open(&mut self, (place, stride): (isize, isize), count: usize) {
        // The places were checked to be those of cells.
        (self.first, self.stride, self.count) = (place.cast_unsigned(), stride, count);
        let quick = self.is_quick();
        match &mut self.kind {
            CellState::Sum { sums, .. } if stride == 0 => {
                self.sum = ExactSum::read_few(&sums[self.first]);
            }
            CellState::Sum { columns, .. } => columns.open(count),
            CellState::Rounded(..) if quick && stride == 0 => self.lanes = CompensatedLanes::ZERO,
            CellState::Rounded(_, sums) if quick => sums.compensated.open(count),
            CellState::Rounded(..) if stride == 0 => self.sum = ExactSum::new(),
            CellState::Rounded(_, sums) => sums.open(count),
            _ => {}
        }
    }

    /// Brings everything to the cells.
    pub(super) fn close(&mut self) {
        let (first, stride, quick) = (self.first, self.stride, self.is_quick());
        match &mut self.kind {
            CellState::Sum { sums, .. } if stride == 0 => {
                self.adder.finish(&mut self.sum);
                self.sum.write(&mut sums[first]);
            }
            CellState::Sum { sums, columns } => {
                columns.close(&mut ColumnSums { sums, first, stride })
            }
            CellState::Rounded(cells, sums) if quick => {
                if stride == 0 {
                    sums.compensated.gather(&self.lanes);
                }
                cells.round(sums, (first, stride));
            }
            CellState::Rounded(cells, _) if stride == 0 => {
                self.adder.finish(&mut self.sum);
                cells.write(first, &self.sum);
            }
            CellState::Rounded(cells, sums) => {
                for (column, sum) in sums.close().enumerate() {
                    cells.write(place(first, stride, column), &sum);
                }
            }
            CellState::Combine(how, bytes)
                if matches!(how.operator(), Operator::Min | Operator::Max) =>
            {
                let places = (0..self.count).map(|column| place(first, stride, column));
                match self.dtype {
                    DType::F32 => canonical(bytemuck::cast_slice_mut(bytes), places, NAN_F32),
                    DType::F64 => canonical(bytemuck::cast_slice_mut(bytes), places, NAN),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Folds a block of the output.
    pub(super) fn fold(&mut self, block: OutputBlock<'_>) {
        let Self { first, stride, vectors, .. } = *self;
        match (&mut self.kind, self.dtype) {
            (CellState::Sum { .. } | CellState::Rounded(..), DType::F32) => {
                self.sum::<f32>(block.elements());
            }
            (CellState::Sum { .. } | CellState::Rounded(..), _) => {
                self.sum::<f64>(block.elements());
            }
            (CellState::Count(counts), _) => {
                let bools = block.elements();
                vectors.run(CountBools { bools, counts, first, stride });
            }
            (CellState::Combine(how, bytes), _) => {
                how.visit(CombineCells { block, bytes, first, stride, vectors });
            }
        }
    }

    /// Adds products to the sum of one cell, if that is quick; else nothing was added.
    pub(super) fn add_products(&mut self, [a, b]: [&[f64]; 2]) -> bool {
        let one = self.stride == 0 && self.takes_rows() && !self.is_quick();
        one && self.adder.add_products(&mut self.sum, a, b)
    }

    /// True if it folds several rows at a time.
    pub(super) fn takes_rows(&self) -> bool {
        matches!(self.kind, CellState::Sum { .. } | CellState::Rounded(..))
    }

    /// True if its sums are quick, and may turn out to be not certain.
    pub(super) fn is_quick(&self) -> bool {
        let quick = matches!(&self.kind, CellState::Rounded(cells, _) if cells.quick());
        quick && (self.stride != 0 || self.few)
    }

    /// True if it sums rows to cells of their own, if there are few numbers to a cell.
    pub(super) fn sums_rows(&self) -> bool {
        self.few && matches!(&self.kind, CellState::Rounded(cells, _) if cells.quick())
    }

    /// Takes the columns whose sums were not certain.
    pub(super) fn take_open(&mut self) -> Vec<usize> {
        match &mut self.kind {
            CellState::Rounded(_, sums) => std::mem::take(&mut sums.open),
            _ => Vec::new(),
        }
    }

    /// Makes all sums exact, or quick again where that is possible.
    pub(super) fn set_exact(&mut self, all: bool) {
        if let CellState::Rounded(cells, _) = &mut self.kind {
            cells.exact = all;
        }
    }

    /// Sums rows of the output, each of so many elements, to the cells from a place on.
    pub(super) fn sum_rows(&mut self, rows: OutputBlock<'_>, row: usize, at: (isize, isize)) {
        match self.dtype {
            DType::F32 => self.rows_of::<f32>(rows.elements(), row, at),
            _ => self.rows_of::<f64>(rows.elements(), row, at),
        }
    }

    fn rows_of<T: Widen>(&mut self, values: &[T], row: usize, (start, stride): (isize, isize)) {
        let CellState::Rounded(cells, sums) = &mut self.kind else { return };
        // The places were checked to be those of cells.
        let start = start.cast_unsigned();
        sums.compensated.sum_rows(values, row, self.vectors);
        cells.round(sums, (start, stride));
        for open in &sums.open {
            let mut sum = ExactSum::new();
            self.adder.add(&mut sum, &values[open * row..][..row]);
            self.adder.finish(&mut sum);
            cells.write(place(start, stride, *open), &sum);
        }
        sums.open.clear();
    }

    /// True if its cells are written whatever was in them.
    pub(super) fn is_rounded(&self) -> bool {
        matches!(self.kind, CellState::Rounded(..))
    }

    /// Folds rows of the output, one after the other, each one number to each cell.
    pub(super) fn fold_rows(&mut self, rows: OutputBlock<'_>) {
        let (first, stride, vectors) = (self.first, self.stride, self.vectors);
        if self.is_quick() {
            return self.fold(rows);
        }
        let (columns, mut cells) = match &mut self.kind {
            CellState::Sum { sums, columns } => {
                (&mut **columns, ColumnSums { sums, first, stride })
            }
            CellState::Rounded(_, sums) => sums.parts(),
            _ => return,
        };
        match self.dtype {
            DType::F32 => {
                columns.add_rows::<f32>(rows.elements(), &mut cells, vectors);
            }
            _ => columns.add_rows::<f64>(rows.elements(), &mut cells, vectors),
        }
    }

    fn sum<T: Widen>(&mut self, values: &[T]) {
        let (first, stride, quick) = (self.first, self.stride, self.is_quick());
        match &mut self.kind {
            CellState::Rounded(..) if quick && stride == 0 => {
                self.lanes.add(values, self.vectors);
            }
            CellState::Rounded(_, sums) if quick => sums.compensated.add_rows(values, self.vectors),
            CellState::Sum { .. } | CellState::Rounded(..) if stride == 0 => {
                self.adder.add(&mut self.sum, values);
            }
            CellState::Rounded(_, sums) => {
                let (columns, mut cells) = sums.parts();
                columns.add(values, &mut cells, self.vectors);
            }
            CellState::Sum { sums, columns } => {
                columns.add(values, &mut ColumnSums { sums, first, stride }, self.vectors);
            }
            _ => {}
        }
    }
}

/// A block of an output that a program has computed.
#[derive(Clone, Copy)]
pub(super) struct OutputBlock<'a> {
    pub(super) program: &'a LoopProgram,
    pub(super) frame: &'a BlockFrame,
    pub(super) output: usize,
    pub(super) count: usize,
}

impl<'a> OutputBlock<'a> {
    /// Its elements, of the output's type or another one of the same size.
    fn elements<T: Pod>(self) -> &'a [T] {
        self.frame.output(self.program, self.output, self.count)
    }
}

/// The cell of a column.
#[inline(always)]
fn place(first: usize, stride: isize, column: usize) -> usize {
    first.wrapping_add_signed(column.cast_signed() * stride)
}

/// Makes every NaN the positive quiet one.
fn canonical<T: Pod + PartialOrd>(cells: &mut [T], places: impl Iterator<Item = usize>, nan: T) {
    for place in places {
        // A NaN alone is not equal to itself.
        if cells[place].partial_cmp(&cells[place]).is_none() {
            cells[place] = nan;
        }
    }
}

/// Bools to be counted.
struct CountBools<'a> {
    bools: &'a [u8],
    counts: &'a mut [i64],
    first: usize,
    stride: isize,
}

impl VectorLoop for CountBools<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        if self.stride == 0 {
            let count: i64 = self.bools.iter().map(|byte| i64::from(*byte)).sum();
            self.counts[self.first] = self.counts[self.first].wrapping_add(count);
            return;
        }
        for (column, byte) in self.bools.iter().enumerate() {
            let count = &mut self.counts[place(self.first, self.stride, column)];
            *count = count.wrapping_add(i64::from(*byte));
        }
    }
}

/// A block to be combined with cells.
struct CombineCells<'a> {
    block: OutputBlock<'a>,
    bytes: &'a mut [u8],
    first: usize,
    stride: isize,
    vectors: Vectors,
}

impl Visitor for CombineCells<'_> {
    type Output = ();

    fn visit<T: Pod, O: Apply<T>>(self) {
        let values = self.block.elements::<T>();
        let cells: &mut [T] = bytemuck::cast_slice_mut(self.bytes);
        let (first, stride) = (self.first, self.stride);
        if stride == 0 {
            let cell = &mut cells[first];
            *cell =
                self.vectors.run(FoldRow::<T, O> { start: *cell, values, operation: PhantomData });
        } else if stride == 1 {
            let cells = &mut cells[first..first + values.len()];
            self.vectors.run(FoldSideBySide::<T, O> { cells, values, operation: PhantomData });
        } else {
            for (column, value) in values.iter().enumerate() {
                let cell = &mut cells[place(first, stride, column)];
                *cell = O::apply(*cell, *value);
            }
        }
    }
}

/// All values with one.
struct FoldRow<'a, T, O> {
    start: T,
    values: &'a [T],
    operation: PhantomData<O>,
}

impl<T: Pod, O: Apply<T>> VectorLoop for FoldRow<'_, T, O> {
    type Output = T;

    #[inline(always)]
    fn run(self, _: Vectors) -> T {
        let (rows, rest) = self.values.as_chunks::<32>();
        let one = rest.iter().fold(self.start, |one, value| O::apply(one, *value));
        let Some((first, rows)) = rows.split_first() else { return one };
        // The operations do not mind the order, so many are done side by side.
        let mut lanes = *first;
        for row in rows {
            for (lane, value) in lanes.iter_mut().zip(row) {
                *lane = O::apply(*lane, *value);
            }
        }
        lanes.into_iter().fold(one, O::apply)
    }
}

/// Every value with a cell of its own, side by side.
struct FoldSideBySide<'a, T, O> {
    cells: &'a mut [T],
    values: &'a [T],
    operation: PhantomData<O>,
}

impl<T: Pod, O: Apply<T>> VectorLoop for FoldSideBySide<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        for (cell, value) in self.cells.iter_mut().zip(self.values) {
            *cell = O::apply(*cell, *value);
        }
    }
}
