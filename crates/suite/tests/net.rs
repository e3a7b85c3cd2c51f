//! All cases over TCP, with all ranks in one process and one hub.

use std::sync::Arc;

use pantile_comm::{Communicator, Options};
use pantile_comm_net::{Hub, HubOptions, Seat, Secret, Security, random_id};
use pantile_spmd::World;

#[test]
fn every_case_over_the_network() {
    let hub = Hub::listen("127.0.0.1:0", Security::Plain, HubOptions::default()).unwrap();
    for size in [1, 2, 3, 4, 7] {
        let (world, secret) = (random_id().unwrap(), Secret::random().unwrap());
        let addresses = vec![hub.address().to_string(); size];
        let start = |rank| {
            let hub = Arc::clone(&hub);
            let seat = Seat { world, secret: secret.clone(), rank, addresses: addresses.clone() };
            std::thread::spawn(move || {
                let net = hub.join(&seat, &Options::default()).unwrap();
                pantile_suite::run_all(&World::new(Communicator::new(Box::new(net))))
            })
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        for (rank, thread) in threads.into_iter().enumerate() {
            let result = thread.join().unwrap();
            assert!(result.is_ok(), "{size} ranks, rank {rank}: {result:?}");
        }
    }
}
