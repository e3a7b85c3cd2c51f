//! Times of benchmarks: medians of runs that take turns, so that noise meets all of them. And waiting
//! for what comes by itself.

use std::time::{Duration, Instant};

/// Median times of two closures, run in turns.
///
/// # Panics
/// If `runs` is 0.
pub fn medians(runs: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..runs {
        times[0].push(time(&mut one));
        times[1].push(time(&mut other));
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[runs / 2]
    })
}

/// How long tests wait for what comes by itself: longer than it takes on the busiest machine, and far
/// below the ten minutes after which what never comes is given up.
pub const SOON: Duration = Duration::from_secs(120);

/// Asks again and again until there is an answer.
///
/// # Panics
/// If that takes longer than [`SOON`].
pub fn soon<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + SOON;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < until, "it takes too long: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The time of one call; calls of microseconds are timed by the dozen.
fn time(call: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    call();
    let elapsed = start.elapsed();
    if elapsed > Duration::from_micros(200) {
        return elapsed;
    }
    let start = Instant::now();
    (0..24).for_each(|_| call());
    start.elapsed() / 24
}

/// The one in the middle.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
