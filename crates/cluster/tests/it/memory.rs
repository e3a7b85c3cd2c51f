//! Memory that ranks share out: what does not fit on one of them runs on none, and all go on.

use crate::common::TestSite;
use pantile::prelude::*;
use pantile_cluster::{Guard, Worker, WorkerOptions};
use pantile_testkit::timing::soon;

const MEMORY: usize = 4 << 20;

/// Elements of which a rank has as many as fill a quarter of its memory.
const QUARTER: usize = MEMORY / 8 / 4;

/// A coordinator with workers that have little memory.
fn site(workers: usize) -> TestSite {
    let site = TestSite::new(0);
    for number in 0..workers {
        let mut options = WorkerOptions::default();
        (options.name, options.memory) = (format!("small{number}"), MEMORY as u64);
        let (worker, address) = (Worker::new(&options).unwrap(), site.address());
        // Ends with the coordinator.
        std::thread::spawn(move || worker.serve(&address));
        // One after the other, so that ranks are where their names say.
        site.wait_for(number + 1, &Guard::default());
    }
    site
}

#[test]
fn what_does_not_fit_beside_the_rest_runs_nowhere() {
    for workers in [1, 2, 3] {
        let site = site(workers);
        let (world, _) = site.connect(workers);
        let size = workers * QUARTER;
        let make = |value: f64| {
            let made = world.full(&[size], value);
            made.compute().map(|()| made)
        };
        let mut kept: Vec<Array> = Vec::new();
        let fault = loop {
            match make(kept.len() as f64) {
                Ok(made) => kept.push(made),
                Err(fault) => break fault,
            }
            assert!(kept.len() < 5, "more than there is");
        };
        assert_eq!(kept.len(), 3, "and a little is set aside");
        assert!(fault.kind.to_string().contains("asks for 1048576 bytes"), "{fault}");
        assert!(fault.kind.to_string().contains("worker `small"), "{fault}");
        // All clients are there, and so is everything that fitted.
        for (number, made) in kept.iter().enumerate() {
            assert_eq!(made.sum().item::<f64>().unwrap(), (number * size) as f64);
        }
        kept.pop();
        soon("memory", || make(9.0).ok());
    }
}

#[test]
fn one_rank_without_memory_speaks_for_all() {
    let site = site(2);
    let (world, _) = site.connect(2);
    // Nearly all of it is on the second rank.
    let cuts = format!("block(r, cuts 0 8 {})", 3 * QUARTER + 8);
    let uneven = world.dist(&cuts).from_fn(&[3 * QUARTER + 8], |index| index[0] as f64);
    uneven.compute().unwrap();
    let even = || world.ones(&[2 * QUARTER]).compute();
    for _ in 0..3 {
        let fault = even().unwrap_err();
        assert!(
            fault.kind.to_string().contains("worker `small1`, rank 1: the program asks for"),
            "{fault}"
        );
    }
    // So is a movement of it.
    let fault = uneven.redistribute("block(r)").compute().unwrap_err();
    assert!(fault.kind.to_string().contains("bytes are left"), "{fault}");
    let last = (3 * QUARTER + 7) as f64;
    assert_eq!(uneven.max().item::<f64>().unwrap(), last);
    drop(uneven);
    soon("memory", || even().ok());
}

#[test]
fn loops_that_keep_nothing_never_run_out() {
    let site = site(2);
    let (world, _) = site.connect(2);
    // Each result is an eighth of the memory, and a window is used up in a turn or two.
    for length in [QUARTER, QUARTER / 64] {
        let mut last = world.ones(&[length]);
        for _ in 0..300 {
            last = &last * 0.5 + 1.0;
            last.compute().unwrap();
        }
        assert_eq!(last.max().item::<f64>().unwrap(), 2.0);
    }
}

/// One budget for all: what one client has others cannot have, until it leaves.
#[test]
fn clients_share_what_their_worker_has() {
    let site = site(1);
    let full = |world: &Session| {
        let made = world.full(&[2 * QUARTER], 1.0);
        made.compute().map(|()| made)
    };
    let (one, other) = (site.connect(1).0, site.connect(1).0);
    let kept = full(&one).unwrap();
    for _ in 0..3 {
        let fault = full(&other).unwrap_err();
        assert!(
            fault.kind.to_string().contains("asks for 2097152 bytes of memory, but of 4194304"),
            "{fault}"
        );
        assert!(
            fault.kind.to_string().contains("bytes are left, because others have 2"),
            "{fault}"
        );
    }
    assert_eq!(kept.sum().item::<f64>().unwrap(), 2.0 * QUARTER as f64);
    drop((kept, one));
    soon("the memory of the client that left", || full(&other).ok());
}

/// What clients let go is kept for their next arrays, but not beyond what the worker has.
#[test]
fn clients_that_keep_nothing_leave_nothing_behind() {
    let site = site(1);
    let worlds: Vec<Session> = (0..8).map(|_| site.connect(1).0).collect();
    for _ in 0..3 {
        for world in &worlds {
            let most = world.full(&[3 * QUARTER], 2.0);
            soon("memory", || most.compute().ok());
            assert_eq!(most.max().item::<f64>().unwrap(), 2.0);
            drop(most);
            // The worker hears of it.
            world.ones(&[1]).compute().unwrap();
        }
    }
}
