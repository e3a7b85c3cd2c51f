//! Many exact sums side by side: one binned accumulator per column, rows of numbers added at a time.

use super::binned::{
    HIGHEST, PREFETCH_DISTANCE, ROOM, ROWS, STEP, Widen, add_to_bin, add_to_two_bins, exponent_of,
    largest, power,
};
use super::superaccumulator::{LIMBS, carry, deposit};
use super::{ExactSum, FloatParts};
use crate::simd::{VectorLoop, Vectors, prefetch};

/// Bins of a binned accumulator. The last one is used only where two were not enough.
const BINS: usize = 3;

/// The lowest exponent of a binned accumulator, whose last bin is a normal number: its unit is the
/// smallest number there is.
const LOWEST: i32 = -1022 + 2 * STEP - ROOM;

/// Larger numbers are to be expected: bits by which a binned accumulator exceeds the first number.
const SPARE: i32 = 4;

/// Bits by which a binned accumulator may exceed the first number because of others in the row.
const REACH: i32 = 16;

/// Rows that are added before it is known whether they fit.
pub(super) const TILE: usize = 64;

/// Rows that are added one by one where a tile does not fit.
pub(super) const FEW: usize = 4;

/// Deposits after which limbs are carried; far fewer than fit.
const DEPOSITS: usize = 1 << 28;

/// Below every number but zero: the limit of a column without a binned accumulator.
const NONE: f64 = f64::from_bits(1);

/// The words of sums, of which some belong to columns.
pub(crate) struct ColumnSums<'a> {
    /// The words of all sums.
    pub(crate) sums: &'a mut [[i64; ExactSum::WORDS]],
    /// The sum of the first column.
    pub(crate) first: usize,
    /// How far the sum of the next column is.
    pub(crate) stride: isize,
}

impl ColumnSums<'_> {
    /// The limbs of a column, and the counters of what is not finite.
    fn at(&mut self, column: usize) -> (&mut [i64; LIMBS], &mut [i64]) {
        let along = column.cast_signed() * self.stride;
        let words = &mut self.sums[self.first.wrapping_add_signed(along)];
        words.split_first_chunk_mut().expect("a sum has more words than limbs")
    }

    fn add(&mut self, column: usize, value: f64) {
        let (limbs, counters) = self.at(column);
        match FloatParts::of(value) {
            FloatParts::Finite { negative, magnitude, place } => {
                deposit(limbs, negative, magnitude, place);
            }
            FloatParts::Nan => counters[0] = 1,
            FloatParts::Above => counters[1] = 1,
            FloatParts::Below => counters[2] = 1,
        }
    }
}

/// Binned accumulators of many sums; the limbs are in words of the caller.
///
/// Invariants:
/// 1. A column's bins are in the binades of their starts, and took numbers below its limit, at most
///    `rows` of them; `rows <= ROWS`. A column without a binned accumulator has bins and starts of
///    0.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnAccumulators {
    bins: [Vec<f64>; BINS],
    starts: [Vec<f64>; BINS],
    limits: Vec<f64>,
    /// Where the bins are put until it is known that they are right.
    next: [Vec<f64>; BINS],
    /// Rows have bits below two bins, as squares do.
    deep: bool,
    rows: usize,
    deposits: usize,
    /// Numbers did not fit into binned accumulators that were there.
    strays: bool,
}

impl ColumnAccumulators {
    /// Starts so many columns.
    pub(crate) fn open(&mut self, columns: usize) {
        for numbers in self.bins.iter_mut().chain(&mut self.starts).chain(&mut self.next) {
            numbers.clear();
            numbers.resize(columns, 0.0);
        }
        self.limits.clear();
        self.limits.resize(columns, NONE);
        (self.rows, self.deposits, self.strays, self.deep) = (0, 0, false, false);
    }

    /// Adds a row: one number to each column.
    pub(crate) fn add<T: Widen>(
        &mut self,
        row: &[T],
        cells: &mut ColumnSums<'_>,
        vectors: Vectors,
    ) {
        if self.rows == ROWS {
            self.flush(cells);
        }
        self.rows += 1;
        let bins = self.bins.each_ref().map(Vec::as_slice);
        let (limits, next) = (&self.limits[..], &mut self.next);
        if vectors.run(ColumnRow { row, bins, limits, next }) {
            std::mem::swap(&mut self.bins, &mut self.next);
            return;
        }
        // Numbers of a row are of a kind: the largest tells what other columns may expect.
        let most = exponent_of(largest(row, vectors)).min(HIGHEST - SPARE);
        for (column, value) in row.iter().enumerate() {
            let value = value.widen();
            if !self.fits(column, value) {
                self.strays |= self.limits[column] > NONE;
                self.add_one(column, value, most, cells);
            }
        }
        // Each column got a few deposits at most.
        self.deposited(4, cells);
    }

