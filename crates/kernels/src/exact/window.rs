//! The fast way to the exact sum: two levels of floats with a fixed lowest bit, per lane.
//!
//! A level is a float that starts at `1.5 * 2^k` and stays in its binade, so that all its values
//! are multiples of `2^(k-52)`. Adding a smaller number to the first level rounds; what rounding
//! lost is exact in a float and goes to the second level. What is lost there is looked at: if it
//! is zero, the two levels hold the sum exactly, and if not, nothing of it is used.

use super::{ExactSum, flags, pairs};
use crate::simd::{Body, Vectors, prefetch};

/// Sums side by side.
pub(super) const LANES: usize = 32;

/// Numbers that a lane can take before it may leave its binade.
pub(super) const ROWS: usize = 1024;

/// The highest exponent whose windows are finite numbers.
pub(super) const HIGHEST: i32 = 990;

/// Bits by which the first level exceeds the largest number: 1,024 of them fit, with a spare bit.
pub(super) const ROOM: i32 = 12;

/// Bits between the levels: what one loses, 1,024 times, with a spare bit.
pub(super) const STEP: i32 = 42;

/// Bytes by which memory is asked for before it is needed.
pub(super) const AHEAD: usize = 3072;

/// A float, widened to `f64` exactly.
pub(crate) trait Widen: Copy + Default {
    /// The same number.
    fn widen(self) -> f64;

    /// Numbers of this type.
    fn numbers(values: &[Self]) -> Numbers<'_>;
}

impl Widen for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn numbers(values: &[Self]) -> Numbers<'_> {
        Numbers::Narrow(values)
    }
}

impl Widen for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn numbers(values: &[Self]) -> Numbers<'_> {
        Numbers::Wide(values)
    }
}

/// What is added to a window.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numbers<'a> {
    /// Numbers that are widened.
    Narrow(&'a [f32]),
    /// Numbers as they are.
    Wide(&'a [f64]),
    /// Products of equally many numbers, each rounded once.
    Products(&'a [f64], &'a [f64]),
}

impl Numbers<'_> {
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

/// Products that a window takes at most, of those that these vectors add.
pub(super) fn most_products(vectors: Vectors) -> usize {
    ROWS * width(vectors)
}

/// Numbers of a row: lanes that are in use.
fn width(vectors: Vectors) -> usize {
    if pairs::can(vectors) { pairs::WIDTH } else { LANES }
}

/// Rows of so many numbers, the first of which are noted.
fn rows(noted: usize, numbers: usize, vectors: Vectors) -> usize {
    noted / flags::width(vectors) + (numbers - noted).div_ceil(width(vectors))
}

/// Partial sums of numbers below `2^(exponent + 1)`, or of larger ones where it is noted that nothing
/// was lost.
///
/// Invariants:
/// 1. Every lane of level i is in the binade of `starts[i]`, and took at most `rows` numbers
///    since it was there; `rows <= ROWS`.
/// 2. If numbers of unknown sizes were added, `noted` is set: then a lane of the first level may be
///    anywhere in its binade, and whoever adds more looks whether it still is. Additions are exact on
///    the way: rows of numbers of known sizes move it by half of its binade at most, so that it stays
///    the larger one, and then lose twice as much to the second level, for which that has room.
#[derive(Clone, Debug)]
pub(super) struct Window {
    exponent: i32,
    rows: usize,
    starts: [f64; 2],
    lanes: [[f64; LANES]; 2],
    noted: bool,
    /// Memory is asked for before it is needed.
    ask: bool,
}

impl Window {
    /// A window for numbers up to this one, given by its bits; none if it is too large, infinite
    /// or NaN.
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
            noted: false,
            ask: false,
        })
    }

    /// The same window for numbers that are far from the processor, or near again.
    pub(super) fn far(mut self, far: bool) -> Self {
        self.ask = far;
        self
    }

    /// How many of these numbers it takes at most when it is empty.
    pub(super) fn most(&self, numbers: Numbers<'_>, vectors: Vectors) -> usize {
        match flags::count(vectors, numbers, self.unit()) {
            0 => ROWS * width(vectors),
            _ => ROWS * flags::width(vectors),
        }
    }

    /// True if there is room for these numbers; else it has to be flushed first.
    pub(super) fn has_room(&self, numbers: Numbers<'_>, vectors: Vectors) -> bool {
        let noted = flags::count(vectors, numbers, self.unit());
        self.rows + rows(noted, numbers.len(), vectors) <= ROWS
    }

    /// Adds numbers, if there [is room](Self::has_room) for them; false if they do not fit into the
    /// window exactly, and then it is as before.
    pub(super) fn add(&mut self, numbers: Numbers<'_>, vectors: Vectors) -> bool {
        debug_assert!(self.has_room(numbers, vectors));
        let mut lanes = self.lanes;
        let noted = flags::count(vectors, numbers, self.unit());
        let (first, rest) = numbers.split_at(noted);
        if noted > 0 && !flags::add(vectors, (&mut lanes, self.unit()), first, self.ask) {
            return false;
        }
        let seen = add_unnoted(&mut lanes, rest, vectors, self.ask);
        // The sizes of numbers were not looked at where what is lost was noted.
        self.noted |= noted > 0;
        self.keep(lanes, seen, rows(noted, numbers.len(), vectors))
    }

    /// The lowest bit of the first level.
    fn unit(&self) -> f64 {
        power((self.exponent + ROOM - 52).max(-1022))
    }

    /// Keeps lanes after so many more rows if they hold all of their numbers.
    fn keep(&mut self, lanes: [[f64; LANES]; 2], seen: Seen, rows: usize) -> bool {
        let fits = seen.lost == 0 && seen.largest < 2.0 * power(self.exponent);
        let fits = fits && (!self.noted || self.has_inside(&lanes));
        if fits {
            self.lanes = lanes;
            self.rows += rows;
        }
        fits
    }

    /// True if lanes are in the binades of their levels; NaN and infinities are not.
    fn has_inside(&self, lanes: &[[f64; LANES]; 2]) -> bool {
        let other = |(lanes, start): (&[f64; LANES], f64)| {
            lanes.iter().fold(0, |all, lane| all | (lane.to_bits() ^ start.to_bits())) >> 52
        };
        lanes.iter().zip(self.starts).all(|level| other(level) == 0)
    }

    /// True if it holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds numbers and leaves of each what did not fit. They must not exceed the window.
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
        (self.rows, self.noted) = (0, false);
    }
}

