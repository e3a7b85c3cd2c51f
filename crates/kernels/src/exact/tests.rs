//! Exact sums against long integers of their own, which share no code with them.

use pantile_testkit::{Rng, cases};

use super::superaccumulator::{LIMBS, Superaccumulator};
use super::{Adder, ExactSum};
use crate::simd::Vectors;

/// A whole number of units of 2^-1074, limbs to base 2^16, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Big(Vec<u16>);

impl Big {
    fn zero() -> Self {
        Self(vec![0; 160])
    }

    fn power(place: usize) -> Self {
        let mut big = Self::zero();
        big.0[place / 16] = 1 << (place % 16);
        big
    }

    /// The magnitude of a finite number, by doubling.
    fn of(value: f64) -> Self {
        let (field, fraction) = ((value.to_bits() >> 52) & 2047, value.to_bits() % (1 << 52));
        let (shift, mut whole) =
            if field == 0 { (0, fraction) } else { (field - 1, fraction + (1 << 52)) };
        let mut big = Self::zero();
        let mut place = usize::try_from(shift).unwrap();
        while whole > 0 {
            if whole % 2 == 1 {
                big = big.plus(&Self::power(place));
            }
            (whole, place) = (whole / 2, place + 1);
        }
        big
    }

    fn plus(&self, other: &Self) -> Self {
        let mut carry = 0;
        Self(
            (self.0.iter().zip(&other.0))
                .map(|(a, b)| {
                    let sum = u32::from(*a) + u32::from(*b) + carry;
                    carry = sum / 65536;
                    u16::try_from(sum % 65536).unwrap()
                })
                .collect(),
        )
    }

    /// The difference, if it is not negative.
    fn minus(&self, other: &Self) -> Option<Self> {
        let mut borrow = 0;
        let limbs = (self.0.iter().zip(&other.0))
            .map(|(a, b)| {
                let difference = i32::from(*a) - i32::from(*b) - borrow;
                borrow = i32::from(difference < 0);
                u16::try_from(difference.rem_euclid(65536)).unwrap()
            })
            .collect();
        (borrow == 0).then_some(Self(limbs))
    }

    fn times(&self, factor: u64) -> Self {
        let mut carry = 0;
        Self(
            self.0
                .iter()
                .map(|limb| {
                    let product = u128::from(*limb) * u128::from(factor) + carry;
                    carry = product / 65536;
                    u16::try_from(product % 65536).unwrap()
                })
                .collect(),
        )
    }

    fn at_most(&self, other: &Self) -> bool {
        other.minus(self).is_some()
    }
}

/// The bits whose number is nearest to `sum / divisor`: a search among all numbers of a type.
fn nearest(sum: &Big, divisor: u64, infinity: u64, value: impl Fn(u64) -> Big) -> u64 {
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value(middle).times(divisor).at_most(sum) { low = middle } else { high = middle }
    }
    let twice = sum.plus(sum);
    let both = value(low).plus(&value(high)).times(divisor);
    match (twice.at_most(&both), both.at_most(&twice)) {
        (true, true) => low + low % 2,
        (true, false) => low,
        _ => high,
    }
}

/// The sum of numbers divided by a count, as an `f64` and as an `f32`.
fn oracle(values: &[f64], divisor: u64) -> (f64, f32) {
    let has = |wanted: f64| values.contains(&wanted);
    let (above, below) = (has(f64::INFINITY), has(f64::NEG_INFINITY));
    if values.iter().any(|value| value.is_nan()) || (above && below) || divisor == 0 {
        return (f64::from_bits(0x7FF8_0000_0000_0000), f32::from_bits(0x7FC0_0000));
    }
    if above || below {
        let sign = if above { 1.0 } else { -1.0 };
        return (f64::INFINITY * sign, if above { f32::INFINITY } else { f32::NEG_INFINITY });
    }
    let total = |negative: bool| {
        let some = values.iter().filter(|value| value.is_sign_negative() == negative);
        some.fold(Big::zero(), |sum, value| sum.plus(&Big::of(*value)))
    };
    let (plus, minus) = (total(false), total(true));
    let negative = plus.minus(&minus).is_none();
    let sum = plus.minus(&minus).or_else(|| minus.minus(&plus)).unwrap();
    let wide = nearest(&sum, divisor, f64::INFINITY.to_bits(), |bits| {
        let value = f64::from_bits(bits);
        if value.is_finite() { Big::of(value) } else { Big::power(1024 + 1074) }
    });
    let narrow = nearest(&sum, divisor, f32::INFINITY.to_bits().into(), |bits| {
        let value = f32::from_bits(u32::try_from(bits).unwrap());
        if value.is_finite() { Big::of(value.into()) } else { Big::power(128 + 1074) }
    });
    let narrow = f32::from_bits(u32::try_from(narrow).unwrap());
    let sign = if negative { -1.0 } else { 1.0 };
    (f64::from_bits(wide) * sign, narrow * if negative { -1.0 } else { 1.0 })
}