    /// Adds rows that lie one after the other, each one number to each column.
    pub(crate) fn add_rows<T: Widen>(
        &mut self,
        rows: &[T],
        cells: &mut ColumnSums<'_>,
        vectors: Vectors,
    ) {
        let columns = self.limits.len();
        let mut rest = rows;
        while !rest.is_empty() {
            let tile = &rest[..rest.len().min(TILE * columns)];
            let count = tile.len() / columns;
            if self.rows + count > ROWS {
                self.flush(cells);
            }
            let mut fits = self.tile_fits(tile, vectors);
            if !fits && !self.deep {
                self.deep = true;
                fits = self.tile_fits(tile, vectors);
            }
            if fits {
                std::mem::swap(&mut self.bins, &mut self.next);
                self.rows += count;
                rest = &rest[tile.len()..];
            } else {
                // The first rows open binned accumulators; others of their kind fit then.
                let some = &tile[..tile.len().min(FEW * columns)];
                some.chunks(columns).for_each(|row| self.add(row, cells, vectors));
                rest = &rest[some.len()..];
            }
        }
    }

    /// Adds rows to what may be the next bins; true if all numbers fit.
    fn tile_fits<T: Widen>(&mut self, rows: &[T], vectors: Vectors) -> bool {
        let bins = self.bins.each_ref().map(Vec::as_slice);
        let (limits, next) = (&self.limits[..], &mut self.next);
        match self.deep {
            true => vectors.run(ColumnTile::<T, true> { rows, bins, limits, next }),
            false => vectors.run(ColumnTile::<T, false> { rows, bins, limits, next }),
        }
    }

    /// Brings everything to the words, which are then those that [`ExactSum::write`] gives.
    pub(crate) fn close(&mut self, cells: &mut ColumnSums<'_>) {
        self.flush(cells);
        self.carry(cells);
    }

    /// Adds a number that does not fit into its binned accumulator; `most` is a large exponent of
    /// the row.
    fn add_one(&mut self, column: usize, value: f64, most: i32, cells: &mut ColumnSums<'_>) {
        // Below the limit, a number has bits below the binned accumulator, and it stays.
        let large = value.abs() >= self.limits[column];
        let exponent = exponent_of(value.to_bits());
        if large && exponent + SPARE <= HIGHEST {
            self.flush_one(column, cells);
            let exponent = most.clamp(exponent, exponent + REACH) + SPARE;
            self.place(column, exponent.clamp(LOWEST, HIGHEST));
            if self.fits(column, value) {
                return;
            }
        }
        cells.add(column, value);
    }

    /// Adds a number to a column's binned accumulator if it fits.
    fn fits(&mut self, column: usize, value: f64) -> bool {
        let [mut high, mut low, mut last] = self.bins.each_ref().map(|bin| bin[column]);
        let left = add_to_two_bins(&mut high, &mut low, value);
        let left = add_to_bin(&mut last, left);
        let fits = left == 0.0 && value.abs() < self.limits[column];
        if fits {
            let bins = self.bins.iter_mut().zip([high, low, last]);
            bins.for_each(|(bin, value)| bin[column] = value);
        }
        fits
    }

    /// Gives a column a binned accumulator for numbers below `2^(exponent + 1)`.
    fn place(&mut self, column: usize, exponent: i32) {
        self.limits[column] = 2.0 * power(exponent);
        let mut k = exponent + ROOM;
        for (bin, start) in self.bins.iter_mut().zip(&mut self.starts) {
            (bin[column], start[column]) = (1.5 * power(k), 1.5 * power(k));
            k -= STEP;
        }
    }

    /// Moves what the binned accumulators hold into the limbs. They stay where they are, if numbers
    /// fitted so far; else the next ones open better ones.
    fn flush(&mut self, cells: &mut ColumnSums<'_>) {
        for column in 0..self.limits.len() {
            self.flush_one(column, cells);
        }
        if std::mem::take(&mut self.strays) {
            self.limits.fill(NONE);
            self.bins.iter_mut().chain(&mut self.starts).for_each(|numbers| numbers.fill(0.0));
        }
        self.rows = 0;
        self.deposited(2, cells);
    }

    /// Carries when so many more deposits might be too many.
    fn deposited(&mut self, count: usize, cells: &mut ColumnSums<'_>) {
        self.deposits += count;
        if self.deposits > DEPOSITS {
            self.carry(cells);
        }
    }

