//! Measuring: loops that take turns, on one thread or on two at once.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::sync::Barrier;
use std::time::Instant;

use pantile_testkit::timing::median;

/// A loop with a name; the first of a case is ours, the others are bounds.
pub(crate) type Contender<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// A case: makes its arrays and loops, and hands the loops over to be run.
pub(crate) type BenchCase<'a> = &'a (dyn Fn(&mut dyn FnMut(Vec<Contender<'_>>)) + Sync);

/// How a case is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BenchSetting {
    pub(crate) threads: usize,
    pub(crate) big: bool,
}

impl BenchSetting {
    /// Part of `big` or `small` elements for each thread.
    pub(crate) fn share(self, big: usize, small: usize) -> usize {
        (if self.big { big } else { small }) / self.threads
    }
}

/// Runs the loops of a case in turns on all threads at once, and prints medians: our time for
/// each element, and the time of the bounds divided by ours, best bound last.
pub(crate) fn compare(what: &str, setting: BenchSetting, elements: usize, run: BenchCase<'_>) {
    let barrier = Barrier::new(setting.threads);
    let rounds: Vec<Vec<Vec<f64>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..setting.threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut times = Vec::new();
                    run(&mut |contenders| times = rounds(contenders, setting.big, &barrier));
                    times
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    print(what, setting, elements, &rounds);
}

/// Names are found again here: the same on every thread.
static NAMES: std::sync::Mutex<Vec<&'static str>> = std::sync::Mutex::new(Vec::new());

/// Times of the loops, round by round.
fn rounds(mut contenders: Vec<Contender<'_>>, big: bool, barrier: &Barrier) -> Vec<Vec<f64>> {
    *NAMES.lock().expect("no thread panics") = contenders.iter().map(|(name, _)| *name).collect();
    let (rounds, calls) = if big { (9, 1) } else { (41, 60) };
    contenders.iter_mut().for_each(|(_, call)| call());
    let mut times = Vec::new();
    for _ in 0..rounds {
        let mut round = Vec::new();
        for (_, call) in &mut contenders {
            barrier.wait();
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            round.push(start.elapsed().as_secs_f64() / f64::from(calls));
        }
        times.push(round);
    }
    times
}

fn print(what: &str, setting: BenchSetting, elements: usize, threads: &[Vec<Vec<f64>>]) {
    let names = NAMES.lock().expect("no thread panics").clone();
    let all = elements * setting.threads;
    // A round takes as long as its slowest thread.
    let time = |round: usize, contender: usize| {
        threads.iter().map(|times| times[round][contender]).fold(0.0, f64::max)
    };
    let rounds = threads[0].len();
    let each = |f: &dyn Fn(usize) -> f64| median((0..rounds).map(f).collect());
    let ours = each(&|round| time(round, 0));
    let size = if setting.big { "big" } else { "cache" };
    let ns = ours * 1e9 / all as f64;
    print!("{what:<18} {size:<5} {} threads {ns:>8.3} ns ", setting.threads);
    let mut best = f64::INFINITY;
    for (contender, name) in names.iter().enumerate().skip(1) {
        let ratio = each(&|round| time(round, contender) / time(round, 0));
        best = best.min(ratio);
        print!(" {name} {ratio:.2}");
    }
    println!("  -> {best:.2}");
}
