//! Cells of sums that are rounded at once: quickly where that is certain, else exactly.

use bytemuck::Pod;

use crate::exact::{COUNT_MAX, ColumnAccumulators, ColumnSums, CompensatedSums, PART, Rounds};
use crate::simd::Vectors;
use crate::{DType, ExactSum};

/// Memory for sums that are on their way, for one output.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// Exact sums of columns.
    pub(crate) columns: ColumnAccumulators,
    /// The words of those that are not in cells.
    words: Vec<[i64; ExactSum::WORDS]>,
    /// Sums that are quick.
    pub(super) compensated: CompensatedSums,
    /// The quick sums that are not certain.
    pub(super) open: Vec<usize>,
}

impl Sums {
    /// Starts the exact sums of so many columns.
    pub(super) fn open(&mut self, columns: usize) {
        self.columns.open(columns);
        self.words.clear();
        self.words.resize(columns, [0; ExactSum::WORDS]);
    }

    /// The binned accumulators and the words of these columns.
    pub(super) fn parts(&mut self) -> (&mut ColumnAccumulators, ColumnSums<'_>) {
        (&mut self.columns, ColumnSums { sums: &mut self.words, first: 0, stride: 1 })
    }

    /// The exact sums of all columns.
    pub(super) fn close(&mut self) -> impl Iterator<Item = ExactSum> {
        let (columns, mut cells) = self.parts();
        columns.close(&mut cells);
        self.words.iter().map(ExactSum::read_few)
    }
}

/// The cells of sums that are rounded at once.
pub(super) struct Rounded<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) dtype: DType,
    pub(super) count: u64,
    pub(super) vectors: Vectors,
    /// Nothing is quick: that was tried before.
    pub(super) exact: bool,
}

/// Writes a sum divided by a count to a cell of a type.
pub(super) fn write_rounded(sum: &ExactSum, (dtype, count): (DType, u64), cell: &mut [u8]) {
    match (dtype, count) {
        (DType::F32, 1) => cell.copy_from_slice(&sum.to_f32().to_ne_bytes()),
        (DType::F32, count) => cell.copy_from_slice(&sum.divided_f32(count).to_ne_bytes()),
        (_, 1) => cell.copy_from_slice(&sum.to_f64().to_ne_bytes()),
        (_, count) => cell.copy_from_slice(&sum.divided_f64(count).to_ne_bytes()),
    }
}

/// Where the cells of sums are: the first, and how far the next one is.
type CellPlaces = (usize, isize);

impl Rounded<'_> {
    /// True if there is a quick way that may be certain.
    pub(super) fn quick(&self) -> bool {
        !self.exact && (1..=COUNT_MAX).contains(&self.count)
    }

    /// Writes a cell.
    pub(super) fn write(&mut self, place: usize, sum: &ExactSum) {
        let (size, at) = (self.dtype.bytes(), place * self.dtype.bytes());
        write_rounded(sum, (self.dtype, self.count), &mut self.bytes[at..at + size]);
    }

    /// Rounds the quick sums to cells, and records those that are not certain.
    pub(super) fn round(&mut self, sums: &mut Sums, places: CellPlaces) {
        match self.dtype {
            DType::F32 => self.round_to::<f32>(sums, places),
            _ => self.round_to::<f64>(sums, places),
        }
    }

    fn round_to<T: Rounds + Pod>(&mut self, sums: &mut Sums, (start, stride): CellPlaces) {
        let cells: &mut [T] = bytemuck::cast_slice_mut(self.bytes);
        let (mut results, mut certain) = ([T::default(); PART], [true; PART]);
        sums.open.clear();
        let mut first = 0;
        loop {
            let which = (first, self.count);
            let done = sums.compensated.round(which, &mut results, &mut certain, self.vectors);
            if done == 0 {
                return;
            }
            let at =
                |column: usize| start.wrapping_add_signed((first + column).cast_signed() * stride);
            if stride == 1 {
                cells[at(0)..at(0) + done].copy_from_slice(&results[..done]);
            } else {
                (0..done).for_each(|column| cells[at(column)] = results[column]);
            }
            let doubts = (0..done).filter(|column| !certain[*column]);
            sums.open.extend(doubts.map(|column| first + column));
            first += done;
        }
    }
}