fn word(rng: &mut Rng) -> u32 {
    u32::try_from(rng.bits() >> 32).unwrap()
}

/// A number of one of many kinds, and its exact negative now and then.
fn number(rng: &mut Rng, kind: usize) -> f64 {
    let unit = (rng.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let sign = if rng.chance(1, 2) { 1.0 } else { -1.0 };
    let between = |low: i64, high: i64, rng: &mut Rng| {
        let field = rng.range(low + 1023, high + 1023).cast_unsigned();
        f64::from_bits(field << 52 | rng.bits() >> 12)
    };
    sign * match kind {
        0 => unit,
        1 => between(-1023, 1024, rng),
        2 => f64::from_bits(rng.bits() >> 12),
        3 => between(-30, 30, rng),
        4 => between(-3, 1, rng),
        5 => *rng.pick(&[f64::MAX, f64::MAX / 2.0, 1e300, f64::MIN_POSITIVE]),
        6 => 1e-306 * unit,
        7 => *rng.pick(&[0.0, 1.0, 2f64.powi(53), 2f64.powi(-53), 2f64.powi(-1), 3.0]),
        8 => f64::from(f32::from_bits(word(rng) & 0x7F7F_FFFF)),
        9 => between(985, 1000, rng),
        10 => between(-1000, -960, rng),
        11 => (unit * 1000.0).round() / 100.0,
        _ => 2f64.powi(i32::try_from(rng.range(-1074, 1024)).unwrap()),
    }
}

fn numbers(rng: &mut Rng, count: usize) -> Vec<f64> {
    let kind = rng.below(13);
    let mut values: Vec<f64> = (0..count).map(|_| number(rng, kind)).collect();
    if rng.chance(1, 4) && count > 0 {
        let other = rng.below(13);
        let at = rng.below(count);
        values[at] = number(rng, other);
    }
    if rng.chance(1, 3) {
        values.extend(values.clone().iter().map(|value| -value));
        let last = number(rng, kind);
        values.push(last);
        rng.shuffle(&mut values);
    }
    if rng.chance(1, 12) && !values.is_empty() {
        for _ in 0..rng.below(3) {
            let at = rng.below(values.len());
            let quiet = f64::from_bits(0xFFF8_0000_0000_0007);
            values[at] = *rng.pick(&[f64::INFINITY, f64::NEG_INFINITY, f64::NAN, quiet]);
        }
    }
    values
}

/// A sum of the parts of some numbers, dealt to ranks and merged in some order.
fn dealt(rng: &mut Rng, values: &[f64]) -> ExactSum {
    let mut parts = vec![Vec::new(); 1 + rng.below(5)];
    for value in values {
        let part = rng.below(parts.len());
        parts[part].push(*value);
    }
    let sets: Vec<Vectors> = Vectors::all().collect();
    let mut sums: Vec<ExactSum> = (parts.iter())
        .map(|part| {
            let mut sum = ExactSum::new();
            let (one, other) = part.split_at(rng.below(part.len() + 1));
            sum.add_slice(one, *rng.pick(&sets));
            match rng.below(3) {
                0 => other.iter().for_each(|value| sum.add(*value)),
                _ => sum.add_slice(other, *rng.pick(&sets)),
            }
            sum
        })
        .collect();
    if rng.chance(1, 2) {
        return through_words(&mut sums);
    }
    rng.shuffle(&mut sums);
    let mut sum = sums.pop().unwrap();
    sums.iter().for_each(|other| sum.merge(other));
    sum
}

fn words(sum: &ExactSum) -> [i64; ExactSum::WORDS] {
    let mut words = [0; ExactSum::WORDS];
    sum.clone().write(&mut words);
    words
}

fn through_words(sums: &mut [ExactSum]) -> ExactSum {
    let mut total = [0i64; ExactSum::WORDS];
    for sum in sums {
        for (total, word) in total.iter_mut().zip(words(sum)) {
            *total = total.wrapping_add(word);
        }
    }
    ExactSum::read(&total)
}

fn check(sum: &ExactSum, values: &[f64], divisor: u64) {
    let (wide, narrow) = oracle(values, 1);
    let bits = |pair: (f64, f32)| (pair.0.to_bits(), pair.1.to_bits());
    assert_eq!(bits((sum.to_f64(), sum.to_f32())), bits((wide, narrow)), "sum of {values:?}");
    let got = (sum.divided_f64(divisor), sum.divided_f32(divisor));
    assert_eq!(bits(got), bits(oracle(values, divisor)), "mean of {values:?} by {divisor}");
}

#[test]
fn sums_are_exact_whatever_the_way() {
    cases("sums_are_exact", 1500, |rng| {
        let longest = if rng.chance(1, 4) { 700 } else { 70 };
        let count = rng.below(longest);
        let values = numbers(rng, count);
        let sum = dealt(rng, &values);
        let divisor = match rng.below(5) {
            0 => rng.bits(),
            1 => 0,
            _ => 1 + rng.bits() % 1000,
        };
        check(&sum, &values, divisor);
        assert_eq!(words(&sum), words(&dealt(rng, &values)), "equal sums, equal words");
        let mut plain = ExactSum::new();
        plain.add_slice_f64(&values);
        assert_eq!(words(&plain), words(&sum));
    });
}

#[test]
fn long_slices_agree_with_one_by_one() {
    cases("long_slices", 60, |rng| {
        let count = rng.below(40_000);
        let mut values = numbers(rng, count);
        if rng.chance(1, 3) {
            // A large one late: the binned accumulator that was guessed does not fit.
            let last = values.len().saturating_sub(1 + rng.below(500));
            values.truncate(last + 1);
            values.push(1e30);
        }
        let mut expected = ExactSum::new();
        values.iter().for_each(|value| expected.add(*value));
        let expected = words(&expected);
        for vectors in Vectors::all() {
            let mut sum = ExactSum::new();
            sum.add_slice(&values, vectors);
            assert_eq!(words(&sum), expected, "{vectors:?}");
        }
    });
}

/// Chunks of all lengths, some of which are checked by the exception flags and some are not, of
/// numbers that push lanes to the ends of their binades, on both sides; far from the processor, or
/// near.
#[test]
fn chunks_of_all_lengths_share_an_accumulator() {
    cases("chunks", 60, |rng| {
        let (mut values, mut lengths) = (Vec::new(), Vec::new());
        let exponent = i32::try_from(rng.range(-1000, 980)).unwrap();
        let sign = *rng.pick(&[-1.0, 1.0, 0.0]);
        for _ in 0..1 + rng.below(12) {
            let length = *rng.pick(&[1, 15, 100, 511, 512, 513, 700, 2048, 8192, 20_000]);
            // Numbers of a chunk are at most this much larger than those of the first one.
            let size = 2f64.powi(exponent + i32::try_from(rng.below(14)).unwrap());
            // Of the smallest ones fewer fit into a binned accumulator.
            let size = if rng.chance(1, 8) { f64::MIN_POSITIVE } else { size };
            let last = if rng.chance(1, 8) { rng.below(50) } else { 0 };
            for _ in 0..length {
                let unit = f64::from(word(rng)) * 2f64.powi(-32);
                let unit = unit + unit * 2f64.powi(-20 - i32::try_from(last).unwrap());
                let sign = if sign == 0.0 && rng.chance(1, 2) { -1.0 } else { 1.0_f64.min(sign) };
                values.push(size * unit * if sign == 0.0 { 1.0 } else { sign });
            }
            lengths.push(length);
        }
        let mut expected = ExactSum::new();
        values.iter().for_each(|value| expected.add(*value));
        for (vectors, far) in Vectors::all().flat_map(|set| [(set, false), (set, true)]) {
            let bytes = if far { usize::MAX } else { 0 };
            let (mut sum, mut adder) = (ExactSum::new(), Adder::new(bytes, vectors));
            let mut rest = values.as_slice();
            for length in &lengths {
                let (chunk, more) = rest.split_at(*length);
                adder.add(&mut sum, chunk);
                rest = more;
            }
            adder.finish(&mut sum);
            let place = if far { "far" } else { "near" };
            assert_eq!(words(&sum), words(&expected), "{vectors:?}, {place} chunks of {lengths:?}");
        }
    });
}

/// Blocks that fill binned accumulators exactly, with one number that does not fit, first, in the
/// middle or last.
#[test]
fn what_does_not_fit_into_full_accumulators_is_noticed() {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        1e300,
        -1e30,
        700.0,
        1e-30,
        f64::from_bits(1),
        -0.0,
    ];
    cases("full_windows", 10, |rng| {
        for one in odd {
            for at in [0, 4000, 8191, 8192, 16383] {
                let mut values: Vec<f64> =
                    (0..16384).map(|_| f64::from(word(rng)) * 2f64.powi(-20)).collect();
                values[at] = one;
                let others: Vec<f64> =
                    (0..16384).map(|_| f64::from(word(rng)) * 2f64.powi(-33)).collect();
                let (mut sums, mut products) = (ExactSum::new(), ExactSum::new());
                for (value, other) in values.iter().zip(&others) {
                    sums.add(*value);
                    products.add(value * other);
                }
                let expected = [words(&sums), words(&products)];
                for vectors in Vectors::all() {
                    let mut sum = ExactSum::new();
                    sum.add_slice(&values, vectors);
                    let product = product_sum(&values, &others, vectors);
                    assert_eq!(
                        [words(&sum), words(&product)],
                        expected,
                        "{one} at {at}, {vectors:?}"
                    );
                }
            }
        }
    });
}

