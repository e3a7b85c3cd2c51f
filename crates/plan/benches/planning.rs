//! How long planning takes, beside a hand-written loop: for one rank it computes the same boxes,
//! for whole plans it only writes as many of them, for labels it looks at each label once.
//!
//! `cargo bench -p pantile-plan` prints medians of interleaved runs. A ratio of 3 means that the
//! general rule costs three times the loop that knows its one case.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use pantile_geometry::{Axis, Distribution, Mesh};
use pantile_plan::{Plan, Schedule, Totals};

/// Median times of two closures, run in turns.
fn medians<A, B>(
    runs: usize,
    mut one: impl FnMut() -> A,
    mut other: impl FnMut() -> B,
) -> (Duration, Duration) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let start = Instant::now();
        drop(black_box(one()));
        ones.push(start.elapsed());
        // A loop of microseconds is timed by the dozen: one alone is mostly the clock's noise.
        let start = Instant::now();
        drop(black_box(other()));
        let mut elapsed = start.elapsed();
        if elapsed < Duration::from_micros(100) {
            let start = Instant::now();
            (0..24).for_each(|_| drop(black_box(other())));
            elapsed = start.elapsed() / 24;
        }
        others.push(elapsed);
    }
    ones.sort_unstable();
    others.sort_unstable();
    (ones[runs / 2], others[runs / 2])
}

fn report(what: &str, limit: &str, (plan, bound): (Duration, Duration)) {
    let ratio = plan.as_secs_f64() / bound.as_secs_f64().max(1e-12);
    println!("{what:<58} {plan:>11.1?}  (wanted {limit}; loop {bound:.1?}, ratio {ratio:.1})");
}

/// Peak resident memory of this process in KiB, where the system tells.
fn peak_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn parse(text: &str) -> Distribution {
    text.parse().expect("the text is a distribution")
}

type Box2 = [(usize, usize); 2];

/// Boxes of a halo exchange of width 1 on a mesh of equal tiles, for one rank.
fn halo_by_hand(tile: usize, side: usize, (row, column): (usize, usize)) -> Vec<(usize, Box2)> {
    let mut boxes = Vec::new();
    let span = |at: usize, to: usize| match to.cmp(&at) {
        std::cmp::Ordering::Less => (at * tile - 1, at * tile),
        std::cmp::Ordering::Equal => (at * tile, (at + 1) * tile),
        std::cmp::Ordering::Greater => ((at + 1) * tile, (at + 1) * tile + 1),
    };
    for r in row.saturating_sub(1)..(row + 2).min(side) {
        for c in column.saturating_sub(1)..(column + 2).min(side) {
            boxes.push((r * side + c, [span(row, r), span(column, c)]));
            boxes.push((r * side + c, [span(r, row), span(c, column)]));
        }
    }
    boxes
}

fn one_rank_of_a_million() {
    let blocks = parse("65536x65536 on x=1024, y=1024: block(x), block(y)");
    let halos = parse("65536x65536 on x=1024, y=1024: block(x) halo 1, block(y) halo 1");
    let rank = 512 * 1024 + 512;
    let before = peak_kib();
    let times = medians(
        201,
        || Schedule::between(&blocks, &halos, rank).expect("no gaps"),
        || halo_by_hand(64, 1024, (512, 512)),
    );
    let schedule = Schedule::between(&blocks, &halos, rank).expect("no gaps");
    report("one rank of 1024x1024, blocks -> blocks + halo", "< 1 ms", times);
    let hop = &schedule.hops[0];
    println!(
        "    {} messages out, {} in, {} elements; peak memory grew by {} KiB",
        hop.sends.len() - 1,
        hop.receives.len() - 1,
        schedule.received(),
        peak_kib() - before
    );
    let start = Instant::now();
    let totals = Totals::between(&blocks, &halos).expect("no gaps");
    println!(
        "    exact totals of all 1,048,576 ranks: {} elements, {} messages, in {:.1?}",
        totals.moved,
        totals.messages,
        start.elapsed()
    );
}

