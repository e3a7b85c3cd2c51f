//! The memory of workers: what their machine has is divided among them, and no more than `ulimit` and
//! control groups allow.

use pantile_testkit::timing::soon;

use crate::common::site::{Process, Site};

/// What each worker may use, in MiB, as the coordinator shows it.
fn memories(site: &Site) -> Vec<f64> {
    let text = site.folder.prints(&format!("cluster status {}", site.address));
    let memory = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number: f64 = words[2].parse().unwrap();
        match words[3] {
            "TiB" => number * 1024.0 * 1024.0,
            "GiB" => number * 1024.0,
            "MiB" => number,
            other => panic!("a unit of memory: {other} in {text}"),
        }
    };
    text.lines().skip(2).map(memory).collect()
}

#[test]
fn workers_of_one_machine_divide_its_memory() {
    let mut site = Site::new("divided", 3, ("", ""));
    let free = pantile_engine::available_memory().unwrap() as f64 / f64::from(1 << 20);
    let shares = memories(&site);
    assert!(shares.len() == 3 && shares.iter().all(|share| *share == shares[0]), "{shares:?}");
    // What is free changes meanwhile; three times as much it is not.
    assert!(shares.iter().sum::<f64>() < 1.7 * free, "{shares:?} of {free}");
    site.workers[2].kill();
    soon("the share of the worker that is gone", || {
        let now = memories(&site);
        (now.len() == 2 && now[0] > 1.2 * shares[0] && now[1] == now[0]).then_some(())
    });
}

#[test]
fn a_worker_has_no_more_than_ulimit_allows() {
    let site = Site::new("limited", 0, ("", ""));
    let line = format!("worker --coordinator {} --name narrow", site.address);
    let _worker = Process::limited(&site.folder.0, "narrow", &line, 3 << 20);
    let shares = soon("the worker", || Some(memories(&site)).filter(|shares| !shares.is_empty()));
    assert!(shares[0] > 100.0 && shares[0] < 3072.0, "{shares:?} MiB of 3 GiB");
}
