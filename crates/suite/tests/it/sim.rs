//! All cases on the simulator, whose messages overtake each other.

use pantile_comm::sim::Sim;
use pantile_spmd::RankContext;
use pantile_testkit::thinned;

#[test]
fn every_case_on_the_simulator() {
    for size in thinned(&[3, 1, 2, 4, 6, 7], 1) {
        for seed in 0..2 {
            let sim = Sim { seed, ..Sim::default() };
            let outcome = sim.run(size, |communicator| {
                let world = RankContext::new(communicator);
                if seed > 0 {
                    // Three numbers are a part: nearly every message is cut, and takes turns.
                    world.engine().set_part_bytes(24);
                }
                pantile_suite::run_all(&world)
            });
            for (rank, result) in outcome.results.into_iter().enumerate() {
                assert!(result.is_ok(), "{size} ranks, seed {seed}, rank {rank}: {result:?}");
            }
        }
    }
}

#[test]
fn long_messages_on_the_simulator() {
    let outcome = Sim::default().run(3, |communicator| {
        let world = RankContext::new(communicator);
        // The simulator takes bodies in one piece only: this asks for nothing.
        world.engine().set_run_bytes(Some(1));
        world.engine().set_part_bytes(100_000);
        pantile_suite::run_long(&world)
    });
    for (rank, result) in outcome.results.into_iter().enumerate() {
        assert!(result.is_ok(), "rank {rank}: {result:?}");
    }
}