/// Adds numbers in the ordinary way.
fn add_unnoted(
    lanes: &mut [[f64; LANES]; 2],
    numbers: Numbers<'_>,
    vectors: Vectors,
    ask: bool,
) -> Seen {
    let (a, b) = match numbers {
        Numbers::Narrow(numbers) => {
            let (rows, rest) = numbers.as_chunks::<LANES>();
            let seen = vectors.run(Pass { lanes, rows, ask });
            return seen.or(last_row(lanes, rest, vectors));
        }
        Numbers::Wide(numbers) => (numbers, None),
        Numbers::Products(one, other) => (one, Some(other)),
    };
    let (rows, others) = (a.as_chunks::<LANES>().0, b.map(|b| b.as_chunks::<LANES>().0));
    let width = width(vectors);
    let whole = a.len() / width * width;
    let seen = if pairs::can(vectors) {
        Seen::of(pairs::add(vectors, lanes, (a, b), ask))
    } else if let Some(others) = others {
        vectors.run(Pass { lanes, rows: Products(rows, others), ask })
    } else {
        vectors.run(Pass { lanes, rows, ask })
    };
    let mut last = [0.0; LANES];
    for (at, place) in (whole..a.len()).zip(&mut last) {
        *place = b.map_or(a[at], |b| a[at] * b[at]);
    }
    seen.or(last_row(lanes, &last[..a.len() - whole], vectors))
}

