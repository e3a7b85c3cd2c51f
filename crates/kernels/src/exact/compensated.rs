//! Compensated sums: two floats with a bound on their error, nearly always exact, and known when
//! they are not.
//!
//! Adding a number to the first float rounds; the rounding error is a float again, whatever the
//! sizes, and goes to the second one. The rounding error there is not kept, only its magnitude is:
//! the sum is `high + low`, off by at most about `error_bound`. If that is zero the sum is exact,
//! and one addition rounds it, ties included. Else both ends of an interval that has the sum in it
//! are rounded: if they agree, so does everything between them. Where they do not, nothing is
//! known, and the numbers have to be added in another way.
//!
//! Infinities, NaN and overflow on the way make a component NaN, and then nothing is known either.

#![allow(clippy::cast_possible_truncation, reason = "numbers are rounded to narrower ones")]

use super::binned::{PREFETCH_DISTANCE, Widen};
use crate::simd::{VectorLoop, Vectors, prefetch};

/// Sums side by side for the numbers of one row.
const LANES: usize = 8;

/// The largest count that sums are divided by: its products with halves of numbers are exact.
pub(crate) const COUNT_MAX: u64 = 1 << 26;

/// Two to the power of -50: larger than all relative errors of a few operations.
const SLACK: f64 = 8.881_784_197_001_252e-16;

/// Below every half of a last place that quotients are rounded by, and above what underflows.
const LEAST: f64 = f64::from_bits(23 << 52);

/// Quotients from here on, two to the power of -900, have remainders that are exact.
const NORMAL: f64 = f64::from_bits(123 << 52);

/// A sum: its two floats, and the magnitude of what they do not hold, rounded a few times.
#[derive(Clone, Copy)]
struct CompensatedSum {
    high: f64,
    low: f64,
    error_bound: f64,
}

/// The sum rounded, and the exact error of that.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let own = sum - a;
    (sum, (a - (sum - own)) + (b - own))
}

impl CompensatedSum {
    #[inline(always)]
    fn add(self, value: f64) -> Self {
        let (high, rest) = two_sum(self.high, value);
        let (low, left) = two_sum(self.low, rest);
        Self { high, low, error_bound: self.error_bound + left.abs() }
    }

    #[inline(always)]
    fn merge(self, other: Self) -> Self {
        let both = self.add(other.high);
        let (low, left) = two_sum(both.low, other.low);
        Self {
            high: both.high,
            low,
            error_bound: both.error_bound + other.error_bound + left.abs(),
        }
    }

    /// Two numbers with the sum between them, both of which are it if it is known exactly.
    #[inline(always)]
    fn ends(self) -> [f64; 2] {
        // Rounding the ends must not move them inwards.
        let more = 2.0 * self.error_bound + SLACK * self.low.abs();
        let more = if self.error_bound == 0.0 { 0.0 } else { more };
        [self.high + (self.low + more), self.high + (self.low - more)]
    }

    /// The same of the sum divided by a whole number up to [`COUNT_MAX`], rounded to `f64`; NaN
    /// where remainders would not be exact.
    #[inline(always)]
    fn divided_ends(self, by: f64) -> [f64; 2] {
        let (sum, rest) = two_sum(self.high, self.low);
        let first = sum / by;
        let (left, error_bound) = two_sum(remainder(sum, first, by), rest);
        let second = left / by;
        let exact =
            remainder(left, second, by) == 0.0 && error_bound == 0.0 && self.error_bound == 0.0;
        let more = SLACK * second.abs() + 2.0 * (error_bound.abs() + self.error_bound) / by + LEAST;
        let more = if exact { 0.0 } else { more };
        let fits = first.abs() >= NORMAL || (exact && sum == 0.0);
        let first = if fits { first } else { f64::NAN };
        [first + (second + more), first + (second - more)]
    }

    /// Two numbers with the sum divided by a whole number between them, in `f64`; they are equal
    /// only if they are the quotient.
    #[inline(always)]
    fn wide_ends(self, by: f64) -> [f64; 2] {
        let first = self.high / by;
        let exact =
            self.low == 0.0 && self.error_bound == 0.0 && remainder(self.high, first, by) == 0.0;
        let more = SLACK * first.abs() + 2.0 * (self.low.abs() + self.error_bound) / by + LEAST;
        let more = if exact { 0.0 } else { more };
        [first + more, first - more]
    }
}

/// What is left of a number if a quotient that was rounded is taken away: exact, unless it
/// underflows, for whole numbers up to [`COUNT_MAX`].
#[inline(always)]
fn remainder(number: f64, quotient: f64, by: f64) -> f64 {
    // Halves of the quotient's bits, whose products are exact.
    let scaled = quotient * 134_217_729.0;
    let upper = scaled - (scaled - quotient);
    (number - upper * by) - (quotient - upper) * by
}

/// A float that sums are rounded to.
pub(crate) trait Rounds: Widen + PartialEq {
    /// The sum divided by a whole number, and whether that is certain.
    fn rounded<const DIVIDED: bool>(components: [f64; 3], by: f64) -> (Self, bool);
}