    /// Moves what a column's binned accumulator holds into its limbs.
    fn flush_one(&mut self, column: usize, cells: &mut ColumnSums<'_>) {
        let (limbs, _) = cells.at(column);
        for (bins, starts) in self.bins.iter_mut().zip(&mut self.starts) {
            let (bin, start) = (bins[column].to_bits(), starts[column].to_bits());
            // Inside of a binade, bits are a count of units.
            let units = bin.cast_signed() - start.cast_signed();
            if units != 0 {
                let place = (exponent_of(start) - 52 + 1074).cast_unsigned();
                deposit(limbs, units < 0, units.unsigned_abs(), place);
            }
            bins[column] = starts[column];
        }
    }

    fn carry(&mut self, cells: &mut ColumnSums<'_>) {
        for column in 0..self.limits.len() {
            carry(cells.at(column).0);
        }
        self.deposits = 0;
    }
}

/// A row for all columns.
struct ColumnRow<'a, T> {
    row: &'a [T],
    bins: [&'a [f64]; BINS],
    limits: &'a [f64],
    next: &'a mut [Vec<f64>; BINS],
}

impl<T: Widen> VectorLoop for ColumnRow<'_, T> {
    /// True if all numbers fit.
    type Output = bool;

    #[inline(always)]
    fn run(self, _: Vectors) -> bool {
        let count = self.row.len();
        let ([high, low, last], limits) = (self.bins, &self.limits[..count]);
        let (high, low, last) = (&high[..count], &low[..count], &last[..count]);
        let [next_high, next_low, next_last] = self.next.each_mut().map(|next| &mut next[..count]);
        let mut residual = 0;
        for column in 0..count {
            let value = self.row[column].widen();
            (next_high[column], next_low[column]) = (high[column], low[column]);
            next_last[column] = last[column];
            let left = add_to_two_bins(&mut next_high[column], &mut next_low[column], value);
            let left = add_to_bin(&mut next_last[column], left);
            let below = value.abs() < limits[column];
            residual |= (left.to_bits() << 1) | u64::from(!below);
        }
        residual == 0
    }
}

/// Rows one after the other for all columns; few columns stay in registers. `DEEP`: with all bins,
/// else with two.
struct ColumnTile<'a, T, const DEEP: bool> {
    rows: &'a [T],
    bins: [&'a [f64]; BINS],
    limits: &'a [f64],
    next: &'a mut [Vec<f64>; BINS],
}

impl<T: Widen, const DEEP: bool> VectorLoop for ColumnTile<'_, T, DEEP> {
    /// True if all numbers fit.
    type Output = bool;

    #[inline(always)]
    fn run(mut self, vectors: Vectors) -> bool {
        let columns = self.limits.len();
        let (mut first, mut fits) = (0, true);
        while first < columns {
            // As many columns at a time as there are registers for.
            first += match columns - first {
                16.. if vectors.bytes() == 64 => self.add_column_block::<16>(first, &mut fits),
                8.. => self.add_column_block::<8>(first, &mut fits),
                4.. => self.add_column_block::<4>(first, &mut fits),
                _ => self.add_column_block::<1>(first, &mut fits),
            };
        }
        fits
    }
}

impl<T: Widen, const DEEP: bool> ColumnTile<'_, T, DEEP> {
    /// Adds the rows of some columns, and gives how many those are.
    #[inline(always)]
    fn add_column_block<const WIDTH: usize>(&mut self, first: usize, fits: &mut bool) -> usize {
        let [mut high, mut low, mut last] = [[0.0; WIDTH]; BINS];
        high.copy_from_slice(&self.bins[0][first..first + WIDTH]);
        low.copy_from_slice(&self.bins[1][first..first + WIDTH]);
        last.copy_from_slice(&self.bins[2][first..first + WIDTH]);
        let (mut residual, mut largest) = ([0; WIDTH], [0.0; WIDTH]);
        for row in self.rows.chunks_exact(self.limits.len()) {
            let row = &row[first..first + WIDTH];
            // Rows are short and come one after the other: a few of them are prefetched.
            for line in (0..size_of_val(row)).step_by(64) {
                prefetch(row.as_ptr().cast::<u8>().wrapping_add(PREFETCH_DISTANCE + line));
            }
            for lane in 0..WIDTH {
                let value = row[lane].widen();
                let left = add_to_two_bins(&mut high[lane], &mut low[lane], value);
                let left = if DEEP { add_to_bin(&mut last[lane], left) } else { left };
                residual[lane] |= left.to_bits();
                let magnitude = value.abs();
                largest[lane] = if magnitude > largest[lane] { magnitude } else { largest[lane] };
            }
        }
        self.next[0][first..first + WIDTH].copy_from_slice(&high);
        self.next[1][first..first + WIDTH].copy_from_slice(&low);
        self.next[2][first..first + WIDTH].copy_from_slice(&last);
        for lane in 0..WIDTH {
            // A NaN is in the residual; the sign of a zero is nothing.
            *fits &= residual[lane] << 1 == 0 && largest[lane] < self.limits[first + lane];
        }
        WIDTH
    }
}