fn rows_to_columns() {
    let rows = parse("65536x65536 on r=1024: block(r), whole");
    let columns = parse("65536x65536 on r=1024: whole, block(r)");
    let by_hand = || {
        let me = 777_usize;
        let part = |rank: usize| (rank * 64, (rank + 1) * 64);
        let sends = (0..1024).map(|peer| (peer, [part(me), part(peer)]));
        let receives = (0..1024).map(|peer| (peer, [part(peer), part(me)]));
        sends.chain(receives).collect::<Vec<(usize, Box2)>>()
    };
    let times = medians(101, || Schedule::between(&rows, &columns, 777).expect("no gaps"), by_hand);
    report("one rank of 1,024, rows -> columns", "< 10 ms", times);
}

fn whole_plans() {
    for (what, source, target) in [
        (
            "64 ranks, rows -> columns",
            "4096x4096 on r=64: block(r), whole",
            "4096x4096 on r=64: whole, block(r)",
        ),
        (
            "64 ranks, 8x8 blocks -> halo 2",
            "4096x4096 on x=8, y=8: block(x), block(y)",
            "4096x4096 on x=8, y=8: block(x) halo 2, block(y) halo 2",
        ),
        (
            "64 ranks, cyclic(3) -> cyclic(5)",
            "4000000 on r=64: cyclic(r, 3)",
            "4000000 on r=64: cyclic(r, 5)",
        ),
        ("64 ranks, terms -> copies", "4096 on r=64: whole; sum(r)", "4096 on r=64: whole"),
    ] {
        let (source, target) = (parse(source), parse(target));
        let count = Plan::between(&source, &target).expect("no gaps").transfers().count();
        let times = medians(
            11,
            || Plan::between(&source, &target).expect("no gaps"),
            || {
                let boxes = (0..count).map(|at| (at, [(at, at + 64), (at, at + 64)]));
                boxes.collect::<Vec<(usize, Box2)>>()
            },
        );
        report(&format!("whole plan, {what} ({count} transfers)"), "-", times);
    }
}

/// Ten million labels dealt to 16 ranks by a hash, to blocks and to another hash.
fn indexed() {
    const COUNT: usize = 10_000_000;
    let lists = |salt: usize| {
        let mut lists: Vec<Vec<i64>> = vec![Vec::new(); 16];
        for label in 0..COUNT {
            let rank = (label.wrapping_mul(2_654_435_761) ^ salt) >> 7 & 15;
            lists[rank].push(i64::try_from(label).expect("small"));
        }
        lists
    };
    let made = |lists: Vec<Vec<i64>>| {
        let mesh = Mesh::line(16).expect("sixteen ranks");
        Distribution::new(&[COUNT], mesh, vec![Axis::indexed(&["r"], lists)]).expect("labels fit")
    };
    let (first, second) = (lists(0), lists(0x5555));
    let start = Instant::now();
    let (source, target) = (made(first.clone()), made(second.clone()));
    println!("{:<58} {:>11.1?}", "two indexed axes of 10M labels: describe", start.elapsed());
    let blocks = parse(&format!("{COUNT} on r=16: block(r)"));
    let by_hand = || {
        // The least any plan must do: look at every label once and put it into a list.
        let mut found: Vec<Vec<usize>> = vec![Vec::new(); 256];
        for (from, list) in first.iter().enumerate() {
            for label in list {
                let label = usize::try_from(*label).expect("not negative");
                let to = (label.wrapping_mul(2_654_435_761) ^ 0x5555) >> 7 & 15;
                found[from * 16 + to].push(label);
            }
        }
        found
    };
    for (what, target) in [("blocks", &blocks), ("other lists", &target)] {
        let times = medians(3, || Plan::between(&source, target).expect("no gaps"), by_hand);
        report(&format!("whole plan, 10M labels on 16 ranks -> {what}"), "-", times);
        let times = medians(3, || Schedule::between(&source, target, 7).expect("no gaps"), by_hand);
        report(&format!("one rank of it -> {what}"), "-", times);
    }
}

fn main() {
    // `cargo test --all-targets` starts this program too; only `cargo bench` wants figures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    one_rank_of_a_million();
    rows_to_columns();
    whole_plans();
    indexed();
}