impl Rounds for f64 {
    #[inline(always)]
    fn rounded<const DIVIDED: bool>([high, low, error_bound]: [f64; 3], by: f64) -> (Self, bool) {
        let sum = CompensatedSum { high, low, error_bound };
        let [above, below] = if DIVIDED { sum.divided_ends(by) } else { sum.ends() };
        // Zeros of both signs are not the same.
        (above, above.to_bits() == below.to_bits() && above.abs() < f64::INFINITY)
    }
}

impl Rounds for f32 {
    #[inline(always)]
    fn rounded<const DIVIDED: bool>([high, low, error_bound]: [f64; 3], by: f64) -> (Self, bool) {
        // A sum that is no `f64` is off from the first float by less than the ends are, so that it
        // is not rounded twice.
        let ends =
            CompensatedSum { high, low, error_bound }.wide_ends(if DIVIDED { by } else { 1.0 });
        let [above, below] = ends.map(|end| end as f32);
        (above, above.to_bits() == below.to_bits() && above.abs() < f32::INFINITY)
    }
}

/// The components of many sums, side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompensatedSums {
    components: [Vec<f64>; 3],
    /// Lanes of rows that are not yet one sum.
    lanes: Vec<LaneArrays>,
}

impl CompensatedSums {
    /// Starts so many sums.
    pub(crate) fn open(&mut self, sums: usize) {
        for component in &mut self.components {
            component.clear();
            component.resize(sums, 0.0);
        }
    }

    /// Adds rows that lie one after the other, each one number to each sum.
    pub(crate) fn add_rows<T: Widen>(&mut self, rows: &[T], vectors: Vectors) {
        let components = self.components.each_mut().map(Vec::as_mut_slice);
        if rows.len() == components[0].len() {
            vectors.run(AddRow { row: rows, components });
        } else {
            vectors.run(AddRows { rows, components });
        }
    }

    /// Makes them the sums of rows of so many numbers each.
    pub(crate) fn sum_rows<T: Widen>(&mut self, rows: &[T], row: usize, vectors: Vectors) {
        self.open(rows.len() / row);
        self.lanes.clear();
        self.lanes.resize(rows.len() / row, LaneArrays::default());
        vectors.narrow().run(SumRows { rows, row, lanes: &mut self.lanes });
        let components = self.components.each_mut().map(Vec::as_mut_slice);
        vectors.narrow().run(MergeLanes { lanes: &self.lanes, components });
    }

    /// Makes the first sum that of some lanes.
    pub(crate) fn gather(&mut self, lanes: &CompensatedLanes) {
        self.open(1);
        let sum = one_of(&lanes.0);
        for (component, value) in
            self.components.iter_mut().zip([sum.high, sum.low, sum.error_bound])
        {
            component[0] = value;
        }
    }

    /// Rounds the sums, divided by a count up to [`COUNT_MAX`], from one on, as far as there is
    /// room; true where that is certain.
    pub(crate) fn round<T: Rounds>(
        &self,
        (first, count): (usize, u64),
        results: &mut [T; PART],
        certain: &mut [bool; PART],
        vectors: Vectors,
    ) -> usize {
        let end = self.components[0].len().min(first + PART);
        let components = self.components.each_ref().map(|component| &component[first..end]);
        vectors.run(RoundSums { components, count, results, certain });
        end - first
    }
}

/// Sums that are rounded at a time.
pub(crate) const PART: usize = 128;

/// One sum as several partial sums that take numbers in turn.
#[derive(Clone, Copy)]
pub(crate) struct CompensatedLanes(LaneArrays);

impl CompensatedLanes {
    /// The sum of nothing. Components that start at +0.0 are never -0.0.
    pub(crate) const ZERO: Self = Self([[0.0; LANES]; 3]);

    /// Adds numbers.
    pub(crate) fn add<T: Widen>(&mut self, values: &[T], vectors: Vectors) {
        vectors.narrow().run(AddValues { values, lanes: self });
    }
}

/// Components of lanes, each in one array, as vectors want them.
type LaneArrays = [[f64; LANES]; 3];

/// Adds a number to each lane.
#[inline(always)]
fn add_lanes<T: Widen, const WIDTH: usize>(
    components: &mut [[f64; WIDTH]; 3],
    values: &[T; WIDTH],
) {
    let [high, low, error_bound] = components;
    for lane in 0..WIDTH {
        let sum =
            CompensatedSum { high: high[lane], low: low[lane], error_bound: error_bound[lane] };
        let sum = sum.add(values[lane].widen());
        (high[lane], low[lane], error_bound[lane]) = (sum.high, sum.low, sum.error_bound);
    }
}

/// Adds the numbers of a row to lanes.
#[inline(always)]
fn add_row<T: Widen>(mut lanes: LaneArrays, row: &[T]) -> LaneArrays {
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        add_lanes(&mut lanes, chunk);
    }
    if !rest.is_empty() {
        let mut last = [T::default(); LANES];
        last[..rest.len()].copy_from_slice(rest);
        add_lanes(&mut lanes, &last);
    }
    lanes
}