/// The sum of products, block by block as reductions add them.
fn product_sum(values: &[f64], others: &[f64], vectors: Vectors) -> ExactSum {
    let (mut sum, mut adder) = (ExactSum::new(), Adder::new(size_of_val(values), vectors));
    for (a, b) in values.chunks(8192).zip(others.chunks(8192)) {
        if !adder.add_products(&mut sum, a, b) {
            let products: Vec<f64> = a.iter().zip(b).map(|(a, b)| a * b).collect();
            adder.add(&mut sum, &products);
        }
    }
    adder.finish(&mut sum);
    sum
}

#[test]
fn what_is_left_of_a_block_is_not_added_again() {
    // So many sizes that binned accumulators give up, and a last block that is shorter.
    cases("blocks", 20, |rng| {
        let count = 2048 + 1 + rng.below(31);
        let size = |rng: &mut Rng| rng.range(1, 1900).cast_unsigned();
        let values: Vec<f64> =
            (0..count).map(|_| f64::from_bits(size(rng) << 52 | rng.bits() >> 12)).collect();
        let (mut sum, mut expected) = (ExactSum::new(), ExactSum::new());
        sum.add_slice_f64(&values);
        values.iter().for_each(|value| expected.add(*value));
        assert_eq!(words(&sum), words(&expected));
    });
}

