//! How fast loop bodies and reductions run, beside hand-written loops.
//!
//! `cargo bench -p pantile-kernels --bench lanes` prints, for every case, our time for an element
//! and the times of hand-written loops divided by ours (1 is as fast, less is slower; the best
//! loop last): medians of rounds in which the loops take turns. Cases are big (in memory) or in
//! the cache, on one thread and on two, each with a half of its own. Plain sums are not exact:
//! they have as many accumulators as are good for speed. Words after `--` choose cases by parts
//! of their names, `big`, `cache`, `1` and `2` by size and threads.

mod maps;
mod rounds;
mod sums;

use rounds::BenchSetting;

/// Numbers that look random, about as often below zero as above.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    (0..count).map(|_| next() + next() - 1.0).collect()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let (settings, names): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| ["big", "cache", "1", "2"].contains(&word.as_str()));
    let chosen = |one: &str, other: &str| {
        settings.iter().any(|word| word == one) || !settings.iter().any(|word| word == other)
    };
    let wanted = |name: &str| names.is_empty() || names.iter().any(|word| name.contains(&**word));
    for big in [true, false] {
        let size = if big { chosen("big", "cache") } else { chosen("cache", "big") };
        for threads in [1, 2] {
            let count = if threads == 1 { chosen("1", "2") } else { chosen("2", "1") };
            if size && count {
                let setting = BenchSetting { threads, big };
                maps::all(setting, &wanted);
                sums::all(setting, &wanted);
            }
        }
    }
}
