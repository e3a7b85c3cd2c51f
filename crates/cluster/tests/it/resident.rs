//! What workers have already: several distributions of one array, slices of what is placed, loops
//! that leave nothing behind, and frames of any size.

use std::time::{Duration, Instant};

use crate::common::{Meter, TestSite};
use pantile::prelude::*;
use pantile_cluster::{Cluster, ClusterOptions, Guard};

const COLUMNS: &str = "whole, block(r)";

fn number(index: &[usize]) -> f64 {
    index.iter().fold(1.0, |all, at| 3.7 * all + *at as f64 - 1.5)
}

fn floats(array: &Array) -> Vec<f64> {
    array.to_vec().unwrap()
}

#[test]
fn a_second_distribution_moves_once() {
    for workers in [2, 3] {
        let site = TestSite::new(workers);
        let (world, meter) = site.connect(0);
        let a = world.dist("block(r), whole").from_fn(&[60, 40], number);
        a.compute().unwrap();
        let up = meter.read().bytes_up;
        let moved = |array: &Array| {
            let before = world.counters().bytes;
            array.compute().unwrap();
            world.counters().bytes - before
        };
        let turned = a.redistribute(COLUMNS);
        // All but the part that stays where it is, once.
        let all = 60 * 40 * 8u64;
        assert_eq!(moved(&turned), all - all / workers as u64);
        // Both are there, side by side.
        for _ in 0..3 {
            assert_eq!(moved(&a.redistribute(COLUMNS)), 0);
            assert_eq!(moved(&(&a * 2.0)) + moved(&(&turned * 2.0)), 0);
        }
        assert_eq!(meter.read().bytes_up, up, "nothing is sent again");
        a.set(s![0, 0], 0.5);
        let again = a.redistribute(COLUMNS);
        assert!(moved(&again) > 0, "a new version");
        assert_eq!(floats(&again), floats(&a));
        assert_eq!(floats(&turned)[0], number(&[0, 0]), "the old one is as it was");
    }
}

#[test]
fn a_slice_of_a_placed_array_is_that_slice_on_every_worker() {
    let rows: Vec<f64> = (50..100).map(|at| number(&[at / 10, at % 10])).collect();
    for workers in [1, 2, 3, 5] {
        let site = TestSite::new(workers);
        let (world, meter) = site.connect(0);
        let x = world.dist("block(r), whole").from_fn(&[10, 10], number);
        (&x + 1.0).compute().unwrap();
        let up = meter.read().bytes_up;
        // As long as the part of the first of two workers, and not the same rows.
        let half = x.get(s![5.., ..]);
        let copies = half.replicate();
        copies.compute().unwrap();
        let first = world.pipeline(
            &[(&x, Split::Axis(0)), (&half, Split::Whole)],
            &[Combine::Sum],
            Some(2),
            |chunk| vec![&chunk[0] * 0.0 + &chunk[1]],
        );
        let twice: Vec<f64> = rows.iter().map(|one| 2.0 * one).collect();
        assert_eq!(floats(&first.unwrap()[0]), twice, "{workers} workers");
        assert_eq!(floats(&copies), rows, "{workers} workers");
        // Steps and turns of it, too.
        let some = half.get(s![by(.., -2), by(1.., 3)]);
        let expected: Vec<f64> = [4, 2, 0]
            .iter()
            .flat_map(|row| [1, 4, 7].map(|column| rows[row * 10 + column]))
            .collect();
        assert_eq!(floats(&(&some + 0.0)), expected, "{workers} workers");
        assert_eq!(meter.read().bytes_up, up, "nothing is sent again");
    }
}

/// Bytes that the workers say that they keep.
fn said(site: &TestSite) -> u64 {
    let status = Cluster::status(&site.address(), &Guard::default()).unwrap();
    status.iter().map(|worker| worker.stored).sum()
}

/// The same, once they say what they should, or have had time enough to.
fn stored(site: &TestSite, expected: u64) -> u64 {
    let until = Instant::now() + Duration::from_secs(10);
    while said(site) != expected && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    said(site)
}

/// The same, once it has been the same for longer than workers are silent.
fn settled(site: &TestSite) -> u64 {
    let mut last = said(site);
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(2500));
        let now = said(site);
        if now == last && now > 0 {
            break;
        }
        last = now;
    }
    last
}

#[test]
fn loops_of_pipelines_compile_once_and_leave_nothing() {
    let site = TestSite::new(2);
    let (world, meter) = site.connect(0);
    let weights = world.dist("copies").from_fn(&[4], number);
    let mut last = world.dist("block(r), whole").from_fn(&[250, 4], number);
    let step = |last: &Array, meter: &Meter| {
        let inputs = [(last, Split::Axis(0)), (&weights, Split::Whole)];
        let combines = [Combine::Concat(0), Combine::Max];
        let mut results = world
            .pipeline(&inputs, &combines, None, |chunk| {
                vec![&chunk[0] * 0.5 + &chunk[1], chunk[0].max()]
            })
            .unwrap();
        world.compute(&[&results[0], &results[1]]).unwrap();
        (results.remove(0), meter.read().programs)
    };
    // The first turns may differ: where numbers come from, and what may be reused.
    let mut programs = 0;
    for _ in 0..5 {
        (last, programs) = step(&last, &meter);
    }
    let kept = settled(&site);
    assert!(kept > 0);
    for turns in [100, 1000] {
        for _ in 0..turns {
            (last, _) = step(&last, &meter);
        }
        assert_eq!(meter.read().programs, programs, "{turns} turns compile nothing");
        assert_eq!(stored(&site, kept), kept, "{turns} turns leave nothing");
    }
}

#[test]
fn small_frames_give_equal_results() {
    let site = TestSite::new(2);
    let run = |world: &Session, shape: [usize; 2]| {
        let m = world.dist("block(r), whole").from_fn(&shape, number);
        let row = world.dist("copies").from_fn(&[1, shape[1]], number);
        let sum = &m + &m;
        let both = &sum + &row;
        let turned = both.redistribute(COLUMNS);
        (floats(&sum), floats(&turned), floats(&both.sum()))
    };
    for (shape, frame) in [([10, 10], 1), ([10, 10], 100), ([1500, 1200], 100)] {
        let mut options = ClusterOptions::default();
        options.frame = frame;
        let (world, _) = site.connect_with(options);
        let expected = run(&Session::threads(1).unwrap(), shape);
        assert!(run(&world, shape) == expected, "{shape:?} in frames of {frame} bytes");
    }
}
