//! Random movements in one small world: short enough to be watched byte by byte.

use pantile_comm::threads;
use pantile_spmd::RankContext;

#[test]
fn random_movements_on_three_threads() {
    let laws = pantile_suite::cases().into_iter().filter(|case| case.name.starts_with("random "));
    let laws: Vec<_> = laws.collect();
    assert!(laws.len() >= 3, "the laws are among the cases");
    let results = threads::run(3, &Default::default(), |communicator| {
        let world = RankContext::new(communicator);
        laws.iter().try_for_each(|case| (case.body)(&world))
    });
    for (rank, result) in results.into_iter().enumerate() {
        assert_eq!(result, Ok(()), "rank {rank}");
    }
}
