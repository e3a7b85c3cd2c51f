//! The transports of this crate pass the suite.
#![cfg(not(feature = "explore"))]

use pantile_comm::sim::Sim;
use pantile_comm::threads::Threads;
use pantile_comm::{Options, Transport, conformance};

/// One rank, a pair, an odd and an even number, more ranks than this machine may have cores.
const SIZES: [usize; 5] = [1, 2, 3, 4, 6];

fn check(world: impl Fn(usize, &Options) -> Vec<Box<dyn Transport>>) {
    let found = conformance::check(&SIZES, world);
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn threads_conform() {
    check(|size, options| {
        let ends = Threads::world(size, options).into_iter();
        ends.map(|end| Box::new(end) as Box<dyn Transport>).collect()
    });
}

#[test]
fn the_simulator_conforms() {
    for seed in 0..5 {
        check(|size, options| {
            let sim = Sim { seed, options: options.clone(), ..Sim::default() };
            let ends = sim.world(size).into_iter();
            ends.map(|end| Box::new(end) as Box<dyn Transport>).collect()
        });
    }
}

/// Two ranks of one call that both wait first: none is in another call, and none will ever send.
#[test]
#[cfg(not(feature = "explore"))]
fn threads_that_wait_for_each_other_are_late() {
    use pantile_comm::{CollectiveSignature, CommError, Options, RankError, threads};
    let options = Options::default().with_deadline(std::time::Duration::from_millis(200));
    for size in [1, 2, 3] {
        let results = threads::run(size, &options, |mut world| {
            let above = (world.rank() + 1) % world.size();
            world.operation(&CollectiveSignature::here("circle", 1), |operation| {
                operation.receive_any(above)
            })
        });
        let late = |result: &Result<_, _>| {
            matches!(result, Err(RankError::Returned(CommError::Late { .. })))
        };
        assert!(results.iter().any(late), "{results:?}");
        assert!(results.iter().all(Result::is_err), "{results:?}");
    }
}

/// Ranks that disagree and never meet: each waits for another one, and none need wait for
/// the deadline of ten minutes to know it.
#[test]
#[cfg(not(feature = "explore"))]
fn threads_that_wait_in_a_circle_do_not_wait_for_the_deadline() {
    use pantile_comm::{CollectiveSignature, CommError, threads};
    let results = threads::run(3, &Default::default(), |mut world| {
        let above = (world.rank() + 1) % world.size();
        let call = CollectiveSignature::here("circle", world.rank() as u64);
        world.operation(&call, |operation| operation.receive_any(above))?;
        Ok::<_, CommError>(())
    });
    let texts: Vec<String> =
        results.into_iter().map(|r| r.expect_err("stuck").to_string()).collect();
    assert!(texts.iter().any(|text| text.contains("which is in circle")), "{texts:?}");
}
