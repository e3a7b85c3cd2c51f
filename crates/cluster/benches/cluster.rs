//! What a cluster costs: elements against TCP by hand, programs against the same on threads, and
//! what a small step takes. Everything on this machine, in turns within one run.
#![allow(clippy::print_stdout, reason = "prints figures")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../tests/it/common/mod.rs"]
mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use common::TestSite;
use pantile::prelude::*;
use pantile_engine::Pool;
use pantile_testkit::timing::medians;

const TURNS: usize = 7;

fn main() {
    let site = TestSite::new(2);
    println!("ratio: time of the bound by ours; medians of {TURNS} turns\n");
    // `cargo bench --bench cluster -- steps` measures only that.
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    type BenchPart = fn(&TestSite);
    let parts: [(&str, BenchPart); 4] =
        [("elements", elements), ("programs", programs), ("steps", steps), ("clients", clients)];
    for (name, part) in parts {
        if named.is_empty() || named.iter().any(|one| one == name) {
            part(&site);
        }
    }
}

fn row(what: &str, bound: &str, [ours, by_hand]: [Duration; 2], bytes: usize) {
    let rate = bytes as f64 / ours.as_secs_f64() / 1e9;
    let rate = if bytes > 0 { format!("{rate:6.2} GB/s") } else { String::new() };
    let ratio = by_hand.as_secs_f64() / ours.as_secs_f64();
    println!("{what:44} {ours:>11.2?} {by_hand:>11.2?} {ratio:6.2} {rate} ({bound})");
}

/// As many bytes through two sockets of this machine, half through each.
fn tcp(bytes: usize) -> impl FnMut() {
    let mut ends = Vec::new();
    for _ in 0..2 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        there.set_nodelay(true).unwrap();
        ends.push((
            there,
            listener.accept().unwrap().0,
            vec![1_u8; bytes / 2],
            vec![0_u8; bytes / 2],
        ));
    }
    move || {
        std::thread::scope(|scope| {
            for (there, here, from, to) in &mut ends {
                scope.spawn(move || {
                    from.chunks(4 << 20).for_each(|part| there.write_all(part).unwrap())
                });
                scope.spawn(move || here.read_exact(to).unwrap());
            }
        });
    }
}

fn elements(site: &TestSite) {
    let (world, _) = site.connect(0);
    let world = world.dist("block(r)");
    up_and_down(&world);
    between_workers(&world);
}

fn up_and_down(world: &Session) {
    const BYTES: usize = 128 << 20;
    let (numbers, pool) = (vec![1_u8; BYTES], Pool::default());
    // A client that keeps its numbers gives a copy away, in memory that it had before.
    let tile = |rank: usize| {
        let own = &numbers[rank * BYTES / 2..][..BYTES / 2];
        let copy = |room: &mut [u8]| {
            room.copy_from_slice(own);
            Ok::<(), Fault>(())
        };
        pool.filled(DType::F64, BYTES / 16, copy).unwrap().unwrap()
    };
    let up = medians(
        TURNS,
        || {
            drop(
                world
                    .from_tiles(&[BYTES / 8], DType::F64, |_, rank| Ok::<_, Fault>(tile(rank)))
                    .unwrap(),
            )
        },
        tcp(BYTES),
    );
    row("upload", "two TCP streams", up, BYTES);
    let down = medians(
        TURNS,
        || {
            // Elements that were fetched are kept: every turn needs new ones.
            let fresh = &world.zeros(&[BYTES / 8]) + 1.0;
            assert_eq!(fresh.sections().unwrap().len(), 2);
        },
        tcp(BYTES),
    );
    row("make and collect", "two TCP streams", down, BYTES);
}

fn between_workers(world: &Session) {
    const SIDE: usize = 4096;
    let a = world.dist("block(r), whole").from_fn(&[SIDE, SIDE], |at| at[0] as f64);
    a.compute().unwrap();
    let all = SIDE * SIDE * 8;
    let trade = || a.redistribute("r=2 team [1 0]: block(r), whole").compute().unwrap();
    row(
        "worker to worker: halves trade places",
        "two TCP streams",
        medians(TURNS, trade, tcp(all)),
        all,
    );
    // Beside half of it, which travels, each worker packs, and copies what it has already.
    let moved = all / 2;
    let between =
        medians(TURNS, || a.redistribute("whole, block(r)").compute().unwrap(), tcp(moved));
    row("worker to worker: rows to columns", "two TCP streams", between, moved);
}

/// The same programs on two workers and on two threads.
fn programs(site: &TestSite) {
    let near = Session::threads(2).unwrap();
    let (afar, _) = site.connect(0);
    const COUNT: usize = 16 << 20;
    type BenchWork = fn(&Array, &Array);
    let works: [(&str, BenchWork); 3] = [
        ("a b + 2 a, 128 MB", |a, b| (a * b + 2.0 * a).compute().unwrap()),
        ("sum(a b), 128 MB", |a, b| {
            (a * b).sum().item::<f64>().unwrap();
        }),
        ("u = (u[-1] + u[+1]) / 2, 128 MB", |a, _| {
            let next = 0.5 * (a.get(s![..-2]) + a.get(s![2..]));
            next.compute().unwrap();
        }),
    ];
    let make = |world: &Session| {
        let world = world.dist("block(r)");
        [1, 2].map(|seed| {
            let array = world.linspace(0.0, f64::from(seed), COUNT);
            array.compute().unwrap();
            array
        })
    };
    let (here, there) = (make(&near), make(&afar));
    for (name, work) in works {
        let times = medians(TURNS, || work(&there[0], &there[1]), || work(&here[0], &here[1]));
        row(name, "two thread ranks", times, 0);
    }
}

/// A small program that is known, again and again.
fn steps(site: &TestSite) {
    let (world, meter) = site.connect(0);
    let u = world.dist("block(r)").zeros(&[1000]);
    let step = || {
        u.set(s![1..-1], 0.5 * (u.get(s![..-2]) + u.get(s![2..])) + 1.0);
        u.compute().unwrap();
    };
    (0..50).for_each(|_| step());
    let before = meter.read();
    let mut times: Vec<Duration> = (0..1000)
        .map(|_| {
            let start = Instant::now();
            step();
            start.elapsed()
        })
        .collect();
    times.sort();
    let after = meter.read();
    println!(
        "{:44} {:>11.2?} p99 {:.2?}; {} programs sent, {} elements bytes",
        "a warm step with an exchange, 2 workers",
        times[500],
        times[990],
        after.programs - before.programs,
        after.bytes_up + after.bytes_down - before.bytes_up - before.bytes_down
    );
}

/// Many clients that come, compute a little, and go.
fn clients(site: &TestSite) {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..100_i64 {
            scope.spawn(move || {
                let (world, _) = site.connect(0);
                let a = world.dist("block(r)").from_fn(&[1000], |_| number);
                assert_eq!(a.sum().item::<i64>().unwrap(), 1000 * number);
            });
        }
    });
    println!("{:44} {:>11.2?}", "100 clients at once, each with an array", start.elapsed());
}
