//! Movements on threads against the bound of the same run: copying as many bytes with as many
//! threads.
//!
//! Every figure is the median of interleaved runs; only ratios mean anything on a busy machine.
#![allow(clippy::print_stdout, reason = "prints a table")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::sync::{Arc, Barrier};
use std::time::Instant;

use pantile_comm::threads;
use pantile_engine::{DType, Engine, Tile};
use pantile_geometry::Distribution;
use pantile_spmd::{DistArray, RankContext};
use pantile_testkit::timing::median;

const REPEATS: usize = 15;

fn main() {
    println!("{:58} {:>10} {:>10} {:>7}", "movement", "time", "bound", "ratio");
    for ranks in [2, 4] {
        let columns = format!("4096x4096 on r={ranks}: whole, block(r)");
        redistribution("row blocks -> column blocks", ranks, &columns);
        let cyclic = format!("4096x4096 on r={ranks}: cyclic(r, 64), whole");
        redistribution("row blocks -> cyclic(64)", ranks, &cyclic);
    }
    for width in [1, 2] {
        halo(width);
    }
    collectives();
    small();
}

fn show(name: &str, seconds: f64, bound: f64) {
    let unit = |s: f64| match s {
        s if s < 1e-4 => format!("{:.2} us", s * 1e6),
        s => format!("{:.3} ms", s * 1e3),
    };
    let ratio = if bound > 0.0 { format!("{:.2}", bound / seconds) } else { String::new() };
    let bound = if bound > 0.0 { unit(bound) } else { String::new() };
    println!("{name:58} {:>10} {bound:>10} {ratio:>7}", unit(seconds));
}

/// Runs two bodies in turn on all ranks, each so many times per sample; medians.
fn duel(
    ranks: usize,
    repetitions: u32,
    prepare: impl Fn(&RankContext) -> (Box<dyn FnMut()>, Box<dyn FnMut()>) + Sync,
) -> (f64, f64) {
    let gate = Arc::new(Barrier::new(ranks));
    let results = threads::run(ranks, &Default::default(), |communicator| {
        let world = RankContext::new(communicator);
        let (mut one, mut other) = prepare(&world);
        let mut times = (Vec::new(), Vec::new());
        let timed = |body: &mut dyn FnMut()| {
            gate.wait();
            let started = Instant::now();
            (0..repetitions).for_each(|_| body());
            gate.wait();
            started.elapsed().as_secs_f64() / f64::from(repetitions)
        };
        for repeat in 0..REPEATS + 2 {
            let pair = (timed(&mut one), timed(&mut other));
            // The first rounds plan and touch memory.
            if repeat >= 2 {
                times.0.push(pair.0);
                times.1.push(pair.1);
            }
        }
        Ok::<_, String>((median(times.0), median(times.1)))
    });
    results.into_iter().map(Result::unwrap).next().unwrap()
}

fn redistribution(name: &str, ranks: usize, target: &str) {
    let rows: Distribution = format!("4096x4096 on r={ranks}: block(r), whole").parse().unwrap();
    let target: Distribution = target.parse().unwrap();
    let (time, bound) = duel(ranks, 1, |world| {
        let source = DistArray::from_fn(world, &rows, |index| (index[0] + index[1]) as f64);
        let mut moved = DistArray::<f64>::zeros(world, &target);
        let from = source.local().to_vec();
        let mut to = vec![1.0_f64; from.len()];
        (
            Box::new(move || source.redistribute_into(&mut moved).unwrap()),
            Box::new(move || {
                to.copy_from_slice(std::hint::black_box(&from));
                std::hint::black_box(&mut to);
            }),
        )
    });
    show(&format!("{name}, 4096x4096 f64, {ranks} ranks, vs memcpy"), time, bound);
}

fn halo(width: usize) {
    let text = format!("4096x4096 on x=2, y=2: block(x) halo {width}, block(y) halo {width}");
    let tiles: Distribution = text.parse().unwrap();
    let (time, bound) = duel(4, 50, |world| {
        let mut array = DistArray::from_fn(world, &tiles, |index| (index[0] + index[1]) as f64);
        let mut copy = array.local().to_vec();
        let shape = array.local_shape().unwrap();
        (
            Box::new(move || array.exchange_halo().unwrap()),
            // The same cells moved within one tile, by hand.
            Box::new(move || strips(&mut copy, &shape, width)),
        )
    });
    show(&format!("halo exchange, 2x2 tiles of 2048x2048 f64, width {width}"), time, bound);
}

/// Copies a row strip and a column strip inside a tile, as an exchange has to.
fn strips(tile: &mut [f64], shape: &[usize], width: usize) {
    let (rows, columns) = (shape[0], shape[1]);
    for row in 0..width {
        tile.copy_within(row * columns..(row + 1) * columns, (rows - 1 - row) * columns);
    }
    for row in 0..rows {
        for column in 0..width {
            tile[row * columns + column] = tile[row * columns + columns / 2 + column];
        }
    }
}

fn collectives() {
    const ELEMENTS: usize = 8 << 20;
    for ranks in [2, 4] {
        let copies = format!("{ELEMENTS} on r={ranks}: whole");
        let terms: Distribution = format!("{copies}; sum(r)").parse().unwrap();
        let one: Distribution = Distribution::on_rank(&[ELEMENTS], 0).unwrap();
        let copies: Distribution = copies.parse().unwrap();
        for (name, source) in [("all-sum-reduce", terms), ("broadcast", one)] {
            let (time, bound) = duel(ranks, 1, |world| {
                let source = DistArray::from_fn(world, &source, |index| index[0] as f64);
                let mut moved = DistArray::<f64>::zeros(world, &copies);
                let from = vec![1.0_f64; ELEMENTS];
                let mut to = vec![1.0_f64; ELEMENTS];
                (
                    Box::new(move || source.redistribute_into(&mut moved).unwrap()),
                    Box::new(move || {
                        to.copy_from_slice(std::hint::black_box(&from));
                        std::hint::black_box(&mut to);
                    }),
                )
            });
            show(&format!("{name} of 64 MB, {ranks} ranks, vs memcpy of 64 MB"), time, bound);
        }
    }
}

/// Many times in a row, so that the clock is not what is measured.
fn small() {
    const TIMES: u32 = 20_000;
    let results = threads::run(2, &Default::default(), |communicator| {
        let mut engine = Engine::new(communicator);
        let copies: Distribution = "1 on r=2: whole".parse().unwrap();
        let terms: Distribution = "1 on r=2: whole; sum(r)".parse().unwrap();
        let movement = engine.movement("all-reduce", &terms, &copies, DType::F64).unwrap();
        let (source, mut target) = (Tile::from_vec(vec![1.0_f64]), Tile::zeroed(DType::F64, 1));
        let mut times = (Vec::new(), Vec::new());
        for _ in 0..7 {
            let started = Instant::now();
            for _ in 0..TIMES {
                engine.run(&movement, &source, &mut target).unwrap();
            }
            times.0.push(started.elapsed().as_secs_f64() / f64::from(TIMES));
            let started = Instant::now();
            for _ in 0..TIMES {
                engine.barrier().unwrap();
            }
            times.1.push(started.elapsed().as_secs_f64() / f64::from(TIMES));
        }
        Ok::<_, String>((median(times.0), median(times.1)))
    });
    let (reduce, barrier) = *results[0].as_ref().unwrap();
    show("all-reduce of 8 bytes, 2 ranks", reduce, 0.0);
    show("barrier, 2 ranks", barrier, 0.0);
}