/// Adds numbers that do not fill a row, if there are some.
fn last_row<T: Widen>(lanes: &mut [[f64; LANES]; 2], rest: &[T], vectors: Vectors) -> Seen {
    if rest.is_empty() {
        return Seen::default();
    }
    let mut row = [T::default(); LANES];
    row[..rest.len()].copy_from_slice(rest);
    vectors.run(Pass { lanes, rows: std::slice::from_ref(&row), ask: false })
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
struct Seen {
    /// Bits that did not fit into the second level; the sign of a zero is none.
    lost: u64,
    /// The largest magnitude. NaN is not noticed here, but is lost.
    largest: f64,
}

impl Seen {
    fn of((lost, largest): pairs::Met) -> Self {
        Self { lost, largest }
    }

    fn or(self, other: Self) -> Self {
        let largest = if other.largest > self.largest { other.largest } else { self.largest };
        Self { lost: self.lost | other.lost, largest }
    }
}

/// Rows of numbers that are added.
trait Rows: Copy {
    fn count(self) -> usize;

    /// A number of a row; both lie inside.
    fn at(self, row: usize, lane: usize) -> f64;

    /// Asks for memory behind a row.
    fn ask(self, row: usize);
}

impl<T: Widen> Rows for &[[T; LANES]] {
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn at(self, row: usize, lane: usize) -> f64 {
        self[row][lane].widen()
    }

    #[inline(always)]
    fn ask(self, row: usize) {
        let row = &self[row];
        let ahead = std::ptr::from_ref(row).wrapping_add(AHEAD / size_of_val(row)).cast::<u8>();
        for line in (0..size_of_val(row)).step_by(64) {
            prefetch(ahead.wrapping_add(line));
        }
    }
}

/// Rows that are multiplied, number by number.
#[derive(Clone, Copy)]
struct Products<'a>(&'a [[f64; LANES]], &'a [[f64; LANES]]);

impl Rows for Products<'_> {
    #[inline(always)]
    fn count(self) -> usize {
        self.0.len().min(self.1.len())
    }

    #[inline(always)]
    fn at(self, row: usize, lane: usize) -> f64 {
        self.0[row][lane] * self.1[row][lane]
    }

    #[inline(always)]
    fn ask(self, row: usize) {
        self.0.ask(row);
        self.1.ask(row);
    }
}

struct Pass<'a, R> {
    lanes: &'a mut [[f64; LANES]; 2],
    rows: R,
    ask: bool,
}

impl<R: Rows> Body for Pass<'_, R> {
    type Output = Seen;

    #[inline(always)]
    fn run(self, vectors: Vectors) -> Seen {
        // As many lanes at a time as there are registers for.
        if vectors.bytes() == 64 { self.by::<32>() } else { self.by::<8>() }
    }
}

impl<R: Rows> Pass<'_, R> {
    #[inline(always)]
    fn by<const WIDTH: usize>(self) -> Seen {
        let mut seen = Seen::default();
        for first in (0..LANES).step_by(WIDTH) {
            let (lanes, rows) = (&mut *self.lanes, self.rows);
            // The first columns bring the lines of all.
            seen = seen.or(if self.ask && first == 0 {
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
fn part<R: Rows, const WIDTH: usize, const ASK: bool>(
    lanes: &mut [[f64; LANES]; 2],
    rows: R,
    first: usize,
) -> Seen {
    let (mut high, mut low) = ([0.0; WIDTH], [0.0; WIDTH]);
    high.copy_from_slice(&lanes[0][first..first + WIDTH]);
    low.copy_from_slice(&lanes[1][first..first + WIDTH]);
    let (mut lost, mut largest) = ([0; WIDTH], [0.0; WIDTH]);
    for row in 0..rows.count() {
        if ASK {
            rows.ask(row);
        }
        for lane in 0..WIDTH {
            let value = rows.at(row, first + lane);
            let left = two_levels(&mut high[lane], &mut low[lane], value);
            lost[lane] |= left.to_bits();
            let magnitude = value.abs();
            largest[lane] = if magnitude > largest[lane] { magnitude } else { largest[lane] };
        }
    }
    lanes[0][first..first + WIDTH].copy_from_slice(&high);
    lanes[1][first..first + WIDTH].copy_from_slice(&low);
    let mut seen = Seen::default();
    for (lost, largest) in lost.into_iter().zip(largest) {
        seen = seen.or(Seen { lost: lost & (u64::MAX >> 1), largest });
    }
    seen
}

/// Adds a number to two levels, exactly while it is not above the first one; gives what did not
/// fit.
#[inline(always)]
pub(super) fn two_levels(high: &mut f64, low: &mut f64, value: f64) -> f64 {
    let rest = one_level(high, value);
    one_level(low, rest)
}

/// The same for one level.
#[inline(always)]
pub(super) fn one_level(level: &mut f64, value: f64) -> f64 {
    let sum = *level + value;
    let left = value - (sum - *level);
    *level = sum;
    left
}

struct Peel<'a> {
    lanes: &'a mut [[f64; LANES]; 2],
    rows: &'a mut [[f64; LANES]],
}

impl Body for Peel<'_> {
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
                    row[first + lane] = two_levels(&mut one[lane], &mut two[lane], value);
                }
            }
            high.copy_from_slice(&one);
            low.copy_from_slice(&two);
        }
    }
}

struct Largest<'a, T>(&'a [T]);

impl<T: Widen> Body for Largest<'_, T> {
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
