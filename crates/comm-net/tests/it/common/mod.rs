//! Worlds for tests: every rank with a listener of its own.

use std::sync::Arc;

use pantile_comm::{Options, Transport};
use pantile_comm_net::{JoinConfig, Listener, ListenerOptions, Net, Secret, Security, random_id};

/// A listener on a free port of this machine.
pub(crate) fn listener(security: &Security, options: ListenerOptions) -> Arc<Listener> {
    Listener::listen("127.0.0.1:0", security.clone(), options).unwrap()
}

/// Join configurations for all ranks of a new world at these listeners.
pub(crate) fn configs(listeners: &[Arc<Listener>]) -> Vec<JoinConfig> {
    let addresses: Vec<String> =
        listeners.iter().map(|listener| listener.address().to_string()).collect();
    let (world, secret) = (random_id().unwrap(), Secret::random().unwrap());
    let config =
        |rank| JoinConfig { world, secret: secret.clone(), rank, addresses: addresses.clone() };
    (0..listeners.len()).map(config).collect()
}

/// The ends of a world, each through a listener of its own that lives no longer than it takes to
/// meet.
pub(crate) fn nets(
    size: usize,
    options: &Options,
    listener_options: &ListenerOptions,
    security: &Security,
) -> Vec<Net> {
    let listeners: Vec<_> =
        (0..size).map(|_| listener(security, listener_options.clone())).collect();
    let configs = configs(&listeners);
    std::thread::scope(|scope| {
        let join = |(listener, config): (&Arc<Listener>, &JoinConfig)| {
            let (listener, config) = (Arc::clone(listener), config.clone());
            scope.spawn(move || listener.join(&config, options).unwrap())
        };
        let threads: Vec<_> = listeners.iter().zip(&configs).map(join).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The same for the suite.
pub(crate) fn world(
    size: usize,
    options: &Options,
    security: &Security,
) -> Vec<Box<dyn Transport>> {
    let nets = nets(size, options, &ListenerOptions::default(), security);
    nets.into_iter().map(|net| Box::new(net) as Box<dyn Transport>).collect()
}
