//! All cases over TCP, with all ranks in one process and one hub.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Arc;

use pantile_comm::{Communicator, Options};
use pantile_comm_net::{Hub, HubOptions, Seat, Secret, Security, random_id};
use pantile_spmd::World;

#[test]
fn every_case_over_the_network() {
    everything(None);
}

#[test]
fn every_case_over_the_network_in_parts() {
    // Three numbers are a part: nearly every message is cut, and takes turns.
    everything(Some(24));
}

fn everything(part_bytes: Option<usize>) {
    let hub = Hub::listen("127.0.0.1:0", Security::Plain, HubOptions::default()).unwrap();
    for size in [1, 2, 3, 4, 7] {
        let (world, secret) = (random_id().unwrap(), Secret::random().unwrap());
        let addresses = vec![hub.address().to_string(); size];
        let start = |rank| {
            let hub = Arc::clone(&hub);
            let seat = Seat { world, secret: secret.clone(), rank, addresses: addresses.clone() };
            std::thread::spawn(move || {
                let net = hub.join(&seat, &Options::default()).unwrap();
                let world = World::new(Communicator::new(Box::new(net)));
                if let Some(bytes) = part_bytes {
                    world.engine().set_part_bytes(bytes);
                }
                pantile_suite::run_all(&world)
            })
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        for (rank, thread) in threads.into_iter().enumerate() {
            let result = thread.join().unwrap();
            assert!(result.is_ok(), "{size} ranks, rank {rank}: {result:?}");
        }
    }
}
