//! The fast way to the exact sum: a binned accumulator, of two bins per lane. A bin is a float with
//! a fixed lowest bit.
//!
//! A bin is a float that starts at `1.5 * 2^k` and stays in its binade, so that all its values are
//! multiples of `2^(k-52)`. Adding a smaller number to the first bin rounds; the rounding error is
//! exact in a float and goes to the second bin. The residual there is looked at: if it is zero, the
//! two bins hold the sum exactly, and if not, nothing of it is used.

use super::{ExactSum, binned_avx2, flags};
use crate::simd::{VectorLoop, Vectors, prefetch};

/// Sums side by side.
pub(super) const LANES: usize = 32;

/// Numbers that a lane can take before it may leave its binade.
pub(super) const ROWS: usize = 1024;

/// The highest exponent whose binned accumulators are finite numbers.
pub(super) const HIGHEST: i32 = 990;

/// Bits by which the first bin exceeds the largest number: 1,024 of them fit, with a spare bit.
pub(super) const ROOM: i32 = 12;

/// Bits between the bins: the rounding errors of one, 1,024 times, with a spare bit.
pub(super) const STEP: i32 = 42;

/// The prefetch distance in bytes.
pub(super) const PREFETCH_DISTANCE: usize = 3072;

/// A float, widened to `f64` exactly.
pub(crate) trait Widen: Copy + Default {
    /// The same number.
    fn widen(self) -> f64;

    /// Numbers of this type.
    fn numbers(values: &[Self]) -> Addends<'_>;
}

impl Widen for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn numbers(values: &[Self]) -> Addends<'_> {
        Addends::Narrow(values)
    }
}

impl Widen for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn numbers(values: &[Self]) -> Addends<'_> {
        Addends::Wide(values)
    }
}

/// What is added to a binned accumulator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Addends<'a> {
    /// Numbers that are widened.
    Narrow(&'a [f32]),
    /// Numbers as they are.
    Wide(&'a [f64]),
    /// Products of equally many numbers, each rounded once.
    Products(&'a [f64], &'a [f64]),
}

impl Addends<'_> {
    /// How many they are.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Narrow(numbers) => numbers.len(),
            Self::Wide(numbers) | Self::Products(numbers, _) => numbers.len(),
        }
    }

    /// The first ones, and the others.
    fn split_at(self, first: usize) -> (Self, Self) {
        match self {
            Self::Narrow(numbers) => {
                let (first, rest) = numbers.split_at(first);
                (Self::Narrow(first), Self::Narrow(rest))
            }
            Self::Wide(numbers) => {
                let (first, rest) = numbers.split_at(first);
                (Self::Wide(first), Self::Wide(rest))
            }
            Self::Products(one, other) => {
                let ((one, one_rest), (other, other_rest)) =
                    (one.split_at(first), other.split_at(first));
                (Self::Products(one, other), Self::Products(one_rest, other_rest))
            }
        }
    }
}

/// Products that a binned accumulator takes at most, of those that these vectors add.
pub(super) fn most_products(vectors: Vectors) -> usize {
    ROWS * width(vectors)
}

/// Numbers of a row: lanes that are in use.
fn width(vectors: Vectors) -> usize {
    if binned_avx2::can(vectors) { binned_avx2::WIDTH } else { LANES }
}

/// Rows of so many numbers, the first of which are checked by the exception flags.
fn rows(flag_checked: usize, numbers: usize, vectors: Vectors) -> usize {
    flag_checked / flags::width(vectors) + (numbers - flag_checked).div_ceil(width(vectors))
}

/// Partial sums of numbers below `2^(exponent + 1)`, or of larger ones where the exception flags
/// say that nothing was rounded.
///
/// Invariants:
/// 1. Every lane of bin i is in the binade of `starts[i]`, and took at most `rows` numbers
///    since it was there; `rows <= ROWS`.
/// 2. If numbers of unknown sizes were added, `flag_checked` is set: then a lane of the first bin
///    may be anywhere in its binade, and `keep` looks whether it still is after each addition.
///    Additions are exact on the way: rows of numbers of known sizes move it by half of its binade
///    at most, so that it stays the larger one, and then the rounding errors that go to the second
///    bin are twice as large, for which that has room.
#[derive(Clone, Debug)]
pub(super) struct BinnedAccumulator {
    exponent: i32,
    rows: usize,
    starts: [f64; 2],
    lanes: [[f64; LANES]; 2],
    flag_checked: bool,
    /// Numbers are prefetched.
    prefetch_next: bool,
}

