//! A seeded generator and the runner of random cases.
//!
//! Every case has a seed of its own, derived from the test's name, the case's number and the run's
//! seed, so a failure is replayed alone: `PANTILE_SEED=<seed> cargo test <test>`.
//!
//! Two variables of the environment say which cases a run sees: `PANTILE_CASES` how many, in percent;
//! `PANTILE_RUN_SEED` which ones. `./test` takes the latter from the tree, so that every change sees
//! other cases and a failure can be repeated.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A small deterministic generator (splitmix64): equal seeds give equal cases on every machine.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator that starts at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The generator of the law with this number: another one for every seed of the run.
    #[must_use]
    pub fn law(number: u64) -> Self {
        Self::new(number ^ run_seed())
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// A number in `0..n`.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "below(0) has no answer");
        usize::try_from(self.bits() % n as u64).expect("smaller than a usize")
    }

    /// A number in `low..high` (half-open).
    ///
    /// # Panics
    /// If the range is empty.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        assert!(low < high, "empty range {low}..{high}");
        let width = high.abs_diff(low);
        low.wrapping_add_unsigned(self.bits() % width)
    }

    /// True in `times` of `of` cases on average.
    pub fn chance(&mut self, times: usize, of: usize) -> bool {
        self.below(of) < times
    }

    /// One of `items`.
    ///
    /// # Panics
    /// If `items` is empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Puts `items` in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Splitmix64's finaliser: spreads every input bit over all output bits.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The seed of this run, mixed into every other one: 0 unless `PANTILE_RUN_SEED` says another.
#[must_use]
pub fn run_seed() -> u64 {
    number_from("PANTILE_RUN_SEED").map_or(0, mix)
}

/// The variables that repeat this run, as they are written before a command.
#[must_use]
pub fn run_settings() -> String {
    let set = ["PANTILE_RUN_SEED", "PANTILE_CASES"]
        .into_iter()
        .filter_map(|name| Some(format!("{name}={} ", std::env::var(name).ok()?)));
    set.collect::<String>().trim_end().to_owned()
}

/// The numbers of `count` random cases, scaled by `PANTILE_CASES`, for [`Rng::law`].
pub fn numbers(count: usize) -> impl Iterator<Item = u64> {
    0..scaled(count)
}

/// Runs `count` random cases of the test `name`, each with a generator of its own.
///
/// `PANTILE_CASES=p` runs p percent of the count (800 for a long run, 10 for a short one, at least
/// one case); `PANTILE_SEED=s` runs only the case
/// with that seed (decimal, or hexadecimal after `0x`).
///
/// # Panics
/// Passes on the panic of a failing case, after printing its number and seed.
pub fn cases(name: &str, count: usize, mut case: impl FnMut(&mut Rng)) {
    if let Some(seed) = number_from("PANTILE_SEED") {
        case(&mut Rng::new(seed));
        return;
    }
    for index in 0..scaled(count) {
        let seed = seed_of(name, index);
        let result = catch_unwind(AssertUnwindSafe(|| case(&mut Rng::new(seed))));
        if let Err(cause) = result {
            eprintln!("{name}: case {index} failed; replay it with PANTILE_SEED={seed:#x}");
            resume_unwind(cause);
        }
    }
}

/// `count` random cases, scaled by `PANTILE_CASES`; at least one.
#[must_use]
pub fn scaled(count: usize) -> u64 {
    let percent = number_from("PANTILE_CASES").unwrap_or(100);
    ((count as u64).saturating_mul(percent) / 100).max(1)
}

/// As many of these cases as `PANTILE_CASES` asks for, evenly spread; the run's seed says which.
#[must_use]
pub fn sampled<T>(all: Vec<T>) -> Vec<T> {
    let step = (all.len() as u64).div_ceil(scaled(all.len()));
    let first = run_seed() % step.max(1);
    (0..).zip(all).filter(|(at, _)| at % step == first).map(|(_, case)| case).collect()
}

/// What an exhaustive test goes through: the first `always` of `all` and, if `PANTILE_CASES` asks for
/// less than everything, one of the others that the run's seed chooses.
#[must_use]
pub fn thinned<T: Copy>(all: &[T], always: usize) -> Vec<T> {
    let (mut kept, others) = (all[..always].to_vec(), &all[always..]);
    if scaled(100) >= 100 {
        kept.extend(others);
    } else if !others.is_empty() {
        kept.push(*Rng::law(0x7417).pick(others));
    }
    kept
}

/// True if a law met enough cases of a sort: `full` of them come up in a run of all its cases, so a
/// quarter of that, scaled by `PANTILE_CASES`, is not left to chance.
#[must_use]
pub fn enough(found: usize, full: usize) -> bool {
    number_from("PANTILE_SEED").is_some() || found as u64 >= scaled(full / 4)
}

/// The seed of case `index` of the test `name`.
#[must_use]
pub fn seed_of(name: &str, index: u64) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    mix(hash ^ mix(index)) ^ run_seed()
}

/// The number in an environment variable, if it is set.
fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    Some(number.unwrap_or_else(|_| panic!("{variable} must be a whole number, got {text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        assert!((0..100).all(|_| a.bits() == b.bits()));
    }

    #[test]
    fn ranges_are_half_open_and_reached() {
        let mut rng = Rng::new(1);
        let seen: std::collections::BTreeSet<i64> = (0..200).map(|_| rng.range(-2, 3)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), vec![-2, -1, 0, 1, 2]);
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<usize> = (0..20).collect();
        Rng::new(3).shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn seeds_differ_by_name_and_case() {
        assert_ne!(seed_of("a", 0), seed_of("a", 1));
        assert_ne!(seed_of("a", 0), seed_of("b", 0));
    }

    #[test]
    fn a_failing_case_stops_the_run() {
        let mut ran = 0;
        let run = AssertUnwindSafe(|| {
            cases("stops", 10_000, |_| {
                ran += 1;
                assert!(ran < 3, "third case fails");
            });
        });
        assert!(catch_unwind(run).is_err());
    }
}