#[test]
fn narrow_numbers_are_widened() {
    cases("narrow_numbers", 300, |rng| {
        let (longest, wild) = *rng.pick(&[(300, true), (1500, false), (1500, true)]);
        let values: Vec<f32> = (0..rng.below(longest))
            .map(|_| {
                if wild && rng.chance(1, 3) {
                    f32::from_bits(word(rng))
                } else {
                    rng.range(-9999, 9999) as f32 / 7.0
                }
            })
            .collect();
        let wide: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        let mut sum = ExactSum::new();
        sum.add_slice_f32(&values);
        check(&sum, &wide, 1 + rng.bits() % 100);
        for vectors in Vectors::all() {
            let mut again = ExactSum::default();
            again.add_slice(&values, vectors);
            assert_eq!(words(&again), words(&sum));
        }
    });
}

#[test]
fn edges() {
    let of = |values: &[f64]| {
        let mut sum = ExactSum::new();
        sum.add_slice_f64(values);
        check(&sum, values, 3);
        sum
    };
    assert_eq!(of(&[]).to_f64().to_bits(), 0);
    assert_eq!(of(&[-0.0; 100]).to_f64().to_bits(), 0, "a sum of -0.0 is +0.0");
    assert_eq!(of(&[f64::MAX, f64::MAX, -f64::MAX]).to_f64(), f64::MAX);
    assert_eq!(of(&[f64::MAX, f64::MAX]).to_f64(), f64::INFINITY);
    assert_eq!(of(&[f64::MAX, f64::MAX]).divided_f64(2), f64::MAX);
    assert_eq!(of(&[f64::MAX; 4]).divided_f64(4), f64::MAX);
    assert_eq!(of(&[f64::MIN; 100]).to_f64(), f64::NEG_INFINITY);
    assert_eq!(of(&[f64::from_bits(1); 64]).to_f64(), f64::from_bits(64));
    assert_eq!(of(&[-f64::from_bits(1)]).divided_f64(9).to_bits(), 1 << 63);
    assert_eq!(of(&[1.0]).divided_f64(0).to_bits(), 0x7FF8 << 48);
    assert_eq!(of(&[f64::INFINITY]).divided_f64(0).to_bits(), 0x7FF8 << 48);
    assert_eq!(of(&[f64::INFINITY]).divided_f64(7), f64::INFINITY);
    assert_eq!(of(&[f64::NEG_INFINITY, 1.0]).divided_f32(7), f32::NEG_INFINITY);
    assert!(of(&[f64::INFINITY, f64::NEG_INFINITY]).to_f32().is_nan());
    assert_eq!(of(&[1.0; 3]).divided_f64(u64::MAX), 3.0 / u64::MAX as f64);
    // One and a half units of an f32 and a little: twice rounded it would be one unit.
    let twice = 1.0 + 1.5 * f64::from(f32::EPSILON) - 2f64.powi(-60);
    assert_eq!(of(&[twice, -2f64.powi(-80)]).to_f32(), 1.0 + f32::EPSILON);
}