impl BinnedAccumulator {
    /// A binned accumulator for numbers up to this one, given by its bits; none if it is too large,
    /// infinite or NaN.
    pub(super) fn for_largest(bits: u64) -> Option<Self> {
        let exponent = exponent_of(bits).max(-978 - ROOM);
        if exponent > HIGHEST {
            return None;
        }
        let starts = [exponent + ROOM, exponent + ROOM - STEP].map(|k| 1.5 * power(k));
        Some(Self {
            exponent,
            rows: 0,
            starts,
            lanes: starts.map(|start| [start; LANES]),
            flag_checked: false,
            prefetch_next: false,
        })
    }

    /// The same binned accumulator for numbers that are far from the processor, or near again.
    pub(super) fn far(mut self, far: bool) -> Self {
        self.prefetch_next = far;
        self
    }

    /// How many of these numbers it takes at most when it is empty.
    pub(super) fn most(&self, numbers: Addends<'_>, vectors: Vectors) -> usize {
        match flags::count(vectors, numbers, self.unit()) {
            0 => ROWS * width(vectors),
            _ => ROWS * flags::width(vectors),
        }
    }

    /// True if there is room for these numbers; else it has to be flushed first.
    pub(super) fn has_room(&self, numbers: Addends<'_>, vectors: Vectors) -> bool {
        let flag_checked = flags::count(vectors, numbers, self.unit());
        self.rows + rows(flag_checked, numbers.len(), vectors) <= ROWS
    }

    /// Adds numbers, if there [is room](Self::has_room) for them; false if they do not fit into the
    /// binned accumulator exactly, and then it is as before.
    pub(super) fn add(&mut self, numbers: Addends<'_>, vectors: Vectors) -> bool {
        debug_assert!(self.has_room(numbers, vectors));
        let mut lanes = self.lanes;
        let flag_checked = flags::count(vectors, numbers, self.unit());
        let (first, rest) = numbers.split_at(flag_checked);
        if flag_checked > 0
            && !flags::add(vectors, (&mut lanes, self.unit()), first, self.prefetch_next)
        {
            return false;
        }
        let seen = add_residual_checked(&mut lanes, rest, vectors, self.prefetch_next);
        // The sizes of numbers were not looked at where the exception flags were.
        self.flag_checked |= flag_checked > 0;
        self.keep(lanes, seen, rows(flag_checked, numbers.len(), vectors))
    }

    /// The lowest bit of the first bin.
    fn unit(&self) -> f64 {
        power((self.exponent + ROOM - 52).max(-1022))
    }

    /// Keeps lanes after so many more rows if they hold all of their numbers.
    fn keep(&mut self, lanes: [[f64; LANES]; 2], seen: PassResult, rows: usize) -> bool {
        let fits = seen.residual == 0 && seen.largest < 2.0 * power(self.exponent);
        let fits = fits && (!self.flag_checked || self.has_inside(&lanes));
        if fits {
            self.lanes = lanes;
            self.rows += rows;
        }
        fits
    }

    /// True if lanes are in the binades of their bins; NaN and infinities are not.
    fn has_inside(&self, lanes: &[[f64; LANES]; 2]) -> bool {
        let other = |(lanes, start): (&[f64; LANES], f64)| {
            lanes.iter().fold(0, |all, lane| all | (lane.to_bits() ^ start.to_bits())) >> 52
        };
        lanes.iter().zip(self.starts).all(|bin| other(bin) == 0)
    }

    /// True if it holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds numbers and leaves of each what did not fit. They must not exceed the binned accumulator.
    pub(super) fn peel(&mut self, values: &mut [[f64; LANES]], vectors: Vectors) {
        debug_assert!(values.len() <= ROWS - self.rows);
        self.rows += values.len();
        vectors.run(Peel { lanes: &mut self.lanes, rows: values });
    }

    /// Moves what the lanes hold into the sum, and starts again.
    pub(super) fn flush(&mut self, sum: &mut ExactSum) {
        if self.rows == 0 {
            return;
        }
        for ((lanes, start), k) in self.lanes.iter_mut().zip(self.starts).zip([0, STEP]) {
            // Inside of a binade, bits are a count of units.
            let base = start.to_bits().cast_signed();
            let units: i64 = lanes.iter().map(|lane| lane.to_bits().cast_signed() - base).sum();
            let place = (self.exponent + ROOM - k - 52 + 1074).cast_unsigned();
            sum.deposit(units < 0, units.unsigned_abs(), place);
            *lanes = [start; LANES];
        }
        (self.rows, self.flag_checked) = (0, false);
    }
}