struct AddValues<'a, T> {
    values: &'a [T],
    lanes: &'a mut CompensatedLanes,
}

impl<T: Widen> VectorLoop for AddValues<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        self.lanes.0 = add_row(self.lanes.0, self.values);
    }
}

/// A row, one number to each sum.
struct AddRow<'a, T> {
    row: &'a [T],
    components: [&'a mut [f64]; 3],
}

impl<T: Widen> VectorLoop for AddRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        let [high, low, error_bound] = self.components;
        for (((value, high), low), error_bound) in
            self.row.iter().zip(high).zip(low).zip(error_bound)
        {
            let sum = CompensatedSum { high: *high, low: *low, error_bound: *error_bound }
                .add(value.widen());
            (*high, *low, *error_bound) = (sum.high, sum.low, sum.error_bound);
        }
    }
}

/// Rows one after the other; few sums at a time stay in registers.
struct AddRows<'a, T> {
    rows: &'a [T],
    components: [&'a mut [f64]; 3],
}

impl<T: Widen> VectorLoop for AddRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self, vectors: Vectors) {
        let sums = self.components[0].len();
        let mut first = 0;
        while first < sums {
            first += match sums - first {
                16.. if vectors.bytes() == 64 => self.add_column_block::<16>(first),
                8.. => self.add_column_block::<8>(first),
                4.. => self.add_column_block::<4>(first),
                _ => self.add_column_block::<1>(first),
            };
        }
    }
}

impl<T: Widen> AddRows<'_, T> {
    /// Adds the rows to some sums, and gives how many those are.
    #[inline(always)]
    fn add_column_block<const WIDTH: usize>(&mut self, first: usize) -> usize {
        let sums = self.components[0].len();
        let mut own = [[0.0; WIDTH]; 3];
        for (own, component) in own.iter_mut().zip(&self.components) {
            own.copy_from_slice(&component[first..first + WIDTH]);
        }
        for row in self.rows.chunks_exact(sums) {
            if let Some(values) = row[first..].first_chunk::<WIDTH>() {
                // Rows are short and come one after the other: a few of them are prefetched.
                for line in (0..size_of_val(values)).step_by(64) {
                    prefetch(values.as_ptr().cast::<u8>().wrapping_add(PREFETCH_DISTANCE + line));
                }
                add_lanes(&mut own, values);
            }
        }
        for (own, component) in own.iter().zip(&mut self.components) {
            component[first..first + WIDTH].copy_from_slice(own);
        }
        WIDTH
    }
}

/// Rows one after the other, each of which is a sum, as far as the lanes of each.
struct SumRows<'a, T> {
    rows: &'a [T],
    row: usize,
    lanes: &'a mut [LaneArrays],
}

impl<T: Widen> VectorLoop for SumRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        for (row, lanes) in self.rows.chunks_exact(self.row).zip(self.lanes) {
            *lanes = add_row(*lanes, row);
        }
    }
}

/// The lanes of rows that are added. It is a loop of its own, over the rows, because compilers
/// give up vectors for the lanes if they are numbers at the end.
struct MergeLanes<'a> {
    lanes: &'a [LaneArrays],
    components: [&'a mut [f64]; 3],
}

impl VectorLoop for MergeLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        let [high, low, error_bound] = self.components;
        for (lanes, ((high, low), error_bound)) in
            self.lanes.iter().zip(high.iter_mut().zip(low).zip(error_bound))
        {
            let sum = one_of(lanes);
            (*high, *low, *error_bound) = (sum.high, sum.low, sum.error_bound);
        }
    }
}

/// The sum of all lanes.
#[inline(always)]
fn one_of([highs, lows, losses]: &LaneArrays) -> CompensatedSum {
    let mut sum = CompensatedSum { high: highs[0], low: lows[0], error_bound: losses[0] };
    for lane in 1..LANES {
        sum = sum.merge(CompensatedSum {
            high: highs[lane],
            low: lows[lane],
            error_bound: losses[lane],
        });
    }
    sum
}

/// Sums to be rounded.
struct RoundSums<'a, T> {
    components: [&'a [f64]; 3],
    count: u64,
    results: &'a mut [T; PART],
    certain: &'a mut [bool; PART],
}

impl<T: Rounds> VectorLoop for RoundSums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        if self.count == 1 { self.each::<false>() } else { self.each::<true>() }
    }
}

impl<T: Rounds> RoundSums<'_, T> {
    #[inline(always)]
    fn each<const DIVIDED: bool>(self) {
        #[allow(clippy::cast_precision_loss, reason = "counts are small")]
        let by = self.count as f64;
        let [high, low, error_bound] = self.components;
        let targets = self.results.iter_mut().zip(self.certain);
        for ((result, certain), ((high, low), error_bound)) in
            targets.zip(high.iter().zip(low).zip(error_bound))
        {
            (*result, *certain) = T::rounded::<DIVIDED>([*high, *low, *error_bound], by);
        }
    }
}
