//! All cases over TCP, with all ranks in one process and one listener.

use std::sync::Arc;

use pantile_comm::{Communicator, Options};
use pantile_comm_net::{JoinConfig, Listener, ListenerOptions, Secret, Security, random_id};
use pantile_spmd::RankContext;
use pantile_testkit::thinned;

const SIZES: [usize; 5] = [3, 2, 1, 4, 7];

#[test]
fn every_case_over_the_network() {
    everything(&SIZES, |_| {}, pantile_suite::run_all);
}

#[test]
fn every_case_over_the_network_in_parts() {
    // Three numbers are a part: nearly every message is cut, and takes turns.
    let prepare = |world: &RankContext| {
        world.engine().set_run_bytes(None);
        world.engine().set_part_bytes(24);
    };
    everything(&SIZES, prepare, pantile_suite::run_all);
}

#[test]
fn every_case_over_the_network_scattered() {
    // Nothing is packed but what is combined, or does not ascend.
    let prepare = |world: &RankContext| {
        world.engine().set_run_bytes(Some(1));
        world.engine().set_part_bytes(240);
    };
    everything(&SIZES, prepare, pantile_suite::run_all);
}

#[test]
fn every_case_over_the_network_packed_by_some() {
    // One rank packs what another takes as it lies, and the other way round.
    let prepare = |world: &RankContext| {
        world.engine().set_run_bytes(world.rank().is_multiple_of(2).then_some(1));
        world.engine().set_part_bytes(1000);
    };
    everything(&[3, 4], prepare, pantile_suite::run_all);
}

#[test]
fn long_messages_over_the_network() {
    everything(&[1, 2, 4], |_| {}, pantile_suite::run_long);
    let by_some = |world: &RankContext| {
        let bytes = [None, Some(4096), Some(64 << 10)][world.rank() % 3];
        world.engine().set_run_bytes(bytes);
        world.engine().set_part_bytes(100_000);
    };
    everything(&[3], by_some, pantile_suite::run_long);
}

fn everything(
    sizes: &[usize],
    prepare: fn(&RankContext),
    run: fn(&RankContext) -> Result<usize, String>,
) {
    let listener =
        Listener::listen("127.0.0.1:0", Security::Plain, ListenerOptions::default()).unwrap();
    for size in thinned(sizes, sizes.len().min(2)) {
        let (world, secret) = (random_id().unwrap(), Secret::random().unwrap());
        let addresses = vec![listener.address().to_string(); size];
        let start = |rank| {
            let listener = Arc::clone(&listener);
            let config =
                JoinConfig { world, secret: secret.clone(), rank, addresses: addresses.clone() };
            std::thread::spawn(move || {
                let net = listener.join(&config, &Options::default()).unwrap();
                let world = RankContext::new(Communicator::new(Box::new(net)));
                prepare(&world);
                run(&world)
            })
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        for (rank, thread) in threads.into_iter().enumerate() {
            let result = thread.join().unwrap();
            assert!(result.is_ok(), "{size} ranks, rank {rank}: {result:?}");
        }
    }
}