/// Adds numbers and looks at the residuals, not at the exception flags.
fn add_residual_checked(
    lanes: &mut [[f64; LANES]; 2],
    numbers: Addends<'_>,
    vectors: Vectors,
    prefetch_next: bool,
) -> PassResult {
    let (a, b) = match numbers {
        Addends::Narrow(numbers) => {
            let (rows, rest) = numbers.as_chunks::<LANES>();
            let seen = vectors.run(BinningPass { lanes, rows, prefetch_next });
            return seen.or(last_row(lanes, rest, vectors));
        }
        Addends::Wide(numbers) => (numbers, None),
        Addends::Products(one, other) => (one, Some(other)),
    };
    let (rows, others) = (a.as_chunks::<LANES>().0, b.map(|b| b.as_chunks::<LANES>().0));
    let width = width(vectors);
    let whole = a.len() / width * width;
    let seen = if binned_avx2::can(vectors) {
        PassResult::of(binned_avx2::add(vectors, lanes, (a, b), prefetch_next))
    } else if let Some(others) = others {
        vectors.run(BinningPass { lanes, rows: Products(rows, others), prefetch_next })
    } else {
        vectors.run(BinningPass { lanes, rows, prefetch_next })
    };
    let mut last = [0.0; LANES];
    for (at, place) in (whole..a.len()).zip(&mut last) {
        *place = b.map_or(a[at], |b| a[at] * b[at]);
    }
    seen.or(last_row(lanes, &last[..a.len() - whole], vectors))
}

/// Adds numbers that do not fill a row, if there are some.
fn last_row<T: Widen>(lanes: &mut [[f64; LANES]; 2], rest: &[T], vectors: Vectors) -> PassResult {
    if rest.is_empty() {
        return PassResult::default();
    }
    let mut row = [T::default(); LANES];
    row[..rest.len()].copy_from_slice(rest);
    vectors.run(BinningPass { lanes, rows: std::slice::from_ref(&row), prefetch_next: false })
}

/// The largest magnitude of some numbers, as the bits of an `f64`; those of infinities and NaN
/// are above all others.
pub(super) fn largest<T: Widen>(values: &[T], vectors: Vectors) -> u64 {
    vectors.run(Largest(values))
}

/// The exponent of a number of these bits; that of subnormal ones and zero is -1022.
pub(super) fn exponent_of(bits: u64) -> i32 {
    let field = (bits >> 52) & 0x7FF;
    i32::try_from(field).map_or(1024, |field| field.max(1) - 1023)
}

/// Two to a power in -1022..=1023.
pub(super) fn power(exponent: i32) -> f64 {
    f64::from_bits(u64::from((exponent + 1023).cast_unsigned()) << 52)
}

/// What was met on the way.
#[derive(Clone, Copy, Default)]
struct PassResult {
    /// Bits that did not fit into the second bin; the sign of a zero is none.
    residual: u64,
    /// The largest magnitude. NaN is not noticed here, but in the residual.
    largest: f64,
}

impl PassResult {
    fn of((residual, largest): binned_avx2::PassExtremes) -> Self {
        Self { residual, largest }
    }

    fn or(self, other: Self) -> Self {
        let largest = if other.largest > self.largest { other.largest } else { self.largest };
        Self { residual: self.residual | other.residual, largest }
    }
}

/// Rows of numbers that are added.
trait AddendRows: Copy {
    fn count(self) -> usize;

    /// A number of a row; both lie inside.
    fn at(self, row: usize, lane: usize) -> f64;

    /// Prefetches what lies behind a row.
    fn prefetch_next(self, row: usize);
}

impl<T: Widen> AddendRows for &[[T; LANES]] {
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn at(self, row: usize, lane: usize) -> f64 {
        self[row][lane].widen()
    }

    #[inline(always)]
    fn prefetch_next(self, row: usize) {
        let row = &self[row];
        let ahead =
            std::ptr::from_ref(row).wrapping_add(PREFETCH_DISTANCE / size_of_val(row)).cast::<u8>();
        for line in (0..size_of_val(row)).step_by(64) {
            prefetch(ahead.wrapping_add(line));
        }
    }
}

/// Rows that are multiplied, number by number.
#[derive(Clone, Copy)]
struct Products<'a>(&'a [[f64; LANES]], &'a [[f64; LANES]]);

impl AddendRows for Products<'_> {
    #[inline(always)]
    fn count(self) -> usize {
        self.0.len().min(self.1.len())
    }

    #[inline(always)]
    fn at(self, row: usize, lane: usize) -> f64 {
        self.0[row][lane] * self.1[row][lane]
    }

    #[inline(always)]
    fn prefetch_next(self, row: usize) {
        self.0.prefetch_next(row);
        self.1.prefetch_next(row);
    }
}

