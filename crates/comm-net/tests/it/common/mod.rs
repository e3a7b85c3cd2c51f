//! Worlds for tests: every rank with a hub of its own.

use std::sync::Arc;

use pantile_comm::{Options, Transport};
use pantile_comm_net::{Hub, HubOptions, Net, Seat, Secret, Security, random_id};

/// A hub on a free port of this machine.
pub(crate) fn hub(security: &Security, options: HubOptions) -> Arc<Hub> {
    Hub::listen("127.0.0.1:0", security.clone(), options).unwrap()
}

/// Seats for all ranks of a new world at these hubs.
pub(crate) fn seats(hubs: &[Arc<Hub>]) -> Vec<Seat> {
    let addresses: Vec<String> = hubs.iter().map(|hub| hub.address().to_string()).collect();
    let (world, secret) = (random_id().unwrap(), Secret::random().unwrap());
    let seat = |rank| Seat { world, secret: secret.clone(), rank, addresses: addresses.clone() };
    (0..hubs.len()).map(seat).collect()
}

/// The ends of a world, each through a hub of its own that lives no longer than it takes to meet.
pub(crate) fn nets(
    size: usize,
    options: &Options,
    hub_options: &HubOptions,
    security: &Security,
) -> Vec<Net> {
    let hubs: Vec<_> = (0..size).map(|_| hub(security, hub_options.clone())).collect();
    let seats = seats(&hubs);
    std::thread::scope(|scope| {
        let join = |(hub, seat): (&Arc<Hub>, &Seat)| {
            let (hub, seat) = (Arc::clone(hub), seat.clone());
            scope.spawn(move || hub.join(&seat, options).unwrap())
        };
        let threads: Vec<_> = hubs.iter().zip(&seats).map(join).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The same for the suite.
pub(crate) fn world(
    size: usize,
    options: &Options,
    security: &Security,
) -> Vec<Box<dyn Transport>> {
    let nets = nets(size, options, &HubOptions::default(), security);
    nets.into_iter().map(|net| Box::new(net) as Box<dyn Transport>).collect()
}