#[test]
fn limbs_are_carried_in_time() {
    // As large as limbs may be, three times.
    let full = [(1i64 << 62) - 1; LIMBS];
    let mut once = ExactSum::new();
    once.limbs = Superaccumulator::after_many(full);
    let mut sum = once.clone();
    (0..2).for_each(|_| sum.merge(&once));
    let carried = ExactSum::read(&words(&once));
    let mut expected = carried.clone();
    (0..2).for_each(|_| expected.merge(&carried));
    assert_eq!(words(&sum), words(&expected));
    // A limb without room for one more number.
    let mut limbs = [0; LIMBS];
    limbs[40] = i64::MAX;
    let mut sum = ExactSum::new();
    sum.limbs = Superaccumulator::after_many(limbs);
    let mut expected = ExactSum::read(&words(&sum));
    let value = 2f64.powi(40 * 32 + 31 - 1074);
    sum.add(value);
    expected.add(value);
    assert_eq!(words(&sum), words(&expected));
    // Words of 2^30 equal ranks: the limbs are as large as they may become.
    let mut sum = ExactSum::new();
    sum.add_slice_f64(&(0..200).map(|at| (f64::from(at) - 90.0) / 7.0).collect::<Vec<f64>>());
    let all = words(&sum).map(|word| word.wrapping_mul(1 << 30));
    assert_eq!(ExactSum::read(&all).divided_f64(1 << 30), sum.to_f64());
}

#[test]
fn any_words_are_read() {
    cases("any_words", 200, |rng| {
        let words = [(); ExactSum::WORDS].map(|()| rng.bits().cast_signed());
        let mut sum = ExactSum::read(&words);
        sum.merge(&ExactSum::read(&[i64::MIN; ExactSum::WORDS]));
        sum.add_slice_f64(&[1.0; 50]);
        let _ = (sum.to_f64(), sum.to_f32(), sum.divided_f64(3), sum.divided_f32(3));
    });
}