struct BinningPass<'a, R> {
    lanes: &'a mut [[f64; LANES]; 2],
    rows: R,
    prefetch_next: bool,
}

impl<R: AddendRows> VectorLoop for BinningPass<'_, R> {
    type Output = PassResult;

    #[inline(always)]
    fn run(self, vectors: Vectors) -> PassResult {
        // As many lanes at a time as there are registers for.
        if vectors.bytes() == 64 { self.by::<32>() } else { self.by::<8>() }
    }
}

impl<R: AddendRows> BinningPass<'_, R> {
    #[inline(always)]
    fn by<const WIDTH: usize>(self) -> PassResult {
        let mut seen = PassResult::default();
        for first in (0..LANES).step_by(WIDTH) {
            let (lanes, rows) = (&mut *self.lanes, self.rows);
            // The first columns bring the lines of all.
            seen = seen.or(if self.prefetch_next && first == 0 {
                part::<R, WIDTH, true>(lanes, rows, first)
            } else {
                part::<R, WIDTH, false>(lanes, rows, first)
            });
        }
        seen
    }
}

/// Adds `WIDTH` columns of the rows.
#[inline(always)]
fn part<R: AddendRows, const WIDTH: usize, const PREFETCH: bool>(
    lanes: &mut [[f64; LANES]; 2],
    rows: R,
    first: usize,
) -> PassResult {
    let (mut high, mut low) = ([0.0; WIDTH], [0.0; WIDTH]);
    high.copy_from_slice(&lanes[0][first..first + WIDTH]);
    low.copy_from_slice(&lanes[1][first..first + WIDTH]);
    let (mut residual, mut largest) = ([0; WIDTH], [0.0; WIDTH]);
    for row in 0..rows.count() {
        if PREFETCH {
            rows.prefetch_next(row);
        }
        for lane in 0..WIDTH {
            let value = rows.at(row, first + lane);
            let left = add_to_two_bins(&mut high[lane], &mut low[lane], value);
            residual[lane] |= left.to_bits();
            let magnitude = value.abs();
            largest[lane] = if magnitude > largest[lane] { magnitude } else { largest[lane] };
        }
    }
    lanes[0][first..first + WIDTH].copy_from_slice(&high);
    lanes[1][first..first + WIDTH].copy_from_slice(&low);
    let mut seen = PassResult::default();
    for (residual, largest) in residual.into_iter().zip(largest) {
        seen = seen.or(PassResult { residual: residual & (u64::MAX >> 1), largest });
    }
    seen
}

/// Adds a number to two bins, exactly while it is not above the first one; gives what did not
/// fit.
#[inline(always)]
pub(super) fn add_to_two_bins(high: &mut f64, low: &mut f64, value: f64) -> f64 {
    let rest = add_to_bin(high, value);
    add_to_bin(low, rest)
}

/// The same for one bin.
#[inline(always)]
pub(super) fn add_to_bin(bin: &mut f64, value: f64) -> f64 {
    let sum = *bin + value;
    let left = value - (sum - *bin);
    *bin = sum;
    left
}

struct Peel<'a> {
    lanes: &'a mut [[f64; LANES]; 2],
    rows: &'a mut [[f64; LANES]],
}

impl VectorLoop for Peel<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        let [high, low] = self.lanes;
        for first in (0..LANES).step_by(8) {
            let lanes = first..first + 8;
            let (high, low) = (&mut high[lanes.clone()], &mut low[lanes.clone()]);
            let (mut one, mut two) = ([0.0; 8], [0.0; 8]);
            one.copy_from_slice(high);
            two.copy_from_slice(low);
            for row in &mut *self.rows {
                for lane in 0..8 {
                    let value = row[first + lane];
                    row[first + lane] = add_to_two_bins(&mut one[lane], &mut two[lane], value);
                }
            }
            high.copy_from_slice(&one);
            low.copy_from_slice(&two);
        }
    }
}

struct Largest<'a, T>(&'a [T]);

impl<T: Widen> VectorLoop for Largest<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn run(self, _: Vectors) -> u64 {
        let bits = |value: &T| value.widen().abs().to_bits();
        let (rows, rest) = self.0.as_chunks::<LANES>();
        let mut most = [0; LANES];
        for row in rows {
            for (most, value) in most.iter_mut().zip(row) {
                *most = (*most).max(bits(value));
            }
        }
        most.into_iter().chain(rest.iter().map(bits)).max().unwrap_or(0)
    }
}
