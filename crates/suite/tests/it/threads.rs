//! All cases on threads.

use pantile_comm::threads;
use pantile_spmd::RankContext;
use pantile_testkit::thinned;

#[test]
fn every_case_on_threads() {
    for size in thinned(&[1, 2, 3, 4, 6, 7, 17], 4) {
        let results = threads::run(size, &Default::default(), |communicator| {
            pantile_suite::run_all(&RankContext::new(communicator))
        });
        for (rank, result) in results.into_iter().enumerate() {
            assert!(result.is_ok(), "{size} ranks, rank {rank}: {result:?}");
        }
    }
}

#[test]
fn long_messages_on_threads() {
    for size in [1, 2, 3, 4] {
        let results = threads::run(size, &Default::default(), |communicator| {
            pantile_suite::run_long(&RankContext::new(communicator))
        });
        for (rank, result) in results.into_iter().enumerate() {
            assert!(result.is_ok(), "{size} ranks, rank {rank}: {result:?}");
        }
    }
}
