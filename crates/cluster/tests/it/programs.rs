//! Random programs on workers, against the naive evaluator, byte for byte.

use crate::common::TestSite;
use pantile_cluster::{Cluster, ClusterOptions};
use pantile_suite::programs::{execute, generate};
use pantile_testkit::cases;

#[test]
fn programs_mean_on_workers_what_they_mean() {
    for workers in [1, 2, 3, 5] {
        let site = TestSite::new(workers);
        let cluster = Cluster::connect(&site.address(), ClusterOptions::default()).unwrap();
        let mut executor = cluster.into_executor();
        cases("programs on workers", 40, |rng| {
            let trial = generate::trial(rng, workers);
            let Ok(expected) = trial.expected() else { return };
            if let Err(fault) = execute::by_executor(&mut executor, &trial, &expected) {
                panic!("{fault}, on {workers} workers:\n{}", trial.program);
            }
        });
    }
}
